"""Known failures: a file of ids with a reason each; they still run, and one that passes is stale.

# what our runner does not do yet
lecode/veto/second-denies           the merge stops at the first answer, fixed in 2.1
lecode/veto/late-deny:tool_runs     only this check of the case may fail
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import UsageError
from .results import CaseResult, Check

UNEXPLAINED = "unexplained:"
"""How a reason begins that was written by --write-known and not yet by a person."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the file. `check` is None when the whole case may fail."""

    id: str
    check: str | None
    reason: str
    where: str
    """file:line"""

    @property
    def shown(self) -> str:
        """As it stands in the file."""
        return self.id if self.check is None else f"{self.id}:{self.check}"


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the file says of one result."""

    excused: str | None = None
    """The reason, when all that failed is known."""
    stale: tuple[Entry, ...] = ()
    """Entries whose failure did not happen."""


class Known:
    """The entries of one file. Raises UsageError for a file that is not as it must be."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries = tuple(entries)

    def of(self, result: CaseResult) -> Opinion:
        """What is known of this result."""
        entries = [e for e in self.entries if e.id in (result.id, f"{result.id}@{result.dialect}")]
        if not entries or result.status in ("harness-error", "not-tested", "not-applicable"):
            return Opinion()
        whole = [e for e in entries if e.check is None]
        failing = [_names(check) for check in result.checks if not check.ok]
        if result.status in ("pass", "warn"):
            return Opinion(stale=tuple(entries))
        excusing = [e for e in entries if any(e.check in names for names in failing)]
        stale = tuple(e for e in entries if e.check is not None and e not in excusing and result.status == "fail")
        if whole:
            return Opinion(whole[0].reason, stale)
        covered = {e.check for e in excusing}
        if result.status == "fail" and failing and all(names & covered for names in failing):
            return Opinion("; ".join(e.reason for e in excusing), stale)
        return Opinion(stale=stale)

    def account(self, cases: Sequence[CaseResult], *, whole: bool) -> Account:
        """Hold the file against a run; `whole`: nothing was left out, so what names no case of it is wrong."""
        opinions = [(case, self.of(case)) for case in cases]
        there = {name for case in cases for name in (case.id, f"{case.id}@{case.dialect}")}
        return Account(
            excused=tuple((case, o.excused) for case, o in opinions if o.excused is not None and not o.stale),
            stale=tuple(entry for _, opinion in opinions for entry in opinion.stale),
            unmatched=tuple(e for e in self.entries if whole and e.id not in there),
            unexplained=sum(e.reason.startswith(UNEXPLAINED) for e in self.entries),
        )


def _names(check: Check) -> set[str | None]:
    """`tool_runs t1` is meant by tool_runs.t1, and by tool_runs."""
    words = check.name.split()
    return {words[0], ".".join(words)}


@dataclass(frozen=True, slots=True)
class Account:
    """What a file of known failures did in one run."""

    excused: tuple[tuple[CaseResult, str], ...] = ()
    """The failures that are known, each with its reason."""
    stale: tuple[Entry, ...] = ()
    unmatched: tuple[Entry, ...] = ()
    unexplained: int = 0
    """How many entries have no reason by a person yet."""

    def wrong(self) -> bool:
        """Whether the file itself must be corrected."""
        return bool(self.stale or self.unmatched)

    def covers(self, case: CaseResult) -> bool:
        """Whether this failure is known."""
        return any(case is excused for excused, _ in self.excused)

    def lines(self) -> list[str]:
        """The account in words; nothing where there is nothing to say."""
        lines = [f"known failure: {case.id}: {reason}" for case, reason in self.excused]
        lines += [f"stale: {e.where}: {e.shown} does not fail any more: remove the line" for e in self.stale]
        lines += [f"unmatched: {e.where}: {e.shown} names no case of this run: correct or remove it" for e in self.unmatched]
        if self.unexplained:
            lines.append(f"known failures without a reason: {self.unexplained}; write why in place of what follows the id")
        return lines


def read(path: Path) -> Known:
    """The known failures in a file: `ID reason` or `ID:CHECK reason` on each line, `#` begins a comment line."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: the known failures cannot be read: {error}", "make the first file with --write-known"
        ) from None
    entries: dict[str, Entry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        words = line.split(maxsplit=1)
        if not words or words[0].startswith("#"):
            continue
        if len(words) == 1:
            raise UsageError(f"{where}: {words[0]} has no reason", "write why it is known to fail after the id")
        name, colon, check = words[0].partition(":")
        entry = Entry(name, check if colon else None, words[1].strip(), where)
        if entry.shown in entries:
            raise UsageError(f"{where}: {entry.shown} stands already at {entries[entry.shown].where}")
        entries[entry.shown] = entry
    return Known(list(entries.values()))


def write(path: Path, failures: Iterable[tuple[str, CaseResult]]) -> int:
    """Write failures, each with the id of its test, as a new file of known failures; how many there are."""
    lines = ["# Known failures: they still run. Put the reason behind each id; remove a line when its case passes."]
    for test_id, result in failures:
        failed = "; ".join(f"{c.name}: wanted {c.wanted}, saw {c.saw}" for c in result.checks if not c.ok)
        why = " ".join((failed or result.note or result.status).split())[:160]
        lines.append(f"{test_id}  {UNEXPLAINED} {why}")
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    except OSError as error:
        raise UsageError(f"{path}: the known failures cannot be written: {error}") from None
    return len(lines) - 1
