"""On what a property is asked: a dialect with what a runner declares, and the handlers that can be described there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from . import applicability
from .cases import Call, Case, Expect, Handler, Say, given
from .dialects import Dialect
from .protocol import Posture, Scope
from .results import Moment

INPUT = {"command": "echo asked"}
REWRITES = ({"command": "echo rewritten"}, {"command": "echo otherwise"})
AFTER_CALL = "PostToolUse"
LIFTED_ASK = frozenset({"claude-code"})
"""Dialects in which an allow of a hook stands for the approval that the host's own ask wants."""


@dataclass(frozen=True)
class Ground:
    """On what a relation is asked: a dialect, and what the runner declares."""

    dialect: Dialect
    version: str
    asked: str
    posture: Posture | None
    features: frozenset[str]
    scope: Scope

    def can_say(self, handler: Handler) -> bool:
        """Whether the dialect has words for this handler, and the runner declares what it needs."""
        case = Case(
            id="", rule="", why="", expect=Expect(), killed_by=[], handlers=[handler], call=Call(tool="shell", input=INPUT)
        )
        if not set(applicability.needs(case, self.dialect)) <= self.features:
            return False
        return applicability.unsayable(case, self.dialect, self.version) is None

    def settled(self, handlers: Sequence[Handler]) -> list[Handler]:
        """The handlers, where it is chance who ends first without those that make it matter.

        That is every rewrite but the first, and beside a rewrite every plain allow: Claude Code 2.1.178 forgets the
        rewrite when the allow is the last to finish.
        """
        first = next((number for number, handler in enumerate(handlers) if rewrites(handler)), None)
        if first is None or self.posture is None or self.posture.order == "sequential":
            return list(handlers)
        return [h for number, h in enumerate(handlers) if number == first or not (rewrites(h) or verdict_of(h) == "allow")]

    @cached_property
    def before(self) -> list[Handler]:
        """The handlers that can stand before a tool call, the simplest first."""
        return [handler for handler in HANDLERS if self.can_say(handler)]

    @cached_property
    def permissive(self) -> list[Handler]:
        """Those of them that let the call run."""
        return [handler for handler in self.before if verdict_of(handler) in (None, "allow") and not fails(handler)]

    @cached_property
    def after(self) -> list[Handler]:
        """The handlers that can stand after one."""
        configured = [msgspec.structs.replace(h, event=AFTER_CALL) for h in HANDLERS]
        return [handler for handler in configured if self.can_say(handler)]

    def lifts_ask(self) -> bool:
        """Whether a hook's allow may let a call run that the host would ask about."""
        return self.dialect.name in LIFTED_ASK


@dataclass(frozen=True, slots=True)
class Observation:
    """What one request came to: `hook` and `outcomes` are claimed, all else is seen in the ledger."""

    runs: tuple[int, ...]
    """How often the tool of each call ran: t1, t2, ..."""
    input: Any
    """The arguments with which t1 ran first; UNSET where it did not run, or read no JSON."""
    started: tuple[str, ...]
    """The handlers, one entry per start, in order."""
    ended: frozenset[str]
    """The handlers that came to their end by themselves: nobody cut them."""
    hook: str | None
    """The merged verdict that the answer claims for t1; None where that step was skipped."""
    outcomes: tuple[str, ...]
    """What the answer claims to have done with each call."""
    story: tuple[Moment, ...]
    """All facts with their times, for people."""


def _handlers() -> tuple[Handler, ...]:
    verdicts: list[Say] = [
        Say(verdict=verdict, reason=reason) for verdict in ("allow", "deny", "ask", "defer") for reason in (None, f"{verdict} it")
    ]
    rewriting = [Say(verdict=v, input=value) for v in ("allow", None, "ask", "deny") for value in REWRITES]
    return (
        Handler(),
        *(Handler(say=say) for say in verdicts),
        *(Handler(say=say) for say in rewriting),
        Handler(say=Say(verdict="allow", context="told by a handler")),
        Handler(exit=1),
        Handler(exit=3, stderr="broken"),
        Handler(exit=2, stderr="no"),
        Handler(signal="KILL"),
        Handler(raw="{"),
        Handler(raw="all is well"),
        Handler(missing=True),
        Handler(read="none"),
        Handler(read="none", say=Say(verdict="deny", reason="unread")),
    )


HANDLERS = _handlers()
"""What handlers are made of, the simplest first: a failing example shrinks towards the front."""


def verdict_of(handler: Handler) -> str | None:
    """What a handler says, when it says it in a verdict."""
    return next((say.verdict for say in applicability.says(handler) if say.verdict is not None), None)


def rewrites(handler: Handler) -> bool:
    """Whether a handler gives other arguments."""
    return any(given(say.input) for say in applicability.says(handler))


def fails(handler: Handler) -> bool:
    """Whether a handler does not do what a handler must, so that the runner has to decide what that means."""
    return bool(handler.exit or handler.signal or handler.raw or handler.missing)


def means_block(handler: Handler, posture: Posture) -> bool:
    """Whether the way in which a handler fails blocks, by the posture."""
    if handler.missing:
        # a shell that does not find a program ends with an exit code of its own
        return posture.failure.cannot_start == posture.failure.exit == "closed"
    causes = [("signal", handler.signal), ("exit", handler.exit), ("unreadable", handler.raw)]
    cause = next((name for name, given_ in causes if given_), None)
    return cause is not None and bool(getattr(posture.failure, cause) == "closed")
