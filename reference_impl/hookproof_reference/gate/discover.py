"""Paths become files to look at, and a file's place says what it is for and which project it belongs to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .context import FileKind
from .profiles import Profile, profile

_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", "dist", "build"}
)
_SETTINGS: dict[str, FileKind] = {"settings.json": "settings", "settings.local.json": "local"}
_OTHERS: dict[tuple[str, str], FileKind] = {
    (".gemini", "settings.json"): "gemini",
    (".qwen", "settings.json"): "qwen",
    (".codex", "hooks.json"): "codex",
    (".lecode", "config.toml"): "lecode",
    ("lecode", "config.toml"): "lecode",
    (".claude-plugin", "plugin.json"): "plugin-manifest",
}
_ENDINGS = (".json", ".jsonc", ".json5", ".yaml", ".yml", ".toml")
_PROFILES: dict[FileKind, str] = {"lecode": "lecode", "codex": "codex", "gemini": "gemini-cli", "qwen": "qwen-code"}


@dataclass(frozen=True, slots=True)
class Place:
    """What a file is for, and the folders that its placeholders stand for."""

    kind: FileKind
    project: Path | None = None
    plugin: Path | None = None
    known: bool = True
    """False where nothing but the file's being named says that it is a settings file."""


def place_of(path: Path) -> Place:
    """Judged by name and folders alone, never by content."""
    # taken apart as text: a Path for each step costs more than the rest of a file's reading
    folder, name = os.path.split(os.path.abspath(path))
    above, within = os.path.split(folder)
    other = _OTHERS.get((within, name))
    if other == "plugin-manifest":
        return Place(other, plugin=Path(above))
    if other is not None:
        return Place(other, project=Path(above))
    if name.startswith("managed-settings") or within == "managed-settings.d":
        return Place("managed")
    if within == ".claude":
        project = None if above == os.path.normpath(os.path.expanduser("~")) else Path(above)
        if name in _SETTINGS:
            return Place(_SETTINGS[name], project=project)
        if name.endswith(_ENDINGS) and name.lower().startswith(("settings", "setting.", "hooks", "hook.", "config.json")):
            return Place("unread", project=project)
    if within == ".claude-plugin" and name == "hooks.json":
        return Place("unread", plugin=Path(above))
    if name == "hooks.json" and within == "hooks":
        if os.path.basename(above) in (".claude", ".claude-plugin"):
            folder_above = Path(os.path.dirname(above))
            if os.path.basename(above) == ".claude":
                return Place("unread", project=folder_above)
            return Place("unread", plugin=folder_above)
        return Place("plugin-hooks", plugin=Path(above))
    if name == ".claude.json":
        # in a home folder it is the program's own memory
        return Place("unread", project=Path(folder), known=folder != os.path.normpath(os.path.expanduser("~")))
    if name.endswith(".json") and name not in _SETTINGS:
        plugin = _named_by_plugin(folder, name)
        if plugin is not None:
            return plugin
    if name.endswith(".toml"):
        return Place("lecode", known=False)
    if name in _SETTINGS:
        # beside .claude it was meant for the program, which does not read it there
        return Place(_SETTINGS[name], known=os.path.isfile(os.path.join(folder, ".claude", "settings.json")))
    return Place("plugin-hooks" if name == "hooks.json" else "settings", known=False)


def _named_by_plugin(folder: str, name: str) -> Place | None:
    """A file of hooks that a plugin's manifest names, or hooks.json in a plugin's own folder, which is read only then."""
    inside, root = name, folder
    for _ in range(3):
        manifest = os.path.join(root, ".claude-plugin", "plugin.json")
        if os.path.isfile(manifest):
            if inside in (os.path.normpath(each) for each in named_hooks(Path(manifest))):
                return Place("plugin-hooks", plugin=Path(root))
            # a plugin may carry the hooks of other agents, too: only where its own are not to be seen is a near name a slip
            slip = inside.lower() in ("hooks.json", "hooks/hook.json", "hooks/hooks.json")
            own = os.path.isfile(os.path.join(root, "hooks", "hooks.json"))
            return Place("unread", plugin=Path(root)) if slip and not own else None
        root, last = os.path.split(root)
        inside = os.path.join(last, inside)
    return None


def named_hooks(manifest: Path) -> list[str]:
    """The paths under `hooks` of a plugin's manifest; none where it cannot be read."""
    try:
        read = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    named = read.get("hooks") if isinstance(read, dict) else None
    listed = named if isinstance(named, list) else [named]
    return [each for each in listed if isinstance(each, str) and "\0" not in each]


def profile_for(kind: FileKind, against: Profile) -> Profile:
    """Another program's file is judged by that program's profile, whatever was chosen for the rest."""
    name = _PROFILES.get(kind)
    return profile(name) if name is not None and against.dialect != name else against


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """A file is itself; a folder is the settings files in it, in the order of their names.

    A folder without any file in a known place is taken for a collection: then it is all its JSON files.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _in(path) if path.is_dir() else (path,):
            # the same file, named twice or reached by two folders, is looked at once
            key = os.path.abspath(found)
            if key not in seen:
                seen.add(key)
                yield found


def _in(folder: Path) -> list[Path]:
    known: list[Path] = []
    others: list[Path] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            if not name.endswith(".json") and not (
                name == "config.toml" or (here.endswith(".claude") and name.endswith(_ENDINGS))
            ):
                continue
            path = Path(here, name)
            if place_of(path).known:
                known.append(path)
            elif name.endswith(".json"):
                others.append(path)
    return known or others
