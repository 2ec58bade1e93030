"""Finds every process that a subject left anywhere, by session, by descent and by a mark in its environment.

The harness makes itself the reaper of orphans while a run is on, so that whatever a subject starts
stays below the harness in the process table, in a session of its own or not. Where there is no
`/proc` (macOS) only process groups are known, and the functions here find nothing.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass

MARK = "HOOKPROOF_RUN"
"""The environment variable that each subject carries: RUN.NUMBER, never the same twice."""

SPAWNING = threading.Lock()
"""Held from a spawn until its pid is known here, so that a fresh subject is never taken for an orphan."""

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_own: set[int] = set()
_adopting = 0
_adopted_before = 0
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Entry:
    """One process of the process table."""

    pid: int
    parent: int
    session: int
    state: str
    """One letter; Z is a process that has ended and was not yet waited for."""
    start: int
    """Clock ticks since boot: tells a process from a later one of the same number."""
    pages: int
    """Resident memory."""


def own(pid: int) -> None:
    """Say that this process started `pid` on purpose; call with SPAWNING held."""
    _own.add(pid)


def disown(pid: int) -> None:
    """Say that `pid` was waited for."""
    _own.discard(pid)


def table() -> dict[int, Entry]:
    """All processes that can be seen now; empty where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    entries = (entry(int(name)) for name in names if name.isdigit())
    return {found.pid: found for found in entries if found}


def entry(pid: int) -> Entry | None:
    """One process; None when it is gone."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # the name in brackets may hold spaces and brackets itself
        words = os.read(fd, 4096).rpartition(b") ")[2].split()
        return Entry(pid, int(words[1]), int(words[3]), words[0].decode(), int(words[19]), int(words[21]))
    except (OSError, IndexError, ValueError):
        return None
    finally:
        os.close(fd)


def below(processes: dict[int, Entry], roots: Iterable[int]) -> set[int]:
    """The pids that descend from `roots`, without the roots."""
    children: dict[int, list[int]] = {}
    for found in processes.values():
        children.setdefault(found.parent, []).append(found.pid)
    reached: set[int] = set()
    ahead = [child for root in roots for child in children.get(root, ())]
    while ahead:
        pid = ahead.pop()
        if pid not in reached:
            reached.add(pid)
            ahead.extend(children.get(pid, ()))
    return reached


def members(pid: int, mark: str, processes: dict[int, Entry] | None = None) -> list[Entry]:
    """The subject `pid` and all that it left: its descendants, its session, what carries its mark, and their descendants."""
    processes = table() if processes is None else processes
    roots = {pid} | {found.pid for found in processes.values() if found.session == pid}
    roots |= {stray for stray in strays(processes) if marked(stray, mark)}
    return [processes[found] for found in roots | below(processes, roots) if found in processes]


def strays(processes: dict[int, Entry]) -> list[int]:
    """What descends from this process in a foreign session and was not started by it on purpose."""
    me, session = os.getpid(), os.getsid(0)
    return [pid for pid in below(processes, [me]) if pid not in _own and processes[pid].session != session]


def marked(pid: int, mark: str) -> bool:
    """Whether a process was started with this mark; a mark that ends with a dot is a beginning."""
    return (found := mark_of(pid)) is not None and (found.startswith(mark) if mark.endswith(".") else found == mark)


def mark_of(pid: int) -> str | None:
    """The mark that a process was started with."""
    try:
        fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        with open(fd, "rb") as stream:
            data = b"\0" + stream.read()
    except OSError:
        return None
    _, found, rest = data.partition(f"\0{MARK}=".encode())
    return rest.partition(b"\0")[0].decode("ascii", "replace") if found else None


def kill(pids: Iterable[int]) -> None:
    """Send KILL to each."""
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """Send KILL to a process group; harmless when it is gone."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def end(pid: int, mark: str, patience_s: float = 2.0) -> None:
    """Kill a subject and all that it left anywhere, and see that it is gone; the subject itself stays to be waited for."""
    until = time.monotonic() + patience_s
    known: set[tuple[int, int]] = set()
    while True:
        # first the look, then the kill: descent is lost when a parent dies
        processes = table()
        known |= {(found.pid, found.start) for found in members(pid, mark, processes)}
        left = [processes[one] for one, start in known if one in processes and processes[one].start == start]
        alive = [found.pid for found in left if found.state not in "ZX"]
        reap(found.pid for found in left if found.state == "Z")
        kill_group(pid)
        if not alive or time.monotonic() > until:
            return
        kill(alive)
        time.sleep(0.002)


def reap(pids: Iterable[int]) -> None:
    """Wait for ended orphans; leaves alone what this process started on purpose."""
    for pid in pids:
        if pid not in _own:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def memory_of(entries: Collection[Entry]) -> int:
    """Resident memory of several processes together, in bytes."""
    return sum(found.pages for found in entries) * os.sysconf("SC_PAGE_SIZE")


def adopt() -> bool:
    """Make this process the parent of all orphans below it; False where the system cannot. Undone by `unadopt`."""
    global _adopting, _adopted_before
    with _lock:
        if not _adopting:
            before = ctypes.c_int(0)
            if _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before)) or _prctl(_PR_SET_CHILD_SUBREAPER, 1):
                return False
            _adopted_before = before.value
        _adopting += 1
    return True


def unadopt() -> None:
    """Take one `adopt` back; the last one restores what was before the first."""
    global _adopting
    with _lock:
        _adopting -= 1
        if not _adopting:
            _prctl(_PR_SET_CHILD_SUBREAPER, _adopted_before)


def adopters() -> int:
    """How many `adopt`s hold in this process."""
    return _adopting


def _prctl(option: int, value: object) -> int:
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))
    except (OSError, AttributeError):
        return -1
