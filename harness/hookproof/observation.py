"""One described case is put to a subject without being judged: what the ledger saw, and what the answer claims."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from . import ledger, wreck
from .cases import Case
from .errors import BadAnswer, HarnessError, Wrecked
from .ground import Ground, Observation
from .judge import calls_of
from .layout import clear_away, lay_out
from .liveness import Liveness
from .protocol import RunAnswer
from .results import Moment
from .subject import Subject
from .trial import Bench, limit


def observe(case: Case, ground: Ground, subject: Subject, bench: Bench) -> Observation:
    """Ask one case. Raises a kind of SubjectError, HarnessError, and DialectError for what the dialect cannot say."""
    world = lay_out(case, ground.dialect, ground.version, ground.asked, bench.kit, bench.folder)
    try:
        with wreck.watching(world, bench.kit), Liveness(world.probes) as liveness:
            reply = subject.ask(world.request, limit(case, bench.scale))
            if trouble := liveness.complaints():
                raise HarnessError(f"a probe could not write its ledger: {trouble[0]}", f"see the space of {bench.folder}")
            seen = ledger.read(world.probes)
            if words := wreck.altered(seen, bench.kit):
                raise Wrecked(words, wreck.HINT)
            faulty = [*seen.unborn(), *seen.torn]
        if faulty:
            raise HarnessError(f"the ledger is not whole: {faulty[0]!r}", f"see the space of {bench.folder}")
        return _observed(case, seen, reply.answer)
    finally:
        try:
            subject.settle()
        finally:
            clear_away(world, bench.kit)


def _observed(case: Case, seen: ledger.Ledger, answer: RunAnswer) -> Observation:
    if answer.unsupported is not None:
        raise BadAnswer(f'the runner declared what this needs and now answers "unsupported": {answer.unsupported}')
    if answer.error is not None:
        raise BadAnswer(f"the adapter itself failed: {answer.error}")
    calls = calls_of(answer)
    return Observation(
        runs=tuple(seen.starts(f"t{number}") for number, _ in enumerate(case.tool_calls(), 1)),
        input=_input(seen),
        started=tuple(seen.started()),
        ended=frozenset(fact.probe for fact in seen.facts if fact.kind == "end"),
        hook=calls["t1"].hook if "t1" in calls else None,
        outcomes=tuple(call.outcome for call in calls.values()),
        story=tuple(Moment(what=str(timed.fact), at=timed.at) for timed in seen.timeline()),
    )


def _input(seen: ledger.Ledger) -> Any:
    try:
        return seen.stdin_json("t1")
    except (KeyError, ValueError):
        return UNSET
