"""A program runs in a process group of its own, within its limit, is listened to, and leaves no zombie.

Spawning is most of what a hook runner costs. Hence posix_spawn, the small stdin already in the pipe
before the program starts, one poll loop for all programs, and no thread.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from . import Ended, Place
from .background import Background
from .inquiry import Inquiry, Question
from .tree import Tree

CAP = 1_000_000
"""Bytes of stdout, and of stderr, that are kept: half from the beginning, half from the end (observed in lecode)."""


class Ask(NamedTuple):
    """One question to put, beside the programs."""

    question: Question
    limit: float | None
    """Seconds; None: none."""


class Job(NamedTuple):
    """One program to run."""

    argv: Sequence[str]
    stdin: bytes
    limit: float | None
    """Seconds; None: none."""
    place: Place | None = None
    """Where it runs when that is not where the others run."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How programs are treated, where agents differ."""

    session: bool = False
    """Whether a program gets a session of its own, not only a process group."""
    grace: float | None = None
    """Seconds from TERM to KILL, both for the whole tree; None: the group is killed at once."""
    patience: float | None = None
    """Seconds that output may stay open after the program has ended; None: as long as somebody holds it."""
    cap: int | None = None
    """Bytes kept of each output; None: `CAP`."""
    detach: Callable[[bytes], bool] | None = None
    """Says of what stdout holds so far whether the program asks to go on in the background."""


PLAIN = Manners()
"""lecode's."""

_CHUNK = 65_536
_LONGEST_POLL = 100_000.0  # seconds; poll() itself counts milliseconds in 32 bits
_RESTORED = [signal.SIGPIPE, signal.SIGXFSZ]  # Python ignores them; a program must not inherit that


def run(argv: Sequence[str], stdin: bytes, place: Place, limit: float | None = None) -> Ended:
    """Runs one program until it has ended and nobody holds its output open. Raises OSError when the place is not there.

    A program that cannot be started is an `Ended`, too. At the limit its whole process group is killed.
    """
    return next(run_together([(argv, stdin, limit)], place))[1]


def run_together(
    jobs: Sequence[tuple[Sequence[str], bytes, float | None] | Job | Ask], place: Place, manners: Manners = PLAIN
) -> Generator[tuple[int, Ended], None, None]:
    """Starts all at once; gives (number, how it ended) in the order in which they end.

    Whoever stops to iterate (`close()`) kills what is still under way.
    """
    os.stat(place.cwd)
    children: dict[int, _Child | Inquiry] = {}
    streams: dict[int, tuple[int, _Child | Inquiry]] = {}
    poller = select.poll()
    try:
        for number, job in enumerate(jobs):
            try:
                child = Inquiry(*job) if isinstance(job, Ask) else _started(Job(*job), place, manners)
            except (OSError, ValueError) as error:
                yield number, Ended(cannot_start=str(error))
                continue
            children[number] = child
            for fd in child.open:
                streams[fd] = (number, child)
                poller.register(fd, select.POLLOUT if fd == child.stdin else select.POLLIN)
        while children:
            touched = set()
            for fd, happened in poller.poll(_patience(children)):
                number, child = streams[fd]
                touched.add(number)
                if not child.serve(fd, happened):
                    poller.unregister(fd)
                    del streams[fd]
            now = time.monotonic()
            for number, child in list(children.items()):
                ended = child.look(now) if number in touched or child.must_be_asked(now) else None
                leaves = ended is None and number in touched and child.asks_to_leave()
                if ended is not None or leaves:
                    for fd in child.open & streams.keys():
                        poller.unregister(fd)
                        del streams[fd]
                    del children[number]
                    if leaves and isinstance(child, _Child):
                        yield number, Ended(background=Background(child))
                        continue
                    assert ended is not None
                    child.close()
                    yield number, ended
                elif child.watch is not None and child.watch not in streams:
                    streams[child.watch] = (number, child)
                    poller.register(child.watch, select.POLLIN)
    finally:
        for child in children.values():
            child.kill()
            child.close()


def _started(job: Job, place: Place, manners: Manners) -> _Child:
    return _Child(job.argv, job.stdin, job.place or place, job.limit, manners)


def start(argv: Sequence[str], stdin: bytes, place: Place, manners: Manners, limit: float | None = None) -> Background:
    """Starts a program that nobody waits for; at its limit, in seconds, it is told to end.

    Raises OSError or ValueError when it cannot be started.
    """
    return Background(_Child(argv, stdin, place, None, manners), limit)


_under_way: set[int] = set()
"""The programs that have not been reaped, of all threads."""


def kill_all() -> None:
    """Kills every program under way, whoever waits for it: for a process that is about to end."""
    for pid in list(_under_way):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _patience(children: dict[int, _Child | Inquiry]) -> int | None:
    """Milliseconds until somebody must be looked at although no stream has moved; None: no need."""
    now = time.monotonic()
    waits = [child.deadline - now for child in children.values() if child.deadline is not None]
    if any(child.blind for child in children.values()):
        waits.append(0.005)
    return max(0, int(min(*waits, _LONGEST_POLL) * 1000) + 1) if waits else None


class _Child:
    """One program, and the pipes to it that are still open."""

    def __init__(self, argv: Sequence[str], stdin: bytes, place: Place, limit: float | None, manners: Manners = PLAIN) -> None:
        if not os.path.samestat(os.stat("."), os.stat(place.cwd)):
            # posix_spawn cannot change the folder
            argv = ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', place.cwd, *argv]
        ends: list[int] = []
        try:
            for _ in range(3):
                ends += os.pipe()
            theirs_in, self.stdin, self.stdout, theirs_out, self.stderr, theirs_err = ends
            os.set_blocking(self.stdin, False)
            self.unsent = memoryview(stdin)
            if stdin:
                self.unsent = self.unsent[os.write(self.stdin, stdin) :]
            dup = os.POSIX_SPAWN_DUP2
            spawn = os.posix_spawn if "/" in argv[0] else os.posix_spawnp
            actions = [(dup, theirs_in, 0), (dup, theirs_out, 1), (dup, theirs_err, 2)]
            if manners.session:
                self.pid = spawn(argv[0], list(argv), place.env, file_actions=actions, setsid=True, setsigdef=_RESTORED)
            else:
                self.pid = spawn(argv[0], list(argv), place.env, file_actions=actions, setpgroup=0, setsigdef=_RESTORED)
        except BaseException:
            for fd in ends:
                os.close(fd)
            raise
        _under_way.add(self.pid)
        for fd in (theirs_in, theirs_out, theirs_err):
            os.close(fd)
        self.deadline = None if limit is None else time.monotonic() + limit
        self.open = {self.stdout, self.stderr}
        self.manners = manners
        cap = CAP if manners.cap is None else manners.cap
        self.heard = {self.stdout: _Capped(cap), self.stderr: _Capped(cap)}
        self.watch: int | None = None
        self.blind = False
        self.gone = False
        self.reaped = False
        self.code: int | None = None
        self.told: Tree | None = None
        if manners.patience is not None:
            self._watch()
        if self.unsent:
            self.open.add(self.stdin)
        else:
            os.close(self.stdin)

    def serve(self, fd: int, happened: int) -> bool:
        """Reads from or writes to one stream; whether it stays open."""
        if fd == self.watch:
            self.watch, self.gone = None, True
            self.open.remove(fd)
            os.close(fd)
            return False
        stays = self._feed() if fd == self.stdin else self._hear(fd, happened)
        if not stays:
            self.open.remove(fd)
            os.close(fd)
        return stays

    def _feed(self) -> bool:
        try:
            self.unsent = self.unsent[os.write(self.stdin, self.unsent[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # whoever does not read to the end need not
            return False
        return bool(self.unsent)

    def _hear(self, fd: int, happened: int) -> bool:
        if not happened & select.POLLIN:
            return False
        chunk = os.read(fd, _CHUNK)
        self.heard[fd].add(chunk)
        # nobody holds the other end any more, and a short read has emptied the pipe
        return bool(chunk) and not (happened & select.POLLHUP and len(chunk) < _CHUNK)

    def must_be_asked(self, now: float) -> bool:
        """Whether there may be news although no stream has moved."""
        return self.blind or (self.deadline is not None and now >= self.deadline)

    def look(self, now: float) -> Ended | None:
        """How it ended, if it has: it is gone and its output is closed or not waited for, or its time is up."""
        listening = bool(self.open & self.heard.keys())
        if not self.reaped and (not listening or self.gone or self.blind):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.reaped, self.code = True, os.waitstatus_to_exitcode(status)
                self.blind = False
                if self.manners.patience is not None and self.told is None:
                    self.deadline = now + self.manners.patience
            elif self.watch is None and not self.blind and not self.gone:
                self._watch()
        if self.reaped and self.told is not None:
            self.told.kill(group=False)
            return self._ended(None)
        if self.reaped and not listening:
            return self._ended(self.code)
        if self.deadline is not None and now >= self.deadline:
            return self._out_of_time(now)
        return None

    def _out_of_time(self, now: float) -> Ended | None:
        """The limit is reached: the tree is killed, or first asked to end."""
        if self.reaped and self.manners.patience is not None:
            return self._ended(self.code)
        if self.reaped or self.manners.grace is None or self.told is not None:
            self.kill()
            return self._ended(None)
        self.told = Tree(self.pid)
        self.told.tell()
        self.deadline = now + self.manners.grace
        if self.watch is None and not self.blind:
            self._watch()
        return None

    def asks_to_leave(self) -> bool:
        """Whether what it has printed so far asks to go on in the background."""
        return self.manners.detach is not None and self.manners.detach(bytes(self.heard[self.stdout].head))

    def _watch(self) -> None:
        """Wait for the process itself, as its output does not tell when it is gone."""
        try:
            if sys.platform != "linux":
                raise OSError
            self.watch = os.pidfd_open(self.pid)
            self.open.add(self.watch)
        except OSError:
            self.blind = True

    def _ended(self, code: int | None) -> Ended:
        return Ended(
            exit=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            timed_out=code is None,
            stdout=self.heard[self.stdout].text(),
            stderr=self.heard[self.stderr].text(),
        )

    def kill(self) -> None:
        """Kills the whole group, and takes leave of the program."""
        if not self.reaped:
            if self.manners.grace is not None:
                (self.told or Tree(self.pid)).kill()
            # not reaped before: its number cannot have become another group's
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.reaped = True

    def close(self) -> None:
        """Closes what is still open; a grandchild that got away may hold the other ends as long as it likes."""
        _under_way.discard(self.pid)
        while self.open:
            os.close(self.open.pop())


class _Capped:
    """Bytes, of which a beginning and an end are kept."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.cap // 2 - len(self.head)
        if room > 0:
            self.head += chunk[:room]
            chunk = chunk[room:]
        self.tail += chunk
        if len(self.tail) > self.cap:  # not at every chunk: moving half a megabyte each time would cost
            del self.tail[: -self.cap // 2]

    def text(self) -> str:
        if self.total <= self.cap:
            return (self.head + self.tail).decode("utf-8", "replace")
        tail = self.tail[-(self.cap // 2) :]
        gap = f"\n[{self.total - len(self.head) - len(tail)} bytes left out]\n".encode()
        return (self.head + gap + tail).decode("utf-8", "replace")
