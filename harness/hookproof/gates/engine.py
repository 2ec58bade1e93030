"""One run of the corpus against one gate: every faulty file must be refused, and its valid twin accepted."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .. import __version__, dialects, gatecorpus, results
from ..errors import HarnessError, HookproofError
from ..gatecorpus import Sample
from ..probe import find_world_folder
from ..reaper import Reaper
from ..results import CaseResult, Check, Footer, Header
from . import jobs as corpus_jobs
from . import spec
from .ask import LIMIT_S, Answer, Gate
from .jobs import Job

WINDOW = 16
"""How many files may be under way or done ahead of the one whose result is wanted."""
GIVE_UP = 3
"""After so many time-outs in a row the gate is not asked any more."""
CERTIFIES_NOT = "gates are measured; certificates are for runners"


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for. `base` is the folder that relative paths start from."""

    gate: str
    base: Path
    dialects: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    workers: int = 1
    """How many processes share the machine (xdist)."""
    window: int = WINDOW
    limit_s: float = LIMIT_S
    """Seconds that the gate has for one file."""
    foreign: tuple[str, ...] = ()
    """Settings of the surrounding pytest that can change a verdict."""

    @property
    def narrowed(self) -> list[str]:
        """The options that leave files out."""
        return [name for name, value in (("--family", self.families), ("--case", self.case_ids)) if value]


@dataclass(slots=True)
class _Streak:
    """Time-outs in a row, counted over all lanes."""

    length: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, answer: Answer) -> None:
        with self.lock:
            self.length = self.length + 1 if answer.error == "TimedOut" else 0


class GateEngine:
    """A run. Raises UsageError, SubjectError or DialectError when it cannot even begin."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.corpus = gatecorpus.folder()
        version = corpus_jobs.version_of(options.dialects)
        self.jobs: Sequence[Job] = corpus_jobs.select(self.corpus, version, options.families, options.case_ids)
        self._dialect = f"{corpus_jobs.DIALECT}/{version}"
        self.spec = spec.parse(options.gate, options.base, self._dialect)
        place = find_world_folder()
        self._reaper = Reaper()
        self._folder = Path(tempfile.mkdtemp(prefix="hookproof-", dir=place))
        self._numbers = itertools.count()
        self._streak = _Streak()
        self._closed = False
        self._futures: dict[str, Future[CaseResult]] = {}
        self._twins: dict[str, Answer] = {}
        self._twin_locks = {job.sample.twin: threading.Lock() for job in self.jobs}
        lanes = max(1, (os.cpu_count() or 1) // options.workers)
        self._pool = ThreadPoolExecutor(lanes, "hookproof-gate")
        try:
            self._reaper.add_folder(self._folder)
            home = self._folder / "home"
            home.mkdir()
            self._gate = Gate(self.spec, self._reaper, home, options.limit_s)
            # one that cannot be started at all is told at once, and not once for each file
            self._gate.try_to_start(home / "settings.json", home)
        except BaseException:
            self.close()
            raise
        self.properties: tuple[()] = ()
        self.header = Header(
            hookproof=__version__,
            suite=corpus_jobs.digest(self.corpus),
            cases=len(self.jobs),
            subject=list(self.spec.argv),
            runner={"name": self.spec.name},
            dialects=[self._dialect],
            scope="gate",
            foreign=list(options.foreign),
            certifies=False,
            why_not=CERTIFIES_NOT,
        )

    # ---- running ---------------------------------------------------------------------------------

    def narrow(self, jobs: Sequence[Job]) -> None:
        """Only these will be asked for, in this order."""
        self.jobs = list(jobs)

    def ahead(self, job: Job) -> None:
        """See to it that the jobs from this one on are under way."""
        position = self.jobs.index(job)
        for following in self.jobs[position : position + self.options.window]:
            if following.id not in self._futures:
                self._futures[following.id] = self._pool.submit(self._judge, following)

    def result(self, job: Job) -> CaseResult:
        """The result of a job; waits for it."""
        self.ahead(job)
        return self._futures[job.id].result()

    def _judge(self, job: Job) -> CaseResult:
        result = self._blank(job)
        if job.why_not:
            result.status, result.note = "not-applicable", job.why_not
            return result
        began = time.perf_counter()
        try:
            if job.twin is None:
                self._judge_correct(job.sample, result)
            else:
                self._judge_faulty(job.sample, job.twin, result)
        except (HookproofError, OSError) as error:
            result.status, result.note = "harness-error", str(error)
        result.seconds = round(time.perf_counter() - began, 4)
        return result

    def _judge_correct(self, sample: Sample, result: CaseResult) -> None:
        answer = self._ask(sample)
        result.checks = [_check("accepted", "exit code 0", answer)]
        _conclude(result, answer, "")

    def _judge_faulty(self, sample: Sample, twin: Sample, result: CaseResult) -> None:
        answer = self._ask(sample)
        result.checks = [_check("refused", "an exit code from 1 to 125", answer)]
        if answer.word == "refused":
            # only a gate that accepts the twin has seen the fault
            beside = self._of_twin(twin)
            result.checks.append(_check("accepted", f"exit code 0 on the valid twin {twin.id}", beside))
            if beside.word != "accepted":
                return _conclude(result, beside, f"on the valid twin {twin.id}: ")
        return _conclude(result, answer, "")

    def _of_twin(self, twin: Sample) -> Answer:
        name = f"{twin.family}/{twin.file}"
        with self._twin_locks[name]:
            if name not in self._twins:
                self._twins[name] = self._ask(twin)
            return self._twins[name]

    def _ask(self, sample: Sample) -> Answer:
        if self._closed:
            raise HarnessError("the run was ended before this file was judged")
        if self._streak.length >= GIVE_UP:
            return Answer("error", f"was not asked any more: it gave no answer {GIVE_UP} times in a row", "TimedOut")
        # a gate must not be able to tell files by the names of their folders
        project = self._folder / f"p{next(self._numbers)}"
        project.mkdir()
        try:
            answer = self._gate.ask(gatecorpus.lay_out(sample, project, self.corpus), project)
        finally:
            shutil.rmtree(project, ignore_errors=True)
        self._streak.note(answer)
        return answer

    def _blank(self, job: Job) -> CaseResult:
        sample = job.sample
        rerun = ["pytest", f"--gate={self.options.gate}", "--case", job.id]
        if job.version != dialects.KNOWN[corpus_jobs.DIALECT][-1]:
            rerun.insert(2, f"--dialect={job.dialect}")
        return CaseResult(
            id=job.id,
            dialect=job.dialect,
            family=job.family,
            rule="gate-accepts-what-is-correct" if sample.correct else sample.names[0],
            level="must",
            sentence="A correct settings file is accepted."
            if sample.correct
            else f"Refused is a file with a fault: {sample.fault}.",
            source=sample.source or f"conformance/gate/{sample.family}/index.yml",
            status="pass",
            hint=f"the file: conformance/gate/{sample.family}/{sample.file}"
            + (f"; at run time: {sample.expect.replace('-', ' ')}" if sample.expect else ""),
            rerun=shlex.join(rerun),
        )

    # ---- the end ---------------------------------------------------------------------------------

    def footer(self, cases: Sequence[CaseResult], seconds: float) -> Footer:
        """The last line of the stream: how many faults were seen, how many alarms were false."""
        counts = results.count(cases)
        applying = [case for case in cases if case.status != "not-applicable"]
        correct = [case for case in applying if case.family == f"gate-{gatecorpus.CORRECT}"]
        faulty = [case for case in applying if case.family != f"gate-{gatecorpus.CORRECT}"]
        parts = []
        if faulty:
            seen = sum(case.status == "pass" for case in faulty)
            parts.append(f"{seen} of {len(faulty)} faulty files told from their valid twins ({100 * seen / len(faulty):.0f} %)")
        if correct:
            parts.append(f"{sum(case.status == 'pass' for case in correct)} of {len(correct)} correct files accepted")
        if errors := sum(counts.get(word, 0) for word in ("error", "harness-error")):
            parts.append(f"{errors} errors")
        return Footer(
            counts=counts,
            verdict=", ".join(parts) or "no file applies",
            seen=sum(len(case.checks) for case in cases),
            seconds=round(seconds, 3),
        )

    def remove_at_end(self, folder: Path) -> None:
        """Remove this folder when the run ends, however it ends."""
        self._reaper.add_folder(folder)

    def close(self) -> None:
        """End every process and remove every project; may be called twice."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._reaper.close()
        self._pool.shutdown(wait=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def _check(name: str, wanted: str, answer: Answer) -> Check:
    return Check(name=name, ok=answer.word == name, basis="seen", wanted=wanted, saw=f"the gate {answer.saw}")


def _conclude(result: CaseResult, answer: Answer, where: str) -> None:
    """The status that the answer decides, and what the gate wrote."""
    result.said, result.complained = answer.said, answer.complained
    if answer.word == "error":
        result.status, result.error_kind, result.note = "error", answer.error, f"{where}the gate {answer.saw}"
    elif not all(check.ok for check in result.checks):
        result.status = "fail"
