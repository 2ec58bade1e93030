"""Sees that no process and no folder outlives a run, however the run ends.

In an orderly end the harness cleans up itself. For all other ends (SIGKILL, a closed terminal) one
`/bin/sh` per run reads from a pipe what there is to clean, and does so when the pipe ends.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from . import tree
from .errors import HarnessError

# Lines: s SESSION, x SESSION (it is gone), f FOLDER, q (all is done). The mark is its first argument.
# Two rounds of killing, because a process can start another between the look and the kill.
_WATCHDOG = r"""
trap '' INT TERM HUP QUIT TSTP
mark=$1; shift; sessions=' '
while IFS= read -r line; do
    what=${line#??}
    case $line in
        s*) sessions="$sessions$what " ;;
        x*) case $sessions in *" $what "*) sessions="${sessions%%" $what "*} ${sessions#*" $what "}" ;; esac ;;
        f*) set -- "$@" "$what" ;;
        q*) exit 0 ;;
    esac
done
exec 2>/dev/null
for round in 1 2; do
    for session in $sessions; do kill -s KILL -- "-$session"; done
    for found in $(grep -lsF "HOOKPROOF_RUN=$mark" /proc/[0-9]*/environ); do
        found=${found#/proc/}
        kill -s KILL "${found%/environ}"
    done
done
[ $# = 0 ] && exit 0
rm -rf -- "$@" || { sleep 0.2; chmod -R u+rwX -- "$@"; rm -rf -- "$@"; }
"""

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
            with tree.SPAWNING:
                self._watchdog = subprocess.Popen(
                    ["/bin/sh", "-c", _WATCHDOG, "hookproof-watchdog", f"{self.token}."],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    cwd="/",
                    start_new_session=True,
                    bufsize=0,
                )
                tree.own(self._watchdog.pid)
        except OSError as error:
            if self._adopts:
                tree.unadopt()
            raise HarnessError(f"/bin/sh cannot be started: {error}", "the probes are programs for /bin/sh") from None

    def mark(self) -> str:
        """A new value for HOOKPROOF_RUN, one per started process."""
        with self._lock:
            self._count += 1
            return f"{self.token}.{self._count}"

    def watch(self, session: int) -> None:
        """Kill this session when the run ends."""
        with self._lock:
            self._sessions.add(session)
        self._tell(f"s {session}")

    def forget(self, session: int, mark: str = "") -> None:
        """The session's leader was waited for; its number may come again. What still carries `mark` is swept later."""
        with self._lock:
            self._sessions.discard(session)
            if mark:
                self._ended.add(mark)
        self._tell(f"x {session}")

    def add_folder(self, path: Path) -> None:
        """Remove this folder when the run ends."""
        text = str(path.absolute())
        if "\n" in text:
            raise HarnessError(f"{text!r}: a folder for a run cannot have a line break in its name", "set TMPDIR to another one")
        with self._lock:
            self._folders.append(Path(text))
        self._tell(f"f {text}")

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
        self._tell("q")
        with suppress(OSError):
            self._pipe.close()
        self._watchdog.wait()
        tree.disown(self._watchdog.pid)

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

    @property
    def _pipe(self) -> IO[bytes]:
        assert self._watchdog.stdin is not None
        return self._watchdog.stdin

    def _tell(self, line: str) -> None:
        # lines up to 4,096 bytes are written whole; a watchdog that is gone only costs the cleaning after a SIGKILL
        with suppress(OSError, ValueError):
            self._pipe.write(os.fsencode(line) + b"\n")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # a subject may have taken our own permissions away
        for place, _, _ in os.walk(folder, onerror=None):
            with suppress(OSError):
                os.chmod(place, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
