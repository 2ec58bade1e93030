"""The forms of Claude Code: nested JSON settings, `hookSpecificOutput` or `decision` as the answer (003)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import mcpserver, modelserver
from ..cases import Say, given
from ..errors import DialectError
from . import Answer, Placed

OWN_DECISION = "PreToolUse"
"""The one event whose verdict stands in permissionDecision."""
BLOCKABLE = frozenset(
    {
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "ConfigChange",
    }
)
"""Events whose handlers say no with a top-level `decision: block`."""


class ClaudeCode:
    """Claude Code; how these forms are read differs by version, the forms do not."""

    name = "claude-code"
    kill_grace = 2.0
    settings_files = {
        "managed": "managed-settings.json",
        "user": ".claude/settings.json",
        "project": ".claude/settings.json",
        "local": ".claude/settings.local.json",
    }
    off = {"disableAllHooks": True}
    event_of_call = "PreToolUse"
    event_of_prompt = "UserPromptSubmit"
    event_of_stop = "Stop"
    tools = {"shell": "Bash", "write": "Write", "read": "Read"}
    event_features = {
        "PostToolUse": "post-events",
        "PostToolBatch": "post-events",
        "PostToolUseFailure": "failure-events",
        "PermissionRequest": "approver",
        "UserPromptSubmit": "prompt-events",
        "UserPromptExpansion": "prompt-events",
        "Stop": "stop-loop",
        "SubagentStart": "subagent",
        "SubagentStop": "subagent",
        "SessionStart": "lifecycle-events",
        "SessionEnd": "lifecycle-events",
        "PreCompact": "compact",
        "PostCompact": "compact",
        "Notification": "lifecycle-events",
    }
    envelope = {"event": "hook_event_name", "tool": "tool_name", "input": "tool_input", "prompt": "prompt", "cwd": "cwd"}

    def settings(self, handlers: Sequence[Placed], version: str) -> str:
        """One matcher group for each handler, in the order given."""
        events: dict[str, list[dict[str, Any]]] = {}
        for placed in handlers:
            entry = _entry(placed)
            if given(placed.handler.timeout):
                entry["timeout"] = placed.handler.timeout
            if placed.handler.if_ is not None:
                entry["if"] = placed.handler.if_
            entry |= placed.handler.native
            group: dict[str, Any] = {"hooks": [entry]}
            if placed.handler.matcher is not None:
                group = {"matcher": placed.handler.matcher, **group}
            events.setdefault(placed.event, []).append(group)
        return json.dumps({"hooks": events}, indent=2)

    def answer(self, say: Say, event: str, version: str) -> Answer:
        """The JSON object for a neutral answer, with exit 0."""
        if say.native is not None:
            return Answer(stdout=json.dumps(say.native))
        body: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if event == OWN_DECISION:
            if say.verdict is not None:
                specific["permissionDecision"] = "deny" if say.verdict == "block" else say.verdict
            if say.reason is not None:
                specific["permissionDecisionReason"] = say.reason
            if given(say.input):
                specific["updatedInput"] = say.input
        else:
            if say.verdict in ("deny", "block"):
                if event not in BLOCKABLE:
                    raise DialectError(f"claude-code has no words for a {say.verdict} on {event}")
                body["decision"] = "block"
            elif say.verdict is not None:
                raise DialectError(f"claude-code has no words for the verdict {say.verdict} on {event}")
            if say.reason is not None:
                body["reason"] = say.reason
            if given(say.input):
                raise DialectError(f"claude-code has no words for rewritten arguments on {event}")
        if given(say.output):
            specific["updatedToolOutput"] = say.output
        if say.context is not None:
            specific["additionalContext"] = say.context
        if specific:
            body["hookSpecificOutput"] = {"hookEventName": event, **specific}
        return Answer(stdout=json.dumps(body))


def _entry(placed: Placed) -> dict[str, Any]:
    """What names the handler, by its kind."""
    if placed.handler.kind == "http":
        return {"type": "http", "url": placed.command}
    if placed.handler.kind in modelserver.KINDS:
        return {"type": placed.handler.kind, "prompt": f"{placed.command} {placed.handler.prompt or modelserver.QUESTION}"}
    if placed.handler.kind == "mcp_tool":
        return {"type": "mcp_tool", "server": mcpserver.NAME, "tool": placed.name}
    if placed.handler.kind != "command":
        raise DialectError(f"claude-code: a handler of kind {placed.handler.kind} cannot be written down yet")
    return {"type": "command", "command": placed.command}


DIALECT = ClaudeCode()
