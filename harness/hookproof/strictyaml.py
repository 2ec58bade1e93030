"""YAML is read so that nothing is guessed: text stays text, and what is doubtful is refused.

Special are only `true`, `false`, `null`, plain integers (`12`, `-3`) and plain decimals (`1.5`). All else
without quotes is text (`no`, `on`, `2026-12-01`), except what other readers of YAML take for a number or a
truth (`1e3`, `012`, `1_000`, `0x1f`, `.5`, `True`, `~`) and a key without a value: these are refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .mistakes import Mistake, failure

_Fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C where PyYAML was built with it: 15 times as fast."""

DEEPEST = 60
"""Nothing in a file of the suite is nested deeper."""
LARGEST = 8_000_000
"""No file of the suite is larger, in bytes; bulk is made by verbs such as `stdout_bytes`."""

TEXT, INTEGER, DECIMAL, DOUBTFUL, EMPTY, MERGE, LIST, MAPPING = "text", "int", "float", "doubtful", "empty", "merge", "seq", "map"
WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,300})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,300})\.[0-9]+")
_NUMBERLIKE = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?0[xXoObB][0-9a-fA-F_]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_WORDLIKE = frozenset({"True", "TRUE", "False", "FALSE", "Null", "NULL", "~"})

# what makes the event pass necessary: anchors, tags that the resolver would not see, surrogates, depth
_ANCHOR = re.compile(r"(?:^|[\s\[{,:])(?:&[0-9A-Za-z_-]|!)", re.MULTILINE)
_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}|\\U0000[dD]|\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

NO_SURROGATES = (
    "a surrogate escape (\\ud83d) is not read in YAML: write the character itself, or give the input as `json: |` or `payload`"
)
NO_ANCHORS = "anchors and aliases (&name, *name) are not read here: write the value out"
NO_TAGS = "tags (!name) are not read here: leave the tag away, or put the text in quotes"


class StrictLoader(_Fast):  # type: ignore[misc]
    """Composes the node tree; every scalar gets one of our own tags, so that a written tag stands out."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        """The tag of a node that carries none."""
        if kind is ScalarNode:
            return _kind(value or "") if implicit[0] else TEXT
        return LIST if kind is SequenceNode else MAPPING

    def descend_resolver(self, parent: Node | None, index: Any) -> None:
        """There are no resolvers by path."""

    def ascend_resolver(self) -> None:
        """There are no resolvers by path."""


@dataclass(slots=True)
class Document:
    """A file that is YAML: its nodes (for places) and its plain data."""

    path: Path
    root: Node
    data: Any
    mistakes: list[Mistake] = field(default_factory=list)
    """Doubtful values, doubled keys, tags: whatever is wrong without stopping the reading."""


def load(path: Path) -> Document:
    """Read one file. Raises CaseFileError where it is no YAML at all, or cannot be read."""
    return parse(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark. Raises CaseFileError."""
    # a FIFO would be waited for without end; a folder says itself what it is
    if path.exists() and not path.is_file() and not path.is_dir():
        raise failure([Mistake(path, 1, 1, "is no regular file")])
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise failure([Mistake(path, 1, 1, f"cannot be read: {error.strerror or error}")]) from None
    except ValueError as error:
        raise failure([Mistake(path, 1, 1, f"cannot be read: {error}")]) from None
    if len(raw) > LARGEST:
        raise failure([Mistake(path, 1, 1, f"{len(raw)} bytes are more than any case file needs ({LARGEST})")])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise failure([Mistake(path, before.count(b"\n") + 1, column, f"not UTF-8: byte 0x{raw[error.start]:02x}")]) from None
    odd = _UNPRINTABLE.search(text)
    if odd:
        line, column = place(text, odd.start())
        remedy = "write it as an escape in double quotes"
        raise failure([Mistake(path, line, column, f"the character U+{ord(odd[0]):04X} does not survive YAML: {remedy}")])
    return text


def parse(text: str, path: Path) -> Document:
    """The document in a text; `path` is named in messages. Raises CaseFileError where it is no YAML at all."""
    try:
        if _suspicious(text):
            _inspect(text, path)
        loader = StrictLoader(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
        if root is None:
            raise failure([Mistake(path, 1, 1, "the file is empty")])
        document = Document(path, root, None)
        document.data = _build(root, document, 0)
        return document
    except yaml.MarkedYAMLError as error:
        raise failure([_syntax(error, text, path)]) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise failure([Mistake(path, 1, 1, f"not YAML: {' '.join(str(error).split())}")]) from None
    except RecursionError:
        raise failure([_too_deep(path, 1, 1)]) from None


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a character."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def at(root: Node, keys: tuple[str | int, ...]) -> tuple[int, int]:
    """Line and column of the value below these keys; of its key in a mapping; of the nearest parent if it is not there."""
    node, mark = root, root.start_mark
    for key in keys:
        if isinstance(node, MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == key), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            mark = node.start_mark
        else:
            break
    return mark.line + 1, mark.column + 1


def written(node: Node) -> str:
    """A value as words: `the text "1"`, `the number 1.5`, `true`, `a list`."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    if node.tag in (INTEGER, DECIMAL):
        return f"the number {node.value}"
    if node.tag in WORDS:
        return str(node.value)
    text = node.value if len(node.value) <= 40 else node.value[:37] + "..."
    return f'the text "{text}"'


@lru_cache(4096)  # most are keys and words, met again and again
def _kind(value: str) -> str:
    """What a value without quotes is."""
    first = value[:1]
    if first.isalpha():
        return value if value in WORDS else DOUBTFUL if value in _WORDLIKE else TEXT
    if _INTEGER.fullmatch(value):
        return INTEGER
    if _DECIMAL.fullmatch(value):
        return DECIMAL if math.isfinite(float(value)) else DOUBTFUL
    if not value:
        return EMPTY
    if value == "<<":
        return MERGE
    return DOUBTFUL if value in _WORDLIKE or _NUMBERLIKE.fullmatch(value) else TEXT


def _build(node: Node, document: Document, depth: int) -> Any:
    """The plain data of a node; what is wrong goes to the document's mistakes."""
    tag = node.tag
    if tag == TEXT:
        return node.value
    if depth > DEEPEST:
        raise failure([_too_deep(document.path, node.start_mark.line + 1, node.start_mark.column + 1)])
    if tag == MAPPING:
        return _mapping(node, document, depth)
    if tag == LIST:
        return [_build(item, document, depth + 1) for item in node.value]
    if tag == INTEGER:
        return int(node.value)
    if tag == DECIMAL:
        return float(node.value)
    if tag in WORDS:
        return WORDS[tag]
    if tag == EMPTY:
        _note(document, node, 'a value is missing: write null, "", [] or {}')
        return None
    if tag == DOUBTFUL:
        plain = f'write a plain number, true, false, null, or "{node.value}"'
        _note(document, node, f"{node.value} is read as different things: {plain}")
    elif tag == MERGE:
        _note(document, node, "merge keys (<<) are not read here: write the keys out")
    else:
        _note(document, node, NO_TAGS)
    return node.value if isinstance(node, ScalarNode) else None


def _mapping(node: Node, document: Document, depth: int) -> dict[str, Any]:
    built: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        name = key.value
        if key.tag != TEXT:
            if key.tag == MERGE:
                _note(document, key, "merge keys (<<) are not read here: write the keys out")
            elif isinstance(key, ScalarNode):
                _note(document, key, f'a key must be text: write "{name}" in quotes')
            else:
                _note(document, key, "a key must be text, not a list or a mapping")
            continue
        if name in built:
            _note(document, key, f'the key "{name}" stands here twice, first in line {lines[name]}')
            continue
        lines[name] = key.start_mark.line + 1
        built[name] = _build(value, document, depth + 1)
    return built


def _note(document: Document, node: Node, text: str) -> None:
    document.mistakes.append(Mistake(document.path, node.start_mark.line + 1, node.start_mark.column + 1, text))


def _suspicious(text: str) -> bool:
    """Whether the event pass is worth its time: it costs as much as the reading itself."""
    if _ANCHOR.search(text) or _SURROGATE.search(text) or "\n%" in text or text.startswith("%"):
        return True
    # fewer openings and shorter lines cannot nest so deep that composing them is dangerous
    return text.count("[") + text.count("{") > 2000 or max(map(len, text.split("\n"))) > 2000


def _inspect(text: str, path: Path) -> None:
    """Walk the events, which needs no recursion. Raises CaseFileError for what must not be composed."""
    depth = 0
    for event in yaml.parse(text, Loader=_Fast):
        mark: Any = event.start_mark
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        problem = None
        if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
            problem = "directives (%YAML, %TAG) are not read here: leave the line away"
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            problem = NO_ANCHORS
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            problem = NO_TAGS
        elif isinstance(event, yaml.ScalarEvent) and _HALF.search(event.value):
            problem = NO_SURROGATES
        if problem:
            raise failure([Mistake(path, mark.line + 1, mark.column + 1, problem)])
        if depth > DEEPEST:
            raise failure([_too_deep(path, mark.line + 1, mark.column + 1)])


def _too_deep(path: Path, line: int, column: int) -> Mistake:
    return Mistake(path, line, column, f"nested deeper than {DEEPEST} levels: no case needs that")


def _syntax(error: yaml.MarkedYAMLError, text: str, path: Path) -> Mistake:
    """What the parser says, with the remedy for the mistakes that people make."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    said = error.problem or error.context or "it cannot be parsed"
    lines = text.split("\n")
    row = lines[line - 1] if line <= len(lines) else ""
    if "\t" in row[: len(row) - len(row.lstrip())] or (said.startswith("found character") and "\t" in row):
        return Mistake(path, line, column, "not YAML: a tab cannot indent: use blanks")
    if "nesting depth" in said:
        return _too_deep(path, line, column)
    if "undefined alias" in said:
        return Mistake(path, line, column, NO_ANCHORS)
    if "Unicode character escape" in said or ("escape" in said and _SURROGATE.search(row)):
        return Mistake(path, line, column, NO_SURROGATES)
    if "expected a single document" in f"{error.context} {said}":
        return Mistake(path, line, column, "a file holds one document: take the second --- away")
    hint = ""
    if "mapping values" in said:
        hint = ': a text with ": " in it must stand in quotes'
    elif said.startswith("found character") or "undefined tag handle" in said:
        hint = ": a text that begins with one of @ ` % ! & * must stand in quotes"
    return Mistake(path, line, column, f"not YAML: {said}{hint}")
