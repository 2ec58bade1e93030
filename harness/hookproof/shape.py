"""A node tree is held against the types of a file, and every place where they differ is said in words.

msgspec reads well-formed files and stops at the first fault without knowing lines. This walk runs only
when msgspec refused a file: it finds all faults, with their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec.inspect as mi
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from . import cases
from .mistakes import near, suggestion
from .strictyaml import DECIMAL, INTEGER, TEXT, written

Fault = tuple[Node, str]
"""Where, and what."""

NAMES: dict[str, str] = {
    "CaseFile": "case file",
    "Say": "answer",
    "CaseStep": "step",
    "CaseSession": "session",
    "CasePermission": "permission",
    "NativeSettings": "settings",
    "TextMatch": "text expectation",
    "StdinMatch": "stdin expectation",
    "PromptExpect": "prompt expectation",
    "EndExpect": "end expectation",
    "SettingsExpect": "settings expectation",
    "Expect": "expectation",
    "PostureChoice": "choice by posture",
    "RequirementSet": "requirement set",
    "StatementFile": "list of statements",
}
"""Type -> its name in messages; the others are called by their own name in small letters."""

PATTERNS: dict[str, str] = {
    r"^[a-z0-9]+(-[a-z0-9]+)*$": "small letters, digits and single hyphens",
    r"^(h[1-9][0-9]*|t[1-9][0-9]*)$": "the name of a probe (h1, h2, ... or t1, t2, ...)",
    r"^[a-z0-9-]+/[a-z0-9-]+/[a-z0-9]+(-[a-z0-9]+)*$": "dialect/family/what-it-shows in small letters, digits and hyphens",
    r"^[a-z0-9-]+(/[a-z0-9-]+)*\.(sh|py)$": "a file in the project that ends in .sh or .py: ci/guard.sh",
    r"^\.?[A-Za-z0-9][A-Za-z0-9 ._-]*(/\.?[A-Za-z0-9][A-Za-z0-9 ._-]*)*$": "a path below a folder: agents/guard.md",
    r"^[A-Z]+-F?[0-9]+$": "the id of a row: L-01, C-F12",
}
"""The patterns of `cases.py` in words."""


def faults(node: Node, shape: type) -> list[Fault]:
    """Everything in the node that the type does not allow."""
    return list(_walk(node, _info(shape), "the file"))


@cache
def _info(shape: type) -> mi.Type:
    return mi.type_info(shape)


def _walk(node: Node, info: mi.Type, name: str) -> Iterator[Fault]:
    """`name` is how the value is called in messages: `"exit"`, `item 2 of "calls"`."""
    branches = list(info.types) if isinstance(info, mi.UnionType) else [info]
    fitting = [branch for branch in branches if _fits(node, branch)]
    if not fitting:
        yield node, f"{name} must be {_words(branches)}, not {written(node)}{_remedy(node, branches)}"
        return
    branch = fitting[0]
    if isinstance(branch, mi.StructType):
        yield from _struct(node, branch)
    elif isinstance(branch, mi.DictType):
        if branch.min_length and len(node.value) < branch.min_length:
            yield node, f"{name} must not be empty"
        for key, value in node.value:
            if isinstance(branch.key_type, mi.StrType) and branch.key_type.pattern:
                yield from _walk(key, branch.key_type, f'the key "{key.value}" in {name}')
            yield from _walk(value, branch.value_type, f'"{key.value}"')
    elif isinstance(branch, mi.ListType | mi.VarTupleType):
        if branch.min_length and len(node.value) < branch.min_length:
            yield node, f"{name} must not be empty"
        for number, item in enumerate(node.value, 1):
            yield from _walk(item, branch.item_type, f"item {number} of {name}")
    elif not any(_allowed(node, each) for each in fitting):
        yield node, _refusal(node, fitting, name)


def _struct(node: Node, info: mi.StructType) -> Iterator[Fault]:
    fields = {field.encode_name: field for field in info.fields}
    for key, value in node.value:
        if key.value in fields:
            yield from _walk(value, fields[key.value].type, f'"{key.value}"')
        elif isinstance(key, ScalarNode):
            yield key, _unknown(key.value, info, list(fields))
    present = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
    for name, field in fields.items():
        if field.required and name not in present:
            yield node, f'"{name}" is missing; every {_name(info)} needs one'


def _unknown(word: str, info: mi.StructType, known: list[str]) -> str:
    text = f'"{word}" is no {_name(info)} field; '
    homes = [] if near(word, known) else [name for name, fields in _homes().items() if word in fields]
    return text + (f"it belongs in: {', '.join(homes)}" if homes else suggestion(word, known))


@cache
def _homes() -> dict[str, frozenset[str]]:
    """Part of a case -> its fields: to say where a misplaced field belongs."""
    parts = (cases.Case, cases.Handler, cases.Say, cases.Call, cases.Tool, cases.Expect, cases.Rule, cases.CaseFile)
    return {NAMES.get(part.__name__, part.__name__.lower()): frozenset(part.__struct_encode_fields__) for part in parts}


def _fits(node: Node, info: mi.Type) -> bool:
    """Whether the kind is right, whatever the value."""
    if isinstance(info, mi.AnyType):
        return True
    if isinstance(node, MappingNode):
        return isinstance(info, mi.StructType | mi.DictType)
    if isinstance(node, SequenceNode):
        return isinstance(info, mi.ListType | mi.VarTupleType)
    if isinstance(info, mi.LiteralType):
        return node.tag == (INTEGER if isinstance(info.values[0], int) else TEXT)
    if isinstance(info, mi.StrType):
        return bool(node.tag == TEXT)
    if isinstance(info, mi.BoolType):
        return node.tag in ("true", "false")
    if isinstance(info, mi.NoneType):
        return bool(node.tag == "null")
    if isinstance(info, mi.IntType):
        return bool(node.tag == INTEGER)
    return isinstance(info, mi.FloatType) and node.tag in (INTEGER, DECIMAL)


def _allowed(node: Node, info: mi.Type) -> bool:
    """Whether a scalar of the right kind has an allowed value."""
    if isinstance(info, mi.LiteralType):
        return any(str(value) == node.value for value in info.values)
    if isinstance(info, mi.StrType):
        long_enough = len(node.value) >= (info.min_length or 0)
        return long_enough and not (info.pattern and not re.search(info.pattern, node.value))
    if isinstance(info, mi.IntType | mi.FloatType):
        number = float(node.value)
        return (info.ge is None or number >= info.ge) and (info.le is None or number <= info.le)
    return True


def _refusal(node: Node, infos: list[mi.Type], name: str) -> str:
    literals = [str(value) for info in infos if isinstance(info, mi.LiteralType) for value in info.values]
    meant = near(node.value, literals)
    tail = f'; did you mean "{meant}"?' if meant else ""
    short = next((i for i in infos if isinstance(i, mi.StrType) and len(node.value) < (i.min_length or 0)), None)
    if short and not short.pattern:
        return f"{name} must say more: at least {short.min_length} letters"
    return f"{name} must be {_words(infos)}, not {written(node)}{tail}"


def _remedy(node: Node, infos: list[mi.Type]) -> str:
    wants_text = any(isinstance(info, mi.StrType | mi.LiteralType) for info in infos)
    if wants_text and isinstance(node, ScalarNode) and node.tag != TEXT and node.tag != "null":
        return f': write it in quotes: "{node.value}"'
    if wants_text and isinstance(node, MappingNode):
        return ': a text with braces or ": " in it must stand in quotes'
    return ""


def _words(infos: list[mi.Type]) -> str:
    # null is mentioned last, however the type is written
    ordered = [info for info in infos if not isinstance(info, mi.NoneType)]
    words = [_word(info) for info in ordered]
    if len(ordered) < len(infos):
        words.append("null")
    return " or ".join(words)


def _word(info: mi.Type) -> str:
    if isinstance(info, mi.LiteralType):
        values = [str(value) for value in info.values]
        return values[0] if len(values) == 1 else f"one of {', '.join(values)}"
    if isinstance(info, mi.StrType):
        return PATTERNS.get(info.pattern, f"text like {info.pattern}") if info.pattern else "text"
    if isinstance(info, mi.IntType | mi.FloatType):
        word = "a whole number" if isinstance(info, mi.IntType) else "a number"
        if info.ge is not None and info.le is not None:
            return f"{word} from {info.ge} to {info.le}"
        return f"{word}, {info.ge} or more" if info.ge is not None else word
    if isinstance(info, mi.BoolType):
        return "true or false"
    if isinstance(info, mi.ListType | mi.VarTupleType):
        return "a list"
    return "a mapping"


def _name(info: mi.StructType) -> str:
    return NAMES.get(info.cls.__name__, info.cls.__name__.lower())
