"""A plugin's folder becomes a bundle with handlers; one that is damaged is left out as a whole, and nothing else suffers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...settings import Configured, SettingsError
from . import configuration
from .bundles import Bundle
from .versions import Version

INLINE = "inline"
"""Where a plugin comes from that is named by its folder; names of plugins end in it."""


class Damaged(Exception):
    """A plugin that is not loaded; the message says why."""


def load(
    folder: str, home: str, contents: Iterable[Mapping[str, Any]], events: Mapping[str, Any], version: Version
) -> tuple[Bundle, list[Configured]]:
    """The bundle in a folder and its handlers. `contents` are the settings files. Raises Damaged."""
    manifest = _manifest(folder)
    name = manifest.get("name", os.path.basename(folder))
    ident = f"{name}@{INLINE}"
    bundle = Bundle(folder, ident, f"{home}/.claude/plugins/data/{name}-{INLINE}", _options(ident, contents))
    found: list[Configured] = []
    for text in _texts(folder, manifest):
        found += _handlers(text, events, version)
    return bundle, [replace(handler, scope="plugin", home=folder) for handler in found]


def _manifest(folder: str) -> dict[str, Any]:
    path = Path(folder, ".claude-plugin", "plugin.json")
    if not path.is_file():
        return {}
    manifest = _json(path)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("name", ""), str):
        raise Damaged(f"{path} is no object with a name")
    return manifest


def _texts(folder: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What the plugin says of handlers: its usual file, and what the manifest adds (observed)."""
    usual = Path(folder, "hooks", "hooks.json")
    if usual.is_file():
        yield _read(usual)
    added = manifest.get("hooks")
    if isinstance(added, dict):
        yield json.dumps({"hooks": added})
    elif isinstance(added, str):
        yield _read(Path(folder, added))


def _handlers(text: str, events: Mapping[str, Any], version: Version) -> list[Configured]:
    try:
        found, dropped, content = configuration.configured(text, events, version)
    except SettingsError as error:
        raise Damaged(str(error)) from None
    if not isinstance(content.get("hooks"), dict):
        raise Damaged("its file of hooks has no object hooks")
    strange = [name for name in content["hooks"] if name not in events]
    if strange and not version.plugins_spare_events:
        raise Damaged(f"it has handlers for {strange[0]}, which is no event")
    for name, why in dropped:
        if name not in strange:
            raise Damaged(why)
    return found


def _options(ident: str, contents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    options: dict[str, str] = {}
    for content in contents:
        configs = content.get("pluginConfigs")
        config = configs.get(ident) if isinstance(configs, dict) else None
        given = config.get("options") if isinstance(config, dict) else None
        if isinstance(given, dict):
            options |= {key: str(value) for key, value in given.items() if isinstance(value, str | int | float)}
    return options


def _json(path: Path) -> Any:
    try:
        return json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path}: no JSON: {error}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror}") from None
