"""Comparing what was seen with what was wanted: JSON values and texts, each with words for both sides."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from .cases import StdinMatch, TextMatch, given
from .modelserver import text_of as text_of_blocks

SHOWN = 400
"""Texts are cut at this many characters where a person reads them."""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; numbers compare as IEEE doubles, true is no 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return float(one) == float(other)
        except OverflowError:
            return one == other  # no double can hold one of them
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def missing(wanted: Any, value: Any, path: str = "") -> list[str]:
    """Where `value` lacks what `wanted` has; objects inside are subsets too. Empty: nothing is missing."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        gaps: list[str] = []
        for key, inner in wanted.items():
            where = f"{path}.{key}" if path else key
            gaps += missing(inner, value[key], where) if key in value else [f"{where} is absent"]
        return gaps
    return [] if same(wanted, value) else [f"{path or 'it'} is {show(value)}"]


def show(value: Any) -> str:
    """A value for a person: compact JSON, cut."""
    text = value if isinstance(value, str) and not value.startswith(('"', "{", "[")) else json.dumps(value, ensure_ascii=False)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def text_of(value: Any) -> str | None:
    """The text that a TextMatch is held against: strings as they are, lists joined by newlines, JSON as text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text_of(item) or "" for item in value) if value else None
    return json.dumps(value, ensure_ascii=False)


def wanted_text(match: TextMatch) -> str:
    """A TextMatch in words."""
    parts = []
    if match.equals is not None:
        parts.append(f"equal to {show(match.equals)!r}")
    parts += [f"containing {part!r}" for part in _each(match.contains)]
    parts += [f"without {part!r}" for part in _each(match.lacks)]
    if match.matches is not None:
        parts.append(f"matching /{match.matches}/")
    if match.absent:
        parts.append("no text")
    return " and ".join(parts) or "any text"


def text_fits(match: TextMatch, text: str | None) -> bool:
    """Whether a text (None: there was none) fits."""
    if match.absent:
        return not text
    if text is None:
        positive = match.equals is not None or match.contains is not None or match.matches is not None
        return not positive
    return (
        (match.equals is None or match.equals == text)
        and all(part in text for part in _each(match.contains))
        and all(part not in text for part in _each(match.lacks))
        and (match.matches is None or re.search(match.matches, text) is not None)
    )


def faults_of_stdin(match: StdinMatch, value: Any) -> list[str]:
    """Where what a probe read does not fit; empty: it fits."""
    faults: list[str] = []
    if given(match.equals) and not same(match.equals, value):
        faults.append(f"it read {show(value)}")
    if not isinstance(value, dict):
        if match.subset or match.keys is not None or match.keys_of or match.lacks or match.types or match.texts or match.each:
            faults.append(f"it read {show(value)}, no object")
        return faults
    if match.subset:
        faults += missing(match.subset, value)
    if match.keys is not None:
        faults += _other_keys(match.keys, value)
    for dotted, keys in (match.keys_of or {}).items():
        _, found = dig(value, dotted)
        if isinstance(found, dict):
            faults += _other_keys(keys, found, f"{dotted}.")
        else:
            faults.append(f"{dotted} is no object")
    for dotted, shape in (match.each or {}).items():
        _, found = dig(value, dotted)
        if not isinstance(found, list) or not found:
            faults.append(f"{dotted} is no list with something in it")
        else:
            faults += [fault for item in found for fault in missing(shape, item, dotted)]
    faults += [f"{key} is there" for key in match.lacks or [] if key in value]
    for dotted, kind in (match.types or {}).items():
        there, found = dig(value, dotted)
        if not there or not _is_a(found, kind):
            faults.append(f"{dotted} is {show(found) if there else 'absent'}, no {kind}")
    for dotted, wanted in (match.texts or {}).items():
        text = _text_at(value, dotted)
        if not text_fits(wanted, text):
            faults.append(f"{dotted} says {show(text)}" if text is not None else f"{dotted} has no text")
    return faults


def _text_at(value: Any, dotted: str) -> str | None:
    """The text at a dotted path, in which numbers are places of a list; None: there is none."""
    for key in dotted.split("."):
        if isinstance(value, list) and re.fullmatch(r"-?\d+", key):
            try:
                value = value[int(key)]
            except IndexError:
                return None
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None
    return text_of_blocks(value) or text_of(value)


def _other_keys(wanted: Sequence[str], found: dict[str, Any], before: str = "") -> list[str]:
    extra, absent = sorted(set(found) - set(wanted)), sorted(set(wanted) - set(found))
    return [f"{before}{key} is there" for key in extra] + [f"{before}{key} is absent" for key in absent]


def wanted_stdin(match: StdinMatch) -> str:
    """A StdinMatch in words."""
    parts = []
    if given(match.equals):
        parts.append(f"exactly {show(match.equals)}")
    if match.subset:
        parts.append(f"with {show(match.subset)}")
    if match.one_line:
        parts.append("in one line")
    if match.keys is not None:
        parts.append(f"with exactly the keys {', '.join(match.keys)}")
    parts += [f"{key} with exactly the keys {', '.join(keys)}" for key, keys in (match.keys_of or {}).items()]
    parts += [f"each of {key} with {show(shape)}" for key, shape in (match.each or {}).items()]
    if match.lacks:
        parts.append(f"without {', '.join(match.lacks)}")
    parts += [f"{key} a {kind}" for key, kind in (match.types or {}).items()]
    parts += [f"{key} {wanted_text(wanted)}" for key, wanted in (match.texts or {}).items()]
    return " and ".join(parts) or "anything"


_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


def dig(value: Any, dotted: str) -> tuple[bool, Any]:
    """What stands at a dotted path of nested objects: (whether it is there, the value)."""
    for key in dotted.split("."):
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _is_a(value: Any, kind: str) -> bool:
    if kind == "iso-time":
        return isinstance(value, str) and _is_aware_time(value)
    if kind in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, int if kind == "integer" else (int, float))
    return isinstance(value, _KINDS[kind])


def _is_aware_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _each(parts: str | list[str] | None) -> Iterable[str]:
    if parts is None:
        return ()
    return (parts,) if isinstance(parts, str) else parts
