"""A handler that nobody waits for runs on, is looked after now and then, and is killed with its session."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Ended
    from .process import _Child


class Background:
    """A program in the background. Its limit is not enforced (observed)."""

    def __init__(self, child: _Child) -> None:
        self._child = child
        child.deadline = None

    def ended(self) -> Ended | None:
        """How it has ended; None while it has not. Reads what it has printed meanwhile."""
        child = self._child
        poller = select.poll()
        for fd in child.open:
            poller.register(fd, select.POLLOUT if fd == child.stdin else select.POLLIN)
        moved = True
        while moved and child.open:
            moved = False
            for fd, happened in poller.poll(0):
                moved = True
                if not child.serve(fd, happened):
                    poller.unregister(fd)
        end = child.look(time.monotonic())
        if end is not None:
            child.close()
        return end

    def kill(self) -> None:
        """Ends it, and all that it started."""
        self._child.kill()
        self._child.close()
