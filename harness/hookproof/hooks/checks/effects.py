"""A script keeps to its own: no files elsewhere, no secrets in its words."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import stat
from collections.abc import Iterable

from ..check import Finding, NotTested, Probe, check
from ..overlay import wrote_elsewhere
from ..shared import LOOKED_INTO_BYTES, shared_world
from .failsafe import lively
from .starts import canaries

SHOWN = 5
"""Paths named in one finding."""


@check(
    "writes-outside",
    family="side-effects",
    title="The script writes nothing outside the project, the home and the folder for temporary files.",
    consequence="fixed places elsewhere are shared by all sessions and all users; {dialect} asks nobody before the script writes",
    remedy="use mktemp, or a folder below the project or below ${XDG_STATE_HOME:-$HOME/.local/state}",
    severity="should",
)
def writes_outside(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    found, _ = wrote_elsewhere(probe, canaries(probe))
    if found:
        removed = [path for path, layer in found if stat.S_ISCHR(layer.lstat().st_mode)]
        written = [path for path, _ in found if path not in removed]
        for word, paths in (("wrote", written), ("removed", removed)):
            if paths:
                yield Finding(f"it {word} {_named(paths)}", "nothing")


@check(
    "leaves-temporary-files",
    family="side-effects",
    title="The script removes its temporary files.",
    consequence="each call in {dialect} leaves another one",
    remedy="trap 'rm -f \"$file\"' EXIT",
    severity="should",
)
def leaves_temporary_files(probe: Probe) -> Iterable[Finding]:
    for shot in probe.canaries.shots:
        left = [name for name in shot.fired.wrote if name.startswith("tmp/")]
        if left:
            yield Finding(f"it left {_named(left)}", "nothing", shot)
            return


@check(
    "writes-into-home",
    family="side-effects",
    title="The script leaves the home and the project as they are.",
    consequence="it is reported, so that whoever installs the script knows",
    remedy="nothing need be done if that is meant, as with a log",
    severity="may",
    kinds=("guard", "observer", "context"),
)
def writes_into_home(probe: Probe) -> Iterable[Finding]:
    found: dict[str, None] = {}
    for shot in probe.canaries.shots:
        found |= dict.fromkeys(name for name in shot.fired.wrote if name.startswith(("home/", "project/")))
    if found:
        yield Finding(f"it wrote {_named([name.replace('home/', '~/', 1) for name in found])}", "nothing")


@check(
    "secrets-not-told",
    family="secrets",
    title="The script tells nobody what its environment keeps secret.",
    consequence="what a hook prints goes to the model, to the screen or into transcripts of {dialect}",
    remedy="do not print the environment, and no set -x around secrets",
    exclusive=True,
)
def secrets_not_told(probe: Probe) -> Iterable[Finding]:
    told: set[tuple[str, str]] = set()
    for shot in probe.shots:
        for where, text in (("stdout", shot.fired.said), ("stderr", shot.fired.complained)):
            for name, value in probe.bench.decoys.items():
                if value in text and (name, where) not in told:
                    told.add((name, where))
                    yield Finding(f"${name} stands on {where}", "no secret", remedy="")


@check(
    "secrets-not-written",
    family="secrets",
    title="The script writes no secret of its environment into a file.",
    consequence="whoever can read the file has the secret",
    remedy="log only what is needed, never the environment",
)
def secrets_not_written(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    world = shared_world(probe, "secrets")
    stimuli = [world.at_home(stimulus) for stimulus in canaries(probe)]
    probe.shoot_all([(stimulus, world.how) for stimulus in stimuli])
    written = dict(world.files())
    try:
        caught, _ = wrote_elsewhere(probe, canaries(probe))
    except NotTested:
        caught = []
    for real, path in caught:
        if path.is_file() and not path.is_symlink():
            written[real] = path.read_bytes()[:LOOKED_INTO_BYTES]
    for name, value in probe.bench.decoys.items():
        holding = [file for file, content in written.items() if value.encode() in content]
        if holding:
            yield Finding(f"${name} stands in {_named(holding)}", "no secret")


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + more
