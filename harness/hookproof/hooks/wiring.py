"""Whether a call reaches a handler through the user's own settings is asked of the reference runner.

A copy of the settings is laid out in a throw-away project, in which the handler's command only notes that
it was started, and those of all other handlers do nothing; then the event is fired.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
import threading
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from .. import protocol
from ..errors import SubjectError, UsageError
from .bench import HOME, PROJECT, Bench
from .meaning import Reader
from .script import Script
from .stimuli import Stimulus

PLACES = {"claude-code": ".claude/settings.json", "lecode": ".lecode/hooks.toml"}
"""Dialect -> where a project's settings lie."""


_COMMAND = re.compile(r"/hooks/[^/]+(/\d+)?")
"""Where a text is a command by itself: an event's list holds commands in some dialects."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What became of one stimulus."""

    starts: int
    """How often the handler was started."""
    status: str
    """What became of the settings file: loaded, partial, rejected."""
    dropped: tuple[str, ...] = ()
    message: str = ""


class Wiring:
    """One handler of one settings file, or of one to come with the script's matcher. Thread-safe."""

    def __init__(self, script: Script, bench: Bench, reader: Reader) -> None:
        self._script = script
        self._bench = bench
        self._reader = reader
        self._known: dict[bytes, Reached] = {}
        self._lock = threading.Lock()

    def reached(self, stimulus: Stimulus) -> Reached:
        """Fire this through the settings. Raises UsageError where the reference cannot do that."""
        key = stimulus.data()
        with self._lock:
            if key not in self._known:
                self._known[key] = self._fire(stimulus)
            return self._known[key]

    def any_reached(self, stimuli: Sequence[Stimulus]) -> Stimulus | None:
        """The first of several that reaches the handler."""
        return next((stimulus for stimulus in stimuli if self.reached(stimulus).starts), None)

    def _fire(self, stimulus: Stimulus) -> Reached:
        root = self._bench.folder("wiring")
        project, home = root / "project", root / "home"
        project.mkdir()
        home.mkdir()
        journal = root / "journal"
        place, plugins = project / PLACES.get(self._script.dialect.partition("/")[0], ".claude/settings.json"), []
        if self._script.bundle is not None and self._script.settings is not None:
            plugins = [str(root / "plugin")]
            place = root / "plugin" / self._script.settings.relative_to(self._script.bundle)
            _with_manifest(root / "plugin", self._script.bundle)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self._rewired(journal), "utf-8")
        payload = json.loads(stimulus.data().replace(PROJECT, str(project).encode()).replace(HOME, str(home).encode()))
        payload.pop("hook_event_name", None)
        request = protocol.Run(
            id="wiring",
            dialect=self._script.dialect,
            world=protocol.World(str(root), str(project), str(home), str(project)),
            settings=[] if plugins else [protocol.Settings("project", str(place))],
            plugins=plugins or msgspec.UNSET,
            session=protocol.Session(str(payload.get("session_id", "00000000-0000-4000-8000-000000000001"))),
            steps=[protocol.Step(event=stimulus.event, fields=payload)],
        )
        try:
            answer = self._reader.run(request)
        except SubjectError as error:
            raise UsageError(f"the settings could not be driven: {error.message}", error.hint) from None
        if answer.error:
            raise UsageError(f"the settings could not be driven: {answer.error}")
        report = answer.settings[0] if answer.settings else protocol.SettingsReport(str(place), "loaded")
        starts = journal.read_text().count("\n") if journal.exists() else 0
        message = (report.message or "").replace(str(place), self._script.settings.name if self._script.settings else "")
        return Reached(starts, report.status, tuple(report.dropped), message)

    def _rewired(self, journal: Path) -> str:
        """The settings with other commands."""
        if self._script.settings is None:
            handler = {"type": "command", "command": _noting(journal)}
            return json.dumps({"hooks": {self._script.event: [{"matcher": self._script.matcher, "hooks": [handler]}]}})
        text = self._script.settings.read_text("utf-8-sig")
        if self._script.settings.suffix == ".toml":
            content = _swapped(tomllib.loads(text), "", self._script.pointer, _noting(journal))
            return "".join(f"{json.dumps(key)} = {_in_toml(value)}\n" for key, value in content.items())
        return json.dumps(_swapped(json.loads(text), "", self._script.pointer, _noting(journal)))


def _with_manifest(folder: Path, bundle: Path) -> None:
    """A plugin's folder with its own manifest, where it has one."""
    manifest = bundle / ".claude-plugin" / "plugin.json"
    if manifest.is_file():
        (folder / ".claude-plugin").mkdir(parents=True)
        (folder / ".claude-plugin" / "plugin.json").write_bytes(manifest.read_bytes())


def _noting(journal: Path) -> str:
    return f"cat >/dev/null; echo started >>{shlex.quote(str(journal))}"


def _swapped(value: Any, here: str, pointer: str, noting: str) -> Any:
    """The same with the command at `pointer` replaced by `noting`, all others by one that does nothing."""
    if isinstance(value, list):
        return [_swapped(item, f"{here}/{number}", pointer, noting) for number, item in enumerate(value)]
    if isinstance(value, str) and _COMMAND.fullmatch(here):
        return noting if here == pointer else ":"
    if not isinstance(value, dict):
        return copy.copy(value)
    made = {key: _swapped(item, f"{here}/{key}", pointer, noting) for key, item in value.items()}
    if isinstance(made.get("command"), str):
        text = noting if here == pointer else ":"
        # whether it is waited for is another question: in the background it might be ended before it has noted its start
        made = {key: item for key, item in made.items() if key not in ("async", "asyncRewake")}
        if isinstance(made.get("args"), list):
            made["command"], made["args"] = "/bin/sh", ["-c", text]
        else:
            made["command"] = text
    return made


def _in_toml(value: Any) -> str:
    """A value in one line of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_in_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool | int | float) else str(value)
