"""Which MCP servers a project has: its `.mcp.json`. Nothing is started here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .bundles import ROOT, Bundle

FILE = ".mcp.json"
ROOT_OF_PLUGIN = f"${{{ROOT}}}"

AT_START = "dynamic"
"""The source of a server that is in no file: whoever started the program named it (observed)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A server that is started as a program and talks over its stdin and stdout."""

    command: str
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def listed(project: str) -> dict[str, Listed]:
    """The servers of a project by name; a file that cannot be read, and an entry of another form, has none."""
    try:
        with open(os.path.join(project, FILE), encoding="utf-8") as file:
            servers = json.load(file)["mcpServers"].items()
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {}
    return {name: found for name, entry in servers if (found := _server(entry)) is not None}


def bundled(bundle: Bundle) -> dict[str, Listed]:
    """The servers that a plugin brings along; their names begin with its own (observed). A skill brings none."""
    if bundle.ident is None:
        return {}
    name, _, _ = bundle.ident.partition("@")
    return {
        f"plugin:{name}:{key}": Listed(
            server.command.replace(ROOT_OF_PLUGIN, bundle.root),
            tuple(word.replace(ROOT_OF_PLUGIN, bundle.root) for word in server.arguments),
            {**bundle.env(), **server.env},
        )
        for key, server in listed(bundle.root).items()
    }


def _server(entry: Any) -> Listed | None:
    if not isinstance(entry, dict) or entry.get("type", "stdio") != "stdio":
        return None
    command, arguments, env = entry.get("command"), entry.get("args", []), entry.get("env", {})
    if not (isinstance(command, str) and isinstance(arguments, list) and isinstance(env, dict)):
        return None
    if not all(isinstance(text, str) for text in (*arguments, *env.values())):
        return None
    return Listed(command, tuple(arguments), env)


def told_of(tool: str, servers: Mapping[str, Listed]) -> dict[str, str]:
    """What an envelope says of the server of a tool `mcp__SERVER__TOOL`."""
    name, _, _ = tool.removeprefix("mcp__").partition("__")
    known = {re.sub(r"[^A-Za-z0-9_-]", "_", server): server for server in servers}
    return {"name": known.get(name, name), "source": "project" if name in known else AT_START}
