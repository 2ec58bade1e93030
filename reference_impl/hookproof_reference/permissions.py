"""The host's own verdict and the hooks' verdict become what is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .merging import Merged

if TYPE_CHECKING:
    from .dialects.base import Dialect

Outcome = Literal["ran", "failed", "blocked", "asked", "deferred", "error"]

YES = frozenset({"allow_once", "allow_always", "auto"})
"""What an approver may answer to let a call run; `auto` is nobody, who agrees to everything."""


@dataclass(frozen=True, slots=True)
class Enforced:
    """What is done with a call.

    `ran` lets it run, `blocked` does not, `asked` waits for an answer that nobody has given, `deferred`
    leaves it for later.
    """

    outcome: Outcome
    reason: str = ""


def decide(host: str, approval: str | None, merged: Merged | None, dialect: Dialect) -> Enforced:
    """The stricter of host and hooks holds: hooks narrow, they never widen (002, introduction).

    `host` is the host's verdict (allow, ask, deny), `approval` the answer of an approver (None: not
    asked, or nobody there), `merged` what the hooks say (None: not consulted).
    """
    hooks = merged.verdict if merged else None
    verdict = stricter(host, hooks, dialect)
    # a reason is shown when the verdict narrows, not when the hooks agree
    reason = merged.reason if merged and hooks in ("ask", "deny") else ""
    if verdict == "deny":
        return Enforced("blocked", reason or ("" if hooks == "deny" else "denied by the host"))
    if verdict == "ask":
        return answered(approval, reason)
    if verdict == "defer" and dialect.leaves_deferred:
        return Enforced("deferred")
    return Enforced("ran", reason)


def stricter(host: str, hooks: str | None, dialect: Dialect) -> str:
    """The more severe of two verdicts; hooks without one change nothing."""
    return host if hooks is None else max(host, hooks, key=dialect.severity.__getitem__)


def answered(approval: str | None, reason: str) -> Enforced:
    """What an Ask comes to: it runs if the approver agrees, and never without an approver."""
    if approval is None:
        return Enforced("asked", reason)
    if approval in YES:
        return Enforced("ran", reason)
    return Enforced("blocked", reason or "denied by the approver")
