"""The options of a pytest run become an engine: one for runners, or one for gates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from . import foreign
from .engine import Engine, Options
from .errors import UsageError
from .gates import engine as gates
from .proving import PropertyJob
from .results import CaseResult, Footer, Header
from .selection import WINDOW

RUNNERS_ONLY = ("cases", "slow", "smoke", "thorough", "examples", "assume")
"""Options that mean nothing for a gate."""


class Judging(Protocol):
    """What a run needs of an engine, whatever its subject is."""

    options: Any
    """`narrowed`: the options that leave cases out."""
    spec: Any
    """`shown`: the subject as the user named it."""

    @property
    def header(self) -> Header:
        """The first line of the stream."""
        ...

    @property
    def jobs(self) -> Sequence[Any]:
        """One for each test."""
        ...

    @property
    def properties(self) -> Sequence[PropertyJob]:
        """Relations between runs; a gate has none."""
        ...

    def narrow(self, jobs: Sequence[Any]) -> None:
        """Only these will be asked for, in this order."""

    def ahead(self, job: Any) -> None:
        """See to it that the jobs from this one on are under way."""

    def result(self, job: Any) -> CaseResult:
        """The result of a job; waits for it."""
        ...

    def footer(self, cases: Sequence[CaseResult], seconds: float) -> Footer:
        """The last line of the stream."""
        ...

    def remove_at_end(self, folder: Path) -> None:
        """Remove this folder when the run ends, however it ends."""

    def close(self) -> None:
        """End everything; may be called twice."""


def engine(config: pytest.Config) -> Judging:
    """The engine for the subject that was named. Raises HookproofError kinds when it cannot begin."""
    return gates.GateEngine(_gate_options(config)) if config.option.hookproof_gate else Engine(_options(config))


def _gate_options(config: pytest.Config) -> gates.Options:
    option = config.option
    for name in RUNNERS_ONLY:
        if getattr(option, f"hookproof_{name}"):
            raise UsageError(f"--{name} is for runners, and means nothing for a gate", "leave it away")
    return gates.Options(
        gate=option.hookproof_gate,
        base=config.invocation_params.dir,
        dialects=tuple(option.hookproof_dialect),
        families=tuple(option.hookproof_family),
        case_ids=tuple(option.hookproof_case),
        workers=_workers(config),
        window=1 if hasattr(config, "workerinput") else gates.WINDOW,
        foreign=tuple(foreign.changing(config)),
    )


def _workers(config: pytest.Config) -> int:
    return int(getattr(config, "workerinput", {}).get("workercount", 1))


def _options(config: pytest.Config) -> Options:
    option, here = config.option, config.invocation_params.dir
    return Options(
        runner=option.hookproof_runner,
        base=here,
        dialects=tuple(option.hookproof_dialect),
        families=tuple(option.hookproof_family),
        case_ids=tuple(option.hookproof_case),
        case_folders=tuple(here / folder for folder in option.hookproof_cases),
        slow=option.hookproof_slow,
        smoke=option.hookproof_smoke,
        thorough=option.hookproof_thorough,
        examples=_examples(option, here),
        assume=option.hookproof_assume,
        workers=_workers(config),
        # a worker of xdist is handed its tests one by one
        window=1 if hasattr(config, "workerinput") else WINDOW,
        foreign=tuple(foreign.changing(config)),
    )


def _examples(option: Any, here: Path) -> Path | None:
    """Where failing examples are kept: in the folder that was asked for, or beside the results."""
    if option.hookproof_examples:
        return here / str(option.hookproof_examples)
    if not option.hookproof_results:
        return None
    beside = (here / str(option.hookproof_results)).parent
    # /dev/fd is a place for results, and none for files beside them
    return None if beside.is_relative_to("/dev") else beside
