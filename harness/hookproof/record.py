"""One trial is written down as text that is the same in every run: for snapshots of what must not drift.

Paths, ids and times are replaced by what they stand for; where handlers run side by side, their lines are sorted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import msgspec

from .layout import World
from .ledger import Fact, Ledger
from .protocol import RunAnswer
from .results import CaseResult

WIDTH = 110
ORDER = ("start", "read", "term", "lonely", "end", "dies")
"""The facts of one run of a probe, as they follow each other."""
OPAQUE = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "{uuid}"),
    (re.compile(r"\ba[0-9a-f]{16}\b"), "{agent}"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)"), "{time}"),
    (re.compile(r'("duration_ms": )\d+'), r'\1"{ms}"'),
)
"""What a runner makes up, or measures, anew each time."""


def text(title: str, world: World, ledger: Ledger, answer: RunAnswer, result: CaseResult, *, parallel: bool) -> str:
    """Settings, request, what each probe read, the ledger, the answer, and what was judged. The world still stands."""
    facts = _sorted(ledger.facts) if parallel else ledger.facts
    chapters = [(title, "")]
    for settings in world.request.settings:
        chapters.append((f"{settings.scope} settings {settings.path}", _contents(settings.path)))
    chapters.append(("request", _json(msgspec.to_builtins(world.request), world)))
    for readers, stdin in _stdins(ledger, facts, world).items():
        chapters.append((f"stdin of {readers}", stdin))
    chapters.append(("ledger", "\n".join(_fact(fact) for fact in facts)))
    chapters.append(("answer", _json(_said(answer), world)))
    chapters.append(("judged", "\n".join(_judged(result))))
    whole = _normal("\n\n".join(f"# {head}\n{body}".rstrip() for head, body in chapters), world)
    # a control character, or half a surrogate pair, would not survive the next tool that touches the file
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in whole) + "\n"


def _contents(path: str) -> str:
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return file.read()


def _stdins(ledger: Ledger, facts: Sequence[Fact], world: World) -> dict[str, str]:
    """What was read; those who read the same are named together."""
    readers: dict[str, list[str]] = {}
    for fact in facts:
        if fact.kind == "start":
            readers.setdefault(_stdin(ledger.stdin(fact.probe, fact.run), world), []).append(f"{fact.probe}.{fact.run}")
    return {", ".join(names): stdin for stdin, names in readers.items()}


def _stdin(data: bytes | None, world: World) -> str:
    if data is None:
        return "(not read)"
    said = data.decode("utf-8", "backslashreplace")
    try:
        return _json(json.loads(said), world)
    except ValueError:
        return said


def _said(answer: RunAnswer) -> dict[str, Any]:
    """What is not said is left out, so that words which the protocol adds later change nothing here."""
    return {key: value for key, value in msgspec.to_builtins(answer).items() if value not in (None, [])}


def _fact(fact: Fact) -> str:
    # the detail of a start is a process id
    return f"{fact.kind} {fact.probe}.{fact.run}" if fact.kind == "start" else str(fact)


def _sorted(facts: Sequence[Fact]) -> list[Fact]:
    """Between two runs of tools the handlers' lines are sorted, and the tools' likewise: who came first is chance."""
    stretches = groupby(facts, key=lambda fact: fact.probe[0])
    return [fact for _, stretch in stretches for fact in sorted(stretch, key=_place)]


def _place(fact: Fact) -> tuple[int, int, int]:
    return int(fact.probe[1:]), fact.run, ORDER.index(fact.kind)


def _judged(result: CaseResult) -> Iterable[str]:
    yield f"{result.status}{': ' * bool(result.note)}{result.note}"
    for check in result.checks:
        yield f"{check.basis} {check.name}: {check.wanted}{'' if check.ok else f'; saw {check.saw}'}"


def _normal(text: str, world: World) -> str:
    root = str(world.root)
    # and a name made of the path, as Claude Code names the folder of its transcripts
    text = text.replace(root, "{world}").replace(re.sub("[^A-Za-z0-9]", "-", root), "{world-}").replace(world.request.id, "{id}")
    for pattern, stands_for in OPAQUE:
        text = pattern.sub(stands_for, text)
    return text


def _json(value: Any, world: World) -> str:
    # before it is set in lines: what fits on one must not depend on where the world lay
    return _set(json.loads(_normal(json.dumps(value, ensure_ascii=False), world)))


def _set(value: Any, indent: int = 0) -> str:
    """JSON of which each part stands on one line if it fits."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list):
        return flat
    inner = indent + 2
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {_set(each, inner)}" for key, each in value.items()]
    else:
        lines = [_set(each, inner) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    between = ",\n" + " " * inner
    return f"{opening}\n{' ' * inner}{between.join(lines)}\n{' ' * indent}{closing}"
