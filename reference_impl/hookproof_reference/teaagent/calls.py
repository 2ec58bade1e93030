"""A tool call passes the chain and the session's own policy, runs, and passes the chain again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..permissions import Enforced
from ..runner import Called
from .hooks import HookError, HookRunner, Json, described

Permitted = Callable[[str, Json], Enforced]
"""The session's policy: what it does with a call of this tool with these arguments; only `ran` lets it run."""


class ToolRaised(Exception):
    """A tool has raised; its text is the message as it is."""

    def __init__(self, text: str, *, started: bool = True) -> None:
        """`started` is false when it did not even begin."""
        super().__init__(text)
        self.started = started


def call_tool(
    hooks: HookRunner,
    tool: str,
    arguments: Json,
    run: Callable[[Json], Json],
    *,
    permitted: Permitted = lambda tool, arguments: Enforced("ran"),
) -> Called:
    """What becomes of a call. Nothing that a hook or the tool raises gets past this function (000, Invariants).

    The policy sees the arguments as the hooks have left them, so that a change cannot evade it, and the
    stricter of the two holds. A result with `is_error` true is a failed one.
    """
    try:
        changed = hooks.run_pre_tool_use(tool, arguments)
    except HookError as veto:
        return Called("deny", "blocked", started=False, reason=str(veto))
    except Exception as error:  # a hook is foreign code: whatever it raises stops the call (observed)
        return Called("deny", "error", started=False, reason=described(error))
    effective: Any = arguments if changed is None else changed
    hook = "none" if effective is arguments else "allow"
    if not isinstance(effective, dict):
        return Called(hook, "error", started=False, reason=f"TypeError: arguments must be an object, not {_kind(effective)}")
    enforced = permitted(tool, effective)
    if enforced.outcome != "ran":
        return Called(hook, enforced.outcome, started=False, reason=enforced.reason)
    try:
        result = run(effective)
    except ToolRaised as error:
        return Called(hook, "error", started=error.started, reason=str(error))
    except Exception as error:  # a tool is foreign code, too; no hook hears of it (observed)
        return Called(hook, "error", started=True, reason=described(error))
    failed = result.get("is_error") is True
    feedback: list[str] = []
    delivered = after_tool(hooks, tool, effective, result, feedback)
    return Called(hook, "failed" if failed else "ran", True, enforced.reason, delivered, feedback)


def after_tool(hooks: HookRunner, tool: str, arguments: Json, result: Json, feedback: list[str]) -> Json:
    """The result that is delivered, whatever the hooks raise; what they raise is added to the feedback."""
    changed: Any = hooks.run_post_tool_use(tool, arguments, result, raised=lambda error: feedback.append(described(error)))
    if changed is None:
        return result
    if not isinstance(changed, dict):
        feedback.append(f"TypeError: a result must be an object, not {_kind(changed)}")
        return result
    return changed


def _kind(value: object) -> str:
    return type(value).__name__
