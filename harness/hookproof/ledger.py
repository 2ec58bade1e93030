"""What really happened in a world, read from what its probes wrote.

Order comes from one append-only journal; file times, which move in steps of 4 ms, serve only bounds of
50 ms and more. The ledger proves against faults, not against forgery: a runner that wanted to could
write the journal itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import foreignjson

Kind = Literal["start", "read", "term", "lonely", "end", "dies"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the journal: `start h1 2 4711` is the second start of h1, as process 4711."""

    kind: Kind
    probe: str
    run: int
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.probe}.{self.run}" + (f" {self.detail}" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Timed:
    """A fact with its time in seconds since the first fact of the ledger (None: the file is gone)."""

    fact: Fact
    at: float | None


@dataclass(slots=True)
class Ledger:
    """The facts of one world, in order. `folder` is where the probes wrote them."""

    folder: str
    facts: list[Fact] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    """Journal lines that could not be read."""
    _marks: list[str] | None = field(default=None, repr=False, compare=False)
    """Looked up once: every case asks twice."""

    def starts(self, probe: str) -> int:
        """How often a probe was started."""
        return sum(1 for f in self.facts if f.kind == "start" and f.probe == probe)

    def started(self, prefix: str = "h") -> list[str]:
        """The probes that were started, in order, one entry per start; `prefix` h: handlers, t: tools."""
        return [f.probe for f in self.facts if f.kind == "start" and f.probe.startswith(prefix)]

    def position(self, kind: Kind, probe: str, run: int = 1) -> int | None:
        """Where in the journal a fact stands; None if it never happened."""
        for number, fact in enumerate(self.facts):
            if fact.kind == kind and fact.probe == probe and fact.run == run:
                return number
        return None

    def overlap(self, one: str, other: str) -> bool:
        """Whether each of two probes started before the other ended (a probe without an end counts as open)."""
        return self._before(one, other) and self._before(other, one)

    def _before(self, one: str, other: str) -> bool:
        start = self.position("start", one)
        if start is None or self.position("start", other) is None:
            return False
        ends = [p for kind in ("end", "dies") if (p := self.position(kind, other)) is not None]
        return not ends or start < min(ends)

    def unborn(self) -> list[str]:
        """Tool starts that were claimed but never noted (`t1.2`): our machinery failed under the probe.

        A handler says so through its FIFO; it may also have been killed by its runner just then.
        """
        return sorted(name[:-2] for name in self._unnoted() if name.startswith("t") and name.endswith(".s"))

    def lost(self) -> list[str]:
        """Runs that came to their end, so they noted their start, and of which the journal does not know (`h1.1`)."""
        return sorted(name[:-2] for name in self._unnoted() if name.endswith(".e"))

    def _unnoted(self) -> list[str]:
        """The marks of starts and ends (`h1.1.s`, `h1.1.e`) of runs whose start is not in the journal."""
        if self._marks is None:
            noted = {f"{f.probe}.{f.run}" for f in self.facts if f.kind == "start"}
            self._marks = [name for name in os.listdir(self.folder) if name[-2:] in (".s", ".e") and name[:-2] not in noted]
        return self._marks

    def lonely(self) -> list[str]:
        """Probes that waited for another in vain."""
        return [f.probe for f in self.facts if f.kind == "lonely"]

    def started_at(self, probe: str, run: int = 1) -> float | None:
        """When a probe started, in seconds since the epoch, good to 4 ms."""
        return self._mtime(f"{probe}.{run}.s")

    def ended_at(self, probe: str, run: int = 1) -> float | None:
        """When a probe came to its end by itself, in seconds since the epoch."""
        return self._mtime(f"{probe}.{run}.e")

    def stdin(self, probe: str, run: int = 1) -> bytes | None:
        """What a probe read, to the byte; None if it read nothing or never started."""
        return self._bytes(f"{probe}.{run}.in")

    def stdin_json(self, probe: str, run: int = 1) -> Any:
        """What a probe read, as JSON, tolerantly (NaN, duplicate keys, lone surrogates).

        Raises ValueError when it was none that can be read, KeyError when nothing was read.
        """
        data = self.stdin(probe, run)
        if data is None:
            raise KeyError(f"{probe} read nothing")
        return foreignjson.loads(data.decode("utf-8", "surrogatepass"))

    def env(self, probe: str, run: int = 1) -> dict[str, str] | None:
        """The environment that a probe was started with; None unless the case asked for it."""
        data = self._bytes(f"{probe}.{run}.env")
        if data is None:
            return None
        pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
        return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, _, value in pairs}

    def cwd(self, probe: str, run: int = 1) -> str | None:
        """The folder that a probe was started in; None unless the case asked for it."""
        data = self._bytes(f"{probe}.{run}.cwd")
        return None if data is None else data.decode("utf-8", "replace").removesuffix("\n")

    def args(self, probe: str, run: int = 1) -> list[str] | None:
        """The arguments that a probe was started with; None unless the case asked for it."""
        data = self._bytes(f"{probe}.{run}.args")
        return None if data is None else [a.decode("utf-8", "replace") for a in data.split(b"\0")[:-1]]

    def timeline(self) -> list[Timed]:
        """All facts with their times, for people."""
        raw = [(fact, self._time_of(fact)) for fact in self.facts]
        zero = min((at for _, at in raw if at is not None), default=None)
        return [Timed(f, None if at is None or zero is None else round(at - zero, 3)) for f, at in raw]

    def _time_of(self, fact: Fact) -> float | None:
        suffix = {"start": "s", "end": "e", "dies": "e"}.get(fact.kind)
        return self._mtime(f"{fact.probe}.{fact.run}.{suffix}") if suffix else None

    def _mtime(self, name: str) -> float | None:
        try:
            return os.stat(f"{self.folder}/{name}").st_mtime
        except OSError:
            return None

    def _bytes(self, name: str) -> bytes | None:
        try:
            with open(f"{self.folder}/{name}", "rb", buffering=0) as file:
                return file.read()
        except OSError:
            return None


def read(folder: Path) -> Ledger:
    """The ledger of the world whose probes wrote into `folder`; empty when no probe was started."""
    try:
        with open(f"{folder}/journal", "rb", buffering=0) as file:
            lines = file.read().decode("ascii", "replace").splitlines()
    except FileNotFoundError:
        lines = []
    return parse(folder, lines)


def parse(folder: Path, lines: Iterable[str]) -> Ledger:
    """A ledger from the journal's lines: KIND PROBE RUN [DETAIL]."""
    ledger = Ledger(str(folder))
    for line in lines:
        words = line.split(" ", 3)
        if len(words) < 3 or words[0] not in ("start", "read", "term", "lonely", "end", "dies") or not words[2].isdigit():
            ledger.torn.append(line)
            continue
        ledger.facts.append(Fact(words[0], words[1], int(words[2]), words[3] if len(words) > 3 else ""))  # type: ignore[arg-type]
    return ledger
