"""Findings in each format: valid SARIF, one value of JSON, annotations that cannot be broken out of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookproof_reference.gate.lint import Report, lint_text
from hookproof_reference.gate.package import audit
from hookproof_reference.gate.profiles import profile
from hookproof_reference.gate.report import render
from hookproof_reference.gate.rule import all_rules

_SCHEMA = json.loads(Path(__file__).with_name("sarif-2.1.0.json").read_text("utf-8"))


def _report() -> Report:
    report = Report(unread=[("gone, or: not.json", "No such file or directory")])
    for number, rule in enumerate(all_rules().values()):
        path = f"folder {number}/settings %0A.json"
        report.files.append(path)
        report.findings += lint_text(rule.bad[0].settings, profile(rule.bad[0].profile), path=path)
    return report


def test_sarif_is_valid_by_its_schema(tmp_path: Path) -> None:
    for report in (_report(), Report(), Report(findings=audit(tmp_path), files=["skill"])):
        document = json.loads(render(report, profile(), "sarif"))
        jsonschema.Draft4Validator(_SCHEMA).validate(document)


def test_sarif_carries_rule_place_and_pointer() -> None:
    report = Report(findings=lint_text('{"hooks": {\n "stop": []}}', path="a b/settings.json"), files=["a b/settings.json"])
    [run] = json.loads(render(report, profile(), "sarif"))["runs"]
    [result] = run["results"]
    [location] = result["locations"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "event-case"
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/settings.json"
    assert location["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 2, "endLine": 2, "endColumn": 8}
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "/hooks/stop"


def test_json_tells_everything_once() -> None:
    report = _report()
    value: dict[str, Any] = json.loads(render(report, profile(), "json"))
    assert len(value["findings"]) == len(report.findings)
    assert {"rule", "severity", "path", "line", "column", "pointer", "message", "remedy", "consequence", "effect"} <= set(
        value["findings"][0]
    )
    assert value["unread"] == [{"path": "gone, or: not.json", "reason": "No such file or directory"}]


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_every_report_says_how_to_validate_and_what_remains(form: str) -> None:
    printed = render(
        Report(findings=lint_text('{"hooks": {"stop": []}}'), files=["settings.json"]), profile("documented-13"), form
    )
    assert "hookproof lint settings.json --profile" in printed
    assert "coverage_gap" in printed


def test_an_annotation_stays_on_its_line_and_in_its_fields() -> None:
    name = "a,b:c\n::error::x%.json"
    report = Report(findings=lint_text('{"hooks": {"evil\\n::set-output name=x::y": []}}', path=name), files=[name])
    lines = render(report, profile(), "github").splitlines()
    assert len(lines) == 1 + len(report.findings)
    assert lines[0].startswith("::error file=a%2Cb%3Ac\\n%3A%3Aerror%3A%3Ax%25.json,line=1,col=12,")


def test_no_control_character_reaches_a_terminal() -> None:
    report = Report(
        findings=lint_text('{"hooks": {"\\u001b[31mstop\\u0007\\ud800": []}}', path="x\x1b.json"), files=["x\x1b.json"]
    )
    printed = render(report, profile(), "text")
    assert report.findings
    assert printed.replace("\n", "").isprintable()
    assert "\\x1b[31mstop" in printed
