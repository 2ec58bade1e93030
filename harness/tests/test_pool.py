"""A bounded number of lanes, each with a runner of its own; all of them end when the pool does."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest

from hookproof import runnerspec
from hookproof.errors import Died
from hookproof.pool import Pool
from hookproof.process import Limits
from hookproof.protocol import Run, Step, World
from hookproof.reaper import Reaper
from hookproof.subject import Subject

NAP = f"81.{os.getpid()}"
"""A sleep that no test in another process has."""
RUNNER = """#!/bin/sh
while IFS= read -r line; do
    case $line in *hello*) echo '{"protocol":1,"runner":{"name":"sh"},"dialects":["lecode/1.0"],"lasting":true}'; continue ;; esac
    case $line in *nap*) sleep NAP ;; esac
    id=${line#*'"id":"'}
    echo '{"id":"'"${id%%'"'*}"'","steps":[{"event":{"context":{"pid":'$$'}}}]}'
done
"""


def request(id: str, act: str = "") -> Run:
    world = World("/w", "/w/p", "/w/h", "/w/p")
    return Run(id=id, dialect="lecode/1.0", world=world, settings=[], steps=[Step(event="Stop", fields={"act": act})])


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[], Subject]]:
    path = tmp_path / "runner"
    path.write_text(RUNNER.replace("NAP", NAP))
    path.chmod(0o755)
    spec = runnerspec.parse(str(path), tmp_path)
    reaper = Reaper()
    yield lambda: Subject(spec, Limits(), reaper, tmp_path / "home", lasting=True)
    reaper.close()


def pid(subject: Subject) -> int:
    return int(subject.ask(request("r1"), 10).answer.steps[0].event.context["pid"])  # type: ignore[union-attr]


def running(seconds: str) -> bool:
    return subprocess.run(["pgrep", "-xf", f"sleep {seconds}"], capture_output=True, check=False).returncode == 0


def test_work_is_shared_by_as_many_runners_as_there_are_lanes(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=2, wide=3)
    meet = threading.Barrier(2, timeout=10)

    def both(subject: Subject) -> int:
        meet.wait()
        return pid(subject)

    futures = [pool.submit(both, wide=False) for _ in range(8)]
    assert len({future.result(20) for future in futures}) == 2
    pool.close()


def test_wide_work_has_lanes_of_its_own(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=1, wide=4)
    meet = threading.Barrier(5, timeout=10)
    futures: list[Future[int]] = [pool.submit(lambda _: meet.wait(), wide=number > 0) for number in range(5)]
    assert sorted(future.result(20) for future in futures) == [0, 1, 2, 3, 4]
    pool.close()


def test_no_more_lanes_run_than_were_allowed(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=2, wide=1)
    now, most, lock = 0, 0, threading.Lock()

    def count(subject: Subject) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1

    for future in [pool.submit(count, wide=False) for _ in range(40)]:
        future.result(20)
    pool.close()
    assert most == 2


def test_one_runner_serves_work_that_comes_one_by_one(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=4, wide=1)
    found = set()
    for _ in range(5):
        found.add(pool.submit(pid, wide=False).result(20))
        time.sleep(0.02)
    pool.close()
    assert len(found) == 1


def test_what_a_task_raises_travels_in_its_future_and_the_lane_goes_on(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=1, wide=1)

    def fail(subject: Subject) -> None:
        raise LookupError("not here")

    first, second = pool.submit(fail, wide=False), pool.submit(pid, wide=False)
    with pytest.raises(LookupError, match="not here"):
        first.result(20)
    assert second.result(20) > 0
    pool.close()


def test_a_subject_that_cannot_be_made_fails_each_task(make: Callable[[], Subject]) -> None:
    def broken() -> Subject:
        raise OSError("no room")

    pool = Pool(broken, ordinary=1, wide=1)
    for future in [pool.submit(pid, wide=False) for _ in range(2)]:
        with pytest.raises(OSError, match="no room"):
            future.result(20)
    pool.close()


def test_close_cancels_what_waits_and_kills_what_runs(make: Callable[[], Subject]) -> None:
    pool = Pool(make, ordinary=1, wide=1)
    begun = threading.Event()

    def nap(subject: Subject) -> None:
        begun.set()
        subject.ask(request("r1", "nap"), 60)

    running_one, waiting = pool.submit(nap, wide=False), pool.submit(pid, wide=False)
    assert begun.wait(10)
    while not running(NAP):
        time.sleep(0.02)
    begin = time.monotonic()
    pool.close()
    pool.close()
    assert time.monotonic() - begin < 10
    with pytest.raises(Died):
        running_one.result(0)
    with pytest.raises(CancelledError):
        waiting.result(0)
    assert not running(NAP)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("hookproof-")]
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(pid, wide=False)
