"""Sees that no process and no folder outlives a run, however the run ends.

In an orderly end the harness cleans up itself. For all other ends (SIGKILL, a closed terminal) a watchdog does.
"""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from . import tree
from .errors import HarnessError
from .watchdog import Watchdog

_SWEEP_EVERY_S = 1.0


class Reaper:
    """One per run. Thread-safe.

    While it is open this process is the parent of all orphans below it; `close` kills those that carry
    the run's mark, those in sessions of its subjects, and, when it is the only reaper of this process,
    any other that appeared below this process in a foreign session while it was open. Who starts
    processes in sessions of their own beside a run says so with `tree.own`.
    """

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self._sessions: set[int] = set()
        self._folders: list[Path] = []
        self._count = 0
        self._lock = threading.Lock()
        self._swept = time.monotonic()
        self._ended: set[str] = set()
        self._zombies: set[int] = set()
        self._closed = False
        self._adopts = tree.adopt()
        processes = tree.table()
        self._before = {(pid, processes[pid].start) for pid in tree.strays(processes)}
        try:
            self._watchdog = Watchdog(f"{self.token}.")
        except HarnessError:
            if self._adopts:
                tree.unadopt()
            raise

    def mark(self) -> str:
        """A new value for HOOKPROOF_RUN, one per started process."""
        with self._lock:
            self._count += 1
            return f"{self.token}.{self._count}"

    def watch(self, session: int) -> None:
        """Kill this session when the run ends."""
        with self._lock:
            self._sessions.add(session)
        self._watchdog.watch(session)

    def forget(self, session: int, mark: str = "") -> None:
        """The session's leader was waited for; its number may come again. What still carries `mark` is swept later."""
        with self._lock:
            self._sessions.discard(session)
            if mark:
                self._ended.add(mark)
        self._watchdog.forget(session)

    def add_folder(self, path: Path) -> None:
        """Remove this folder when the run ends."""
        self._watchdog.add_folder(path)
        with self._lock:
            self._folders.append(path.absolute())

    def sweep(self) -> None:
        """Kill what ended subjects left in sessions of their own and wait for orphans; looks at most once a second."""
        with self._lock:
            now = time.monotonic()
            if self._closed or now - self._swept < _SWEEP_EVERY_S:
                return
            self._swept = now
        with tree.SPAWNING:
            processes = tree.table()
            strays = [processes[pid] for pid in tree.strays(processes)]
        strays = [found for found in strays if (found.pid, found.start) not in self._before]
        ended = {found.pid for found in strays if found.state == "Z" and found.parent == os.getpid()}
        with self._lock:
            # a second look: whoever started a process beside us has had the time to wait for it
            due, self._zombies = ended & self._zombies, ended - self._zombies
            marks = set(self._ended)
        tree.reap(due)
        tree.kill(found.pid for found in strays if tree.mark_of(found.pid) in marks)

    def close(self) -> None:
        """Kill what is left, remove the folders, end the watchdog. May be called again."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sessions = list(self._sessions)
        for session in sessions:
            tree.kill_group(session)
        self._kill_strays()
        if self._adopts:
            tree.unadopt()
        for folder in self._folders:
            _remove(folder)
        self._watchdog.end()

    def _kill_strays(self) -> None:
        until = time.monotonic() + 2.0
        while True:
            with tree.SPAWNING:
                processes = tree.table()
                # without adoption the strays hang below somebody else: look at all
                places = tree.strays(processes) if self._adopts else list(processes)
            found = [processes[pid] for pid in places if self._is_ours(processes[pid])]
            tree.reap(stray.pid for stray in found if stray.state == "Z")
            alive = [stray.pid for stray in found if stray.state not in "ZX"]
            if not alive or time.monotonic() > until:
                return
            tree.kill(alive)
            time.sleep(0.002)

    def _is_ours(self, found: tree.Entry) -> bool:
        if (found.pid, found.start) in self._before:
            return False
        if found.session in self._sessions or tree.marked(found.pid, f"{self.token}."):
            return True
        return self._adopts and tree.adopters() == 1


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # a subject may have taken our own permissions away
        for place, _, _ in os.walk(folder, onerror=None):
            with suppress(OSError):
                os.chmod(place, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
