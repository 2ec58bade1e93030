"""A matcher, as it stands in a settings file, is for a subject or not. The grammar differs by version."""

from __future__ import annotations

import re
from functools import lru_cache

from .versions import Version

ALIASES = ({"Task", "Agent"},)
"""Names of one and the same tool (observed)."""

_INVALID = re.compile(r"\(\?[aiLmsux-]|\(\?>|\(\?P|(?<!\\)[*+?}]\+|(?<!\\)\(\?\(")
"""What Python takes for a regular expression and JavaScript does not."""


def matches(matcher: str | None, subject: str | None, version: Version) -> bool:
    """Whether a handler with this matcher is for this subject.

    None, "" and "*" are for all. Names are compared whole, several of them separated; anything else is
    a regular expression, found anywhere in the subject. One that is invalid is for nothing (observed).
    """
    if subject is None or matcher in (None, "", "*"):
        return True
    names = next((alias for alias in ALIASES if subject in alias), {subject})
    if re.fullmatch(version.name_lists, matcher):
        listed = {name.strip() for name in re.split(f"[{re.escape(version.separators)}]", matcher)}
        return not names.isdisjoint(listed)
    pattern = compiled(matcher)
    return pattern is not None and any(pattern.search(name) for name in names)


@lru_cache(maxsize=256)
def compiled(text: str) -> re.Pattern[str] | None:
    """A JavaScript regular expression (without flags) as Python's; None if it is invalid."""
    if _INVALID.search(text):
        return None
    text = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", text)
    text = re.sub(r"\\k<(\w+)>", r"(?P=\1)", text)
    # without the u flag these are the letters themselves
    text = re.sub(r"\\([pPAZzaGhHRXNQE])", r"\1", text)
    try:
        return re.compile(text, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None
