"""The same question gets the same answer: again, at once, beside another."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..check import Finding, NotTested, Probe, check
from ..search import Shot
from ..shared import shared_world
from .failsafe import fewer, killed, lively
from .starts import canaries, same

FAMILY = "repeatability"

TIMES = 20
TIMES_PASSED = 8
"""What passes is asked less often: a guard that refuses it now and then hurts nobody."""
IN_A_ROW = 5
AT_ONCE = 8
ROUNDS = 3
"""Races are rare; each round has AT_ONCE starts of each stimulus."""


def _differing(first: Shot, others: Sequence[Shot]) -> Shot | None:
    return next((shot for shot in others if not same(first, shot) and not killed(shot)), None)


def _counted(shots: Sequence[Shot]) -> str:
    counts = Counter(f"{shot.meaning.verdict} ({shot.fired.ended})" for shot in shots)
    return ", ".join(f"{number} x {word}" for word, number in counts.most_common())


@check(
    "same-answer-again",
    family=FAMILY,
    title="The same input, twenty times, gets the same answer.",
    consequence="whoever asks {dialect} again gets through",
    remedy="let nothing but the payload decide: no clock, no random number, no network",
)
def same_answer_again(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    for stimulus, times in zip(canaries(probe), (TIMES, TIMES_PASSED), strict=False):
        shots = probe.shoot_all([stimulus] * fewer(probe, times), fresh=True)
        other = _differing(shots[0], shots)
        if other is not None:
            yield Finding(_counted(shots), "one answer", other)


@check(
    "remembers-nothing",
    family=FAMILY,
    title="An answer does not depend on what was asked before.",
    consequence="what is refused at first passes later in the same session of {dialect}, or the other way round",
    remedy="keep no state, or keep it apart by session and say so; a lock that is left behind must not decide",
    severity="should",
)
def remembers_nothing(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    if probe.script.event in ("Stop", "SubagentStop"):
        raise NotTested("a Stop handler may count its refusals; see stop-loop")
    world = shared_world(probe, "row")
    for stimulus in canaries(probe):
        shots = [probe.shoot(world.at_home(stimulus), world.how, fresh=True) for _ in range(fewer(probe, IN_A_ROW))]
        other = _differing(shots[0], shots)
        if other is not None:
            yield Finding(f"one after the other in one home: {_counted(shots)}", "one answer", other)


@check(
    "eight-at-once",
    family=FAMILY,
    title="Eight at once answer as each alone.",
    consequence="agents call tools side by side: {dialect} gets the answer to another call",
    remedy="use mktemp for temporary files, and none with a fixed name; write a shared file whole, under a lock, or by renaming",
    exclusive=True,
)
def eight_at_once(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    world = shared_world(probe, "crowd")
    stimuli = [world.at_home(stimulus) for stimulus in canaries(probe)]
    alone = [probe.shoot(stimulus, world.how, fresh=True) for stimulus in stimuli]
    again = [probe.shoot(stimulus, world.how, fresh=True) for stimulus in stimuli]
    if any(not same(first, second) for first, second in zip(alone, again, strict=True)):
        raise NotTested("its answers depend on what was asked before")
    wrong: list[Shot] = []
    for _ in range(ROUNDS if fewer(probe, TIMES) == TIMES else 1):
        crowd = probe.shoot_all([(s, world.how) for s in stimuli * AT_ONCE], at_once=AT_ONCE, fresh=True)
        wrong += [shot for place, shot in enumerate(crowd) if not same(alone[place % len(stimuli)], shot)]
        if wrong:
            break
    # a machine under load may make a slow script slower than its limit; that is told in the family time
    wrong = [shot for shot in wrong if not killed(shot)]
    if wrong:
        yield Finding(
            f"{len(wrong)} of {AT_ONCE * len(stimuli)} at once were answered otherwise than alone", "the same answers", wrong[0]
        )
