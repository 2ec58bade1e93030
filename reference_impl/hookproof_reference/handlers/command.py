"""A handler that is a shell command runs by `/bin/sh -c` in the project's folder."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from . import Ended, Place, process


def run(command: str, envelope: bytes, place: Place, limit: float | None) -> Ended:
    """Runs one command with the envelope on stdin, at most `limit` seconds long. Raises OSError when the place is not there."""
    return process.run(shell(command), envelope, place, limit)


def run_together(commands: Sequence[tuple[str, bytes, float | None]], place: Place) -> Generator[tuple[int, Ended], None, None]:
    """Starts all (command, envelope, limit) at once; gives (number, how it ended) in the order in which they end."""
    return process.run_together([(shell(command), envelope, limit) for command, envelope, limit in commands], place)


def shell(command: str) -> list[str]:
    """The argument vector of a command (002, Configuration)."""
    return ["/bin/sh", "-c", command]
