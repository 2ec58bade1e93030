"""What a handler printed and how it exited becomes its answer.

JSON counts on every exit code, and exit code 2 blocks whatever the JSON says; all else that goes wrong
lets the call pass, unless the handler itself asks for the contrary (observed; 003, stdout contract).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...execution import Ran
from ...reading import Answer, Failed
from .versions import Version

VERDICTS = ("allow", "deny", "ask", "defer")
NO_STDERR = "No stderr output"
"""What stands for the stderr of a handler that wrote none."""
NOTHING = object()
"""Stands for an output that was not replaced: any JSON value may be the new one."""

EXIT_2_WITHOUT_EFFECT = frozenset(
    {
        "PermissionRequest",
        "PermissionDenied",
        "Notification",
        "StopFailure",
        "InstructionsLoaded",
        "MessageDisplay",
        "SessionStart",
        "SessionEnd",
        "Setup",
        "SubagentStart",
        "CwdChanged",
        "FileChanged",
        "PostCompact",
    }
)
"""The events at which exit code 2 is an error like any other."""

AT_AN_END = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})
"""The events at which a block makes somebody go on: there a script that is missing does not block (bundle of 2.1.178)."""
_MISSING = re.compile(r"no such file|can't open", re.IGNORECASE)

FAILURE_IS_NOTHING = AT_AN_END | {"SessionStart"}
"""The events at which `onFailure: block` is ignored (observed)."""


@dataclass(frozen=True, slots=True)
class Said(Answer):
    """One handler's whole answer; a `deny` blocks, whatever that means at its event."""

    command: str = ""
    """The handler, as messages name it."""
    context: str = ""
    """For the model."""
    message: str = ""
    """For the user."""
    plain: str = ""
    """Stdout that is no JSON, of a handler that exited with 0."""
    stops: bool = False
    """It ends the run (`continue: false`)."""
    stop_reason: str = ""
    output: Any = NOTHING
    """Replaces the tool's result."""
    mcp_output: Any = NOTHING
    """Replaces the result of an MCP tool."""
    by_exit: bool = False
    """The deny is exit code 2 or a failure, not a word: its reason names the command."""
    updates: tuple[Mapping[str, Any], ...] = ()
    """What it grants beside its allow (`updatedPermissions`)."""
    quiet_prompt: bool = False
    """A blocked prompt is not repeated in the message about it."""
    terminal: str = ""
    """For the terminal, if it is a sequence that may be written there."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """The whole hookSpecificOutput, for what only one event has."""


def label(ran: Ran) -> str:
    """The handler as messages name it: its command, with its arguments as they stand in the settings."""
    kind, options = ran.handler.kind, ran.handler.options
    if kind == "http":
        return str(options.get("url"))
    if kind == "mcp_tool":
        return f"{options.get('server')}/{options.get('tool')}"
    if kind != "command":
        return str(options.get("prompt"))
    return " ".join([ran.handler.command, *(ran.handler.arguments or ())])


def read(ran: Ran, event: str, version: Version) -> Said:
    """What a handler that ran has said. Raises Failed for what comes to no verdict."""
    if ran.background is not None:
        return Said(command=label(ran))
    if ran.handler.kind in ("prompt", "agent"):
        from . import verdicts  # which builds on this module

        return verdicts.read(ran, event, version)
    try:
        return _said(ran, event, version)
    except Failed as failed:
        if ran.handler.on_failure != "block" or event in FAILURE_IS_NOTHING:
            raise
        how = "timed out" if failed.cause == "timeout" else "failed"
        # what an MCP server says is kept from the model: whoever wrote it is not the handler's author (observed)
        told = "" if ran.handler.kind == "mcp_tool" else ran.error or ran.stderr
        detail = f'{how}; blocking because onFailure is "block"\n{told}'.strip()
        return Said("deny", f"[{label(ran)}]: {detail}", command=label(ran), by_exit=True, failed=failed.detail)


def _said(ran: Ran, event: str, version: Version) -> Said:
    if ran.cannot_start is not None:
        raise Failed("cannot-start", f"cannot start: {ran.cannot_start}")
    if ran.timed_out:
        raise Failed("timeout", f"timed out after {ran.handler.timeout:g}s")
    if ran.error is not None:
        raise Failed("exit", ran.error)
    blocks = ran.exit == 2 and event not in EXIT_2_WITHOUT_EFFECT
    if blocks and event in AT_AN_END and _script_is_missing(ran):
        raise Failed("exit", f"its script is missing: {ran.stderr.strip()}")
    body = parsed(ran.stdout)
    if body is not None and body.get("async") is True:
        return Said(command=label(ran))
    if body is not None and (fault := misfit(body, event)):
        if blocks and version.exit_2_outlives_schema:
            return _blocked(ran)
        raise Failed("unreadable", f"its JSON does not fit: {fault}")
    if ran.handler.kind == "mcp_tool" and ran.handler.on_failure == "block" and no_answer(ran.stdout, body):
        raise Failed("unreadable", "the MCP tool has given no answer of a hook")
    said = Said(command=label(ran)) if body is None else spoken(body, event, label(ran))
    if blocks and said.verdict != "deny":
        return replace(_blocked(ran), context=said.context, message=said.message, stops=said.stops, stop_reason=said.stop_reason)
    if body is None and ran.exit == 0:
        return replace(said, plain=ran.stdout.strip())
    if ran.exit != 0 and (body is None or ran.handler.on_failure == "block") and not blocks:
        how = f"exit code {ran.exit}" if ran.signal is None else f"signal {ran.signal}"
        raise Failed("exit" if ran.signal is None else "signal", f"{how}: {ran.stderr.strip()}".rstrip(": "))
    return said


def _script_is_missing(ran: Ran) -> bool:
    """Whether exit code 2 is an interpreter's own, that has not found what it was to run."""
    return not ran.stdout.strip() and _MISSING.search(ran.stderr) is not None


def no_answer(stdout: str, body: Mapping[str, Any] | None) -> bool:
    """Whether a text says something, and nothing that has an effect: to an mcp_tool that must not fail, a failure (observed)."""
    if body is None:
        return bool(stdout.strip())
    return bool(body) and not any(key in TOP and key not in COMMENTS for key in body)


def _blocked(ran: Ran) -> Said:
    detail = ran.stderr or NO_STDERR
    return Said("deny", f"[{label(ran)}]: {detail}", command=label(ran), by_exit=True)


def parsed(stdout: str) -> dict[str, Any] | None:
    """The JSON object that is the whole of stdout; None for anything else, which is plain text."""
    text = stdout.strip().removeprefix("\ufeff").lstrip()
    if not text.startswith("{"):
        return None
    try:
        body = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def goes_on_in_background(head: bytes) -> bool:
    """Whether what stdout holds so far has a JSON object that says `"async": true`, also after other text (observed)."""
    if b'"async"' not in head:
        return False
    text = head.decode("utf-8", "replace")
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            body, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(body, dict) and body.get("async") is True:
                return True
        at = text.find("{", end)
    return False


def spoken(body: Mapping[str, Any], event: str, command: str) -> Said:
    """The answer in a JSON object that fits its schema."""
    own = body.get("hookSpecificOutput") or {}
    verdict = {"block": "deny", "approve": "allow"}.get(body.get("decision", ""))
    reason, rewrite = body.get("reason", ""), None
    updates: tuple[Mapping[str, Any], ...] = ()
    if event != "PreToolUse" and verdict == "allow":
        verdict = None
    if event == "PreToolUse":
        if "permissionDecision" in own:
            verdict, reason = own["permissionDecision"], own.get("permissionDecisionReason", "")
        rewrite = own.get("updatedInput")
    elif event == "PermissionRequest" and "decision" in own:
        decision = own["decision"]
        verdict, reason, rewrite = decision["behavior"], decision.get("message", ""), decision.get("updatedInput")
        updates = tuple(update for update in decision.get("updatedPermissions") or () if isinstance(update, dict))
    return Said(
        verdict,
        reason,
        rewrite,
        command=command,
        context=own.get("additionalContext", ""),
        message=body.get("systemMessage", ""),
        stops=body.get("continue") is False,
        stop_reason=body.get("stopReason", ""),
        output=own.get("updatedToolOutput", NOTHING),
        mcp_output=own.get("updatedMCPToolOutput", NOTHING),
        updates=updates,
        quiet_prompt=own.get("suppressOriginalPrompt") is True,
        terminal=body.get("terminalSequence", ""),
        own=own,
    )


def misfit(body: Mapping[str, Any], event: str) -> str | None:
    """The first key that does not fit the schema of this event's answers; unknown keys fit."""
    for key, value in body.items():
        if key in TOP and not TOP[key](value):
            return key
    own = body.get("hookSpecificOutput")
    if own is None:
        return None
    if own.get("hookEventName") != event:
        return "hookSpecificOutput.hookEventName"
    for key, value in own.items():
        check = OWN.get(event, {}).get(key)
        if check is not None and not check(value):
            return f"hookSpecificOutput.{key}"
    return None


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _decision(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.get("behavior") in ("allow", "deny")
        and _object(value.get("updatedInput", {}))
        and _text(value.get("message", ""))
        and _flag(value.get("interrupt", False))
    )


TOP: dict[str, Callable[[Any], bool]] = {
    "continue": _flag,
    "suppressOutput": _flag,
    "stopReason": _text,
    "decision": _one_of("approve", "block"),
    "reason": _text,
    "systemMessage": _text,
    "terminalSequence": _text,
    "hookSpecificOutput": _object,
}
"""The keys of every answer and their forms (003, stdout contract)."""

COMMENTS = ("reason", "stopReason")
"""Those that only say something about others."""

_CONTEXT: dict[str, Callable[[Any], bool]] = {"additionalContext": _text}

OWN: dict[str, dict[str, Callable[[Any], bool]]] = {
    "PreToolUse": {
        **_CONTEXT,
        "permissionDecision": _one_of(*VERDICTS),
        "permissionDecisionReason": _text,
        "updatedInput": _object,
    },
    "PermissionRequest": {"decision": _decision},
    "UserPromptSubmit": {**_CONTEXT, "sessionTitle": _text, "suppressOriginalPrompt": _flag},
    "SessionStart": {
        **_CONTEXT,
        "initialUserMessage": _text,
        "sessionTitle": _text,
        "watchPaths": _texts,
        "reloadSkills": _flag,
    },
    **dict.fromkeys(
        ("PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptExpansion", "Stop", "SubagentStop", "SubagentStart"),
        _CONTEXT,
    ),
}
"""Event -> the keys of its hookSpecificOutput and their forms."""


def late_texts(stdout: str) -> list[str]:
    """What a handler in the background leaves for the model: message and context as one text; plain text leaves nothing."""
    decoder, at, texts = json.JSONDecoder(), stdout.find("{"), []
    while at >= 0:
        try:
            body, end = decoder.raw_decode(stdout, at)
        except (ValueError, RecursionError):
            body, end = None, at + 1
        if isinstance(body, dict):
            own = body.get("hookSpecificOutput")
            context = own.get("additionalContext") if isinstance(own, dict) else None
            texts.append("\n".join(text for text in (body.get("systemMessage"), context) if isinstance(text, str)))
        at = stdout.find("{", end)
    return [text for text in texts if text]
