"""A regular expression is compiled when it is first used: most of them are not, when one file is judged."""

from __future__ import annotations

import re
from typing import Any, cast


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(re.compile(self._text, self._flags), name)
        # kept here, so that the next use costs no more than with a compiled pattern
        setattr(self, name, value)
        return value


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, at the first use. The text is a constant of the program: an error in it shows late."""
    return cast("re.Pattern[str]", _Later(text, flags))
