"""TeaAgent 1: a chain in one process, whose hooks are programs here; the first veto ends it.

The rules stand in the package `hookproof_reference.teaagent`, where hooks are Python functions. This is the
same for the runner protocol: `.teaagent/hooks.json` registers programs (configuration.py), each of which is
the body of one hook function (programs.py), and loop.py asks the chain.
Sources: 000 is the document `spec.md`; "observed" is what the program itself was seen to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...execution import Ran
from ...reading import Answer, Failed
from ...teaagent import HookError
from ..base import Cause, Configuration, Dialect, Direction, Fields, OnVeto, Order
from . import configuration, programs

if TYPE_CHECKING:
    from ...runner import Runner

EVENTS: dict[str, tuple[str, ...]] = {
    "SessionStart": ("session_id", "context"),
    "UserPromptSubmit": ("session_id", "context"),
    "PreToolUse": ("tool", "arguments"),
    "PostToolUse": ("tool", "arguments", "result"),
    "PreCompact": ("context",),
    "Stop": ("session_id", "context"),
    "SubagentStop": ("session_id", "context"),
    "SessionEnd": ("session_id", "context"),
}
"""The eight events and what their hooks are called with (000, 8 Hook Events)."""


class TeaAgent:
    """The rules of TeaAgent's hooks, as far as they are tables."""

    name = "teaagent"
    events: Mapping[str, tuple[str, ...]] = EVENTS
    enforced = frozenset({"PreToolUse"})
    severity: Mapping[str, int] = {"allow": 0, "ask": 1, "deny": 2}
    # any exception of a pre-hook stops the call, whatever raised it (observed)
    failure: Mapping[Cause, Direction] = {
        "exit": "closed",
        "signal": "closed",
        "timeout": "closed",
        "unreadable": "closed",
        "cannot-start": "closed",
    }
    order: Order = "sequential"
    on_veto: OnVeto = "stop"
    reason = "first"
    rewrite = "last"  # each sees what those before it have changed: the last one's is the whole
    rewrite_events = frozenset({"PreToolUse"})
    leaves_deferred = False

    def loop(self) -> type[Runner]:
        """The loop that asks a chain."""
        from .loop import Loop

        return Loop

    def decode(self, raw: bytes) -> str:
        """UTF-8, strictly."""
        return raw.decode("utf-8")

    def configured(self, text: str) -> Configuration:
        """`hooks` maps an event to a list of programs."""
        return configuration.configured(text)

    def envelope(self, event: str, fields: Mapping[str, Any], session: Mapping[str, Any] | None, cwd: str) -> Fields:
        """The event's name and what the hook function is called with."""
        return programs.envelope(event, fields)

    def read(self, ran: Ran, event: str) -> Answer:
        """What a program's end means, if the event is PreToolUse: a dict replaces the arguments, HookError is a veto."""
        try:
            returned = programs.returned(ran)
        except HookError as veto:
            return Answer("deny", str(veto)) if event in self.enforced else Answer(failed=str(veto))
        except programs.ProgramError as error:
            raise Failed(error.cause, str(error)) from None
        if returned is None or programs.mutation(returned) is not None:
            return Answer()
        return Answer("allow", rewrite=returned)

    def approval_asked(self, tool: str, arguments: Any) -> None:
        """No event tells of a question to a person."""

    def approval_given(self, tool: str, arguments: Any, decision: str) -> None:
        """Nor of its answer."""


DIALECTS: dict[str, Dialect] = {"1": TeaAgent()}
