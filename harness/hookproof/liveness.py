"""Who is still alive: each handler's FIFO stays open as long as anything of its process tree lives.

Process ids would not do: they name zombies, and other processes in other namespaces. A child that closed
the FIFO is found by the mark that it inherited in its environment (where there is `/proc`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

STEP = 0.02
"""Seconds between two looks."""
MARK = b"HOOKPROOF_PROBE="


class Liveness:
    """The FIFOs of a world's handlers, open for listening. Make it after `place` and before the run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fifos: dict[str, int] = {}
        self._complaints: list[str] = []
        try:
            for name in os.listdir(folder):
                if name.startswith("h") and name.endswith(".live"):
                    fifo = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                    self._fifos[name.removesuffix(".live")] = fifo
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Liveness:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def alive(self, names: Iterable[str], after_s: float = 0) -> list[str]:
        """Those of the probes of whose trees something lives `after_s` seconds from now, in the order given.

        Comes back sooner once nothing of them lives any more. A probe that never started is not alive.
        """
        wanted = list(names)
        until = time.monotonic() + after_s
        while True:
            held = {name for name in wanted if self._held(name)}
            left = until - time.monotonic()
            if not held or left <= 0:
                held |= self._strays(set(wanted) - held)
                if not held or left <= 0:
                    return [name for name in wanted if name in held]
            time.sleep(min(STEP, left))

    def complaints(self) -> list[str]:
        """What handlers could not write into the ledger: our own machinery's trouble, never a verdict."""
        for name in self._fifos:
            self._held(name)
        return list(self._complaints)

    def close(self) -> None:
        """Stop listening; may be called twice."""
        while self._fifos:
            os.close(self._fifos.popitem()[1])

    def _held(self, name: str) -> bool:
        """Whether anybody holds the FIFO open: an end of file says that nobody does."""
        fifo = self._fifos.get(name)
        if fifo is None:
            return False
        try:
            while said := os.read(fifo, 65536):
                self._complaints += said.decode("utf-8", "replace").splitlines()
        except BlockingIOError:
            return True
        return False

    def _strays(self, names: set[str]) -> set[str]:
        marks = {MARK + os.fsencode(self._folder / name): name for name in names}
        return {name for entry in _environments() for mark in entry & marks.keys() if (name := marks[mark])} if marks else set()


def _environments() -> Iterator[set[bytes]]:
    """The environment of each process that we may look at; a zombie has none."""
    try:
        processes = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return
    for process in processes:
        with suppress(OSError):
            yield set(Path(f"/proc/{process}/environ").read_bytes().split(b"\0"))
