"""Every row that the protocol can express is asked of a runner, and held against what was seen."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from .. import runnerspec
from ..errors import SubjectError, UsageError
from ..mcpserver.host import McpHost
from ..pool import Pool
from ..probe import find_world_folder
from ..process import Limits
from ..protocol import HelloAnswer
from ..reaper import Reaper
from ..subject import Subject
from . import compare, expressible, scene, story
from .compare import Difference
from .model import Models
from .rows import Row

DIALECT = "claude-code"
"""The program whose rows have this form."""
LIMIT = 120.0
"""Seconds that a runner has for an answer; some rows wait for a limit of half a minute."""
WIDE = 12
"""Rows that mostly sleep which run side by side."""
_SLEEPS = re.compile(r"(?:\b|_)sleep\b|\"timeout\\*\"")

Status = Literal["agrees", "disagrees", "aside", "unsupported"]


@dataclass(frozen=True, slots=True)
class Held:
    """One row at one version, held against a runner."""

    row: Row
    version: str
    status: Status
    differences: tuple[Difference, ...] = ()
    note: str = ""
    attempts: int = 1


@dataclass(slots=True)
class Account:
    """What became of all rows at one version."""

    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What the protocol cannot express -> rows that need it; a row can need several."""
    statuses: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    unsupported: Counter[str] = field(default_factory=Counter)
    """What the runner says that it does not support, or lacks for it -> rows."""
    repeated: int = 0
    """How many rows agree only when they are tried again."""

    @property
    def expressible(self) -> int:
        """How many rows were asked."""
        return sum(self.statuses.values())

    @property
    def compared(self) -> int:
        """How many of them the runner supports."""
        return self.expressible - self.statuses["unsupported"]


def versions_of(rows: Sequence[Row], wanted: Sequence[str]) -> list[str]:
    """The versions to compare at, oldest first. Raises UsageError for one that no row has."""
    found = sorted({version for row in rows for version in row.observed}, key=lambda v: [int(n) for n in re.findall(r"\d+", v)])
    for version in wanted:
        if version not in found:
            raise UsageError(f"no row was observed at version {version}", f"there are: {', '.join(found)}")
    return [version for version in found if not wanted or version in wanted]


class Agreement:
    """A runner under way through a file of rows. Close it."""

    def __init__(self, runner: str, base: Path, versions: Sequence[str]) -> None:
        """Greets the runner. Raises kinds of SubjectError, and UsageError for one without the dialect."""
        spec = runnerspec.parse(runner, base)
        self.accounts = {version: Account() for version in versions}
        self._numbers = itertools.count(1)
        self._reaper = Reaper()
        self._models = Models()
        self._folder = Path(tempfile.mkdtemp(prefix="hp", dir=find_world_folder()))
        self._reaper.add_folder(self._folder)
        self._pool: Pool | None = None
        self._servers = McpHost(self._folder)
        try:
            home = self._folder / "home"
            home.mkdir()
            scene.place_tool(self._folder)
            limits = Limits()
            greeted = Subject(spec, limits, self._reaper, home)
            try:
                self._hello = greeted.hello()
            finally:
                greeted.close()
            _check(self._hello, runner, versions)
            lasting = self._hello.lasting
            self._pool = Pool(
                lambda: Subject(spec, limits, self._reaper, home, lasting=lasting), len(os.sched_getaffinity(0)), WIDE
            )
        except BaseException:
            self.close()
            raise

    def all_rows(self, rows: Sequence[Row]) -> Iterator[Held]:
        """Asks all rows at all versions, and gives what came of each, in their order."""
        under_way: list[Future[Held]] = []
        for row in rows:
            for version, account in self.accounts.items():
                if version not in row.observed:
                    continue
                account.rows += 1
                missing = expressible.left_out(row.fields, version)
                account.left_out.update(missing)
                if not missing:
                    under_way.append(self._submit(row, version))
        for future in under_way:
            held = future.result()
            account = self.accounts[held.version]
            account.statuses[held.status] += 1
            account.unsupported.update([held.note] if held.status == "unsupported" else [])
            account.repeated += held.status == "agrees" and held.attempts > 1
            if held.status == "disagrees":
                account.differing.update({difference.what for difference in held.differences})
            yield held

    def _submit(self, row: Row, version: str) -> Future[Held]:
        assert self._pool is not None
        texts = [*expressible.settings_texts(row.fields), json.dumps(row.fields.get("script"))]
        wide = any(_SLEEPS.search(text) for text in texts)
        return self._pool.submit(lambda subject: self._hold(row, version, subject), wide=wide)

    def _hold(self, row: Row, version: str, subject: Subject) -> Held:
        """A row, tried again where chance has a part in it."""
        most = compare.attempts(row)
        for attempt in range(1, most + 1):
            held = self._try(row, version, subject)
            if held.status in ("agrees", "unsupported") or attempt == most:
                break
        return replace(held, attempts=attempt)

    def _try(self, row: Row, version: str, subject: Subject) -> Held:
        name = f"{DIALECT}/{version}"
        laid = scene.lay_out(row, version, name, self._folder, next(self._numbers), self._models, self._servers)
        try:
            answer = subject.ask(laid.request, LIMIT).answer
            if answer.unsupported is not None and answer.unsupported not in self._hello.features:
                return Held(row, version, "unsupported", note=answer.unsupported)
            if answer.unsupported is not None or answer.error is not None:
                found = [
                    Difference(
                        "answer", "steps", f"unsupported: {answer.unsupported}" if answer.unsupported else str(answer.error)
                    )
                ]
            else:
                found = compare.differences(row, story.of_row(row, version), story.of_run(laid, answer))
                if lie := story.contradiction(laid, answer):
                    found.append(Difference("answer", "what the tools have noted", lie))
            subject.settle()
        except SubjectError as error:
            found = [Difference("answer", "an answer", error.message)]
        finally:
            with suppress(OSError, SubjectError):
                subject.settle()
            scene.clear_away(laid, self._models)
        note = row.note(version)
        status: Status = "agrees" if not found else "disagrees" if note is None else "aside"
        return Held(row, version, status, tuple(found), note or "")

    def close(self) -> None:
        """End the runner and remove all worlds."""
        if self._pool is not None:
            self._pool.close()
        self._models.close()
        self._servers.close()
        self._reaper.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _check(hello: HelloAnswer, runner: str, versions: Sequence[str]) -> None:
    lacking = [version for version in versions if f"{DIALECT}/{version}" not in hello.dialects]
    if lacking:
        names = ", ".join(f"{DIALECT}/{version}" for version in lacking)
        raise UsageError(f"{runner} does not declare {names}", f"it declares: {', '.join(hello.dialects)}; --version picks one")
