"""A handler runs somewhere and ends somehow; each kind of handler is a module of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .background import Background


class Unsupported(Exception):
    """A kind of handler, or another feature, that is asked for and that the reference does not have."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where handlers and tools run: the working folder, absolute, and the whole environment."""

    cwd: str
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it said. Output beyond the cap has lost its middle; bad UTF-8 is U+FFFD."""

    exit: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cannot_start: str | None = None
    stdout: str = ""
    stderr: str = ""
    background: Background | None = None
    """It has not ended: it asked to be left alone, and here it is."""
    error: str | None = None
    """Why there is no answer, where somebody was asked and no program run."""
