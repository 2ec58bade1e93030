"""Threads in which scripts are started, each, where the system allows it, with a process namespace of its own.

In such a namespace nothing that a script starts can get away: a detached daemon has the namespace's first
process as its parent, and with that one's end all others end at once, a fork bomb too. The namespace is
made once per lane and costs a start nothing. It ends with a pipe, so also when the harness is killed.
Where the kernel gives a namespace process numbers of its own to run out of, a bomb stops at a few thousand.
"""

from __future__ import annotations

import ctypes
import os
import queue
import re
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from .. import tree
from ..reaper import Reaper

T = TypeVar("T")

_CLONE_NEWPID = 0x20000000

# Children that end are not waited for here: with CHLD ignored the kernel forgets them by itself.
# Each lane counts from a number of its own, so that `$$` is not the same in two scripts at once.
_FIRST = """
trap '' INT TERM HUP QUIT CHLD
[ -z "$2" ] || echo "$2" >/proc/sys/kernel/pid_max
echo "$1" >/proc/sys/kernel/ns_last_pid
echo up
exec cat >/dev/null
"""

_FROM, _APART, _ROOM = 1000, 200, 1000
"""The number from which the first lane counts, how far lanes are apart, and how many starts a lane has until it counts anew."""

_OWN_HIGHEST_NUMBER = (6, 14)
"""The Linux since which a namespace has a highest process number of its own; before, it is the whole machine's."""


def _numbers_are_own() -> bool:
    """Whether a namespace can be kept small: a fork bomb then comes to an end before the machine does."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return release is not None and (int(release[1]), int(release[2])) >= _OWN_HIGHEST_NUMBER


class Namespace:
    """Keeps what the scripts of one thread start. Made in that thread; raises OSError where the system forbids it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._ended = False
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._begin()
        except OSError:
            os.close(self._own)
            raise

    def _begin(self) -> None:
        if self._libc.unshare(_CLONE_NEWPID):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        first = _FROM + _APART * (self._number % 10)
        with tree.SPAWNING:
            self._first = subprocess.Popen(
                ["/bin/sh", "-c", _FIRST, "hookproof-lane", str(first), str(first + _ROOM) if _numbers_are_own() else ""],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
            tree.own(self._first.pid)
        assert self._first.stdout is not None
        self._first.stdout.readline()
        self._children = f"/proc/{self._first.pid}/task/{self._first.pid}/children"

    def marks(self) -> dict[str, str]:
        """What the environment of each start must say: nothing."""
        return {}

    def leftovers(self, pid: int) -> list[int]:
        """The orphans of the namespace and what hangs below them."""
        try:
            with open(self._children, "rb") as stream:
                words = stream.read().split()
        except OSError:
            return [found.pid for found in self.crowd(pid) if found.pid != pid]
        alive = [int(word) for word in words if (found := tree.entry(int(word))) and found.state not in "ZX"]
        return alive + sorted(tree.below(tree.table(), alive)) if alive else []

    def orphans(self) -> int:
        """How many processes have lost their parents."""
        try:
            with open(self._children, "rb") as stream:
                return len(stream.read().split())
        except OSError:
            return 0

    def crowd(self, pid: int) -> list[tree.Entry]:
        """The script's own descendants and the orphans."""
        processes = tree.table()
        found = tree.below(processes, [self._first.pid, pid]) | {pid}
        return [processes[one] for one in found if one in processes]

    def end(self, pid: int) -> None:
        """End the namespace with all in it; the script itself stays to be waited for, then comes `settle`."""
        self._first.kill()
        self._ended = True

    def settle(self) -> None:
        """After each start: where the namespace was ended, see that all in it is gone, and begin another."""
        if self._ended:
            self._ended = False
            self._over()
            if self._libc.setns(self._own, _CLONE_NEWPID):
                error = ctypes.get_errno()
                raise OSError(error, os.strerror(error))
            self._begin()

    def _over(self) -> None:
        self._first.kill()
        self._first.wait()
        tree.disown(self._first.pid)
        for pipe in (self._first.stdin, self._first.stdout):
            if pipe is not None:
                pipe.close()

    def abort(self) -> None:
        """Kill all in it, from another thread; what waits for a script then sees it end."""
        self._first.kill()

    def close(self) -> None:
        """End it for good."""
        self._over()
        os.close(self._own)


class Marks:
    """Keeps what scripts start where there are no namespaces: by session, by descent, and by a mark in the environment."""

    def __init__(self, reaper: Reaper) -> None:
        self._reaper = reaper
        self.mark = reaper.mark()

    def settle(self) -> None:
        """After each start: a new mark for the next."""
        self.mark = self._reaper.mark()

    def marks(self) -> dict[str, str]:
        """What the environment of each start must say."""
        return {tree.MARK: self.mark}

    def leftovers(self, pid: int) -> list[int]:
        """What is alive beside the script."""
        return [found.pid for found in self.crowd(pid) if found.pid != pid and found.state not in "ZX"]

    def orphans(self) -> int:
        """That cannot be told cheaply."""
        return 0

    def crowd(self, pid: int) -> list[tree.Entry]:
        """The script and all that it started, as far as it can be found."""
        return tree.members(pid, self.mark)

    def end(self, pid: int) -> None:
        """Kill, look again, kill."""
        tree.end(pid, self.mark)

    def abort(self) -> None:
        """There is nothing to be killed from another thread; scripts end at their limits."""

    def close(self) -> None:
        """There is nothing to close."""


Keeper = Namespace | Marks


class Lanes:
    """A bounded number of threads with one queue; each gets its keeper with the work."""

    def __init__(self, reaper: Reaper, bound: int, *, confine: bool = True) -> None:
        self._reaper = reaper
        self._bound = bound
        self._confine = confine
        self._work: queue.SimpleQueue[tuple[Callable[[Keeper], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._keepers: list[Keeper] = []
        self._lock = threading.Lock()
        self._idle = 0
        self._closed = False
        self.namespaces = True
        """Whether scripts run in namespaces; known once a lane has begun."""

    def submit(self, task: Callable[[Keeper], T]) -> Future[T]:
        """Have it done in a lane. Raises RuntimeError after `close`."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the bench is closed")
            self._work.put((task, future))
            if self._idle <= 0 and len(self._threads) < self._bound:
                self._begin()
            else:
                self._idle -= 1
        return future

    def widen(self, bound: int) -> None:
        """Have at least this many lanes, and all of them begun."""
        with self._lock:
            self._bound = max(self._bound, bound)
            while len(self._threads) < bound:
                self._begin()
                self._idle += 1

    def close(self) -> None:
        """Kill what runs, cancel the rest, end all lanes."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with suppress(queue.Empty):
            while item := self._work.get_nowait():
                item[1].cancel()
        for keeper in list(self._keepers):
            keeper.abort()
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()

    def _begin(self) -> None:
        thread = threading.Thread(target=self._lane, args=(len(self._threads),), name="hookproof-lane", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _lane(self, number: int) -> None:
        keeper = self._keeper(number)
        self._keepers.append(keeper)
        try:
            while item := self._work.get():
                task, future = item
                if future.set_running_or_notify_cancel():
                    try:
                        result = task(keeper)
                    except BaseException as error:
                        future.set_exception(error)
                    else:
                        future.set_result(result)
                with self._lock:
                    self._idle += 1
                del task, future, item
        finally:
            keeper.close()

    def _keeper(self, number: int) -> Keeper:
        if self._confine:
            # not everywhere may one have a namespace, and not every system knows them
            with suppress(OSError, AttributeError):
                return Namespace(number)
        self.namespaces = False
        return Marks(self._reaper)
