"""Validators by other people judge the corpus: their score is written down, and nothing is demanded of them.

Only where they are installed: `tox -e foreign-gates` does that, by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookproof
import hookproof_reference
from hookproof import results

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
GATES = {"agnix": ("--target", "claude-code", "--strict"), "claude-hooks-check": ()}
"""Program -> the arguments before the settings file."""


@pytest.mark.parametrize("name", GATES)
def test_a_foreign_gate_gets_a_score(name: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    program = shutil.which(name, path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f"{name} is not installed beside this Python: tox -e foreign-gates")
    out = tmp_path / "results.jsonl"
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "hookproof.cli", "check", f"--gate={' '.join([program, *GATES[name]])}", f"--results={out}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [*ROOTS, os.environ.get("PYTHONPATH")]))},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    # that there is a whole report is our own matter; what it says is the gate's
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    report = results.read(out)
    record_property("score", report.footer.verdict)
    print(f"{name}: {report.footer.verdict}")
