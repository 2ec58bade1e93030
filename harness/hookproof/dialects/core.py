"""The plain form for runners without a dialect of their own; what it means is the posture that they declare.

Settings, `.core/hooks.json` (`SETTINGS` is its schema): {"hooks": {EVENT: [{"command": ..., "timeout": ..., "matcher": ...}]}}.
`command` is run by /bin/sh -c in the world's cwd; `timeout` is a number in the declared unit; `matcher` is the exact name of a
tool. With {"enabled": false} at the top no handler is started.
Stdin: {"event": ..., "session": ..., "cwd": ..., "tool": ..., "input": ..., "prompt": ...}, each where it applies;
`session` is the session's id, or null.
Stdout: nothing, or one JSON object {"verdict": allow|ask|defer|deny, "reason": ..., "input": ..., "output": ..., "context": ...},
with exit 0. Nothing, blanks and an object without a verdict are no opinion; anything else is unreadable. `input` stands in
place of the tool's arguments as a whole.

What the words of a posture mean:
- failure.*: `closed` makes a handler's failure a deny, `open` makes it silence.
- on_veto: `stop` starts no further handler after a deny (a failure that is closed is one), `run-all` starts all of them.
- reason: the text reported with a deny is the `first` that is not empty, also an allowing handler's; the `last`; the one of the
  `most-severe` handler, among equals the first; the one of the most severe handler that was `last-finished`.
- rewrite: `chained` shows each handler the arguments as those before it left them; else all see the original, and of several
  rewrites the `first` counts, the `last`, that of the `most-severe` handler (among equals the first) or the `last-finished`.
- ask_without_person: a call that a handler asks about, with nobody there, does `run` or counts as a `deny`.
- timeout_unit: `s` or `ms`; or `s-or-ms`, where a number below 1000 means seconds and any other milliseconds.
- odd_timeout: `default` takes a limit that is no number above 0 for one that is absent, and one that no clock can hold for a
  long one; `undeclared` says nothing.
- defer: a deferred call does `run` under the host's own verdict, or is left for later: `leave`; `none` knows no such word.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..cases import Say, given
from ..errors import DialectError
from . import Answer, Placed

SETTINGS: dict[str, Any] = {
    "title": "settings of the dialect core, .core/hooks.json",
    "type": "object",
    "properties": {
        "enabled": {"type": "boolean", "default": True, "description": "false: no handler is started at all"},
        "hooks": {
            "type": "object",
            "description": "event -> its handlers, in their order; a runner declares by its features which events it fires",
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "command": {"type": "string", "minLength": 1, "description": "a line for /bin/sh -c"},
                        "timeout": {
                            "description": "the handler's limit, a number above 0 in the unit of the posture; "
                            "what any other value means is the posture's odd_timeout",
                        },
                        "matcher": {"type": "string", "minLength": 1, "description": "the exact name of the one tool it is for"},
                    },
                    "required": ["command"],
                    "additionalProperties": False,
                },
            },
        },
    },
    "required": ["hooks"],
    "additionalProperties": False,
}
"""The JSON Schema of a settings file."""


class Core:
    """core/1."""

    name = "core"
    kill_grace = 2.0
    settings_files = {"user": ".core/hooks.json", "project": ".core/hooks.json"}
    off = {"enabled": False}
    event_of_call = "PreToolUse"
    event_of_prompt = "UserPromptSubmit"
    event_of_stop = "Stop"
    tools = {"shell": "shell", "write": "write", "read": "read"}
    event_features = {
        "PostToolUse": "post-events",
        "PostToolUseFailure": "failure-events",
        "UserPromptSubmit": "prompt-events",
        "Stop": "lifecycle-events",
        "SessionStart": "lifecycle-events",
        "SessionEnd": "lifecycle-events",
    }
    envelope = {"event": "event", "tool": "tool", "input": "input", "prompt": "prompt", "cwd": "cwd"}

    def settings(self, handlers: Sequence[Placed], version: str) -> str:
        """A list of handlers for each event, in order."""
        events: dict[str, list[dict[str, Any]]] = {}
        for placed in handlers:
            entry: dict[str, Any] = {"command": placed.command}
            if given(placed.handler.timeout):
                entry["timeout"] = placed.handler.timeout
            if placed.handler.matcher is not None:
                entry["matcher"] = placed.handler.matcher
            if placed.handler.if_ is not None or placed.handler.native:
                raise DialectError(f"{placed.name}: a handler of core has command, timeout and matcher, no more")
            events.setdefault(placed.event, []).append(entry)
        return json.dumps({"hooks": events}, indent=2)

    def answer(self, say: Say, event: str, version: str) -> Answer:
        """The plain answer, with exit 0."""
        if say.native is not None:
            return Answer(stdout=json.dumps(say.native))
        body: dict[str, Any] = {}
        if say.verdict is not None:
            # a prompt is "blocked" by a deny here
            body["verdict"] = "deny" if say.verdict == "block" else say.verdict
        for key, text in (("reason", say.reason), ("context", say.context)):
            if text is not None:
                body[key] = text
        for key, value in (("input", say.input), ("output", say.output)):
            if given(value):
                body[key] = value
        return Answer(stdout=json.dumps(body))


DIALECT = Core()
