"""JSON that somebody else wrote becomes a value, or a reason in words why it is none."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

DEEPEST = 200
"""Levels of nesting. Python's own limit counts its callers too: a value that can be read here could not be written there."""
AROUND = 30
"""So many characters on each side of a mistake are shown."""


def loads(text: str) -> Any:
    """The value in a text, read tolerantly (NaN, duplicate keys, lone surrogates).

    Raises ValueError whose text says what is wrong, to be put behind "it ": "is nested deeper than 200 levels".
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_mistake(error, text)) from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:
        longest = max(map(len, re.findall(r"\d+", text)), default=0)
        words = f"holds an integer of {longest} digits; more than {sys.get_int_max_str_digits()} are not read"
        raise ValueError(words) from None
    # a bracket in a text counts here, and not below: this look is cheap, and nearly always enough
    if text.count("[") + text.count("{") > DEEPEST and deeper_than(found, DEEPEST):
        raise ValueError(_TOO_DEEP)
    return found


def deeper_than(value: Any, levels: int) -> bool:
    """Whether more than so many lists and objects stand inside each other; does not call itself."""
    containers = [value] if isinstance(value, list | dict) else []
    for _ in range(levels):
        if not containers:
            return False
        inside = [each.values() if isinstance(each, dict) else each for each in containers]
        containers = [inner for members in inside for inner in members if isinstance(inner, list | dict)]
    return bool(containers)


_TOO_DEEP = f"is nested deeper than {DEEPEST} levels"


def _mistake(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "is empty"
    if error.msg == "Extra data":
        return f"has more behind its first JSON value: {text[error.pos :][: 2 * AROUND]!r}"
    if error.msg.startswith("Unterminated string") or not text[error.pos :].strip():
        return f"ends in the midst of the JSON, after {len(text)} characters: ...{text[-AROUND:]!r}"
    near = text[max(0, error.pos - AROUND) : error.pos + AROUND]
    words = error.msg[0].lower() + error.msg[1:]
    return f"is no JSON at character {error.pos + 1} ({words}): {near!r}"
