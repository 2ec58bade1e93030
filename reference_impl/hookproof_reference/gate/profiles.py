"""A profile is what a file is judged against: whose settings, which version, how strict about model handlers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Compatibility = Literal["conservative-3", "documented-13"]

EVENTS_178: tuple[str, ...] = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
    "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
    "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
    "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged",
    "MessageDisplay",
)  # fmt: skip
"""The 30 names of 2.1.178, in its own order. (observed)"""

EVENTS_332: tuple[str, ...] = (*EVENTS_178, "DirectoryAdded", "PreModelSwitch", "PostModelSwitch", "PreSkillShellCommand")
"""The 34 names of 2.1.332; the last three are in no document. (observed)"""

EVENTS_SEED: tuple[str, ...] = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Notification",
    "SubagentStart", "SubagentStop", "Stop", "StopFailure", "TeammateIdle", "TaskCompleted", "InstructionsLoaded", "ConfigChange",
    "WorktreeCreate", "WorktreeRemove", "PreCompact", "PostCompact", "Elicitation", "ElicitationResult", "SessionEnd",
)  # fmt: skip
"""The 22 names of the hook-engineering gate: one tier, none more certain than another. (001, Current Official Surface)"""

MODEL_EVENTS_3 = frozenset({"PreToolUse", "PostToolUse", "PermissionRequest"})
"""Where prompt and agent handlers may stand by the narrow rule. (001, source discrepancy)"""

MODEL_EVENTS_13 = MODEL_EVENTS_3 | {
    "PostToolUseFailure", "PostToolBatch", "PermissionDenied", "Stop", "SubagentStop", "TaskCompleted", "TaskCreated",
    "TeammateIdle", "UserPromptSubmit", "UserPromptExpansion",
}  # fmt: skip
"""Where they may stand by the document. (documentation; 001, handler_event_compatibility)"""

START_EVENTS = frozenset({"SessionStart", "Setup"})
"""Only command and mcp_tool handlers are documented here. (documentation; 001)"""

TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})
"""The events whose handlers may carry `if`. (001, rule 2; observed)"""

UNMATCHED_EVENTS = frozenset({
    "UserPromptSubmit", "PostToolBatch", "Stop", "TeammateIdle", "TaskCreated", "TaskCompleted", "WorktreeCreate",
    "WorktreeRemove", "MessageDisplay", "CwdChanged",
})  # fmt: skip
"""The events whose matcher is ignored. (documentation; observed)"""

BLOCKING_EVENTS = frozenset({
    "PreToolUse", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "TeammateIdle", "TaskCreated",
    "TaskCompleted", "ConfigChange", "PostToolBatch", "PreCompact", "Elicitation", "ElicitationResult", "WorktreeCreate",
})  # fmt: skip
"""The events that exit code 2 can hold up. (documentation)"""

HANDLER_TYPES: tuple[str, ...] = ("command", "http", "mcp_tool", "prompt", "agent")

UNDOCUMENTED_EVENTS = frozenset({"PreModelSwitch", "PostModelSwitch", "PreSkillShellCommand"})
"""Events of 2.1.332 of which no document says what they heed. (observed)"""

LATEST = (2, 1, 332)
OLDER = (2, 1, 178)


@dataclass(frozen=True, slots=True)
class Profile:
    """What a file is judged against."""

    name: str
    dialect: str
    """claude-code, hook-engineering, lecode, codex, gemini-cli, qwen-code: what rules name in `profiles`."""
    version: tuple[int, ...]
    events: tuple[str, ...]
    compatibility: Compatibility = "conservative-3"
    chosen: bool = True
    """False where nobody chose a compatibility rule, so that both are named."""
    pinned: bool = False
    """Whether somebody named the version: then what differs in another one is a remark."""
    critical: str = ""
    """The word before errors."""

    @property
    def model_events(self) -> frozenset[str]:
        """The events on which prompt and agent handlers are accepted."""
        return MODEL_EVENTS_13 if self.compatibility == "documented-13" else MODEL_EVENTS_3

    @property
    def drops_file(self) -> bool:
        """Whether one bad entry takes the whole file with it on any event (2.1.178), not only on the gate events."""
        return self.version <= OLDER

    def at_least(self, *version: int) -> bool:
        """Whether this version is that one or a later one."""
        return self.version >= version


_CLAUDE = Profile("claude-code@2.1.332", "claude-code", LATEST, EVENTS_332, chosen=False)
_LECODE_EVENTS: tuple[str, ...] = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionResult", "UserPromptSubmit", "Stop",
    "SessionStart", "SessionEnd", "SubagentStart", "SubagentEnd", "PreCompact", "PostCompact", "Interrupt", "Notification",
)  # fmt: skip
_CODEX_EVENTS: tuple[str, ...] = (
    "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "SessionEnd",
    "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "Interrupt",
)  # fmt: skip
_GEMINI_EVENTS: tuple[str, ...] = (
    "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "SessionStart",
    "SessionEnd", "PreCompress", "Notification",
)  # fmt: skip

_QWEN_EVENTS: tuple[str, ...] = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion", "SessionStart",
    "SessionEnd", "SessionDelete", "MessageDisplay", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact",
    "PostCompact", "Notification", "PermissionRequest", "PermissionDenied", "TodoCreated", "TodoCompleted", "InstructionsLoaded",
)  # fmt: skip

_KNOWN: dict[str, Profile] = {
    "claude-code": _CLAUDE,
    "conservative-3": replace(_CLAUDE, chosen=True),
    "documented-13": replace(_CLAUDE, chosen=True, compatibility="documented-13"),
    "hook-engineering": Profile(
        "hook-engineering", "hook-engineering", LATEST, EVENTS_SEED, critical="HOOKS-CRITICAL"
    ),
    "lecode": Profile("lecode@1.0", "lecode", (1, 0), _LECODE_EVENTS),
    "codex": Profile("codex", "codex", (0,), _CODEX_EVENTS),
    "gemini-cli": Profile("gemini-cli", "gemini-cli", (0,), _GEMINI_EVENTS),
    "qwen-code": Profile("qwen-code", "qwen-code", (0,), _QWEN_EVENTS),
}  # fmt: skip

NAMES: tuple[str, ...] = tuple(_KNOWN)
"""What `--profile` may be; claude-code may carry `@VERSION`."""


_COMPATIBILITIES: dict[str, Compatibility] = {"conservative-3": "conservative-3", "documented-13": "documented-13"}


class UnknownProfile(ValueError):
    """There is no such profile; the message names those that there are."""


def profile(name: str = "claude-code", compatibility: str | None = None) -> Profile:
    """Look one up: `claude-code@2.1.178`, `documented-13`, `hook-engineering`, ..."""
    base, at, version = name.partition("@")
    found = _KNOWN.get(base)
    if found is None:
        raise UnknownProfile(f'there is no profile "{name}"; there are {", ".join(NAMES)} (claude-code@2.1.178 for a version)')
    if at:
        parts = version.split(".")
        if not all(part.isascii() and part.isdecimal() and len(part) < 9 for part in parts):
            raise UnknownProfile(f'"{version}" in the profile "{name}" is no version; write it as in claude-code@2.1.178')
        if found.dialect == "claude-code":
            numbers = tuple(int(part) for part in parts)
            events = EVENTS_178 if numbers <= OLDER else EVENTS_332
            found = replace(found, name=f"claude-code@{version}", version=numbers, events=events, pinned=True)
    if compatibility is not None:
        if compatibility in _COMPATIBILITIES:
            return replace(found, compatibility=_COMPATIBILITIES[compatibility], chosen=True)
        raise UnknownProfile(f'"{compatibility}" is no compatibility rule; there are conservative-3 and documented-13')
    return found
