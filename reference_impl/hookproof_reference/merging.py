"""Many answers become one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .reading import Answer

if TYPE_CHECKING:
    from .dialects.base import Dialect

Severity = Mapping[str, int]
Rewrite = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """What the handlers of one event say together. Without a verdict all of them abstained."""

    verdict: str | None = None
    reason: str = ""
    rewrite: Rewrite | None = None
    """Kept beside a deny as well, where nothing runs that it could be applied to."""
    failed: tuple[str, ...] = ()


def merge(answers: Sequence[Answer], dialect: Dialect) -> Merged:
    """The most severe verdict, with the reason and the rewrite that the dialect picks.

    `answers` come in the order of the settings, or, where all handlers run at once, in that of their ends.
    """
    return Merged(
        verdict=most_severe(answers, dialect.severity),
        reason=REASONS[dialect.reason](answers, dialect.severity),
        rewrite=REWRITES[dialect.rewrite](answers, dialect.severity),
        failed=tuple(a.failed for a in answers if a.failed is not None),
    )


def most_severe(answers: Sequence[Answer], severity: Severity) -> str | None:
    """The most severe verdict wins (002, The verdict protocol); None if all abstained."""
    return max((a.verdict for a in answers if a.verdict is not None), key=severity.__getitem__, default=None)


def first_reason(answers: Sequence[Answer], severity: Severity) -> str:
    """The first non-empty reason of any handler, also of one whose verdict does not hold (002, The verdict protocol)."""
    return next((a.reason for a in answers if a.reason), "")


def reason_of_most_severe(answers: Sequence[Answer], severity: Severity) -> str:
    """The reason of the first handler that gave the verdict which holds."""
    verdict = most_severe(answers, severity)
    return next((a.reason for a in answers if a.reason and a.verdict == verdict), "")


def rewrite_of_most_severe(answers: Sequence[Answer], severity: Severity) -> Rewrite | None:
    """The rewrite of the most severe handler that gave one (002, The verdict protocol); among equals, of the first."""
    given = [a for a in answers if a.rewrite is not None and a.verdict is not None]
    # max() keeps the first of equals: that is the rule, not an accident
    chosen = max(given, key=lambda a: severity[a.verdict or ""], default=None)
    return chosen.rewrite if chosen else None


def last_rewrite(answers: Sequence[Answer], severity: Severity) -> Rewrite | None:
    """The rewrite of the last handler that gave one, whatever its verdict."""
    return next((a.rewrite for a in reversed(answers) if a.rewrite is not None), None)


def last_reason_of_most_severe(answers: Sequence[Answer], severity: Severity) -> str:
    """The reason of the last handler that gave the verdict which holds."""
    return reason_of_most_severe(answers[::-1], severity)


def last_reason_or_first_ask(answers: Sequence[Answer], severity: Severity) -> str:
    """As `last_reason_of_most_severe`, but of several that ask, the first."""
    chosen = reason_of_most_severe if most_severe(answers, severity) == "ask" else last_reason_of_most_severe
    return chosen(answers, severity)


def last_rewrite_of_verdict(answers: Sequence[Answer], severity: Severity) -> Rewrite | None:
    """What the last handler that gave the verdict which holds has rewritten, even if that is nothing.

    Then the last rewrite of a handler without a verdict counts.
    """
    verdict = most_severe(answers, severity)
    decisive = next((a.rewrite for a in reversed(answers) if verdict is not None and a.verdict == verdict), None)
    return decisive if decisive is not None else last_rewrite([a for a in answers if a.verdict is None], severity)


REASONS: dict[str, Callable[[Sequence[Answer], Severity], str]] = {
    "first": first_reason,
    "most-severe": reason_of_most_severe,
    "last": last_reason_of_most_severe,
    "last-or-first-ask": last_reason_or_first_ask,
}
"""Whose reason is reported, by the name that a dialect gives."""

REWRITES: dict[str, Callable[[Sequence[Answer], Severity], Rewrite | None]] = {
    "most-severe": rewrite_of_most_severe,
    "last": last_rewrite,
    "last-of-verdict": last_rewrite_of_verdict,
}
"""Whose rewrite is applied, by the name that a dialect gives."""
