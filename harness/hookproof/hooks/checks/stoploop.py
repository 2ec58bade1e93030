"""A script that keeps the agent at work must let it end some time."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

from collections.abc import Iterable

from .. import stimuli
from ..check import Finding, NotApplicable, Probe, check
from ..shared import shared_world
from .failsafe import lively

PATIENCE = 12
"""This many refusals in a row are a loop."""


@check(
    "stop-loop",
    family="stop-loop",
    title="A Stop handler that has sent the agent back to work lets it end the second time.",
    consequence="the agent goes round and round, at the user's cost, until {dialect} breaks the loop by itself, if it does",
    remedy='end with 0 when stop_hook_active is true: [ "$(jq -r .stop_hook_active)" = true ] && exit 0',
    events=("Stop", "SubagentStop"),
)
def stop_loop(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    base = stimuli.base(probe.dialect, probe.script.event)
    if "stop_hook_active" not in base.payload:
        raise NotApplicable("the payloads of this dialect do not say whether it was sent back before")
    world = shared_world(probe, "stop")
    first, again = (
        world.at_home(base.but(stop_hook_active=active, id=f"{probe.script.event}/stop_hook_active {str(active).lower()}"))
        for active in (False, True)
    )
    opening = probe.shoot(first, world.how, fresh=True)
    shots = [opening]
    while shots[-1].refuses and len(shots) <= PATIENCE:
        shots.append(probe.shoot(again, world.how, fresh=True))
    times = len(shots) - 1
    if not opening.refuses:
        lone = probe.shoot(again)
        if lone.refuses:
            yield Finding("it refuses only when stop_hook_active is true", "the other way round", lone)
    elif shots[-1].refuses:
        yield Finding(f"it refused the end {len(shots)} times in a row, with stop_hook_active true", "one refusal", shots[-1])
    elif times > 1:
        yield Finding(f"it refused the end {times} times before it gave way", "one refusal", shots[1], severity="should")
