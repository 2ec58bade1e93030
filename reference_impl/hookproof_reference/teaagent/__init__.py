"""Hooks are Python functions in a chain: each may veto a tool call or change what passes through it.

Source: 000 is the document `spec.md`. Where the program it describes was observed to break one of its
sentences, the sentence holds here.

    >>> from hookproof_reference.teaagent import HookError, HookEvent, HookRunner, call_tool, permission_check_hook
    >>> def careful(tool, arguments):
    ...     if "rm" in arguments["command"]:
    ...         raise HookError("not on fridays")
    ...     return {**arguments, "dry_run": True}
    >>> hooks = HookRunner()
    >>> _ = hooks.register(HookEvent.PRE_TOOL_USE, careful)
    >>> hooks.run_pre_tool_use("run", {"command": "ls"})
    {'command': 'ls', 'dry_run': True}
    >>> call_tool(hooks, "run", {"command": "rm x"}, lambda arguments: {"content": "done"}).reason
    'not on fridays'
    >>> _ = hooks.register("PreToolUse", permission_check_hook())
    >>> call_tool(hooks, "git_push", {"command": "push"}, lambda arguments: {"content": "pushed"}).outcome
    'blocked'

The same behind a settings file and the runner protocol is the dialect `teaagent/1`. All times are seconds.
"""

from __future__ import annotations

from .calls import ToolRaised, call_tool
from .commands import lint_check_hook, post_lint_check_hook, shell_command_hook
from .hooks import (
    HookConfig,
    HookError,
    HookEvent,
    HookFn,
    HookRunner,
    PostToolUseHookFn,
    PreCompactHookFn,
    PreToolUseHookFn,
    SessionHookFn,
)
from .permission import DESTRUCTIVE_TOOLS, HookPermissionMode, permission_check_hook

__all__ = [
    "DESTRUCTIVE_TOOLS",
    "HookConfig",
    "HookError",
    "HookEvent",
    "HookFn",
    "HookPermissionMode",
    "HookRunner",
    "PostToolUseHookFn",
    "PreCompactHookFn",
    "PreToolUseHookFn",
    "SessionHookFn",
    "ToolRaised",
    "call_tool",
    "lint_check_hook",
    "permission_check_hook",
    "post_lint_check_hook",
    "shell_command_hook",
]
