"""A hook that is recorded answers as it would alone, and what was recorded is a policy that holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookproof.hooks import policy, samples
from hookproof.hooks.script import from_path

ROOT = Path(__file__).parents[2]
GUARD = "#!/bin/sh\ncase $(cat) in *'git push --force'*) echo 'no forced pushes' >&2; exit 2;; esac\n"
PAYLOAD = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push --force"}}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def guard(tmp_path: Path) -> Path:
    return script_at(tmp_path / "guard.sh", GUARD)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def started(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness:{ROOT}/reference_impl", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env.pop("CLAUDE_PROJECT_DIR", None)
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            [sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, **more
        )

    return started


CHECK = ("-m", "hookproof.cli", "check", "--hook", "./guard.sh", "--policy", "guard.yaml")
RECORD = ("-m", "hookproof.cli", "record")


def script_at(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_recorded_script_answers_as_it_would_alone(run: Run, guard: Path, tmp_path: Path) -> None:
    script_at(tmp_path / "odd.sh", "#!/bin/sh\ncat\nprintf 'out\\377\\n'; echo \"$1\" >&2; exit 7\n")
    data = json.dumps(PAYLOAD).encode()
    alone = subprocess.run(["./odd.sh", "--flag"], cwd=tmp_path, input=data, capture_output=True)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness"}
    words = [sys.executable, *RECORD, "--into", "r.yaml", "--", "./odd.sh", "--flag"]
    recorded = subprocess.run(words, cwd=tmp_path, input=data, capture_output=True, env=env)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert policy.read(tmp_path / "r.yaml").policy.samples[0].saw is not None


def test_what_was_recorded_is_a_policy_that_holds_until_the_script_changes(run: Run, guard: Path, tmp_path: Path) -> None:
    quiet = {**PAYLOAD, "tool_input": {"command": "ls"}, "cwd": str(tmp_path)}
    for payload in (PAYLOAD, quiet, PAYLOAD):
        run(*RECORD, "--into", "guard.yaml", "--", "./guard.sh", input=json.dumps(payload))
    recorded = policy.read(tmp_path / "guard.yaml").policy
    assert [one.saw.exit for one in recorded.samples if one.saw] == [2, 0]  # the third is the first again
    assert str(tmp_path) not in (tmp_path / "guard.yaml").read_text()
    assert run(*CHECK, "--family", "policy").returncode == 0
    script_at(guard, GUARD.replace("exit 2", "exit 1"))
    done = run(*CHECK, "--family", "policy")
    assert done.returncode == 1
    assert "the same answer as when it was recorded" in done.stdout
    assert run(*CHECK, "--update").returncode == 0
    assert run(*CHECK, "--family", "policy").returncode == 0


def test_the_default_place_is_named_after_the_script(run: Run, guard: Path, tmp_path: Path) -> None:
    done = run(*RECORD, "--", "./guard.sh", input=json.dumps(PAYLOAD))
    assert done.returncode == 2
    assert (tmp_path / "guard.policy.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("into", "data"), [("/proc/nothing/x.yaml", json.dumps(PAYLOAD)), ("r.yaml", "no json"), ("r.yaml", ""), ("r.yaml", "[1]")]
)
def test_what_cannot_be_recorded_changes_no_answer(run: Run, tmp_path: Path, into: str, data: str) -> None:
    script_at(tmp_path / "x.sh", "#!/bin/sh\ncat >/dev/null\necho no >&2; exit 2\n")
    done = run(*RECORD, "--into", into, "--", "./x.sh", input=data)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no\n")
    assert not (tmp_path / "r.yaml").exists()


def test_a_script_that_is_missing_ends_as_in_a_shell(run: Run) -> None:
    done = run(*RECORD, "--", "./none.sh", input="{}")
    assert done.returncode == 127
    assert "Traceback" not in done.stderr


def test_a_signal_reaches_the_script_and_is_the_end_of_both(tmp_path: Path) -> None:
    script_at(tmp_path / "slow.sh", "#!/bin/sh\necho up\nexec sleep 86312\n")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness"}
    words = [sys.executable, *RECORD, "--into", "r.yaml", "--", "./slow.sh"]
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(PAYLOAD).encode())
        child.stdin.close()
        assert child.stdout.readline() == b"up\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == -signal.SIGTERM
    saw = policy.read(tmp_path / "r.yaml").policy.samples[0].saw
    assert saw is not None
    assert saw.signal == signal.SIGTERM


def test_a_script_that_does_not_wait_for_the_end_of_its_input_is_not_held_up(tmp_path: Path) -> None:
    script_at(tmp_path / "quick.sh", "#!/bin/sh\nread -r line; echo done\n")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness"}
    words = [sys.executable, *RECORD, "--into", "r.yaml", "--", "./quick.sh"]
    began = time.monotonic()
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(json.dumps(PAYLOAD).encode() + b"\n")
        child.stdin.flush()
        assert child.wait(30) == 0
    assert time.monotonic() - began < 30


def test_many_at_once_spoil_nothing(run: Run, guard: Path, tmp_path: Path) -> None:
    payloads = [{**PAYLOAD, "tool_input": {"command": f"ls {number} \u2028 \u00e9 \U0001f600 \x07"}} for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: run(*RECORD, "--into", "r.yaml", "--", "./guard.sh", input=json.dumps(one)), payloads))
    found = policy.read(tmp_path / "r.yaml")
    script = from_path(guard)
    commands = {samples.stimulus(found, one, script).payload["tool_input"]["command"] for one in found.policy.samples}
    assert commands == {one["tool_input"]["command"] for one in payloads}  # type: ignore[index]
