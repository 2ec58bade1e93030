"""One child process: started in a session of its own, talked to without ever blocking, ended with all it started."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import tree
from .reaper import Reaper

CHUNK = 65536
TICK_S = 0.25
"""How often a long wait looks whether the process ended or grew; its end is otherwise told by its pipes."""
WATCH_AFTER_S = 0.5
"""Memory is looked at only in waits longer than this."""
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM")
"""What a subject sees of the caller's environment."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a subject may use."""

    hello_s: float = 10.0
    line_bytes: int = 16 << 20
    stderr_bytes: int = 64 << 10
    """How much of the end of stderr is kept."""
    memory_bytes: int = 2 << 30
    """Resident, of the whole tree together."""
    processes: int = 2000
    file_bytes: int = 1 << 30
    open_files: int = 4096


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of waiting for a line."""

    how: Literal["line", "ended", "late", "flooded"]
    """`ended`: the process ended, or closed its stdout."""
    line: bytes
    """Without its line break; where none came, all there was."""
    more: bytes = b""
    """What was already there behind the line."""
    unsent: int = 0
    """Bytes of the request that were not taken."""
    at: float = 0.0
    """Seconds since the epoch."""
    flood: str = ""
    """What there was too much of."""
    blank: int = 0
    """Bytes of blank lines, which are passed over."""


def environment(home: Path, mark: str) -> dict[str, str]:
    """All that a subject sees: where programs are, its language, a home of its own, and the mark."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {"PATH": os.defpath, **kept, "HOME": str(home), "TMPDIR": str(temporary), tree.MARK: mark}


class Child:
    """A running process. Raises OSError when it cannot be started. One thread talks to it; `end` may come from another."""

    def __init__(
        self, argv: Sequence[str], home: Path, limits: Limits, reaper: Reaper, *, working_folder: Path | None = None
    ) -> None:
        self.limits = limits
        self._reaper = reaper
        self._mark = reaper.mark()
        env = environment(home, self._mark)
        with tree.SPAWNING:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=working_folder or home,
                env=env,
                start_new_session=True,
                bufsize=0,
            )
            tree.own(self._process.pid)
        self.pid = self._process.pid
        reaper.watch(self.pid)
        _limit(self.pid, limits)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (pipe.fileno() if pipe else None for pipe in pipes)
        for pipe in pipes:
            if pipe:
                os.set_blocking(pipe.fileno(), False)
        self._unsent = memoryview(b"")
        self._last = False
        self._said = bytearray()
        self._blank = 0
        self._complained = bytearray()
        self._over = False

    def send(self, data: bytes, *, last: bool) -> None:
        """Have this written while waiting for a line; with `last`, stdin is closed behind it."""
        self._unsent, self._last = memoryview(data), last
        self._complained.clear()
        self._blank = 0
        self._write()

    def line(self, limit_s: float) -> Heard:
        """Wait for one line on stdout that is not blank, at most `limit_s` seconds."""
        start = time.monotonic()
        poll = select.poll()
        if self._stdin is not None and self._unsent:
            poll.register(self._stdin, select.POLLOUT)
        for fd in (self._stdout, self._stderr):
            if fd is not None:
                poll.register(fd, select.POLLIN)
        look_at = start + WATCH_AFTER_S
        while True:
            now = time.monotonic()
            if now - start >= limit_s:
                return self._heard("late")
            ready = poll.poll(max(1.0, 1000 * min(start + limit_s - now, TICK_S)))
            ended = not ready and self.ended  # asked before the last look at stdout, so that nothing is missed
            for fd, _ in ready:
                wanted = self._write() if fd == self._stdin else fd != self._stderr or self._read_stderr()
                if not wanted:
                    poll.unregister(fd)
            # stderr first: what was complained before an answer belongs to it
            if ended or any(fd == self._stdout for fd, _ in ready):
                heard = self._read_stdout(ended)
                if heard:
                    return heard
            if now > look_at:
                look_at = now + TICK_S
                if flood := self._flood():
                    return self._heard("flooded", flood=flood)

    def stale(self) -> bytes | None:
        """What stands on stdout although nothing was asked; None when it is closed."""
        if self._stdout is None:
            return None
        with suppress(BlockingIOError):
            return os.read(self._stdout, CHUNK) or None
        return b""

    @property
    def ended(self) -> bool:
        """Whether the process itself is gone, whatever still holds its pipes."""
        if self._process.returncode is not None:
            return True
        # looks without waiting for it, so that its number stays taken until `end` has killed its group
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True

    def ends_within(self, patience_s: float) -> bool:
        """Wait for the process to end by itself."""
        until = time.monotonic() + patience_s
        pause = 0.0005
        while not self.ended:
            if time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        return True

    def complained(self) -> str:
        """The end of what it wrote to stderr since the last `send`."""
        while self._read_stderr(once=True):
            pass
        return self._complained.decode("utf-8", "replace")

    def close_stdin(self) -> None:
        """End of input: a lasting runner ends with it."""
        if self._stdin is not None and self._process.stdin:
            self._stdin = None
            with suppress(OSError):
                self._process.stdin.close()

    def kill(self) -> None:
        """End the process group at once, from any thread; `end` must still follow."""
        if not self._over:
            tree.kill_group(self.pid)

    def end(self, *, thorough: bool = True) -> int:
        """Kill what is left of it and wait for it; returns its exit code, negative for a signal.

        Without `thorough` only its process group is killed now; what went elsewhere is left to the
        reaper's sweeps. Cheap, and right for a process that ended by itself.
        """
        if not self._over:
            if thorough:
                tree.end(self.pid, self._mark)
            else:
                tree.kill_group(self.pid)
            self._over = True
            self._process.wait()
            tree.disown(self.pid)
            self._reaper.forget(self.pid, self._mark)
            self._stdin = self._stdout = self._stderr = None
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                with suppress(OSError):
                    if pipe:
                        pipe.close()
        return self._process.returncode

    def _write(self) -> bool:
        """Hand over what the process takes now; False when there is no more to write, or nobody to take it."""
        if self._stdin is None:
            return False
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # it closed its stdin, or is gone: what it said still counts
            self.close_stdin()
        if self._last:
            self.close_stdin()
        return False

    def _read_stdout(self, ended: bool) -> Heard | None:
        assert self._stdout is not None
        while True:
            try:
                chunk = os.read(self._stdout, CHUNK)
            except BlockingIOError:
                return self._heard("ended") if ended else None
            if not chunk:
                return self._heard("ended")
            if not self._said:
                # what stands between two answers is nobody's
                before, chunk = len(chunk), chunk.lstrip()
                self._blank += before - len(chunk)
            at = chunk.find(b"\n")
            if at >= 0:
                line = bytes(self._said) + chunk[:at]
                self._said = bytearray()
                return Heard("line", line, chunk[at + 1 :], len(self._unsent), time.time())
            self._said += chunk
            if len(self._said) + self._blank > self.limits.line_bytes:
                what = "without a line break" if self._said else "that are only blank lines"
                return self._heard("flooded", flood=f"more than {self.limits.line_bytes >> 20} MiB on stdout {what}")

    def _read_stderr(self, *, once: bool = False) -> bool:
        """Take what there is on stderr; False at its end, and for `once` when nothing is there now."""
        if self._stderr is None:
            return False
        try:
            chunk = os.read(self._stderr, CHUNK)
        except BlockingIOError:
            return not once
        if not chunk:
            self._stderr = None
            return False
        self._complained += chunk
        del self._complained[: -self.limits.stderr_bytes]
        return True

    def _flood(self) -> str:
        entries = tree.members(self.pid, self._mark)
        if (memory := tree.memory_of(entries)) > self.limits.memory_bytes:
            return f"{memory >> 20} MiB of memory, {self.limits.memory_bytes >> 20} are allowed"
        if len(entries) > self.limits.processes:
            return f"{len(entries)} processes, {self.limits.processes} are allowed"
        return ""

    def _heard(self, how: Literal["ended", "late", "flooded"], *, flood: str = "") -> Heard:
        said, self._said = bytes(self._said), bytearray()
        return Heard(how, said, b"", len(self._unsent), time.time(), flood, self._blank)


def signal_name(code: int) -> str:
    """-11 -> SIGSEGV."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _limit(pid: int, limits: Limits) -> None:
    if not hasattr(resource, "prlimit"):
        return
    # after the start instead of in the child, which would cost a slow fork; what it starts before is bound by its own
    wanted = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
    )
    for which, value in wanted:
        with suppress(OSError, ValueError):
            hard = resource.prlimit(pid, which)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, which, (bound, bound))
