"""Whether a probe's process tree lives is told by its FIFO, and by a mark where that was closed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof.cases import Child
from hookproof.liveness import Liveness
from hookproof.probe import Act, ProbeKit, find_world_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="hp-", dir=find_world_folder()))
    yield root
    shutil.rmtree(root)


def place(folder: Path, *acts: Act) -> list[Path]:
    kit = ProbeKit(folder / "kit")
    return [kit.place(folder, f"h{number}", act) for number, act in enumerate(acts, 1)]


def run(command: Path) -> None:
    subprocess.run([command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=30, check=False)


def wait_for(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def test_a_probe_that_never_started_or_is_missing_is_not_alive(folder: Path) -> None:
    place(folder, Act(), Act(missing=True), Act(not_executable=True))
    with Liveness(folder) as seen:
        assert seen.alive(["h1", "h2", "h3", "t1"], 5) == []


def test_a_probe_is_alive_as_long_as_it_runs(folder: Path) -> None:
    first, second = place(folder, Act(read="none", sleep=20), Act(read="none"))
    with Liveness(folder) as seen, subprocess.Popen([first], start_new_session=True) as process:
        run(second)
        wait_for(lambda: "start h1" in (folder / "journal").read_text())
        assert seen.alive(["h2", "h1"]) == ["h1"]
        os.killpg(process.pid, signal.SIGKILL)
        begun = time.monotonic()
        # a zombie until it is waited for, and yet gone
        assert seen.alive(["h1", "h2"], 20) == []
        assert time.monotonic() - begun < 10
        process.wait()


@pytest.mark.parametrize("session", ["same", "new"])
@pytest.mark.parametrize("holds", ["stdout", "nothing"])
def test_a_child_that_outlives_its_parent_is_seen_until_it_ends(folder: Path, session: str, holds: str) -> None:
    (command,) = place(folder, Act(child=Child(sleep=1.0, holds=holds, session=session)))  # type: ignore[arg-type]
    with Liveness(folder) as seen:
        run(command)
        assert seen.alive(["h1"], 0.1) == ["h1"]
        assert seen.alive(["h1"], 20) == []


def test_a_probe_killed_alone_leaves_its_sleep_alive(folder: Path) -> None:
    (command,) = place(folder, Act(read="none", sleep=20))
    with Liveness(folder) as seen, subprocess.Popen([command], start_new_session=True) as process:
        wait_for((folder / "h1.1.s").exists)
        time.sleep(0.3)
        process.kill()
        process.wait()
        assert seen.alive(["h1"], 0.1) == ["h1"]
        os.killpg(process.pid, signal.SIGKILL)
        assert seen.alive(["h1"], 20) == []


def test_a_child_that_closed_everything_and_left_the_session_is_found_by_its_mark(folder: Path) -> None:
    (command,) = place(folder, Act(), Act())[:1]
    # an act is shell text: this one leaves a daemon behind
    with (folder / "h1.act").open("a") as act:
        act.write("leave() { setsid sleep 1 <&- >&- 2>&- 9>&- & }\nchild=1\nleave_child() { leave; }\n")
    with Liveness(folder) as seen:
        run(command)
        assert seen.alive(["h1", "h2"], 0.1) == ["h1"]
        assert seen.alive(["h1", "h2"], 20) == []


def test_a_world_with_another_name_does_not_see_it(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (command,) = place(folder, Act(child=Child(sleep=0.8, session="new")))
    place(other, Act())
    with Liveness(folder) as seen, Liveness(other) as elsewhere:
        run(command)
        assert elsewhere.alive(["h1"], 0.1) == []
        assert seen.alive(["h1"]) == ["h1"]
        assert seen.alive(["h1"], 20) == []


def test_what_a_handler_could_not_note_reaches_the_harness_without_a_disk(folder: Path) -> None:
    (command,) = place(folder, Act())
    (folder / "journal").mkdir()
    with Liveness(folder) as seen:
        assert seen.complaints() == []
        run(command)
        assert seen.complaints() == ["h1.1: cannot note start"]
        assert seen.complaints() == ["h1.1: cannot note start"]


def test_closing_twice_is_fine_and_leaves_no_file_open(folder: Path) -> None:
    place(folder, Act(), Act())
    before = len(os.listdir("/proc/self/fd"))
    seen = Liveness(folder)
    assert len(os.listdir("/proc/self/fd")) == before + 2
    seen.close()
    seen.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert seen.alive(["h1"]) == []
