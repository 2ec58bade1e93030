"""What is safe to mend without asking is mended in the text itself: every other byte stays as it is.

Two things are: an event's name whose case is wrong, and a handler in the old flat form. Nothing is written
unless the new text, read again, says the same as before everywhere else; `permissions` keeps its very bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .context import Context
from .document import Document, Node, parse
from .errors import GateError
from .near import folded
from .profiles import EVENTS_332, profile
from .rules.shape import is_flat

_BY_FOLDED = {folded(event): event for event in EVENTS_332}
_MOST_ROUNDS = 4
"""A mis-cased event with a flat handler needs two; more than that does not happen."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One piece of text takes the place of another."""

    start: int
    end: int
    text: str


def fixed(text: str) -> str:
    """The text with all safe fixes; the very same text where there is nothing to mend or it cannot be done safely."""
    for _ in range(_MOST_ROUNDS):
        document = parse(text)
        if document.torn or document.root is None:
            return text
        edits = sorted(_edits(document), key=lambda edit: edit.start)
        if not edits:
            return text
        new = text
        for edit in reversed(edits):
            new = new[: edit.start] + edit.text + new[edit.end :]
        if not _same_elsewhere(document, parse(new)):
            return text
        text = new
    return text


def fix_bytes(source: bytes) -> bytes:
    """`fixed` for a file's bytes: line ends, byte order mark and bytes that are no UTF-8 stay as they are."""
    if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return source
    return fixed(source.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def fix_file(path: Path, *, write: bool) -> str:
    """Mend a file in one step (it is never half written), and give the difference; without `write` only the difference."""
    try:
        real = path.resolve(strict=True)
        before = real.read_bytes()
        after = fix_bytes(before)
        if after == before:
            return ""
        if write:
            replace_file(real, after)
    except OSError as error:
        raise GateError(f"{path}: {error.strerror or error}", "nothing was changed in it") from None
    from difflib import unified_diff

    old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (before, after))
    lines = unified_diff(old, new, str(path), str(path))
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def replace_file(path: Path, content: bytes) -> None:
    """Put new content into the place of a file, or make it, in one step; its mode stays."""
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o7777 if path.exists() else 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _edits(document: Document) -> Iterator[Edit]:
    context = Context(document, profile())
    hooks = context.hooks
    if hooks is None:
        return
    taken = {member.key for member in hooks.members}
    for event in context.events:
        if event.key not in EVENTS_332:
            right = _BY_FOLDED.get(folded(event.key))
            # two keys that become one would lose the handlers of the first
            if right is not None and right not in taken:
                taken.add(right)
                yield Edit(event.start, event.end, json.dumps(right))
        else:
            for node in event.node.items:
                if is_flat(node):
                    yield from _nest(document, node)


def _nest(document: Document, node: Node) -> Iterator[Edit]:
    matcher = node.member("matcher")
    if matcher is not None and matcher.node.kind != "string":
        return
    if any(node.start <= damage.start < node.end for damage in document.damage):
        return
    text = document.text
    inner = text[node.start : node.end]
    head = ""
    if matcher is not None:
        head = text[matcher.start : matcher.node.end] + ","
        start, end = _with_comma(text, node, matcher.start, matcher.node.end)
        inner = text[node.start : start] + text[end : node.end]
    line_start = text.rfind("\n", 0, node.start) + 1
    indent = text[line_start : node.start]
    if "\n" in inner and not indent.strip(" \t"):
        newline = "\r\n" if "\r\n" in inner else "\n"
        unit = _unit(text, node, indent)
        deeper = inner.replace("\n", "\n" + unit * 2)
        first = f"{newline}{indent}{unit}{head}" if head else ""
        opened = f'{{{first}{newline}{indent}{unit}"hooks": [{newline}{indent}{unit * 2}'
        yield Edit(node.start, node.end, f"{opened}{deeper}{newline}{indent}{unit}]{newline}{indent}}}")
    else:
        yield Edit(node.start, node.end, f'{{{head + " " if head else ""}"hooks": [{inner}]}}')


def _unit(text: str, node: Node, indent: str) -> str:
    """One step of indentation, as the handler's own members show it."""
    first = node.members[0].start
    own = text[text.rfind("\n", 0, first) + 1 : first]
    return own[len(indent) :] if own.startswith(indent) and own != indent and not own.strip(" \t") else "  "


def _with_comma(text: str, node: Node, start: int, end: int) -> tuple[int, int]:
    """The span of a member with one of the commas beside it, and the blanks that would be left."""
    after = end
    while text[after] in " \t\r\n":
        after += 1
    if text[after] == ",":
        after += 1
        while text[after] in " \t\r\n":
            after += 1
        return start, after
    before = start
    while before > node.start + 1 and text[before - 1] in " \t\r\n":
        before -= 1
    if text[before - 1] == ",":
        before -= 1
    return before, end


def _same_elsewhere(before: Document, after: Document) -> bool:
    """Whether the new text is sound, and says the same outside `hooks`, to the byte."""
    old, new = before.root, after.root
    if old is None or new is None or after.torn or len(after.damage) != len(before.damage):
        return False
    if [member.key for member in old.members] != [member.key for member in new.members]:
        return False
    for one, two in zip(old.members, new.members, strict=True):
        if one.key != "hooks" and before.text[one.node.start : one.node.end] != after.text[two.node.start : two.node.end]:
            return False
    return _handlers(old) == _handlers(new)


def _handlers(root: Node) -> list[str]:
    """What runs at which event with which matcher, whatever the nesting: what a fix must not change."""
    found: list[str] = []
    hooks = root.get("hooks")
    for event in hooks.members if hooks is not None else ():
        name = _BY_FOLDED.get(folded(event.key), event.key)
        for entry in event.node.items:
            if is_flat(entry):
                handler = {key: node.plain() for key, node in entry.value.items() if key != "matcher"}
                matcher = entry.get("matcher")
                plain = {"hooks": [handler]} if matcher is None else {"matcher": matcher.plain(), "hooks": [handler]}
            else:
                plain = entry.plain()
            found.append(f"{name} {json.dumps(plain, sort_keys=True)}")
    return found
