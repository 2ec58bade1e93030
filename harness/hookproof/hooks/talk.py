"""A running script is fed, listened to and ended, whatever it does."""

from __future__ import annotations

import errno
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .. import tree
from ..errors import HarnessError
from .fire import Fired, Keeper, Stdin

KEPT_BYTES = 2 << 20
"""Of each of stdout and stderr; what comes after is read and dropped."""
FLOOD_BYTES = 128 << 20
"""A script that writes more than this is killed."""
GRACE_S = 0.3
"""Between TERM and KILL."""
HOLD_S = 0.5
"""How long stdout may stay open after the script's end, before it is let go (Claude Code does the same)."""
HELD_BEFORE_S = 0.1
"""The same for a script whose stdout was held once: it would be waited for in vain each time."""
FADE_S = 0.05
"""How long what a script has started may need to be gone after it."""
CROWDED_S = 10.0
"""How long a system that has no room for another process is waited for."""
TICK_S = 0.1
"""How often a long wait looks at the number of processes."""
PIECE_S = 0.03
"""Between the pieces of a payload."""
PROCESSES = 256
"""More processes than this are a fork bomb."""
MEMORY_BYTES = 2 << 30
MEMORY_AFTER_S = 0.5
"""Memory is looked at only in starts that last longer."""
FILE_BYTES = 256 << 20
FILES_BYTES = 1 << 30
"""A script that fills its folders with more than this is killed."""


def run(
    argv: Sequence[str],
    payload: bytes,
    env: Mapping[str, str],
    cwd: Path,
    keeper: Keeper,
    *,
    limit_s: float,
    stdin: Stdin,
    hold_s: float = HOLD_S,
) -> Fired:
    """Start, feed, listen, end. Whatever the script does, this comes back soon after `limit_s` seconds."""
    words = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *argv] if stdin == "closed" else list(argv)
    try:
        process, started = _begun(words, env, cwd, piped=stdin != "closed")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Fired(cannot_start=why, unread=len(payload))
    return _Talk(process, payload, keeper, started, limit_s, stdin, hold_s, env.get("TMPDIR", "/")).end()


def _begun(words: Sequence[str], env: Mapping[str, str], cwd: Path, *, piped: bool) -> tuple[subprocess.Popen[bytes], float]:
    """Start it; also when.

    Raises HarnessError when the system has no room for another process: that says nothing about the script.
    """
    until = time.monotonic() + CROWDED_S
    while True:
        started = time.monotonic()
        try:
            with tree.SPAWNING:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=cwd,
                    env=env,
                    start_new_session=True,
                    bufsize=0,
                )
                tree.own(process.pid)
            return process, started
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM):
                raise
            if time.monotonic() > until:
                raise HarnessError(f"the system can start no more processes: {error.strerror}", "try again") from None
            time.sleep(TICK_S)


class _Talk:
    """One running script and its three pipes."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        payload: bytes,
        keeper: Keeper,
        started: float,
        limit_s: float,
        stdin: Stdin,
        hold_s: float,
        tmp: str,
    ) -> None:
        self.process = process
        self.pid = process.pid
        self.keeper = keeper
        self.started = started
        self.limit_s = limit_s
        self.hold_s = hold_s
        self.held_open = stdin == "held"
        self.piecewise = stdin == "pieces"
        self.unsent = memoryview(b"" if stdin in ("empty", "closed") else payload)
        self.kept = {"stdout": bytearray(), "stderr": bytearray()}
        self.total = 0
        self.status: int | None = None
        self.usage: resource.struct_rusage | None = None
        self.seconds = 0.0
        self.timed_out = self.ignored_term = False
        self.flooded = ""
        self.killed = False
        self.tasks = _tasks()
        self.disk = tmp
        self.room = _room(tmp)
        _limit(self.pid)
        self.poll = select.poll()
        self.pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        self.names: dict[int, str] = {}
        for name in ("stdin", "stdout", "stderr"):
            pipe = getattr(process, name)
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self.names[pipe.fileno()] = name
                if name != "stdin":
                    self.poll.register(pipe.fileno(), select.POLLIN)
        if self.pidfd is not None:
            self.poll.register(self.pidfd, select.POLLIN)
        self._feed()

    def end(self) -> Fired:
        """Listen to the end."""
        try:
            self._until_it_ends()
            held = self._until_it_is_silent()
            left = self._left()
        finally:
            if self.status is None:
                self.keeper.end(self.pid)
                self._wait(block=True)
            tree.disown(self.pid)
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            if self.pidfd is not None:
                os.close(self.pidfd)
        code = os.waitstatus_to_exitcode(self.status or 0)
        cut = self.timed_out or bool(self.flooded)
        return Fired(
            exit=code if code >= 0 and not cut else None,
            signal=-code if code < 0 and not self.timed_out else None,
            timed_out=self.timed_out,
            stdout=bytes(self.kept["stdout"]),
            stderr=bytes(self.kept["stderr"]),
            seconds=self.seconds,
            cpu_s=self.usage.ru_utime + self.usage.ru_stime if self.usage else 0.0,
            left=left,
            held=held,
            flooded=self.flooded,
            unread=len(self.unsent),
            ignored_term=self.ignored_term,
        )

    def _until_it_ends(self) -> None:
        until = self.started + self.limit_s
        look_at = self.started + TICK_S / 2
        while self.status is None:
            now = time.monotonic()
            if now >= until:
                if self.timed_out:
                    self.ignored_term = True
                    self._kill()
                    return
                self.timed_out = True
                with suppress(OSError):
                    os.killpg(self.pid, signal.SIGTERM)
                until = now + GRACE_S
            pause = PIECE_S if self.piecewise and self.unsent else TICK_S
            self._listen(min(until - now, pause))
            if self.piecewise:
                self._feed()
            if now > look_at:
                look_at = now + TICK_S
                self._watch()
            if self.flooded:
                self._kill()
                return
            self._wait(block=False)

    def _until_it_is_silent(self) -> bool:
        """Take what is still in the pipes; whether somebody held stdout open behind the script's back."""
        until = time.monotonic() + (self.hold_s if not self.flooded and not self.timed_out else 0.0)
        while "stdout" in self.names.values():
            left = until - time.monotonic()
            self._listen(max(0.0, min(left, TICK_S)))
            if left <= 0:
                return "stdout" in self.names.values() and not self.killed and not self.timed_out
            self._watch()
            if self.flooded:
                self.keeper.end(self.pid)
                return True
        self._listen(0.0)
        return False

    def _left(self) -> tuple[str, ...]:
        """The names of what is still there, after a moment to go by itself; then it is killed."""
        if self.killed:
            return ()
        found = self.keeper.leftovers(self.pid)
        until = time.monotonic() + (GRACE_S if self.timed_out else FADE_S)
        while found and time.monotonic() < until and not self.flooded:
            time.sleep(0.005)
            found = self.keeper.leftovers(self.pid)
        if not found:
            return ()
        if self.timed_out:
            self.ignored_term = True
            self.keeper.end(self.pid)
            return ()
        names = [_name(pid) for pid in found[:50]]
        self.keeper.end(self.pid)
        return tuple(sorted(name for name in names if name))

    def _kill(self) -> None:
        self.seconds = time.monotonic() - self.started
        self.killed = True
        self.keeper.end(self.pid)
        self._wait(block=True)

    def _wait(self, *, block: bool) -> None:
        try:
            pid, status, usage = os.wait4(self.pid, 0 if block else os.WNOHANG)
        except ChildProcessError:
            pid, status, usage = self.pid, 0, None
        if pid:
            self.seconds = self.seconds or time.monotonic() - self.started
            self.status, self.usage = status, usage
            self.process.returncode = os.waitstatus_to_exitcode(status)
            if self.pidfd is not None:
                with suppress(KeyError):
                    self.poll.unregister(self.pidfd)

    def _watch(self) -> None:
        """Look for too many files and processes, and for too much memory; first by cheap numbers."""
        if self.room - _room(self.disk) > FILES_BYTES and _size(os.path.dirname(self.disk)) > FILES_BYTES:
            self.flooded = f"more than {FILES_BYTES >> 30} GiB of files"
            return
        more = _tasks() - self.tasks
        if more > 2 * PROCESSES and self.keeper.orphans() > PROCESSES // 2:
            # a whole look at so many would take seconds in which they grow
            self.flooded = "hundreds of processes"
            return
        crowd = self.keeper.crowd(self.pid) if more > PROCESSES // 4 or time.monotonic() - self.started > MEMORY_AFTER_S else []
        if len(crowd) > PROCESSES:
            self.flooded = f"{len(crowd)} processes"
        elif tree.memory_of(crowd) > MEMORY_BYTES:
            self.flooded = f"{tree.memory_of(crowd) >> 20} MiB of memory"

    def _listen(self, wait_s: float) -> None:
        for fd, _ in self.poll.poll(max(0.0, wait_s * 1000)):
            name = self.names.get(fd)
            if name == "stdin":
                self._feed()
            elif name is not None:
                self._read(fd, name)

    def _feed(self) -> None:
        pipe = self.process.stdin
        if pipe is None or pipe.closed:
            return
        fd = pipe.fileno()
        size = max(1, min(len(self.unsent) // 2, 4096)) if self.piecewise else 65536
        try:
            while self.unsent:
                self.unsent = self.unsent[os.write(fd, self.unsent[:size]) :]
                if self.piecewise:
                    return
        except BlockingIOError:
            self.poll.register(fd, select.POLLOUT)
            return
        except OSError:  # it closed its stdin, or is gone
            self.held_open = False
        if not self.held_open:
            with suppress(KeyError):
                self.poll.unregister(fd)
            self.names.pop(fd, None)
            with suppress(OSError):
                pipe.close()

    def _read(self, fd: int, name: str) -> None:
        kept = self.kept[name]
        while True:
            try:
                chunk = os.read(fd, 65536)
            except BlockingIOError:
                return
            if not chunk:
                self.poll.unregister(fd)
                del self.names[fd]
                return
            self.total += len(chunk)
            kept += chunk[: max(0, KEPT_BYTES - len(kept))]
            if self.total > FLOOD_BYTES:
                self.flooded = f"more than {FLOOD_BYTES >> 20} MiB of output"
                return


def _tasks() -> int:
    """How many tasks the whole system has: one small read."""
    try:
        with open("/proc/loadavg", "rb") as stream:
            return int(stream.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def _room(folder: str) -> int:
    """Free bytes on the disk of a folder; 0 where that cannot be told."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


def _size(folder: str) -> int:
    """Bytes on the disk below a folder, as far as they can be seen."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(place, name)).st_blocks * 512
    return size


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _limit(pid: int) -> None:
    if not hasattr(resource, "prlimit"):
        return
    for which, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, FILE_BYTES)):
        with suppress(OSError, ValueError):
            resource.prlimit(pid, which, (value, value))
