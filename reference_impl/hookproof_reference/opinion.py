"""What one handler did is read, merged and enforced as a dialect does, and nothing is started.

For those who run handlers themselves and only ask what an exit code and an output mean:

    > {"op": "read", "id": "1", "dialect": "claude-code/2.1.332", "event": "PreToolUse",
       "ran": {"exit": 1, "signal": null, "timed_out": false, "cannot_start": null, "stdout": "", "stderr": "no"}}
    < {"id": "1", "verdict": "none", "blocks": false, "reason": "", "rewrite": null, "context": [],
       "failed": "exit code 1: no", "notes": []}
    > {"op": "events", "id": "2", "dialect": "claude-code/2.1.332"}
    < {"id": "2", "events": ["PreToolUse", ...]}
"""

from __future__ import annotations

from typing import Any

from . import dialects, merging, permissions, reading
from .execution import Ran
from .settings import Configured

Json = dict[str, Any]

PLAIN_IS_CONTEXT = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart"})
"""The events at which stdout that is no JSON is for the model, where a dialect knows such output at all."""


def answer_read(request: Json) -> Json:
    """What a handler's end and output come to, if it is the only handler."""
    try:
        dialect = dialects.load(str(request.get("dialect")))
        event = str(request.get("event"))
        if event not in dialect.events:
            return {"id": request["id"], "error": f'{request.get("dialect")} has no event "{event}"'}
        answer = reading.read(_ran(event, request.get("ran") or {}), event, dialect)
        merged = merging.merge([answer], dialect)
        # a host that allows all, and nobody to ask: what does not run then is held by the handler
        held = event in dialect.enforced and permissions.decide("allow", None, merged, dialect).outcome != "ran"
        return {
            "id": request["id"],
            "verdict": merged.verdict or "none",
            "blocks": held,
            "reason": merged.reason,
            "rewrite": merged.rewrite if event in dialect.rewrite_events else None,
            "context": _context(answer, event),
            "failed": answer.failed,
            "notes": _notes(answer),
        }
    except Exception as error:  # a lasting process must outlive its own faults, and say them
        return {"id": request["id"], "error": f"{type(error).__name__}: {error}"}


def answer_events(request: Json) -> Json:
    """The names of a dialect's events."""
    try:
        return {"id": request["id"], "events": list(dialects.load(str(request.get("dialect"))).events)}
    except dialects.UnknownDialect as error:
        return {"id": request["id"], "error": str(error)}


OPS = {"read": answer_read, "events": answer_events}
"""Operation -> what answers it."""


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
