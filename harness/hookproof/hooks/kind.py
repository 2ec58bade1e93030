"""What sort of hook a script is, told from what it did when it was fired."""

from __future__ import annotations

import re
from typing import Literal

from .script import Script
from .search import Canaries, means_to_refuse

Kind = Literal["guard", "observer", "formatter", "context"]

MEANING: dict[Kind, str] = {
    "guard": "it refuses some things and passes others",
    "observer": "it looks on and answers nothing",
    "formatter": "it changes files or inputs",
    "context": "it tells the model something",
}

GUARDED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "BeforeTool", "Stop", "SubagentStop", "PreCompact"})
"""The events at which a refusal prevents something."""

_FORMATS = re.compile(r"\b(prettier|black|gofmt|goimports|rustfmt|clang-format|shfmt|ruff|eslint|isort|biome|dprint)\b")
_TELLS = re.compile(r"additionalContext")


def infer(script: Script, canaries: Canaries) -> Kind:
    """The kind, from what was seen; what was never seen is told from the script's words."""
    if canaries.refused or canaries.tried:
        return "guard"
    if any(shot.meaning.rewrite is not None for shot in canaries.shots):
        return "formatter"
    if any(shot.meaning.context for shot in canaries.shots):
        return "context"
    source = script.source
    if script.event in GUARDED and means_to_refuse(source):
        return "guard"
    if any(name.startswith("project/") for shot in canaries.shots for name in shot.fired.wrote) or _FORMATS.search(source):
        return "formatter"
    return "context" if _TELLS.search(source) else "observer"
