"""Views: each reads the event stream of a run and writes it for one kind of reader."""
