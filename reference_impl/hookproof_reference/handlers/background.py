"""A handler that nobody waits for runs on, is looked after now and then, and is killed with its session."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Ended
    from .process import _Child


class Background:
    """A program in the background. Where it has a limit, TERM reaches it on time, whether somebody looks or not."""

    def __init__(self, child: _Child, limit: float | None = None) -> None:
        self._child = child
        child.deadline = None
        self._timer: threading.Timer | None = None
        if limit is not None:
            self._timer = threading.Timer(limit, self._out_of_time)
            self._timer.daemon = True
            self._timer.start()

    def _out_of_time(self) -> None:
        if not self._child.reaped:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGTERM)

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
            self._leave()
            child.close()
        return end

    def kill(self) -> None:
        """Ends it, and all that it started."""
        self._leave()
        self._child.kill()
        self._child.close()

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
