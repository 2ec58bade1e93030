"""lecode 1.0: a list of shell commands per event, one JSON object with a verdict as the answer.

Sources: 002 is the document `hooks.md`; "observed" is what the program itself was seen to do where the
document is silent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import places, reading
from ..execution import Ran
from ..reading import Answer, Failed
from ..settings import Configured, SettingsError
from ..tools import ToolEnd
from .base import Cause, Direction, Fields, OnVeto, Order, PlainDialect

if TYPE_CHECKING:
    from ..runner import Runner

EVENTS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("tool",),
    "PostToolUse": ("tool", "result"),
    "PostToolUseFailure": ("tool", "result", "reason"),
    "PermissionRequest": ("tool",),
    "PermissionResult": ("tool", "decision"),
    "UserPromptSubmit": ("prompt",),
    "Stop": ("reason",),
    "SessionStart": (),
    "SessionEnd": (),
    "SubagentStart": ("agent",),
    "SubagentEnd": ("agent",),
    "PreCompact": (),
    "PostCompact": (),
    "Interrupt": (),
    "Notification": ("kind", "tool", "reason"),
}
"""The 15 events and the fields that only they have (002, Events). Names are case-sensitive."""

ENFORCED = frozenset({"PreToolUse", "UserPromptSubmit"})
"""Every other event is observational: its verdicts are ignored (002, Events)."""

SEVERITY = {"allow": 0, "defer": 1, "ask": 2, "deny": 3}
"""deny > ask > defer > allow (002, The verdict protocol)."""

DEFAULT_TIMEOUT = 10.0
"""Seconds, for each handler; the settings have no word for another limit (002, Configuration)."""


class Lecode:
    """The rules of lecode 1.0."""

    name = "lecode"
    events: Mapping[str, tuple[str, ...]] = EVENTS
    enforced = ENFORCED
    severity: Mapping[str, int] = SEVERITY
    # a broken guard blocks, whatever broke it (002, Failure semantics)
    failure: Mapping[Cause, Direction] = {
        "exit": "closed",
        "signal": "closed",
        "timeout": "closed",
        "unreadable": "closed",
        "cannot-start": "closed",
    }
    order: Order = "sequential"  # observed: in the order of the list
    on_veto: OnVeto = "run-all"  # observed: also after a deny or a failure
    reason = "first"
    rewrite = "most-severe"
    rewrite_events = frozenset({"PreToolUse"})
    leaves_deferred = False
    permission_first = True

    def loop(self) -> type[Runner]:
        """The plain loop."""
        from ..runner import Runner

        return Runner

    def decode(self, raw: bytes) -> str:
        """UTF-8, strictly (observed)."""
        return raw.decode("utf-8")

    def configured(self, text: str) -> tuple[list[Configured], list[tuple[str, str]]]:
        """`[hooks]` maps an event to a list of commands (002, Configuration).

        Observed: an unknown event is warned of and left out, the rest is kept.
        """
        import tomllib

        try:
            hooks = tomllib.loads(text).get("hooks", {})
        except (ValueError, RecursionError) as error:  # also a whole number of thousands of digits
            last = f"at end of document, line {len(text.splitlines())}"
            raise SettingsError(f"no TOML: {str(error).replace('at end of document', last)}") from None
        if not isinstance(hooks, dict):
            why = "hooks is no table of events; write [hooks] and one list of commands for each event"
            raise SettingsError(places.at_line(text, "hooks", why))
        handlers: list[Configured] = []
        dropped: list[tuple[str, str]] = []
        for event, commands in hooks.items():
            if event not in EVENTS:
                near = next((f'; did you mean "{e}"?' for e in EVENTS if e.lower() == event.lower()), "")
                dropped.append((event, places.at_line(text, event, f"unknown hook event: {event}{near}")))
            elif not isinstance(commands, list):
                dropped.append((event, places.at_line(text, event, f"{event} is no list of commands")))
            else:
                line = places.line_of(text, event)
                for number, command in enumerate(commands):
                    if isinstance(command, str):
                        handlers.append(Configured(event, command, DEFAULT_TIMEOUT, line=line))
                    else:
                        why = f"{event}[{number}] is no command, which is a string"
                        dropped.append((f"{event}[{number}]", places.at_line(text, event, why)))
        return handlers, dropped

    def envelope(self, event: str, fields: Mapping[str, Any], session: Mapping[str, Any] | None, cwd: str) -> Fields:
        """event, ts, session and cwd on every event, then what belongs to this one (002, The envelope).

        `session` is null outside a session, else its id and name; `ts` is UTC with its offset.
        """
        ts = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        who = None if session is None else {"id": session["id"], "name": session["name"]}
        return {"event": event, "ts": ts, "session": who, "cwd": cwd, **fields}

    def read(self, ran: Ran, event: str) -> Answer:
        """Exit 0 with empty stdout abstains; any other answer is one JSON object (002, The verdict protocol).

        A crash, a non-zero exit, a time-out and invalid JSON are failures, whatever stdout says
        (002, Failure semantics). Observed: white space is empty, the verdict's case is free, a missing
        or unknown verdict is a failure, a reason of any type is made text, a rewrite that is no object
        is ignored.
        """
        reading.must_have_ended_well(ran)
        text = ran.stdout.strip()
        if not text:
            return Answer()
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            raise Failed("unreadable", "invalid JSON output") from None
        verdict = str(body.get("verdict", "")).lower() if isinstance(body, dict) else ""
        if verdict not in SEVERITY:
            raise Failed("unreadable", "missing or invalid 'verdict' in output")
        rewrite = body.get("rewritten_input") if event in self.rewrite_events else None
        return Answer(
            verdict=verdict,
            reason=str(body.get("reason") or ""),
            rewrite=rewrite if isinstance(rewrite, dict) else None,
        )

    def before_tool(self, tool: str, arguments: Any) -> tuple[str, Fields]:
        """After the permission check, before the tool runs (002, Events)."""
        return "PreToolUse", _tool(tool, arguments)

    def after_tool(self, tool: str, arguments: Any, end: ToolEnd) -> tuple[str, Fields]:
        """PostToolUse after a success, else PostToolUseFailure instead: with the error result, or the reason why it raised."""
        if end.kind == "raised":
            return "PostToolUseFailure", {**_tool(tool, arguments), "reason": end.text}
        result = {"content": end.text, "is_error": end.kind == "failed"}
        event = "PostToolUseFailure" if end.kind == "failed" else "PostToolUse"
        return event, {**_tool(tool, arguments), "result": result}

    def approval_asked(self, tool: str, arguments: Any) -> tuple[str, Fields] | None:
        """An Ask goes to the interactive prompt (002, Events)."""
        return "PermissionRequest", _tool(tool, arguments)

    def approval_given(self, tool: str, arguments: Any, decision: str) -> tuple[str, Fields] | None:
        """An Ask was resolved: allow_once, allow_always, deny, or auto (002, Events)."""
        return "PermissionResult", {**_tool(tool, arguments), "decision": decision}

    def before_prompt(self, prompt: str) -> tuple[str, Fields]:
        """A prompt is submitted (002, Events)."""
        return "UserPromptSubmit", {"prompt": prompt}

    def at_end(self, text: str) -> tuple[str, Fields, str]:
        """A run finishes: done with a text, empty without one (002, Events)."""
        reason = "done" if text else "empty"
        return "Stop", {"reason": reason}, reason


def _tool(tool: str, arguments: Any) -> Fields:
    return {"tool": {"name": tool, "args": arguments}}


DIALECT: PlainDialect = Lecode()
DIALECTS = {"1.0": DIALECT}
