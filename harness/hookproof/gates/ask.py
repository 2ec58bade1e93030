"""A gate is started with one settings file, and how it ends is its answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .. import runnerspec
from ..process import Child, Limits, signal_name
from ..reaper import Reaper
from .spec import GateSpec

LIMIT_S = 10.0
"""Seconds that a gate has for one file."""
OUTPUT_BYTES = 8 << 20
"""More than this on stdout is no report on one file."""
KEPT_BYTES = 4000
"""How much of what it wrote is kept for people."""

REFUSALS = range(1, 126)
"""The exit codes that mean: refused. 126 and 127 are a shell's words for a program that could not be started,
128 and more its word for a signal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a gate made of one file."""

    word: Literal["accepted", "refused", "error"]
    saw: str
    """How it ended, in words."""
    error: str = ""
    """With `error`: its kind, a name of `errors`: Died, TimedOut, Flooded."""
    said: str = ""
    complained: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate and what it may use. Thread-safe: each file is a process of its own."""

    spec: GateSpec
    reaper: Reaper
    home: Path
    limit_s: float = LIMIT_S
    limits: Limits = field(default_factory=Limits)

    def ask(self, settings: Path, project: Path) -> Answer:
        """Start it in the project, with the settings file as last argument. Raises CannotStart."""
        child = self._start(settings, project)
        try:
            return _heard(child, self.limit_s)
        finally:
            child.end()

    def try_to_start(self, settings: Path, project: Path) -> None:
        """Start it and end it at once. Raises CannotStart."""
        self._start(settings, project).end()

    def _start(self, settings: Path, project: Path) -> Child:
        argv = [*self.spec.argv, str(settings)]
        try:
            return Child(argv, self.home, self.limits, self.reaper, working_folder=project)
        except OSError as error:
            raise runnerspec.explain(argv, error) from None


def _heard(child: Child, limit_s: float) -> Answer:
    until = time.monotonic() + limit_s
    printed, size, flood = bytearray(), 0, ""
    child.send(b"", last=True)
    while (left := until - time.monotonic()) > 0:
        heard = child.line(left)
        size += len(heard.line) + len(heard.more) + 1
        if len(printed) < KEPT_BYTES:
            printed += heard.line + (b"\n" if heard.how == "line" else b"") + heard.more
        flood = heard.flood or (f"more than {OUTPUT_BYTES >> 20} MiB on stdout" if size > OUTPUT_BYTES else "")
        if flood or heard.how in ("ended", "late"):
            break
    said, complained = printed[:KEPT_BYTES].decode("utf-8", "replace"), child.complained()[-KEPT_BYTES:]
    if flood:
        return Answer("error", f"wrote or held {flood}", "Flooded", said, complained)
    # it may have closed its stdout before it ended
    if not child.ends_within(max(0.0, until - time.monotonic())):
        return Answer("error", f"gave no answer within {limit_s:g} s", "TimedOut", said, complained)
    return _meaning(child.end(), said, complained or child.complained()[-KEPT_BYTES:])


def _meaning(code: int, said: str, complained: str) -> Answer:
    if code == 0:
        return Answer("accepted", "ended with 0", "", said, complained)
    if code in REFUSALS:
        return Answer("refused", f"ended with {code}", "", said, complained)
    if code < 0:
        return Answer("error", f"was ended by {signal_name(code)}", "Died", said, complained)
    return Answer("error", f"ended with {code}", "Died", said, complained)
