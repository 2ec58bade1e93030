"""What a script's text shows: how it refuses, what it prints, what it needs, and where it is mistaken."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ..pattern import pattern

REFUSAL = pattern(
    r"block|den(?:y|ied)|refus|forbid|prohibit|prevent|reject|not allowed|not permitted|disallow|must not|may not|"
    r"never |cannot|can't"
    r"|dangerous|protected|unsafe|violat|\bno [a-z]|need(?:s|ed)? a person|off[- ]limits|stop(?:ped)?:|abort|guard",
    re.I,
)
"""Words of somebody who says no."""


UNREADABLE = "unreadable"
"""The text of an exit code 2 that answers to input that cannot be read: it says nothing about how a call is refused."""


@dataclass(frozen=True, slots=True)
class Trait:
    """One thing seen, and in which line (from 1)."""

    kind: str
    line: int
    text: str = ""


@dataclass(slots=True)
class Traits:
    """All that was seen in one script."""

    language: str
    found: list[Trait] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    """The names of its functions, where a reader needs them."""

    def add(self, kind: str, line: int, text: str = "") -> None:
        """Note one thing."""
        self.found.append(Trait(kind, line, text))

    def mark(self, kind: str, lines: Collection[int], text: str) -> None:
        """Give what was seen of this kind in these lines another text."""
        self.found = [Trait(kind, t.line, text) if t.kind == kind and t.line in lines else t for t in self.found]

    def all(self, *kinds: str) -> list[Trait]:
        """What was seen of these kinds, in the order of the text."""
        return [trait for trait in self.found if trait.kind in kinds]

    def first(self, *kinds: str) -> Trait | None:
        """The first of these kinds."""
        return next(iter(self.all(*kinds)), None)

    def has(self, *kinds: str) -> bool:
        """Whether one of these kinds was seen."""
        return any(trait.kind in kinds for trait in self.found)

    @property
    def ends_with_2(self) -> bool:
        """Whether an exit code of 2 is its way to refuse; one that only says that the input cannot be read is none."""
        return any(trait.text != UNREADABLE for trait in self.all("exit-2"))

    @property
    def refuses(self) -> bool:
        """Whether the script means to refuse something, by whatever means."""
        return self.has("exit-2", "deny", "says-no", "block") or any(
            REFUSAL.search(trait.text) for trait in self.all("exit-other", "continue-false", "decision-word")
        )


@lru_cache(maxsize=256)
def traits_of(text: str, language: str) -> Traits:
    """Read a script. Language: sh, bash, python, node, ruby, perl or php; others are not read."""
    traits = Traits(language)
    # a handler of more than that is a program, and every reader here is to take no more than milliseconds
    text = text[:65536]
    if language == "python":
        from .python import read
    elif language == "node":
        from .node import read
    elif language in ("sh", "bash"):
        from .shell import read
    elif language in ("ruby", "perl", "php"):
        from .other import read
    else:
        return traits
    code = read(text, traits)
    from .answers import read_answers

    read_answers(code, traits)
    return traits


def line_of(text: str, offset: int) -> int:
    """The line in which an offset lies, from 1."""
    return text.count("\n", 0, offset) + 1


def is_json(text: str) -> bool:
    """Whether a text that a script prints is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def together(text: str, one: int, other: int) -> bool:
    """Whether two lines (from 1) can both be reached in one run: told by indentation, exits and arms of a case.

    The one that stands in the outer block must not end the run before the other, and no arm may lie between.
    """
    lines = text.split("\n")
    first, second = sorted((one, other))
    if second > len(lines) or first == second:
        return first == second
    depth = _depth(lines[first - 1])
    for line in lines[first - 1 : second - 1]:
        if not line.strip():
            continue
        here = _depth(line)
        if re.search(r";;\s*$", line) and here >= depth:
            return False
        if (
            re.search(r"\b(?:exit|return|raise|continue|break)\b", line)
            and (here == depth or line is lines[first - 1])
            and not _lone_test(line)
        ):
            return False
        if here < depth:
            if re.match(r"\s*(?:\}?\s*else|elif|elsif|except|catch|case)\b", line):
                return False
            depth = here
    return not any(
        _depth(line) < depth and re.match(r"\s*(?:\}?\s*else|elif|except)\b", line)
        for line in lines[first:second]
        if line.strip()
    )


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lone_test(line: str) -> bool:
    """`[ ... ] && exit 0`: ends the run in some cases only."""
    return re.search(r"(?:&&|\|\||\bif\b).*\b(?:exit|return)\b", line) is not None


def common(code: str, traits: Traits, names: Iterable[str]) -> None:
    """Note what looks alike in every language: variables that nobody sets, and names that the payload does not have."""
    for match in re.finditer("|".join(names), code):
        traits.add("input-variable", line_of(code, match.start()), match[0].strip("${}\"'[]().? "))
    for match in re.finditer(
        r"""(?:\[\s*|get\(\s*|\.)["']?(toolInput|toolName|toolResponse|sessionId|hookEvent|filePath)\b(?!["']?\s*[:=](?!=))""",
        code,
    ):
        if match[1] != "filePath" or re.search(r"tool_input|toolInput", code) is not None:
            traits.add("payload-key", line_of(code, match.start()), match[1])
    for match in _TOP_LEVEL.finditer(code):
        # what another program has taken out of the input is no payload any more
        if "tool_input" not in code[max(0, match.start() - 120) : match.start()].rpartition("\n")[2]:
            traits.add("payload-key", line_of(code, match.start()), match[1])


INPUT_KEYS = (
    "file_path", "notebook_path", "command", "content", "old_string", "new_string", "tool", "args", "arguments", "params",
    "parameters", "input", "toolArgs", "tool_args", "toolParams",
)  # fmt: skip
"""Keys of a tool's input, which stand below tool_input and nowhere else, and keys of other agents' payloads."""
_TOP_LEVEL = pattern(rf"""\bjq\s+(?:-\w+\s+)*["']?\.({"|".join(INPUT_KEYS[:6])})\b[^|"')\n]*["']?\s*(?:$|[|);<])""", re.M)
