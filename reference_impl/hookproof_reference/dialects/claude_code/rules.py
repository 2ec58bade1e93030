"""A rule like `Bash(git *)` or `Write(src/**)` is for a tool call or not: in `if`, and in permissions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from . import shell

PATHS = {
    "Write": "file_path",
    "Edit": "file_path",
    "Read": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tool -> the field of its input that names a file."""

EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
"""The tools that a permission rule for Edit is for; an `if` takes names as they are (observed)."""

_RULE = re.compile(r"([A-Za-z0-9_.-]+)(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, and where it happens."""

    tool: str
    arguments: Any
    project: str
    home: str

    @property
    def command(self) -> str:
        """The shell command of a Bash call."""
        return str(self.arguments.get("command", "")) if isinstance(self.arguments, dict) else ""


def fits(rule: str, call: Call) -> bool:
    """Whether an `if` rule is for this call; a malformed one is for none (observed)."""
    parsed = _RULE.fullmatch(rule)
    if parsed is None or parsed[1] != call.tool:
        return False
    return _pattern_fits(parsed[2], call, every=False, unseen=True)


def permits(rule: str, call: Call, *, every: bool) -> bool:
    """Whether a permission rule is for this call; `every`: all commands of a compound one must fit, as for allow."""
    parsed = _RULE.fullmatch(rule)
    if parsed is None:
        return False
    name, pattern = parsed[1], parsed[2]
    server = name.startswith("mcp__") and name.count("__") == 1 and call.tool.startswith(f"{name}__")
    if name != call.tool and not server and not (name == "Edit" and call.tool in EDITS):
        return False
    return _pattern_fits(pattern, call, every=every, unseen=False)


def whole_tool(rule: str, tool: str) -> bool:
    """Whether a rule names the whole tool, without a pattern."""
    return rule in (tool, f"{tool}()", f"{tool}(*)")


def stance(permissions: Sequence[Mapping[str, Any]], call: Call) -> tuple[Literal["deny", "ask", "allow"], str] | None:
    """What the permission rules of all files say of a call, and which rule; deny before ask before allow."""
    words: tuple[Literal["deny", "ask", "allow"], ...] = ("deny", "ask", "allow")
    for word in words:
        for rule in listed(permissions, word):
            if permits(rule, call, every=word == "allow"):
                return word, rule
    return None


def listed(permissions: Sequence[Mapping[str, Any]], word: str) -> list[str]:
    """The rules under one word, of all files."""
    lists = [p.get(word) for p in permissions]
    return [rule for rules in lists if isinstance(rules, list) for rule in rules if isinstance(rule, str)]


def _pattern_fits(pattern: str | None, call: Call, *, every: bool, unseen: bool) -> bool:
    if pattern is None or pattern in ("", "*"):
        return True
    if call.tool == "Bash":
        found = shell.commands(call.command)
        if found is None:  # it cannot be looked into: a guard must see it, and nothing is allowed for it (observed)
            return unseen or command_fits(pattern, call.command)
        return bool(found) and (all if every else any)(command_fits(pattern, part) for part in found)
    field = PATHS.get(call.tool)
    value = call.arguments.get(field) if field and isinstance(call.arguments, dict) else None
    return isinstance(value, str) and path_fits(pattern, value, call)


def command_fits(pattern: str, command: str) -> bool:
    """Whether a pattern is for one simple command: `git:*` and `git *` for git with and without arguments, `*` for any text."""
    return _command_pattern(pattern.strip()).fullmatch(command) is not None


@lru_cache(maxsize=256)
def _command_pattern(pattern: str) -> re.Pattern[str]:
    for end in (":*", " *"):
        if pattern.endswith(end) and "*" not in pattern[: -len(end)]:
            return re.compile(re.escape(pattern[: -len(end)]) + r"(?: .*)?", re.DOTALL)
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def path_fits(pattern: str, path: str, call: Call) -> bool:
    """Whether a pattern is for a file: as in .gitignore, `/` is the project, `//` the root, `~` the home folder."""
    path = os.path.normpath(os.path.join(call.project, path))
    if pattern.startswith("//"):
        return _glob(pattern[1:]).fullmatch(path) is not None
    if pattern.startswith("~/"):
        return _glob(call.home + pattern[1:]).fullmatch(path) is not None
    if _glob(pattern).fullmatch(path) and pattern.startswith(call.project):
        return True
    if not path.startswith(call.project + "/"):
        return False
    inside = path[len(call.project) + 1 :]
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        return any(_glob(pattern).fullmatch(part) for part in inside.split("/"))
    return _glob(pattern.removeprefix("/")).fullmatch(inside) is not None


@lru_cache(maxsize=256)
def _glob(pattern: str) -> re.Pattern[str]:
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts), re.DOTALL)
