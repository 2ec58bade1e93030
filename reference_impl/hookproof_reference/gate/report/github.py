"""One workflow command for each finding, which becomes an annotation on the changed line."""

from __future__ import annotations

from ..lint import Report
from . import counts, printable

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def as_github(report: Report) -> str:
    """`::error file=...,line=...::message`, properties and data escaped as the format asks."""
    lines = []
    for f in report.findings:
        place = f"file={_property(f.path)},line={f.line},col={f.column}"
        if f.end_line == f.line:
            place += f",endColumn={f.end_column}"
        label = f"{f.label} " if f.label else ""
        text = printable(f"{label}{f.message}: {f.effect}. {f.remedy}")
        lines.append(f"::{_LEVELS[f.severity]} {place},title={_property(f.rule)}::{_data(text)}")
    for path, why in report.unread:
        lines.append(f"::error file={_property(path)},title=unread::{_data(printable(f'could not be read: {why}'))}")
    lines.append(counts(report))
    return "\n".join(lines) + "\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # printable() has no line breaks left to lose: a file name with one is escaped there
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
