"""Nothing outlives a run, however it ends: no process, no folder."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof import tree
from hookproof.errors import HarnessError
from hookproof.process import Child, Limits
from hookproof.reaper import Reaper

PATIENCE_S = 10.0
NAP = f"91.{os.getpid()}"
"""A sleep that no test in another process has."""

# a harness with two subjects, one of which started a process in a session of its own
DRIVER = f"""
import sys, time
from pathlib import Path
from hookproof.process import Child, Limits
from hookproof.reaper import Reaper
folder = Path(sys.argv[1])
if __name__ == "__main__":
    reaper = Reaper()
    reaper.add_folder(folder / "a world")
    (folder / "a world" / "deep").mkdir(parents=True)
    first = Child(["/bin/sh", "-c", "sleep {NAP} & wait"], folder / "a world", Limits(), reaper)
    second = Child(["/bin/sh", "-c", "setsid sleep {NAP} & wait"], folder / "a world", Limits(), reaper)
    print("ready", flush=True)
    time.sleep(60)
"""


def running(seconds: str) -> bool:
    return count(seconds) > 0


def count(seconds: str) -> int:
    found = subprocess.run(["pgrep", "-cxf", f"sleep {seconds}"], capture_output=True, text=True, check=False)
    return int(found.stdout)


def holds(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


def shell(text: str, reaper: Reaper, home: Path) -> Child:
    return Child(["/bin/sh", "-c", text], home, Limits(), reaper)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_harness_ended_by_a_signal_leaves_no_process_and_no_folder(tmp_path: Path, how: signal.Signals) -> None:
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert driver.stdout
    assert driver.stdout.readline() == b"ready\n"
    assert holds(lambda: count(NAP) == 2)
    driver.send_signal(how)
    driver.wait()
    driver.stdout.close()
    assert holds(lambda: not running(NAP))
    assert holds(lambda: not (tmp_path / "a world").exists())


def test_a_closed_terminal_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", DRIVER, str(tmp_path)])
    assert b"ready" in os.read(terminal, 100)
    assert holds(lambda: count(NAP) == 2)
    os.close(terminal)
    os.waitpid(pid, 0)
    assert holds(lambda: not running(NAP))
    assert holds(lambda: not (tmp_path / "a world").exists())


def test_close_ends_all_subjects_and_removes_folders(tmp_path: Path) -> None:
    reaper = Reaper()
    world = tmp_path / "world"
    (world / "closed").mkdir(parents=True)
    reaper.add_folder(world)
    (world / "closed" / "file").touch()
    child = shell(f"setsid sleep {NAP} & sleep {NAP}", reaper, tmp_path)
    assert holds(lambda: count(NAP) == 2)
    (world / "closed").chmod(0)
    reaper.close()
    reaper.close()
    assert not running(NAP)
    assert not world.exists()
    assert child.end() == -signal.SIGKILL


def test_close_is_quick_when_nothing_is_left(tmp_path: Path) -> None:
    reaper = Reaper()
    shell("exit 0", reaper, tmp_path).end()
    begin = time.monotonic()
    reaper.close()
    assert time.monotonic() - begin < 0.5


@pytest.mark.parametrize("start", ["setsid NAP &", "(setsid NAP &);", "env -i setsid NAP &"])
def test_a_process_in_a_session_of_its_own_ends_with_its_subject(reaper: Reaper, tmp_path: Path, start: str) -> None:
    child = shell(f"{start.replace('NAP', f'sleep {NAP}')} sleep 33", reaper, tmp_path)
    assert holds(lambda: running(NAP))
    child.end()
    assert not running(NAP)


def test_an_orphan_without_any_mark_ends_with_the_run(tmp_path: Path) -> None:
    reaper = Reaper()
    child = shell(f"(env -i setsid sleep {NAP} &) ; exit 0", reaper, tmp_path)
    assert holds(lambda: running(NAP))
    child.end(thorough=False)
    reaper.close()
    assert not running(NAP)


def test_what_an_orderly_end_left_elsewhere_is_swept(reaper: Reaper, tmp_path: Path) -> None:
    child = shell(f"(setsid sleep {NAP} &); exit 0", reaper, tmp_path)
    assert holds(lambda: running(NAP))
    child.end(thorough=False)
    time.sleep(1.1)
    reaper.sweep()
    assert holds(lambda: not running(NAP))


def test_a_process_from_before_the_run_is_left_alone(tmp_path: Path) -> None:
    beside = subprocess.Popen(["sleep", NAP], start_new_session=True)
    reaper = Reaper()
    reaper.close()
    assert beside.poll() is None
    beside.kill()
    beside.wait()


def test_two_runs_in_one_process_do_not_end_each_others_processes(tmp_path: Path) -> None:
    first, second = Reaper(), Reaper()
    child = shell(f"(setsid sleep {NAP} &) ; sleep {NAP}", second, tmp_path)
    assert holds(lambda: count(NAP) == 2)
    first.close()
    assert not child.ended
    assert count(NAP) == 2
    second.close()
    assert not running(NAP)
    child.end()


def test_a_folder_name_with_a_line_break_is_refused(reaper: Reaper, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="line break"):
        reaper.add_folder(tmp_path / "a\nb")


def test_orphans_come_to_us_only_while_a_run_is_on(tmp_path: Path) -> None:
    assert tree.adopters() == 0
    reaper = Reaper()
    assert tree.adopters() == 1
    reaper.close()
    assert tree.adopters() == 0
