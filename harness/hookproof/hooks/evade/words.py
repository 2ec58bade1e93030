"""A shell command is taken apart as far as that is needed to write it otherwise."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

_ACTIVE = frozenset(";|&<>()`$\n*?[{#~!")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPTION = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Simple:
    """One program with its words, as they stand in the text."""

    words: tuple[str, ...]
    """Unquoted."""
    raw: tuple[str, ...] = field(repr=False)
    """As written."""

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2]

    @property
    def rest(self) -> str:
        """What stands behind the program, as written."""
        return " ".join(self.raw[1:])

    def but(self, place: int, *raw: str) -> str:
        """The command with other text in place of one word."""
        return " ".join((*self.raw[:place], *raw, *self.raw[place + 1 :]))

    @property
    def options(self) -> list[int]:
        """The places of its options."""
        return [place for place, word in enumerate(self.words) if place and _OPTION.match(word)]

    @property
    def operands(self) -> list[int]:
        """The places of its other words, the program left out."""
        return [place for place, word in enumerate(self.words) if place and not word.startswith("-")]


def simple(command: str) -> Simple | None:
    """The command as one program with its words; None when there is more to it: pipes, lists, redirections."""
    text = command.strip()
    if not text:
        return None
    try:
        raw = _pieces(text)
        words = [shlex.split(piece)[0] if shlex.split(piece) else "" for piece in raw]
    except (ValueError, IndexError):
        return None
    if not words or not words[0] or _ASSIGNMENT.match(words[0]):
        return None
    unquoted = re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", "", text)
    if set(unquoted) & frozenset(";|&<>()`\n#"):
        return None
    return Simple(tuple(words), tuple(raw))


def _pieces(text: str) -> list[str]:
    """The words with their quotes still on."""
    lexer = shlex.shlex(text, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def is_plain(word: str) -> bool:
    """Whether the shell leaves a word as it is."""
    return bool(word) and not set(word) & (_ACTIVE | set(" \t\"'\\"))
