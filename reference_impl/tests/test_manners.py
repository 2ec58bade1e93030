"""A program is asked to end before it is killed, with all that it started; and may be left in the background."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookproof_reference.handlers import Ended, Place, process
from hookproof_reference.handlers.background import Background
from hookproof_reference.handlers.process import Job, Manners

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these tests look into /proc")

POLITE = Manners(session=True, grace=0.5)
HASTY = Manners(session=True, grace=0.5, patience=0.3)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(str(tmp_path), {"PATH": os.environ["PATH"]})


def run(text: str, place: Place, manners: Manners, limit: float | None = 10) -> Ended:
    return next(process.run_together([Job(["/bin/sh", "-c", text], b"", limit)], place, manners))[1]


def gone(place: Place, name: str) -> bool:
    """Whether the process whose number stands in a file ends within some seconds."""
    pid = (Path(place.cwd) / name).read_text().strip()
    for _ in range(200):
        try:
            if ") Z" in Path(f"/proc/{pid}/stat").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_it_leads_a_session_of_its_own(place: Place) -> None:
    ended = run("cut -d' ' -f6 /proc/$$/stat; echo $$", place, POLITE)
    session, pid = ended.stdout.split()
    assert session == pid


def test_at_its_limit_it_is_asked_to_end_and_its_own_code_does_not_count(place: Place, no_zombies: Callable[[], None]) -> None:
    ended = run("trap 'echo asked; exit 2' TERM; sleep 30 & wait", place, POLITE, 0.3)
    assert (ended.timed_out, ended.exit, ended.stdout) == (True, None, "asked\n")
    no_zombies()


def test_who_ignores_that_is_killed_after_the_grace(place: Place, no_zombies: Callable[[], None]) -> None:
    began = time.monotonic()
    ended = run("trap '' TERM; echo $$ >pid; while :; do sleep 0.05; done", place, POLITE, 0.3)
    assert ended.timed_out
    assert 0.7 < time.monotonic() - began < 10
    assert gone(place, "pid")
    no_zombies()


def test_a_child_in_another_session_ends_too(place: Place) -> None:
    assert run("setsid sh -c 'echo $$ >pid; sleep 30' & wait", place, POLITE, 0.5).timed_out
    assert gone(place, "pid")


def test_a_child_that_ignores_the_request_is_killed_when_its_parent_has_obeyed(place: Place) -> None:
    text = "sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 0.05; done' & wait"
    assert run(text, place, POLITE, 0.5).timed_out
    assert gone(place, "pid")


@pytest.mark.parametrize(("manners", "waits"), [(POLITE, True), (HASTY, False)], ids=["until it is closed", "not long"])
def test_how_long_output_is_waited_for_that_a_child_holds_open(place: Place, manners: Manners, waits: bool) -> None:
    began = time.monotonic()
    ended = run("sleep 1.5 & echo $! >pid; echo said; exit 3", place, manners)
    took = time.monotonic() - began
    assert (ended.exit, ended.stdout) == (3, "said\n")
    assert (took > 1.3) == waits
    assert waits or not gone_at_once(place)


def gone_at_once(place: Place) -> bool:
    """Whether the child is gone already: nobody has killed it."""
    return not Path(f"/proc/{(Path(place.cwd) / 'pid').read_text().strip()}").exists()


def test_nobody_polls_in_vain_while_output_is_waited_for(place: Place) -> None:
    began = time.process_time()
    run("sleep 1 & exit 0", place, Manners(session=True, grace=0.5, patience=0.8))
    assert time.process_time() - began < 0.3


def test_a_megabyte_and_more_is_kept_whole_where_the_cap_is_higher(place: Place) -> None:
    ended = run("head -c 3000000 /dev/zero | tr '\\0' x", place, Manners(cap=10_000_000))
    assert len(ended.stdout) == 3_000_000


def test_it_can_ask_to_go_on_in_the_background_and_is_heard_later(place: Place, no_zombies: Callable[[], None]) -> None:
    manners = Manners(session=True, grace=0.5, detach=lambda head: b"leave" in head)
    many = "head -c 100000 /dev/zero | tr '\\0' x"
    ended = run(f"echo leave; while [ ! -e go ]; do sleep 0.02; done; {many}; exit 4", place, manners, 0.5)
    left = ended.background
    assert isinstance(left, Background)
    assert left.ended() is None
    (Path(place.cwd) / "go").touch()
    assert awaited(left).exit == 4
    no_zombies()


def awaited(left: Background) -> Ended:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        ended = left.ended()
        if ended is not None:
            return ended
        time.sleep(0.02)
    raise AssertionError("it has not ended")


def test_what_runs_in_the_background_can_be_killed(place: Place, no_zombies: Callable[[], None]) -> None:
    left = process.start(["/bin/sh", "-c", "echo $$ >pid; setsid sleep 30 & wait"], b"", place, POLITE)
    while not (Path(place.cwd) / "pid").exists():
        time.sleep(0.02)
    left.kill()
    assert gone(place, "pid")
    no_zombies()


def test_a_program_without_a_slash_is_looked_for_in_the_path(place: Place) -> None:
    assert next(process.run_together([Job(["echo", "hi"], b"", 10)], place, POLITE))[1].stdout == "hi\n"


def test_each_job_can_have_a_place_of_its_own(place: Place, tmp_path: Path) -> None:
    other = Place(str(tmp_path), {**place.env, "X": "2"})
    jobs = [Job(["/bin/sh", "-c", "echo $X"], b"", 10), Job(["/bin/sh", "-c", "echo $X"], b"", 10, other)]
    assert dict(process.run_together(jobs, place, POLITE))[1].stdout == "2\n"


def test_a_limit_of_a_century_is_one(place: Place) -> None:
    assert run("sleep 0.1; exit 5", place, POLITE, 1e12).exit == 5
