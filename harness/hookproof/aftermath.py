"""A result is final when nothing can follow its answer any more: what a runner does then costs the case that it answered.

The next request to the same process tells, or a moment of waiting where none comes. Until then a result is kept back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from . import trial
from .errors import SubjectError
from .results import CaseResult
from .subject import Subject

LINGER_S = 0.1
"""How long after its answer a runner is watched, where no other request follows; on an ordinary machine."""


@dataclass(frozen=True, slots=True)
class _Kept:
    result: CaseResult
    future: Future[CaseResult]


class Aftermath:
    """The last result of each subject, kept back. Thread-safe; `over` says whether no more work will come.

    `scale` is how much slower than an ordinary machine this one is. Each subject's lane calls `give` or `release`
    after it asked; `idle` is for the pool, when a lane has nothing to do.
    """

    def __init__(self, over: Callable[[], bool], scale: float = 1.0) -> None:
        self._over = over
        self._patience_s = LINGER_S * scale
        self._kept: dict[Subject, _Kept] = {}
        self._wanted: set[Future[CaseResult]] = set()
        self._lock = threading.Lock()

    def give(self, subject: Subject, result: CaseResult, future: Future[CaseResult]) -> None:
        """The result of the case that was just asked; goes out at once where nothing can follow it."""
        if trouble := self.release(subject):
            # its own request is not to blame, and the one before was no case, or is told already
            trial.charge(result, trouble, "of something asked before this case: ")
        if not subject.may_trail:
            future.set_result(result)
            return
        with self._lock:
            self._kept[subject] = _Kept(result, future)

    def release(self, subject: Subject) -> SubjectError | None:
        """Let the kept result go out, with what followed its answer; where none is kept, that is returned."""
        trouble = subject.trailed()
        with self._lock:
            kept = self._kept.pop(subject, None)
            if kept is not None:
                self._wanted.discard(kept.future)
        if kept is None:
            return trouble
        if trouble is not None:
            trial.charge(kept.result, trouble)
        kept.future.set_result(kept.result)
        return None

    def want(self, future: Future[CaseResult]) -> None:
        """Somebody waits for this one: it need not be kept for a request that may never come."""
        with self._lock:
            self._wanted.add(future)

    def idle(self, subject: Subject) -> Callable[[Subject], None] | None:
        """What a lane with nothing to do should do."""
        with self._lock:
            kept = self._kept.get(subject)
            due = kept is not None and (kept.future in self._wanted or self._over())
        return self._let_go if due else None

    def _let_go(self, subject: Subject) -> None:
        subject.linger(self._patience_s)
        self.release(subject)
