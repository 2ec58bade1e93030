"""What the program itself would have let pass, without any hook: from its mode and the tools it was told to allow."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .expressible import settings_texts
from .rows import Row

Verdict = Literal["allow", "ask", "deny"]

USUAL = "Bash Read Write Edit"
"""The tools that a row allows which does not say which."""

HARMLESS = ("ls", "pwd", "true", "date", "whoami")
"""Commands that the program runs unasked, also where a hook has put them in another's place."""
HARMLESS_WITH_ARGUMENTS = ("echo", "cat", "head", "wc", *HARMLESS)

_ASKED = re.compile(r"needs approval|was blocked\. For security|requested permissions to|haven't granted")
"""What the program says to the model when nobody could be asked."""


@dataclass(frozen=True, slots=True)
class Host:
    """The host's verdict on calls that no rule names, and the calls that it lets pass, as rules of the program's own form."""

    mode: str
    verdict: Verdict
    rules: tuple[str, ...]


def of(row: Row, calls: Sequence[tuple[str, Any]], project: str) -> Host:
    """The host of a row; `calls` are the tools and inputs of its turns."""
    mode = mode_of(row.fields)
    allowed = _allowed(row)
    said = [_verdict(tool, given, mode, allowed, project) for tool, given in calls]
    strictest: Verdict = next((word for word in _STRICTEST if word in said), "allow")
    if strictest == "allow":
        return Host(mode, "allow", ())
    names = {tool for tool, _ in calls}
    passing = {n for n in names if all(v == "allow" for (tool, _), v in zip(calls, said, strict=True) if tool == n)}
    rules = [*sorted(passing), *(f"Bash({command})" for command in HARMLESS if strictest == "ask")]
    return Host(mode, strictest, tuple(rules))


def mode_of(fields: Mapping[str, Any]) -> str:
    """The permission mode of a row."""
    words = list(fields.get("args", ()))
    return str(words[words.index("--permission-mode") + 1]) if "--permission-mode" in words else "default"


def _allowed(row: Row) -> list[str]:
    """The tools that need no approval.

    Rows without a group are of the older form, which does not note them. There, a handler for
    PermissionRequest and the program's own words for a missing approval tell that there were none.
    """
    if "allowed" in row.fields or "group" in row.fields:
        return str(row.fields.get("allowed", USUAL) or "").split()
    asks = any('"PermissionRequest"' in text for text in settings_texts(row.fields))
    told = [str(text) for seen in row.observed.values() for _, text in seen.get("tool_results", {}).values()]
    return [] if asks or any(_ASKED.search(text) for text in told) else USUAL.split()


_STRICTEST: tuple[Verdict, ...] = ("deny", "ask")


def _verdict(tool: str, given: Any, mode: str, allowed: Sequence[str], project: str) -> Verdict:
    if mode == "bypassPermissions" or any(tool == name or tool.startswith(f"{name}__") for name in allowed):
        return "allow"
    if tool in ("TaskCreate", "TaskUpdate"):
        return "allow"  # the model's own list of things to do
    arguments = given if isinstance(given, dict) else {}
    path = str(arguments.get("file_path", ""))
    inside = os.path.normpath(os.path.join(project, path)).startswith(f"{project}/")
    if tool == "Read" and inside:
        return "allow"
    if mode == "acceptEdits" and tool in ("Write", "Edit") and inside:
        return "allow"
    if tool == "Bash" and _is_harmless(str(arguments.get("command", ""))):
        return "allow"
    return "deny" if mode == "dontAsk" else "ask"


def _is_harmless(command: str) -> bool:
    parts = [part.split() for part in re.split(r"&&|\|\||[;|\n]", command)]
    return ">" not in command and all(part and part[0] in HARMLESS_WITH_ARGUMENTS for part in parts)
