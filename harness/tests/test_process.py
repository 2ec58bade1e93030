"""One child process is talked to without ever blocking, within its limits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.process import Child, Limits, environment, signal_name
from hookproof.reaper import Reaper


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


def shell(text: str, reaper: Reaper, home: Path, limits: Limits | None = None) -> Child:
    return Child(["/bin/sh", "-c", text], home, limits or Limits(), reaper)


def test_a_line_comes_with_what_stood_behind_it(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("printf 'one\\ntwo'; sleep 9", reaper, tmp_path)
    heard = child.line(5)
    assert (heard.how, heard.line, heard.more) == ("line", b"one", b"two")
    child.end()


def test_the_end_is_told_with_what_was_said_before(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("printf half; exit 4", reaper, tmp_path)
    heard = child.line(5)
    assert (heard.how, heard.line) == ("ended", b"half")
    assert child.end() == 4


def test_stdin_is_closed_behind_the_last_request(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("cat >/dev/null; echo done", reaper, tmp_path)
    child.send(b"x" * 1_000_000, last=True)
    assert child.line(5).line == b"done"
    child.end()


def test_stdin_stays_open_behind_another_request(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("while read -r line; do echo got $line; done; echo over", reaper, tmp_path)
    child.send(b"one\n", last=False)
    assert child.line(5).line == b"got one"
    child.send(b"two\n", last=False)
    assert child.line(5).line == b"got two"
    child.close_stdin()
    assert child.line(5).line == b"over"
    child.end()


def test_a_process_that_closed_its_stdin_is_still_heard(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("exec <&-; sleep 0.1; echo said", reaper, tmp_path)
    child.send(b"x" * 1_000_000, last=True)
    heard = child.line(5)
    assert heard.line == b"said"
    assert heard.unsent > 0
    child.end()


def test_too_many_processes_are_a_flood(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("for i in 1 2 3 4 5 6; do sleep 71.5 & done; wait", reaper, tmp_path, Limits(processes=4))
    heard = child.line(10)
    assert (heard.how, "processes, 4 are allowed" in heard.flood) == ("flooded", True)
    child.end()


def test_files_have_a_largest_size_and_no_core_is_written(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("sleep 0.2; ulimit -f; ulimit -c; ulimit -n; echo", reaper, tmp_path, Limits(file_bytes=1 << 20, open_files=99))
    assert child.line(5).line == b"2048"
    assert child.line(5).line in (b"0", b"")
    child.end()


def test_only_a_few_variables_are_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    found = environment(tmp_path / "home", "run.1")
    assert set(found) <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "HOME", "TMPDIR", "HOOKPROOF_RUN"}
    assert Path(found["TMPDIR"]).is_dir()


def test_an_ended_process_keeps_its_number_until_it_was_waited_for(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("exit 0", reaper, tmp_path)
    assert child.ends_within(5)
    assert Path(f"/proc/{child.pid}").exists()
    child.end()
    assert not Path(f"/proc/{child.pid}").exists()


def test_a_hundred_children_leave_no_descriptor_open(reaper: Reaper, tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        child = shell("echo x", reaper, tmp_path)
        child.line(5)
        child.ends_within(5)
        child.end(thorough=False)
    assert len(os.listdir("/proc/self/fd")) == before


def test_waiting_costs_no_processor_time(reaper: Reaper, tmp_path: Path) -> None:
    child = shell("sleep 5", reaper, tmp_path)
    before = time.process_time()
    assert child.line(2).how == "late"
    assert time.process_time() - before < 0.5
    child.end()


def test_signals_have_names() -> None:
    assert signal_name(-9) == "SIGKILL"
    assert signal_name(-62).startswith("signal") or signal_name(-62).startswith("SIG")
