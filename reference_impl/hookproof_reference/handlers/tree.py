"""A program and all that it started, in other sessions too, is asked to end and then killed."""

from __future__ import annotations

import os
import signal
from contextlib import suppress


class Tree:
    """The processes below one, as they are now. Whoever has been adopted by init meanwhile is not found any more.

    Where the system can, a process is held by a descriptor, so that its number cannot become another's.
    """

    def __init__(self, root: int) -> None:
        """`root` leads a process group and has not been reaped."""
        self.root = root
        self.held: dict[int, int | None] = {}
        for pid in below(root):
            self._hold(pid)

    def tell(self) -> None:
        """TERM to all of them."""
        self._send(signal.SIGTERM, group=True)

    def kill(self, *, group: bool = True) -> None:
        """KILL to all of them, and to what they have started since; not to the `group` once its leader was reaped."""
        for pid in [pid for old in (self.root, *self.held) for pid in below(old)]:
            if pid not in self.held:
                self._hold(pid)
        self._send(signal.SIGKILL, group)
        for fd in self.held.values():
            if fd is not None:
                os.close(fd)
        self.held = {}

    def _hold(self, pid: int) -> None:
        fd = None
        if hasattr(os, "pidfd_open"):
            try:
                fd = os.pidfd_open(pid)
            except OSError:
                return
        self.held[pid] = fd

    def _send(self, number: int, group: bool) -> None:
        if group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.root, number)
        for pid, fd in self.held.items():
            with suppress(ProcessLookupError, PermissionError):
                if fd is None:
                    os.kill(pid, number)
                else:
                    signal.pidfd_send_signal(fd, number)


def below(root: int) -> list[int]:
    """All descendants of a process, nearest first; empty where /proc does not tell."""
    found = _children(root)
    for pid in found:  # grows while it is read
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []
