"""Tested, excluded, untested: counted by section, and from a real run where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof import catalog, coverage
from hookproof.catalog import Catalog
from hookproof.results import CaseResult, Footer, Header, Report, Status

TEXT = """\
format: 1
dialect: lecode
family: veto
rules:
  lecode-tested:
    {level: must, text: A deny keeps the tool from running., source: {document: "002", section: Protocol}}
  lecode-forgotten:
    {level: must, text: Nobody wrote a case for this one., source: {document: "002", section: Protocol}}
  lecode-invisible:
    level: may
    text: It cannot be seen from outside.
    source: {document: "001", section: Screen}
    excluded: {reason: unobservable, note: The screen is the agent's own.}
cases:
  - id: lecode/veto/a
    rule: lecode-tested
    why: A runner that believes nobody passes the others.
    call: {tool: bash}
    expect: {tool_runs: 1}
    killed_by: [always-deny]
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Catalog:
    (tmp_path / "a.yaml").write_text(TEXT)
    return catalog.load([tmp_path])


def report(status: Status) -> Report:
    case = CaseResult(
        id="lecode/veto/a",
        dialect="lecode/1.0",
        family="veto",
        rule="lecode-tested",
        level="must",
        sentence="",
        source="",
        status=status,
    )
    header = Header(hookproof="0", suite="0", cases=1, subject=["x"])
    return Report(header, [case], Footer(counts={status: 1}, verdict=""))


def states(loaded: Catalog, seen: Report | None = None) -> dict[str, str]:
    return {each.rule: each.state for each in coverage.measure(loaded, report=seen)}


def test_a_rule_is_tested_excluded_or_untested(loaded: Catalog) -> None:
    assert states(loaded) == {"lecode-tested": "tested", "lecode-forgotten": "untested", "lecode-invisible": "excluded"}


@pytest.mark.parametrize("status", ["fail", "error", "not-tested", "not-applicable", "warn"])
def test_with_results_only_a_case_that_passed_counts(status: Status, loaded: Catalog) -> None:
    assert states(loaded, report("pass"))["lecode-tested"] == "tested"
    assert states(loaded, report(status))["lecode-tested"] == "untested"


def test_sections_are_counted_and_what_is_not_tested_is_named(loaded: Catalog) -> None:
    covered = coverage.measure(loaded)
    assert [(s.document, s.section, s.count("tested"), s.count("untested")) for s in coverage.by_section(covered)] == [
        ("001", "Screen", 0, 0),
        ("002", "Protocol", 1, 1),
    ]
    text = coverage.as_text(covered)
    assert "excluded: lecode-invisible (unobservable: The screen is the agent's own.)" in text
    assert "untested: lecode-forgotten (no case)" in text
    assert text.endswith("3 rules: 1 tested, 1 excluded, 1 untested")
    assert coverage.as_data(covered)["totals"] == {"tested": 1, "excluded": 1, "untested": 1}


def test_another_dialect_has_no_rules_here(loaded: Catalog) -> None:
    assert coverage.measure(loaded, "core") == ()
