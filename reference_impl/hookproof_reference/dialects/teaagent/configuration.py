"""`.teaagent/hooks.json` becomes a list of programs, one switch for all of them, and a permission hook.

    {"enabled": true,
     "permission": {"mode": "auto", "destructive_tools": ["shell"], "deny_patterns": ["*.pem"], "allow_patterns": []},
     "hooks": {"PreToolUse": ["/path/to/program", ...], "PostToolUse": [{"shell_command": "ruff check ."}, ...], ...}}

Every key may be absent. Without `permission` there is no permission hook; `{}` is one with its defaults.
After a tool an entry may also be a command for `shell_command_hook`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...places import at_line
from ...settings import Configured, SettingsError
from ...teaagent import DESTRUCTIVE_TOOLS, HookEvent, HookPermissionMode
from ...teaagent.hooks import suggestion

LIMIT = 30.0
"""Seconds for each program, as the ready-made hooks give theirs (observed); the settings have no word for it."""

SHELL_COMMAND = "shell_command"
"""The kind, and the only key, of an entry that is a command for `shell_command_hook`."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The permission hook as configured."""

    mode: HookPermissionMode = HookPermissionMode.AUTO
    destructive_tools: tuple[str, ...] = tuple(sorted(DESTRUCTIVE_TOOLS))
    deny_patterns: tuple[str, ...] = ()
    allow_patterns: tuple[str, ...] = ()


Found = tuple[list[Configured], list[tuple[str, str]], Mapping[str, Any]]


def configured(text: str) -> Found:
    """The programs, (entry, why) for each entry that was left out, and `enabled` and `guard`.

    What is wrong costs only itself. Where it was to guard something the default holds, not nothing.
    Raises SettingsError for a file that cannot be used at all.
    """
    dropped: list[tuple[str, str]] = []

    def drop(entry: str, key: str, why: str) -> None:
        dropped.append((entry, at_line(text, key, why)))

    content = _content(text, drop)
    for key in content.keys() - {"enabled", "permission", "hooks"}:
        drop(key, key, f'"{key}" is no setting; there are enabled, permission and hooks')
    enabled = content.get("enabled", True)
    if not isinstance(enabled, bool):
        drop("enabled", "enabled", "enabled is neither true nor false; hooks stay enabled")
        enabled = True
    guard = _guard(content["permission"], drop) if "permission" in content else None
    return _programs(content.get("hooks", {}), drop), dropped, {"enabled": enabled, "guard": guard}


Drop = Callable[[str, str, str], None]


def _content(text: str, drop: Drop) -> dict[str, Any]:
    def paired(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, times in Counter(name for name, _ in pairs).items():
            if times > 1:
                drop(name, name, f'"{name}" stands there {times} times, and only the last one counts')
        return dict(pairs)

    try:
        content = json.loads(text, object_pairs_hook=paired)
    except json.JSONDecodeError as error:
        raise SettingsError(f"line {error.lineno}: no JSON: {error.msg} at column {error.colno}") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise SettingsError(f"no JSON that can be read: {error}") from None
    except RecursionError:
        raise SettingsError("no JSON that can be read: it is nested too deeply") from None
    if not isinstance(content, dict):
        raise SettingsError('line 1: the settings are no object; write {"hooks": {"PreToolUse": ["/path/to/program"]}}')
    return content


def _programs(hooks: Any, drop: Drop) -> list[Configured]:
    programs: list[Configured] = []
    if not isinstance(hooks, dict):
        drop("hooks", "hooks", "hooks is no object; write one list of programs for each event")
        return programs
    names = [event.value for event in HookEvent]
    for event, listed in hooks.items():
        if event not in names:
            drop(event, event, f"unknown hook event: {event}{suggestion(event)}")
        elif not isinstance(listed, list):
            drop(event, event, f"{event} is no list of programs")
        else:
            for number, program in enumerate(listed):
                if isinstance(program, str) and program:
                    programs.append(Configured(event, program, LIMIT, arguments=()))
                elif event == HookEvent.POST_TOOL_USE.value and (command := _shell_command(program)):
                    programs.append(Configured(event, command, LIMIT, kind=SHELL_COMMAND))
                else:
                    drop(f"{event}[{number}]", event, f"{event}[{number}] is no program, which is a path")
    return programs


def _shell_command(entry: Any) -> str | None:
    command = entry.get(SHELL_COMMAND) if isinstance(entry, dict) and len(entry) == 1 else None
    return command if isinstance(command, str) else None


def _guard(permission: Any, drop: Drop) -> Guard:
    if not isinstance(permission, dict):
        drop("permission", "permission", "permission is no object; the default mode, auto, holds")
        return Guard()
    for key in permission.keys() - {"mode", "destructive_tools", "deny_patterns", "allow_patterns"}:
        drop(f"permission.{key}", key, f'"{key}" is no setting of permission')
    mode = permission.get("mode", HookPermissionMode.AUTO.value)
    modes = {mode.value: mode for mode in HookPermissionMode}
    if not isinstance(mode, str) or mode not in modes:
        drop("permission.mode", "mode", f"the mode is none of {', '.join(modes)}; the default, auto, holds")
        mode = HookPermissionMode.AUTO.value
    defaults = Guard()
    names = {}
    for key in ("destructive_tools", "deny_patterns", "allow_patterns"):
        names[key] = given = permission.get(key, getattr(defaults, key))
        if not (isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)):
            drop(f"permission.{key}", key, f"{key} is no list of names; the default holds")
            names[key] = getattr(defaults, key)
    return Guard(modes[mode], **{key: tuple(value) for key, value in names.items()})
