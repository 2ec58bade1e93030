"""One run of the suite against one runner: handshake, selection, cases ahead of their results, verdict."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import msgspec

from . import __version__, catalog, certificate, dialects, observation, posture, record, runnerspec, selection, suite, trial
from .aftermath import Aftermath
from .cases import Case
from .dialects import Dialect
from .errors import HarnessError, SubjectError, TimedOut
from .ground import Ground, Observation
from .layout import World
from .ledger import Ledger
from .pool import Pool
from .probe import ProbeKit, find_world_folder
from .process import Limits
from .protocol import HelloAnswer, RunAnswer
from .proving import PropertyJob, Proving
from .reaper import Reaper
from .results import CaseResult, Footer, Header
from .selection import Job, Options
from .subject import Subject

WIDE_LANES = 12
"""Lanes for cases that mostly sleep (30 sleeps of 1.5 s take 22 s in 2 lanes, 4.5 s in 12)."""
GIVE_UP = 5
"""After so many time-outs in a row the runner is not asked any more."""
ORDINARY_SPAWN = 0.004
"""Seconds that a spawn of /bin/sh may take before time bounds are widened."""


@dataclass(slots=True)
class _Streak:
    """Time-outs in a row, counted over all lanes."""

    length: int = 0
    lock: Lock = field(default_factory=Lock)

    def note(self, timed_out: bool) -> None:
        with self.lock:
            self.length = self.length + 1 if timed_out else 0


class Engine:
    """A run. Raises UsageError, SubjectError, DialectError or CaseFileError when it cannot even begin."""

    def __init__(self, options: Options, known: catalog.Catalog | None = None) -> None:
        self.options = options
        # who makes many engines loads the cases once
        self.catalog = known or catalog.load([suite.conformance(), *options.case_folders])
        self.spec = spec = runnerspec.parse(options.runner, options.base)
        place = find_world_folder()
        self._reaper = Reaper()
        self._folder = Path(tempfile.mkdtemp(prefix="hookproof-", dir=place))
        self._pool: Pool | None = None
        self._kit: ProbeKit | None = None
        self._futures: dict[str, Future[CaseResult]] = {}
        self._streak = _Streak()
        try:
            self._reaper.add_folder(self._folder)
            self._kit = ProbeKit(self._folder)
            home = self._folder / "home"
            home.mkdir()
            limits = Limits()
            first = Subject(spec, limits, self._reaper, home)
            self.hello: HelloAnswer = first.hello()
            first.close()
            self._chosen = selection.choose(self.hello, options)
            self.jobs = selection.select(self.catalog, self._chosen, self.hello, options)
            self.properties = selection.properties(self._chosen, self.hello, options)
            self._bench = trial.Bench(
                kit=self._kit,
                folder=self._folder,
                hello=self.hello,
                scale=_calibrate(),
                rerun=options.rerun,
            )
            self._proving = Proving(
                self.properties,
                runner_value=options.runner,
                rerun=options.rerun,
                thorough=options.thorough,
                examples=options.examples,
                scale=self._bench.scale,
            )
            cores = os.cpu_count() or 1
            self._aftermath = Aftermath(lambda: self._reached >= len(self.jobs), self._bench.scale)
            self._pool = Pool(
                lambda: Subject(spec, limits, self._reaper, home, lasting=self.hello.lasting, fair=True),
                # a worker has but two cases under way: in one lane, so that the second tells what followed the first
                ordinary=1 if options.window == 1 else max(1, cores // options.workers),
                wide=max(1, WIDE_LANES // options.workers),
                idle=self._aftermath.idle,
            )
        except BaseException:
            self.close()
            raise
        self.header = self._header(spec.argv)
        self._numbers = {job.test_id: number for number, job in enumerate(self.jobs)}
        self._wide_submitted = False
        self._reached = 0
        """Up to where in `jobs` all are under way, or were."""

    def _header(self, argv: Sequence[str]) -> Header:
        options = self.options
        why_not = ""
        if options.narrowed:
            why_not = f"{' and '.join(options.narrowed)} leaves cases out"
        elif options.assume:
            why_not = "--assume judges a version that the suite does not know"
        elif options.foreign:
            why_not = f"{', '.join(options.foreign)} can change a verdict"
        return Header(
            hookproof=__version__,
            suite=self.catalog.digest,
            cases=len(self.jobs) + len(self.properties),
            subject=list(argv),
            runner=msgspec.to_builtins(self.hello.runner),
            dialects=[one.asked for one in self._chosen],
            scope=self.hello.scope,
            features=list(self.hello.features),
            posture=None if self.hello.posture is None else msgspec.to_builtins(self.hello.posture),
            foreign=list(options.foreign),
            certifies=not why_not,
            why_not=why_not,
        )

    # ---- running ---------------------------------------------------------------------------------

    def narrow(self, jobs: Sequence[Job]) -> None:
        """Only these will be asked for, in this order: no other case runs ahead."""
        self.jobs = list(jobs)
        self._reached = 0
        self._numbers = {job.test_id: number for number, job in enumerate(self.jobs)}

    def ahead(self, job: Job) -> None:
        """See to it that the jobs from this one on are under way; cases that sleep are all begun at once.

        With a window of 1 (a worker cannot know which jobs will be its own) only this one is, and those that sleep:
        sleeping twice costs less than waiting for one after the other.
        """
        if not self._wide_submitted:
            self._wide_submitted = True
            for each in self.jobs:
                if each.entry.case.sleepy:
                    self._submit(each)
        position = self._numbers[job.test_id]
        end = position + self.options.window
        for following in self.jobs[max(position, self._reached) : end]:
            self._submit(following)
        self._reached = max(self._reached, end)

    def result(self, job: Job) -> CaseResult:
        """The result of a job; waits for it."""
        self.ahead(job)
        self._submit(job)  # where it is asked out of turn, or once more
        future = self._futures.pop(job.test_id)
        if not future.done() and self._pool is not None:
            self._aftermath.want(future)
            self._pool.nudge()
        return future.result()

    def _submit(self, job: Job) -> None:
        if job.test_id in self._futures or self._pool is None:
            return
        dialect = dialects.load(job.dialect)
        known = trial.not_asked(job, self.hello, dialect, self.options.slow, self.options.rerun)
        future = self._futures[job.test_id] = Future()
        if known is not None:
            future.set_result(known)
            return

        def ask_it(subject: Subject) -> None:
            try:
                self._ask(job, dialect, subject, future)
            except BaseException as error:
                future.set_exception(error)

        self._pool.submit(ask_it, wide=job.entry.case.sleepy)

    def _ask(self, job: Job, dialect: Dialect, subject: Subject, future: Future[CaseResult]) -> None:
        if self._streak.length >= GIVE_UP:
            result = trial.blank(job.entry, job.asked, self.options.rerun)
            result.status, result.error_kind = "error", "TimedOut"
            result.note = f"not asked any more: the runner did not answer {GIVE_UP} times in a row"
            future.set_result(result)
            return
        result = trial.run(job.entry, dialect, job.version, job.asked, subject, self._bench)
        self._streak.note(result.error_kind == "TimedOut")
        self._aftermath.give(subject, result, future)

    def asks(self, job: Job) -> bool:
        """Whether the runner is asked at all: a case may not apply to it, or need --slow."""
        dialect = dialects.load(job.dialect)
        return trial.not_asked(job, self.hello, dialect, self.options.slow, self.options.rerun) is None

    def record(self, job: Job) -> str:
        """What a trial of this job is made of and comes to, as text that is the same in every run.

        Raises HarnessError when the subject gave no answer to write down.
        """
        if self._pool is None:
            raise RuntimeError("the engine is closed")
        known = posture.of(job.dialect, job.version, self.hello)
        texts: list[str] = []

        def witness(world: World, seen: Ledger, answer: RunAnswer, result: CaseResult) -> None:
            parallel = known is not None and known.order == "parallel"
            texts.append(record.text(f"{job.id}, asked as {job.asked}", world, seen, answer, result, parallel=parallel))

        def ask_it(subject: Subject) -> CaseResult:
            result = trial.run(job.entry, dialects.load(job.dialect), job.version, job.asked, subject, self._bench, witness)
            self._aftermath.release(subject)
            return result

        result = self._pool.submit(ask_it, wide=False).result()
        if not texts:
            raise HarnessError(f"{job.test_id} gave nothing to record: {result.note}", result.hint or None)
        return texts[0]

    # ---- properties ------------------------------------------------------------------------------

    def prove(self, job: PropertyJob) -> CaseResult:
        """The result of a property: it is looked for a failing example, here and now."""
        return self._proving.prove(job, lambda cases: self.observe_all(cases, job.ground))

    def observe(self, case: Case, ground: Ground) -> Observation:
        """Ask one case that is in no file, and judge nothing.

        Raises a kind of SubjectError, HarnessError, and DialectError for what the dialect cannot say.
        """
        observed = self.observe_all([case], ground)[0]
        if isinstance(observed, SubjectError):
            raise observed
        return observed

    def observe_all(self, cases: Sequence[Case], ground: Ground) -> list[Observation | SubjectError]:
        """Ask several such cases side by side; an error of the subject stands in place of its observation."""
        if self._pool is None:
            raise RuntimeError("the engine is closed")
        under_way = [self._pool.submit(self._observer(case, ground), wide=case.sleepy) for case in cases]
        return [future.result() for future in under_way]

    def _observer(self, case: Case, ground: Ground) -> Callable[[Subject], Observation | SubjectError]:
        def observe_it(subject: Subject) -> Observation | SubjectError:
            if self._streak.length >= GIVE_UP:
                return TimedOut(f"not asked any more: the runner did not answer {GIVE_UP} times in a row")
            seen: Observation | SubjectError
            try:
                seen = subject.fairly(lambda: observation.observe(case, ground, subject, self._bench))
            except SubjectError as error:
                seen = error
            self._streak.note(isinstance(seen, TimedOut))
            # a result that is kept back is of a case; what followed another observation costs this one
            return self._aftermath.release(subject) or seen

        return observe_it

    # ---- the end ---------------------------------------------------------------------------------

    def footer(self, cases: Sequence[CaseResult], seconds: float) -> Footer:
        """The last line of the stream: counts, and what is certified."""
        judged = [(one.dialect, one.version) for one in self._chosen]
        return certificate.footer(self.header, self.catalog, judged, cases, seconds, slow=self.options.slow)

    def remove_at_end(self, folder: Path) -> None:
        """Remove this folder when the run ends, however it ends."""
        self._reaper.add_folder(folder)

    def close(self) -> None:
        """End every process and remove every world; may be called twice."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        if self._kit is not None:
            self._kit.close()
        self._reaper.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _calibrate() -> float:
    """How much slower than an ordinary machine this one spawns just now: 1.0 or more, at most 8."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(["/bin/sh", "-c", ":"], check=False, stdin=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return min(8.0, max(1.0, statistics.median(times) / ORDINARY_SPAWN))


__all__ = ["Engine", "Job", "Options"]
