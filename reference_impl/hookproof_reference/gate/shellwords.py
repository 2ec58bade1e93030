"""A shell command is cut into words and operators, and each word remembers what was quoted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

OPERATORS = ("&&", "||", ";;", "|&", "<<<", "<<", ">>", ">&", "<&", "&>", ";", "|", "&", "(", ")", "<", ">", "\n")


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `bare` is the text outside of quotes, with a NUL where a quoted part stood."""

    raw: str
    value: str
    """Without its quotes; variables as they stand."""
    bare: str
    single: str
    """What stood in single quotes."""


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command and the operator that follows it ("" at the end)."""

    words: tuple[Word, ...]
    then: str
    redirects: tuple[tuple[str, str], ...] = ()
    """(operator, target): `(">&", "2")`, `(">>", "guard.log")`."""

    @property
    def name(self) -> str:
        """The program's name without its folder; "" for an empty step."""
        return self.words[0].value.rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> list[str]:
        """The words behind the program."""
        return [word.value for word in self.words[1:]]


_PIECE = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)|(?P<single>'[^']*'?)|(?P<double>"(?:[^"\\$]|\\.|\$\((?:[^()"']|"[^"]*"|'[^']*')*\)|\$)*"?)"""
    r"""|(?P<op>&&|\|\||;;|\|&|<<<|<<-?|\d?>>|\d?>&|<&|&>|[;|&()<>\n]|\d(?=[<>])>?)"""
    r"""|(?P<escape>\\.)|(?P<subst>\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^}]*\})|(?P<plain>[^\s'"\\;|&()<>`$]+|\$|.)""",
    re.S,
)


@lru_cache(maxsize=512)
def steps(command: str) -> tuple[Step, ...]:
    """The simple commands of a shell text, in order. Never raises; an open quote ends with the text."""
    found: list[Step] = []
    words: list[Word] = []
    redirects: list[tuple[str, str]] = []
    raw: list[str] = []
    value: list[str] = []
    bare: list[str] = []
    single: list[str] = []
    pending = ""

    def close_word() -> None:
        nonlocal pending
        if not raw:
            return
        word = Word("".join(raw), "".join(value), "".join(bare), "".join(single))
        if pending:
            redirects.append((pending, word.value))
            pending = ""
        else:
            words.append(word)
        raw.clear()
        value.clear()
        bare.clear()
        single.clear()

    def close_step(operator: str) -> None:
        close_word()
        if words or redirects:
            found.append(Step(tuple(words), operator, tuple(redirects)))
        words.clear()
        redirects.clear()

    for piece in _PIECE.finditer(command[:20000]):
        kind, text = piece.lastgroup, piece[0]
        if kind == "blank":
            close_word()
        elif kind == "op":
            if not raw and text[-1] in "<>&" and ("<" in text or ">" in text):
                pending = text
            elif "<" in text or ">" in text:
                close_word()
                pending = text
            else:
                close_step(text)
        else:
            raw.append(text)
            if kind == "single":
                inner = text[1:].removesuffix("'")
                value.append(inner)
                single.append(inner)
                bare.append("\0")
            elif kind == "double":
                value.append(re.sub(r'\\(["\\$`])', r"\1", text[1:].removesuffix('"')))
                bare.append("\0")
            elif kind == "escape":
                value.append(text[1:])
                bare.append("\0")
            else:
                value.append(text)
                bare.append(text)
    close_step("")
    return tuple(found)
