"""A file of observations is read: one JSON object a line, each a scene and what a program did in it, by version."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError

FORM = 'each line is an object with "case", "settings", "turns" and "observed", which maps a version to what was seen'

NOTES = ("unstable", "lab_note")
"""The fields that say of a row, or of one version of it, that what was seen depends on more than the scene."""

SEEN: dict[str, type] = {
    "tool_wrote": list,
    "hooks_in_order_of_finish": list,
    "tool_results": dict,
    "model_requests": int,
    "logs": dict,
    "http_requests": list,
}
"""What is read of an observation, and its kinds; all of it may be missing."""

_REPEAT = re.compile(r"@REPEAT\((.),(\d+)\)@", re.DOTALL)
LONGEST_REPEAT = 20_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One observation. `fields` is the scene, `observed` maps a version to what was seen."""

    name: str
    line: int
    fields: Mapping[str, Any]
    observed: Mapping[str, Mapping[str, Any]]

    def note(self, version: str) -> str | None:
        """Why a disagreement on this row proves nothing; None: it does."""
        found = (where.get(name) for where in (self.fields, self.observed[version]) for name in NOTES)
        return next((str(note) for note in found if note), None)


def read(path: Path) -> list[Row]:
    """All rows of a file. Raises UsageError with the line for what is not of the form."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", "name a file of observations, JSON lines") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}", "save it as UTF-8") from None
    rows = [_row(text, f"{path}:{number}", number) for number, text in enumerate(lines, 1) if text.strip()]
    if not rows:
        raise UsageError(f"{path} has no rows", FORM)
    return rows


def _row(text: str, where: str, line: int) -> Row:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: no JSON: {error}", FORM) from None
    kinds = {"case": str, "settings": dict, "turns": list, "observed": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(found, dict) or not isinstance(found.get(name), kind)]
    if wrong:
        raise UsageError(f"{where}: {', '.join(wrong)} missing or of another kind", FORM)
    if not all(isinstance(turn, list) and all(isinstance(block, dict) for block in turn) for turn in found["turns"]):
        raise UsageError(f"{where}: turns is no list of lists of blocks", FORM)
    observed = {version: seen for version, seen in found["observed"].items() if isinstance(seen, dict)}
    for version, seen in observed.items():
        other = [name for name, kind in SEEN.items() if not isinstance(seen.get(name, kind()), kind)]
        if other:
            raise UsageError(f"{where}: {', '.join(other)} of another kind at {version}", FORM)
    scene = {name: value for name, value in found.items() if name not in ("case", "observed")}
    return Row(found["case"], line, scene, observed)


def filled(value: Any, places: Mapping[str, str]) -> Any:
    """The value with its placeholders (`@W@`) replaced and its long repeats written out, everywhere in it."""
    if isinstance(value, str):
        value = _REPEAT.sub(lambda found: found[1] * min(int(found[2]), LONGEST_REPEAT), value)
        for name, place in places.items():
            value = value.replace(name, place)
        return value
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    if isinstance(value, dict):
        return {filled(key, places): filled(item, places) for key, item in value.items()}
    return value
