"""The process that has the MCP SDK imported, and forks a server for each program that asks on its socket.

Run as a file, with the number of a listening socket. It ends when its stdin does: when the harness is gone.
It has one thread and no event loop of its own, which is what makes a fork of it a sound process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

READY = b"ready\n"
"""Written to stdout once servers can be asked for."""
PATIENCE = 5.0
"""Seconds that a program may take to say what it wants."""


def main() -> int:
    """Forks servers until stdin ends."""
    # run as a file without its folder in the path: what stands beside it must not hide libraries of the same name
    sys.path.append(str(Path(__file__).parent))
    serving = import_module("serving")

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    listener = socket.socket(fileno=int(sys.argv[1]))
    os.write(1, READY)
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    poller.register(0, 0)
    while True:
        for fd, _ in poller.poll():
            if fd == 0:
                return 0
            wire, _ = listener.accept()
            with wire:
                if os.fork() == 0:
                    listener.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    serving.serve(wire, *_handed_over(wire))


def _handed_over(wire: socket.socket) -> tuple[str, list[str], dict[str, str]]:
    """Takes over the streams of the program at the other end, and gives what it asks for; ends this process if it cannot."""
    try:
        wire.settimeout(PATIENCE)
        _, streams, _, _ = socket.recv_fds(wire, 1, 3)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        asked = b""
        while not asked.endswith(b"\n"):
            more = wire.recv(65536)
            if not more:
                raise EOFError
            asked += more
        wanted = json.loads(asked)
        wire.settimeout(None)
        return wanted["tools"], wanted["arguments"], wanted["env"]
    except (OSError, EOFError, ValueError):
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
