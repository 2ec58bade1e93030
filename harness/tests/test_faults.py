"""Planted faults: what is wrong with their files is said, and a fault that nothing catches ends with 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookproof import catalog, cli, faults, suite
from hookproof.errors import CaseFileError, UsageError
from hookproof.faults import Fault, Proof

FAULTY = suite.fixtures() / "faulty_runners"

GOOD = """
TITLE = "It lies."
ORIGIN = "public report B001"
DIALECTS = ("lecode",)
"""

RUNNER = """
import sys
sys.path.insert(0, {folder!r})
from _reference import main
from hookproof_reference import permissions
TITLE = "The host's word is law."
ORIGIN = "observed deviation: seen in a dream"
DIALECTS = ("lecode",)
{change}
if __name__ == "__main__":
    main()
"""
BLIND = """
def decide(host, approval, merged, dialect):
    return permissions.Enforced("ran")
permissions.decide = decide
"""

CASES = """
format: 1
dialect: lecode
family: mine
rules:
  lecode-mine:
    level: must
    text: A deny is a deny, and an allow an allow.
    source: {document: none, section: none}
cases:
  - id: lecode/mine/denied
    rule: lecode-mine
    why: It must be seen to block.
    handlers: [{say: {verdict: deny}}]
    call: {tool: bash, input: {command: ls}}
    expect: {started: [h1], tool_runs: 0}
    twin: lecode/mine/allowed
    killed_by: [FAULT]
  - id: lecode/mine/allowed
    rule: lecode-mine
    why: It must be seen to run.
    handlers: [{say: {verdict: allow}}]
    call: {tool: bash, input: {command: ls}}
    expect: {started: [h1], tool_runs: 1}
    killed_by: [FAULT]
"""


def plant(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


def own(tmp_path: Path, change: str) -> list[str]:
    """The command line for one fault and two cases of one's own."""
    plant(tmp_path / "faults", "blind", RUNNER.format(folder=str(FAULTY), change=change))
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "mine.yaml").write_text(CASES.replace("FAULT", "blind"), "utf-8")
    return ["faults", "--folder", str(tmp_path / "faults"), "--cases", str(tmp_path / "cases")]


def test_a_fault_is_read_without_being_run(tmp_path: Path) -> None:
    plant(tmp_path, "it-lies", GOOD + "raise SystemExit('run')\n")
    (fault,) = faults.load(tmp_path)
    assert (fault.id, fault.title, fault.dialects) == ("it-lies", "It lies.", ("lecode",))
    assert fault.seen_elsewhere


def test_a_file_that_begins_with_an_underscore_is_no_fault(tmp_path: Path) -> None:
    plant(tmp_path, "it-lies", GOOD)
    plant(tmp_path, "_shared", "")
    assert [fault.id for fault in faults.load(tmp_path)] == ["it-lies"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def", "this is no Python"),
        (GOOD.replace("TITLE", "TITEL"), "TITLE must be a text"),
        (GOOD.replace('"public report B001"', '""'), "ORIGIN must be a text"),
        (GOOD.replace('"public report B001"', "str(1)"), "ORIGIN must be a text"),
        (GOOD.replace('("lecode",)', '"lecode"'), "DIALECTS must be a tuple"),
        (GOOD.replace("lecode", "lecodee"), '"lecodee" is no dialect of this suite; did you mean "lecode"?'),
        (GOOD + "x = 1\n" * 21, "the change takes 21 lines"),
    ],
)
def test_what_is_wrong_in_a_fault_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    plant(tmp_path, "it-lies", text)
    with pytest.raises(CaseFileError) as caught:
        faults.load(tmp_path)
    assert said in str(caught.value)
    assert "it-lies.py:" in str(caught.value)


def test_all_wrong_files_are_said_at_once(tmp_path: Path) -> None:
    plant(tmp_path, "one", "")
    plant(tmp_path, "two", "")
    with pytest.raises(CaseFileError) as caught:
        faults.load(tmp_path)
    assert "one.py" in str(caught.value)
    assert "two.py" in str(caught.value)


def test_an_empty_folder_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fault"):
        faults.load(tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        faults.load(tmp_path / "nowhere")


def test_faults_and_cases_of_the_suite_name_each_other() -> None:
    entries = catalog.load([suite.conformance()]).entries
    assert faults.disagreements(faults.load(FAULTY), entries) == []


def test_a_fault_that_no_case_names_and_a_name_without_a_fault_are_said(tmp_path: Path) -> None:
    entries = catalog.load([suite.conformance()]).entries
    known = [fault for fault in faults.load(FAULTY) if fault.id != "reversed-order"]
    stranger = Fault("stranger", "It is odd.", "seed 002", ("lecode",), plant(tmp_path, "stranger", GOOD) / "stranger.py")
    wrong = faults.disagreements([*known, stranger], entries)
    assert any('names the fault "reversed-order", and there is none' in text for text in wrong)
    assert "stranger: no case names this fault in killed_by" in wrong


def test_a_fault_that_knows_a_case_is_said(tmp_path: Path) -> None:
    entries = catalog.load([suite.conformance()]).entries
    plant(tmp_path, "first-answer-wins", GOOD + f'CASE = "{entries[0].id}"\n')
    wrong = faults.disagreements(faults.load(tmp_path), entries)
    assert f"first-answer-wins: it names the case {entries[0].id}; a fault must not know the cases" in wrong


def test_at_least_half_of_the_faults_were_seen_outside_the_suite() -> None:
    known = faults.load(FAULTY)
    assert sum(fault.seen_elsewhere for fault in known) * 2 >= len(known)


def test_every_named_case_must_fail_for_a_fault_to_be_caught() -> None:
    fault = Fault("it-lies", "It lies.", "seed", ("lecode",), Path("it-lies.py"))
    assert Proof(fault, named={"a": True, "b": True}, sampled=18, touched=18).verdict == "caught"
    assert Proof(fault, named={"a": True, "b": False}, others=("c",), sampled=18, touched=18).verdict == "survived"
    assert Proof(fault, untried=("a",)).verdict == "not tried"


def test_a_fault_that_fails_more_than_a_quarter_is_too_wide() -> None:
    fault = Fault("it-lies", "It lies.", "seed", ("lecode",), Path("it-lies.py"))
    assert Proof(fault, named={"a": True}, others=("b",), sampled=7, touched=7).verdict == "caught"
    assert Proof(fault, named={"a": True}, others=("b", "c"), sampled=7, touched=7).verdict == "too wide"


def test_a_sample_tells_how_wide_a_fault_is() -> None:
    fault = Fault("it-lies", "It lies.", "seed", ("lecode",), Path("it-lies.py"))
    assert Proof(fault, named={"a": True}, others=("b", "c"), sampled=10, touched=100).verdict == "caught"
    assert Proof(fault, named={"a": True}, others=("b", "c", "d"), sampled=10, touched=100).verdict == "too wide"


def test_a_crash_is_no_proof() -> None:
    fault = Fault("it-lies", "It lies.", "seed", ("lecode",), Path("it-lies.py"))
    assert Proof(fault, named={"a": True}, broken=("a: it died",)).verdict == "broken"


def test_a_planted_fault_that_nothing_catches_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(own(tmp_path, "")) == 1
    said = capsys.readouterr().out
    assert "survived: blind" in said
    assert "NOT caught by: lecode/mine/denied, lecode/mine/allowed" in said
    assert "! no fault fails lecode/mine/denied" in said


def test_a_case_that_no_fault_fails_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*own(tmp_path, BLIND), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["faults"][0]["named"] == {"lecode/mine/denied": True, "lecode/mine/allowed": False}
    assert said["vacuous"] == ["lecode/mine/allowed"]
    assert not said["fine"]


def test_a_runner_that_does_not_start_is_broken_and_no_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(own(tmp_path, "raise RuntimeError('no')")) == 1
    said = capsys.readouterr().out
    assert "broken: blind" in said
    assert "no answer:" in said


def test_one_fault_of_the_suite_is_caught_by_its_named_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faults", "--fault", "reversed-order", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["faults"]
    assert told["verdict"] == "caught"
    assert told["named"] == {"core/ordering/one-after-the-other": True, "lecode/ordering/list-order": True}
    assert 0 < told["share"] <= faults.WIDEST


def test_a_fault_that_looks_too_wide_by_its_sample_is_asked_all_cases(capsys: pytest.CaptureFixture[str]) -> None:
    # one decision, and nearly a fifth of the cases of its dialect: a sample of forty may show more than a quarter
    assert cli.main(["faults", "--dialect", "teaagent", "--fault", "only-tool-events-are-called", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["faults"]
    assert told["verdict"] == "caught"
    assert 0.1 < told["share"] <= faults.WIDEST


def test_a_fault_that_only_slow_cases_catch_is_not_tried_without_slow(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faults", "--fault", "timeout-open"]) == 0
    assert "not tried: timeout-open" in capsys.readouterr().out


def test_an_unknown_fault_ends_with_2_and_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["faults", "--fault", "reversed-ordr"]) == 2
    assert 'did you mean "reversed-order"?' in capsys.readouterr().err
