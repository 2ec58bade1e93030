"""A program is the body of a hook function: started for each call of it, told the arguments, asked what it returns.

stdin: {"event": ..., "tool": ..., "arguments": ...} at PreToolUse, and "result" at PostToolUse;
    {"event": ..., "context": ...} at PreCompact; {"event": ..., "session_id": ..., "context": ...} at a session event
exit 0, a JSON object on stdout: the dict that the function returns
exit 0, {"mutate": {...}}: the function changes its last argument in place, and returns None
exit 0, nothing on stdout: it returns None
exit 2: it raises HookError with the text of stderr
anything else: it raises another exception
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import envelopes, execution
from ...execution import Finishing, Ran
from ...handlers import Place, process
from ...reading import STDERR_SHOWN
from ...settings import Configured
from ...teaagent import HookError
from ..base import Cause

VETO = 2
"""The exit code that is HookError."""


class ProgramError(Exception):
    """What a hook function raises whose program has neither returned anything nor vetoed."""

    def __init__(self, cause: Cause, text: str) -> None:
        """`cause` is the kind of failure, as for handlers of other dialects."""
        super().__init__(text)
        self.cause = cause


def function(handler: Configured, place: Place) -> Callable[..., dict[str, Any] | None]:
    """The hook function for a configured program, to be registered at its event."""
    names = PARAMETERS.get(handler.event, ("session_id", "context"))

    def hook(*arguments: Any) -> dict[str, Any] | None:
        told = envelopes.write(envelope(handler.event, dict(zip(names, arguments, strict=True))))
        (ran,) = execution.run_all([handler], told, place, start=_start)
        answer = returned(ran)
        changes = None if answer is None else mutation(answer)
        if changes is None:
            return answer
        arguments[-1].update(changes)
        return None

    return hook


PARAMETERS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("tool", "arguments"),
    "PostToolUse": ("tool", "arguments", "result"),
    "PreCompact": ("context",),
}
"""What hook functions are called with; those of a session with session_id and context."""


def envelope(event: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a program reads."""
    return {"event": event, **fields}


def returned(ran: Ran) -> dict[str, Any] | None:
    """What the hook function returns. Raises HookError, and ProgramError for all that is neither an answer nor a veto."""
    if ran.exit == VETO:
        raise HookError(ran.stderr.strip())
    if ran.cannot_start is not None:
        raise ProgramError("cannot-start", f"cannot start: {ran.cannot_start}")
    if ran.timed_out:
        raise ProgramError("timeout", f"timed out after {ran.handler.timeout}s")
    if ran.exit != 0:
        cause: Cause = "exit" if ran.signal is None else "signal"
        code = ran.exit if ran.signal is None else -ran.signal
        said = ran.stderr.strip()[:STDERR_SHOWN]
        raise ProgramError(cause, f"exit code {code}" + (f": {said}" if said else ""))
    if not ran.stdout.strip():
        return None
    try:
        answer = json.loads(ran.stdout)
    except (ValueError, RecursionError):
        raise ProgramError("unreadable", "the output is no JSON") from None
    if not isinstance(answer, dict):
        raise ProgramError("unreadable", "the output is no JSON object")
    return answer


def mutation(answer: dict[str, Any]) -> dict[str, Any] | None:
    """What is to be changed in place, if the answer says that."""
    changes = answer.get("mutate")
    return changes if answer.keys() == {"mutate"} and isinstance(changes, dict) else None


def _start(handlers: Sequence[Configured], told: bytes, place: Place) -> Finishing:
    # a path is started as it is: no shell stands between
    return process.run_together([([handler.command], told, handler.timeout) for handler in handlers], place)
