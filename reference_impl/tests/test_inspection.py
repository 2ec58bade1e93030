"""`hookproof-reference hooks` and `hookproof-reference hooks-test`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import hookproof_reference
from hookproof_reference import inspection
from hookproof_reference.dialects import lecode

if TYPE_CHECKING:
    from .conftest import Project

HOME = str(Path(hookproof_reference.__file__).parents[1])
Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)
    (project.folder / ".lecode").mkdir()
    project.settings = project.folder / ".lecode" / "config.toml"


def test_hooks_lists_event_command_and_time_limit_in_the_order_of_the_events(project: Project, capsys: Said) -> None:
    project.configure(Stop=["say done"], PreToolUse=["./b", "./a"])
    assert inspection.main("hooks", []) == 0
    assert [row.split() for row in capsys.readouterr().out.splitlines()] == [
        ["PreToolUse", "./b", "10s"],
        ["PreToolUse", "./a", "10s"],
        ["Stop", "say", "done", "10s"],
    ]


def test_hooks_test_prints_what_the_handlers_of_each_event_say_together(project: Project, capsys: Said) -> None:
    project.configure(
        SessionStart=[project.handler("h4")],
        PreToolUse=[project.says("h1", "ask", reason="are you\nsure"), project.says("h2", "deny")],
        UserPromptSubmit=[project.says("h3", "allow")],
    )
    assert inspection.main("hooks-test", []) == 0
    out = capsys.readouterr().out
    assert out == "PreToolUse: deny - are you sure\nUserPromptSubmit: allow\nSessionStart: abstain\n"
    assert project.started() == ["h1", "h2", "h3", "h4"]


def test_a_handler_that_fails_makes_the_exit_code_1_and_is_named_with_its_place(project: Project, capsys: Said) -> None:
    project.configure(Stop=["true", "./gone.sh"], PreToolUse=["exit 3"])
    assert inspection.main("hooks-test", []) == 1
    said = capsys.readouterr()
    assert said.out == "PreToolUse: deny - hook failed: exit code 3 (handler failed)\nStop: abstain (handler failed)\n"
    assert ".lecode/config.toml:2: Stop: './gone.sh': hook failed: exit code 127" in said.err
    assert ".lecode/config.toml:3: PreToolUse: 'exit 3': hook failed" in said.err


@pytest.mark.parametrize("event", list(lecode.EVENTS))
def test_the_example_of_an_event_has_the_fields_of_the_real_one(project: Project, event: str) -> None:
    project.configure(**{event: [project.handler("h1")]})
    assert inspection.main("hooks-test", []) == 0
    own = project.read_by("h1").keys() - {"event", "ts", "session", "cwd"}
    # where an event comes in several forms it has the fields of one of them
    forms = {"PostToolUseFailure": {"tool", "result"}, "Notification": {"kind", "tool"}}
    assert own == forms.get(event, set(lecode.EVENTS[event]))


@pytest.mark.parametrize("name", ["hooks", "hooks-test"])
def test_without_settings_no_hooks_are_configured(project: Project, name: str, capsys: Said) -> None:
    assert inspection.main(name, []) == 0
    project.settings.write_text("[hooks]\n")
    assert inspection.main(name, []) == 0
    assert capsys.readouterr().out == "no hooks configured\n" * 2


def test_another_file_can_be_named(project: Project, capsys: Said) -> None:
    (project.folder / "other.toml").write_text('[hooks]\nStop = ["x"]\n')
    assert inspection.main("hooks", ["other.toml"]) == 0
    assert capsys.readouterr().out == "Stop  x  10s\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[hooks]\nStop = [", ".lecode/config.toml: no TOML: "),
        ("[hooks]\nStop = [", "line 2"),
        (f"[hooks]\nx = {'9' * 5000}\n", ".lecode/config.toml: no TOML: Exceeds the limit"),
        ("\nhooks = 3\n", ".lecode/config.toml: line 2: hooks is no table of events"),
    ],
)
def test_settings_that_cannot_be_read_are_said_with_file_and_line(project: Project, text: str, says: str, capsys: Said) -> None:
    project.settings.write_text(text)
    assert inspection.main("hooks-test", []) == 2
    assert says in capsys.readouterr().err


def test_what_is_left_out_is_said_and_the_rest_is_kept(project: Project, capsys: Said) -> None:
    project.settings.write_text('[hooks]\n# Stop = []\nStop = "ls"\n"stop" = ["x"]\nPreToolUse = ["y", 3]\n')
    assert inspection.main("hooks", []) == 0
    said = capsys.readouterr()
    assert said.out == "PreToolUse  y  10s\n"
    assert "line 3: Stop is no list of commands" in said.err
    assert 'line 4: unknown hook event: stop; did you mean "Stop"?' in said.err
    assert "line 5: PreToolUse[1] is no command" in said.err


@pytest.mark.parametrize(("arguments", "says"), [(["gone.toml"], "no such file"), (["-x"], "-x"), (["a", "b"], "a b")])
def test_a_wrong_command_line_is_said(project: Project, arguments: list[str], says: str, capsys: Said) -> None:
    assert inspection.main("hooks", arguments) == 2
    assert says in capsys.readouterr().err


def test_a_working_folder_that_is_gone_is_said(project: Project) -> None:
    script = f'rmdir "$PWD" && exec {sys.executable} -m hookproof_reference hooks-test'
    folder = project.folder / "gone"
    folder.mkdir()
    ended = subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": HOME}, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        "hookproof-reference hooks-test: the working folder is gone; change to the folder of the project and try again\n"
    )


def test_the_command_line_finds_both_words(project: Project) -> None:
    project.configure(Stop=["exit 1"])

    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "hookproof_reference", *words]
        ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": HOME}, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in ended.stderr
        return ended.returncode, ended.stdout

    assert run("hooks") == (0, "Stop  exit 1  10s\n")
    assert run("hooks-test") == (1, "Stop: abstain (handler failed)\n")
    code, usage = run("hooks", "--help")
    assert (code, "hooks-test [FILE]" in usage) == (0, True)


def test_half_a_surrogate_pair_in_a_reason_is_no_trouble(project: Project, capsys: Said) -> None:
    half = "a\ud800b"
    project.configure(Stop=[f"printf %s '{json.dumps({'verdict': 'deny', 'reason': half})}'"])
    assert inspection.main("hooks-test", []) == 0
    assert capsys.readouterr().out == "Stop: deny - a?b\n"
