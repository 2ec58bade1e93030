"""The reference as a process that answers JSON lines, and as a library."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hookproof_reference

if TYPE_CHECKING:
    from .conftest import Project

HOME = str(Path(hookproof_reference.__file__).parents[1])


def talk(*lines: Any, arguments: tuple[str, ...] = ()) -> list[Any]:
    """Sends lines to a fresh process (text as it stands, anything else as JSON), returns its answers."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    ended = subprocess.run(
        [sys.executable, "-m", "hookproof_reference", *arguments],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": HOME},
        timeout=60,
    )
    assert "Traceback" not in ended.stderr
    assert ended.stdout.isascii()
    return [json.loads(line) for line in ended.stdout.splitlines()]


def request(project: Project, *steps: Any, **more: Any) -> dict[str, Any]:
    folder = str(project.folder)
    return {
        "op": "run",
        "id": "r1",
        "dialect": "lecode/1.0",
        "world": {"root": folder, "project": folder, "home": folder + "/home", "cwd": folder, "env": {"COLOUR": "green"}},
        "settings": [{"scope": "project", "path": str(project.settings)}],
        "session": {"id": "s1", "name": "main"},
        "permission": {"verdict": "allow", "approver": None},
        "steps": list(steps),
        "unknown": "ignored",
        **more,
    }


def turn(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"turn": {"tool_calls": list(calls)}}


def program(project: Project, name: str = "tool") -> str:
    path = project.folder / name
    path.write_text(f"#!/bin/sh\necho {name} >>journal\ncat\n")
    path.chmod(0o755)
    return str(path)


def test_hello_says_what_it_is() -> None:
    (hello,) = talk({"op": "hello", "protocol": 1, "unknown": True})
    assert (hello["protocol"], hello["lasting"], hello["scope"]) == (1, True, "loop")
    assert hello["runner"]["name"] == "hookproof-reference"
    assert hello["dialects"] == ["lecode/1.0", "claude-code/2.1.178", "claude-code/2.1.332", "teaagent/1"]
    assert "rewrite" in hello["features"]


def test_each_step_of_a_run_is_answered_in_order(project: Project) -> None:
    tool = program(project)
    project.configure(
        PreToolUse=[project.handler("pre", """case $(cat pre.in) in *rm*) echo '{"verdict":"deny","reason":"no"}';; esac""")],
        SessionStart=['printf \'%s %s\' "$HOME" "$COLOUR" >env'],
        Stop=[project.handler("stop")],
    )
    (answer,) = talk(
        request(
            project,
            {"event": "SessionStart"},
            {"prompt": "hi"},
            turn(
                {"id": "t1", "name": "bash", "input": {"command": "rm"}, "program": tool},
                {"id": "t2", "name": "bash", "input": {"big": 2**60 + 1}, "program": tool},
            ),
            {"turn": {"text": "done"}},
        )
    )
    assert answer["id"] == "r1"
    assert answer["settings"] == [{"path": str(project.settings), "status": "loaded", "dropped": [], "message": None}]
    event, prompt, calls, end = answer["steps"]
    assert event == {"event": {"raised": None, "context": {}}}
    assert prompt == {"prompt": {"submitted": True, "reason": None}}
    denied = {"id": "t1", "hook": "deny", "outcome": "blocked", "started": False, "reason": "no", "result": None, "feedback": []}
    assert calls["calls"][0] == denied
    assert calls["calls"][1]["result"] == f'{{"big": {2**60 + 1}}}'
    assert end == {"end": {"cause": "done", "stop_count": 1}}
    assert project.started() == ["pre", "pre", "tool", "stop"]
    assert (project.folder / "env").read_text() == f"{project.folder}/home green"


def test_after_a_blocked_prompt_turns_are_skipped_until_the_next_prompt(project: Project) -> None:
    call = {"id": "t1", "name": "bash", "input": {}, "program": program(project)}
    project.configure(UserPromptSubmit=['if [ -e no ]; then rm no; echo \'{"verdict":"deny","reason":"R"}\'; fi'])
    (project.folder / "no").touch()
    (answer,) = talk(
        request(
            project, {"prompt": "a"}, turn(call), {"turn": {"text": "x"}}, {"event": "Interrupt"}, {"prompt": "b"}, turn(call)
        )
    )
    steps = answer["steps"]
    assert steps[0] == {"prompt": {"submitted": False, "reason": "R"}}
    assert steps[1] == steps[2] == {"skipped": "prompt blocked"}
    assert "event" in steps[3]
    assert steps[5]["calls"][0]["outcome"] == "ran"
    assert answer["to_user"] == ["prompt blocked by hook: R"]
    assert project.started() == ["tool"]


def test_an_input_can_come_from_a_file(project: Project) -> None:
    (project.folder / "input.json").write_text('{"n": "\\ud83d"}')
    call = {"id": "t1", "name": "w", "input": None, "input_file": str(project.folder / "input.json"), "program": program(project)}
    project.configure()
    (answer,) = talk(request(project, turn(call)))
    assert answer["steps"][0]["calls"][0]["result"] == '{"n": "\\ud83d"}'


def test_a_reason_with_half_a_character_is_still_a_protocol_line(project: Project) -> None:
    project.configure(UserPromptSubmit=[r"""printf %s '{"verdict":"deny","reason":"\ud83d!\ud83d\ude00"}'"""])
    (answer,) = talk(request(project, {"prompt": "a"}))
    assert answer["steps"][0]["prompt"]["reason"] == "\ufffd!\U0001f600"


def test_a_project_folder_that_is_gone_is_told_step_by_step(project: Project) -> None:
    project.configure(PreToolUse=["true"], Stop=["true"], UserPromptSubmit=["true"])
    asked = request(
        project,
        {"event": "Stop", "fields": {"reason": "done"}},
        turn({"id": "t1", "name": "bash", "input": {}, "program": "/bin/cat"}),
        {"prompt": "hi"},
    )
    asked["world"]["cwd"] += "/gone"
    (answer,) = talk(asked)
    event, calls, prompt = answer["steps"]
    assert event["event"]["raised"].startswith("FileNotFoundError")
    assert (calls["calls"][0]["outcome"], calls["calls"][0]["started"]) == ("error", False)
    assert prompt["prompt"]["submitted"] is False


def test_bad_lines_are_answered_and_the_next_one_is_served(project: Project) -> None:
    project.configure()
    good = request(project, {"prompt": "a"})
    answers = talk(
        "not json",
        "[" * 100_000,
        "[]",
        "",
        {"op": "run"},
        {"op": "dance", "id": "a"},
        {**good, "id": "b", "dialect": "nobody/9"},
        {**good, "id": "c", "world": {"home": "/"}},
        {**good, "id": "d", "steps": ["x"]},
        {**good, "id": "e", "steps": [{}]},
        {**good, "id": "f", "steps": [{"event": "Nothing"}]},
        {**good, "id": "g", "steps": [{"turn": {"tool_calls": [{"name": "bash"}]}}]},
        {**good, "id": "h", "steps": [{"resume": {"id": "t1", "name": "bash", "input": {}}}]},
        good,
    )
    assert [a["id"] for a in answers] == ["", "", "", "", "a", "b", "c", "d", "e", "f", "g", "h", "r1"]
    wanted = [
        "no JSON",
        "no JSON",
        "no JSON object",
        '"id"',
        "dance",
        "nobody/9",
        "world.cwd",
        "steps[0]",
        "steps[0]",
        "Nothing",
        "id is",
    ]
    for answer, words in zip(answers, wanted, strict=False):
        assert words in answer["error"]
    assert answers[-2]["unsupported"] == "resume"
    assert answers[-1]["steps"] == [{"prompt": {"submitted": True, "reason": None}}]


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--nonsense", 2)])
def test_a_person_who_calls_it_is_told_what_it_is(argument: str, code: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "hookproof_reference", argument],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": HOME},
        timeout=60,
    )
    assert ended.returncode == code
    assert "usage" in ended.stdout + ended.stderr


def test_sigterm_ends_the_handler_that_is_under_way(project: Project) -> None:
    project.configure(Stop=["echo $$ >pid; mv pid pid.done; sleep 60"])
    process = subprocess.Popen(
        [sys.executable, "-m", "hookproof_reference"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": HOME},
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(request(project, {"event": "Stop"})).encode() + b"\n")
    process.stdin.flush()
    pid_file = project.folder / "pid.done"
    for _ in range(400):
        if pid_file.exists():
            break
        subprocess.run(["sleep", "0.05"])
    process.terminate()
    assert process.wait(30) == 143
    assert process.stdout.read() == b""
    process.stdin.close()
    process.stdout.close()
    pid = int(pid_file.read_text())
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    assert not state or state.startswith("Z")


def test_the_example_of_the_package_holds() -> None:
    outcome = doctest.testmod(hookproof_reference)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_the_handshake_loads_neither_the_pipeline_nor_the_harness() -> None:
    script = (
        "import sys, hookproof_reference.__main__ as m; m.hello(); "
        "print([n for n in sys.modules if n in ('dataclasses', 'typing', 'subprocess', 'hookproof') or n.endswith('.runner')])"
    )
    ended = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, env={"PYTHONPATH": HOME}, timeout=60
    )
    assert ended.stdout.strip() == "[]"
