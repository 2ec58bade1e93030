"""Each rule's bad examples are found by exactly that rule, its good ones alarm nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof_reference.gate import lint
from hookproof_reference.gate.finding import Finding
from hookproof_reference.gate.profiles import profile
from hookproof_reference.gate.rule import Example, all_rules

_RULES = all_rules()


def _found(example: Example, folder: Path) -> list[Finding]:
    against = profile(example.profile)
    if not example.files and example.at == Example("").at:
        return lint.lint_text(example.settings, against)
    for name, text in {**example.files, example.at: example.settings}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(example.modes.get(name, 0o755 if path.read_bytes().startswith(b"#!") else 0o644))
    return lint.lint_file(folder / example.at, against)


def _examples(kind: str) -> list[object]:
    return [
        pytest.param(rule.id, example, id=f"{rule.id}-{number}")
        for rule in _RULES.values()
        for number, example in enumerate(rule.bad if kind == "bad" else rule.good)
    ]


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_a_bad_example_is_found_by_exactly_its_rule(rule: str, example: Example, tmp_path: Path) -> None:
    found = _found(example, tmp_path)
    assert rule in {finding.rule for finding in found}, example.settings
    assert {finding.rule for finding in found if finding.alarm} <= {rule}, example.settings


@pytest.mark.parametrize(("rule", "example"), _examples("good"))
def test_a_good_example_alarms_nobody(rule: str, example: Example, tmp_path: Path) -> None:
    found = _found(example, tmp_path)
    assert [finding for finding in found if finding.alarm] == []
    assert rule not in {finding.rule for finding in found if _RULES[rule].severity != "info"} or not any(f.alarm for f in found)


@pytest.mark.parametrize("rule", _RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_says_what_a_reader_wants_to_know(rule: object) -> None:
    assert rule.bad and rule.good  # type: ignore[attr-defined]
    for words in (rule.title, rule.remedy, rule.source):  # type: ignore[attr-defined]
        assert len(words) > 10
