"""The tool itself runs: a program, or a Python function."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from .handlers import Place, process

Tool = str | Callable[[Any], str]
"""A program's absolute path, or a function of the arguments that returns the result's text or raises."""

RAISED = 100
"""From this exit code on a program has raised; below, it has returned an error result."""


class ToolFailed(Exception):
    """A Python tool raises it to return an error result instead of raising; its text is the result."""


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """How a tool ended: `ok` and `failed` have a result, which is `text`; `raised` has a message."""

    kind: Literal["ok", "failed", "raised"]
    text: str
    started: bool = True
    stdout: str = ""
    stderr: str = ""
    code: int | None = None
    """A program's exit code, with what it wrote."""


def run(tool: Tool | None, arguments: Any, place: Place) -> ToolEnd:
    """Runs the tool with these arguments; whatever it does is an answer. Raises OSError when the place is not there."""
    if tool is None:
        return ToolEnd("raised", "there is no program for this tool", started=False)
    return run_program(tool, arguments, place) if isinstance(tool, str) else run_function(tool, arguments)


def run_program(program: str, arguments: Any, place: Place) -> ToolEnd:
    """The arguments go to stdin as JSON. 0: stdout is the result; 1 to 99: an error result; else it raised."""
    if not os.access(program, os.X_OK):
        return ToolEnd("raised", f"the tool's program {program} is not there or not executable", started=False)
    ended = process.run([program], json.dumps(arguments).encode("ascii"), place)
    if ended.cannot_start is not None:
        return ToolEnd("raised", ended.cannot_start, started=False)
    if ended.exit == 0:
        return ToolEnd("ok", ended.stdout, stdout=ended.stdout, stderr=ended.stderr, code=0)
    if ended.exit is not None and ended.exit < RAISED:
        text = ended.stdout or ended.stderr
        return ToolEnd("failed", text, stdout=ended.stdout, stderr=ended.stderr, code=ended.exit)
    message = next(iter(ended.stderr.splitlines()), "")
    return ToolEnd("raised", message or (f"exit code {ended.exit}" if ended.signal is None else f"exit code -{ended.signal}"))


def run_function(function: Callable[[Any], str], arguments: Any) -> ToolEnd:
    """The function's text is the result; ToolFailed is an error result; any other exception raised."""
    try:
        return ToolEnd("ok", function(arguments))
    except ToolFailed as error:
        return ToolEnd("failed", str(error))
    except Exception as error:  # a tool is foreign code: whatever it raises is its answer
        return ToolEnd("raised", f"{type(error).__name__}: {error}")
