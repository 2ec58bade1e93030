"""What handlers have called at MCP servers, from a row's log of its server and from that of our own, in the same few words.

A row tells it in lines: `call ARGUMENTS TOOL`, `reply`, and the notifications that came. Ours are JSON lines (lab_tools.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

CANCELLED = "cancelled"

_CALL = re.compile(r"call (\{.*\}) (\S+)")
_OTHER = re.compile(r"reply|notifications/.*|")
_SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_IDENT = re.compile(r"\btoolu_0*(\d+)\b")


def of_row(fields: Mapping[str, Any], log: str, plain: Callable[[str], str]) -> tuple[str, ...] | None:
    """The calls in a row's log, sorted; None where a line of it is of another form. `plain` replaces the names of places."""
    told: list[str] = []
    for line in log.split("\n"):
        if line.startswith("notifications/cancelled"):
            told.append(CANCELLED)
        elif call := _CALL.fullmatch(line):
            try:
                told += _by_handlers(fields, call[2], json.loads(call[1]))
            except (ValueError, RecursionError):
                return None
        elif not _OTHER.fullmatch(line):
            return None
    return tuple(sorted(_IDENT.sub(r"t\1", _SESSION.sub("@S@", plain(text))) for text in told))


def of_scene(fields: Mapping[str, Any], log: str, session: str, plain: Callable[[str], str]) -> tuple[str, ...]:
    """The calls in the log of our own server, sorted; `session` is the id of the session."""
    told: list[str] = []
    for note in map(json.loads, log.splitlines()):
        told += [CANCELLED] if "cancelled" in note else _by_handlers(fields, note["call"], note["arguments"])
    return tuple(sorted(plain(text).replace(session, "@S@") for text in told))


def _by_handlers(fields: Mapping[str, Any], tool: str, arguments: Any) -> Iterable[str]:
    """A call in words; none for one of the model's own, which is not made with a server here."""
    if any(str(block.get("tool")).endswith(f"__{tool}") for turn in fields["turns"] for block in turn):
        return []
    return [f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"]
