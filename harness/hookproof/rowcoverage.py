"""Each sentence of a source document is tested by a case, excluded with a reason, or untested: row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import coverage
from .catalog import Catalog
from .coverage import STATES, Covered, State
from .results import Report


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence and what is known of it."""

    id: str
    dialect: str
    section: str
    words: str
    state: State
    rules: tuple[str, ...]
    cases: tuple[str, ...]
    why: str
    """The reasons of its exclusion, or what is missing."""


def measure(catalog: Catalog, dialect: str | None = None, report: Report | None = None) -> tuple[Row, ...]:
    """What is known of each row, from the rules of all dialects that name it.

    A row is tested when a rule of it is, excluded when it has only rules that are.
    """
    by_row: dict[str, list[Covered]] = {}
    for covered in coverage.measure(catalog, None, report):
        for row in catalog.rules[covered.rule][0].source.rows:
            by_row.setdefault(row, []).append(covered)
    return tuple(
        _row(made.dialect, section, row, words, by_row.get(row, []))
        for made in catalog.statements
        if dialect in (None, made.dialect)
        for section, row, words in made.rows()
    )


def _row(dialect: str, section: str, row: str, words: str, rules: list[Covered]) -> Row:
    states = {rule.state for rule in rules}
    # a rule without a case is a gap even beside one that is excluded
    state: State = "tested" if "tested" in states else "untested" if "untested" in states or not states else "excluded"
    held = [rule for rule in rules if rule.state == state]
    why = "" if state == "tested" else "; ".join(dict.fromkeys(rule.why for rule in held)) or "no rule names it"
    # those of its own dialect first: core cases cover rows of several
    cases = tuple(sorted((case for rule in held for case in rule.cases), key=lambda case: not case.startswith(f"{dialect}/")))
    return Row(row, dialect, section, words, state, tuple(rule.rule for rule in rules), cases, why)


def as_data(rows: tuple[Row, ...]) -> dict[str, Any]:
    """The same for machines."""
    return {
        "totals": {state: sum(row.state == state for row in rows) for state in STATES},
        "rows": [{name: getattr(row, name) for name in Row.__slots__} for row in rows],
    }


def as_text(rows: tuple[Row, ...]) -> str:
    """A table for people: each row with its cases, its exclusion, or what is missing."""
    lines: list[str] = []
    place = None
    for row in rows:
        if (row.dialect, row.section) != place:
            place = (row.dialect, row.section)
            lines += [*([""] if lines else []), f"{row.dialect}: {row.section}"]
        lines.append(f"  {row.id:<6} {row.words}")
        if row.state == "tested":
            more = f" and {len(row.cases) - 3} more" if len(row.cases) > 3 else ""
            lines.append(f"         {', '.join(row.cases[:3])}{more}")
        else:
            lines.append(f"         {row.state}: {row.why}")
    counts = ", ".join(f"{sum(row.state == state for row in rows)} {state}" for state in STATES)
    return "\n".join([*lines, "", f"{len(rows)} rows: {counts}"])
