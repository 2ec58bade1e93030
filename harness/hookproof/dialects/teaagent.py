"""The forms of TeaAgent's chain: programs in place of its hook functions, a returned dict or a HookError as the answer (000).

Settings, `.teaagent/hooks.json`; all keys may be absent, `SETTINGS` is its schema:
{"enabled": true, "permission": {"mode": "auto", "destructive_tools": [...]}, "hooks": {EVENT: ["/path/to/program", ...]}}.
Without `permission` there is no permission hook; without its `mode` that is "auto", without its `destructive_tools` they are
the six of `DESTRUCTIVE`, which are destructive in any case. A program is started without a shell, once for each call of the
hook function that it stands for. After a tool an entry may also be {"shell_command": "ruff check ."}, a command for
`shell_command_hook`: split into words as a shell splits them, and started without one. What a settings file cannot say is
dropped, and the report of the settings names it.

Stdin, one JSON object: {"event", "tool", "arguments"} before a tool, and "result" after it; {"event", "context"} before
compaction; {"event", "session_id", "context"} for the events of a session, where a prompt is the context {"prompt": TEXT}. A
tool's result is the object {"content": TEXT, "is_error": false}, and `result` in the answer is that object after the hooks.

Answer: exit 0 with nothing (or blanks) is None, exit 0 with a JSON object that dict. {"mutate": {...}} changes the arguments or
the context in place and returns None. Exit 2 is a HookError with stderr as its reason; all else another exception, ProgramError.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..cases import Say, given
from ..errors import DialectError
from . import Answer, Placed

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "Stop",
    "SubagentStop",
    "SessionEnd",
)
"""All that there are."""

DESTRUCTIVE = (
    "workspace_write_file",
    "workspace_apply_patch",
    "workspace_edit_at_hash",
    "git_commit",
    "git_push",
    "shell",
)
"""The destructive tools, where the settings name no others."""

_PROGRAM: dict[str, Any] = {"type": "string", "minLength": 1}
_COMMAND: dict[str, Any] = {
    "type": "object",
    "properties": {"shell_command": {"type": "string", "minLength": 1}},
    "required": ["shell_command"],
    "additionalProperties": False,
}


def _entry(event: str) -> dict[str, Any]:
    return {"oneOf": [_PROGRAM, _COMMAND]} if event == "PostToolUse" else _PROGRAM


SETTINGS: dict[str, Any] = {
    "title": "settings of the dialect teaagent, .teaagent/hooks.json",
    "type": "object",
    "properties": {
        "enabled": {"type": "boolean", "default": True, "description": "false: no hook is called at all"},
        "permission": {
            "type": "object",
            "description": "a permission hook stands in front of the others; absent: there is none",
            "properties": {
                "mode": {"enum": ["allow", "deny", "ask", "auto"], "default": "auto"},
                "destructive_tools": {
                    "type": "array",
                    "items": {"type": "string"},
                    "uniqueItems": True,
                    "default": list(DESTRUCTIVE),
                },
                **{
                    key: {"type": "array", "items": {"type": "string"}, "description": "of paths; a runner need not know them"}
                    for key in ("allow_patterns", "deny_patterns")
                },
            },
            "additionalProperties": False,
        },
        "hooks": {
            "type": "object",
            "description": "event -> paths of programs in the order of registration",
            "properties": {event: {"type": "array", "items": _entry(event)} for event in EVENTS},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""The JSON Schema of the settings file."""


class TeaAgent:
    """teaagent/1."""

    name = "teaagent"
    kill_grace = 2.0
    settings_files = {"project": ".teaagent/hooks.json"}
    off = {"enabled": False}
    event_of_call = "PreToolUse"
    event_of_prompt = "UserPromptSubmit"
    event_of_stop = "Stop"
    tools = {"shell": "shell", "write": "workspace_write_file", "read": "read_file"}
    event_features = {
        "PostToolUse": "post-events",
        "UserPromptSubmit": "prompt-events",
        "PreCompact": "lifecycle-events",
        "Stop": "lifecycle-events",
        "SubagentStop": "lifecycle-events",
        "SessionStart": "lifecycle-events",
        "SessionEnd": "lifecycle-events",
    }
    envelope = {"event": "event", "tool": "tool", "input": "arguments", "prompt": "context.prompt"}

    def settings(self, handlers: Sequence[Placed], version: str) -> str:
        """Programs by event, in the order of registration."""
        events: dict[str, list[str]] = {}
        for placed in handlers:
            if placed.event not in EVENTS:
                raise DialectError(f"{placed.name}: teaagent has no event {placed.event}")
            extra = [n for n in ("matcher", "if_") if getattr(placed.handler, n) is not None] + sorted(placed.handler.native)
            if extra or given(placed.handler.timeout):
                raise DialectError(f"{placed.name}: teaagent registers a hook with no {', '.join(extra) or 'timeout'}")
            events.setdefault(placed.event, []).append(placed.command)
        return json.dumps({"enabled": True, "hooks": events}, indent=2)

    def answer(self, say: Say, event: str, version: str) -> Answer:
        """A returned dict, or exit 2 with the reason on stderr. An allow has no word: it is the absence of all others."""
        if say.native is not None:
            return Answer(stdout=json.dumps(say.native))
        if say.verdict in ("ask", "defer") or say.context is not None:
            raise DialectError(f"teaagent has no words for {say.verdict or 'added context'}")
        returned = [value for value in (say.input, say.output) if given(value)]
        if say.verdict in ("deny", "block"):
            if returned:
                raise DialectError("a hook of teaagent raises or returns, never both")
            return Answer(stderr=say.reason or "", exit=2)
        if say.reason is not None:
            raise DialectError("teaagent has no words for the reason of what is no veto")
        if given(say.input) and event not in ("PreToolUse", "PreCompact"):
            raise DialectError(f"no hook of teaagent replaces arguments on {event}")
        if given(say.output) and event != "PostToolUse":
            raise DialectError(f"no hook of teaagent replaces a result on {event}")
        if len(returned) != 1:
            raise DialectError("teaagent has no word for allow: a hook that returns nothing allows")
        if not isinstance(returned[0], dict):
            raise DialectError("a hook of teaagent returns an object")
        return Answer(stdout=json.dumps(returned[0]))


DIALECT = TeaAgent()
