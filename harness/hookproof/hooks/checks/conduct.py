"""A script ends by itself, with all that it started, and takes no more than it needs."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import signal
from collections.abc import Iterable

from ..check import Finding, Probe, check

FAMILY = "conduct"


@check(
    "nothing-left-behind",
    family=FAMILY,
    title="Nothing that the script starts is still there after its end.",
    consequence="each call in {dialect} leaves another process; they add up, and outlive the session",
    remedy="wait for what was started; what must go on belongs into a service, or must end by itself within seconds",
    severity="should",
    exclusive=True,
)
def nothing_left_behind(probe: Probe) -> Iterable[Finding]:
    shot = next((shot for shot in probe.shots if shot.fired.left and not shot.fired.flooded), None)
    if shot is not None:
        names = ", ".join(dict.fromkeys(shot.fired.left))
        yield Finding(f"{len(shot.fired.left)} left behind: {names}", "none", shot)


@check(
    "stdout-let-go",
    family=FAMILY,
    title="Nothing holds the script's stdout open after its end.",
    consequence="{dialect} may wait for the end of stdout, so every call takes as long as the child lives",
    remedy="start it with its own: command >/dev/null 2>&1 </dev/null &",
    exclusive=True,
)
def stdout_let_go(probe: Probe) -> Iterable[Finding]:
    shot = next((shot for shot in probe.shots if shot.fired.held and not shot.fired.flooded), None)
    if shot is not None:
        names = ", ".join(dict.fromkeys(shot.fired.left)) or "a child"
        yield Finding(f"{names} held stdout after the script's end", "stdout is closed", shot)


@check(
    "takes-little",
    family=FAMILY,
    title="The script keeps within bounds: of output, of files, of processes, of memory.",
    consequence="it takes the machine down, and {dialect} with it",
    remedy="look for a loop without an end, and for a function that calls itself behind a pipe",
    exclusive=True,
)
def takes_little(probe: Probe) -> Iterable[Finding]:
    shot = next((shot for shot in probe.shots if shot.fired.flooded), None)
    if shot is not None:
        yield Finding(f"it was killed for it: {shot.fired.flooded}", "within bounds", shot)


@check(
    "ends-by-exit",
    family=FAMILY,
    title="The script ends with an exit code, not by a signal.",
    consequence="a script that is killed decides nothing: {dialect} lets the call pass",
    remedy="find what kills it; a kill of $PPID or of process 0 hits the agent that started it",
    exclusive=True,
)
def ends_by_exit(probe: Probe) -> Iterable[Finding]:
    for shot in probe.shots:
        number = shot.fired.signal
        if number is not None and not shot.fired.flooded:
            aimed = "; it kills its parent or its own group" if "kill" in probe.source else ""
            yield Finding(f"it ended by {signal.Signals(number).name}{aimed}", "an exit code", shot)
            return
