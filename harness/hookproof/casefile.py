"""One case file is read: strictly, with the place of everything that is wrong in it, and with its payloads filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from yaml.nodes import MappingNode, Node, SequenceNode

from . import casecheck, strictyaml, suite
from .cases import Call, CaseFile, given
from .errors import CaseFileError, HarnessError
from .mistakes import Mistake, failure
from .strictyaml import Document

T = TypeVar("T", bound=msgspec.Struct)

Place = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(frozen=True, slots=True)
class Read:
    """A case file with the places of its cases and rules."""

    path: Path
    file: CaseFile
    cases: tuple[Place, ...]
    """Where each case begins, in the order of the file."""
    rules: dict[str, Place]

    def mistake(self, keys: tuple[str | int, ...], text: str) -> Mistake:
        """A mistake at the value below these keys of the file: ("cases", 3, "twin")."""
        return _mistake(strictyaml.load(self.path), keys, text)


def read(path: Path) -> Read:
    """The cases of one file, with every call's input in `input`.

    Raises CaseFileError that lists all that is wrong, one line each: `veto.yaml:41:9: case
    "lecode/veto/x": "exti" is no handler field; did you mean "exit"?`
    """
    document = strictyaml.load(path)
    file = convert(document, CaseFile)
    wrong: list[Mistake] = []
    for number, case in enumerate(file.cases):
        for keys, text in casecheck.findings(case, file.dialect, file.family):
            wrong.append(_mistake(document, ("cases", number, *keys), text))
        for keys, call in casecheck.call_places(case):
            try:
                _fill(call, path.parent)
            except CaseFileError as error:
                wrong.append(_mistake(document, ("cases", number, *keys, "json" if call.json else "payload"), error.message))
    if wrong:
        raise failure(wrong)
    return Read(
        path,
        file,
        tuple(_place(node) for node in _items(document.root, "cases")),
        {key.value: _place(key) for key, _ in _pairs(document.root, "rules")},
    )


def convert(document: Document, shape: type[T]) -> T:
    """The document as this type. Raises CaseFileError with everything that does not fit."""
    wrong = [Mistake(m.path, m.line, m.column, _owner(document.root, m.line) + m.text) for m in document.mistakes]
    try:
        made = msgspec.convert(document.data, shape)
    except (msgspec.ValidationError, RecursionError) as error:
        from . import shape as shapes  # only for a file with faults: it is the slow way

        root = document.root
        if not isinstance(root, MappingNode):
            found: list[tuple[Node, str]] = [(root, f"a file must be a mapping with format, ..., not {strictyaml.written(root)}")]
        else:
            # where a value is doubtful that was said already, and what it should be instead is not known
            doubtful = {(mistake.line, mistake.column) for mistake in document.mistakes}
            found = [fault for fault in shapes.faults(root, shape) if _place(fault[0]) not in doubtful]
        wrong += [_at_node(document, node, text) for node, text in found]
        raise failure(wrong or [Mistake(document.path, 1, 1, str(error))]) from None
    if wrong:
        raise failure(wrong)
    return made


def _fill(call: Call, beside: Path) -> None:
    """Put what `payload` or `json` gives into `input`. Raises CaseFileError."""
    if call.json is not None:
        call.input = parse_json(call.json, "json")
        call.json = None
    elif call.payload is not None:
        call.input = payload(call.payload, beside)
        call.payload = None
    elif not given(call.input):
        call.input = {}


def payload(reference: str, beside: Path) -> Any:
    """The value that `file.json#/pointer` names, in `payloads/` beside the case file or in the suite's.

    Raises CaseFileError that names the file and the pointer.
    """
    name, _, pointer = reference.partition("#")
    if not name or Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
        raise CaseFileError(f'payload "{reference}" must name a file below payloads/: agent/version/Event.json#/tool_input')
    folders = [beside / "payloads"]
    try:
        folders.append(suite.fixtures() / "payloads")
    except HarnessError:
        pass  # the file beside the cases may be all that is needed
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is None:
        raise CaseFileError(f'payload "{name}" is not there; looked in {" and ".join(map(str, folders))}')
    value = parse_json(payload_text(found), f'payload "{name}"')
    if pointer and not pointer.startswith("/"):
        raise CaseFileError(f'payload "{name}": the pointer "{pointer}" must begin with /')
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise CaseFileError(f'payload "{name}": the pointer "{pointer}" leads nowhere at "{key}"')
    return value


def payload_text(path: Path) -> str:
    """The text of a payload, which may hold what YAML cannot. Raises CaseFileError."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CaseFileError(f'payload "{path.name}" cannot be read: {error}') from None


def parse_json(text: str, name: str) -> Any:
    """JSON as the standard says it: no NaN, no doubled keys. Raises CaseFileError."""
    try:
        return json.loads(text, object_pairs_hook=_single_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise CaseFileError(f"{name} is no JSON: {error.msg} in its line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise CaseFileError(f"{name} is no JSON for a case: {error}") from None


def _single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" stands there twice')
    return built


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


# ---- places --------------------------------------------------------------------------------------


def _mistake(document: Document, keys: tuple[str | int, ...], text: str) -> Mistake:
    line, column = strictyaml.at(document.root, keys)
    return Mistake(document.path, line, column, _owner(document.root, line) + text)


def _at_node(document: Document, node: Node, text: str) -> Mistake:
    line, column = _place(node)
    return Mistake(document.path, line, column, _owner(document.root, line) + text)


def _owner(root: Node, line: int) -> str:
    """`case "lecode/veto/x": ` or `rule "...": ` for whatever stands in this line."""
    for node in _items(root, "cases"):
        if node.start_mark.line < line <= max(node.end_mark.line, node.start_mark.line + 1):
            name = next((str(v.value) for k, v in _mapping_pairs(node) if k.value == "id"), None)
            if name is not None:
                return f'case "{name}": '
    for key, value in _pairs(root, "rules"):
        if key.start_mark.line < line <= max(value.end_mark.line, key.start_mark.line + 1):
            return f'rule "{key.value}": '
    return ""


def _place(node: Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _mapping_pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    return iter(node.value if isinstance(node, MappingNode) else ())


def _child(root: Node, name: str) -> Node | None:
    return next((value for key, value in _mapping_pairs(root) if key.value == name), None)


def _items(root: Node, name: str) -> list[Node]:
    child = _child(root, name)
    return child.value if isinstance(child, SequenceNode) else []


def _pairs(root: Node, name: str) -> list[tuple[Node, Node]]:
    child = _child(root, name)
    return child.value if isinstance(child, MappingNode) else []
