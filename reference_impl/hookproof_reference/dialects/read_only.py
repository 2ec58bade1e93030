"""An agent of which only the reading is known: what one handler's end and output come to there, as a table of rules.

Nothing is started, merged or enforced in such a dialect; it answers the op `read` and no run. The rules stand
in the order in which the agent looks; the first that applies decides, and says where it is known from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..execution import Ran

Json = dict[str, Any]
Verdict = Literal["allow", "ask", "deny"] | None
NO_JSON = object()
"""Stands for a text that is no JSON: null is JSON, too."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one handler did, as an agent looks at it."""

    event: str
    exit: int | None
    signal: int | None
    timed_out: bool
    cannot_start: str | None
    stdout: str
    """Without white space around it."""
    stderr: str
    value: Any
    """The JSON in the text that the agent reads; NO_JSON: it is none."""

    @property
    def body(self) -> Json:
        """The JSON object; {} when it is none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def own(self) -> Json:
        """Its hookSpecificOutput; {} when that is no object."""
        found = self.body.get("hookSpecificOutput")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: when it applies, what it comes to, and at which events that was observed."""

    applies: Callable[[Seen], bool]
    verdict: Verdict
    why: str
    """For people; {exit} is the exit code."""
    seen: Sequence[str] = ()
    """The events at which the agent was observed to do so; for all others it is read in its source."""
    failed: bool = False
    """The agent counts the handler as failed."""
    reason: Callable[[Seen], Any] = lambda seen: ""
    rewrite: Callable[[Seen], Any] = lambda seen: None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What it comes to, why, and where that is known from."""

    verdict: Verdict
    blocks: bool
    reason: str
    why: str
    source: str
    rewrite: Json | None = None
    context: tuple[str, ...] = ()
    failed: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """One agent at one version."""

    name: str
    version: str
    events: tuple[str, ...]
    holds: frozenset[str]
    """The events that a handler can hold up; for those after a tool: at which the model is told."""
    rules: Sequence[Rule]
    text: Callable[[Ran], str]
    """The text that the agent looks at for JSON."""
    trim: Callable[[str], str]
    plain_is_context: frozenset[str] = frozenset()
    """The events at which plain text is for the model."""
    twice: bool = field(default=False)
    """JSON within a JSON string is read as well."""

    def opinion(self, ran: Ran, event: str) -> Opinion:
        """What this end and output come to at this event."""
        seen = self._seen(ran, event)
        rule = next(rule for rule in self.rules if rule.applies(seen))
        why = rule.why.format(exit=seen.exit)
        source = f"observed at {self.version}" if event in rule.seen else "read in its source, not observed"
        if rule.verdict in ("deny", "ask") and event not in self.holds:
            why, source = f"{event} only tells: no answer holds anything up there", "its documentation"
        context = self._context(seen)
        if context and seen.value is NO_JSON:
            why += "; the model reads it"
        reason, rewrite = rule.reason(seen), rule.rewrite(seen)
        return Opinion(
            rule.verdict,
            rule.verdict in ("deny", "ask") and event in self.holds,
            reason if isinstance(reason, str) else "",
            why,
            source,
            rewrite if isinstance(rewrite, dict) else None,
            context,
            why if rule.failed else None,
            (rule.note,) if rule.note else (),
        )

    def _seen(self, ran: Ran, event: str) -> Seen:
        return Seen(
            event,
            ran.exit,
            ran.signal,
            ran.timed_out,
            ran.cannot_start,
            self.trim(ran.stdout),
            self.trim(ran.stderr),
            parsed(self.trim(self.text(ran)), twice=self.twice),
        )

    def _context(self, seen: Seen) -> tuple[str, ...]:
        if seen.exit != 0:
            return ()
        if seen.value is NO_JSON and seen.stdout and seen.event in self.plain_is_context:
            return (seen.stdout,)
        given = seen.own.get("additionalContext")
        return (given,) if isinstance(given, str) and given else ()


def parsed(text: str, *, twice: bool = False) -> Any:
    """The JSON that is the whole of a text, or NO_JSON."""
    try:
        value = json.loads(text, parse_constant=_no_number)
        return json.loads(value, parse_constant=_no_number) if twice and isinstance(value, str) else value
    except (ValueError, RecursionError):
        return NO_JSON


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def javascript_trim(text: str) -> str:
    """White space around a text, to which JavaScript counts the byte order mark."""
    return text.strip(" \t\n\r\v\f\u00a0\u2028\u2029\ufeff")


def otherwise(seen: Seen) -> bool:
    """The last row's condition."""
    return True


def denies(seen: Seen) -> bool:
    """A top-level decision says no."""
    return seen.body.get("decision") in ("deny", "block")


def says(key: str, *values: Any) -> Callable[[Seen], bool]:
    """Whether a key at the top has one of these values, of the same type."""
    return lambda seen: any(seen.body.get(key) is value or seen.body.get(key) == value for value in values)


EVENTS_OF: Mapping[str, tuple[str, ...]] = {
    "tool": ("PreToolUse", "BeforeTool"),
    "prompt": ("UserPromptSubmit", "BeforeAgent"),
    "stop": ("Stop", "AfterAgent"),
    "after": ("PostToolUse", "AfterTool"),
}


def at(*kinds: str) -> tuple[str, ...]:
    """The events of these kinds, by any agent's name."""
    return tuple(event for kind in kinds for event in EVENTS_OF[kind])
