"""One property in one dialect becomes a line of the event stream: searched within its share of the budget, or not, and why."""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import HarnessError, SubjectError, TimedOut
from .ground import Ground
from .properties import FAMILY, Claimed, Relation
from .results import CaseResult, Check, Moment

if TYPE_CHECKING:
    from .search import Ask, Found

BUDGET = 15.0
"""Seconds for all properties of a run together."""
SHARE = 1.0
"""Seconds that one property in one dialect may take at most of it."""
THOROUGH = 30.0
"""Seconds for each with --thorough, however many there are."""
SLOWEST = 0.2
"""Seconds for an example: of a slower runner too few could be tried to prove anything."""


@dataclass(frozen=True, slots=True)
class PropertyJob:
    """One relation on one ground."""

    relation: Relation
    ground: Ground

    @property
    def id(self) -> str:
        """property/adding-an-allow-never-loosens@lecode/1.0"""
        return f"property/{self.relation.name}@{self.ground.asked}"

    @property
    def test_id(self) -> str:
        """The id of its test: the same."""
        return self.id


@dataclass
class Proving:
    """What the properties of a run share: the budget, and what an example costs in each dialect."""

    jobs: Sequence[PropertyJob]
    runner_value: str
    rerun: str
    """The command that runs the same subject again, to be followed by `--case ID`."""
    thorough: bool
    examples: Path | None
    """Where failing examples are written; None: a temporary folder."""
    scale: float
    _costs: dict[str, float] = field(default_factory=dict)

    def prove(self, job: PropertyJob, ask: Ask) -> CaseResult:
        """The result of a property. Never raises for what the subject does; HarnessError becomes a result as well."""
        result = blank(job, self.rerun)
        began = time.perf_counter()
        reason = job.relation.why_not(job.ground)
        if reason is not None:
            result.status, result.note = "not-applicable", reason
            return result
        try:
            self._prove(job, ask, result)
        except HarnessError as error:
            result.status, result.note, result.hint = "harness-error", error.message, error.hint or ""
        result.seconds = round(time.perf_counter() - began, 4)
        return result

    def _prove(self, job: PropertyJob, ask: Ask, result: CaseResult) -> None:
        # hypothesis takes a fifth of a second to import: only a run that comes to its properties pays for it
        from . import search

        try:
            cost = self._cost(job, ask)
        except SubjectError as error:
            result.status, result.error_kind = "error", type(error).__name__
            result.note, result.hint = error.message, error.hint or ""
            result.said, result.complained = error.said, error.complained
            return
        if cost > self.slowest and not self.thorough:
            result.note = f"an example takes {cost:.2f} s: properties are tried where it takes at most {SLOWEST:g} s (--thorough)"
            return
        outcome = search.search(
            job.relation,
            job.ground,
            ask,
            seconds=self.share,
            cost=cost,
            profile="hookproof-thorough" if self.thorough else "hookproof",
        )
        tried = "1 example" if outcome.examples == 1 else f"{outcome.examples} examples"
        holds = Check(name=job.relation.name, ok=outcome.found is None, basis="seen", wanted=job.relation.sentence)
        result.checks = [holds]
        if outcome.found is None:
            result.status, result.note = "pass", tried
        else:
            self._tell(job, ask, outcome.found, tried, result, holds)

    @property
    def slowest(self) -> float:
        """Seconds that an example may take on this machine."""
        return SLOWEST * self.scale

    @property
    def share(self) -> float:
        """Seconds for one property."""
        applicable = sum(job.relation.why_not(job.ground) is None for job in self.jobs)
        return THOROUGH if self.thorough else min(SHARE, BUDGET / max(1, applicable))

    def _cost(self, job: PropertyJob, ask: Ask) -> float:
        """Seconds for an ordinary example in this dialect, measured once. Raises SubjectError."""
        asked = job.ground.asked
        if asked not in self._costs:
            # the first time, the lanes start as well; the better of two more is what an example takes
            best = self._seconds(job, ask)
            for _ in range(2):
                best = min(best, self._seconds(job, ask))
                if best > self.slowest:
                    break
            self._costs[asked] = best
        return self._costs[asked]

    def _seconds(self, job: PropertyJob, ask: Ask) -> float:
        from .search import sample

        began = time.perf_counter()
        for each in ask(sample(job.ground, job.relation)):
            if isinstance(each, SubjectError):
                raise each
        return time.perf_counter() - began

    def _tell(self, job: PropertyJob, ask: Ask, found: Found, tried: str, result: CaseResult, holds: Check) -> None:
        """The failing example: in words, as a file, and with what happened in both cases."""
        from . import counterexample
        from .search import check

        late = isinstance(found.error, TimedOut)
        again = found if late else check(job.relation, job.ground, [found.pair], ask)[0]
        result.status = "fail"
        holds.saw = found.wrong
        holds.basis = "claimed" if isinstance(found.wrong, Claimed) else "seen"
        first, second = found.pair
        lines = [f"a failing example, the smallest found ({tried}):", f"first: {counterexample.told(first)}"]
        if second is not None:
            lines.append(f"second: {counterexample.told(second)}")
        if again is None:
            lines.append("asked once more, it did not fail: the runner does not always do the same")
        if found.error is not None:
            result.status, result.error_kind = "error", type(found.error).__name__
            result.said, result.complained = found.error.said, found.error.complained
            lines.append(found.error.message)
        if found.seen is not None:
            both = [("first", found.seen.first), ("second", found.seen.second)]
            result.timeline = [
                Moment(what=f"{name}: {moment.what}" if second is not None else moment.what, at=moment.at)
                for name, seen in both
                if seen is not None
                for moment in seen.story
            ]
        folder = self.examples or Path(tempfile.mkdtemp(prefix="hookproof-example-"))
        who = f"{self.runner_value}: {found.wrong}"
        path = counterexample.write(folder, job.relation, job.ground, found.pair, who)
        result.note = "\n".join(lines)
        result.hint = (
            f"to see just this again:\n    hookproof replay {shlex.quote(str(path))} --runner {shlex.quote(self.runner_value)}"
        )


def blank(job: PropertyJob, rerun: str) -> CaseResult:
    """A result that says nothing yet."""
    return CaseResult(
        id=job.id,
        dialect=job.ground.asked,
        family=FAMILY,
        rule=job.relation.name,
        level="must",
        sentence=job.relation.sentence,
        source="hookproof, properties",
        status="not-tested",
        rerun=f"{rerun} --case {job.id}",
    )
