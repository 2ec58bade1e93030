"""Of all handlers, those are chosen that an event concerns."""

from __future__ import annotations

from collections.abc import Iterable

from .settings import Configured


def select(handlers: Iterable[Configured], event: str, subject: str | None = None) -> list[Configured]:
    """The handlers of this event, in the order of the settings; `subject` is the tool's name, if there is one."""
    return [h for h in handlers if h.event == event and concerns(h, subject)]


def concerns(handler: Configured, subject: str | None) -> bool:
    """Whether a handler is for this subject: a handler without a matcher is for all of them."""
    return handler.matcher is None or subject in handler.matcher.split("|")
