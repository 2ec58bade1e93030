"""Two lines for each finding: what and where, then what will happen and what to do."""

from __future__ import annotations

from ..lint import Report
from ..profiles import Profile
from . import counts, coverage_gap, printable, validation


def as_text(report: Report, against: Profile) -> str:
    """For a terminal or a log."""
    lines: list[str] = []
    for f in report.findings:
        label = f"{f.label} " if f.label else ""
        lines.append(printable(f"{f.path}:{f.line}:{f.column}: {f.severity} {f.rule}: {label}{f.message}"))
        lines.append(printable(f"    at run time: {f.effect} [{f.pointer or '/'}]"))
        lines.append(printable(f"    {f.remedy}"))
    lines.extend(printable(f"{path}: could not be read: {why}") for path, why in report.unread)
    lines.append(counts(report))
    if report.findings:
        lines.append(printable(f"validate: {validation(report, against)}"))
        lines.append("more on a rule: hookproof lint --explain RULE")
    lines.append(f"coverage_gap: {coverage_gap(against)}")
    return "\n".join(lines) + "\n"
