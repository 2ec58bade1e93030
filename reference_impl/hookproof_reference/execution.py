"""The chosen handlers run, one after the other or together, each within its own time limit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .handlers import Ended, Place, command
from .settings import Configured

if TYPE_CHECKING:
    from .handlers.background import Background

Finishing = Generator[tuple[int, Ended], None, None]
"""The number of a handler and how it ended, in the order in which they end."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a handler did. Exactly one of exit, signal, timed_out, cannot_start, background and error tells how it ended."""

    handler: Configured
    exit: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cannot_start: str | None = None
    stdout: str = ""
    stderr: str = ""
    finished: int = 0
    """0 for the first of these handlers that ended, 1 for the second, ..."""
    background: Background | None = None
    """It asked to run on in the background, and nothing else is known of it."""
    error: str | None = None
    """Why there is no answer, where somebody was asked and no program run."""


def run_all(
    handlers: Sequence[Configured],
    envelope: bytes,
    place: Place,
    *,
    order: Literal["sequential", "parallel"] = "sequential",
    go_on: Callable[[Ran], bool] = lambda ran: True,
    start: Callable[[Sequence[Configured], bytes, Place], Finishing] | None = None,
) -> list[Ran]:
    """Runs the handlers and returns what they did, in the order of the settings; `start` is a dialect's own way to do it.

    All get the same envelope. When `go_on` says no, no further handler starts, and those that are
    under way are killed and left out. Raises OSError when the place is not there.
    """
    start = start or (_parallel if order == "parallel" else _sequential)
    under_way = start(handlers, envelope, place)
    rans: dict[int, Ran] = {}
    try:
        for number, ended in under_way:
            rans[number] = _ran(handlers[number], ended, finished=len(rans))
            if not go_on(rans[number]):
                break
    finally:
        under_way.close()
    return [rans[number] for number in sorted(rans)]


def _sequential(handlers: Sequence[Configured], envelope: bytes, place: Place) -> Finishing:
    for number, handler in enumerate(handlers):
        yield number, command.run(handler.command, envelope, place, handler.timeout)


def _parallel(handlers: Sequence[Configured], envelope: bytes, place: Place) -> Finishing:
    return command.run_together([(h.command, envelope, h.timeout) for h in handlers], place)


def _ran(handler: Configured, ended: Ended, finished: int) -> Ran:
    return Ran(
        handler,
        ended.exit,
        ended.signal,
        ended.timed_out,
        ended.cannot_start,
        ended.stdout,
        ended.stderr,
        finished,
        ended.background,
        ended.error,
    )
