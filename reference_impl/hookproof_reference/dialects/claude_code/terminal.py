"""What a handler may write to the terminal: titles, notifications and the bell, and nothing else, not even beside them.

A sequence is passed on as a whole or not at all (observed in a terminal; 003, stdout contract).
"""

from __future__ import annotations

import re

from .versions import Version

LONGEST = 4_096
"""Bytes of a sequence that is still passed on (bundle of 2.1.178)."""

_PART = re.compile("\x07|\x1b\\]([0-9]+);([^\x00-\x06\x0b-\x1f\x7f-\x9f]*?)(?:\x07|\x1b\\\\)")
_NUMBERS = frozenset({"0", "1", "2", "9", "99", "777"})
"""The operating system commands that only name or notify."""
_PROGRESS = "4;"
"""How the body of number 9 begins where it shows a progress."""


def passes(sequence: str, version: Version) -> bool:
    """Whether a terminal gets this text; "" is nothing to write."""
    if not sequence or len(sequence.encode("utf-8", "replace")) > LONGEST:
        return False
    at = 0
    while at < len(sequence):
        part = _PART.match(sequence, at)
        if part is None or (part[1] is not None and not _is_harmless(part[1], part[2], version)):
            return False
        at = part.end()
    return True


def _is_harmless(number: str, body: str, version: Version) -> bool:
    if number not in _NUMBERS:
        return False
    digits = number == "9" and body[:1].isdigit() and not body.startswith(_PROGRESS)
    return not (digits and version.terminal_digits_refused)
