"""A TOML settings file is read into the same document as a JSON one, with the lines where its keys stand."""

from __future__ import annotations

import re
from typing import Any

from .document import Damage, Document, Kind, Member, Node
from .pattern import pattern

_WHERE = pattern(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")


def parse_toml(source: str | bytes) -> Document:
    """Never raises; what is no TOML becomes one damage, with the place that the reader names."""
    import tomllib

    damage: list[Damage] = []
    text = source if isinstance(source, str) else source.decode("utf-8", "surrogateescape")
    if text.startswith("\ufeff"):
        damage.append(Damage("byte-order-mark", 0, 1, "U+FEFF"))
    if not text.isascii() and (bad := re.search("[\ud800-\udfff]", text)):
        damage.append(Damage("torn", bad.start(), bad.end(), "a byte that is no UTF-8"))
        return Document(text, None, damage)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        document = Document(text, None, damage)
        start = _offset(text, str(error))
        damage.append(Damage("torn", start, start, _WHERE.sub("", str(error)).strip()))
        return document
    except (RecursionError, ValueError) as error:
        damage.append(Damage("too-deep", 0, 0, type(error).__name__))
        return Document(text, None, damage)
    return Document(text, _Locator(text).build(data), damage)


def _offset(text: str, message: str) -> int:
    found = _WHERE.search(message)
    if found is None or found[1] is None:
        return len(text)
    lines = text.splitlines(keepends=True)
    return min(sum(len(line) for line in lines[: int(found[1]) - 1]) + int(found[2]) - 1, len(text))


class _Locator:
    """Builds the nodes, and looks for their keys from where the last one stood.

    The standard library's reader tells no places; a key that cannot be found is taken to stand at its table.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = 100_000  # values are few in a settings file; more is somebody's data

    def build(self, data: dict[str, Any]) -> Node:
        root = Node("object", {}, 0, len(self._text))
        waiting: list[tuple[Node, Any, int]] = [(root, data, 0)]
        while waiting and self._left > 0:
            holder, value, start = waiting.pop()
            if isinstance(value, dict):
                for key, inner in value.items():
                    at, end = self._key(key, start)
                    node = self._node(inner, end)
                    node.parent, node.key = holder, key
                    holder.value[key] = node
                    holder.members.append(Member(key, at, end, node))
                    waiting.append((node, inner, end))
            elif isinstance(value, list):
                at = start
                for index, inner in enumerate(value):
                    at = self._string(inner, at)
                    node = self._node(inner, at)
                    node.parent, node.key = holder, index
                    holder.value.append(node)
                    waiting.append((node, inner, at))
        return root

    def _node(self, value: Any, at: int) -> Node:
        self._left -= 1
        kind: Kind = "string"
        if isinstance(value, dict):
            kind = "object"
        elif isinstance(value, list):
            kind = "array"
        elif isinstance(value, bool):
            kind = "boolean"
        elif isinstance(value, int | float):
            kind = "number"
        elif not isinstance(value, str):
            value = str(value)  # dates and times
        content: Any = {} if kind == "object" else [] if kind == "array" else value
        return Node(kind, content, at, at)

    def _key(self, key: str, start: int) -> tuple[int, int]:
        """Where a key stands: before `=`, or in a table's header."""
        quoted = re.escape(key)
        pattern = rf"(?m)(?<![\w-])[\"']?{quoted}[\"']?(?=[ \t]*(?:=|\.|\]))"
        found = re.compile(pattern).search(self._text, start) or re.compile(pattern).search(self._text)
        return (found.start(), found.end()) if found else (start, start)

    def _string(self, value: Any, start: int) -> int:
        if isinstance(value, str) and value:
            found = self._text.find(value.splitlines()[0], start) if value.strip() else -1
            if found >= 0:
                return found
        return start
