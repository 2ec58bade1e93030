"""Case, ledger and answer become checks: what was wanted, what was seen, and who says so.

`seen` comes from the ledger, `claimed` only from the runner's answer. Where the two disagree about a
tool that started, that is a check of its own, in every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from .cases import Case, TextMatch, given
from .dialects import Dialect
from .layout import World
from .ledger import Ledger
from .matching import dig, faults_of_stdin, missing, same, show, text_fits, text_of, wanted_stdin, wanted_text
from .protocol import CallAnswer, RunAnswer, Scope
from .results import Check

FILE_TIME = 0.01
"""How far file times may be off, in seconds (they move in steps of 4 ms)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is known after one request.

    `alive` are the handlers whose process tree lived on after the kill grace (None: not sampled);
    `answered_at` is in seconds since the epoch; `scale` (1 or more) widens upper bounds on slow machines.
    """

    case: Case
    world: World
    ledger: Ledger
    answer: RunAnswer
    answered_at: float
    alive: list[str] | None
    scale: float
    scope: Scope
    dialect: Dialect


def judge(evidence: Evidence) -> list[Check]:
    """All checks of a case, in the order in which a person would ask them."""
    checks: list[Check] = []
    for group in (_starts, _overlaps, _lonely, _tools, _calls, _texts, _stdin, _surroundings, _times, _steps, _claims):
        checks.extend(group(evidence))
    return checks


# ---- seen: the ledger ----------------------------------------------------------------------------


def _seen(name: str, ok: bool, wanted: str, saw: str) -> Check:
    return Check(name=name, ok=ok, basis="seen", wanted=wanted, saw=saw)


def _names(names: list[str]) -> str:
    return ", ".join(names) if names else "none"


def _starts(e: Evidence) -> Iterator[Check]:
    expect, started = e.case.expect, e.ledger.started()
    if expect.started is not None:
        yield _seen("started", started == expect.started, f"{_names(expect.started)} start, in this order", _names(started))
    if expect.started_any_order is not None:
        ok = sorted(started) == sorted(expect.started_any_order)
        yield _seen("started_any_order", ok, f"{_names(expect.started_any_order)} start, once each", _names(started))
    if expect.not_started is not None:
        ok = not set(started) & set(expect.not_started)
        yield _seen("not_started", ok, f"{_names(expect.not_started)} not started", f"started: {_names(started)}")
    for probe, times in (expect.starts or {}).items():
        saw = e.ledger.starts(probe)
        yield _seen(f"starts {probe}", saw == times, f"{probe} starts {_times_word(times)}", _times_word(saw))


def _overlaps(e: Evidence) -> Iterator[Check]:
    for one, other in combinations(e.case.expect.overlap or [], 2):
        yield _seen(
            f"overlap {one} {other}",
            e.ledger.overlap(one, other),
            f"{one} and {other} run at the same time",
            _story(e, one, other),
        )
    for one, other in pairwise(e.case.expect.no_overlap or []):
        first, then = e.ledger.position("start", one), e.ledger.position("start", other)
        ok = first is not None and then is not None and first < then and not e.ledger.overlap(one, other)
        yield _seen(f"no_overlap {one} {other}", ok, f"{one} has ended before {other} starts", _story(e, one, other))


def _lonely(e: Evidence) -> Iterator[Check]:
    # a rendezvous that did not come about is evidence only where the case asks for overlap: that check says it
    if e.case.expect.overlap is None and (alone := e.ledger.lonely()):
        yield _seen("rendezvous", False, "the handlers that wait for each other meet", f"{_names(alone)} waited in vain")


def _story(e: Evidence, *probes: str) -> str:
    return "; ".join(str(fact) for fact in e.ledger.facts if fact.probe in probes) or "neither started"


def _times_word(times: int) -> str:
    return {0: "never", 1: "once"}.get(times, f"{times} times")


def _tools(e: Evidence) -> Iterator[Check]:
    if e.scope == "chain":
        return
    expect = e.case.expect
    runs = {"t1": expect.tool_runs} if isinstance(expect.tool_runs, int) else (expect.tool_runs or {})
    for tool, times in runs.items():
        saw = e.ledger.starts(tool)
        yield _seen(f"tool_runs {tool}", saw == times, f"the tool runs {_times_word(times)}", _times_word(saw))
    inputs = dict(expect.tool_inputs or {})
    if given(expect.tool_input):
        inputs["t1"] = expect.tool_input
    for tool, wanted in inputs.items():
        value, trouble = _read(e.ledger, tool)
        yield _seen(
            f"tool_input {tool}",
            trouble is None and same(value, wanted),
            f"the tool reads {show(wanted)}",
            trouble or show(value),
        )


def _read(ledger: Ledger, probe: str, run: int = 1) -> tuple[Any, str | None]:
    try:
        return ledger.stdin_json(probe, run), None
    except KeyError:
        return None, "it never read anything"
    except UnicodeDecodeError:
        raw = ledger.stdin(probe, run) or b""
        return None, f"what it read is no UTF-8: {show(raw.decode('utf-8', 'replace'))!r}"
    except ValueError as error:
        return None, f"what it read {error}"


def _stdin(e: Evidence) -> Iterator[Check]:
    for probe, match in (e.case.expect.stdin or {}).items():
        value, trouble = _read(e.ledger, probe, match.run)
        placed = match if match.subset is None else replace(match, subset=_in_world(match.subset, e.world))
        faults = [trouble] if trouble else faults_of_stdin(placed, value)
        if match.one_line and not _is_one_line(e.ledger.stdin(probe, match.run) or b""):
            faults.append("it is not one line with its end")
        yield _seen(
            f"stdin {probe}", not faults, f"{probe} reads an object {wanted_stdin(match)}", "; ".join(faults) or "so it was"
        )
    for probe, wanted in (e.case.expect.envelope or {}).items():
        value, trouble = _read(e.ledger, probe)
        faults = [trouble] if trouble else [gap for key, v in wanted.items() for gap in _gaps(e, key, v, value)]
        yield _seen(f"envelope {probe}", not faults, f"{probe} reads {show(wanted)}", "; ".join(faults) or "so it was")


def _in_world(wanted: Any, world: World) -> Any:
    """`{project}` and `{home}` in the texts of an expected object are the folders of this world."""
    if isinstance(wanted, dict):
        return {key: _in_world(value, world) for key, value in wanted.items()}
    if isinstance(wanted, list):
        return [_in_world(value, world) for value in wanted]
    if isinstance(wanted, str):
        return wanted.replace("{project}", str(world.project)).replace("{home}", str(world.home))
    return wanted


def _is_one_line(data: bytes) -> bool:
    return data.endswith(b"\n") and data.count(b"\n") == 1


def _gaps(e: Evidence, key: str, wanted: Any, envelope: Any) -> list[str]:
    path = e.dialect.envelope[key]
    found, value = dig(envelope, path)
    if key == "tool":
        wanted = e.dialect.tools.get(wanted, wanted)
    elif key == "cwd":
        wanted = wanted.replace("{project}", str(e.world.project))
    return missing(wanted, value, path) if found else [f"{path} is absent"]


def _surroundings(e: Evidence) -> Iterator[Check]:
    expect = e.case.expect
    for probe, variables in (expect.env or {}).items():
        env = e.ledger.env(probe)
        for name, match in variables.items():
            value = None if env is None else env.get(name)
            yield _seen(
                f"env {probe} {name}",
                env is not None and text_fits(_placed(match, e.world), value),
                f"{name} is set for {probe}, {wanted_text(_placed(match, e.world))}",
                "it never started" if env is None else "not set" if value is None else show(value),
            )
    for probe, place in (expect.cwd or {}).items():
        first, _, rest = place.partition("/")
        wanted = str(getattr(e.world, first) / rest if rest else getattr(e.world, first))
        saw = e.ledger.cwd(probe)
        yield _seen(f"cwd {probe}", saw == wanted, f"{probe} starts in {wanted}", saw or "it never started")
    for probe, words in (expect.args or {}).items():
        got, wanted_words = e.ledger.args(probe), _in_world(words, e.world)
        yield _seen(f"args {probe}", got == wanted_words, f"{probe} gets the arguments {show(wanted_words)}", show(got))


def _placed(match: TextMatch, world: World) -> TextMatch:
    """`{project}` and `{home}` in an expected text are the folders of this world."""
    if match.equals is None or "{" not in match.equals:
        return match
    return TextMatch(equals=_in_world(match.equals, world))


def _times(e: Evidence) -> Iterator[Check]:
    expect = e.case.expect
    if expect.within is not None or expect.not_before is not None:
        begin = min((t for h in e.world.handlers if (t := e.ledger.started_at(h)) is not None), default=None)
        end = e.ledger.started_at("t1") or e.answered_at
        until = "the tool starts" if e.ledger.starts("t1") else "the answer comes"
        took = None if begin is None else end - begin
        saw = "no handler started" if took is None else f"{took:.2f} s"
        if expect.within is not None:
            limit = expect.within * e.scale
            yield _seen(
                "within", took is not None and took <= limit, f"{until} at most {limit:.1f} s after the first handler", saw
            )
        if expect.not_before is not None:
            ok = took is not None and took >= expect.not_before - FILE_TIME
            yield _seen("not_before", ok, f"{until} at least {expect.not_before:.1f} s after the first handler", saw)
    if expect.alive_after is not None and e.alive is not None:
        ok = sorted(e.alive) == sorted(expect.alive_after)
        yield _seen("alive_after", ok, f"still alive afterwards: {_names(expect.alive_after)}", _names(e.alive))


# ---- claimed: the answer -------------------------------------------------------------------------


def _claimed(name: str, ok: bool, wanted: str, saw: str) -> Check:
    return Check(name=name, ok=ok, basis="claimed", wanted=wanted, saw=saw)


def calls_of(answer: RunAnswer) -> dict[str, CallAnswer]:
    """The answered calls by id; a call of a skipped step is absent."""
    return {call.id: call for step in answer.steps if step.calls is not UNSET for call in step.calls}


def _calls(e: Evidence) -> Iterator[Check]:
    calls = calls_of(e.answer)
    yield from _per_call(e.case.expect.hook, "hook", "the merged verdict is", calls, lambda call: call.hook)
    if e.scope == "loop":
        yield from _per_call(e.case.expect.outcome, "outcome", "the call ends as", calls, lambda call: call.outcome)


def _per_call(
    wanted: Any, name: str, words: str, calls: dict[str, CallAnswer], pick: Callable[[CallAnswer], str]
) -> Iterator[Check]:
    if wanted is None:
        return
    for tool, word in (wanted if isinstance(wanted, dict) else {"t1": wanted}).items():
        allowed = word if isinstance(word, list) else [word]
        saw = pick(calls[tool]) if tool in calls else "not taken"
        yield _claimed(f"{name} {tool}", saw in allowed, f"{words} {' or '.join(allowed)}", saw)


def _texts(e: Evidence) -> Iterator[Check]:
    expect, calls = e.case.expect, calls_of(e.answer)
    first = calls.get("t1")
    texts: list[tuple[str, str, TextMatch | None, Any]] = [
        ("reason", "the reason is a text", expect.reason, first.reason if first else _first_prompt_reason(e.answer)),
        ("feedback", "the post-hooks' feedback is a text", expect.feedback, first.feedback if first else None),
        ("to_model", "the model is told a text", expect.to_model, e.answer.to_model),
        ("to_user", "the user is told a text", expect.to_user, e.answer.to_user),
        ("to_terminal", "the terminal gets a text", expect.to_terminal, e.answer.to_terminal),
    ]
    if e.scope == "loop":
        texts.append(("result", "the model receives a result", expect.result, first.result if first else None))
    for name, words, match, value in texts:
        if match is not None:
            text = text_of(value)
            yield _claimed(
                name, text_fits(match, text), f"{words} {wanted_text(match)}", "no text" if text is None else show(text)
            )


def _first_prompt_reason(answer: RunAnswer) -> str | None:
    return next((step.prompt.reason for step in answer.steps if step.prompt is not UNSET), None)


def _steps(e: Evidence) -> Iterator[Check]:
    expect = e.case.expect
    if expect.prompt is not None:
        prompt = next((step.prompt for step in e.answer.steps if step.prompt is not UNSET), None)
        submitted = None if prompt is None else prompt.submitted
        words = {True: "submitted", False: "blocked", None: "not taken"}
        ok = submitted is expect.prompt.submitted
        yield _claimed("prompt", ok, f"the prompt is {words[expect.prompt.submitted]}", words[submitted])
        if expect.prompt.reason is not None:
            reason = None if prompt is None else prompt.reason
            ok = text_fits(expect.prompt.reason, reason)
            yield _claimed("prompt reason", ok, f"its reason is a text {wanted_text(expect.prompt.reason)}", show(reason))
    events = [step.event for step in e.answer.steps if step.event is not UNSET]
    if expect.raised is not None:
        raised = next((event.raised for event in events if event.raised), None)
        yield _claimed("raised", text_fits(expect.raised, raised), f"an exception {wanted_text(expect.raised)}", show(raised))
    if expect.context is not None:
        context = events[-1].context if events else None
        yield _claimed("context", same(context, expect.context), f"the context is {show(expect.context)}", show(context))
    if expect.end is not None and e.scope == "loop":
        end = next((step.end for step in reversed(e.answer.steps) if step.end is not UNSET), None)
        if expect.end.cause is not None:
            saw = "no end" if end is None else end.cause
            yield _claimed("end cause", saw == expect.end.cause, f"the run ends with {expect.end.cause}", saw)
        if expect.end.stop_count is not None:
            count = 0 if end is None else end.stop_count
            yield _claimed(
                "end stop_count", count == expect.end.stop_count, f"Stop fires {expect.end.stop_count} times", str(count)
            )
    if expect.settings is not None:
        report = e.answer.settings[0] if e.answer.settings else None
        saw = "no report" if report is None else report.status
        yield _claimed("settings", saw in expect.settings.status, f"the settings are {' or '.join(expect.settings.status)}", saw)
        if expect.settings.dropped is not None:
            dropped = None if report is None else text_of([*report.dropped, *([report.message] if report.message else [])])
            ok = text_fits(expect.settings.dropped, dropped)
            yield _claimed("settings dropped", ok, f"it reports a text {wanted_text(expect.settings.dropped)}", show(dropped))


def _claims(e: Evidence) -> Iterator[Check]:
    """The runner's word about each tool call, held against the tool's own entries."""
    if e.scope == "chain":
        return
    for tool, call in calls_of(e.answer).items():
        runs = e.ledger.starts(tool)
        if call.started != (runs > 0):
            word = "started" if call.started else "not started"
            yield _seen(f"claim {tool}", False, f"the answer says that the tool was {word}", f"the ledger: {_times_word(runs)}")
