"""Whether a shell text is closed: its quotes, its brackets, and what if, case, do and { have opened.

Only what no shell would read is told; a text that this small reader cannot follow is let pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..pattern import pattern

_TOKEN = pattern(
    r"(?P<blank>[ \t]+|\\\n)|(?P<comment>(?<![^\s;&|()])\#[^\n]*)|(?P<line>\n)|"
    r"(?P<here><<-?[ \t]*(?:'[^'\n]*'|\"[^\"\n]*\"|\\?[\w.-]+))"
    r"|(?P<op><<<|;;&|;&|;;|&&|\|\||\|&|[<>]\(|\$\(\(|\$\(|\(\(|[;&|()<>])"
    r"|(?P<single>\$?'(?:[^'\\]|\\(?!'))*')|(?P<escape>\\.)|(?P<other>[`'\"])|(?P<braces>\$\{)|(?P<word>[^\s\\;&|()<>'\"`$]+|\$)",
    re.S,
)
_OPENS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_CLOSES = {"fi": ("if",), "done": ("while", "until", "for", "select"), "esac": ("case",), "}": ("{",)}
_AGAIN = frozenset({"then", "do", "else", "elif", "!", "{", "time"})
"""Words behind which a command begins, as behind an operator."""
_NEEDS = {"if": "then", "while": "do", "until": "do", "for": "do", "select": "do"}


_HEAD = pattern(r"\bfunction[ \t]+[\w.:-]+[ \t]*\Z")
"""`function NAME`, behind which the brace stands without `()` before it."""


class _Lost(Exception):
    """The reader does not follow: nothing is said about the text."""


@dataclass(slots=True)
class _Open:
    """Something that waits for its end."""

    word: str
    at: int
    seen: str = ""
    """The word it needs, once that was there."""
    pattern: bool = False
    """In a case: whether patterns are read, not commands."""


@dataclass(slots=True)
class _Reader:
    text: str
    stack: list[_Open] = field(default_factory=list)
    here: list[tuple[str, bool]] = field(default_factory=list)
    """Here-documents whose text begins with the next line: their last line, and whether tabs before it count for nothing."""


def fault(text: str) -> tuple[int, str] | None:
    """The line (from 1) and what is wrong there; None where all is closed, or the reader is lost."""
    reader = _Reader(text.replace("\r\n", "\n"))
    try:
        found = _read(reader)
    except (_Lost, RecursionError):
        # brackets inside of quotes inside of brackets, a thousand deep, are nobody's script
        return None
    return None if found is None else (text.replace("\r\n", "\n").count("\n", 0, found[0]) + 1, found[1])


def _read(reader: _Reader) -> tuple[int, str] | None:
    text, stack = reader.text, reader.stack
    at, begin, word_at = 0, True, -1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _Lost
        kind, piece, start = match.lastgroup or "", match[0], at
        at = match.end()
        if kind in ("single", "other") and piece[0] in "'\"`":
            at = _quoted(text, start) if kind == "other" else at
            if at < 0:
                return start, f"the quote {piece} is never closed"
            begin = False
        elif kind == "braces":
            at = _braces(text, start)
            begin = False
        elif kind == "op" and piece in ("$(", "$((", "<(", ">("):
            at = _substitution(text, start)
            begin = False
        elif kind == "op" and piece == "((":
            at, begin = _substitution(text, start), False
        elif kind == "here":
            tag = re.sub(r"^<<-?[ \t]*|['\"\\]", "", piece)
            reader.here.append((tag, piece.startswith("<<-")))
        elif kind == "line":
            at = _documents(reader, at)
            begin = True
        elif kind == "op":
            wrong = _operator(reader, piece, start)
            if wrong is not None:
                return wrong
            begin = piece not in ("<", ">", "<<<")
        elif kind == "word":
            if piece == "[[" and begin:
                end = re.compile(r"\s\]\](?=[\s;&|)]|\Z)").search(text, at)
                if end is None:
                    raise _Lost
                at, begin = end.end(), False
                continue
            whole = text[start:at]
            alone = (at >= len(text) or text[at] in " \t\n;&|()<>") and word_at != start
            if whole == "in" and stack and stack[-1].word == "case" and not stack[-1].seen:
                stack[-1].seen, stack[-1].pattern = "in", True
                begin = True
            elif whole == "{" and not begin and _HEAD.search(text, max(0, start - 80), start) is not None:
                stack.append(_Open("{", start))
                begin = True
            elif whole == "do" and not begin and stack and re.fullmatch(r"(?:for|select)\s+\w+\s+", text[stack[-1].at : start]):
                stack[-1].seen, begin = "do", True
            elif begin and alone and (not stack or stack[-1].word != "case" or not stack[-1].pattern or whole == "esac"):
                wrong = _word(reader, whole, start)
                if wrong is not None:
                    return wrong
                begin = whole in _AGAIN or whole in ("if", "while", "until")
            else:
                begin = False
            word_at = at
            continue
        elif kind == "escape":
            begin = False
        if kind in ("single", "other", "braces", "escape") or (kind == "op" and piece.endswith("(") and piece != "("):
            word_at = at
    if stack:
        last = stack[-1]
        closing = ")" if last.word == "(" else _OPENS[last.word]
        return last.at, f'"{last.word}" is never closed by "{closing}"'
    return None


def _operator(reader: _Reader, piece: str, start: int) -> tuple[int, str] | None:
    stack = reader.stack
    top = stack[-1] if stack else None
    if piece == "(":
        if top is None or not (top.word == "case" and top.pattern):
            stack.append(_Open("(", start))
    elif piece == ")":
        if top is not None and top.word == "case" and top.pattern:
            top.pattern = False
        elif top is not None and top.word == "(":
            stack.pop()
        else:
            return start, '")" closes nothing'
    elif piece in (";;", ";&", ";;&"):
        if top is None or top.word != "case":
            return start, f'"{piece}" stands outside of a case'
        top.pattern = True
    return None


def _word(reader: _Reader, word: str, start: int) -> tuple[int, str] | None:
    stack = reader.stack
    top = stack[-1] if stack else None
    if word in _OPENS:
        stack.append(_Open(word, start))
    elif word in _CLOSES:
        if top is None or top.word not in _CLOSES[word]:
            open_ = f', while "{top.word}" is open' if top is not None else ""
            return start, f'"{word}" closes nothing{open_}'
        if top.word in _NEEDS and top.seen != _NEEDS[top.word]:
            return top.at, f'"{top.word}" has no "{_NEEDS[top.word]}"'
        stack.pop()
    elif word in ("then", "do"):
        if top is None or _NEEDS.get(top.word) != word:
            return start, f'"{word}" belongs to nothing'
        top.seen = word
    elif word in ("else", "elif"):
        if top is None or top.word != "if":
            return start, f'"{word}" belongs to nothing'
        if top.seen != "then":
            return top.at, '"if" has no "then"'
        top.seen = "" if word == "elif" else "then"
    return None


def _documents(reader: _Reader, at: int) -> int:
    """Where the text goes on behind the here-documents that begin at `at`."""
    for tag, tabs in reader.here:
        blanks = "[ \\t]*" if tabs else ""
        end = re.compile(rf"^{blanks}{re.escape(tag)}$", re.M).search(reader.text, at)
        if end is None:
            raise _Lost
        at = min(end.end() + 1, len(reader.text))
    reader.here.clear()
    return at


def _quoted(text: str, start: int) -> int:
    """Where a quote that opens at `start` ends; -1 where it does not."""
    mark, at = text[start], start + 1
    while at < len(text):
        here = text[at]
        if here == "\\" and mark != "'":
            at += 2
        elif here == mark:
            return at + 1
        elif mark == '"' and text.startswith("$(", at):
            at = _substitution(text, at)
        elif mark == '"' and text.startswith("${", at):
            at = _braces(text, at)
        elif mark == '"' and here == "`":
            at = _quoted(text, at)
            if at < 0:
                raise _Lost
        else:
            at += 1
    return -1


def _substitution(text: str, start: int) -> int:
    """Where $(...) ends. A case, a comment or a here-document in it is more than this reader follows."""
    depth, at = 1, text.index("(", start) + 1
    while at < len(text):
        here = text[at]
        if here in "'\"`":
            at = _quoted(text, at)
            if at < 0:
                raise _Lost
            continue
        if here == "\\":
            at += 2
            continue
        if text.startswith("${", at):
            at = _braces(text, at)
            continue
        if text.startswith("<<", at) or re.compile(r"\bcase\s|[\s;]#").match(text, at):
            raise _Lost
        depth += (here == "(") - (here == ")")
        at += 1
        if depth == 0:
            return at
    raise _Lost


def _braces(text: str, start: int) -> int:
    """Where ${...} ends."""
    at = start + 2
    while at < len(text):
        here = text[at]
        if here == "}":
            return at + 1
        if here == "\\":
            at += 2
        elif here in '"`':
            at = _quoted(text, at)
            if at < 0:
                raise _Lost
        elif text.startswith("${", at):
            at = _braces(text, at)
        elif text.startswith("$(", at):
            at = _substitution(text, at)
        else:
            at += 1
    raise _Lost
