"""Several runners side by side: a bounded number of lanes, each a thread with a subject of its own.

Ordinary work and work that mostly sleeps have lanes of their own, because thirty sleeps need twelve
lanes and thirty computations two. A lane begins when there is work that no idle lane takes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from .subject import Subject

T = TypeVar("T")
_Work = tuple[Callable[[Subject], Any], "Future[Any]"]
Idle = Callable[[Subject], Callable[[Subject], Any] | None]


class Pool:
    """Lanes of subjects. `make_subject` is called in the lane that will own it, once there is work for it.

    `idle` is asked what a lane's subject should do before the lane waits for work and after each `nudge`; it must be quick.
    """

    def __init__(self, make_subject: Callable[[], Subject], ordinary: int, wide: int, idle: Idle = lambda _: None) -> None:
        self._lanes = {
            False: _Lanes(make_subject, max(1, ordinary), "ordinary", idle),
            True: _Lanes(make_subject, max(1, wide), "wide", idle),
        }

    def submit(self, task: Callable[[Subject], T], *, wide: bool) -> Future[T]:
        """Have `task` called in a lane; what it raises travels in the future. Raises RuntimeError after `close`."""
        return self._lanes[wide].submit(task)

    def nudge(self) -> None:
        """Have lanes with nothing to do ask again what to do."""
        for lanes in self._lanes.values():
            lanes.nudge()

    def close(self) -> None:
        """Cancel what waits, kill what runs, end all lanes. May be called again."""
        for lanes in self._lanes.values():
            lanes.stop()
        for lanes in self._lanes.values():
            lanes.join()


class _Lanes:
    """Up to `bound` threads that share one queue."""

    def __init__(self, make_subject: Callable[[], Subject], bound: int, name: str, idle: Idle) -> None:
        self._make_subject = make_subject
        self._idling = idle
        self._bound = bound
        self._name = name
        self._work: deque[_Work] = deque()
        self._changed = threading.Condition()
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._busy: set[Subject] = set()
        self._stopped = False

    def submit(self, task: Callable[[Subject], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._changed:
            if self._stopped:
                raise RuntimeError("the pool is closed")
            self._work.append((task, future))
            if len(self._work) > self._idle and len(self._threads) < self._bound:
                # daemon: an interpreter that is interrupted twice must not wait for a runner
                thread = threading.Thread(target=self._lane, name=f"hookproof-{self._name}-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            else:
                self._changed.notify()
        return future

    def nudge(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            while self._work:
                future = self._work.popleft()[1]
                future.cancel()
                future.set_running_or_notify_cancel()
            for subject in self._busy:
                subject.kill()
            self._changed.notify_all()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _lane(self) -> None:
        subject: Subject | None = None
        try:
            while work := self._next(subject):
                task, future = work
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    if subject is None:
                        subject = self._make_subject()
                    result = self._run(task, subject)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
                del task, future, work
        finally:
            if subject is not None:
                with suppress(OSError):
                    subject.close()

    def _run(self, task: Callable[[Subject], T], subject: Subject) -> T:
        with self._changed:
            self._busy.add(subject)
            if self._stopped:
                subject.kill()
        try:
            return task(subject)
        finally:
            with self._changed:
                self._busy.discard(subject)

    def _next(self, subject: Subject | None) -> _Work | None:
        """The next piece of work, waited for; None when the pool is closed."""
        with self._changed:
            self._idle += 1
            try:
                while not self._work:
                    if self._stopped:
                        return None
                    if subject is not None and (task := self._idling(subject)) is not None:
                        return task, Future()
                    self._changed.wait()
                return self._work.popleft()
            finally:
                self._idle -= 1
