"""What a runner must leave alone while it is asked: its world, and what the probes note there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import HarnessError, Wrecked
from .layout import World
from .ledger import Ledger
from .probe import ProbeKit, has_room

HINT = "a runner works in the folders that its request names, and removes, moves and replaces none of them"


@contextmanager
def watching(world: World, kit: ProbeKit) -> Iterator[None]:
    """Raises Wrecked in place of our own errors, or at the end, where the world or the folder of the run is not as it was."""
    probes = f"{world.probes}"
    before = _identity(probes)
    try:
        yield
    except (OSError, HarnessError):
        if wrecked := left_over(kit) or _of_world(probes, before):
            raise wrecked from None
        raise
    if wrecked := left_over(kit) or _of_world(probes, before):
        raise wrecked


def left_over(kit: ProbeKit) -> Wrecked | None:
    """What is wrong with the folder of the whole run: without it no further case can be asked."""
    try:
        os.stat(f"{kit.folder}/probe")
    except OSError as error:
        folder = kit.folder
        return Wrecked(
            f"the folder of the whole run was removed, moved or locked by what ran in it: {folder}: {error.strerror}", HINT
        )
    return None


def altered(seen: Ledger, kit: ProbeKit) -> str | None:
    """How the probes' journal was changed by somebody else, in words; None where a full disk may be to blame."""
    words = None
    if seen.torn:
        words = f"something that is no probe wrote into their journal: {seen.torn[0][:200]!r}"
    elif lost := seen.lost():
        words = f"lines vanished from the probes' journal: it no longer says that {lost[0]} started"
    return f"while the runner was asked, {words}" if words and has_room(kit.folder) else None


def _of_world(probes: str, before: tuple[int, int]) -> Wrecked | None:
    words = None
    try:
        if _identity(probes) != before:
            words = f"replaced: {probes} is not the folder that was made"
        elif not stat.S_ISREG(os.lstat(f"{probes}/journal").st_mode):
            words = f"changed: {probes}/journal, where the probes note what happens, is no file any more"
    except OSError as error:
        # without a start there is no journal
        if not (isinstance(error, FileNotFoundError) and str(error.filename).endswith("/journal")):
            words = f"removed, moved or locked: {probes}: {error.strerror}"
    return Wrecked(f"while the runner was asked, its world was {words}", HINT) if words else None


def _identity(folder: str) -> tuple[int, int]:
    found = os.stat(folder)
    return found.st_dev, found.st_ino
