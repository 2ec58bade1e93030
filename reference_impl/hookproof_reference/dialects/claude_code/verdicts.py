"""What a model says of a condition becomes a handler's answer; its effect depends on the event and the version.

A prompt handler asks a model once, an agent handler lets one work with tools; both come to the same small
object, `{"ok": false, "reason": "..."}`. A model that gives no such object has given no verdict, and the
action goes on (003, Config structure; observed).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...execution import Ran
from ...reading import Failed
from .answers import Said
from .versions import Version

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "reason": {"type": "string"}, "impossible": {"type": "boolean"}},
    "required": ["ok", "reason"],
    "additionalProperties": False,
}
"""The form that a prompt handler asks for (observed). What is accepted is less strict: see `fault_of`."""

EVENTS = frozenset(
    {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "PermissionDenied",
        "Stop",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "UserPromptSubmit",
        "UserPromptExpansion",
    }
)
"""The events that happen within a conversation. At all others no model is asked, and the handler is an error (observed)."""

PROMPTS = frozenset({"UserPromptSubmit", "UserPromptExpansion"})
"""Where a prompt handler stops the operation, and an agent handler blocks the prompt."""

STOPPING = frozenset({"PostToolUse", "PostToolBatch"})
"""Where a prompt handler's no ends the run at every version; at PreToolUse that depends on the version."""

NO_REASON = "undefined"
"""The reason of a model that gives none (observed)."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def unsupported(kind: str, event: str) -> str | None:
    """Why handlers of this kind do not run at an event; None: they do."""
    if event not in EVENTS:
        return f"{kind} hooks need the context of a conversation, and {event} has none"
    if kind == "agent" and event == "PermissionRequest":
        return f"agent hooks are not supported at {event}"
    return None


def parsed(text: str) -> dict[str, Any] | None:
    """The verdict in a model's answer: the whole of it, or the whole of one fenced block; None: there is none."""
    fenced = _FENCED.fullmatch(text.strip())
    try:
        body = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    return body if fault_of(body) is None else None


def fault_of(body: Any) -> str | None:
    """What a verdict lacks to be one, in words; None: it is one. Other keys may stand beside."""
    if not isinstance(body, dict):
        return "it is no object"
    if not isinstance(body.get("ok"), bool):
        return "`ok` must be true or false"
    if not isinstance(body.get("reason", ""), str):
        return "`reason` must be a string"
    return None if isinstance(body.get("impossible", False), bool) else "`impossible` must be true or false"


def read(ran: Ran, event: str, version: Version) -> Said:
    """The answer of a handler that has asked a model. Raises Failed without a verdict: `onFailure` does not count here."""
    if ran.timed_out:
        raise Failed("timeout", f"timed out after {ran.handler.timeout:g}s")
    if ran.error is not None:
        raise Failed("exit", ran.error)
    verdict = parsed(ran.stdout)
    if verdict is None:
        raise Failed("unreadable", "the model gave no verdict")
    label = str(ran.handler.options.get("prompt"))
    if verdict["ok"] or event == "PermissionRequest":
        return Said(command=label)
    return _refused(ran.handler.kind, ran.handler.options, verdict.get("reason", NO_REASON), event, version)


def _refused(kind: str, options: Mapping[str, Any], reason: str, event: str, version: Version) -> Said:
    """A no: what it does at an event (observed)."""
    label = str(options.get("prompt"))
    if kind == "agent":
        return Said("deny", f"Agent hook condition was not met: {reason}", command=label, by_exit=True)
    if event in PROMPTS:
        return Said(command=label, stops=True, stop_reason=reason)
    stops = event in STOPPING or (event == "PreToolUse" and version.prompt_ends_turn)
    stops = stops and options.get("continueOnBlock") is not True
    return Said("deny", f"[{label}]: {reason}", command=label, stops=stops, stop_reason=reason, by_exit=True)
