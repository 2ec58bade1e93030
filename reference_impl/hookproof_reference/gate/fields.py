"""The fields of handlers with their types, and what people write instead."""

from __future__ import annotations

from .document import Kind

COMMON: dict[str, tuple[Kind, ...]] = {
    "type": ("string",),
    "if": ("string",),
    "timeout": ("number",),
    "statusMessage": ("string",),
    "once": ("boolean",),
}
"""Fields of every handler and the JSON kinds they may have. (read in the shipped program; 001, handler types)"""

FIELDS: dict[str, dict[str, tuple[Kind, ...]]] = {
    "command": {
        "command": ("string",),
        "args": ("array",),
        "shell": ("string",),
        "async": ("boolean",),
        "asyncRewake": ("boolean",),
        "rewakeMessage": ("string",),
        "rewakeSummary": ("string",),
        "onFailure": ("string",),
    },
    "http": {
        "url": ("string",),
        "headers": ("object",),
        "allowedEnvVars": ("array",),
        "onFailure": ("string",),
    },
    "mcp_tool": {"server": ("string",), "tool": ("string",), "input": ("object",), "onFailure": ("string",)},
    "prompt": {"prompt": ("string",), "model": ("string",), "continueOnBlock": ("boolean",), "onFailure": ("string",)},
    "agent": {"prompt": ("string",), "model": ("string",), "continueOnBlock": ("boolean",), "onFailure": ("string",)},
}
"""Fields of each handler type besides the common ones. (read in the shipped program; observed: onFailure)"""

REQUIRED: dict[str, tuple[str, ...]] = {
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}

ALL_FIELDS = frozenset(COMMON) | frozenset(field for fields in FIELDS.values() for field in fields)

NOTES = frozenset({"description", "comment", "comments", "name", "id", "note", "notes", "title"})
"""Keys that no program reads and that plainly are words for people; so is whatever begins with _, $ or /."""

TYPE_WORDS: dict[str, str] = {
    "cmd": "command", "shell": "command", "bash": "command", "script": "command", "exec": "command", "run": "command",
    "program": "command", "python": "command", "node": "command", "webhook": "http", "https": "http", "url": "http",
    "request": "http", "mcp": "mcp_tool", "tool": "mcp_tool", "llm": "prompt", "model": "prompt", "ai": "prompt",
    "subagent": "agent",
}  # fmt: skip
"""What people write as the type (folded), and the type that they mean."""

FIELD_WORDS: dict[str, str] = {
    "cmd": "command", "run": "command", "script": "command", "exec": "command", "shellcommand": "command", "argv": "args",
    "arguments": "args", "uri": "url", "endpoint": "url", "href": "url", "header": "headers", "envvars": "allowedEnvVars",
    "allowedenv": "allowedEnvVars", "mcpserver": "server", "servername": "server", "toolname": "tool", "text": "prompt",
    "instructions": "prompt", "message": "statusMessage", "status": "statusMessage", "condition": "if", "when": "if",
    "filter": "if", "timeoutsec": "timeout", "timeoutsecs": "timeout", "timeoutseconds": "timeout", "timeoutms": "timeout",
    "timeoutmillis": "timeout", "timelimit": "timeout", "background": "async", "kind": "type", "onerror": "onFailure",
    "failure": "onFailure",
}  # fmt: skip
"""What people write as a field (folded), and the field that they mean."""

TOOLS: tuple[str, ...] = (
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS",
    "ListMcpResources", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "ReadMcpResource", "SendMessage", "Skill",
    "SlashCommand", "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
    "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Write",
)  # fmt: skip
"""Names of tools, some of them retired, that turn up where an event belongs."""
