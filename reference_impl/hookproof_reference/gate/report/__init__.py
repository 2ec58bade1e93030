"""Findings are shown: as text for people, as JSON, as SARIF 2.1.0, as annotations on a pull request."""

from __future__ import annotations

from ..lint import Report
from ..profiles import Profile

FORMATS = ("text", "json", "sarif", "github")


def render(report: Report, against: Profile, form: str) -> str:
    """The whole report in one of the `FORMATS`, ending with a line break."""
    if form == "json":
        from .data import as_json

        return as_json(report, against)
    if form == "sarif":
        from .sarif import as_sarif

        return as_sarif(report, against)
    if form == "github":
        from .github import as_github

        return as_github(report)
    from .text import as_text

    return as_text(report, against)


def validation(report: Report, against: Profile) -> str:
    """The command that judges the same files again."""
    paths = report.files or [path for path, _ in report.unread] or ["PATH"]
    if any(finding.rule.startswith("package-") for finding in report.findings):
        return f"hookproof lint --package {paths[0]}"
    shown = " ".join(paths[:3]) + (" ..." if len(paths) > 3 else "")
    compat = f" --compat {against.compatibility}" if against.chosen and against.dialect == "claude-code" else ""
    return f"hookproof lint {shown} --profile {against.name}{compat}"


def coverage_gap(against: Profile) -> str:
    """What the verdict does not cover."""
    return (
        f"judged by the rules for {against.name}, not run: confirm in your session that each event fires and each handler answers"
    )


def counts(report: Report) -> str:
    """`2 errors, 1 warning in 3 files`."""
    tally = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        tally[finding.severity] += 1
    words = [f"{n} {word}{'s' if n != 1 and word != 'info' else ''}" for word, n in tally.items() if n]
    files = f"{len(report.files)} file{'s' if len(report.files) != 1 else ''}"
    known = f", {report.baselined} in the baseline" if report.baselined else ""
    return f"{', '.join(words) or 'no findings'} in {files}{known}"


def printable(text: str) -> str:
    """Without control characters and lone surrogates, which no terminal should get."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text)
