"""A settings file is read as JSON, with the place of every value, however damaged it is.

The reader never raises and never recurses: what is no JSON becomes a `Damage` with its place, and reading
goes on behind it where that makes sense. What a program does about a damage is not decided here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["object", "array", "string", "number", "boolean", "null"]
Harm = Literal[
    "comment",
    "trailing-comma",
    "extra-comma",
    "missing-comma",
    "single-quotes",
    "unquoted",
    "no-number",
    "no-constant",
    "bad-escape",
    "control-character",
    "lone-surrogate",
    "duplicate-key",
    "byte-order-mark",
    "utf-16",
    "not-utf-8",
    "too-deep",
    "stray",
    "second-document",
    "torn",
    "empty",
]
"""What can be wrong with the text. `torn`: brackets, colons or quotes are missing, and what follows is guesswork."""

DEEPEST = 64
"""Levels of nesting that are kept; what lies deeper is read over. (observed: the limit of 2.1.332)"""


class Node:
    """One value and where it stands.

    `value` is a str, int, float, bool or None, for an object a dict of nodes (of equal keys the last), for an
    array a list of nodes. `start` and `end` are offsets into the document's text.
    """

    __slots__ = ("end", "key", "kind", "members", "parent", "start", "value")

    def __init__(self, kind: Kind, value: Any, start: int, end: int) -> None:
        self.kind: Kind = kind
        self.value = value
        self.start = start
        self.end = end
        self.parent: Node | None = None
        self.key: str | int | None = None
        self.members: list[Member] = []

    def get(self, key: str) -> Node | None:
        """The member of that name; None also where this is no object."""
        return self.value.get(key) if self.kind == "object" else None

    def member(self, key: str) -> Member | None:
        """The member that counts (the last of that name), with the place of its key."""
        return next((m for m in reversed(self.members) if m.key == key), None)

    @property
    def items(self) -> list[Node]:
        """The elements of an array; empty for anything else."""
        return self.value if self.kind == "array" else []

    @property
    def text(self) -> str | None:
        """The value of a string; None for anything else."""
        return self.value if self.kind == "string" else None

    @property
    def pointer(self) -> str:
        """The JSON pointer (RFC 6901)."""
        parts: list[str] = []
        node: Node = self
        while node.parent is not None:
            parts.append(str(node.key).replace("~", "~0").replace("/", "~1"))
            node = node.parent
        return "".join(f"/{part}" for part in reversed(parts))

    def walk(self) -> Iterator[Node]:
        """This value and all in it, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.kind == "object":
                waiting.extend(member.node for member in reversed(node.members))
            elif node.kind == "array":
                waiting.extend(reversed(node.value))

    def plain(self) -> Any:
        """The value as Python's json module would give it."""
        if self.kind == "object":
            return {key: node.plain() for key, node in self.value.items()}
        if self.kind == "array":
            return [node.plain() for node in self.value]
        return self.value


@dataclass(frozen=True, slots=True)
class Member:
    """One `"key": value` of an object; `start` and `end` are those of the key with its quotes."""

    key: str
    start: int
    end: int
    node: Node

    @property
    def pointer(self) -> str:
        """That of the value."""
        return self.node.pointer


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in the text that is no JSON, or JSON that readers disagree about."""

    harm: Harm
    start: int
    end: int
    what: str
    """The piece of text, or the key."""
    pointer: str = ""


@dataclass(slots=True)
class Document:
    """What was read."""

    text: str
    root: Node | None
    damage: list[Damage] = field(default_factory=list)
    encoding: str = "utf-8"
    _lines: list[int] | None = None

    @property
    def torn(self) -> bool:
        """Whether the structure had to be guessed, so that only the damage itself is worth a word."""
        return any(d.harm in ("torn", "stray", "second-document", "missing-comma") for d in self.damage)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1, the column in characters."""
        if self._lines is None:
            self._lines = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


def parse(source: str | bytes) -> Document:
    """Read a whole file. Bytes that are no UTF-8 are kept as lone surrogates (`surrogateescape`)."""
    damage: list[Damage] = []
    encoding = "utf-8"
    if isinstance(source, str):
        text = source
    elif source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
        text = source.decode("utf-16", "replace")
        damage.append(Damage("utf-16", 0, 0, "UTF-16"))
    else:
        text = source.decode("utf-8", "surrogateescape")
        if not text.isascii() and (bad := _NO_UTF_8.search(text)):
            damage.append(Damage("not-utf-8", bad.start(), bad.end(), f"byte 0x{ord(bad[0]) - 0xDC00:02x}"))
    from .reader import Reader

    reader = Reader(text, damage)
    return Document(text, reader.read(), damage, encoding)


_NO_UTF_8 = re.compile("[\udc80-\udcff]")
