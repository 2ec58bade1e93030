"""Files that are watched: each change, removal and appearance of one fires FileChanged.

What is watched: the paths that SessionStart handlers name, and the files that stand as matchers of FileChanged
handlers (observed). The program is told by the system; here it is looked between the steps of a session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...settings import Configured

State = tuple[int, int, int] | None
"""Time in nanoseconds, size in bytes and number of a file; None: there is none."""


class Watch:
    """The watched files of a session. `folder` is where relative paths begin."""

    def __init__(self, folder: str, handlers: Iterable[Configured]) -> None:
        self.folder = folder
        self.paths: list[str] = []
        self.known: dict[str, State] = {}
        for handler in handlers:
            if handler.event == "FileChanged" and handler.matcher not in (None, "", "*"):
                self.add(str(handler.matcher).split("|"))

    def add(self, paths: Iterable[str]) -> None:
        """Watches more paths; what a folder holds is watched with it."""
        for path in paths:
            whole = os.path.join(self.folder, os.path.expanduser(path.strip()))
            if path.strip() and whole not in self.paths:
                self.paths.append(whole)
                self.known |= {file: _state(file) for file in _files(whole)}

    def changes(self) -> list[tuple[str, str]]:
        """Each file that is another than at the last look, with `change`, `unlink` or `add`."""
        now = {file: _state(file) for path in self.paths for file in _files(path)} | {file: _state(file) for file in self.known}
        before, self.known = self.known, now
        return [(file, _kind(before.get(file), state)) for file, state in now.items() if state != before.get(file)]


def _kind(before: State, now: State) -> str:
    if now is None:
        return "unlink"
    return "add" if before is None else "change"


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in names)


def _state(path: str) -> State:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
