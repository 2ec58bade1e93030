"""The event stream of one run: a header, one line per case, a footer. All views only read it.

A stream without its footer is truncated and refused: half a run must not look like a whole one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TextIO

import msgspec
from msgspec import Struct

from .errors import ResultsError

FORMAT = 1

Status = Literal["harness-error", "error", "fail", "warn", "not-tested", "pass", "not-applicable"]
SEVERITY: tuple[Status, ...] = ("harness-error", "error", "fail", "warn", "not-tested", "pass", "not-applicable")
"""The status words, the most severe first."""
BAD: frozenset[Status] = frozenset({"harness-error", "error", "fail"})
"""The words with which a run cannot end well."""

Basis = Literal["seen", "claimed"]


class Check(Struct, omit_defaults=True, kw_only=True):
    """One thing that a case demanded. `basis`: from the ledger (seen), or only the runner says so (claimed)."""

    name: str
    ok: bool
    basis: Basis
    wanted: str
    saw: str = ""


class Moment(Struct, omit_defaults=True):
    """One fact of the ledger, `at` seconds after the first (null: no time is known)."""

    what: str
    at: float | None = None


class Given(Struct):
    """Something that the runner was given with a case; the folder of the case is written WORLD in it, the request's id ID."""

    what: str
    """A settings file by its scope and path, or the request."""
    text: str


class CaseResult(Struct, omit_defaults=True, kw_only=True, tag_field="kind", tag="case"):
    """What became of one case in one dialect."""

    id: str
    dialect: str
    family: str
    rule: str
    level: Literal["must", "should", "may"]
    sentence: str
    source: str
    status: Status
    checks: list[Check] = []
    error_kind: str = ""
    """With status error: how the runner failed (TimedOut, Died, NotProtocol, ...)."""
    note: str = ""
    """Why it was not tested, is not applicable, or what kind of error it was."""
    hint: str = ""
    """What to do; a line behind four blanks is a command, to be shown in one line."""
    said: str = ""
    """What the runner printed instead of an answer, to the letter (cut)."""
    complained: str = ""
    """The end of the runner's stderr; shown, never judged."""
    timeline: list[Moment] = []
    given: list[Given] = []
    """Settings files and request of a case that did not end well."""
    rerun: str = ""
    """The command that runs just this case."""
    seconds: float = 0.0
    slow: bool = False


class Header(Struct, omit_defaults=True, kw_only=True, tag_field="kind", tag="header"):
    """What was asked of whom."""

    format: int = FORMAT
    hookproof: str
    suite: str
    """A hash over all selected cases."""
    cases: int
    subject: list[str]
    runner: dict[str, Any] = {}
    dialects: list[str] = []
    scope: str = "loop"
    features: list[str] = []
    posture: dict[str, Any] | None = None
    foreign: list[str] = []
    """Settings of the surrounding pytest that can change a verdict: with one of them nothing is certified."""
    certifies: bool = True
    """False for a selection, an assumed version, a foreign setting: the run says what it saw, no more."""
    why_not: str = ""


class Footer(Struct, omit_defaults=True, kw_only=True, tag_field="kind", tag="footer"):
    """Counts by status word; a stream without it is truncated."""

    counts: dict[str, int]
    verdict: str
    """One line for people."""
    certified: list[str] = []
    """The requirement sets of which every required case ran and passed."""
    not_scored: list[str] = []
    """Rules with cases that no requirement set of these dialects holds: should-rules, and rules added later."""
    seen: int = 0
    claimed: int = 0
    seconds: float = 0.0


Line = Header | CaseResult | Footer


class Report(Struct):
    """A whole stream."""

    header: Header
    cases: list[CaseResult]
    footer: Footer


def worst(statuses: Iterable[Status]) -> Status:
    """The most severe of several status words; `not-applicable` if there are none."""
    return min(statuses, key=SEVERITY.index, default="not-applicable")


def count(cases: Iterable[CaseResult]) -> dict[str, int]:
    """How many cases have which status word, in order of severity, absent words left out."""
    counts = Counter(case.status for case in cases)
    return {word: counts[word] for word in SEVERITY if counts[word]}


def write(line: Line, stream: TextIO) -> None:
    """Append one line and flush it: a run that is killed leaves what it had."""
    stream.write(json.dumps(msgspec.to_builtins(line), separators=(",", ":"), ensure_ascii=True) + "\n")
    stream.flush()


def read(path: Path) -> Report:
    """The stream in a file. Raises ResultsError when it is no stream, or has no footer."""
    lines: list[Line] = []
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path}: cannot be read: {error}") from None
    for number, raw in enumerate(text.splitlines(), 1):
        try:
            lines.append(msgspec.json.decode(raw, type=Header | CaseResult | Footer))
        except msgspec.MsgspecError as error:
            raise ResultsError(f"{path}:{number}: no line of a results file: {error}") from None
    if not lines or not isinstance(lines[0], Header):
        raise ResultsError(f"{path}: the header is missing: this is no results file of hookproof")
    if not isinstance(lines[-1], Footer):
        raise ResultsError(f"{path}: the footer is missing: the run was cut short, so it proves nothing", "run it again")
    cases = [line for line in lines[1:-1] if isinstance(line, CaseResult)]
    if len(cases) != len(lines) - 2 or sum(lines[-1].counts.values()) != len(cases):
        raise ResultsError(f"{path}: the footer counts {lines[-1].counts}, the file holds {len(cases)} cases")
    return Report(lines[0], cases, lines[-1])
