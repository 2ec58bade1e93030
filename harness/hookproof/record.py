"""One trial is written down as text that is the same in every run: for snapshots of what must not drift.

Paths, ids and times are replaced by what they stand for; where handlers run side by side, their lines are sorted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from .layout import World
from .ledger import Fact, Ledger
from .protocol import RunAnswer
from .results import CaseResult

ORDER = ("start", "read", "term", "lonely", "end", "dies")
"""The facts of one run of a probe, as they follow each other."""
OPAQUE = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "{uuid}"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)"), "{time}"),
    (re.compile(r'("duration_ms": )\d+'), r"\1{ms}"),
)
"""What a runner makes up or measures anew each time."""


def text(title: str, world: World, ledger: Ledger, answer: RunAnswer, result: CaseResult, *, parallel: bool) -> str:
    """Settings, request, what each probe read, the ledger, the answer, and what was judged. The world still stands."""
    chapters = [(title, "")]
    for settings in world.request.settings:
        chapters.append((f"{settings.scope} settings {settings.path}", _settings(settings.path)))
    chapters.append(("request", _json(msgspec.to_builtins(world.request))))
    facts = _sorted(ledger.facts) if parallel else ledger.facts
    for fact in facts:
        if fact.kind == "start":
            chapters.append((f"stdin of {fact.probe}.{fact.run}", _stdin(ledger.stdin(fact.probe, fact.run))))
    chapters.append(("ledger", "\n".join(_fact(fact) for fact in facts)))
    chapters.append(("answer", _json(_answer(answer))))
    chapters.append(("judged", "\n".join(_judged(result))))
    whole = "\n\n".join(f"# {head}\n{body}".rstrip() for head, body in chapters) + "\n"
    return _normal(whole, world)


def _settings(path: str) -> str:
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return file.read()


def _stdin(data: bytes | None) -> str:
    if data is None:
        return "(not read)"
    said = data.decode("utf-8", "backslashreplace")
    try:
        return _json(json.loads(said))
    except ValueError:
        return said


def _answer(answer: RunAnswer) -> Any:
    steps = msgspec.to_builtins(answer)
    # what nobody has said is left out, so that the words that a runner may add later change nothing here
    return {key: value for key, value in steps.items() if value not in (None, [])}


def _fact(fact: Fact) -> str:
    # the start's detail is a process id
    return f"{fact.kind} {fact.probe}.{fact.run}" if fact.kind == "start" else str(fact)


def _sorted(facts: Sequence[Fact]) -> list[Fact]:
    """Handlers between two runs of a tool are sorted: which of several came first is chance."""
    stretches: Iterator[tuple[bool, Iterable[Fact]]] = groupby(facts, key=lambda fact: fact.probe.startswith("h"))
    ordered: list[Fact] = []
    for handlers, stretch in stretches:
        ordered += sorted(stretch, key=lambda f: (f.probe, f.run, ORDER.index(f.kind))) if handlers else stretch
    return ordered


def _judged(result: CaseResult) -> list[str]:
    checks = [f"{check.basis} {check.name}: {check.wanted}{'' if check.ok else f'; saw {check.saw}'}" for check in result.checks]
    return [result.status, *([result.note] if result.note else []), *checks]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _normal(whole: str, world: World) -> str:
    whole = whole.replace(str(world.root), "{world}").replace(world.request.id, "{id}")
    for pattern, stands_for in OPAQUE:
        whole = pattern.sub(stands_for, whole)
    # a control character in a snapshot would be changed by the next tool that touches the file
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in whole)
