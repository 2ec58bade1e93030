"""How a script is fired, and what came of it: its end, its words, what it left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from .. import tree
from ..process import signal_name

Stdin = Literal["whole", "pieces", "closed", "held", "empty"]


@dataclass(frozen=True, slots=True)
class How:
    """In which circumstances a script is fired; the ordinary ones are all defaults."""

    env: tuple[tuple[str, str | None], ...] = ()
    """Laid over the ordinary environment; None removes."""
    path: str | None = None
    """PATH; the empty string: none at all."""
    cwd: Path | None = None
    """None: the project folder."""
    limit_s: float = 10.0
    stdin: Stdin = "whole"
    """`pieces`: in several writes; `closed`: no descriptor 0; `held`: not closed behind the payload; `empty`: nothing."""
    command: str | None = None
    """Another command line in place of the script's own."""
    read_only: bool = False
    """Its folders cannot be written to."""
    full: bool = False
    """Its folders lie on a full disk."""
    home: bool = True
    """False: there is no HOME."""


@dataclass(frozen=True, slots=True)
class Fired:
    """What one start came to. Exactly one of exit, signal, timed_out and cannot_start says how it ended."""

    exit: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cannot_start: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0
    """From the start to the end of the script itself, by the clock on the wall."""
    cpu_s: float = 0.0
    """User and system time of the script and of what it waited for."""
    left: tuple[str, ...] = ()
    """The names of the processes that it left behind; they are dead by now."""
    wrote: tuple[str, ...] = ()
    """What is new in its own world: home/x, project/y, tmp/z."""
    held: bool = False
    """Something that it had started still held its stdout after its end."""
    flooded: str = ""
    """What there was too much of; it was killed for it."""
    unread: int = 0
    """Bytes of the payload that it did not take."""
    ignored_term: bool = False
    """At its limit it was asked to end, and did not."""

    @property
    def said(self) -> str:
        """Stdout as text."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def complained(self) -> str:
        """Stderr as text."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def ended(self) -> str:
        """How it ended, in words."""
        if self.flooded:
            return f"killed: {self.flooded}"
        if self.cannot_start is not None:
            return f"cannot start: {self.cannot_start}"
        if self.timed_out:
            return f"killed at its limit after {self.seconds:.1f} s"
        return f"exit code {self.exit}" if self.signal is None else signal_name(-self.signal)

    def ran(self) -> dict[str, Any]:
        """The form in which a reader of answers is told what a handler did."""
        return {
            "exit": self.exit,
            "signal": self.signal,
            "timed_out": self.timed_out,
            "cannot_start": self.cannot_start,
            "stdout": self.said,
            "stderr": self.complained,
        }


class Keeper(Protocol):
    """Knows all that a script started, and can end it."""

    def leftovers(self, pid: int) -> list[int]:
        """The processes that are alive besides the script `pid` itself."""
        ...

    def crowd(self, pid: int) -> list[tree.Entry]:
        """All processes of the script, itself included."""
        ...

    def orphans(self) -> int:
        """How many there are at least, told cheaply; 0 where that cannot be told."""
        ...

    def end(self, pid: int) -> None:
        """Kill them all."""
        ...
