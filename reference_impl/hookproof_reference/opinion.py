"""What one handler did is read, merged and enforced as a dialect does, and nothing is started.

For those who run handlers themselves and only ask what an exit code and an output mean, why, and where
that is known from:

    > {"op": "read", "id": "1", "dialect": "claude-code/2.1.332", "event": "PreToolUse",
       "ran": {"exit": 1, "signal": null, "timed_out": false, "cannot_start": null, "stdout": "", "stderr": "no"}}
    < {"id": "1", "verdict": "none", "blocks": false, "reason": "", "rewrite": null, "context": [],
       "failed": "exit code 1: no", "notes": [],
       "why": "exit code 1: no: an error that holds nothing up", "source": "observed at 2.1.332"}
    > {"op": "events", "id": "2", "dialect": "claude-code/2.1.332"}
    < {"id": "2", "events": ["PreToolUse", ...]}
    > {"op": "dialects", "id": "3"}
    < {"id": "3", "dialects": [{"name": "lecode/1.0", "runs": true, "scripts": true}, ...]}

Dialects that cannot be run can be read as well: dialects/read_only.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import dialects, merging, permissions, reading
from .execution import Ran
from .settings import Configured

if TYPE_CHECKING:
    from .dialects.base import Dialect
    from .dialects.read_only import ReadOnly

Json = dict[str, Any]

PLAIN_IS_CONTEXT = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart"})
"""The events at which stdout that is no JSON is for the model, where a dialect knows such output at all."""


def answer_read(request: Json) -> Json:
    """What a handler's end and output come to, if it is the only handler."""
    try:
        name, event = str(request.get("dialect")), str(request.get("event"))
        reader = dialects.reader(name)
        dialect = reader or dialects.load(name)
        if event not in dialect.events:
            return {"id": request["id"], "error": f'{name} has no event "{event}"'}
        ran = _ran(event, request.get("ran") or {})
        found = _by_pipeline(ran, event, dialects.load(name), name) if reader is None else _by_table(ran, event, reader)
        return {"id": request["id"], **found}
    except Exception as error:  # a lasting process must outlive its own faults, and say them
        return {"id": request["id"], "error": f"{type(error).__name__}: {error}"}


def answer_events(request: Json) -> Json:
    """The names of a dialect's events."""
    try:
        name = str(request.get("dialect"))
        return {"id": request["id"], "events": list((dialects.reader(name) or dialects.load(name)).events)}
    except dialects.UnknownDialect as error:
        return {"id": request["id"], "error": str(error)}


def answer_dialects(request: Json) -> Json:
    """All dialects in which an answer can be read."""
    return {"id": request["id"], "dialects": dialects.readable()}


OPS = {"read": answer_read, "events": answer_events, "dialects": answer_dialects}
"""Operation -> what answers it."""


def _by_pipeline(ran: Ran, event: str, dialect: Dialect, name: str) -> Json:
    answer = reading.read(ran, event, dialect)
    merged = merging.merge([answer], dialect)
    # a host that allows all, and nobody to ask: what does not run then is held by the handler
    held = event in dialect.enforced and permissions.decide("allow", None, merged, dialect).outcome != "ran"
    why, source = _why(ran, event, answer, dialect, held)
    return {
        "verdict": merged.verdict or "none",
        "blocks": held,
        "reason": merged.reason,
        "rewrite": merged.rewrite if event in dialect.rewrite_events else None,
        "context": _context(answer, event),
        "failed": answer.failed,
        "notes": _notes(answer),
        "why": why,
        "source": source.format(version=name.partition("/")[2] or dialects.KNOWN[dialect.name][-1]),
    }


def _by_table(ran: Ran, event: str, reader: ReadOnly) -> Json:
    found = reader.opinion(ran, event)
    return {
        "verdict": found.verdict or "none",
        "blocks": found.blocks,
        "reason": found.reason,
        "rewrite": found.rewrite,
        "context": list(found.context),
        "failed": found.failed,
        "notes": list(found.notes),
        "why": found.why,
        "source": found.source,
    }


def _ran(event: str, said: Json) -> Ran:
    timeout = said.get("timeout")
    return Ran(
        Configured(event, str(said.get("command", "hook")), 0.0 if timeout is None else float(timeout)),
        exit=said.get("exit"),
        signal=said.get("signal"),
        timed_out=bool(said.get("timed_out")),
        cannot_start=said.get("cannot_start") or None,
        stdout=str(said.get("stdout", "")),
        stderr=str(said.get("stderr", "")),
    )


def _context(answer: reading.Answer, event: str) -> list[str]:
    given = [getattr(answer, "context", "")]
    if event in PLAIN_IS_CONTEXT:
        given.append(getattr(answer, "plain", ""))
    return [text for text in given if text]


def _notes(answer: reading.Answer) -> list[str]:
    notes = []
    if getattr(answer, "stops", False):
        notes.append("ends the run")
    if getattr(answer, "message", ""):
        notes.append("speaks to the user")
    return notes


SOURCES: dict[str, dict[str, str]] = {
    "lecode": {
        "events": "hooks.md, Events",
        "failure": "hooks.md, Failure semantics",
        "verdict": "hooks.md, The verdict protocol",
    },
    "claude-code": dict.fromkeys(("events", "failure", "verdict"), "observed at {version}"),
    "teaagent": dict.fromkeys(("events", "failure", "verdict"), "spec.md; the form of the program is the reference's own"),
}
"""Dialect -> where its rules are known from, by what they are about."""


def _why(ran: Ran, event: str, answer: reading.Answer, dialect: Dialect, held: bool) -> tuple[str, str]:
    """Why it comes to that, in words, and where that is known from."""
    source = SOURCES[dialect.name]
    if event not in dialect.enforced:
        return f"{event} only tells: no answer holds anything up there", source["events"]
    if answer.failed is not None:
        what = "a broken handler denies" if held else "an error that holds nothing up"
        return f"{answer.failed.splitlines()[0] if answer.failed else 'it failed'}: {what}", source["failure"]
    functions = dialect.name in dialects.NOT_SCRIPTS
    if answer.verdict is not None and ran.exit == 2 and (functions or not ran.stdout.strip()):
        return "exit code 2 blocks, with stderr as the reason", source["verdict"]
    if answer.verdict is not None and getattr(answer, "by_exit", False):
        return "exit code 2 blocks, whatever the JSON says", source["verdict"]
    if functions and answer.rewrite is not None:
        return "what it printed takes the place of the arguments", source["verdict"]
    if answer.verdict is not None:
        return f"its JSON says {answer.verdict}" + ("" if held else ", and the call runs"), source["verdict"]
    if not ran.stdout.strip():
        return "nothing said: nothing is held up", source["verdict"]
    if getattr(answer, "plain", ""):
        told = "is for the model, and" if event in PLAIN_IS_CONTEXT else "as a whole"
        return f"stdout that is no JSON object {told} decides nothing", source["verdict"]
    return "its JSON decides nothing", source["verdict"]
