"""Hook scripts are proved through pytest and through the command, and tested by their authors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookproof import hooks, results
from hookproof.hooks.portability import words as elsewhere

GOOD = "#!/bin/sh\ncase $(cat) in *'git push --force'*) echo no >&2; exit 2;; esac\n"
BAD = GOOD.replace("exit 2", "exit 1")
ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    for name, text in (("good.sh", GOOD), ("bad.sh", BAD)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def started(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness:{ROOT}/reference_impl", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run([sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)

    return started


PYTEST = ("-m", "pytest", "-p", "hookproof.plugin", "-p", "no:cacheprovider")
FEW = ("--family", "answers", "--family", "canaries")


def test_a_good_script_ends_with_0_and_the_folder_is_left_as_it_was(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    assert False\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run(*PYTEST, "--hook=./good.sh", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a guard script: it refuses some things and passes others" in done.stdout
    assert "proved" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_bad_script_ends_with_1_and_the_remedy(run: Run, tmp_path: Path) -> None:
    done = run(*PYTEST, "--hook=./bad.sh", *FEW, "--results", "r.jsonl")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "this guard refused nothing" in done.stdout
    assert "exit code 2" in done.stdout
    assert "Traceback" not in done.stdout
    report = results.read(tmp_path / "r.jsonl")
    assert report.footer.counts["fail"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hook=./god.sh"], "did you mean good.sh?"),
        (["--hook=./good.sh", "--case", "hook/answers/nothing"], "there is no check"),
        (["--hook=./good.sh", "--dialect", "claude-code/9"], "does not implement"),
        (["--hook=./good.sh", "--runner=reference"], "two kinds of proof"),
    ],
)
def test_what_cannot_be_meant_is_told_in_words(run: Run, words: list[str], said: str) -> None:
    done = run(*PYTEST, *words)
    assert done.returncode == 4
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_what_the_answers_mean_in_other_agents_is_a_test_for_each(run: Run, tmp_path: Path) -> None:
    done = run(*PYTEST, "-v", "--hook=./bad.sh", "--portability", "--family", "canaries", "--results", "r.jsonl")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "bad.sh::hook/portability/lecode PASSED" in done.stdout
    assert "exit with 2 instead of 1" in done.stdout
    report = results.read(tmp_path / "r.jsonl")
    told = {case.id for case in report.cases if case.family == "hook-portability"}
    assert told == set(elsewhere.names())
    assert report.header.cases == len(report.cases)


@pytest.mark.parametrize("dialect", ["codex", "gemini-cli", "qwen-code/0.24.4"])
def test_settings_of_an_agent_that_is_only_read_are_not_judged(run: Run, tmp_path: Path, dialect: str) -> None:
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./good.sh"}]}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    command = run("-m", "hookproof.cli", "check", "--settings", "hooks.json", "--dialect", dialect)
    test = run(*PYTEST, "--hook=hooks.json", "--dialect", dialect)
    assert (command.returncode, test.returncode) == (2, 4)
    for said in (command.stderr, test.stderr + test.stdout):
        assert "hooks.json cannot be driven as" in said
        assert "check --hook SCRIPT --event EVENT" in said
    # the script alone is read in that agent's words
    assert run("-m", "hookproof.cli", "check", "--hook", "good.sh", "--dialect", dialect, *FEW).returncode == 0


def test_the_command_ends_with_0_1_and_2(run: Run) -> None:
    check = ("-m", "hookproof.cli", "check")
    assert run(*check, "--hook", "./good.sh", *FEW).returncode == 0
    bad = run(*check, "--hook", "./bad.sh", *FEW)
    assert bad.returncode == 1
    assert bad.stdout.startswith("this guard refused nothing")
    assert run(*check, "--hook", "./none.sh").returncode == 2
    assert run(*check).returncode == 2


def test_the_command_prints_a_stream(run: Run) -> None:
    done = run("-m", "hookproof.cli", "check", "--hook", "./bad.sh", *FEW, "--json")
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert kinds[0] == "header"
    assert kinds[-1] == "footer"
    assert set(kinds[1:-1]) == {"case"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_nothing_behind(run: Run, tmp_path: Path, number: signal.Signals) -> None:
    naps = f"8631{number.value:02}"
    hang = tmp_path / "hang.sh"
    hang.write_text(f"#!/bin/sh\ntrap '' TERM\nwhile :; do sleep {naps}; done\n")
    hang.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness:{ROOT}/reference_impl"}
    child = subprocess.Popen([sys.executable, "-m", "hookproof.cli", "check", "--hook", "./hang.sh"], cwd=tmp_path, env=env)
    _until(lambda: _running(naps))
    began = time.monotonic()
    child.send_signal(number)
    assert child.wait(20) != 0
    assert time.monotonic() - began < 6
    _until(lambda: not _running(naps))


def test_an_author_tests_a_script_with_three_lines(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "def test_refuses(hook):\n"
        "    guard = hook('./good.sh')\n"
        "    assert guard.call('Bash', command='git push --force').reason.strip() == 'no'\n"
        "    assert not guard.call('Bash', command='git push').blocks\n"
    )
    done = run(*PYTEST, "test_mine.py")
    assert done.returncode == 0, done.stdout


def test_fire_gives_what_was_done_and_what_it_means(run: Run, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.sh", tmp_path / "bad.sh"
    assert hooks.fire(good, "git push --force").verdict == "deny"
    result = hooks.fire(bad, "git push --force")
    assert (result.exit, result.blocks, result.stderr) == (1, False, "no\n")
    assert hooks.fire(bad, "git push --force", dialect="lecode/1.0").blocks
    assert hooks.fire(good, payload=b"git push --force").exit == 2


def _running(word: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)
