"""What is wrong in a file of the suite is said with its place, and all of it at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import CaseFileError

SHOWN = 40
"""So many mistakes are printed; the rest is counted."""


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One thing that is wrong; line and column count from 1."""

    path: Path
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        # a name from the file may hold line ends or terminal codes: one mistake stays one line
        text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in self.text)
        return f"{shown(self.path)}:{self.line}:{self.column}: {text}"


class Mistaken(CaseFileError):
    """A file with mistakes; the message lists them, `mistakes` has them as data."""

    def __init__(self, message: str, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__(message)
        self.mistakes = mistakes


def shown(path: Path) -> str:
    """A path as a person wants to read it: relative where it lies below the current folder."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return os.fspath(path)


def failure(mistakes: Iterable[Mistake]) -> Mistaken:
    """The error that says all these mistakes, one a line, in the order of the files."""
    ordered = tuple(sorted(set(mistakes)))
    rest = len(ordered) - SHOWN
    return Mistaken("\n".join([*map(str, ordered[:SHOWN]), *([f"... and {rest} more"] if rest > 0 else [])]), ordered)


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def near_id(word: str, known: Iterable[str]) -> str | None:
    """The known id (dialect/family/slug) that was probably meant: the slug decides, its prefix only among equals."""
    slugs: dict[str, list[str]] = {}
    for each in known:
        slugs.setdefault(each.rpartition("/")[2], []).append(each)
    slug = near(word.rpartition("/")[2], slugs)
    return near(word, slugs[slug]) or slugs[slug][0] if slug else None


def suggestion(word: str, known: Sequence[str]) -> str:
    """`did you mean "exit"?`, or the known words where none is near."""
    meant = near(word, known)
    return f'did you mean "{meant}"?' if meant else f"known: {', '.join(known) or 'none'}"
