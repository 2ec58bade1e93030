"""What a script's end and output mean in a dialect is asked of the bundled reference runner, over the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from .. import protocol, runnerspec
from ..errors import HarnessError, UsageError
from ..process import Child, Limits
from ..protocol import RunAnswer
from ..reaper import Reaper
from ..subject import Subject
from .fire import Fired

LIMIT_S = 20.0
"""More than any answer needs, however busy the machine."""
NAME = "hook"
"""What the script is called in reasons; taken out of them again."""

Verdict = Literal["allow", "ask", "defer", "deny", "none"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an agent makes of one handler's end and output, if it is the only handler."""

    verdict: Verdict = "none"
    blocks: bool = False
    """What the event is about does not happen by itself: refused, asked or deferred."""
    reason: str = ""
    rewrite: Mapping[str, Any] | None = None
    context: tuple[str, ...] = ()
    """Texts for the model."""
    failed: str | None = None
    """Why the answer counts as none."""
    notes: tuple[str, ...] = ()
    why: str = ""
    """Why it comes to that, in words."""
    source: str = ""
    """Where that is known from: observed at a version, or a document."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A dialect in which an answer can be read."""

    name: str
    runs: bool
    """Whether the reference runs it, too; else only the reading is known."""
    scripts: bool
    """Whether its handlers are scripts; else a script stands for the body of a function."""


class Reader:
    """The reference runner as a reader of answers. Thread-safe; `home` is a folder for it."""

    def __init__(self, reaper: Reaper, home: Path) -> None:
        self._reaper = reaper
        self._home = home
        self._spec = runnerspec.parse("reference", home)
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._child: Child | None = None
        self._subject: Subject | None = None
        self._events: dict[str, tuple[str, ...]] = {}
        self._readable: tuple[Readable, ...] = ()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def read(self, fired: Fired, event: str, dialect: str, timeout_s: float | None = None) -> Meaning:
        """What this end and output mean. Raises UsageError for a dialect or event that there is not."""
        ran = {**fired.ran(), "command": NAME, "timeout": timeout_s}
        if fired.flooded:
            ran["signal"], ran["exit"] = 9, None
        found = self._asked({"op": "read", "dialect": dialect, "event": event, "ran": ran})
        return Meaning(
            found["verdict"],
            found["blocks"],
            found["reason"].removeprefix(f"[{NAME}]: "),
            found["rewrite"],
            tuple(found["context"]),
            found["failed"],
            tuple(found["notes"]),
            found["why"],
            found["source"],
        )

    def events(self, dialect: str) -> tuple[str, ...]:
        """The events of a dialect. Raises UsageError for one that the reference does not know."""
        if dialect not in self._events:
            self._events[dialect] = tuple(self._asked({"op": "events", "dialect": dialect})["events"])
        return self._events[dialect]

    @property
    def dialects(self) -> list[str]:
        """All dialects that the reference knows, with their versions."""
        subject = self._runner()
        with self._lock:
            return subject.hello().dialects

    @property
    def readable(self) -> tuple[Readable, ...]:
        """All dialects in which an answer can be read, also those that the reference does not run."""
        if not self._readable:
            self._readable = tuple(Readable(**one) for one in self._asked({"op": "dialects"})["dialects"])
        return self._readable

    @property
    def pid(self) -> int:
        """The process that reads; 0 before it has read anything."""
        with self._lock:
            return 0 if self._child is None else self._child.pid

    def run(self, request: protocol.Run, limit_s: float = LIMIT_S) -> RunAnswer:
        """Have the reference do a whole run. Raises a kind of SubjectError."""
        subject = self._runner()
        with self._lock:
            return subject.ask(request, limit_s).answer

    def close(self) -> None:
        """End the reference."""
        with self._lock:
            if self._child is not None:
                self._child.close_stdin()
                self._child.ends_within(0.5)
                self._child.end(thorough=False)
                self._child = None
            if self._subject is not None:
                self._subject.close()
                self._subject = None

    def _runner(self) -> Subject:
        with self._lock:
            if self._subject is None:
                self._subject = Subject(self._spec, Limits(), self._reaper, self._home)
            return self._subject

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        ident = str(next(self._numbers))
        line = json.dumps({**request, "id": ident}).encode("ascii") + b"\n"
        with self._lock:
            if self._child is None:
                self._child = Child(self._spec.argv, self._home, Limits(), self._reaper)
            self._child.send(line, last=False)
            heard = self._child.line(LIMIT_S)
            if heard.how != "line":
                complained = self._child.complained()
                self._child.end()
                self._child = None
                raise HarnessError(f"the bundled reference runner did not answer ({heard.how}): {complained[-500:]}")
        answer: dict[str, Any] = json.loads(heard.line)
        if answer.get("id") != ident:
            raise HarnessError(f"the bundled reference runner answered out of turn: {heard.line[:200]!r}")
        if "error" in answer:
            raise UsageError(answer["error"], f'asked of the dialect "{request.get("dialect")}"')
        return answer
