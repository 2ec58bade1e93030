"""A run that is killed at once leaves no folder behind, whichever process of it was hit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hookproof
import hookproof_reference
from hookproof.watchdog import Watchdog

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
SLEEPS = ["--runner=reference", "--slow", "--case=lecode/timeout-units/two-of-seven-seconds"]
CHECK = [sys.executable, "-P", "-m", "hookproof.cli", "check", *SLEEPS]
PYTEST = [sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin", "-p", "no:randomly", *SLEEPS]


def holds(condition: Callable[[], bool], patience_s: float = 20) -> bool:
    until = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("command", [CHECK, PYTEST], ids=["check", "pytest"])
def test_a_killed_run_leaves_nothing_in_the_temporary_folder(tmp_path: Path, command: list[str]) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": os.pathsep.join([*ROOTS, *sys.path[1:]]), "TMPDIR": str(temporary)}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=-1, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        assert any("subject: hookproof-reference" in line for line in child.stdout)
        assert list(temporary.glob("hookproof-c*"))
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
    assert holds(lambda: not list(temporary.iterdir())), list(temporary.iterdir())


def test_an_orderly_end_is_told_and_cleans_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    watchdog = Watchdog("a-mark.")
    watchdog.add_folder(kept)
    watchdog.end()
    assert kept.is_dir()
