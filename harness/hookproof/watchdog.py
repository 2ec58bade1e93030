"""One `/bin/sh` beside a run, which cleans up when the run cannot: after a SIGKILL, or when a terminal is closed.

It reads from a pipe what there is to clean, and does so when the pipe ends.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import IO

from . import tree
from .errors import HarnessError

# Lines: s SESSION, x SESSION (it is gone), f FOLDER, q (all is done). The mark is its first argument.
# Two rounds of killing, because a process can start another between the look and the kill.
_PROGRAM = r"""
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


class Watchdog:
    """Raises HarnessError when it cannot be started. `mark` begins the marks of what it kills beside the sessions."""

    def __init__(self, mark: str) -> None:
        try:
            with tree.SPAWNING:
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", _PROGRAM, "hookproof-watchdog", mark],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    cwd="/",
                    start_new_session=True,
                    bufsize=0,
                )
                tree.own(self._process.pid)
        except OSError as error:
            raise HarnessError(f"/bin/sh cannot be started: {error}", "the probes are programs for /bin/sh") from None

    def watch(self, session: int) -> None:
        """Kill this process group when the run is gone."""
        self._tell(f"s {session}")

    def forget(self, session: int) -> None:
        """It was waited for; its number may come again."""
        self._tell(f"x {session}")

    def add_folder(self, path: Path) -> None:
        """Remove this folder when the run is gone. Raises HarnessError for a name that cannot be told."""
        text = str(path.absolute())
        if "\n" in text:
            raise HarnessError(f"{text!r}: a folder for a run cannot have a line break in its name", "set TMPDIR to another one")
        self._tell(f"f {text}")

    def end(self) -> None:
        """All is done: it cleans nothing up."""
        self._tell("q")
        with suppress(OSError):
            self._pipe.close()
        self._process.wait()
        tree.disown(self._process.pid)

    @property
    def _pipe(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _tell(self, line: str) -> None:
        # lines up to 4,096 bytes are written whole; a watchdog that is gone only costs the cleaning after a SIGKILL
        with suppress(OSError, ValueError):
            self._pipe.write(os.fsencode(line) + b"\n")
