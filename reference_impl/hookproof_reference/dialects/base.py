"""What a dialect is: tables that a person can read across, and a few functions for the forms.

The pipeline (selection, execution, reading, merging, permissions) is the same for all; what differs
between agents is data here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from ..execution import Ran
    from ..reading import Answer
    from ..runner import Runner
    from ..settings import Configured
    from ..tools import ToolEnd

Cause = Literal["exit", "signal", "timeout", "unreadable", "cannot-start"]
Direction = Literal["open", "closed"]
Order = Literal["sequential", "parallel"]
OnVeto = Literal["run-all", "stop"]
Fields = dict[str, Any]
Dropped = list[tuple[str, str]]
Configuration: TypeAlias = "tuple[list[Configured], Dropped] | tuple[list[Configured], Dropped, Mapping[str, Any]]"


class Dialect(Protocol):
    """What each module of this package offers in `DIALECTS`, one for each version."""

    name: str
    events: Mapping[str, tuple[str, ...]]
    """Event -> the fields that only it has."""
    enforced: frozenset[str]
    """The events whose verdict counts. All others are observational."""
    severity: Mapping[str, int]
    """Verdict -> how strongly it narrows; the most severe of several holds."""
    failure: Mapping[Cause, Direction]
    """What a handler's failure means on an enforced event: `closed` denies, `open` abstains."""
    order: Order
    on_veto: OnVeto
    """Whether the handlers after a deny still run."""
    reason: str
    """Whose reason is reported: a name in `merging.REASONS`."""
    rewrite: str
    """Whose rewrite is applied: a name in `merging.REWRITES`."""
    rewrite_events: frozenset[str]
    leaves_deferred: bool
    """Whether a call that is deferred stays undone; else it runs."""

    def loop(self) -> type[Runner]:
        """The agent loop that asks this dialect's handlers."""
        ...

    def decode(self, raw: bytes) -> str:
        """The text of a settings file. Raises UnicodeDecodeError."""
        ...

    def configured(self, text: str) -> Configuration:
        """The handlers in a settings file, (entry, why) for each entry that was left out, and what else it says.

        Raises settings.SettingsError for a file that cannot be used at all.
        """
        ...

    def envelope(self, event: str, fields: Mapping[str, Any], session: Mapping[str, Any] | None, cwd: str) -> Fields:
        """The object that handlers get on stdin."""
        ...

    def read(self, ran: Ran, event: str) -> Answer:
        """What a handler that ran has said. Raises reading.Failed when that is a failure."""
        ...


class PlainDialect(Dialect, Protocol):
    """A dialect for the plain loop of runner.py: it says which event comes when, and with which fields."""

    permission_first: bool
    """Whether the host's own permission check comes before the hooks or after them."""

    def before_tool(self, tool: str, arguments: Any) -> tuple[str, Fields]:
        """The event before a tool call, with its fields."""
        ...

    def after_tool(self, tool: str, arguments: Any, end: ToolEnd) -> tuple[str, Fields]:
        """The event after a tool has run, by how it ended."""
        ...

    def approval_asked(self, tool: str, arguments: Any) -> tuple[str, Fields] | None:
        """The event before a person is asked, if there is one."""
        ...

    def approval_given(self, tool: str, arguments: Any, decision: str) -> tuple[str, Fields] | None:
        """The event after a question was answered, by a person or automatically, if there is one."""
        ...

    def before_prompt(self, prompt: str) -> tuple[str, Fields]:
        """The event when a prompt is submitted."""
        ...

    def at_end(self, text: str) -> tuple[str, Fields, str]:
        """The event when the model has ended a run with a text, and the name of that ending."""
        ...
