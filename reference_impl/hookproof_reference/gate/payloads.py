"""What stands in the input of each event, and in the input of each tool: the values that a token can name."""

from __future__ import annotations

from .vocabulary import names_of, pattern_of

_COMMON = frozenset({
    "session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "effort", "hook_event_name", "agent_id", "agent_type",
})  # fmt: skip
_CALL = frozenset({"tool_name", "tool_input", "tool_use_id", "mcp_server"})

_OF_EVENT: dict[str, frozenset[str]] = {
    "PreToolUse": _CALL,
    "PermissionRequest": _CALL | {"permission_suggestions"},
    "PermissionDenied": _CALL | {"reason"},
    "PostToolUse": _CALL | {"tool_response", "duration_ms"},
    "PostToolUseFailure": _CALL | {"error", "is_interrupt", "duration_ms"},
    "PostToolBatch": frozenset({"tool_calls"}),
    "UserPromptSubmit": frozenset({"prompt", "session_title"}),
    "UserPromptExpansion": frozenset({"expansion_type", "command_name", "command_args", "command_source", "prompt"}),
    "Stop": frozenset({"stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"}),
    "SubagentStart": frozenset(),
    "SubagentStop": frozenset({
        "stop_hook_active", "agent_transcript_path", "last_assistant_message", "background_tasks", "session_crons",
    }),
    "PreCompact": frozenset({"trigger", "custom_instructions"}),
    "PostCompact": frozenset({"trigger", "compact_summary"}),
    "Notification": frozenset({"message", "title", "notification_type"}),
    "SessionEnd": frozenset({"reason"}),
    "CwdChanged": frozenset({"old_cwd", "new_cwd"}),
    "FileChanged": frozenset({"file_path", "event"}),
    "TaskCreated": frozenset({"task_id", "task_subject", "task_description"}),
    "TaskCompleted": frozenset({"task_id", "task_subject", "task_description"}),
}  # fmt: skip
"""Fields beside the common ones, of the events whose payload has been seen. (observed on 2.1.178 and 2.1.332)"""

_OF_TOOL: dict[str, frozenset[str]] = {
    "Bash": frozenset({"command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox"}),
    "Read": frozenset({"file_path", "offset", "limit", "pages"}),
    "Write": frozenset({"file_path", "content"}),
    "Edit": frozenset({"file_path", "old_string", "new_string", "replace_all"}),
    "NotebookEdit": frozenset({"notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"}),
    "Glob": frozenset({"pattern", "path"}),
    "WebFetch": frozenset({"url", "prompt"}),
    "WebSearch": frozenset({"query", "allowed_domains", "blocked_domains"}),
}
"""The parameters of tools. (documentation; observed)"""

REQUIRED: dict[str, tuple[str, ...]] = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
    "WebFetch": ("url", "prompt"),
    "WebSearch": ("query",),
}
"""The parameters that a tool cannot do without."""


def has_field(event: str, name: str) -> bool:
    """Whether the payload of an event has a field; True where that is not known."""
    known = _OF_EVENT.get(event)
    return known is None or name in known or name in _COMMON


def has_parameter(tools: list[str] | None, name: str) -> bool:
    """Whether one of these tools has a parameter; True where that is not known."""
    if not tools or any(tool not in _OF_TOOL for tool in tools):
        return True
    return any(name in _OF_TOOL[tool] for tool in tools)


def tools_matched(matcher: str | None) -> list[str]:
    """The tools with known parameters that a matcher lets through; none where a list names others, too."""
    if not matcher or matcher in ("*", ".*"):
        return []
    names = names_of(matcher)
    if names is not None:
        return names if all(name in _OF_TOOL for name in names) else []
    found = pattern_of(matcher)
    return [] if isinstance(found, str) else [tool for tool in _OF_TOOL if found.search(tool)]
