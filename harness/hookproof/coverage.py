"""Each normative sentence is tested, excluded with a reason, or untested: counted by source document and section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .catalog import Catalog
from .results import Report

State = Literal["tested", "excluded", "untested"]
STATES: tuple[State, ...] = ("tested", "excluded", "untested")


@dataclass(frozen=True, slots=True)
class Covered:
    """One rule and what is known of it."""

    rule: str
    dialect: str
    document: str
    section: str
    state: State
    cases: tuple[str, ...]
    why: str
    """The reason of an exclusion, or what is missing for an untested rule."""


@dataclass(frozen=True, slots=True)
class Section:
    """The rules of one section of one source document."""

    document: str
    section: str
    rules: tuple[Covered, ...]

    def count(self, state: State) -> int:
        """How many of its rules are in this state."""
        return sum(rule.state == state for rule in self.rules)


def measure(catalog: Catalog, dialect: str | None = None, report: Report | None = None) -> tuple[Covered, ...]:
    """What is covered, by rule.

    Without a report a rule is tested when a case of it exists; with one, when a case of it ran and passed.
    """
    passed = None if report is None else {case.id for case in report.cases if case.status == "pass"}
    cases: dict[str, list[str]] = {}
    for entry in catalog.entries:
        cases.setdefault(entry.case.rule, []).append(entry.id)
    found: list[Covered] = []
    for name, (rule, of) in catalog.rules.items():
        if dialect not in (None, of):
            continue
        ids = tuple(cases.get(name, ()))
        state, why = _state(f"{rule.excluded.reason}: {rule.excluded.note}" if rule.excluded else None, ids, passed)
        found.append(Covered(name, of, rule.source.document, rule.source.section, state, ids, why))
    return tuple(found)


def _state(excluded: str | None, ids: Sequence[str], passed: set[str] | None) -> tuple[State, str]:
    if excluded:
        return "excluded", excluded
    if not ids:
        return "untested", "no case"
    if passed is not None and not passed.intersection(ids):
        return "untested", "no case of it ran and passed"
    return "tested", ""


def by_section(covered: Sequence[Covered]) -> tuple[Section, ...]:
    """The rules gathered by document and section, in the order in which the files name them."""
    groups: dict[tuple[str, str], list[Covered]] = {}
    for each in covered:
        groups.setdefault((each.document, each.section), []).append(each)
    ordered = sorted(groups.items(), key=lambda group: group[0][0])  # stable: sections stay as they came
    return tuple(Section(document, section, tuple(rules)) for (document, section), rules in ordered)


def totals(covered: Sequence[Covered]) -> dict[State, int]:
    """How many rules are in each state."""
    return {state: sum(each.state == state for each in covered) for state in STATES}


def as_data(covered: Sequence[Covered]) -> dict[str, Any]:
    """The same for machines."""
    return {
        "totals": totals(covered),
        "sections": [
            {
                "document": section.document,
                "section": section.section,
                **{state: section.count(state) for state in STATES},
                "rules": [
                    {"rule": each.rule, "dialect": each.dialect, "state": each.state, "cases": each.cases, "why": each.why}
                    for each in section.rules
                ],
            }
            for section in by_section(covered)
        ],
    }


def as_text(covered: Sequence[Covered]) -> str:
    """A table for people, with every untested and excluded rule named."""
    lines: list[str] = []
    document = None
    for section in by_section(covered):
        if section.document != document:
            document = section.document
            lines += ["", document] if lines else [document]
        counts = "  ".join(f"{section.count(state)} {state}" for state in STATES if section.count(state))
        lines.append(f"  {section.section:<40} {counts}")
        lines += [f"      {each.state}: {each.rule} ({each.why})" for each in section.rules if each.state != "tested"]
    counts = ", ".join(f"{number} {state}" for state, number in totals(covered).items())
    return "\n".join([*lines, "", f"{len(covered)} rules: {counts}"])
