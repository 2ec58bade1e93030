"""Settings files become handlers, and a report says what became of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof_reference.dialects.lecode import DIALECT, EVENTS
from hookproof_reference.selection import concerns, select
from hookproof_reference.settings import Configured, FileReport, Loaded, load


def loaded(folder: Path, text: str) -> Loaded:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load([str(path)], DIALECT)


def test_handlers_are_loaded_in_the_order_of_the_list_with_ten_seconds_each(tmp_path: Path) -> None:
    result = loaded(tmp_path, '[hooks]\nPreToolUse = ["./ci/check-tool.sh", "python3 ./ci/audit.py"]\nStop = ["say done"]\n')
    assert result.handlers == (
        Configured("PreToolUse", "./ci/check-tool.sh", 10.0),
        Configured("PreToolUse", "python3 ./ci/audit.py", 10.0),
        Configured("Stop", "say done", 10.0),
    )
    assert result.report == (FileReport(str(tmp_path / "config.toml"), "loaded"),)


def test_all_fifteen_events_are_known(tmp_path: Path) -> None:
    result = loaded(tmp_path, "[hooks]\n" + "".join(f'{event} = ["true"]\n' for event in EVENTS))
    assert len(result.handlers) == 15
    assert result.report[0].status == "loaded"


def test_an_unknown_event_is_left_out_and_the_rest_is_kept(tmp_path: Path) -> None:
    result = loaded(tmp_path, '[hooks]\npretooluse = ["a"]\nStop = ["b"]\n')
    assert [h.command for h in result.handlers] == ["b"]
    assert (result.report[0].status, result.report[0].dropped) == ("partial", ["pretooluse"])
    assert 'unknown hook event: pretooluse; did you mean "PreToolUse"?' in str(result.report[0].message)


@pytest.mark.parametrize(
    ("entry", "dropped"), [('Stop = "ls"', ["Stop"]), ('Stop = ["b", 7]', ["Stop[1]"]), ("Stop = {}", ["Stop"])]
)
def test_what_is_no_list_of_strings_is_left_out_and_named(tmp_path: Path, entry: str, dropped: list[str]) -> None:
    result = loaded(tmp_path, f'[hooks]\n{entry}\nPreToolUse = ["a"]\n')
    assert (result.report[0].status, result.report[0].dropped) == ("partial", dropped)
    assert "a" in [h.command for h in result.handlers]
    assert dropped[0] in str(result.report[0].message)


@pytest.mark.parametrize(("text", "says"), [("[hooks]\nStop = [\n", "line"), ("[hooks\n", "line 1"), ("hooks = 3\n", "no table")])
def test_a_file_that_cannot_be_used_is_rejected_with_the_reason(tmp_path: Path, text: str, says: str) -> None:
    result = loaded(tmp_path, text)
    assert (result.handlers, result.report[0].status) == ((), "rejected")
    assert says in str(result.report[0].message)


def test_files_that_cannot_be_read_are_reported_and_the_others_count(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    (tmp_path / "good.toml").write_text('[hooks]\nStop = ["a"]\n')
    result = load([str(tmp_path / name) for name in ("none.toml", "latin.toml", ".", "good.toml")], DIALECT)
    assert [r.status for r in result.report] == ["missing", "rejected", "rejected", "loaded"]
    assert [h.command for h in result.handlers] == ["a"]


def test_a_file_without_hooks_is_loaded_and_has_none(tmp_path: Path) -> None:
    result = loaded(tmp_path, "[model]\nname = 'x'\n")
    assert (result.handlers, result.report[0].status) == ((), "loaded")


def test_handlers_are_selected_by_event_and_by_matcher() -> None:
    everything = Configured("PreToolUse", "a", 1.0)
    files = Configured("PreToolUse", "b", 1.0, matcher="write|edit")
    other = Configured("Stop", "c", 1.0)
    assert select([everything, files, other], "PreToolUse", "bash") == [everything]
    assert select([everything, files, other], "PreToolUse", "edit") == [everything, files]
    assert not concerns(files, None)
