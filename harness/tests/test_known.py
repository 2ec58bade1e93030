"""A file of known failures: reasons are demanded, and what is stale or names nothing is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof import known
from hookproof.errors import UsageError
from hookproof.results import CaseResult, Check, Status


def case(status: Status = "fail", *failing: str, id: str = "lecode/veto/x") -> CaseResult:
    checks = [Check(name=name, ok=False, basis="seen", wanted="a", saw="b") for name in failing]
    return CaseResult(
        id=id, dialect="lecode/1.0", family="veto", rule="r", level="must", sentence="s", source="d", status=status, checks=checks
    )


def file(folder: Path, *lines: str) -> known.Known:
    path = folder / "known"
    path.write_text("\n".join(lines))
    return known.read(path)


def test_an_entry_without_a_reason_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"known:2: lecode/veto/x has no reason"):
        file(tmp_path, "# ours", "lecode/veto/x")


def test_an_entry_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="stands already at"):
        file(tmp_path, "lecode/veto/x a", "lecode/veto/x b")


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--write-known"):
        known.read(tmp_path / "none")


def test_a_whole_case_is_excused_whatever_of_it_fails(tmp_path: Path) -> None:
    assert file(tmp_path, "lecode/veto/x not yet").of(case("fail", "tool_runs t1", "hook t1")).excused == "not yet"
    assert file(tmp_path, "lecode/veto/x not yet").of(case("error")).excused == "not yet"


def test_only_the_named_checks_are_excused(tmp_path: Path) -> None:
    one = file(tmp_path, "lecode/veto/x:tool_runs.t1 not yet")
    assert one.of(case("fail", "tool_runs t1")).excused == "not yet"
    assert one.of(case("fail", "tool_runs t1", "hook t1")).excused is None
    assert one.of(case("fail", "tool_runs t2")).excused is None
    assert file(tmp_path, "lecode/veto/x:tool_runs not yet").of(case("fail", "tool_runs t2")).excused == "not yet"


def test_a_check_that_holds_again_is_stale_beside_one_that_fails(tmp_path: Path) -> None:
    both = file(tmp_path, "lecode/veto/x:hook a", "lecode/veto/x:reason b")
    assert [entry.check for entry in both.of(case("fail", "hook t1")).stale] == ["reason"]


def test_our_own_fault_is_never_a_known_failure(tmp_path: Path) -> None:
    assert file(tmp_path, "lecode/veto/x not yet").of(case("harness-error")) == known.Opinion()


def test_what_was_not_tested_makes_no_entry_stale(tmp_path: Path) -> None:
    assert not file(tmp_path, "lecode/veto/x not yet").of(case("not-tested")).stale


def test_an_entry_that_names_no_case_is_found_in_a_whole_run_only(tmp_path: Path) -> None:
    there = file(tmp_path, "lecode/veto/y not yet")
    assert [entry.id for entry in there.account([case("pass")], whole=True).unmatched] == ["lecode/veto/y"]
    assert not there.account([case("pass")], whole=False).wrong()


def test_a_written_file_excuses_what_it_was_written_for(tmp_path: Path) -> None:
    failures = [case("fail", "tool_runs t1"), case("error", id="lecode/veto/z")]
    assert known.write(tmp_path / "known", [(failure.id, failure) for failure in failures]) == 2
    account = known.read(tmp_path / "known").account(failures, whole=True)
    assert all(account.covers(failure) for failure in failures)
    assert account.unexplained == 2
