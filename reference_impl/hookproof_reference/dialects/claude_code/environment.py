"""What handlers find in their environment, and what a SessionStart handler leaves for the shell tool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...handlers import Place, process
from .events import EFFORT, EVENTS, Scene
from .versions import Version

ENV_FILE_EVENTS = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})
"""The events whose handlers get a CLAUDE_ENV_FILE (003, Runner)."""


def of_settings(contents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What the `env` of all settings files says, the later ones over the earlier."""
    found: dict[str, str] = {}
    for content in contents:
        given = content.get("env")
        if isinstance(given, dict):
            found |= {name: str(value) for name, value in given.items() if isinstance(value, str | int | float)}
    return found


def of_handlers(
    base: Mapping[str, str], event: str, scene: Scene, project: str, interactive: bool, version: Version
) -> dict[str, str]:
    """The whole environment of the program, and over it what tells a handler where it is (003, Runner; observed)."""
    env = {
        **base,
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": scene.session_id,
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli" if interactive else "sdk-cli",
        "CLAUDE_PROJECT_DIR": project,
    }
    env.setdefault("AI_AGENT", f"claude-code_{version.number.replace('.', '-')}_harness")
    env.pop("CLAUDE_EFFORT", None)
    env.pop("CLAUDE_ENV_FILE", None)
    if EVENTS[event].effort:
        env["CLAUDE_EFFORT"] = EFFORT
    return env


def of_shell(place: Place) -> Place:
    """The place of a command of the shell tool: it is told the effort as well (003, stdin contract)."""
    return Place(place.cwd, {**place.env, "CLAUDE_EFFORT": EFFORT})


class EnvFiles:
    """The files that handlers of a session's start write for the shell tool: one for each handler, in their order."""

    def __init__(self, scene: Scene) -> None:
        self.folder = Path(scene.home, ".claude", "session-env", scene.session_id)
        self.files: list[Path] = []

    def next(self, event: str) -> str:
        """A file for one more handler; it need not write it."""
        number = sum(1 for file in self.files if file.name.startswith(event.lower()))
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{event.lower()}-hook-{number}.sh"
        file.write_text("")
        self.files.append(file)
        return str(file)

    def read_by_shell(self, place: Place) -> tuple[Place, int]:
        """The place with what the files export, and the exit code of reading them: other than 0, no command runs."""
        written = [str(file) for file in self.files if file.is_file() and file.stat().st_size]
        if not written:
            return place, 0
        script = 'for file; do . "$file"; done; exec env -0'
        ended = process.run(["/bin/sh", "-c", script, "sh", *written], b"", place)
        if ended.exit != 0:
            return place, ended.exit or 1
        pairs = (line.partition("=") for line in ended.stdout.split("\0") if line)
        return Place(place.cwd, {name: value for name, _, value in pairs}), 0


def folder(cwd: str, project: str, home: str) -> str:
    """Where handlers run: the session's folder, and if that is gone, the project's, and then the home folder (observed)."""
    return next((place for place in (cwd, project, home) if os.path.isdir(place)), "/")
