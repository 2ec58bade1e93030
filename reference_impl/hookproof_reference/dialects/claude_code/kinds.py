"""Handlers that are no command: what each kind needs, and the module that asks it.

The libraries that they need are extras of the package and are imported when the first such handler runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...handlers import Unsupported
from ...handlers.inquiry import Question
from ...settings import Configured
from .. import OPTIONAL

if TYPE_CHECKING:
    from .hooks import Hooks

KINDS: Mapping[str, tuple[str, str]] = {
    "http": ("http_handlers", "http"),
    "prompt": ("prompt_handlers", "model"),
    "agent": ("agent_handlers", "model"),
    "mcp_tool": ("mcp_handlers", "mcp"),
}
"""Kind -> the module of this package that has `question(asked)`, and the extra that installs the library it needs."""

ORDER = ("command", "prompt", "agent", "http", "mcp_tool")
"""In which order the handlers of an event are started, none waiting for another (003, FACT)."""

NEVER: Mapping[str, frozenset[str]] = {
    "http": frozenset({"SessionStart", "Setup"}),
}
"""Kind -> the events at which such handlers are passed over without a word (observed; 003, FACT)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What there is to know for who asks a handler."""

    handler: Configured
    event: str
    envelope: Mapping[str, Any]
    hooks: Hooks
    """The session's: its settings (`contents`), environment (`base`), project and scene."""


def available(kind: str) -> bool:
    """Whether the library for this kind is installed."""
    return find_spec(OPTIONAL["claude-code"][kind]) is not None


def question(asked: Asked) -> Question:
    """How this handler is asked. Raises Unsupported for a kind that is not there or lacks its library."""
    kind = asked.handler.kind
    if kind not in KINDS:
        raise Unsupported(kind)
    module, extra = KINDS[kind]
    if not available(kind):
        raise Unsupported(f"{kind}: install hookproof[{extra}]")
    put: Question = import_module(f".{module}", __package__).question(asked)
    return put
