"""The verdict counts what the table counts."""

from __future__ import annotations

import pytest

from hookproof import catalog, certificate, dialects, suite
from hookproof.results import CaseResult, Header
from hookproof.views import terminal

KNOWN = catalog.load([suite.conformance()])


def result(entry: catalog.Entry, subject: str) -> CaseResult:
    return CaseResult(
        id=entry.id,
        dialect=subject,
        family=entry.family,
        rule=entry.case.rule,
        level=entry.rule.level,
        sentence=entry.rule.text,
        source="",
        status="not-tested" if entry.case.slow else "pass",
        slow=entry.case.slow,
    )


@pytest.mark.parametrize("subject", ["lecode/1.0", "claude-code/2.1.332", "teaagent/1"])
def test_the_slow_cases_of_the_verdict_are_those_of_the_table(subject: str) -> None:
    dialect, version = dialects.resolve(subject)
    entries = [e for e in KNOWN.entries if e.dialect == "core" or (e.dialect == dialect and e.holds_in(version))]
    cases = [result(entry, subject) for entry in entries]
    features = sorted({feature for wanted in KNOWN.requirements for feature in wanted.features})
    header = Header(
        hookproof="1",
        suite="f" * 40,
        cases=len(cases),
        subject=["/x"],
        runner={"name": "x"},
        dialects=[subject],
        features=features,
    )
    footer = certificate.footer(header, KNOWN, [(dialect, version)], cases, 1.0, slow=False)
    assert footer.verdict.startswith("certified: x keeps ")
    waiting = footer.counts["not-tested"]
    assert footer.verdict.endswith(f"; {waiting} slow case{'' if waiting == 1 else 's'} not tested (--slow)")
    last = terminal.table(cases)[-1].split()
    assert str(waiting) in last
