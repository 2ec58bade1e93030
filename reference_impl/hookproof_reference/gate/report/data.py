"""The report as one JSON value, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from ..lint import Report
from ..profiles import Profile
from . import coverage_gap, validation


def as_json(report: Report, against: Profile) -> str:
    """ASCII only; `format` is 1 for life, new keys may come."""
    value = {
        "format": 1,
        "profile": against.name,
        "compatibility": against.compatibility,
        "files": report.files,
        "findings": [{**asdict(finding), "effect": finding.effect} for finding in report.findings],
        "unread": [{"path": path, "reason": reason} for path, reason in report.unread],
        "baselined": report.baselined,
        "validation": validation(report, against),
        "coverage_gap": coverage_gap(against),
    }
    return json.dumps(value, indent=1) + "\n"
