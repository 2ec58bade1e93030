"""The tools that an agent handler's model works with: they really run, in the session's folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...handlers import Place, process
from ...tools import ToolEnd
from . import inputs

OUTPUT = "StructuredOutput"
"""The tool by which the agent gives its verdict."""
SHELL_LIMIT = 120.0
"""Seconds that one command of the shell may take, as for the model's own calls."""
LARGEST = 256 * 1024
"""Characters of a file that are read."""

_ABOUT = {
    "Bash": "Runs a command of the shell and gives its output.",
    "Read": "Reads a text file.",
    "Write": "Writes a text file, over what was there.",
    "Edit": "Replaces a text in a file by another.",
}


def offered() -> list[dict[str, Any]]:
    """The tools as the Messages API wants them described."""
    verdict = {"ok": {"type": "boolean"}, "reason": {"type": "string"}}
    return [
        *({"name": name, "description": about, "input_schema": _schema(inputs.INPUTS[name])} for name, about in _ABOUT.items()),
        {
            "name": OUTPUT,
            "description": "Gives your verdict. Call it exactly once, at the end.",
            "input_schema": {"type": "object", "properties": verdict, "required": ["ok"]},
        },
    ]


def _schema(fields: inputs.Kinds) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, (kind, _) in fields.items()},
        "required": [name for name, (_, must) in fields.items() if must],
    }


def run(tool: str, given: Mapping[str, Any], place: Place, limit: float) -> ToolEnd:
    """Runs a tool; a command of the shell is killed after `limit` seconds. Never raises for what the input asks."""
    does = _TOOLS.get(tool)
    if does is None:
        return ToolEnd("raised", f"No such tool available: {tool}", started=False)
    try:
        return does(given, place, limit)
    except (OSError, ValueError) as error:
        return ToolEnd("raised", str(error))


def _bash(given: Mapping[str, Any], place: Place, limit: float) -> ToolEnd:
    argv = [shutil.which("bash") or "/bin/sh", "-c", str(given["command"])]
    ended = process.run(argv, b"", place, max(0.001, min(limit, SHELL_LIMIT)))
    if ended.exit == 0:
        return ToolEnd("ok", ended.stdout, stdout=ended.stdout, stderr=ended.stderr, code=0)
    if ended.timed_out or ended.cannot_start is not None:
        return ToolEnd("raised", ended.cannot_start or "the command was cut at its limit")
    code = ended.exit if ended.exit is not None else 128 + (ended.signal or 0)
    return ToolEnd("failed", ended.stdout or ended.stderr, stdout=ended.stdout, stderr=ended.stderr, code=code)


def _read(given: Mapping[str, Any], place: Place, limit: float) -> ToolEnd:
    with open(_path(given, place), encoding="utf-8", errors="replace") as file:
        return ToolEnd("ok", file.read(LARGEST))


def _write(given: Mapping[str, Any], place: Place, limit: float) -> ToolEnd:
    path = _path(given, place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(given["content"]), "utf-8", "surrogatepass")
    return ToolEnd("ok", f"File written: {path}")


def _edit(given: Mapping[str, Any], place: Place, limit: float) -> ToolEnd:
    path, old, new = _path(given, place), str(given["old_string"]), str(given["new_string"])
    text = path.read_text("utf-8")
    found = text.count(old) if old else 0
    if not found or (found > 1 and given.get("replace_all") is not True):
        return ToolEnd("raised", f"old_string is in {path} {found} times")
    path.write_text(text.replace(old, new), "utf-8", "surrogatepass")
    return ToolEnd("ok", f"File changed: {path}")


def _path(given: Mapping[str, Any], place: Place) -> Path:
    return Path(os.path.join(place.cwd, str(given["file_path"])))


_TOOLS: dict[str, Callable[[Mapping[str, Any], Place, float], ToolEnd]] = {
    "Bash": _bash,
    "Read": _read,
    "Write": _write,
    "Edit": _edit,
}
