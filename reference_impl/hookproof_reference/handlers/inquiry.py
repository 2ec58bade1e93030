"""A handler that is no program of ours: somebody is asked, over a connection, while programs run beside it.

The question is put in a thread. The poll loop of `process.py` sees it as one more stream, which closes when
the answer is there; so all handlers of an event, of whatever kind, end in one order.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Event, Thread

from . import Ended

Question = Callable[[Event], Ended]
"""Asks and waits for the answer. The event is set when nobody wants it any more: the time is up, or the run is over."""


class Inquiry:
    """One question under way, with the part of a running program that the poll loop needs."""

    stdin = -1
    watch: int | None = None
    blind = False

    def __init__(self, question: Question, limit: float | None) -> None:
        """`limit`: seconds; None: none. Raises OSError when there is no room for one more."""
        self.deadline = None if limit is None else time.monotonic() + limit
        self.given_up = Event()
        self._ended: Ended | None = None
        self._news, self._done = os.pipe()
        self.open = {self._news}
        try:
            Thread(target=self._ask, args=(question,), daemon=True, name="inquiry").start()
        except RuntimeError as error:  # the system has no thread left
            os.close(self._done)
            self.close()
            raise OSError(str(error)) from None

    def _ask(self, question: Question) -> None:
        try:
            self._ended = question(self.given_up)
        except Exception as error:  # whatever a client library raises, it is this handler's failure and nobody else's
            self._ended = Ended(error=f"{type(error).__name__}: {error}")
        finally:
            os.close(self._done)

    def serve(self, fd: int, happened: int) -> bool:
        """The stream has moved: it only ever closes."""
        self.open.discard(fd)
        os.close(fd)
        return False

    def must_be_asked(self, now: float) -> bool:
        """Whether its time is up."""
        return self.deadline is not None and now >= self.deadline

    def look(self, now: float) -> Ended | None:
        """How it ended, if it has, or if its time is up."""
        if not self.open:
            return self._ended
        if self.must_be_asked(now):
            self.given_up.set()
            return Ended(timed_out=True)
        return None

    def asks_to_leave(self) -> bool:
        """Only a program can ask to go on in the background."""
        return False

    def kill(self) -> None:
        """Nobody waits for the answer any more."""
        self.given_up.set()

    def close(self) -> None:
        """Close our end; the thread closes its own."""
        while self.open:
            os.close(self.open.pop())
