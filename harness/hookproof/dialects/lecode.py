"""The forms of lecode: a TOML table of commands, one JSON object with a verdict as the answer (002)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..cases import Say, given
from ..errors import DialectError
from . import Answer, Placed


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
    event_features = {
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
