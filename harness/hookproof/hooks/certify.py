"""One script is put to the proof: started, fired at, its kind told, all checks made, a report written."""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .. import __version__, results
from ..errors import HookproofError, UsageError
from ..results import CaseResult, Footer, Header, Status
from . import check, evasions, kind
from .bench import Bench
from .check import Check, Finding, NotApplicable, NotTested, Probe
from .kind import Kind
from .meaning import Reader
from .portability import matrix as portability
from .portability import words as elsewhere
from .portability.matrix import Matrix
from .script import Script
from .search import Shot, search
from .stimuli import Stimulus

SIDE_BY_SIDE = 10
"""Checks that run at once; what they start is bounded by the bench."""

EVEN_HANGING = frozenset({"wiring", "time", "conduct"})
"""The families that have something to say of a script that never ends."""

LEVEL: dict[check.Severity, Status] = {"must": "fail", "should": "warn", "may": "warn"}
STRICT = frozenset({"fail-safe"})
"""The families in which, strictly, what should be must be: there the guard lets through what it would refuse."""


@dataclass(slots=True)
class HookReport:
    """What came out for one script."""

    script: Script
    kind: Kind
    cases: list[CaseResult] = field(default_factory=list)
    refused: Shot | None = None
    passed: Shot | None = None
    tried: Shot | None = None
    evasions: list[str] = field(default_factory=list)
    """Lines for people: the ways round it, ranked."""
    matrix: Matrix | None = None
    """What its answers come to in other agents."""
    starts: int = 0
    seconds: float = 0.0

    @property
    def first_line(self) -> str:
        """What it is; and of a guard that refused nothing, that first."""
        what = f"{self.script.where}: {_a(self.kind)} script: {kind.MEANING[self.kind]}"
        if self.kind == "guard" and self.refused is None:
            tried = f", though it tried ({self.tried.fired.ended} on {self.tried.stimulus.id})" if self.tried else ""
            return f"this guard refused nothing{tried}: {self.script.where}"
        if self.kind == "guard" and self.passed is None:
            return f"{self.script.where}: a guard that passed nothing"
        return what

    @property
    def bad(self) -> bool:
        """Whether there are findings that count as failures."""
        return any(case.status in results.BAD for case in self.cases)


def certify(
    script: Script,
    bench: Bench,
    reader: Reader,
    *,
    refuse: Sequence[Stimulus] = (),
    accept: Sequence[Stimulus] = (),
    families: Sequence[str] = (),
    ids: Sequence[str] = (),
    extra: Sequence[Check] = (),
    portable: bool = False,
    strict: bool = False,
    tell: Callable[[CaseResult], None] = lambda result: None,
) -> HookReport:
    """Put a script to the proof. `refuse` and `accept` are stimuli that the user gives; `extra` are checks of the
    user's own; `portable` asks for a result for each other agent; `strict` takes for a failure what a guard lets
    through in circumstances that agents seldom bring about; `tell` hears each result.

    Raises UsageError for a dialect that is not known, and for a family or check that there is not.
    """
    began = time.monotonic()
    chosen = selected(families, ids, extra)
    probe = Probe(script, bench, reader)
    if script.file is not None:
        bench.watch(script.file.parent, *_places())
    if probe.event_exists:
        probe.canaries = search(script, probe.shoot_all, refuse, accept)
    probe.kind = kind.infer(script, probe.canaries)
    seen = probe.canaries
    report = HookReport(script, probe.kind, refused=seen.refused, passed=seen.passed, tried=seen.tried)
    for result in _all_results(chosen, probe, strict):
        report.cases.append(result)
        tell(result)
    if (survey := evasions.surveyed(probe)) is not None:
        report.evasions = survey.told()
    report.matrix = portability.matrix(probe, thorough=portable)
    if portable:
        for result in elsewhere.cases(report.matrix, script):
            report.cases.append(result)
            tell(result)
    report.starts = len(probe.shots)
    report.seconds = time.monotonic() - began
    return report


def selected(families: Sequence[str], ids: Sequence[str], extra: Sequence[Check] = ()) -> list[Check]:
    """The checks that are meant. Raises UsageError for a name that none has."""
    every = [*check.load(), *extra]
    for name in families:
        if name not in {one.family for one in every}:
            raise UsageError(f'there is no family "{name}"', f"there are: {', '.join(dict.fromkeys(c.family for c in every))}")
    for name in ids:
        if name not in {one.id for one in every} | {one.name for one in every}:
            import difflib

            close = difflib.get_close_matches(name, [one.name for one in every] + [one.id for one in every], 1, 0.5)
            raise UsageError(f'there is no check "{name}"', f"did you mean {close[0]}?" if close else None)
    return [c for c in every if (not families or c.family in families) and (not ids or c.id in ids or c.name in ids)]


def _all_results(chosen: Sequence[Check], probe: Probe, strict: bool) -> Iterable[CaseResult]:
    """The results in the order of the checks; those that load the machine run last, alone."""
    together = [one for one in chosen if not one.exclusive]
    pool = ThreadPoolExecutor(SIDE_BY_SIDE, "hookproof-check")
    try:
        yield from pool.map(lambda one: judged(one, probe, strict=strict), together)
    finally:
        # whoever is interrupted here goes on to close the bench, which ends what the checks wait for
        pool.shutdown(wait=False, cancel_futures=True)
    for one in chosen:
        if one.exclusive:
            yield judged(one, probe, strict=strict)


def judged(one: Check, probe: Probe, *, strict: bool = False) -> CaseResult:
    """The result of one check."""
    began = time.monotonic()
    status: Status = "pass"
    note, findings = "", []
    try:
        _must_apply(one, probe)
        findings = list(one.look(probe))
        if findings:
            status = results.worst(_status(one, finding, strict) for finding in findings)
    except NotApplicable as why:
        status, note = "not-applicable", str(why)
    except NotTested as why:
        status, note = "not-tested", str(why)
    except HookproofError as error:
        status, note = "harness-error", error.message
    except Exception as error:  # one check that fails must not take the others along
        status, note = "harness-error", f"{type(error).__name__}: {error}"
    script = probe.script
    named = script.origin if script.settings is None else script.origin.rpartition(":")[0]
    ident = one.name if script.settings is None else f"{one.name}@{script.pointer}"
    return CaseResult(
        id=ident,
        dialect=script.dialect,
        family=f"hook-{one.family}",
        rule=one.id,
        level=one.severity,
        sentence=one.title,
        source=script.where,
        status=status,
        checks=[_as_check(one, finding, script) for finding in findings],
        note=note,
        hint=_hint(one, findings, script) if findings else "",
        said=_shown_stdout(findings),
        rerun=f"pytest --hook={shlex.quote(named)}{' --strict' if strict else ''} --case {shlex.quote(ident)}",
        seconds=round(time.monotonic() - began, 4),
    )


def _status(one: Check, finding: Finding, strict: bool) -> Status:
    severity = finding.severity or one.severity
    return "fail" if strict and severity == "should" and one.family in STRICT else LEVEL[severity]


def _must_apply(one: Check, probe: Probe) -> None:
    if not probe.event_exists and one.family != "wiring":
        raise NotTested(f"{probe.script.event} never happens")
    if probe.hangs and one.family not in EVEN_HANGING and one.id != "comes-to-an-end":
        raise NotTested("the script does not come to an end")
    if one.kinds and probe.kind not in one.kinds:
        raise NotApplicable(f"for {' and '.join(sorted(one.kinds))}s only; this is {_a(probe.kind)}")
    if one.events and probe.script.event not in one.events:
        raise NotApplicable(f"not for {probe.script.event}")
    if "settings" in one.needs and probe.wiring is None:
        raise NotApplicable("only for a handler of a settings file")
    if "file" in one.needs and probe.script.file is None:
        raise NotApplicable("the command names no file")
    if "refused" in one.needs:
        probe.refused  # noqa: B018  (raises NotTested)
    if "passed" in one.needs:
        probe.passed  # noqa: B018


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _as_check(one: Check, finding: Finding, script: Script) -> results.Check:
    saw = finding.saw
    if finding.shot is not None:
        saw = f"{saw} [on {finding.shot.stimulus.id}: {finding.shot.shown()}]"
    if finding.note:
        saw = f"{saw}; {finding.note}"
    return results.Check(name=one.id, ok=False, basis="seen", wanted=finding.wanted or one.title, saw=saw)


def _hint(one: Check, findings: Sequence[Finding], script: Script) -> str:
    remedies = dict.fromkeys(finding.remedy or one.remedy for finding in findings)
    return f"{one.consequence.replace('{dialect}', script.dialect)}\nto mend it: {'; '.join(remedies)}"


def _shown_stdout(findings: Sequence[Finding]) -> str:
    shot = next((finding.shot for finding in findings if finding.shot is not None and finding.shot.fired.stdout), None)
    return shot.fired.said[:500] if shot else ""


def _places() -> list[Path]:
    """Where a script may leave things that it should not."""
    home = Path(os.path.expanduser("~"))
    return [path for path in (home, Path("/tmp"), Path("/var/tmp")) if path.is_dir()]


# ---- the event stream ----------------------------------------------------------------------------


def header(scripts: Sequence[Script], cases: int) -> Header:
    """The first line of the stream."""
    text = "\n".join(f"{one.name} {one.title}" for one in check.load())
    return Header(
        hookproof=__version__,
        suite=hashlib.sha256(text.encode()).hexdigest(),
        cases=cases,
        subject=[script.where for script in scripts],
        dialects=list(dict.fromkeys(script.dialect for script in scripts)),
        certifies=False,
        why_not="hook scripts are proved or not; certificates are for runners",
    )


def footer(reports: Sequence[HookReport]) -> Footer:
    """The last line of the stream."""
    cases = [case for report in reports for case in report.cases]
    counts = results.count(cases)
    bad = sum(counts.get(word, 0) for word in results.BAD)
    warned = counts.get("warn", 0)
    passed = counts.get("pass", 0)
    idle = [report for report in reports if report.kind == "guard" and report.refused is None]
    verdict = f"{bad} of {bad + warned + passed} checks failed" if bad else f"proved: {passed} checks passed"
    if warned:
        verdict += f", {warned} warned"
    if idle:
        verdict = (
            f"this guard refused nothing; {verdict}" if len(reports) == 1 else f"{len(idle)} guards refused nothing; {verdict}"
        )
    return Footer(counts=counts, verdict=verdict, seen=len(cases), seconds=round(sum(report.seconds for report in reports), 3))
