"""Which cases are asked of a runner: what a case needs, against what its dialect can say and what it declared."""

from __future__ import annotations

from .cases import Case, CaseStep, Handler, Say, given
from .dialects import Dialect, Placed
from .errors import DialectError
from .modelserver import KINDS as ASK_A_MODEL
from .modelserver import says as model_says
from .protocol import HelloAnswer

CHAIN = "the runner declares scope chain: enforcement is its host's, not its own"
NOT_DECLARED = "not declared: "
UNSAYABLE = "the dialect has no words for it: "


def needs(case: Case, dialect: Dialect) -> list[str]:
    """The features without which a case cannot be asked: those it names, and those its form implies."""
    wanted = set(case.needs)
    for handler in case.handlers:
        wanted |= _of_handler(handler, dialect)
    for step in case.stimuli():
        if step.prompt is not None:
            wanted.add("prompt-events")
        if step.fire is not None:
            wanted.add(dialect.event_features.get(step.fire.event, "lifecycle-events"))
        if step.resume is not None:
            wanted.add("resume")
        if step.calls is not None and len(step.calls) > 1:
            wanted.add("batch")
    if case.permission.approver is not None:
        wanted.add("approver")
    if case.session is not None and case.session.agent is not None:
        wanted.add("subagent")
    if case.expect.settings is not None:
        wanted.add("settings-report")
    if case.session is not None and not case.session.trusted:
        wanted.add("trust")
    if case.expect.to_terminal is not None:
        wanted.add("terminal")
    if case.plugins:
        wanted.add("plugins")
    if any(setting.scope == "managed" for setting in case.settings or []):
        wanted.add("managed-scope")
    return sorted(wanted)


def why_not(case: Case, dialect: Dialect, hello: HelloAnswer) -> str | None:
    """Why a case is not applicable to a runner, in words; None when it is."""
    if case.scope == "loop" and hello.scope == "chain":
        return CHAIN
    missing = [name for name in needs(case, dialect) if name not in hello.features]
    if missing:
        return f"{NOT_DECLARED}{', '.join(missing)}"
    return None


def unsayable(case: Case, dialect: Dialect, version: str) -> str | None:
    """What of a case a dialect has no words for; None when all of it can be written down.

    A core case is not applicable where that is so; in a dialect's own case it is a mistake of its author.
    """
    first = event_of(case.stimuli()[0], dialect)
    placed = [Placed(h, f"h{number}", h.event or first, "/h") for number, h in enumerate(case.handlers, 1)]
    try:
        for each in placed:
            for say in says(each.handler):
                if each.handler.kind in ASK_A_MODEL:
                    model_says(say, each.handler.kind)
                else:
                    dialect.answer(say, each.event, version)
        if case.settings is None:
            dialect.settings(placed, version)
    except DialectError as error:
        return f"{UNSAYABLE}{error.message}"
    if case.disabled and dialect.off is None:
        return f"{UNSAYABLE}{dialect.name} has no switch for all handlers"
    wanted = {key for keys in (case.expect.envelope or {}).values() for key in keys}
    if absent := sorted(wanted - dialect.envelope.keys()):
        return f"{UNSAYABLE}{dialect.name} gives handlers no {', '.join(absent)}"
    return None


def left_out(note: str) -> list[str]:
    """What a certificate must name as not covered, for a note with which a case was not applicable.

    What the posture decides, and what the dialect has no words for, is no gap of the runner.
    """
    if note.startswith(NOT_DECLARED):
        return note.removeprefix(NOT_DECLARED).split(", ")
    return ["enforcement (scope chain)"] if note == CHAIN else []


def event_of(step: CaseStep, dialect: Dialect) -> str:
    """The event that a stimulus fires first: where a handler without an event of its own is configured."""
    if step.fire is not None:
        return step.fire.event
    if step.prompt is not None:
        return dialect.event_of_prompt
    if step.text is not None:
        return dialect.event_of_stop
    return dialect.event_of_call


def _of_handler(handler: Handler, dialect: Dialect) -> set[str]:
    wanted: set[str] = set()
    if handler.kind != "command":
        wanted.add(handler.kind)
    if handler.event is not None and handler.event in dialect.event_features:
        wanted.add(dialect.event_features[handler.event])
    if handler.matcher is not None:
        wanted.add("matcher")
    if given(handler.timeout):
        wanted.add("timeout")
    for say in says(handler):
        if given(say.input):
            wanted.add("rewrite")
        if given(say.output):
            wanted.add("result-rewrite")
        if say.context is not None:
            wanted.add("context")
        if say.verdict in ("ask", "defer"):
            wanted.add(say.verdict)
    return wanted


def says(handler: Handler) -> list[Say]:
    """The answers of a handler, one per run."""
    if handler.say is None:
        return []
    return handler.say if isinstance(handler.say, list) else [handler.say]
