"""The list of things to do that a model keeps with TaskCreate and TaskUpdate: each new and each done one is an event.

Handlers are asked while the tool runs, and one that blocks undoes what it did (observed).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CREATED, COMPLETED = "TaskCreated", "TaskCompleted"


@dataclass(slots=True)
class Todo:
    """The list of a session."""

    things: dict[str, dict[str, str]] = field(default_factory=dict)
    """What the events say of each, by its id."""

    def event_of(self, tool: str, arguments: Any) -> tuple[str, Mapping[str, str]] | None:
        """The event that a call comes to, with its fields; what is new stands in the list from now on."""
        given = arguments if isinstance(arguments, dict) else {}
        if tool == "TaskCreate":
            ident = str(len(self.things) + 1)
            subject, description = (str(given.get(key, "")) for key in ("subject", "description"))
            self.things[ident] = {"task_id": ident, "task_subject": subject, "task_description": description}
            return CREATED, self.things[ident]
        if tool == "TaskUpdate" and given.get("status") == "completed":
            found = self.things.get(str(given.get("taskId")))
            return None if found is None else (COMPLETED, found)
        return None

    def undo(self, event: str, fields: Mapping[str, str]) -> None:
        """What a handler has blocked is not there."""
        if event == CREATED:
            self.things.pop(fields["task_id"], None)
