"""A policy file says what a script must do on which stimuli; it is read strictly, and all that is wrong in it is told at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from .. import casefile, strictyaml
from ..errors import UsageError
from ..mistakes import Mistake, failure, near
from ..strictyaml import Document

Word = Literal["allow", "deny", "ask", "defer", "none", "approve", "pass", "block"]

WORDS: dict[str, str] = {
    "allow": "it goes on: nothing is held",
    "pass": "the same as allow",
    "deny": "it is refused",
    "ask": "the user is asked",
    "defer": "it is put off",
    "block": "it does not go on by itself: deny, ask or defer",
    "none": "the script says nothing; the agent's own rules decide",
    "approve": "the script says yes, so that the user is not asked any more",
}
"""What a word of `expect` means."""

Id = str


class Wanted(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a sample must come to; what is not named may be anything."""

    verdict: Word | None = None
    reason: str | None = None
    """Words that stand in the reason."""
    rewrite: dict[str, Any] | None = None
    """Values that the tool's input has afterwards; others may be there too."""
    context: str | list[str] | None = None
    """Words that stand in what the model is told."""
    exit: int | None = None


class Saw(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a recorded script did: the expectation of a sample that has no other."""

    exit: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0


class Sample(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One stimulus with what is expected of it."""

    id: str
    expect: Word | Wanted | None = None
    saw: Saw | None = None
    event: str | None = None
    tool: str | None = None
    command: str | None = None
    path: str | None = None
    prompt: str | None = None
    input: dict[str, Any] | None = None
    payload: dict[str, Any] | str | None = None
    """A whole payload, or the name of a file with one."""
    json: str | None = None
    """A whole payload as JSON text: for what YAML cannot hold."""
    same_as: str | None = None
    but: dict[str, Any] | None = None
    """Laid over the payload, level by level; a key may be a path: tool_input.command."""
    without: list[str] | None = None
    """Keys that are taken away, by their paths."""
    env: dict[str, str | None] | None = None
    hook: str | None = None
    """Which handler is meant, where several hear the event: a part of its command, or its place in the settings."""
    why: str | None = None
    """For people."""


class Policy(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A whole file."""

    format: Literal[1]
    samples: list[Sample]
    dialect: str | None = None
    event: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A policy with its places in the file."""

    path: Path
    policy: Policy
    document: Document

    def line(self, sample: Sample) -> int:
        """Where it stands in the file."""
        return strictyaml.at(self.document.root, ("samples", self.policy.samples.index(sample)))[0]


def read(path: Path) -> Read:
    """The policy in a file. Raises CaseFileError with all that is wrong in it, and where."""
    document = strictyaml.load(path)
    policy = casefile.convert(document, Policy)
    wrong = [
        Mistake(path, *strictyaml.at(document.root, ("samples", number, *keys)), f'sample "{policy.samples[number].id}": {text}')
        for number, keys, text in _mistakes(policy)
    ]
    if wrong:
        raise failure(wrong)
    return Read(path, policy, document)


def _mistakes(policy: Policy) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Place, keys and text of what is wrong across the fields."""
    ids = [sample.id for sample in policy.samples]
    for number, sample in enumerate(policy.samples):
        if ids.index(sample.id) != number:
            yield number, ("id",), "the id is taken by a sample above"
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", sample.id):
            yield number, ("id",), "an id has letters, digits, dots and hyphens only"
        if sample.same_as is not None and sample.same_as not in ids[:number]:
            meant = near(sample.same_as, ids[:number])
            hint = f'; did you mean "{meant}"?' if meant else ""
            yield number, ("same_as",), f'there is no sample "{sample.same_as}" above{hint}'
        sources = [name for name in ("payload", "json", "same_as") if getattr(sample, name) is not None]
        if len(sources) > 1:
            yield number, (sources[1],), f'"{sources[0]}" and "{sources[1]}" both say what the payload is: give one'
        words = [name for name in ("command", "path", "prompt", "input") if getattr(sample, name) is not None]
        if len(words) > 1 and words != ["path", "input"]:
            yield number, (words[1],), f'"{words[0]}" and "{words[1]}" do not go together'
        if not sources and not words and sample.event is None and policy.event is None:
            yield number, ("id",), "nothing is fired: give command, path, prompt, tool and input, payload, json, or same_as"


def told(sample: Sample) -> str:
    """The expectation in words."""
    expect = sample.expect
    if expect is None:
        return "the same answer as when it was recorded" if sample.saw is not None else "nothing is expected yet"
    if isinstance(expect, str):
        return expect
    return ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in msgspec.to_builtins(expect).items())


def given(path: str | None, base: Path) -> Read | None:
    """The policy that was named on a command line. Raises UsageError and CaseFileError."""
    if path is None:
        return None
    place = base / path
    if not place.is_file():
        raise UsageError(f"{path}: there is no such policy file", "hookproof record -- ./guard.sh writes one")
    return read(place)
