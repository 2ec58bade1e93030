"""The handlers in lecode's settings are listed, or each is tried with an example of its event; no tool runs.

`hookproof-reference hooks [FILE]` and `hookproof-reference hooks-test [FILE]` (002, Inspecting and testing).
Without FILE they read `.lecode/config.toml` below the working folder, in which the handlers run, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .dialects import lecode
from .runner import Runner
from .settings import Configured

SETTINGS = ".lecode/config.toml"

NOTHING = "no hooks configured"

_TOOL = {"tool": {"name": "example_tool", "args": {"example": True}}}
_RESULT = {"result": {"content": "example output", "is_error": False}}
_ERROR = {"result": {"content": "example error", "is_error": True}}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "PreToolUse": _TOOL,
    "PostToolUse": {**_TOOL, **_RESULT},
    "PostToolUseFailure": {**_TOOL, **_ERROR},
    "PermissionRequest": _TOOL,
    "PermissionResult": {**_TOOL, "decision": "allow_once"},
    "UserPromptSubmit": {"prompt": "example prompt"},
    "Stop": {"reason": "done"},
    "SessionStart": {},
    "SessionEnd": {},
    "SubagentStart": {"agent": "example_agent"},
    "SubagentEnd": {"agent": "example_agent"},
    "PreCompact": {},
    "PostCompact": {},
    "Interrupt": {},
    "Notification": {"kind": "approval", **_TOOL},
}
"""An example of each event, with the fields that the real event has and no others."""


class CannotInspect(Exception):
    """There is nothing to look at; the message says why, and what to do."""


class _Inspected(Runner):
    """A runner of one settings file, whose complaints name the file and the line."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__("lecode/1.0", [path], cwd=_working_folder(), log=lambda text: _print(text, sys.stderr))

    def complain(self, handler: Configured, what: str) -> None:
        place = self.path if handler.line is None else f"{self.path}:{handler.line}"
        self.log(f"{place}: {handler.event}: {handler.command!r}: {what}")


def main(name: str, arguments: Sequence[str]) -> int:
    """Lists or tries. The exit code is 0; 1 when a handler failed; 2 when there is nothing to look at."""
    try:
        if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
            raise CannotInspect(f"{' '.join(arguments)}: one settings file is expected, or none")
        runner = _runner(arguments[0] if arguments else None)
        if runner is None or not runner.loaded.handlers:
            print(NOTHING)
            return 0
        return COMMANDS[name](runner)
    except CannotInspect as error:
        _print(f"hookproof-reference {name}: {error}", sys.stderr)
    except OSError as error:
        _print(f"hookproof-reference {name}: {error}", sys.stderr)
    return 2


def _runner(path: str | None) -> _Inspected | None:
    """A runner of these settings; None when there are none where nobody said that there are."""
    _working_folder()
    if path is None and not os.path.exists(SETTINGS):
        return None
    runner = _Inspected(path or SETTINGS)
    if runner.loaded.report[0].status in ("missing", "rejected"):
        raise CannotInspect(f"the handlers in {path or SETTINGS} are not known; put right what is said above")
    return runner


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise CannotInspect("the working folder is gone; change to the folder of the project and try again") from None


def listed(runner: Runner) -> int:
    """Prints a row for each handler: event, command, time limit."""
    rows = [(h.event, _one_line(h.command), f"{h.timeout:g}s") for h in _in_order(runner)]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for event, command, timeout in rows:
        _print(f"{event:<{first}}  {command:<{second}}  {timeout}")
    return 0


def tried(runner: Runner) -> int:
    """Fires each configured event once and prints what its handlers say together. The exit code is 1 when one failed."""
    failed = False
    for event in dict.fromkeys(handler.event for handler in _in_order(runner)):
        merged = runner.fire(event, EXAMPLES[event])
        failed |= bool(merged.failed)
        reason = f" - {_one_line(merged.reason)}" if merged.reason else ""
        _print(f"{event}: {merged.verdict or 'abstain'}{reason}{' (handler failed)' if merged.failed else ''}")
    return 1 if failed else 0


COMMANDS: Mapping[str, Callable[[Runner], int]] = {"hooks": listed, "hooks-test": tried}
"""Word of the command line -> what it does."""


def _in_order(runner: Runner) -> list[Configured]:
    events = list(lecode.EVENTS)
    return sorted(runner.loaded.handlers, key=lambda handler: events.index(handler.event))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _print(text: str, file: Any = None) -> None:
    # a handler may say what no stream can carry: half of a surrogate pair
    print(text.encode("utf-8", "replace").decode(), file=file or sys.stdout, flush=True)
