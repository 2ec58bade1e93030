"""The corpus of settings files is whole, and lint names its faults."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from hookproof.gatecorpus import Sample, folder, lay_out, samples
from hookproof_reference.gate import lint
from hookproof_reference.gate.finding import Finding
from hookproof_reference.gate.profiles import profile
from hookproof_reference.gate.rule import all_rules

SAMPLES = list(samples())
FAULTY = [sample for sample in SAMPLES if not sample.correct]
CORRECT = [sample for sample in SAMPLES if sample.correct]


def test_the_corpus_is_large_enough_to_count() -> None:
    assert len(FAULTY) >= 160
    assert len(CORRECT) >= 45


def test_every_file_is_listed_once_and_every_listed_file_is_there() -> None:
    there = {f"{path.parent.name}/{path.name}" for path in folder().glob("*/*") if path.name != "index.yml"}
    listed = [f"{sample.family}/{sample.file}" for sample in SAMPLES]
    assert sorted(there) == sorted(listed)


def test_every_faulty_file_has_a_correct_twin_and_rules_that_exist() -> None:
    correct = {f"{sample.family}/{sample.file}" for sample in CORRECT}
    for sample in FAULTY:
        assert sample.fault, sample.id
        assert sample.expect, sample.id
        assert sample.source, sample.id
        assert sample.twin in correct, sample.id
        assert sample.names, sample.id
        assert set(sample.names) <= set(all_rules()), sample.id


def test_no_file_carries_a_byte_that_a_checkout_could_change() -> None:
    for path in folder().rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"\r" not in content, path
            content.decode("utf-8")


@cache
def _measured() -> tuple[Counter[str], list[str], list[str]]:
    """Files of each family, faults that are not named, correct files with an alarm."""
    import tempfile

    sizes, missed, alarmed = Counter[str](), list[str](), list[str]()
    with tempfile.TemporaryDirectory() as base:
        for number, sample in enumerate(SAMPLES):
            found = _lint(sample, Path(base, str(number)))
            sizes[sample.family] += 1
            if sample.correct:
                alarmed += [f"{sample.id}: {finding.rule}: {finding.message}" for finding in found if finding.alarm]
            elif not {finding.rule for finding in found if finding.alarm or sample.level == "info"} & set(sample.names):
                missed.append(sample.id)
    return sizes, missed, alarmed


def _lint(sample: Sample, project: Path) -> list[Finding]:
    name = sample.profile or (f"claude-code@{sample.versions[0]}" if sample.versions else "claude-code")
    return lint.lint_file(lay_out(sample, project), profile(name))


@pytest.mark.parametrize("family", sorted({sample.family for sample in FAULTY}))
def test_nine_of_ten_faults_of_a_family_are_named(family: str) -> None:
    sizes, missed, _ = _measured()
    of_family = [name for name in missed if name.startswith(f"{family}/")]
    assert len(of_family) <= sizes[family] / 10, of_family


def test_at_most_one_correct_file_raises_an_alarm() -> None:
    _, _, alarmed = _measured()
    assert len({line.split(":")[0] for line in alarmed}) <= 1, alarmed


def test_odd_files_are_made_when_they_are_laid_out(tmp_path: Path) -> None:
    by_id = {sample.id: sample for sample in SAMPLES}
    crlf = lay_out(by_id["scripts/crlf"], tmp_path / "a").parent / "hooks" / "guard.sh"
    assert crlf.read_bytes().startswith(b"#!/bin/sh\r\n")
    plain = lay_out(by_id["scripts/no-execute-bit"], tmp_path / "b").parent / "hooks" / "guard.sh"
    assert not os.access(plain, os.X_OK)
    assert lay_out(by_id["json/utf-16"], tmp_path / "c").read_bytes()[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert (lay_out(by_id["scripts/dangling-link"], tmp_path / "d").parent / "hooks" / "guard.sh").is_symlink()
