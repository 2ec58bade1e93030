"""A script is started over a layer that catches what it writes anywhere, so that nothing of the user's is changed."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path

from .check import NotTested, Probe
from .fire import How
from .search import Shot
from .stimuli import Stimulus

PLACES = ("/tmp", "/var/tmp", "/var/log", "/var/lib", "/opt", "/srv", "/usr/local", "/home", "/root")
"""Folders in which scripts leave things."""

_LAYERS = """#!/bin/sh
layers=$(mktemp -d {layers}/XXXXXX) || exit 125
here=$PWD
n=0
for place in {places}; do
    n=$((n + 1))
    mkdir -p "$layers/$n/new" "$layers/$n/work" || exit 125
    mount -t overlay overlay -o "lowerdir=$place,upperdir=$layers/$n/new,workdir=$layers/$n/work" "$place" || exit 125
done
cd "$here"
exec {command} "$@"
"""


def wrote_elsewhere(probe: Probe, stimuli: Sequence[Stimulus]) -> tuple[list[tuple[str, Path]], list[Shot]]:
    """What the script writes outside its own world and its own folder: the path, and the file that caught it.

    Raises NotTested where the system has no such layers.
    """
    places = _places(probe)
    layers = probe.bench.folder("layers")
    inner = layers.parent / f"{layers.name}.inner"
    outer = layers.parent / f"{layers.name}.outer"
    inner.write_text(
        _LAYERS.format(
            layers=shlex.quote(str(layers)), places=" ".join(shlex.quote(str(place)) for place in places), command=_command(probe)
        ),
        "utf-8",
    )
    outer.write_text(f'#!/bin/sh\nexec unshare -m {shlex.quote(str(inner))} "$@"\n', "utf-8")
    for path in (inner, outer):
        path.chmod(0o755)
    line = str(outer) if probe.script.form == "exec" else shlex.quote(str(outer))
    # one after the other: which layer belongs to which start does not matter, but none may be torn down under another
    shots = [probe.shoot(stimulus, How(command=line)) for stimulus in stimuli]
    if any(shot.fired.exit == 125 for shot in shots) or not any(layers.iterdir()):
        raise NotTested("there are no overlay file systems here")
    own = probe.script.file.parent if probe.script.file is not None else None
    found: dict[str, Path] = {}
    for layer in sorted(layers.iterdir()):
        for number, place in enumerate(places, 1):
            for path in _in(layer / str(number) / "new"):
                real = place / path.relative_to(layer / str(number) / "new")
                if own is None or not real.is_relative_to(own):
                    found.setdefault(str(real), path)
    return sorted(found.items()), shots


def _command(probe: Probe) -> str:
    script = probe.script
    if script.form == "shell":
        return f"/bin/sh -c {shlex.quote(script.command)}"
    # every second part is the name of a variable
    parts = re.split(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}", script.command)
    return "".join(f'"${part}"' if number % 2 else shlex.quote(part) if part else "" for number, part in enumerate(parts))


def _places(probe: Probe) -> list[Path]:
    """The folders to lay something over: those that are there, none below another, none with something mounted below it."""
    try:
        mounts = [Path(line.split()[1]) for line in Path("/proc/mounts").read_text("utf-8", "replace").splitlines()]
    except (OSError, IndexError):
        raise NotTested("there are no overlay file systems here") from None
    chosen: list[Path] = []
    for place in dict.fromkeys(Path(os.path.realpath(name)) for name in (*PLACES, os.path.expanduser("~"))):
        busy = any(mount != place and mount.is_relative_to(place) for mount in mounts)
        if not place.is_dir() or busy or probe.bench.root.is_relative_to(place) or any(c in str(place) for c in ",:\\"):
            continue
        if not any(place.is_relative_to(other) for other in chosen):
            chosen.append(place)
    if not chosen:
        raise NotTested("no folder can be overlaid here")
    return chosen


def _in(layer: Path) -> list[Path]:
    """The files of a layer, and what stands for files that were removed."""
    found = []
    for folder, _, names in os.walk(layer):
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                found.append(path)
    return found
