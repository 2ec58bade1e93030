"""What the probes wrote is read in the order of the journal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookproof.ledger import Fact, Ledger, parse, read

NOWHERE = Path("/nonexistent")


def facts(text: str) -> Ledger:
    return parse(NOWHERE, text.split("; "))


def test_no_journal_is_an_empty_ledger(tmp_path: Path) -> None:
    ledger = read(tmp_path)
    assert (ledger.facts, ledger.torn, ledger.started(), ledger.timeline()) == ([], [], [], [])


def test_each_line_is_a_fact_in_its_place() -> None:
    ledger = facts("start h1 1 4711; read h1 1; term h1 1; lonely h1 1; dies h1 1 TERM")
    assert ledger.facts == [
        Fact("start", "h1", 1, "4711"),
        Fact("read", "h1", 1),
        Fact("term", "h1", 1),
        Fact("lonely", "h1", 1),
        Fact("dies", "h1", 1, "TERM"),
    ]
    assert [str(f) for f in ledger.facts][:2] == ["start h1.1 4711", "read h1.1"]
    assert ledger.position("dies", "h1") == 4
    assert ledger.position("end", "h1") is None
    assert ledger.lonely() == ["h1"]


@pytest.mark.parametrize("line", ["", "start", "start h1", "sta", "begin h1 1", "start h1 x 3", "start h1  1"])
def test_a_line_that_is_no_fact_is_torn_and_the_rest_stands(line: str) -> None:
    ledger = parse(NOWHERE, ["start h1 1 9", line, "end h1 1 0"])
    assert ledger.torn == [line]
    assert [f.kind for f in ledger.facts] == ["start", "end"]


def test_a_journal_that_is_not_ascii_is_torn_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"start h1 1 9\n\xff\xfe\0\nend h1 1 0\n")
    ledger = read(tmp_path)
    assert len(ledger.torn) == 1
    assert len(ledger.facts) == 2


def test_starts_are_counted_by_probe_and_listed_by_kind() -> None:
    ledger = facts("start h2 1 1; start h1 1 2; start t1 1 3; start h2 2 4")
    assert ledger.starts("h2") == 2
    assert ledger.starts("h3") == 0
    assert ledger.started() == ["h2", "h1", "h2"]
    assert ledger.started("t") == ["t1"]


@pytest.mark.parametrize(
    ("text", "overlaps"),
    [
        ("start h1 1 1; start h2 1 2; end h1 1 0; end h2 1 0", True),
        ("start h1 1 1; end h1 1 0; start h2 1 2; end h2 1 0", False),
        ("start h2 1 1; dies h2 1 KILL; start h1 1 2; end h1 1 0", False),
        ("start h1 1 1; start h2 1 2", True),
        ("start h1 1 1; end h1 1 0", False),
    ],
    ids=["both-open", "one-after-the-other", "died-before", "no-ends", "never-started"],
)
def test_two_overlap_if_each_started_before_the_other_ended(text: str, overlaps: bool) -> None:
    assert facts(text).overlap("h1", "h2") is overlaps
    assert facts(text).overlap("h2", "h1") is overlaps


def test_times_are_those_of_the_files_and_the_timeline_begins_at_0(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("start h1 1 9\nread h1 1\nend h1 1 0\nstart t1 1 10\n")
    for name, at in (("h1.1.s", 1000.25), ("h1.1.e", 1001.5)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    ledger = read(tmp_path)
    assert (ledger.started_at("h1"), ledger.ended_at("h1"), ledger.started_at("t1")) == (1000.25, 1001.5, None)
    assert [timed.at for timed in ledger.timeline()] == [0, None, 1.25, None]


def test_stdin_is_given_to_the_byte_and_as_tolerant_json(tmp_path: Path) -> None:
    (tmp_path / "h1.1.in").write_bytes(b'{"a": NaN, "b": 1, "b": "\\ud83d"}')
    (tmp_path / "h1.2.in").write_bytes(b"\0\xff")
    ledger = read(tmp_path)
    assert ledger.stdin("h1", 2) == b"\0\xff"
    assert ledger.stdin_json("h1")["b"] == "\ud83d"
    with pytest.raises(ValueError):
        ledger.stdin_json("h1", 2)
    with pytest.raises(KeyError):
        ledger.stdin_json("h2")


def test_environment_folder_and_arguments_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "h1.1.env").write_bytes(b"A=1=2\0B=\0C=x\ny\0")
    (tmp_path / "h1.1.cwd").write_bytes(b"/a b\n\n")
    (tmp_path / "h1.1.args").write_bytes(b"\0a b\0")
    (tmp_path / "h2.1.args").write_bytes(b"")
    ledger = read(tmp_path)
    assert ledger.env("h1") == {"A": "1=2", "B": "", "C": "x\ny"}
    assert ledger.cwd("h1") == "/a b\n"
    assert ledger.args("h1") == ["", "a b"]
    assert ledger.args("h2") == []
    assert ledger.args("h3") is None
