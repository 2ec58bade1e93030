"""A failing example of a property is kept as a file that anybody can replay: both cases, and which relation breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import yaml

from . import casefile, dialects, strictyaml
from .applicability import says
from .cases import Call, Case, CasePermission, CaseStep, Handler, Slug, Strict, given
from .errors import DialectError, HarnessError
from .ground import Ground
from .matching import show
from .mistakes import Mistake, failure, suggestion
from .properties import RELATIONS, Relation, described


class Described(Strict, kw_only=True):
    """What is asked: the handlers, one call or several steps, and the host's own verdict."""

    handlers: list[Handler] = []
    call: Call | None = None
    steps: list[CaseStep] | None = None
    permission: CasePermission = msgspec.field(default_factory=CasePermission)


class Counterexample(Strict, kw_only=True):
    """One file. A relation that is a bound on one run has no `second`."""

    format: Literal[1]
    property: Slug
    dialect: str
    """With its version: lecode/1.0."""
    found: str = ""
    """What was wrong, and with whom; for people."""
    first: Described
    second: Described | None = None


def write(folder: Path, relation: Relation, ground: Ground, pair: tuple[Case, Case | None], found: str) -> Path:
    """Write a failing example into a folder; its path. Raises HarnessError."""
    first, second = pair
    example = Counterexample(
        format=1,
        property=relation.name,
        dialect=f"{ground.dialect.name}/{ground.version}",
        found=found,
        first=_reduced(first),
        second=None if second is None else _reduced(second),
    )
    text = yaml.safe_dump(msgspec.to_builtins(example), sort_keys=False, width=120)
    path = folder / f"{relation.name}.{ground.dialect.name}-{ground.version}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise HarnessError(f"{path}: the failing example cannot be written: {error.strerror}") from None
    return path


def read(path: Path) -> Counterexample:
    """The example in a file. Raises CaseFileError that lists what is wrong, with line and column."""
    document = strictyaml.load(path)
    example = casefile.convert(document, Counterexample)
    wrong = []
    for keys, text in _findings(example):
        line, column = strictyaml.at(document.root, keys)
        wrong.append(Mistake(path, line, column, text))
    if wrong:
        raise failure(wrong)
    return example


def case_of(described_: Described, relation: Relation, ground: Ground) -> Case:
    """The case that it describes."""
    return described(relation, ground, described_.handlers, described_.permission, call=described_.call, steps=described_.steps)


def _findings(example: Counterexample) -> Iterator[tuple[tuple[str | int, ...], str]]:
    relation = RELATIONS.get(example.property)
    if relation is None:
        yield ("property",), f'"{example.property}" is no property; {suggestion(example.property, list(RELATIONS))}'
    try:
        dialects.resolve(example.dialect)
    except DialectError as error:
        yield ("dialect",), error.message
    if relation is not None and (example.second is None) is not relation.bound:
        yield ("property",), f"{relation.name} {'is a bound on one run' if relation.bound else 'needs a second case'}"
    for name, each in (("first", example.first), ("second", example.second)):
        if each is not None:
            for keys, text in _of_described(each):
                yield (name, *keys), text


def _of_described(each: Described) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if (each.call is None) is (each.steps is None):
        yield (), "exactly one of call and steps must be there"
    for number, step in enumerate(each.steps or []):
        if step.call is None:
            yield ("steps", number), "a step of a property is a call"
    for keys, call in [(("call",), each.call), *((("steps", n, "call"), s.call) for n, s in enumerate(each.steps or []))]:
        if call is not None and not given(call.input):
            yield keys, '"input" is missing; a call of a property says what it asks for'


def _reduced(case: Case) -> Described:
    return Described(handlers=case.handlers, call=case.call, steps=case.steps, permission=case.permission)


# ---- in words ------------------------------------------------------------------------------------


def told(case: Case) -> str:
    """A described case in one line for people."""
    handlers = [f"h{number} {_handler(handler)}" for number, handler in enumerate(case.handlers, 1)]
    calls = len(case.tool_calls())
    asked = "a tool call" if calls == 1 else f"{calls} tool calls"
    return f"{asked}, the host says {case.permission.verdict}; {', '.join(handlers) or 'no handler'}"


def _handler(handler: Handler) -> str:
    words = [_say(handler)] if handler.say is not None else []
    if handler.raw is not None:
        words.append(f"prints {show(handler.raw)}")
    if handler.missing:
        words.append("is no file")
    if handler.read != "all":
        words.append("does not read stdin")
    if handler.sleep:
        words.append(f"sleeps {handler.sleep:g} s")
    if given(handler.timeout):
        words.append(f"has the limit {show(handler.timeout)}")
    if handler.exit:
        words.append(f"exits {handler.exit}")
    if handler.signal is not None:
        words.append(f"dies by {handler.signal}")
    return " and ".join(words) or "is silent"


def _say(handler: Handler) -> str:
    words = []
    for say in says(handler):
        words.append(f"says {say.verdict or 'no verdict'}")
        if say.reason is not None:
            words[-1] += f" ({say.reason})"
        if given(say.input):
            words.append(f"rewrites to {show(say.input)}")
        if say.context is not None:
            words.append("adds context")
    return " and ".join(words)
