"""Paths become files to look at, and a file's place says what it is for and which project it belongs to."""

from __future__ import annotations

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
        if name.endswith((".json", ".jsonc")) and name.startswith(("settings.", "settings-", "hooks")):
            return Place("unread", project=project)
    if within == ".claude-plugin" and name == "hooks.json":
        return Place("unread", plugin=Path(above))
    if name == "hooks.json" and within == "hooks":
        if os.path.basename(above) == ".claude":
            return Place("unread", project=Path(os.path.dirname(above)))
        return Place("plugin-hooks", plugin=Path(above))
    if name.endswith(".toml"):
        return Place("lecode", known=False)
    if name in _SETTINGS:
        # beside .claude it was meant for the program, which does not read it there
        return Place(_SETTINGS[name], known=os.path.isfile(os.path.join(folder, ".claude", "settings.json")))
    return Place("plugin-hooks" if name == "hooks.json" else "settings", known=False)


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
            if name.endswith(".json") or name == "config.toml":
                path = Path(here, name)
                if place_of(path).known:
                    known.append(path)
                elif name.endswith(".json"):
                    others.append(path)
    return known or others
