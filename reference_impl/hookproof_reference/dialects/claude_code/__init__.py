"""Claude Code: nested JSON settings, handlers that run at once, JSON or exit code 2 as the answer; hooks come before permissions.

Sources: 003 is the document `hooks.md`; "observed" is what the program itself was seen to do, which
holds where the two differ. What differs between versions is data in versions.py; the loop is loop.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...execution import Ran
from ...reading import Answer
from ..base import Cause, Configuration, Dialect, Direction, Fields, OnVeto, Order
from . import answers, configuration, events
from .events import Scene
from .versions import VERSIONS, Version

if TYPE_CHECKING:
    from ...runner import Runner


class ClaudeCode:
    """The rules of Claude Code at one version."""

    name = "claude-code"
    # hooks see every event; what a deny means is the event's own affair, and the loop's
    enforced = frozenset(events.EVENTS)
    severity: Mapping[str, int] = {"allow": 0, "ask": 1, "defer": 2, "deny": 3}
    # a broken guard lets the call pass, whatever broke it (observed)
    failure: Mapping[Cause, Direction] = {
        "exit": "open",
        "signal": "open",
        "timeout": "open",
        "unreadable": "open",
        "cannot-start": "open",
    }
    order: Order = "parallel"
    on_veto: OnVeto = "run-all"
    rewrite_events = frozenset({"PreToolUse", "PermissionRequest"})
    leaves_deferred = True

    def __init__(self, version: Version) -> None:
        self.version = version
        self.events: Mapping[str, tuple[str, ...]] = events.known(version)
        self.reason = version.reason
        self.rewrite = version.rewrite

    def loop(self) -> type[Runner]:
        """The loop of this program."""
        from .loop import Loop

        return Loop

    def decode(self, raw: bytes) -> str:
        """Any encoding that the program reads."""
        return configuration.decode(raw, self.version)

    def configured(self, text: str) -> Configuration:
        """`hooks` maps an event to groups, each with a matcher and a list of handlers (003, Config structure)."""
        return configuration.configured(text, self.events, self.version)

    def envelope(self, event: str, fields: Mapping[str, Any], session: Mapping[str, Any] | None, cwd: str) -> Fields:
        """The common keys and those of the event (003, stdin contract); `session` is a Scene's fields but for the cwd."""
        return events.envelope(event, fields, Scene(cwd=cwd, **(session or {})), self.version)

    def read(self, ran: Ran, event: str) -> Answer:
        """JSON on any exit code, else exit code 2, else nothing."""
        return answers.read(ran, event, self.version)


DIALECTS: dict[str, Dialect] = {number: ClaudeCode(version) for number, version in VERSIONS.items()}
