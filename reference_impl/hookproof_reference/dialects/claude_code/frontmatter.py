"""Agents and skills of a project bring handlers in the first lines of their files; they count while the agent or skill does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...settings import Configured, SettingsError
from . import configuration, firstlines
from .versions import Version


def agent(project: str, name: str, events: Mapping[str, Any], version: Version) -> list[Configured]:
    """The handlers of an agent, within it: its Stop is SubagentStop, and a SubagentStart comes too early (observed)."""
    found: list[Configured] = []
    for path, head in _heads(Path(project, ".claude", "agents").glob("*.md")):
        if head.get("name", path.stem) == name:
            found += _handlers(head, events, version)
    ends = [replace(h, event="SubagentStop" if h.event == "Stop" else h.event, scope="agent") for h in found]
    return [handler for handler in ends if handler.event != "SubagentStart"]


def skill(project: str, name: str, events: Mapping[str, Any], version: Version) -> list[Configured] | None:
    """The handlers of a skill; None if there is no such skill."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return None
    for path, head in _heads([Path(project, ".claude", "skills", name, "SKILL.md")]):
        return [replace(h, scope="skill", home=str(path.parent)) for h in _handlers(head, events, version)]
    return None


def skills(project: str) -> frozenset[str]:
    """The names of the skills that there are now."""
    return frozenset(path.parent.name for path in Path(project, ".claude", "skills").glob("*/SKILL.md"))


def _heads(paths: Any) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The first lines of each file that has such, as an object."""
    for path in sorted(paths):
        try:
            yield path, firstlines.head(path.read_text("utf-8", "replace")) or {}
        except (OSError, ValueError, RecursionError):
            continue


def _handlers(head: Mapping[str, Any], events: Mapping[str, Any], version: Version) -> list[Configured]:
    hooks = head.get("hooks")
    try:
        return configuration.configured(json.dumps({"hooks": hooks}), events, version)[0] if isinstance(hooks, dict) else []
    except (SettingsError, TypeError, ValueError):
        return []
