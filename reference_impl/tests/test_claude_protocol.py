"""Claude Code over the runner protocol: loops that end, turns that are skipped, and what is told of settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hookproof_reference

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)
HOME = str(Path(hookproof_reference.__file__).parents[1])
ENV = {**os.environ, "PYTHONPATH": HOME}
COMMAND = [sys.executable, "-m", "hookproof_reference"]


def request(claude: ClaudeProject, version: str, *steps: Any, **more: Any) -> dict[str, Any]:
    folder = str(claude.folder)
    return {
        "op": "run",
        "id": "r1",
        "dialect": f"claude-code/{version}",
        "world": {"root": folder, "project": folder, "home": str(claude.home), "cwd": folder, "env": {}},
        "settings": [{"scope": path.stem, "path": str(path)} for path in claude.folder.glob("*.json")],
        "session": {"id": "s1"},
        "permission": {"verdict": "allow", "approver": None},
        "steps": list(steps),
        **more,
    }


def ask(asked: dict[str, Any], command: list[str] = COMMAND) -> Any:
    ended = subprocess.run(command, input=json.dumps(asked) + "\n", capture_output=True, text=True, env=ENV, timeout=60)
    assert "Traceback" not in ended.stderr
    return json.loads(ended.stdout)


def call(claude: ClaudeProject, *numbers: int) -> dict[str, Any]:
    path = claude.folder / "tool"
    path.write_text("#!/bin/sh\necho tool >>journal\ncat\n")
    path.chmod(0o755)
    return {
        "turn": {
            "tool_calls": [{"id": f"t{n}", "name": "Bash", "input": {"command": f"{n}"}, "program": str(path)} for n in numbers]
        }
    }


@pytest.mark.parametrize("version", BOTH)
def test_the_last_turn_is_taken_again_until_the_cap_ends_it(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1", "exit 2")])
    answer = ask(request(claude, version, {"prompt": "hi"}, {"turn": {"text": "bye"}}))
    assert answer["steps"][1] == {"end": {"cause": "done", "stop_count": 9}}
    assert len(claude.started()) == 9
    assert len(answer["to_model"]) == 8


def test_without_a_cap_it_is_taken_forty_times(claude: ClaudeProject) -> None:
    claude.configure(Stop=[claude.handler("h1", "exit 2")])
    asked = request(claude, NEW, {"turn": {"text": "bye"}})
    asked["world"]["env"] = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
    assert ask(asked)["steps"] == [{"end": {"cause": "continued", "stop_count": 40}}]


def test_a_refused_stop_takes_the_next_turn_and_an_end_skips_the_others(claude: ClaudeProject) -> None:
    claude.configure(Stop=[claude.handler("h1", "grep -q 'active\":true' h1.in || exit 2")])
    texts = [{"turn": {"text": text}} for text in ("one", "two", "three")]
    answer = ask(request(claude, NEW, *texts, {"prompt": "again"}, texts[0]))
    assert answer["steps"] == [
        {"end": {"cause": "continued", "stop_count": 1}},
        {"end": {"cause": "done", "stop_count": 1}},
        {"skipped": "run ended"},
        {"prompt": {"submitted": True, "reason": None}},
        {"end": {"cause": "done", "stop_count": 1}},
    ]


def test_after_a_hook_has_ended_the_run_turns_are_skipped(claude: ClaudeProject) -> None:
    claude.configure(PreToolUse=[claude.prints("h1", {"continue": False})])
    answer = ask(request(claude, NEW, call(claude, 1, 2), {"turn": {"text": "bye"}}, {"event": "SessionEnd"}))
    assert [c["outcome"] for c in answer["steps"][0]["calls"]] == ["ran", "ran"]
    assert answer["steps"][1:] == [{"skipped": "stopped by hook"}, {"event": {"raised": None, "context": {}}}]


def test_after_a_deferred_call_all_is_skipped_until_it_is_resumed(claude: ClaudeProject) -> None:
    own = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}})
    claude.configure(PreToolUse=[claude.handler("h1", f"[ -e once ] || printf %s '{own}'; : >once")])
    first = call(claude, 1)
    answer = ask(
        request(
            claude,
            NEW,
            first,
            {"prompt": "x"},
            call(claude, 2),
            {"resume": first["turn"]["tool_calls"][0]},
            {"turn": {"text": "bye"}},
        )
    )
    kinds = [next(iter(step)) for step in answer["steps"]]
    assert kinds == ["calls", "skipped", "skipped", "calls", "end"]
    assert [answer["steps"][n]["calls"][0]["outcome"] for n in (0, 3)] == ["deferred", "ran"]


def test_a_blocked_prompt_skips_its_turns(claude: ClaudeProject) -> None:
    claude.configure(UserPromptSubmit=[claude.prints("h1", {"decision": "block", "reason": "no"})])
    answer = ask(request(claude, NEW, {"prompt": "hi"}, call(claude, 1)))
    assert answer["steps"] == [{"prompt": {"submitted": False, "reason": "no"}}, {"skipped": "prompt blocked"}]
    assert answer["to_user"] == ["UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: hi"]


def test_what_became_of_the_settings_is_told(claude: ClaudeProject) -> None:
    claude.configure(PostToolUse=[{"type": "banana"}], Stop=[claude.handler("h1")])
    answer = ask(request(claude, NEW, {"turn": {"text": "bye"}}))
    assert (answer["settings"][0]["status"], answer["settings"][0]["dropped"]) == ("partial", ["PostToolUse[0].hooks[0]"])
    assert claude.started() == ["h1"]


def test_a_kind_of_handler_whose_library_is_missing_is_unsupported(claude: ClaudeProject) -> None:
    bare = [sys.executable, "-S", *COMMAND[1:]]
    claude.configure(PreToolUse=[{"type": "http", "url": "http://127.0.0.1:9/"}])
    assert ask(request(claude, NEW, call(claude, 1)), bare) == {"id": "r1", "unsupported": "http: install hookproof[http]"}


def test_sigterm_ends_all_handlers_of_a_batch(claude: ClaudeProject) -> None:
    claude.configure(PreToolUse=[claude.handler("h1", "echo $$ >>pids; sleep 30")])
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV)
    assert process.stdin
    process.stdin.write(json.dumps(request(claude, NEW, call(claude, 1, 2))).encode() + b"\n")
    process.stdin.flush()
    pids = claude.folder / "pids"
    deadline = time.monotonic() + 20
    while (not pids.exists() or len(pids.read_text().split()) < 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 128 + signal.SIGTERM
    process.communicate()
    deadline = time.monotonic() + 10
    while any(running(pid) for pid in pids.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in pids.read_text().split() if running(pid)]


def running(pid: str) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
