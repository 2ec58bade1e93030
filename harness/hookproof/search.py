"""Hypothesis looks for two runs that break a relation, within a budget of seconds, and shrinks what it finds.

The profiles are ours: every setting is said, so that nothing comes from the user's own profile, which stays
as it is. What was asked once is not asked again, so that shrinking ends in time and never contradicts itself.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from .cases import Case
from .errors import HarnessError, SubjectError, TimedOut
from .ground import Ground, Observation
from .properties import Choice, Relation, Seen

Pair = tuple[Case, Case | None]
Ask = Callable[[Sequence[Case]], list[Observation | SubjectError]]
"""Asks cases side by side; an error of the subject stands in place of the observation."""

PROFILES = {"hookproof": 300, "hookproof-thorough": 20_000}
"""Profile -> at most so many examples, however quick they are."""
MOST_HANDLERS = 4
REPEATED = 2
"""So many examples are drawn for each that is asked: hypothesis comes back to those that it has seen."""
PATIENCE = 2.0
"""So many times its share may a search take once it has found something: for shrinking."""


@dataclass(frozen=True, slots=True)
class Found:
    """A failing example. `error` is there when a case was not answered; then `seen` is not."""

    pair: Pair
    wrong: str
    seen: Seen | None = None
    error: SubjectError | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search came to: how many different examples were asked, and the smallest that fails."""

    examples: int
    found: Found | None = None


class Broken(Exception):
    """The relation does not hold for an example."""

    def __init__(self, found: Found) -> None:
        super().__init__(found.wrong)
        self.found = found


class Unanswered(Broken):
    """An example was not answered at all: another failure, which shrinking must not mix with the first."""


@cache
def _register() -> None:
    for name, most in PROFILES.items():
        hypothesis.settings.register_profile(
            name,
            hypothesis.settings(
                max_examples=most,
                derandomize=True,
                database=None,
                verbosity=Verbosity.quiet,
                # no explain phase: it asks for seconds per failure
                phases=(Phase.generate, Phase.shrink),
                stateful_step_count=50,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
                deadline=None,
                print_blob=False,
                backend="hypothesis",
            ),
        )


def settings(profile: str, examples: int) -> hypothesis.settings:
    """The settings of one of our profiles, with this many examples at most."""
    _register()
    chosen = hypothesis.settings.get_profile(profile)
    return hypothesis.settings(chosen, max_examples=max(1, min(examples, chosen.max_examples)))


def pairs(relation: Relation, ground: Ground) -> st.SearchStrategy[Pair]:
    """First cases with their second ones, of what dialect and runner have words for."""
    demanded, inserted = relation.demanded(ground), relation.inserted(ground)
    lists = st.one_of(
        [st.lists(st.sampled_from(pool), min_size=relation.fewest, max_size=MOST_HANDLERS) for pool in relation.pools(ground)]
    )
    # not bounded by the number of handlers: so a handler can be taken away and the place stays one
    places = st.integers(0, MOST_HANDLERS)
    hosts = st.sampled_from(relation.hosts(ground))

    @st.composite
    def drawn(draw: st.DrawFn) -> Pair:
        handlers = draw(lists)
        if demanded:
            handlers.insert(draw(places), draw(st.sampled_from(demanded)))
        case = relation.case(ground, ground.settled(handlers), draw(hosts))
        choice = Choice(
            at=draw(places) if inserted else 0,
            extra=draw(st.sampled_from(inserted)) if inserted else None,
            order=tuple(draw(st.permutations(range(len(case.handlers))))) if relation.reorders else (),
        )
        return case, relation.vary(case, choice)

    return drawn()


def search(relation: Relation, ground: Ground, ask: Ask, *, seconds: float, cost: float, profile: str = "hookproof") -> Outcome:
    """Look for a failing example; `cost` is what one is known to take, in seconds.

    Raises HarnessError, and whatever ended the run from outside.
    """
    trials = _Trials(relation, ground, ask, end=time.monotonic() + seconds)
    several = st.lists(pairs(relation, ground), min_size=relation.together, max_size=relation.together, unique_by=_key)

    @hypothesis.seed(zlib.crc32(f"{relation.name}@{ground.asked}".encode()))
    @settings(profile, int(REPEATED * seconds / cost))
    @hypothesis.given(several)
    def holds(examples: list[Pair]) -> None:
        trials.take(examples, patience=PATIENCE * seconds)

    found: Found | None = None
    try:
        holds()
    except Broken as broken:
        found = broken.found
    except Flaky as flaky:
        # the same example is always answered the same: what came and went was raised from outside, by a signal
        inside = [each for each in getattr(flaky, "exceptions", ()) if not isinstance(each, Broken)]
        raise (inside[0] if inside else HarnessError(f"hypothesis is at odds with itself: {flaky}")) from None
    if trials.stopped is not None:
        raise trials.stopped
    return Outcome(trials.asked, found)


def check(relation: Relation, ground: Ground, examples: Sequence[Pair], ask: Ask) -> list[Found | None]:
    """Ask these pairs side by side; for each, what is wrong."""
    observed = iter(ask([case for pair in examples for case in pair if case is not None]))
    outcomes: list[Found | None] = []
    for pair in examples:
        both = [next(observed) for case in pair if case is not None]
        error = next((each for each in both if isinstance(each, SubjectError)), None)
        if error is not None:
            outcomes.append(Found(pair, error.message, error=error))
            continue
        first, second = (*(each for each in both if isinstance(each, Observation)), None)[:2]
        assert first is not None
        seen = Seen(pair[0], first, pair[1], second)
        wrong = relation.wrong(ground, seen)
        outcomes.append(None if wrong is None else Found(pair, wrong, seen))
    return outcomes


@dataclass
class _Trials:
    """The examples of one search, each asked once."""

    relation: Relation
    ground: Ground
    ask: Ask
    end: float
    """On the monotonic clock: after it nothing new is asked."""
    asked: int = 0
    stopped: BaseException | None = None
    """What is no fault of the subject; hypothesis would take it for a failing example."""
    _known: dict[bytes, Found | None] = field(default_factory=dict)
    _failed: bool = False
    _last: float = 0.0
    """Seconds that the last example took: one that would end too late is not begun."""

    def take(self, examples: Sequence[Pair], patience: float) -> None:
        """Raises Broken for the first pair that breaks the relation."""
        new = {key: pair for pair in examples if (key := _key(pair)) not in self._known}
        began = time.monotonic()
        if new and self.stopped is None and began + self._last < self.end:
            self.asked += len(new)
            try:
                self._known.update(zip(new, check(self.relation, self.ground, list(new.values()), self.ask), strict=True))
            except Exception as error:
                self.stopped = error
            self._last = time.monotonic() - began
        for pair in examples:
            found = self._known.get(_key(pair))
            if found is None:
                continue
            if not self._failed:
                self._failed = True
                # an answer that does not come is not waited for again and again
                self.end = 0.0 if isinstance(found.error, TimedOut) else time.monotonic() + patience
            if found.error is not None:
                raise Unanswered(found)
            raise Broken(found)


def _key(pair: Pair) -> bytes:
    return msgspec.json.encode(pair)


def sample(ground: Ground, relation: Relation) -> list[Case]:
    """A pair of ordinary cases: what they take is what an example costs."""
    handlers: list[Any] = ground.settled(ground.before[: MOST_HANDLERS - 1])
    case = relation.case(ground, handlers, "allow")
    return [case, case]
