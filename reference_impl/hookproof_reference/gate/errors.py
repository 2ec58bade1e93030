"""What a person has to mend before anything can be judged."""

from __future__ import annotations


class GateError(Exception):
    """An option, a configuration file or a baseline that cannot be meant. `hint` is what to do next."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
