"""Some cases are scenarios: what they are made of is kept in snapshots, so that the suite cannot drift unnoticed.

Their records are those of the suite (settings, requests, what probes read and note), taken against the bundled
reference. Another runner is judged by the cases; for it there is nothing to compare.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from . import suite
from .engine import Engine
from .errors import UsageError
from .selection import Job

MODULE = "test_snapshots.py"
"""The module of the suite that compares them."""


def why_not(config: pytest.Config, engine: Engine) -> str:
    """Why this run compares no scenarios, in words; empty when it does."""
    if engine.spec.kind != "reference":
        return f"they are records of the reference, and {engine.spec.shown} is another runner"
    if engine.options.narrowed:
        return f"{' and '.join(engine.options.narrowed)} leaves cases out"
    if not config.pluginmanager.hasplugin("syrupy"):
        return "syrupy is not loaded"
    return ""


def refuse_to_write(config: pytest.Config, why_not: str) -> None:
    """Raises UsageError when snapshots of the suite are to be written where they must not be."""
    updates = config.getoption("update_snapshots", False) or config.getoption("update_new_snapshots_only", False)
    conformance = suite.conformance()
    # with paths of their own the user writes snapshots of their own
    if not updates or not any(Path(word.partition("::")[0]).resolve().is_relative_to(conformance) for word in config.args):
        return
    if not why_not and not (suite.root() / "harness" / "hookproof").is_dir():
        why_not = f"{suite.root()} is an installed suite and no checkout"
    if why_not:
        raise UsageError(
            f"the suite's snapshots cannot be written here: {why_not}",
            "in a checkout: pytest --runner=reference --snapshot-update",
        )


def name(job: Job) -> str:
    """The id of a scenario's test, and the name of its file: `lecode.veto.second-denies`."""
    return job.test_id.replace("/", ".")
