"""The names that matchers and conditions are compared with: tools, and the values of each other event."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from .pattern import pattern

TOOLS: frozenset[str] = frozenset({
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Brief", "Config", "CronCreate", "CronDelete", "CronList", "Edit",
    "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell",
    "ListMcpResources", "ListMcpResourcesTool", "LSP", "McpAuth", "Monitor", "NotebookEdit", "PowerShell",
    "PushNotification", "Read", "ReadMcpResource", "ReadMcpResourceTool", "RemoteTrigger", "REPL", "ScheduleWakeup",
    "SendMessage", "SendUserFile", "SendUserMessage", "ShareOnboardingGuide", "Skill", "SlashCommand", "Sleep",
    "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate",
    "TeamDelete", "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
})  # fmt: skip
"""Built-in tools of Claude Code, of any supported version. (documentation; observed)"""

RETIRED: dict[str, str] = {
    "LS": "Bash or Glob",
    "MultiEdit": "Edit",
    "NotebookRead": "Read",
    "TodoRead": "TaskList",
    "Batch": "the single tools",
    "BatchTool": "the single tools",
    "View": "Read",
    "Replace": "Write",
    "GlobTool": "Glob",
    "GrepTool": "Grep",
    "BashTool": "Bash",
    "FileEdit": "Edit",
    "FileEditTool": "Edit",
    "FileReadTool": "Read",
    "FileWriteTool": "Write",
    "AgentTool": "Task",
    "dispatch_agent": "Task",
}
"""Names that no supported version gives to a tool any more, and what does the work now."""

FOREIGN: dict[str, str] = {
    "run_shell_command": "Bash",
    "shell": "Bash",
    "local_shell": "Bash",
    "exec_command": "Bash",
    "execute_command": "Bash",
    "run_terminal_cmd": "Bash",
    "run_in_terminal": "Bash",
    "terminal": "Bash",
    "apply_patch": "Edit",
    "str_replace_editor": "Edit",
    "str_replace_based_edit_tool": "Edit",
    "edit_file": "Edit",
    "replace": "Edit",
    "replace_in_file": "Edit",
    "search_replace": "Edit",
    "write_file": "Write",
    "write_to_file": "Write",
    "create_file": "Write",
    "read_file": "Read",
    "read_many_files": "Read",
    "list_directory": "Glob",
    "search_file_content": "Grep",
    "grep_search": "Grep",
    "google_web_search": "WebSearch",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}
"""Tools of other agents, and the one that does the same here."""

VALUES: dict[str, tuple[str, ...]] = {
    "SessionStart": ("startup", "resume", "clear", "compact"),
    "SessionEnd": ("clear", "resume", "logout", "prompt_input_exit", "bypass_permissions_disabled", "other"),
    "PreCompact": ("manual", "auto"),
    "PostCompact": ("manual", "auto"),
    "Setup": ("init", "maintenance"),
    "Notification": (
        "permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog", "elicitation_url_dialog",
        "elicitation_complete", "elicitation_response", "agent_needs_input", "agent_completed", "worker_permission_prompt",
        "computer_use_enter", "computer_use_exit", "quota_auto_resume_fired", "quota_auto_resume_stale",
        "quota_auto_resume_disabled", "quota_auto_resume_scheduled", "quota_auto_resume_started",
        "quota_auto_resume_failed", "push_notification",
    ),
    "ConfigChange": ("user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
    "InstructionsLoaded": ("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
    "StopFailure": (
        "rate_limit", "overloaded", "authentication_failed", "oauth_org_not_allowed", "billing_error", "invalid_request",
        "model_not_found", "server_error", "max_output_tokens", "unknown",
    ),
}  # fmt: skip
"""What the matcher of an event is compared with where the values are a closed list. (documentation; observed)"""

LIST_178 = pattern(r"[A-Za-z0-9_|]+\Z")
"""Up to 2.1.190 only such matchers are lists of whole names; all others are regular expressions."""

LIST_332 = pattern(r"[A-Za-z0-9_|, -]+\Z")
"""Later versions take commas, blanks and hyphens into lists too."""


def names_of(matcher: str) -> list[str] | None:
    """The names of a matcher that is a list in some version; None for a regular expression."""
    if not LIST_332.match(matcher):
        return None
    return [name.strip() for name in re.split(r"[|,]", matcher, maxsplit=200)[:200]]


_NOT_JAVASCRIPT = pattern(r"\(\?[aiLmsux]+[):-]|\(\?P|\(\?#|\(\?\(|[*+?}]\+|\(\?>|\\[AZ]")

_ANYTHING = pattern("")


@lru_cache(maxsize=512)
def pattern_of(matcher: str) -> re.Pattern[str] | str:
    """The regular expression as JavaScript would take it, or a sentence that says why it would not.

    Python's engine stands in for JavaScript's: what only Python knows is refused here, `(?<name>` is put into
    Python's words. `\\p{L}` has no meaning without the u flag, as there.
    """
    odd = _NOT_JAVASCRIPT.search(matcher)
    if odd is not None:
        return f'"{odd[0]}" is not known to JavaScript'
    try:
        with warnings.catch_warnings():
            # what Python is going to read differently one day is no news about a matcher
            warnings.simplefilter("ignore", FutureWarning)
            compiled = re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", matcher).replace(r"\p", "p"))
        # one that could take exponential time is not tried: it counts as matching whatever it is asked
        return _ANYTHING if repeats_a_repetition(matcher) or re.search(r"\|[^()]*\)[+*{]", matcher) else compiled
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)


def repeats_a_repetition(text: str) -> bool:
    """Whether a repeated group holds a repetition without bounds at its own end or alone."""
    open_groups: list[bool] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 2
            continue
        if c == "[":
            closing = text.find("]", i + 2)
            if closing < 0:
                return False
            i = closing + 1
            continue
        if c == "(":
            open_groups.append(False)
        elif c == ")" and open_groups:
            inner = open_groups.pop()
            repeated = text[i + 1 : i + 2] in ("+", "*") or re.match(r"\{\d+,?\d*\}", text[i + 1 :]) is not None
            if inner and repeated:
                return True
            if open_groups and (inner or repeated):
                open_groups[-1] = True
        elif c in "+*" and open_groups:
            open_groups[-1] = True
        i += 1
    return False
