"""A project folder with a settings file, and small shell handlers that note what they were told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookproof_reference import Runner, Session, start


class Project:
    """A folder; its handlers note their starts in `journal` and what they read in files of their own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "config.toml"
        self.logged: list[str] = []

    def handler(self, name: str, then: str = "true") -> str:
        """A command that notes its start and its stdin, and goes on with some shell text."""
        return f"echo {name} >>journal; cat >{name}.in; {then}"

    def says(self, name: str, verdict: str, **more: Any) -> str:
        """A command that notes its start and its stdin, and answers."""
        return self.handler(name, f"printf %s '{json.dumps({'verdict': verdict, **more})}'")

    def configure(self, **events: list[str]) -> None:
        """Writes the settings."""
        rows = [f"{event} = {json.dumps(commands)}" for event, commands in events.items()]
        self.settings.write_text("[hooks]\n" + "\n".join(rows) + "\n", encoding="utf-8")

    def runner(self, **options: Any) -> Runner:
        """A runner in this project."""
        files = [str(self.settings)]
        return Runner("lecode/1.0", files, cwd=str(self.folder), session=Session("s1", "main"), log=self.logged.append, **options)

    def started(self) -> list[str]:
        """The handlers that started, in order."""
        journal = self.folder / "journal"
        return journal.read_text().split() if journal.exists() else []

    def read_by(self, name: str) -> Any:
        """The envelope that a handler got."""
        return json.loads((self.folder / f"{name}.in").read_text())


class ClaudeProject:
    """A folder; its handlers note their starts in `journal` and what they read in files of their own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.home = folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.logged: list[str] = []

    def handler(self, name: str, then: str = "true", **fields: Any) -> dict[str, Any]:
        """A handler that notes its start and its stdin, and goes on with some shell text."""
        return {"type": "command", "command": f"echo {name} >>journal; cat >>{name}.in; {then}", **fields}

    def prints(self, name: str, answer: Any, then: str = "true", **fields: Any) -> dict[str, Any]:
        """A handler that prints a JSON answer, or a text, and goes on."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return self.handler(name, f"printf %s '{text}'; {then}", **fields)

    def says(self, name: str, verdict: str, reason: str = "", before: str = "true", **own: Any) -> dict[str, Any]:
        """A handler that gives a verdict on a tool call."""
        specific = {"hookEventName": "PreToolUse", "permissionDecision": verdict, "permissionDecisionReason": reason, **own}
        text = json.dumps({"hookSpecificOutput": specific})
        return self.handler(name, f"{before}; printf %s '{text}'")

    def configure(self, *, scope: str = "project", more: dict[str, Any] | None = None, **events: list[Any]) -> tuple[str, str]:
        """Writes the settings: one group for each event."""
        return self.hooks(events, scope, more)

    def hooks(self, events: dict[str, list[Any]], scope: str = "project", more: dict[str, Any] | None = None) -> tuple[str, str]:
        """The same for events that come as data."""
        hooks = {event: [{"hooks": handlers}] for event, handlers in events.items()}
        return self.write({"hooks": hooks, **(more or {})}, scope)

    def write(self, content: Any, scope: str = "project") -> tuple[str, str]:
        """Writes a settings file as it is given, and says its scope and path."""
        path = self.folder / f"{scope}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return scope, str(path)

    def runner(self, version: str, **options: Any) -> Runner:
        """A runner in this project; `session` fields and all else of Runner can be given."""
        files = [(path.stem, str(path)) for path in sorted(self.folder.glob("*.json"))]
        session = Session("s1", **options.pop("session", {}))
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), **options.pop("env", {})}
        return start(
            f"claude-code/{version}", files, cwd=str(self.folder), env=env, session=session, log=self.logged.append, **options
        )

    def started(self) -> list[str]:
        """The handlers that started, in order."""
        journal = self.folder / "journal"
        return journal.read_text().split() if journal.exists() else []

    def read_by(self, name: str) -> list[Any]:
        """What a handler got, start after start."""
        return [json.loads(line) for line in (self.folder / f"{name}.in").read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def no_zombies() -> Callable[[], None]:
    def check() -> None:
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    return check


@pytest.fixture
def claude(tmp_path: Path) -> ClaudeProject:
    return ClaudeProject(tmp_path)
