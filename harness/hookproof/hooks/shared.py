"""Several starts see the same home, project and temporary folder, as in a real session."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .bench import HOME, PROJECT
from .check import Probe
from .fire import How
from .stimuli import Stimulus

LOOKED_INTO_BYTES = 1 << 20
"""Of each file that was written."""


@dataclass(frozen=True, slots=True)
class SharedWorld:
    """One set of folders for many starts."""

    root: Path
    project: Path

    @property
    def how(self) -> How:
        """Fire in it."""
        env = (("HOME", str(self.root / "home")), ("TMPDIR", str(self.root / "tmp")), ("CLAUDE_PROJECT_DIR", str(self.project)))
        return How(env=env, cwd=self.project)

    def at_home(self, stimulus: Stimulus) -> Stimulus:
        """The stimulus with the captured folders replaced by these."""
        data = stimulus.data().replace(PROJECT, os.fsencode(self.project)).replace(HOME, os.fsencode(self.root / "home"))
        return replace(stimulus, payload=json.loads(data.decode("utf-8", "surrogatepass")))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The name and the first part of each file in it."""
        for folder, _, names in os.walk(self.root):
            for name in sorted(names):
                path = Path(folder, name)
                with suppress(OSError):
                    if path.is_file() and not path.is_symlink():
                        with path.open("rb") as stream:
                            yield str(path.relative_to(self.root)), stream.read(LOOKED_INTO_BYTES)


def shared_world(probe: Probe, name: str) -> SharedWorld:
    """New folders; the project is the copy of the user's own where there is one."""
    root = probe.bench.folder(name)
    for part in ("home", "tmp", "project"):
        (root / part).mkdir()
    return SharedWorld(root, probe.bench.project_of(probe.script) or root / "project")
