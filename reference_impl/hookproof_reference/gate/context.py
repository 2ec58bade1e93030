"""What a rule sees: the document, the handlers found in it, and the project around it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from .document import Document, Member, Node
from .finding import Found, Severity
from .profiles import EVENTS_332, Profile

FileKind = Literal[
    "settings", "local", "managed", "plugin-hooks", "plugin-manifest", "unread", "lecode", "codex", "gemini", "qwen"
]
"""What a file is for. `unread`: it looks like a settings file, and no program reads it there (.claude/hooks.json)."""


_KNOWN_EVENTS = frozenset(EVENTS_332)


def _json(path: Path) -> dict[str, object]:
    """A JSON object that lies beside the settings; empty where there is none that can be read."""
    try:
        read = json.loads(path.read_bytes()[:262144])
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


class Group:
    """One matcher entry: `{"matcher": ..., "hooks": [...]}` of an event."""

    __slots__ = ("event", "handlers", "index", "node")

    def __init__(self, event: Member, index: int, node: Node) -> None:
        self.event = event
        self.index = index
        self.node = node
        self.handlers: list[Handler] = []

    @property
    def matcher(self) -> Node | None:
        """The matcher as it stands, of whatever type."""
        return self.node.get("matcher")


class Handler:
    """One handler object inside a group."""

    __slots__ = ("group", "index", "node", "type")

    def __init__(self, group: Group, index: int, node: Node) -> None:
        self.group = group
        self.index = index
        self.node = node
        kind = node.get("type")
        self.type: str | None = kind.text if kind is not None else None

    @property
    def event(self) -> str:
        """The event's name as written."""
        return self.group.event.key

    @property
    def matcher(self) -> str | None:
        """The group's matcher where it is a string."""
        node = self.group.node.get("matcher")
        return node.text if node is not None else None

    def get(self, key: str) -> Node | None:
        """A field, of whatever type."""
        return self.node.get(key)

    def text(self, key: str) -> str | None:
        """A field where it is a string."""
        node = self.node.get(key)
        return node.text if node is not None else None

    def key(self, name: str) -> Member | Node:
        """Where to point for a field: its key, or the handler when it is missing."""
        return self.node.member(name) or self.node


@dataclass
class Context:
    """One file and what is known about it."""

    document: Document
    profile: Profile
    path: str = "<text>"
    kind: FileKind = "settings"
    project: Path | None = None
    """The folder that ${CLAUDE_PROJECT_DIR} will be, where the file's place tells it."""
    plugin: Path | None = None
    """The folder that ${CLAUDE_PLUGIN_ROOT} will be, for a plugin's file."""

    @property
    def root(self) -> Node | None:
        """The outermost value."""
        return self.document.root

    @cached_property
    def hooks(self) -> Node | None:
        """The value of `hooks` where it is an object."""
        node = self.document.root.get("hooks") if self.document.root is not None else None
        return node if node is not None and node.kind == "object" else None

    @cached_property
    def events(self) -> list[Member]:
        """The events as written, those only that count where a name is there twice."""
        if self.hooks is None:
            return []
        counting = self.hooks.value
        return [member for member in self.hooks.members if counting[member.key] is member.node]

    @cached_property
    def groups(self) -> list[Group]:
        """All matcher entries that are well enough formed to hold handlers."""
        found: list[Group] = []
        for event in self.events:
            for index, node in enumerate(event.node.items):
                inner = node.get("hooks")
                if inner is None or inner.kind != "array":
                    continue
                group = Group(event, index, node)
                group.handlers = [Handler(group, i, n) for i, n in enumerate(inner.value) if n.kind == "object"]
                found.append(group)
        return found

    @cached_property
    def handlers(self) -> list[Handler]:
        """All handlers that stand where they belong, in the order of the text."""
        return [handler for group in self.groups for handler in group.handlers]

    @cached_property
    def known_handlers(self) -> list[Handler]:
        """Those of events that the program knows, of others all is ignored; and no matcher entries that stand too deep."""
        return [
            handler
            for handler in self.handlers
            if handler.event in _KNOWN_EVENTS and ("type" in handler.node.value or "hooks" not in handler.node.value)
        ]

    @cached_property
    def mcp_servers(self) -> tuple[str, ...]:
        """The servers of the project's .mcp.json (of the plugin's, for a plugin); there may be others elsewhere."""
        folder = self.plugin if self.kind in ("plugin-hooks", "plugin-manifest") else self.project
        servers = _json(folder / ".mcp.json").get("mcpServers") if folder is not None else None
        return tuple(servers) if isinstance(servers, dict) else ()

    @cached_property
    def plugin_name(self) -> str | None:
        """The name in the plugin's manifest."""
        name = _json(self.plugin / ".claude-plugin" / "plugin.json").get("name") if self.plugin is not None else None
        return name if isinstance(name, str) else None

    @cached_property
    def plugin_options(self) -> tuple[str, ...] | None:
        """The options that the plugin's manifest declares; None where there is no manifest."""
        manifest = _json(self.plugin / ".claude-plugin" / "plugin.json") if self.plugin is not None else {}
        if not manifest:
            return None
        options = manifest.get("userConfig")
        return tuple(options) if isinstance(options, dict) else ()

    @cached_property
    def text_of(self) -> dict[Path, str | None]:
        """What `read` has read so far."""
        return {}

    def read(self, path: Path) -> str | None:
        """The text of a script, up to 256 KiB of it, undecodable bytes replaced; None where it cannot be read."""
        if path not in self.text_of:
            try:
                with path.open("rb") as file:
                    self.text_of[path] = file.read(262144).decode("utf-8", "replace")
            except (OSError, ValueError):
                self.text_of[path] = None
        return self.text_of[path]

    def at(
        self,
        place: Node | Member,
        message: str,
        *,
        remedy: str | None = None,
        severity: Severity | None = None,
        consequence: str | None = None,
    ) -> Found:
        """A finding at a value or at a key; what is left out is taken from the rule."""
        end = place.end
        if isinstance(place, Node) and place.kind in ("object", "array"):
            end = place.start + 1
        return Found(place.start, end, place.pointer, message, remedy, severity, consequence)

    def invalid(self, event: str) -> str:
        """The consequence of an entry that the settings schema refuses, for this event and version.

        2.1.178 drops the file for any event, later versions only for a gate event. (observed)
        """
        if self.profile.drops_file or event in ("PreToolUse", "PermissionRequest"):
            return "file dropped"
        return "entry dropped"
