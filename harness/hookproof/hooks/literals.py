"""The strings and patterns in a script become texts that they would match."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST = 60
"""Texts taken from one script."""
ALTERNATIVES = 8
"""Texts made from one pattern."""
LONGEST = 200
JOINED = 4
"""So many words of one line make one text."""

_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\\n]|\\.)*)`")
_BARE_REGEX = re.compile(r"=~\s+((?:\\.|[^\s\"'\\;])+)")
_JS_REGEX = re.compile(r"(?<![\w/)<])/((?:[^/\\\n*]|\\.)(?:[^/\\\n]|\\.)*)/[gimsuy]*(?=[.,;)\]\s])")
_BARE_WORD = re.compile(r"\s(?:==?|!=)\s+([A-Za-z_][\w./*-]*)\s*\]")
_INNER = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|/((?:[^/\\ ]|\\.)(?:[^/\\]|\\.)*)/")
_CASE = re.compile(r"(?:^|\bin\s)\s*\(?((?:\*|[^\s()'\"#;]|\\ |\"[^\"]*\"|'[^']*'|\|)+)\)", re.MULTILINE)
_DECIDES = re.compile(
    r"grep|contains|=~|\bcase\b|re\.|regex|pattern|match|includes|startswith|startsWith|test\(|\bin\b|==|!=|\[\[|rg\b",
    re.IGNORECASE,
)
_NOT_MATCHED = re.compile(r"^\s*(#|//|echo\b|printf\b|print\b|console\.|import\b|from\b)")
_POSIX = {"[:space:]": r"\s", "[:blank:]": r" \t", "[:alpha:]": "a-zA-Z", "[:alnum:]": "a-zA-Z0-9", "[:digit:]": "0-9"}
_NOISE = re.compile(
    r"^[\s\W]*$|^\.?tool_|^\.(tool|hook|session|transcript|cwd|prompt|permission|stop)[a-z_.]*( //.*)?$"
    r"|hookSpecificOutput|hookEventName|permissionDecision|^utf-?8$"
    r"|^(tool|hook|session|transcript|permission|stop|agent|user)_[a-z_]+$|^(file|notebook)_path$|^(old|new)_string$|^command$"
)
"""Strings that belong to the protocol of hooks, and are nothing that a guard looks for."""


def texts(source: str) -> list[str]:
    """Texts that the script's own words suggest, those on lines that decide something first."""
    weighed: dict[str, tuple[int, bool]] = {}
    for number, line in enumerate(source.splitlines()):
        if number == 0 and line.startswith("#!"):
            continue
        weight = 0 if _DECIDES.search(line) else 2 if _NOT_MATCHED.search(line) else 1
        for literal, is_pattern in _literals(line):
            for sample in _sampled(literal, is_pattern):
                # "rm " may be looked for with its blank
                for text, as_written in ((sample.strip(), False), (sample, True)):
                    if 1 < len(text) <= LONGEST and not _NOISE.search(text) and text not in weighed:
                        weighed[text] = (weight, as_written)
    return sorted(weighed, key=weighed.__getitem__)[:MOST]


def _literals(line: str) -> Iterator[tuple[str, bool]]:
    """Every string of a line, and whether it can only be a pattern."""
    for found in _BARE_REGEX.finditer(line):
        yield found[1].replace("\\ ", " "), True
    for found in _JS_REGEX.finditer(line):
        yield found[1], True
    for found in _CASE.finditer(line):
        for piece in found[1].split("|"):
            yield piece.replace("*", " ").replace("\\ ", " ").replace('"', "").replace("'", "").strip(), False
    for found in _BARE_WORD.finditer(line):
        yield found[1], False
    words = []
    for found in _QUOTED.finditer(line):
        text = next(group for group in found.groups() if group is not None)
        yield text, False
        # a program of jq, awk or perl between single quotes has strings of its own
        for inner in _INNER.finditer(found[1] or ""):
            yield next(group for group in inner.groups() if group is not None), False
        words.append(text)
    # words that are looked for one by one: words[0] == "git" and words[1] == "push"
    single = [word for word in words if re.fullmatch(r"-{0,2}[A-Za-z][\w-]*", word) and not _NOISE.search(word)]
    for begin in range(min(len(single), JOINED)):
        for end in range(begin + 2, min(len(single), begin + JOINED) + 1):
            yield " ".join(single[begin:end]), False


def _sampled(literal: str, is_pattern: bool) -> Iterable[str]:
    """A literal as it stands, and what it matches when it is read as a pattern."""
    plain = [] if is_pattern else [literal.replace("\\\\", "\\")]
    if not re.search(r"[\\^$.|?*+()\[\]{}]", literal):
        return plain
    return [*samples(literal.replace("\\\\", "\\")), *plain]


def samples(pattern: str) -> list[str]:
    """Texts that a regular expression matches: one for each alternative, up to a bound; none for what is no pattern."""
    for name, inner in _POSIX.items():
        pattern = pattern.replace(name, inner)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd patterns are no business of whoever runs the check
            parsed = parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        return []
    return list(dict.fromkeys(_all(parsed)))[:ALTERNATIVES]


def _all(items: Any) -> list[str]:
    made = [""]
    for item in items:
        pieces = _piece(*item)
        made = [before + piece for before in made for piece in pieces][: ALTERNATIVES * 2]
    return made


def _piece(op: Any, what: Any) -> list[str]:
    if op is ops.LITERAL:
        return [chr(what)]
    if op in (ops.ANY, ops.NOT_LITERAL):
        return ["x" if what != ord("x") else "y"]
    if op is ops.IN:
        return [_one_of(what)]
    if op is ops.BRANCH:
        return [text for branch in what[1] for text in _all(branch)][: ALTERNATIVES * 2]
    if op is ops.SUBPATTERN:
        return _all(what[3])
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, getattr(ops, "POSSESSIVE_REPEAT", None)):
        least, _, inner = what
        # a repeated class of blanks is best seen once, anything else optional best left out
        times = least or (1 if _is_blank(inner) else 0)
        return [text * min(times, 40) for text in _all(inner)] if times else [""]
    if op is ops.ASSERT:
        return _all(what[1])
    if op is getattr(ops, "ATOMIC_GROUP", None):
        return _all(what)
    return [""]


def _is_blank(inner: Any) -> bool:
    return bool(_all(inner)) and _all(inner)[0] == " "


def _one_of(what: Any) -> str:
    negated = what[0][0] is ops.NEGATE
    if negated:
        return "x"
    kind, value = what[0]
    if kind is ops.LITERAL:
        return chr(value)
    if kind is ops.RANGE:
        return chr(value[0])
    return {ops.CATEGORY_SPACE: " ", ops.CATEGORY_DIGIT: "1", ops.CATEGORY_NOT_SPACE: "x"}.get(value, "x")
