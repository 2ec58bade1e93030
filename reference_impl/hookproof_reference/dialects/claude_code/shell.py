"""A shell command falls into the simple commands that it would run, as far as the program looks into it.

Not a shell: what it sees and what it does not see was observed, and rules are only as good as that.
"""

from __future__ import annotations

import re

LONGEST = 10_000
"""Characters of a command that is still looked into."""

_OPENERS = {"if", "then", "elif", "else", "while", "until", "do", "for", "fi", "done", "esac", "{", "}", "!", "time"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_FUNCTION = re.compile(r"(^|[;&|\n{]\s*)(function\s+\w+|[A-Za-z_]\w*\s*\(\s*\))")
_REDIRECT = re.compile(r"\d*(>>|>\||>&|<&|<>|>|<)|&>>?")
_SEPARATOR = re.compile(r"&&|\|\||;;|\|&|[;\n&|()]")


class Unseen(Exception):
    """A command that cannot be looked into."""


def commands(text: str) -> list[str] | None:
    """The simple commands, each as its words with one blank between them; None if that cannot be said.

    An unterminated quote has none at all.
    """
    if len(text) > LONGEST or "<<" in text or "<(" in text or ">(" in text or _FUNCTION.search(text):
        return None
    try:
        found: list[str] = []
        _split(text, found)
    except Unseen:
        return []
    return None if any(part.split(" ")[0] == "case" for part in found) else found


def _split(text: str, found: list[str]) -> None:
    words: list[str] = []
    word: list[str] | None = None
    known: dict[str, str] = {}
    at = 0

    def end_word() -> None:
        nonlocal word
        if word is not None:
            words.append("".join(word))
            word = None

    def end_command() -> None:
        end_word()
        _simple(words, found, known)
        words.clear()

    while at < len(text):
        here = text[at]
        if here == "\\" and at + 1 < len(text):
            word = [*(word or []), text[at + 1]] if text[at + 1] != "\n" else word
            at += 2
        elif here == "'":
            close = _closing(text, at, "'")
            word = [*(word or []), text[at + 1 : close]]
            at = close + 1
        elif here == '"':
            inner, at = _double_quoted(text, at, found)
            word = [*(word or []), inner]
        elif text.startswith("$(", at) or here == "`":
            inside, at = _inner(text, at, found)
            word = [*(word or []), f"$({inside})"]
        elif here == "#" and word is None:
            at = (text.find("\n", at) + len(text) + 1) % (len(text) + 1) if "\n" in text[at:] else len(text)
        elif word is None and (redirect := _REDIRECT.match(text, at)):
            at = redirect.end()
            words.append(">")
        elif redirect := re.compile(r">>|>|<").match(text, at):
            end_word()
            at = redirect.end()
            words.append(">")
        elif separator := _SEPARATOR.match(text, at):
            end_command()
            at = separator.end()
        elif here in " \t":
            end_word()
            at += 1
        else:
            word = [*(word or []), here]
            at += 1
    end_command()


def _simple(words: list[str], found: list[str], known: dict[str, str]) -> None:
    """One simple command without keywords, assignments and redirections before its name."""
    plain: list[str] = []
    after_redirect = False
    for word in words:
        if after_redirect:
            after_redirect = False
        elif word == ">":
            after_redirect = True
        elif not plain and (word in _OPENERS):
            continue
        elif not plain and _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            known[name] = value
        else:
            plain.append(word)
    if not plain:
        return
    plain[0] = known.get(plain[0].removeprefix("$").strip("{}"), plain[0]) if plain[0].startswith("$") else plain[0]
    found.append(" ".join(plain))
    if plain[0] == "xargs":
        found.append(" ".join(plain[1:]))


def _closing(text: str, at: int, quote: str) -> int:
    close = text.find(quote, at + 1)
    if close < 0:
        raise Unseen
    return close


def _double_quoted(text: str, at: int, found: list[str]) -> tuple[str, int]:
    """What stands in double quotes, and where it goes on; substitutions inside are commands, too."""
    inner = ""
    at += 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            inner += text[at + 1] if text[at + 1] in '"\\$`' else text[at : at + 2]
            at += 2
        elif text.startswith("$(", at) or text[at] == "`":
            inside, at = _inner(text, at, found)
            inner += f"$({inside})"
        else:
            inner += text[at]
            at += 1
    if at >= len(text):
        raise Unseen
    return inner, at + 1


def _inner(text: str, at: int, found: list[str]) -> tuple[str, int]:
    """A substitution, whose commands are found with and without their arguments (observed), and where it goes on."""
    inside, at = _substitution(text, at)
    commands: list[str] = []
    _split(inside, commands)
    found += commands + [command.partition(" ")[0] for command in commands if " " in command]
    return inside, at


def _substitution(text: str, at: int) -> tuple[str, int]:
    """The command in `$(...)` or backquotes, and where it goes on."""
    if text[at] == "`":
        close = _closing(text, at, "`")
        return text[at + 1 : close], close + 1
    depth, start = 0, at + 2
    for place in range(at + 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place], place + 1
    raise Unseen
