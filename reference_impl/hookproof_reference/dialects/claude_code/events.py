"""All events: which keys their envelopes have beside the common ones, and what a matcher is compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .versions import Version

EFFORT = "medium"
"""The level of effort that envelopes and CLAUDE_EFFORT name."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `own` are the fields that only it has, with what they hold if nobody says more."""

    own: Mapping[str, Any] = field(default_factory=dict)
    subject: str | None = None
    """The key whose value a matcher is compared with; None: matchers are ignored."""
    prompt: bool = True
    """Whether the envelope names the prompt, at versions that do."""
    mode: bool = False
    """Whether it names the permission mode."""
    effort: bool = False


def _tool(**own: Any) -> Event:
    return Event({"tool_name": "", "tool_input": {}, **own}, "tool_name", mode=True, effort=True)


_END: dict[str, Any] = {
    "stop_hook_active": False,
    "last_assistant_message": "",
    "background_tasks": [],
    "session_crons": [],
}

EVENTS: dict[str, Event] = {
    "PreToolUse": _tool(tool_use_id=""),
    "PostToolUse": _tool(tool_response={}, tool_use_id="", duration_ms=0),
    "PostToolUseFailure": _tool(tool_use_id="", error="", is_interrupt=False, duration_ms=0),
    "PostToolBatch": Event({"tool_calls": []}, mode=True, effort=True),
    "Notification": Event({"message": "", "notification_type": ""}, "notification_type"),
    "UserPromptSubmit": Event({"prompt": ""}, mode=True),
    "UserPromptExpansion": Event(
        {"expansion_type": "", "command_name": "", "command_args": "", "command_source": "", "prompt": ""},
        "command_name",
        mode=True,
    ),
    "SessionStart": Event({"source": "startup"}, "source", prompt=False),
    "SessionEnd": Event({"reason": "other"}, "reason"),
    "Stop": Event(_END, mode=True, effort=True),
    "StopFailure": Event({"error": "", "last_assistant_message": ""}, "error", effort=True),
    "SubagentStart": Event({}, "agent_type"),
    "SubagentStop": Event(
        {
            "stop_hook_active": False,
            "agent_transcript_path": "",
            "last_assistant_message": "",
            "background_tasks": [],
            "session_crons": [],
        },
        "agent_type",
        mode=True,
        effort=True,
    ),
    "PreCompact": Event({"trigger": "manual", "custom_instructions": ""}, "trigger"),
    "PostCompact": Event({"trigger": "manual", "compact_summary": ""}, "trigger"),
    "PermissionRequest": _tool(permission_suggestions=[]),
    "PermissionDenied": _tool(tool_use_id="", reason=""),
    "Setup": Event({"trigger": "init"}, "trigger", prompt=False),
    "TeammateIdle": Event({"teammate_name": "", "team_name": ""}),
    "TaskCreated": Event({"task_id": "", "task_subject": "", "task_description": ""}),
    "TaskCompleted": Event({"task_id": "", "task_subject": "", "task_description": ""}),
    "Elicitation": Event({"mcp_server_name": "", "message": ""}, "mcp_server_name"),
    "ElicitationResult": Event({"mcp_server_name": "", "action": ""}, "mcp_server_name"),
    "ConfigChange": Event({"source": "", "file_path": ""}, "source"),
    "WorktreeCreate": Event({"name": ""}, prompt=False),
    "WorktreeRemove": Event({"worktree_path": ""}, prompt=False),
    "InstructionsLoaded": Event(
        {"file_path": "", "memory_type": "", "load_reason": "session_start"}, "load_reason", prompt=False
    ),
    "CwdChanged": Event({"old_cwd": "", "new_cwd": ""}),
    "FileChanged": Event({"file_path": "", "event": "change"}, "file_path"),
    "MessageDisplay": Event({"turn_id": "", "message_id": "", "index": 0, "final": True, "delta": ""}),
    "DirectoryAdded": Event({"path": ""}),
    "PreModelSwitch": Event({}),
    "PostModelSwitch": Event({}),
    "PreSkillShellCommand": _tool(tool_use_id="", command_name="", command_source="", invoked_by=""),
}
"""The last four came after 2.1.178."""

_LATE = ("DirectoryAdded", "PreModelSwitch", "PostModelSwitch", "PreSkillShellCommand")

TITLED = frozenset({"SessionStart", "UserPromptSubmit"})
"""The events that name the session's title, where it has one (003, stdin contract)."""

_AFTER_A_PROMPT = {"compact", "clear"}
"""The sources of a SessionStart that comes after a prompt."""


def known(version: Version) -> dict[str, tuple[str, ...]]:
    """The events of a version, with the fields that only they have."""
    return {name: tuple(event.own) for name, event in EVENTS.items() if name not in _LATE or name in version.newer_events}


@dataclass(frozen=True, slots=True)
class Scene:
    """What the envelopes of a session have in common."""

    session_id: str
    cwd: str
    home: str
    prompt_id: str
    mode: str
    agent_id: str | None = None
    agent_type: str | None = None
    title: str | None = None
    """The session's title, as it was named or as a hook has set it."""

    @property
    def transcript(self) -> str:
        """Where the session is written down: below the home folder, by the project's path."""
        return f"{self.home}/.claude/projects/{re.sub('[^A-Za-z0-9]', '-', self.cwd)}/{self.session_id}.jsonl"


def envelope(name: str, fields: Mapping[str, Any], scene: Scene, version: Version) -> dict[str, Any]:
    """The object that handlers get on stdin, its keys in the order of the program."""
    event = EVENTS[name]
    own = {**event.own, **fields}
    if scene.title is not None and name in TITLED:
        own.setdefault("session_title", scene.title)
    agent_id, agent_type = own.pop("agent_id", scene.agent_id), own.pop("agent_type", scene.agent_type)
    common: dict[str, Any] = {"session_id": scene.session_id, "transcript_path": scene.transcript, "cwd": scene.cwd}
    if version.prompt_id and (event.prompt or (name == "SessionStart" and own.get("source") in _AFTER_A_PROMPT)):
        common["prompt_id"] = scene.prompt_id
    if event.mode:
        common["permission_mode"] = scene.mode
    if agent_id is not None:
        common["agent_id"] = agent_id
    if agent_type is not None:
        common["agent_type"] = agent_type
    if event.effort:
        common["effort"] = {"level": EFFORT}
    # what is given for a common key is meant: a captured payload is fired again as it was
    common |= {key: own.pop(key) for key in tuple(common) if key in own}
    return {**common, "hook_event_name": name, **own}


def subject_of(name: str, given: Mapping[str, Any]) -> str | None:
    """What a matcher of this event is compared with; None: matchers are ignored."""
    key = EVENTS[name].subject
    if key is None:
        return None
    value = str(given.get(key, ""))
    return value.rpartition("/")[2] if name == "FileChanged" else value
