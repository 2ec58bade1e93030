"""Somebody is asked over a connection, beside programs: in one order, within the limit, and without a trace left behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from hookproof_reference.handlers import Ended, Place, inquiry, process
from hookproof_reference.handlers.process import Ask, Job

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these tests look into /proc")

WAIT = 20.0
"""Seconds for what must come about."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(str(tmp_path), {"PATH": os.environ["PATH"]})


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No open file and no thread remain of a test."""
    before = set(os.listdir("/proc/self/fd")), threading.active_count()
    yield
    deadline = time.monotonic() + WAIT
    while threading.active_count() > before[1] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (set(os.listdir("/proc/self/fd")), threading.active_count()) == before


def says(text: str) -> Callable[[Event], Ended]:
    return lambda given_up: Ended(exit=0, stdout=text)


def waits(given_up: Event) -> Ended:
    """Whoever asks this waits until it is given up."""
    assert given_up.wait(WAIT)
    return Ended(exit=0, stdout="too late")


def program(text: str) -> Job:
    return Job(["/bin/sh", "-c", text], b"", WAIT)


def test_an_answer_is_an_end_like_any_other(place: Place) -> None:
    assert list(process.run_together([Ask(says("fine"), None)], place)) == [(0, Ended(exit=0, stdout="fine"))]


def test_answers_and_programs_end_in_one_order(place: Place) -> None:
    began = Event()

    def after_the_program(given_up: Event) -> Ended:
        assert began.wait(WAIT)
        return Ended(exit=0, stdout="asked")

    under_way = process.run_together([Ask(after_the_program, WAIT), program("echo ran"), Ask(says("at once"), WAIT)], place)
    first, second = next(under_way), next(under_way)
    assert {first[0], second[0]} == {1, 2}
    began.set()
    assert next(under_way) == (0, Ended(exit=0, stdout="asked"))
    assert next(under_way, None) is None


def test_at_the_limit_nobody_waits_any_more(place: Place) -> None:
    began = time.monotonic()
    assert list(process.run_together([Ask(waits, 0.2), program("echo ran")], place))[1] == (0, Ended(timed_out=True))
    assert 0.2 <= time.monotonic() - began < WAIT


def test_who_stops_to_listen_gives_up_what_is_under_way(place: Place) -> None:
    told = Event()

    def notices(given_up: Event) -> Ended:
        if given_up.wait(WAIT):
            told.set()
        return Ended(exit=0)

    under_way = process.run_together([Ask(notices, None), Ask(says("first"), None)], place)
    assert next(under_way)[0] == 1
    under_way.close()
    assert told.wait(WAIT)


def test_an_answer_that_comes_after_all_is_not_heard(place: Place) -> None:
    asked = inquiry.Inquiry(waits, 0.05)
    time.sleep(0.1)
    assert asked.must_be_asked(time.monotonic())
    assert asked.look(time.monotonic()) == Ended(timed_out=True)
    asked.close()


class Odd(Exception):
    """Of a library that nobody knows."""


@pytest.mark.parametrize("error", [Odd("no route"), OSError(2, "gone"), RecursionError("too deep"), MemoryError()])
def test_whatever_a_library_raises_is_this_handlers_failure(error: Exception, place: Place) -> None:
    def fails(given_up: Event) -> Ended:
        raise error

    ended = dict(process.run_together([Ask(fails, WAIT), Ask(says("fine"), WAIT)], place))
    assert ended[0] == Ended(error=f"{type(error).__name__}: {error}")
    assert ended[1].stdout == "fine"


def test_fifty_are_asked_side_by_side(place: Place) -> None:
    """All meet at one barrier: asked one after the other, none would get past it."""
    many = threading.Barrier(50, timeout=WAIT)

    def meets(given_up: Event) -> Ended:
        many.wait()
        return Ended(exit=0, stdout="met")

    ended = list(process.run_together([Ask(meets, WAIT) for _ in range(50)], place))
    assert sorted(number for number, _ in ended) == list(range(50))
    assert {end.stdout for _, end in ended} == {"met"}


def test_where_there_is_no_thread_left_one_handler_fails(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*given: object, **named: object) -> threading.Thread:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(inquiry, "Thread", none_left)
    ended = dict(process.run_together([Ask(says("never"), None), program("echo ran")], place))
    assert ended[0] == Ended(cannot_start="can't start new thread")
    assert ended[1].stdout == "ran\n"
