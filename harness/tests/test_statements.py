"""The rows of the source documents: listed once, named by rules, and shown with what tests them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hookproof import catalog, cli, rowcoverage, suite
from hookproof.errors import CaseFileError

ROWS = """\
format: 1
dialect: lecode
document: some.txt
sections:
  Events:
    Q-01: The first thing that it says
    Q-02: The second thing that it says
"""


@pytest.fixture(scope="module")
def loaded() -> catalog.Catalog:
    return catalog.load([suite.conformance()])


def own_rows(tmp_path: Path, text: str) -> list[Path]:
    """The suite's cases of one dialect, beside a list of rows of their own."""
    shutil.copytree(suite.conformance() / "lecode", tmp_path / "lecode")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "statements.yaml").write_text(text)
    return [tmp_path]


@pytest.mark.parametrize("dialect", ["lecode", "teaagent"])
def test_every_sentence_of_a_whole_dialect_has_a_case_or_a_reason(loaded: catalog.Catalog, dialect: str) -> None:
    rows = rowcoverage.measure(loaded, dialect)
    assert [row.id for row in rows if row.state == "untested"] == []
    excluded = [row.id for row in rows if row.state == "excluded"]
    assert len(excluded) <= len(rows) / 10


def test_a_sentence_that_no_rule_names_is_untested(tmp_path: Path) -> None:
    rows = rowcoverage.measure(catalog.load(own_rows(tmp_path, ROWS)))
    assert [(row.id, row.state, row.why) for row in rows if row.id.startswith("Q")] == [
        ("Q-01", "untested", "no rule names it"),
        ("Q-02", "untested", "no rule names it"),
    ]


def test_a_sentence_is_listed_once(tmp_path: Path) -> None:
    text = ROWS + "  Config:\n    Q-01: Said again in another place\n"
    with pytest.raises(CaseFileError, match=r"statements.yaml:9:\d+: the row Q-01 stands under lecode, Events already"):
        catalog.load(own_rows(tmp_path, text))


def test_a_rule_names_no_sentence_that_is_not_listed(tmp_path: Path) -> None:
    folders = own_rows(tmp_path, ROWS)
    veto = tmp_path / "lecode" / "veto.yaml"
    veto.write_text(veto.read_text().replace("rows: [L-30]", "rows: [L-99]"))
    with pytest.raises(CaseFileError, match=r'veto.yaml:\d+:1: the rule "lecode-reason-is-reported" names the row L-99'):
        catalog.load(folders)


def test_an_odd_id_of_a_row_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match=r'statements.yaml:6:5: .*"first"'):
        catalog.load(own_rows(tmp_path, ROWS.replace("Q-01", "first")))


def test_the_command_shows_each_row_with_its_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rules", "coverage", "--rows", "--dialect", "lecode", "--strict"]) == 0
    told = capsys.readouterr().out
    assert "L-35   The first reason that is not empty\n         lecode/veto/first-reason-of-two" in told
    assert "excluded: unobservable" in told
    assert told.rstrip().splitlines()[-1].endswith("0 untested")


def test_the_rows_are_there_for_machines_too(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["rules", "coverage", "--rows", "--dialect", "lecode", "--json"])
    told = json.loads(capsys.readouterr().out)
    row = next(row for row in told["rows"] if row["id"] == "L-35")
    assert row["state"] == "tested"
    assert "lecode/veto/first-reason-of-two" in row["cases"]
    assert sum(told["totals"].values()) == len(told["rows"])
