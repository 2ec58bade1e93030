"""A script is done within its limit, also on a machine that has other things to do."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures import wait

from ..check import Finding, NotTested, Probe, check
from ..fire import How
from ..script import Script
from .failsafe import lively
from .starts import canaries

FAMILY = "time"

RUNS = 12
LOADED_RUNS = 8
SLOW_S = 2.0
"""A script that takes longer for an ordinary call is told of, whatever its limit."""
LOAD_S = 0.8
MOST_S = 6.0
"""No more is measured after this time."""

_BUSY = Script("while :; do :; done")


def limit_of(probe: Probe) -> float | None:
    """The configured limit in seconds; None when nothing was configured."""
    limit = probe.script.timeout_s
    if limit is None or limit <= 0:
        return None
    return limit / 1000 if probe.dialect.startswith(("gemini", "qwen")) else limit


def p95(seconds: list[float]) -> float:
    """The time within which 95 of 100 are done, of so few rather too much than too little."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.95))]


def _measured(probe: Probe, runs: int, until: float) -> list[float]:
    """The seconds of single starts, one after the other; at least three."""
    how = How(limit_s=max(10.0, (limit_of(probe) or 0.0) * 1.2)) if (limit_of(probe) or 0.0) < 30 else How(limit_s=30.0)
    stimuli = canaries(probe)
    found: list[float] = []
    for number in range(runs):
        found.append(probe.shoot(stimuli[number % len(stimuli)], how, fresh=True).fired.seconds)
        if len(found) >= 3 and time.monotonic() > until:
            break
    return found


def _judged(probe: Probe, seconds: list[float], circumstance: str) -> Iterable[Finding]:
    limit, slow = limit_of(probe), p95(seconds)
    if limit is not None and slow > limit:
        yield Finding(f"{circumstance}95 of 100 starts take up to {slow:.2f} s; the limit is {limit:g} s", "within the limit")
    elif limit is not None and slow > limit / 2:
        said = f"{circumstance}95 of 100 starts take up to {slow:.2f} s, more than half of the limit of {limit:g} s"
        yield Finding(said, "less than half of it", severity="should")
    elif slow > SLOW_S and not circumstance:
        yield Finding(f"95 of 100 starts take up to {slow:.2f} s", f"less than {SLOW_S:g} s", severity="should")


@check(
    "ends-every-time",
    family=FAMILY,
    title="The script comes to an end whatever it is asked.",
    consequence="the call waits for the limit; then the script is killed, and in {dialect} the call passes",
    remedy="look for a loop without an end, a read from the terminal, a request without a time limit",
)
def ends_every_time(probe: Probe) -> Iterable[Finding]:
    if probe.hangs:
        raise NotTested("it never ends; see starts")
    hanging = [shot for shot in probe.canaries.shots if shot.fired.timed_out]
    if hanging:
        yield Finding(f"{len(hanging)} of {len(probe.canaries.shots)} starts did not end", "all end", hanging[0])


@check(
    "within-its-limit",
    family=FAMILY,
    title="The script is done well within its time limit.",
    consequence="at its limit it is killed, its answer does not count, and in {dialect} the call passes",
    remedy="do less before each call, or raise the timeout in the settings",
    exclusive=True,
)
def within_its_limit(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    yield from _judged(probe, _measured(probe, RUNS, time.monotonic() + MOST_S), "")


@check(
    "within-its-limit-under-load",
    family=FAMILY,
    title="The script is done within its time limit while all cores are busy.",
    consequence="just when the machine builds or tests, {dialect} kills the script and lets the call pass",
    remedy="do less before each call, or raise the timeout in the settings",
    exclusive=True,
)
def within_its_limit_under_load(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    if limit_of(probe) is None:
        raise NotTested("no limit was configured")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    alone = probe.shoot(canaries(probe)[0]).fired.seconds
    load_s = min(MOST_S, max(LOAD_S, 4 * LOADED_RUNS * alone))
    probe.bench.widen(cores + 2)
    busy = [probe.bench.submit(_BUSY, b"", How(limit_s=load_s)) for _ in range(cores)]
    time.sleep(0.05)
    try:
        seconds = _measured(probe, LOADED_RUNS, time.monotonic() + load_s)
    finally:
        wait(busy)
    yield from _judged(probe, seconds, "with all cores busy ")


@check(
    "heeds-term",
    family=FAMILY,
    title="Asked to end, the script ends.",
    consequence="{dialect} must kill it; until then the call waits, and what it has started may live on",
    remedy="let TERM do its work: no trap '' TERM, or one that exits",
    severity="should",
    exclusive=True,
)
def heeds_term(probe: Probe) -> Iterable[Finding]:
    shot = next((shot for shot in probe.shots if shot.fired.ignored_term), None)
    if shot is not None:
        yield Finding("at its limit it was asked to end by SIGTERM, and went on", "it ends", shot)
