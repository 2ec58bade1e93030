"""A program runs within its limit, is listened to, and leaves no zombie."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookproof_reference.handlers import Place, command, process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these tests look into /proc")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(str(tmp_path), {"PATH": os.environ["PATH"], "COLOUR": "green"})


def test_it_gets_stdin_folder_and_environment_and_is_heard_on_both_streams(place: Place, no_zombies: Callable[[], None]) -> None:
    ended = command.run('cat; echo " $COLOUR"; pwd -P >&2; exit 3', b"hello", place, 10)
    assert (ended.exit, ended.signal, ended.timed_out) == (3, None, False)
    assert ended.stdout == "hello green\n"
    assert ended.stderr.strip() == os.path.realpath(place.cwd)
    no_zombies()


def test_the_folder_is_the_same_when_the_process_stands_in_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.cwd)
    assert command.run("pwd -P", b"", place, 10).stdout.strip() == os.path.realpath(place.cwd)


def test_a_signal_is_no_exit_code(place: Place) -> None:
    ended = command.run("kill -9 $$", b"", place, 10)
    assert (ended.exit, ended.signal) == (None, 9)


def test_a_program_that_does_not_read_five_megabytes_is_fine(place: Place) -> None:
    ended = command.run("echo fine", b"x" * 5_000_000, place, 10)
    assert (ended.exit, ended.stdout) == (0, "fine\n")


def test_a_program_that_reads_five_megabytes_gets_all_of_them(place: Place) -> None:
    assert command.run("wc -c", b"x" * 5_000_000, place, 30).stdout.strip() == "5000000"


def test_sigpipe_is_what_a_program_expects_it_to_be(place: Place) -> None:
    ended = command.run("{ yes; echo $? >&2; } | head -n 1", b"", place, 10)
    assert (ended.stdout, ended.stderr) == ("y\n", "141\n")


def test_at_its_limit_the_whole_group_is_killed(place: Place, no_zombies: Callable[[], None]) -> None:
    began = time.monotonic()
    ended = command.run("trap '' TERM; sleep 30 & echo $! >pid; echo begun; sleep 30", b"", place, 0.3)
    assert ended.timed_out
    assert ended.stdout == "begun\n"
    assert 0.3 <= time.monotonic() - began < 10
    no_zombies()
    assert is_gone(int((Path(place.cwd) / "pid").read_text()))


def test_a_background_child_that_holds_stdout_makes_it_time_out(place: Place) -> None:
    began = time.monotonic()
    assert command.run("sleep 30 & exit 0", b"", place, 0.3).timed_out
    assert time.monotonic() - began < 10


def test_a_background_child_that_holds_nothing_does_not(place: Place) -> None:
    ended = command.run("sleep 30 >/dev/null 2>&1 & echo $!", b"", place, 10)
    assert (ended.exit, ended.timed_out) == (0, False)
    os.kill(int(ended.stdout), 9)


def test_a_grandchild_in_a_session_of_its_own_cannot_hold_the_runner_up(place: Place) -> None:
    ended = command.run("setsid sleep 3 & sleep 30", b"", place, 0.3)
    assert ended.timed_out


def test_a_program_that_closes_its_output_is_waited_for(place: Place) -> None:
    assert command.run("exec >&- 2>&-; sleep 0.2; exit 7", b"", place, 10).exit == 7
    assert command.run("exec >&- 2>&-; sleep 30", b"", place, 0.3).timed_out


def test_of_much_output_the_beginning_and_the_end_are_kept(place: Place) -> None:
    ended = command.run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last", b"", place, 30)
    assert 1_000_000 < len(ended.stdout) < 1_000_100
    assert ended.stdout.startswith("first\nxxx")
    assert ended.stdout.endswith("xxxlast\n")
    assert "\n[2000011 bytes left out]\n" in ended.stdout


def test_output_up_to_the_cap_is_kept_whole(place: Place) -> None:
    assert len(command.run("head -c 1000000 /dev/zero", b"", place, 30).stdout) == 1_000_000


def test_bad_utf_8_is_replaced(place: Place) -> None:
    assert command.run(r"printf 'a\377b'", b"", place, 10).stdout == "a\ufffdb"


def test_a_program_that_cannot_be_started_is_an_answer(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.cwd)
    assert "No such file" in str(process.run(["/no/such/program"], b"", place).cannot_start)
    assert "too long" in str(command.run(": " + "x" * 3_000_000, b"", place, 10).cannot_start)
    assert "null" in str(command.run("echo \0", b"", place, 10).cannot_start)


def test_a_folder_that_is_not_there_is_an_exception(place: Place) -> None:
    with pytest.raises(FileNotFoundError):
        command.run("true", b"", Place(place.cwd + "/gone", place.env), 10)


def test_programs_run_together_end_in_their_own_order(place: Place, no_zombies: Callable[[], None]) -> None:
    commands = [
        ("while [ ! -e second ]; do sleep 0.02; done; touch first", b"", 10.0),
        ("while [ ! -e third ]; do sleep 0.02; done; touch second", b"", 10.0),
        ("touch third", b"", 10.0),
    ]
    assert [(number, ended.exit) for number, ended in command.run_together(commands, place)] == [(2, 0), (1, 0), (0, 0)]
    no_zombies()


def test_whoever_stops_to_listen_kills_the_rest(place: Place, no_zombies: Callable[[], None]) -> None:
    together = command.run_together([("echo $$ >pid; sleep 30", b"", 60.0), ("until [ -s pid ]; do :; done", b"", 10.0)], place)
    assert next(together)[0] == 1
    together.close()
    no_zombies()
    assert is_gone(int((Path(place.cwd) / "pid").read_text()))


def test_each_of_several_has_a_limit_of_its_own(place: Place) -> None:
    ends = dict(command.run_together([("sleep 30", b"", 0.2), ("sleep 0.5; echo late", b"", 10.0)], place))
    assert ends[0].timed_out
    assert ends[1].stdout == "late\n"


def test_no_file_stays_open(place: Place) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    command.run("exec >&- 2>&-; sleep 0.1", b"x" * 200_000, place, 10)
    command.run("sleep 30", b"x" * 200_000, place, 0.1)
    command.run("\0", b"", place, 10)
    assert sorted(os.listdir("/proc/self/fd")) == before


def is_gone(pid: int) -> bool:
    """Whether a process has ended; killed ones may need a moment until init has taken leave of them."""
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
        if not state or state.startswith("Z"):
            return True
        time.sleep(0.05)
    return False
