"""An event and its fields become the bytes that a handler gets on stdin."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dialects.base import Dialect


def build(event: str, fields: Mapping[str, Any], session: Mapping[str, Any] | None, cwd: str, dialect: Dialect) -> dict[str, Any]:
    """The object as the dialect wants it."""
    return dialect.envelope(event, fields, session, cwd)


def write(envelope: Mapping[str, Any]) -> bytes:
    """Exactly one JSON object: one line of ASCII without a newline at its end (observed)."""
    return json.dumps(envelope).encode("ascii")


def write_line(envelope: Mapping[str, Any]) -> bytes:
    """One compact line with its newline, in UTF-8; only lone surrogates, which UTF-8 does not have, are escaped (observed)."""
    text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"
