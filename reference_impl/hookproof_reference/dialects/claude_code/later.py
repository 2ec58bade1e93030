"""Handlers in the background: what they end with reaches the model later, or wakes it.

A handler is left alone when its entry says `async`, or when it prints that it wants to be. With `asyncRewake`
beside it, exit code 2 wakes the model; by itself that flag counts in a dialogue only (observed).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...execution import Ran
from ...handlers.background import Background
from ...settings import Configured
from . import answers, messages


def is_left_alone(handler: Configured, interactive: bool) -> bool:
    """Whether nobody waits for this handler from the start."""
    return handler.background or (interactive and wakes(handler))


def wakes(handler: Configured) -> bool:
    """Whether its exit code 2 wakes the model."""
    return handler.options.get("asyncRewake") is True


def limit_of(handler: Configured) -> float | None:
    """Seconds; only a handler that may wake the model is held to its limit in the background (observed)."""
    return handler.timeout if wakes(handler) else None


@dataclass(frozen=True, slots=True)
class Entry:
    """One handler in the background. `name` is how messages name its occasion: `PreToolUse:Bash`."""

    handler: Configured
    name: str
    program: Background


class Later:
    """All handlers of a session that are in the background."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, rans: Iterable[Ran], event: str, envelope: Mapping[str, Any]) -> None:
        """Takes over those of an event's handlers that have gone into the background."""
        tool = envelope.get("tool_name")
        name = f"{event}:{tool}" if tool else event
        self.entries += [Entry(ran.handler, name, ran.background) for ran in rans if ran.background is not None]

    def overheard(self) -> list[str]:
        """What they have ended with since the last time: their texts for the model."""
        texts: list[str] = []
        for entry in list(self.entries):
            ended = entry.program.ended()
            if ended is None:
                continue
            self.entries.remove(entry)
            if not wakes(entry.handler):
                texts += answers.late_texts(ended.stdout)
            elif ended.exit == 2:
                texts.append(messages.woken(entry.name, ended.stderr))
        return texts

    def close(self) -> None:
        """The session is over: what still runs ends with it (observed)."""
        while self.entries:
            self.entries.pop().program.kill()
