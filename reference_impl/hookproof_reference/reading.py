"""What a handler did becomes an answer: a verdict, an abstention, or a failure and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .execution import Ran

if TYPE_CHECKING:
    from .dialects.base import Cause, Dialect

STDERR_SHOWN = 200
"""Characters of a failed handler's stderr that a reason shows."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One handler's answer. Without a verdict it abstains."""

    verdict: str | None = None
    reason: str = ""
    rewrite: dict[str, Any] | None = None
    """Replaces the tool's arguments as a whole; {} is one, too."""
    failed: str | None = None
    """What went wrong, for the log; None: nothing."""


class Failed(Exception):
    """A handler failed; a dialect decides by the cause what that means."""

    def __init__(self, cause: Cause, detail: str) -> None:
        """`detail` is for people; it goes into reasons after "hook failed: "."""
        super().__init__(detail)
        self.cause = cause
        self.detail = detail


def read(ran: Ran, event: str, dialect: Dialect) -> Answer:
    """The answer of a handler that ran."""
    try:
        return dialect.read(ran, event)
    except Failed as failed:
        return answer_of_failure(failed.cause, failed.detail, event, dialect)


def answer_of_failure(cause: Cause, detail: str, event: str, dialect: Dialect) -> Answer:
    """A failed handler denies where verdicts are enforced and the dialect fails closed; else it abstains, to be logged.

    (002, Failure semantics: a broken guard blocks rather than letting through.)
    """
    if event in dialect.enforced and dialect.failure[cause] == "closed":
        return Answer("deny", f"hook failed: {detail}", failed=detail)
    return Answer(failed=detail)


def must_have_ended_well(ran: Ran) -> None:
    """Raises Failed unless the handler started, ended in time, and exited with 0."""
    if ran.cannot_start is not None:
        raise Failed("cannot-start", f"cannot start: {ran.cannot_start}")
    if ran.timed_out:
        raise Failed("timeout", f"timed out after {ran.handler.timeout}s")
    if ran.signal is not None:
        raise Failed("signal", _with_stderr(f"exit code -{ran.signal}", ran))
    if ran.exit != 0:
        raise Failed("exit", _with_stderr(f"exit code {ran.exit}", ran))


def _with_stderr(text: str, ran: Ran) -> str:
    shown = ran.stderr.strip()[:STDERR_SHOWN]
    return f"{text}: {shown}" if shown else text
