"""Each example runner keeps what it declares: a reader may copy it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof import suite

EXAMPLES = {
    "node": ("node", ["lecode-1.0", "deny-safe@lecode/1.0"]),
    "chain": ("python3", ["lecode-1.0", "deny-safe@lecode/1.0"]),
    "oneshot": ("jq", ["core-1", "deny-safe"]),
    "inorder": ("python3", ["core-1"]),
    "parallel": ("python3", ["core-1", "deny-safe"]),
}
"""Example -> the program that it needs, and the requirement sets that it keeps."""


def test_every_example_is_put_to_the_proof() -> None:
    runners = suite.fixtures() / "runners"
    assert {path.stem for path in runners.iterdir() if path.is_file()} >= set(EXAMPLES)


@pytest.mark.parametrize("file", ["node.mjs", "chain.py"])
def test_the_examples_to_copy_can_be_read_at_one_sitting(file: str) -> None:
    lines = (suite.fixtures() / "runners" / file).read_text("utf-8").splitlines()
    assert 30 <= len(lines) <= 80
    assert max(map(len, lines)) <= 130


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_certifies(name: str, tmp_path: Path) -> None:
    needs, kept = EXAMPLES[name]
    if shutil.which(needs) is None:
        pytest.skip(f"not tested: {needs} is not installed")
    command = [sys.executable, "-m", "hookproof.cli", "check", "--runner", f"example:{name}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    footer = json.loads(done.stdout.splitlines()[-1])
    assert footer["certified"] == kept
    assert not list(tmp_path.iterdir())
