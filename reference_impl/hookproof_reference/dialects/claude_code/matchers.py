"""A matcher, as it stands in a settings file, is for a subject or not. The grammar differs by version."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from ...handlers import Place, process
from .versions import Version

ALIASES = ({"Task", "Agent"},)
"""Names of one and the same tool (observed)."""

_INVALID = re.compile(r"\(\?[aiLmsux-]|\(\?>|\(\?P|(?<!\\)[*+?}]\+|(?<!\\)\(\?\(")
"""What Python takes for a regular expression and JavaScript does not."""

_MAY_BE_ENDLESS = re.compile(r"\)[*+{]")
"""A repeated group."""
LONGEST_SEARCH = 0.5
"""Seconds."""


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
    return pattern is not None and any(found(pattern, name) for name in names)


@lru_cache(maxsize=4096)
def found(pattern: re.Pattern[str], name: str) -> bool:
    """Whether an expression is found in a name; one that tries for too long is not (observed).

    Python cannot limit a search. Where a repeated group could make it endless, another process does it.
    """
    if not _MAY_BE_ENDLESS.search(pattern.pattern):
        return pattern.search(name) is not None
    return searched_elsewhere(pattern.pattern, name)


def searched_elsewhere(pattern: str, name: str) -> bool:
    """The search in a process of its own, which is killed when it takes too long."""
    program = "import re, sys; sys.exit(re.compile(sys.argv[1], re.ASCII).search(sys.argv[2]) is None)"
    words = [sys.executable, "-I", "-S", "-c", program, pattern, name.replace("\0", "")]
    return process.run(words, b"", Place("/", {"LANG": "C.UTF-8"}), LONGEST_SEARCH).exit == 0


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
