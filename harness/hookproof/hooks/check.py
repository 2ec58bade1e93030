"""The checks: what each demands of a script, what it costs when it is broken, and how to mend it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

from .bench import Bench
from .fire import Fired, How
from .kind import Kind
from .meaning import Reader
from .script import Script
from .search import Canaries, Shot
from .stimuli import Stimulus
from .wiring import Wiring

Severity = Literal["must", "should", "may"]
Need = Literal["refused", "passed", "file", "settings"]


class NotTested(Exception):
    """A check that could not be made; the text says why."""


class NotApplicable(Exception):
    """A check that says nothing about this script; the text says why."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which the script does not do what the check demands."""

    saw: str
    wanted: str = ""
    shot: Shot | None = None
    remedy: str = ""
    """In place of the check's own."""
    severity: Severity | None = None
    """In place of the check's own."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A rule for scripts, with the function that looks whether it is kept."""

    id: str
    family: str
    title: str
    """What is demanded, as a sentence."""
    consequence: str
    """What happens if not; {dialect} stands for the agent."""
    remedy: str
    severity: Severity
    kinds: frozenset[Kind]
    events: frozenset[str]
    exclusive: bool
    needs: tuple[Need, ...]
    look: Callable[[Probe], Iterable[Finding]] = field(repr=False)

    @property
    def name(self) -> str:
        """The id of its result: hook/FAMILY/ID."""
        return f"hook/{self.family}/{self.id}"


_CHECKS: dict[str, Check] = {}


def check(
    id: str,
    *,
    family: str,
    title: str,
    consequence: str,
    remedy: str,
    severity: Severity = "must",
    kinds: Sequence[Kind] = (),
    events: Sequence[str] = (),
    exclusive: bool = False,
    needs: Sequence[Need] = (),
) -> Callable[[Callable[[Probe], Iterable[Finding]]], Callable[[Probe], Iterable[Finding]]]:
    """Make a function a check. Empty `kinds` and `events` mean all; an `exclusive` one runs when nothing else does."""

    def register(look: Callable[[Probe], Iterable[Finding]]) -> Callable[[Probe], Iterable[Finding]]:
        if id in _CHECKS:
            raise ValueError(f'there are two checks "{id}"')
        _CHECKS[id] = Check(
            id, family, title, consequence, remedy, severity, frozenset(kinds), frozenset(events), exclusive, tuple(needs), look
        )
        return look

    return register


@cache
def load() -> tuple[Check, ...]:
    """All checks of all families, in the order of the modules' names; those that say what it is at all come first."""
    from . import checks

    for module in sorted(iter_modules(checks.__path__), key=lambda found: found.name):
        import_module(f".{module.name}", checks.__name__)
    return tuple(sorted(_CHECKS.values(), key=lambda one: one.family != "canaries"))


def _will_be_wired(script: Script) -> bool:
    """Whether its place in settings to come is known, and the agent is one that is run here."""
    return script.matcher is not None and script.dialect.startswith("claude-code")


class Probe:
    """All that a check may ask of one script. Thread-safe."""

    def __init__(self, script: Script, bench: Bench, reader: Reader) -> None:
        self.script = script
        self.bench = bench
        self.reader = reader
        self.source = script.source
        self.kind: Kind = "observer"
        self.canaries = Canaries()
        self.event_exists = script.event in reader.events(script.dialect)
        self.wiring = Wiring(script, bench, reader) if script.settings is not None or _will_be_wired(script) else None
        """How its settings lead to it; None for a script that stands in none and of which nobody said how it will."""
        self._shots: dict[tuple[bytes, How, str], Future[Shot]] = {}
        self._lock = threading.Lock()

    @property
    def dialect(self) -> str:
        """The dialect in which answers are read."""
        return self.script.dialect

    @property
    def hangs(self) -> bool:
        """Whether it had to be ended when it was first fired, so that nothing more was tried."""
        first = self.canaries.shots[:1]
        return len(self.canaries.shots) == 1 and (first[0].fired.timed_out or bool(first[0].fired.flooded))

    @property
    def refused(self) -> Stimulus:
        """A stimulus that the script refuses. Raises NotTested when there is none."""
        if self.canaries.refused is None:
            raise NotTested("no stimulus was found that the script refuses")
        return self.canaries.refused.stimulus

    @property
    def passed(self) -> Stimulus:
        """A stimulus that the script passes. Raises NotTested when there is none."""
        if self.canaries.passed is None:
            raise NotTested("no stimulus was found that the script passes")
        return self.canaries.passed.stimulus

    @property
    def shots(self) -> tuple[Shot, ...]:
        """All that was fired so far, the first first."""
        with self._lock:
            futures = list(self._shots.values())
        return tuple(future.result() for future in futures if future.done() and future.exception() is None)

    def shoot(self, stimulus: Stimulus, how: How = How(), *, fresh: bool = False) -> Shot:  # noqa: B008  (frozen)
        """Fire one stimulus; what was fired before in the same way is not fired again, unless `fresh`."""
        return self._begin(stimulus, stimulus.data(), how, fresh).result()

    def shoot_all(
        self, shots: Sequence[Stimulus | tuple[Stimulus, How]], at_once: int | None = None, *, fresh: bool = False
    ) -> list[Shot]:
        """Fire many side by side; the shots in the given order."""
        if at_once is not None:
            self.bench.widen(at_once)
        pairs = [(shot, How()) if isinstance(shot, Stimulus) else shot for shot in shots]
        futures = [self._begin(stimulus, stimulus.data(), how, fresh) for stimulus, how in pairs]
        return [future.result() for future in futures]

    def raw(self, data: bytes, how: How = How(), *, id: str = "raw") -> Shot:  # noqa: B008
        """Fire any bytes."""
        return self._begin(Stimulus(id, self.script.event, {}), data, how, False).result()

    def raw_all(self, shots: Sequence[tuple[str, bytes, How]]) -> list[Shot]:
        """Fire many of any bytes, each with a name."""
        futures = [self._begin(Stimulus(name, self.script.event, {}), data, how, False) for name, data, how in shots]
        return [future.result() for future in futures]

    def _begin(self, stimulus: Stimulus, data: bytes, how: How, fresh: bool) -> Future[Shot]:
        key = (data, how, stimulus.event)
        with self._lock:
            if not fresh and key in self._shots:
                return self._shots[key]
            future: Future[Shot] = Future()
            self._shots[(data, how, f"{stimulus.event} {len(self._shots)}") if fresh else key] = future
        fired = self.bench.submit(self.script, data, how)

        def read(done: Future[Fired]) -> None:
            try:
                result = done.result()
                meaning = self.reader.read(result, stimulus.event, self.dialect, how.limit_s)
                future.set_result(Shot(stimulus, how, result, meaning))
            except BaseException as error:
                future.set_exception(error)

        fired.add_done_callback(read)
        return future
