"""Authors test their own scripts: a script is fired at with three lines, alone or in a pytest suite."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import stimuli
from .bench import Bench
from .fire import Fired, How
from .meaning import Meaning, Reader
from .script import NEWEST, Script, from_path
from .stimuli import Stimulus

_lock = threading.Lock()
_shared: list[tuple[Bench, Reader]] = []


@dataclass(frozen=True, slots=True)
class Result:
    """What the script did, and what its agent makes of it."""

    fired: Fired
    meaning: Meaning

    @property
    def blocks(self) -> bool:
        """What the event is about does not happen by itself."""
        return self.meaning.blocks

    @property
    def verdict(self) -> str:
        """allow, ask, defer, deny, or none."""
        return self.meaning.verdict

    @property
    def reason(self) -> str:
        """Why, as the model or the user reads it."""
        return self.meaning.reason

    @property
    def exit(self) -> int | None:
        """The exit code; None when it was ended otherwise."""
        return self.fired.exit

    @property
    def stdout(self) -> str:
        """What it printed."""
        return self.fired.said

    @property
    def stderr(self) -> str:
        """What it complained of."""
        return self.fired.complained

    def __repr__(self) -> str:
        """For the messages of failed assertions."""
        said = f", stdout {self.stdout[:200]!r}" if self.stdout else ""
        complained = f", stderr {self.stderr[:200]!r}" if self.stderr else ""
        failed = f", counts as nothing because {self.meaning.failed}" if self.meaning.failed else ""
        return f"<{self.verdict}{' (blocks)' if self.blocks else ''}: {self.fired.ended}{said}{complained}{failed}>"


@dataclass(frozen=True, slots=True)
class Hook:
    """One script at one event of one agent."""

    script: Script
    bench: Bench = field(repr=False)
    reader: Reader = field(repr=False)

    def call(self, tool: str | None = None, *, env: Mapping[str, str | None] | None = None, **input: Any) -> Result:
        """Fire it with a tool call: `hook.call("Bash", command="ls")`."""
        name = tool or stimuli.tool_name(self.script.dialect, stimuli.SHELL)
        return self.fire(stimuli.call(self.script.dialect, self.script.event, name, **input), env=env)

    def prompt(self, text: str, *, env: Mapping[str, str | None] | None = None) -> Result:
        """Fire it with a prompt of the user."""
        return self.event(env=env, prompt=text)

    def event(self, *, env: Mapping[str, str | None] | None = None, **fields: Any) -> Result:
        """Fire it with its event, with these fields laid over a captured payload."""
        return self.fire(stimuli.base(self.script.dialect, self.script.event).but(**fields), env=env)

    def fire(
        self,
        payload: Stimulus | Mapping[str, Any] | bytes,
        *,
        env: Mapping[str, str | None] | None = None,
        limit_s: float | None = None,
        how: How | None = None,
    ) -> Result:
        """Fire it with any payload."""
        how = how or How(env=tuple((env or {}).items()), limit_s=limit_s or self.script.timeout_s or 10.0)
        if isinstance(payload, Mapping):
            payload = Stimulus("given", self.script.event, dict(payload))
        data = payload if isinstance(payload, bytes) else payload.data()
        event = self.script.event if isinstance(payload, bytes) else payload.event
        fired = self.bench.fire(self.script, data, how)
        return Result(fired, self.reader.read(fired, event, self.script.dialect, how.limit_s))


def hook(
    path: str | Path,
    *,
    event: str | None = None,
    dialect: str = NEWEST,
    timeout_s: float | None = None,
    base: Path | None = None,
) -> Hook:
    """A script, ready to be fired at; what it needs is made once for the whole process, and removed at its end."""
    bench, reader = shared()
    return Hook(from_path(path, base=base, event=event, dialect=dialect, timeout_s=timeout_s), bench, reader)


def seen_from(folder: Path) -> Callable[..., Hook]:
    """`hook`, with relative paths seen from a folder, or, where there is nothing, from the working folder."""

    def seen(path: str | Path, **words: Any) -> Hook:
        return hook(path, base=folder if (folder / path).exists() else None, **words)

    return seen


def fire(
    path: str | Path,
    command: str | None = None,
    *,
    tool: str | None = None,
    input: Mapping[str, Any] | None = None,
    payload: Mapping[str, Any] | bytes | None = None,
    event: str | None = None,
    dialect: str = NEWEST,
    env: Mapping[str, str | None] | None = None,
    limit_s: float | None = None,
) -> Result:
    """Fire a script once: with a shell command, with a tool and its input, or with a whole payload."""
    one = hook(path, event=event, dialect=dialect, timeout_s=limit_s)
    if payload is not None:
        return one.fire(payload, env=env, limit_s=limit_s)
    if command is not None:
        return one.call(tool, env=env, command=command, **(input or {}))
    if tool is not None or input is not None:
        return one.call(tool, env=env, **(input or {}))
    return one.event(env=env)


def shared() -> tuple[Bench, Reader]:
    """The bench and the reader of this process, made when they are first needed."""
    with _lock:
        if not _shared:
            bench = Bench()
            home = bench.root / "reader"
            home.mkdir()
            reader = Reader(bench.reaper, home)
            _shared.append((bench, reader))
            atexit.register(close)
        return _shared[0]


def close() -> None:
    """Remove what `shared` made; the next use makes it anew."""
    with _lock:
        while _shared:
            bench, reader = _shared.pop()
            reader.close()
            bench.close()
