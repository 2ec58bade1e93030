"""References like `${tool_input.file_path}` in an mcp_tool handler's input are replaced by values of its envelope.

Observed: a path that leads nowhere, or to null, becomes an empty text; objects and lists become compact
JSON; inserted text is not looked at again. Only values are replaced, not keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.]+)\}")
"""Anything else in braces, and a `$` without them, is text like any other."""


def filled(value: Any, envelope: Mapping[str, Any]) -> Any:
    """The value with the references in its texts replaced, at every depth; what is no text passes as it is."""
    if isinstance(value, str):
        return REFERENCE.sub(lambda found: replaced(found, envelope), value)
    if isinstance(value, list):
        return [filled(item, envelope) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, envelope) for key, item in value.items()}
    return value


def replaced(found: re.Match[str], envelope: Mapping[str, Any]) -> str:
    """What stands in the place of one reference."""
    return text_of(found_at(found[1], envelope))


def found_at(path: str, envelope: Mapping[str, Any]) -> Any:
    """What stands at a dotted path; numbers are places in lists. None where it leads nowhere."""
    value: Any = envelope
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def text_of(value: Any) -> str:
    """A value as it is inserted."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
