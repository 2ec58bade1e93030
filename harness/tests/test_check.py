"""`hookproof check` in real child processes: exit codes, words, and a folder that is left as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hookproof
import hookproof_reference
from hookproof import results

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
COMMAND = [sys.executable, "-P", "-m", "hookproof.cli", "check"]
# what a caller may have set for their own pytest, and what must not reach the child
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [*ROOTS, os.environ.get("PYTHONPATH")])),
    "PYTEST_ADDOPTS": "-x -k nothing",
    "PYTEST_PLUGINS": "no_such_plugin",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_good_runner_ends_with_0_in_a_folder_that_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("raise SystemExit('loaded')\n")
    (tmp_path / "pytest.py").write_text("raise SystemExit('not pytest')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    before = sorted(tmp_path.rglob("*"))
    ran = check(tmp_path, "--runner=reference", "--family=veto")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "family" in ran.stdout
    assert ran.stderr == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_the_stream_is_printed_whole_and_kept_whole(tmp_path: Path) -> None:
    ran = check(tmp_path, "--runner=reference", "--smoke", "--json", "--results=out.jsonl")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out.jsonl").read_text() == ran.stdout
    kinds = [json.loads(line)["kind"] for line in ran.stdout.splitlines()]
    assert kinds == ["header", "case", "case", "case", "footer"]
    assert results.read(tmp_path / "out.jsonl").header.cases == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runner=/bin/true"], "hint: "),
        (["--runner=reference", "--case=lecode/veto/second-denise"], "lecode/veto/second-denies"),
        (["--runner=reference", "--known=none.txt"], "--write-known"),
        (["--runner=reference", "--results=no/such/folder"], "cannot be written"),
        (["--runner=reference", "--runner=./x"], "--runner is given twice, as reference and as ./x"),
        (["--gate=lint", "--gate=./x"], "--gate is given twice, as lint and as ./x"),
        (["--hook=./x", "--event=Stop", "--event=PreToolUse"], "--event is given twice, as Stop and as PreToolUse"),
    ],
    ids=["no-runner", "no-case", "no-known-file", "no-folder", "two-runners", "two-gates", "two-events"],
)
def test_what_could_not_be_done_ends_with_2_and_says_why(tmp_path: Path, words: list[str], said: str) -> None:
    ran = check(tmp_path, *words)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 2), (signal.SIGINT, 130)], ids=["term", "ctrl-c"])
def test_a_signal_is_passed_on_and_the_run_says_that_it_was_cut_short(tmp_path: Path, number: signal.Signals, code: int) -> None:
    words = ["--runner=reference", "--slow", "--case=lecode/timeout-units/two-of-seven-seconds"]
    with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, env=ENVIRONMENT, stdout=-1, stderr=-1, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith("hookproof ")
        time.sleep(0.5)
        child.send_signal(number)
        said = child.communicate(timeout=30)[1]
    assert child.returncode == code
    assert "cut short after 0 of 1 cases" in said
    assert "was ended by" not in said
    assert "Traceback" not in said


def test_a_runner_that_kills_the_group_of_its_parent_is_told_with_the_signal(tmp_path: Path) -> None:
    runner = tmp_path / "killer"
    hello = json.dumps({"protocol": 1, "runner": {"name": "killer"}, "dialects": ["lecode/1.0"]})
    runner.write_text(
        f"#!/bin/sh\nread -r line\ncase $line in *hello*) echo '{hello}'; exit 0;; esac\n"
        "kill -s KILL -- -$(ps -o pgid= $PPID | tr -d ' ')\n"
    )
    runner.chmod(0o755)
    ran = check(tmp_path, "--runner=./killer", "--family=veto")
    assert ran.returncode == 2
    assert "the process of this run was ended by SIGKILL" in ran.stderr
    assert "cut short after" in ran.stderr
    assert "test session starts" not in ran.stderr


OWN_CASE = """\
format: 1
dialect: lecode
family: mine
rules:
  lecode-mine: {level: must, text: A tool that nobody refuses runs., source: {document: mine, section: one}}
cases:
  - id: lecode/mine/x
    rule: lecode-mine
    why: Its settings have a scope that lecode does not know, which is a mistake of whoever wrote it.
    settings: [{scope: local, text: ''}]
    call: {tool: bash, input: {command: ls}}
    expect: {tool_runs: 1}
    killed_by: [always-deny]
"""


def test_a_run_in_which_only_hookproof_failed_ends_with_2_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.yaml").write_text(OWN_CASE)
    ran = check(tmp_path, "--runner=reference", "--dialect=lecode", "--cases=mine", "--case=lecode/mine/x")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "lecode has no settings file of scope local" in ran.stdout
    assert "hookproof itself failed in 1 case, which says nothing about the subject" in ran.stdout


def test_a_finding_beside_our_own_fault_is_still_a_finding(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    wrong = OWN_CASE.replace("scope: local", "scope: project").replace("tool_runs: 1", "tool_runs: 2")
    second = wrong.partition("cases:\n")[2].replace("mine/x", "mine/y")
    (tmp_path / "mine" / "mine.yaml").write_text(OWN_CASE + second)
    ran = check(tmp_path, "--runner=reference", "--dialect=lecode", "--cases=mine", "--family=mine")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "hookproof itself failed in 1 case" in ran.stdout
