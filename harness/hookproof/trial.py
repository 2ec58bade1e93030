"""One case against one subject: lay out the world, ask, read the ledger, judge, record."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import applicability, judge, ledger, protocol, wreck
from .cases import Case
from .catalog import Entry
from .dialects import Dialect
from .errors import DialectError, HarnessError, HookproofError, SubjectError, TimedOut, Wrecked
from .layout import World, clear_away, lay_out
from .liveness import Liveness
from .probe import ProbeKit, has_room
from .protocol import HelloAnswer, RunAnswer
from .results import BAD, CaseResult, Check, Given, Moment, Status
from .selection import Job
from .subject import Reply, Subject

KEPT_CHARS = 20_000
"""How much of a settings file or a request is kept with a result that is not well."""
ANSWER_LIMIT = 10.0
"""Seconds that a runner has for an answer beyond what the case's own probes sleep."""
LIBRARY_LIMIT = 10.0
"""Seconds more where a handler is no command: a runner may load a client's library when it meets the first."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all trials of a run share: the probes, where worlds lie, how slow the machine is, who is asked."""

    kit: ProbeKit
    folder: Path
    hello: HelloAnswer
    scale: float
    rerun: str
    """The command that runs the same subject again, to be followed by `--case ID`."""


Witness = Callable[[World, ledger.Ledger, RunAnswer, CaseResult], None]
"""Looks at a trial once it is judged, while its world still stands."""


def run(
    entry: Entry, dialect: Dialect, version: str, asked: str, subject: Subject, bench: Bench, witness: Witness | None = None
) -> CaseResult:
    """Ask one case of one subject. Never raises for what the subject does."""
    result = blank(entry, asked, bench.rerun)
    began = time.perf_counter()
    try:
        subject.fairly(lambda: _ask(entry, dialect, version, asked, subject, bench, result, witness))
    except SubjectError as error:
        charge(result, error)
    except (HarnessError, DialectError, OSError) as error:
        if wrecked := wreck.left_over(bench.kit):
            charge(result, wrecked)
            return result
        result.status = "harness-error"
        result.note = error.message if isinstance(error, HookproofError) else f"{type(error).__name__}: {error}"
        result.hint = (error.hint or "") if isinstance(error, HookproofError) else ""
    result.seconds = round(time.perf_counter() - began, 4)
    return result


def charge(result: CaseResult, error: SubjectError, before: str = "") -> None:
    """Make it the result of a runner that could not be judged; `before` goes ahead of the reason."""
    result.status, result.error_kind, result.checks = "error", type(error).__name__, []
    result.note, result.hint = before + error.message, error.hint or ""
    result.said, result.complained = error.said, error.complained


def blank(entry: Entry, asked: str, rerun: str) -> CaseResult:
    """A result that says nothing yet."""
    case = entry.case
    source = entry.rule.source
    return CaseResult(
        id=case.id,
        dialect=asked,
        family=entry.family,
        rule=case.rule,
        level=entry.rule.level,
        sentence=entry.rule.text,
        source=f"{source.document}, {source.section}",
        status="not-tested",
        rerun=f"{rerun} --case {case.id}{' --slow' if case.slow else ''}",
        slow=case.slow,
    )


def _ask(
    entry: Entry,
    dialect: Dialect,
    version: str,
    asked: str,
    subject: Subject,
    bench: Bench,
    result: CaseResult,
    witness: Witness | None,
) -> None:
    case = entry.case
    world = lay_out(case, dialect, version, asked, bench.kit, bench.folder)
    try:
        with wreck.watching(world, bench.kit), Liveness(world.probes) as liveness:
            try:
                reply = subject.ask(world.request, limit(case, bench.scale))
            except SubjectError as error:
                with suppress(OSError):
                    result.timeline = _timeline(ledger.read(world.probes))
                if isinstance(error, TimedOut) and case.naps() >= ANSWER_LIMIT:
                    raise TimedOut(error.message, "the case's own probes sleep; does the runner cut them?") from None
                raise
            alive = None
            if case.expect.alive_after is not None:
                alive = liveness.alive(world.handlers, dialect.kill_grace * bench.scale)
            if trouble := liveness.complaints():
                raise HarnessError(
                    f"a probe of {case.id} could not write its ledger: {trouble[0]}", f"see the space of {bench.folder}"
                )
            seen = _record(entry, dialect, world, reply, alive, bench, result)
            if witness is not None:
                witness(world, seen, reply.answer, result)
        if result.status in (*BAD, "warn"):
            result.given = _given(world)
    except (SubjectError, HarnessError):
        result.given = _given(world)
        raise
    finally:
        try:
            subject.settle()
        finally:
            clear_away(world, bench.kit)


def _given(world: World) -> list[Given]:
    """What the runner was given, as far as it still stands."""
    given = []
    for settings in world.request.settings:
        with suppress(OSError):
            text = Path(settings.path).read_bytes().decode("utf-8", "replace")
            given.append(Given(f"{settings.scope} settings {settings.path}", text))
    given.append(Given("request", protocol.encode(world.request).decode("ascii")))
    for each in given:
        # what is chance in them tells nobody anything
        for name, word in ((str(world.root), "WORLD"), (world.request.id, "ID")):
            each.what, each.text = each.what.replace(name, word), each.text.replace(name, word)
        each.text = _cut(each.text.strip())
    return given


def _cut(text: str) -> str:
    return text if len(text) <= KEPT_CHARS else f"{text[:KEPT_CHARS]}... ({len(text)} characters)"


def _record(
    entry: Entry, dialect: Dialect, world: World, reply: Reply, alive: list[str] | None, bench: Bench, result: CaseResult
) -> ledger.Ledger:
    seen = ledger.read(world.probes)
    result.timeline, result.complained = _timeline(seen), reply.complained
    answer = reply.answer
    if answer.unsupported is not None:
        result.status = "fail"
        result.note = f'the runner declared what this case needs and now answers "unsupported": {answer.unsupported}'
        return seen
    if answer.error is not None:
        result.status, result.error_kind = "error", "AdapterError"
        result.note = f"the adapter itself failed: {answer.error}"
        return seen
    if words := wreck.altered(seen, bench.kit):
        raise Wrecked(words, wreck.HINT)
    if unborn := seen.unborn():
        raise HarnessError(f"{unborn[0]} was started and could not note it", f"see the space of {bench.folder}")
    if seen.torn:
        raise HarnessError(f"the journal of {entry.case.id} holds a torn line: {seen.torn[0]!r}")
    result.checks = judge.judge(
        judge.Evidence(
            case=entry.case,
            world=world,
            ledger=seen,
            answer=answer,
            answered_at=reply.answered_at,
            alive=alive,
            scale=bench.scale,
            scope=bench.hello.scope,
            dialect=dialect,
        )
    )
    result.status = _status(result.checks, entry)
    if result.status in ("fail", "warn") and not has_room(bench.folder):
        # what a probe could not write down looks as if it had not happened: no verdict (D2)
        raise HarnessError(
            f"there is no room left in {bench.folder}: the probes could not note what they did", "make room, or set TMPDIR"
        )
    if not result.checks:
        result.note = "nothing of this case can be judged for a runner of scope chain"
    return seen


def _status(checks: list[Check], entry: Entry) -> Status:
    if not checks:
        return "not-applicable"
    if all(check.ok for check in checks):
        return "pass"
    return "fail" if entry.rule.level == "must" else "warn"


def limit(case: Case, scale: float) -> float:
    """Seconds that a runner has for a case: its probes may sleep one after the other."""
    handlers = sum(h.sleep + h.start_delay for h in case.handlers)
    tools = sum(call.program.sleep for call in case.tool_calls())
    children = sum(h.spawn_child.sleep for h in case.handlers if h.spawn_child)
    library = LIBRARY_LIMIT if any(h.kind != "command" for h in case.handlers) else 0.0
    return (ANSWER_LIMIT + library + handlers + tools + children) * scale


def _timeline(seen: ledger.Ledger) -> list[Moment]:
    return [Moment(what=str(timed.fact), at=timed.at) for timed in seen.timeline()]


def not_asked(job: Job, hello: HelloAnswer, dialect: Dialect, slow: bool, rerun: str) -> CaseResult | None:
    """The result of a case that is not asked at all, with the reason; None when it is to be asked."""
    case = job.entry.case
    # a case of a dialect's own that the dialect cannot say is the suite's mistake: it is asked, and says so
    reason = applicability.unsayable(case, dialect, job.version) if job.entry.dialect == "core" else None
    reason = reason or job.no_posture or applicability.why_not(case, dialect, hello)
    result = blank(job.entry, job.asked, rerun)
    if reason:
        result.status, result.note = "not-applicable", reason
        return result
    if case.slow and not slow:
        result.status, result.note = "not-tested", f"sleeps {case.naps():.0f} s: runs with --slow"
        return result
    return None
