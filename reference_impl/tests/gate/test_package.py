"""A skill package is what it says of itself, or the audit names the place where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hookproof_reference.gate import package
from hookproof_reference.gate.profiles import MODEL_EVENTS_13, TOOL_EVENTS


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    for folder in package.FOLDERS:
        (tmp_path / folder).mkdir()
    policy = {
        "handler_event_compatibility": {"all_five_types": sorted(MODEL_EVENTS_13)},
        "tool_filtered_events_for_if": sorted(TOOL_EVENTS),
    }
    (tmp_path / package.POLICY).write_text(json.dumps(policy, indent=1))
    (tmp_path / package.MANIFEST).write_text(json.dumps({"assets": [{"path": "hook-engineering-policy.json"}, "sample.md"]}))
    (tmp_path / package.README).write_text("- `hook-engineering-policy.json`: the policy\n- `assets/sample.md`: a sample\n")
    (tmp_path / "assets/sample.md").write_text("a sample\n")
    (tmp_path / package.MATRIX).write_text("".join(f"| {event} | y |\n" for event in sorted(MODEL_EVENTS_13)))
    (tmp_path / "knowledge/body-of-knowledge.md").write_text("what is known\n")
    return tmp_path


def test_a_whole_package_has_no_findings(skill: Path) -> None:
    assert package.audit(skill) == []


@pytest.mark.parametrize("folder", package.FOLDERS)
def test_each_of_the_seven_folders_is_missed(skill: Path, folder: str) -> None:
    (skill / folder).rename(skill / "elsewhere")
    assert ("package-folder-missing", str(skill / folder)) in {(f.rule, f.path) for f in package.audit(skill)}


def _unlisted(skill: Path) -> None:
    (skill / package.MANIFEST).write_text('{"assets": ["hook-engineering-policy.json"]}')


def _unnamed(skill: Path) -> None:
    (skill / package.README).write_text("hook-engineering-policy.json\n")


def _one_event_less(skill: Path) -> None:
    path = skill / package.POLICY
    path.write_text(path.read_text().replace('"PermissionDenied"', '"Setup"'))


def _matrix_without(skill: Path) -> None:
    path = skill / package.MATRIX
    path.write_text(path.read_text().replace("| TeammateIdle |", "| |"))


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (lambda skill: (skill / "assets/sample.md").unlink(), "package-file-missing"),
        (lambda skill: (skill / package.MATRIX).unlink(), "package-file-missing"),
        (lambda skill: (skill / package.MANIFEST).write_text("{,}"), "package-unreadable"),
        (lambda skill: (skill / package.POLICY).write_text("[]"), "package-unreadable"),
        (lambda skill: (skill / package.POLICY).write_text("{}"), "package-policy-incomplete"),
        (_unlisted, "package-inventory-differs"),
        (_unnamed, "package-inventory-differs"),
        (_one_event_less, "package-policy-incomplete"),
        (_matrix_without, "package-matrix-differs"),
    ],
)
def test_each_disagreement_is_named(skill: Path, damage: Callable[[Path], object], rule: str) -> None:
    damage(skill)
    found = {finding.rule for finding in package.audit(skill)}
    assert rule in found
    assert found <= {rule, "package-matrix-differs"}
    assert set(found) <= set(package.RULES)
