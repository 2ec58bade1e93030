"""SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from ... import __version__
from ..finding import CONSEQUENCES, Finding
from ..lint import Report
from ..package import RULES as PACKAGE_RULES
from ..profiles import Profile
from ..rule import Rule, all_rules
from . import coverage_gap, printable, validation

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(report: Report, against: Profile) -> str:
    """One run; rules are listed where they were found."""
    used = sorted({finding.rule for finding in report.findings})
    rules = all_rules()
    run = {
        "tool": {
            "driver": {
                "name": "hookproof lint",
                "version": __version__,
                "rules": [_rule(rules[name]) if name in rules else _other_rule(name) for name in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.unread,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": printable(f"could not be read: {why}")},
                        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}],
                    }
                    for path, why in report.unread
                ],
            }
        ],
        "results": [_result(finding, used.index(finding.rule)) for finding in report.findings],
        "properties": {
            "profile": against.name,
            "validation": printable(validation(report, against)),
            "coverage_gap": coverage_gap(against),
        },
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.title}. At run time: {CONSEQUENCES[rule.consequence]}."},
        "help": {"text": f"{rule.remedy}\nSource: {rule.source}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"family": rule.family, "consequence": rule.consequence, "versions": rule.versions},
    }


def _other_rule(name: str) -> dict[str, Any]:
    """A rule about a package, which is no rule about a settings file."""
    return {"id": name, "shortDescription": {"text": PACKAGE_RULES[name]}, "defaultConfiguration": {"level": "error"}}


def _result(finding: Finding, index: int) -> dict[str, Any]:
    label = f"{finding.label} " if finding.label else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(f"{label}{finding.message}: {finding.effect}. {finding.remedy}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.path)},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                        "endColumn": finding.end_column,
                    },
                },
                "logicalLocations": [{"fullyQualifiedName": printable(finding.pointer) or "/", "kind": "member"}],
            }
        ],
        "partialFingerprints": {"ruleAndPointer/v1": printable(f"{finding.rule}:{finding.pointer}")},
        "properties": {"consequence": finding.consequence},
    }


def _uri(path: str) -> str:
    # an absolute path needs a scheme to be a URI; a relative one is resolved against the checkout
    quoted = quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if path.startswith("/") else quoted
