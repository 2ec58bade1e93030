"""The forms of lecode: a TOML table of commands, one JSON object with a verdict as the answer (002)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..cases import Say, given
from ..errors import DialectError
from . import Answer, Placed

EVENT_FEATURES = {
    "PostToolUse": "post-events",
    "PostToolUseFailure": "failure-events",
    "PermissionRequest": "approver",
    "PermissionResult": "approver",
    "UserPromptSubmit": "prompt-events",
    "Stop": "lifecycle-events",
    "SessionStart": "lifecycle-events",
    "SessionEnd": "lifecycle-events",
    "SubagentStart": "subagent",
    "SubagentEnd": "subagent",
    "PreCompact": "lifecycle-events",
    "PostCompact": "lifecycle-events",
    "Interrupt": "lifecycle-events",
    "Notification": "lifecycle-events",
}
"""Every event but PreToolUse, with the feature by which a runner declares that it fires it (002, Events)."""

SETTINGS: dict[str, Any] = {
    "title": "settings of the dialect lecode, .lecode/config.toml, as the JSON that its TOML stands for",
    "type": "object",
    "properties": {
        "hooks": {
            "type": "object",
            "description": "event -> its handlers, in their order: lines for /bin/sh -c, each with a limit of 10 s",
            "properties": {event: {"type": "array", "items": {"type": "string"}} for event in ("PreToolUse", *EVENT_FEATURES)},
            "additionalProperties": {"description": "no event: a runner warns of it, leaves it out and keeps the rest"},
        },
    },
    "additionalProperties": {"description": "the program's other settings, none of which a runner needs"},
}
"""The JSON Schema of what 002 says of the settings file."""


class Lecode:
    """lecode 1.0."""

    name = "lecode"
    kill_grace = 0.5
    settings_files = {"project": ".lecode/config.toml"}
    off = None
    event_of_call = "PreToolUse"
    event_of_prompt = "UserPromptSubmit"
    event_of_stop = "Stop"
    tools = {"shell": "bash", "write": "write", "read": "read"}
    event_features = EVENT_FEATURES
    envelope = {"event": "event", "tool": "tool.name", "input": "tool.args", "prompt": "prompt", "cwd": "cwd"}

    def settings(self, handlers: Sequence[Placed], version: str) -> str:
        """`[hooks]` maps an event to a list of commands. There is no syntax for a timeout or a matcher."""
        events: dict[str, list[str]] = {}
        for placed in handlers:
            extra = [n for n in ("matcher", "if_") if getattr(placed.handler, n) is not None] + sorted(placed.handler.native)
            if extra or given(placed.handler.timeout):
                raise DialectError(f"{placed.name}: lecode has no settings field {', '.join(extra) or 'timeout'}")
            events.setdefault(placed.event, []).append(placed.command)
        # a JSON string of printable ASCII is a TOML basic string too
        rows = [f"{event} = [{', '.join(json.dumps(c) for c in commands)}]" for event, commands in events.items()]
        return "\n".join(["[hooks]", *rows, ""])

    def answer(self, say: Say, event: str, version: str) -> Answer:
        """`{"verdict": ..., "reason": ..., "rewritten_input": ...}` with exit 0."""
        if say.native is not None:
            return Answer(stdout=json.dumps(say.native))
        if given(say.output) or say.context is not None:
            raise DialectError("lecode has no words for a rewritten result or for added context")
        if say.verdict is None:
            raise DialectError("lecode has no answer without a verdict; an abstaining handler prints nothing")
        # a prompt is "blocked" by a deny here
        body: dict[str, object] = {"verdict": "deny" if say.verdict == "block" else say.verdict}
        if say.reason is not None:
            body["reason"] = say.reason
        if given(say.input):
            body["rewritten_input"] = say.input
        return Answer(stdout=json.dumps(body))


DIALECT = Lecode()
