"""A hook at PreToolUse vetoes destructive tools, as a mode of its own says, beside the policy of the session."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection
from enum import Enum
from typing import Any

from .hooks import HookError, PreToolUseHookFn


class HookPermissionMode(Enum):
    """How the permission hook restricts calls; the session's own policy holds beside it (000, Permission System)."""

    ALLOW = "allow"
    """No restriction."""
    DENY = "deny"
    """Blocks every destructive tool, also one that is not in the hook's own set; other tools run."""
    ASK = "ask"
    """Blocks the tools in the hook's own set. Nobody is asked: a hook has only the veto."""
    AUTO = "auto"
    """As ASK."""


DESTRUCTIVE_TOOLS = frozenset(
    {
        "workspace_write_file",
        "workspace_apply_patch",
        "workspace_edit_at_hash",
        "git_commit",
        "git_push",
        "shell",
    }
)
"""The tools that destroy something, and the permission hook's own set unless it is given another (observed)."""


def permission_check_hook(
    mode: HookPermissionMode = HookPermissionMode.AUTO,
    *,
    destructive_tools: Collection[str] = DESTRUCTIVE_TOOLS,
    deny_patterns: Collection[str] = (),
    allow_patterns: Collection[str] = (),
) -> PreToolUseHookFn:
    """A hook that decides on each call anew (000, Permission System).

    `destructive_tools` is the hook's own set. `deny_patterns` veto a call of any tool whose argument
    `path` matches one of them; they do not count under ALLOW. `allow_patterns` lift nothing: that a tool is
    destructive is found first (observed).
    """

    def check(tool: str, arguments: dict[str, Any], /) -> None:
        if mode is HookPermissionMode.ALLOW:
            return
        if is_blocked(tool, mode, destructive_tools):
            raise HookError(f"{tool} is a destructive tool, and the permission mode is {mode.value}")
        denied = denied_by(arguments, deny_patterns)
        if denied is not None:
            raise HookError(f"the path matches {denied}, which is denied, and the permission mode is {mode.value}")

    return check


def is_blocked(tool: str, mode: HookPermissionMode, destructive_tools: Collection[str]) -> bool:
    """Whether a mode other than ALLOW blocks a tool by its name."""
    if mode is HookPermissionMode.DENY:
        return tool in DESTRUCTIVE_TOOLS or tool in destructive_tools
    return tool in destructive_tools


def denied_by(arguments: Any, patterns: Collection[str]) -> str | None:
    """The first pattern that the path in the arguments matches; without a path, that is the empty text."""
    path = arguments.get("path", "") if isinstance(arguments, dict) else ""
    return next((pattern for pattern in patterns if pattern and fnmatch.fnmatch(str(path), pattern)), None)
