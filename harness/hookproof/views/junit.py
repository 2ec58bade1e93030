"""A result becomes properties of its JUnit test case."""

from __future__ import annotations

from ..results import CaseResult


def properties(result: CaseResult) -> list[tuple[str, str]]:
    """Name and value pairs: what a dashboard can sort and count by."""
    failed = [check.name for check in result.checks if not check.ok]
    pairs = {
        "hookproof.case": result.id,
        "hookproof.dialect": result.dialect,
        "hookproof.family": result.family,
        "hookproof.rule": result.rule,
        "hookproof.level": result.level,
        "hookproof.status": result.status,
        "hookproof.source": result.source,
        "hookproof.failed-checks": " ".join(failed),
        "hookproof.note": result.note,
    }
    return [(name, value) for name, value in pairs.items() if value]
