"""The first lines of a file, as far as agents and skills use YAML in them: mappings, lists, and texts with or without quotes.

A whole YAML is no part of the standard library, and more than this stands in no such file. What cannot be read is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#\[{-][^:#]*?)\s*:(?:\s+(.*))?$""")
_WORDS = {"true": True, "false": False, "null": None, "~": None}

Line = tuple[int, str]
"""How far a line is indented, in blanks, and what stands in it."""


def head(text: str) -> dict[str, Any] | None:
    """The mapping between the two lines of hyphens; None where there is none. Raises ValueError for what cannot be read."""
    found = _HEAD.search(text)
    if found is None:
        return None
    lines = [(len(line) - len(line.lstrip(" ")), line.strip()) for line in found[1].splitlines()]
    lines = [(indent, line) for indent, line in lines if line and not line.startswith("#")]
    value, rest = _block(lines, lines[0][0]) if lines else ({}, [])
    if rest or not isinstance(value, dict):
        raise ValueError(f"cannot read {rest[0][1] if rest else found[1]!r}")
    return value


def _block(lines: list[Line], indent: int) -> tuple[Any, list[Line]]:
    """The value that begins in the first line, whose lines are this far indented, and the lines after it."""
    return (_items if _is_item(lines[0][1]) else _fields)(lines, indent)


def _items(lines: list[Line], indent: int) -> tuple[list[Any], list[Line]]:
    items = []
    while lines and lines[0][0] == indent and _is_item(lines[0][1]):
        rest = lines[0][1][1:].lstrip()
        inner = indent + len(lines[0][1]) - len(rest)
        if rest and _KEY.match(rest) is None and not _is_item(rest):
            items.append(_scalar(rest))
            lines = lines[1:]
            continue
        lines = [(inner, rest), *lines[1:]] if rest else lines[1:]
        if not lines or lines[0][0] <= indent:
            items.append(None)
            continue
        value, lines = _block(lines, lines[0][0])
        items.append(value)
    return items, lines


def _fields(lines: list[Line], indent: int) -> tuple[dict[str, Any], list[Line]]:
    fields: dict[str, Any] = {}
    while lines and lines[0][0] == indent and not _is_item(lines[0][1]):
        found = _KEY.match(lines[0][1])
        if found is None:
            raise ValueError(f"cannot read {lines[0][1]!r}")
        key, given, lines = str(_scalar(found[1])), found[2], lines[1:]
        if given:
            fields[key] = _scalar(given)
        elif lines and (lines[0][0] > indent or (lines[0][0] == indent and _is_item(lines[0][1]))):
            fields[key], lines = _block(lines, lines[0][0])
        else:
            fields[key] = None
    return fields, lines


def _is_item(line: str) -> bool:
    return line == "-" or line.startswith("- ")


def _scalar(text: str) -> Any:
    if text[0] in '"[{':
        value, end = json.JSONDecoder().raw_decode(text)
        return _alone(value, text[end:])
    if text[0] == "'":
        found = re.match("'((?:[^']|'')*)'", text)
        return _alone(found[1].replace("''", "'") if found else None, text[found.end() :] if found else text)
    if text[0] in "|>&*!%@`":
        raise ValueError(f"cannot read {text!r}")
    text = re.split(r"\s#", text)[0].rstrip()
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return json.loads(text)
    return text


def _alone(value: Any, rest: str) -> Any:
    """A value with quotes or brackets, after which only a comment may stand."""
    if rest.strip() and not re.match(r"\s+#", rest):
        raise ValueError(f"cannot read {rest!r}")
    return value
