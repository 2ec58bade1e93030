"""Commands of the shell tool that run on in the background: Stop handlers are told of them, and the run waits for them."""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import dataclass
from typing import Any

from ...handlers import Place, process
from ...handlers.background import Background
from ...runner import ToolUse
from ...tools import ToolEnd
from . import messages

PAUSE = 0.02
"""Seconds between two looks at a task that is waited for."""


@dataclass(frozen=True, slots=True)
class Task:
    """One command under way. `described` is what handlers are told of it."""

    described: dict[str, Any]
    program: Background


def is_for_background(use: ToolUse, arguments: Any) -> bool:
    """Whether a call is to run on while the turn goes on."""
    asks = use.name == "Bash" and isinstance(arguments, dict) and arguments.get("run_in_background") is True
    return asks and isinstance(use.program, str)


class Tasks:
    """The tasks of a session."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def start(self, program: str, arguments: dict[str, Any], place: Place) -> ToolEnd:
        """Starts a command; its result is that it runs."""
        ident = f"b{uuid.uuid4().hex[:8]}"
        try:
            if not os.access(program, os.X_OK):
                raise ValueError(f"the tool's program {program} is not there or not executable")
            running = process.start([program], json.dumps(arguments).encode("ascii"), place, process.Manners(session=True))
        except (OSError, ValueError) as error:
            return ToolEnd("raised", str(error), started=False)
        described = {
            "id": ident,
            "type": "shell",
            "status": "running",
            "description": arguments.get("description", ""),
            "command": arguments.get("command", ""),
        }
        self.tasks.append(Task(described, running))
        text = messages.in_background(ident)
        return ToolEnd("ok", text, stdout=text, code=0)

    def running(self) -> list[dict[str, Any]]:
        """What is under way, as handlers are told of it."""
        return [task.described for task in self.tasks]

    def over(self) -> list[str]:
        """Waits for the next that ends, and all that have ended by then: what the model is told of them."""
        texts: list[str] = []
        while self.tasks and not texts:
            for task in list(self.tasks):
                ended = task.program.ended()
                if ended is not None:
                    self.tasks.remove(task)
                    texts.append(messages.task_over(task.described, ended.exit))
            if not texts:
                time.sleep(PAUSE)
        return texts

    def close(self) -> None:
        """The session is over, and what runs ends with it."""
        while self.tasks:
            self.tasks.pop().program.kill()
