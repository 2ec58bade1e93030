"""Of all that a guard refuses, the few things are chosen that are worth writing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from . import stimuli
from .check import Probe
from .equivalence import PROJECT, Sandbox
from .search import Shot
from .stimuli import Stimulus

T = TypeVar("T")

CANDIDATES = 10
"""So many refused commands are looked at."""
TARGETS = 3
"""So many refused things are written otherwise; the first in every way, the others in everyday ways."""


def command_targets(probe: Probe, sandbox: Sandbox) -> list[Shot]:
    """The refused commands that are worth it: refused for their own sake, with an effect to be seen, of different kinds."""
    refused = [shot for shot in probe.canaries.all_refused if stimuli.command_of(shot.stimulus) and _is_shell(shot.stimulus)]
    if not refused:
        return []
    quiet = probe.shoot(refused[0].stimulus.with_input(id="quiet", command="true"))
    if quiet.refuses:
        return []
    given = [shot for shot in refused if shot.stimulus.id.startswith("given/")]
    found = [*given, *(shot for shot in [*refused, *_completed(probe, refused)] if shot not in given)][: len(given) + CANDIDATES]

    def worth(shot: Shot) -> int:
        seen = sandbox.observed(stimuli.command_of(shot.stimulus) or "")
        return 0 if seen is None else 3 if seen[1].changes else 2 if seen[1].said else 1

    weighed = list(zip(side_by_side(worth, found), found, strict=True))
    weighed.sort(key=lambda pair: (pair[1] not in given, -pair[0]))  # stable: the search's order among equals
    chosen: dict[str, Shot] = {}
    for weight, shot in weighed:
        words = (stimuli.command_of(shot.stimulus) or "").split()
        name = " ".join(words[: 2 if words[0] in ("git", "docker", "npm", "sudo", "kubectl") else 1]) if words else ""
        if name and (weight or not chosen):
            chosen.setdefault(name, shot)
    return list(chosen.values())[:TARGETS]


def _completed(probe: Probe, refused: Sequence[Shot]) -> list[Shot]:
    """Words of the script are often only a part of a command: whole ones that hold them."""
    dialect, event = probe.dialect, probe.script.event
    beginnings = {" ".join((stimuli.command_of(shot.stimulus) or "").split()) for shot in refused}
    whole = [text for text in stimuli.DANGEROUS if any(f" {words}" in f" {text}" and text != words for words in beginnings)]
    whole += [f"{words} build" for words in sorted(beginnings) if words.startswith(("rm ", "sudo rm"))]
    shots = probe.shoot_all([stimuli.shell(dialect, event, text) for text in whole[:CANDIDATES]])
    return [shot for shot in shots if shot.refuses]


def path_targets(probe: Probe) -> list[Shot]:
    """The refused files that are refused for their path's sake: one for each path."""
    chosen: dict[str, Shot] = {}
    for shot in probe.canaries.all_refused:
        path = stimuli.path_of(shot.stimulus)
        if path is None or stimuli.command_of(shot.stimulus) is not None or path in chosen or not path.startswith("/"):
            continue
        if "content" in shot.stimulus.id.partition("/")[2][:8]:
            continue
        chosen[path] = shot
    found = []
    for shot in list(chosen.values())[:6]:
        plain = shot.stimulus.with_input(id="plain", **{path_key(shot.stimulus): stimuli.ORDINARY[2]})
        if not probe.shoot(plain).refuses:
            found.append(shot)
    # what lies in the project can be named in more ways
    return sorted(found, key=lambda shot: not (stimuli.path_of(shot.stimulus) or "").startswith(f"{PROJECT}/"))


def path_key(stimulus: Stimulus) -> str:
    """Under which name a call has its file."""
    return "file_path" if "file_path" in stimulus.input else "path"


def _is_shell(stimulus: Stimulus) -> bool:
    return set(stimulus.input) <= {"command", "description", "timeout", "run_in_background"}


def side_by_side(look: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
    """The same question for many things, asked by several threads; the answers in order."""
    if not items:
        return []
    with ThreadPoolExecutor(4, "hookproof-sandbox") as pool:
        return list(pool.map(look, items))
