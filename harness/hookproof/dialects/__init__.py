"""How a described case is written down in each dialect: settings file, answers, tool names, kill grace.

A dialect here knows forms only. What the forms mean is said by the cases, and done by the runner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from ..cases import Handler, Say
from ..errors import DialectError

KNOWN: dict[str, tuple[str, ...]] = {
    "claude-code": ("2.1.178", "2.1.332"),
    "core": ("1",),
    "lecode": ("1.0",),
    "teaagent": ("1",),
}
"""Dialect -> the versions that the suite knows, oldest first. Each is a module of this package."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A handler with what leads to its probe, ready for a settings file."""

    handler: Handler
    name: str
    """h1, h2, ..."""
    event: str
    command: str
    """The probe's absolute path; of a handler that is no command, the URL behind which it answers, or the mark in its prompt."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a probe prints and how it ends, to say something in a dialect."""

    stdout: str = ""
    stderr: str = ""
    exit: int = 0


class Dialect(Protocol):
    """What each module of this package offers as `DIALECT`."""

    name: str
    kill_grace: float
    """Seconds after a handler's time limit until the last of its tree must be gone."""
    settings_files: dict[str, str]
    """Scope -> where its settings file lies: below the home folder for `user`, below a folder of its own for `managed`, else
    below the project folder. A scope that the dialect does not know is absent."""
    off: dict[str, Any] | None
    """What stands at the top of a settings file, which is JSON then, and switches all handlers off; None: there is no such."""
    event_of_call: str
    """The event that fires before a tool call."""
    event_of_prompt: str
    """The event that fires when a prompt is submitted."""
    event_of_stop: str
    """The event that fires when a turn without tool calls ends the run."""
    tools: dict[str, str]
    """Neutral tool name (in core cases: shell, write, read) -> the name in this dialect."""
    event_features: dict[str, str]
    """Event -> the feature that a runner declares when it fires it; events that every runner fires are absent."""
    envelope: dict[str, str]
    """Neutral key of an envelope (event, tool, input, prompt, cwd) -> its dotted path in this dialect."""

    def settings(self, handlers: Sequence[Placed], version: str) -> str:
        """The settings file for these handlers, as text."""
        ...

    def answer(self, say: Say, event: str, version: str) -> Answer:
        """The words of this dialect for a neutral answer. Raises DialectError for what it cannot say."""
        ...


def split(name: str) -> tuple[str, str | None]:
    """`lecode/1.0` -> ("lecode", "1.0"); `lecode` -> ("lecode", None)."""
    dialect, slash, version = name.partition("/")
    return dialect, version if slash else None


def resolve(name: str) -> tuple[str, str]:
    """A dialect and version that the suite knows; without a version, the newest.

    Raises DialectError that lists the known ones.
    """
    dialect, version = split(name)
    if dialect not in KNOWN:
        raise DialectError(f'"{dialect}" is no dialect of this suite', f"known: {', '.join(KNOWN)}")
    if version is None:
        return dialect, KNOWN[dialect][-1]
    if version not in KNOWN[dialect]:
        raise DialectError(
            f'the suite does not know version "{version}" of {dialect}; it knows {", ".join(KNOWN[dialect])}',
            f"judge it as a version that the suite knows with --assume {KNOWN[dialect][-1]} (such a run never certifies)",
        )
    return dialect, version


def load(dialect: str) -> Dialect:
    """The dialect's module, by its name without a version. Raises DialectError."""
    return module(dialect).DIALECT  # type: ignore[no-any-return]


def module(dialect: str) -> ModuleType:
    """Likewise, the whole of it: where its settings have a JSON Schema, that is `SETTINGS`."""
    if dialect not in KNOWN:
        raise DialectError(f'"{dialect}" is no dialect of this suite', f"known: {', '.join(KNOWN)}")
    return import_module(f".{dialect.replace('-', '_')}", __name__)
