"""What stands around the calls: watched files, long texts, the terminal, and what runs in the background."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookproof_reference import ToolUse
from hookproof_reference.dialects.claude_code import spill, terminal
from hookproof_reference.dialects.claude_code.answers import Said
from hookproof_reference.dialects.claude_code.events import Scene
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.dialects.claude_code.watching import Watch
from hookproof_reference.handlers import Place, process
from hookproof_reference.settings import Configured

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = VERSIONS["2.1.178"], VERSIONS["2.1.332"]
BOTH = (OLD.number, NEW.number)


def test_a_file_that_comes_changes_and_goes_is_told_of_each_time(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    watch = Watch(str(tmp_path), [])
    watch.add(["a.txt"])
    assert watch.changes() == []
    file.write_text("1")
    assert watch.changes() == [(str(file), "add")]
    file.write_text("12")
    assert watch.changes() == [(str(file), "change")]
    assert watch.changes() == []
    file.unlink()
    assert watch.changes() == [(str(file), "unlink")]
    assert watch.changes() == []


def test_a_watched_folder_stands_for_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    watch = Watch(str(tmp_path), [])
    watch.add([str(tmp_path / "sub"), "", "  "])
    (tmp_path / "sub" / "new").write_text("1")
    assert watch.changes() == [(str(tmp_path / "sub" / "new"), "add")]


@pytest.mark.parametrize("matcher", [None, "", "*"])
def test_a_handler_for_all_files_starts_no_watch(tmp_path: Path, matcher: str | None) -> None:
    (tmp_path / "a").write_text("1")
    watch = Watch(str(tmp_path), [Configured("FileChanged", "true", 1.0, matcher)])
    (tmp_path / "a").unlink()
    assert watch.changes() == []


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("paths", ['"notes.txt"', "5", '[1, "x"]', "null", "{}"])
def test_paths_of_another_form_are_no_answer_and_no_trouble(claude: ClaudeProject, version: str, paths: str) -> None:
    answer = '{"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": PATHS}}'.replace("PATHS", paths)
    claude.configure(SessionStart=[claude.prints("h1", answer)])
    runner = claude.runner(version)
    runner.fire("SessionStart", {"source": "startup"})
    assert runner.prompt("go").submitted


def scene(home: Path) -> Scene:
    return Scene("s1", "/p", str(home), "p1", "default")


def test_a_long_text_lies_whole_in_the_file_that_is_named(tmp_path: Path) -> None:
    text = "BEGIN" + "\N{SNOWMAN}" * 12_000 + "END"
    said = spill.shortened(Said(context=text, plain="short"), scene(tmp_path))
    path = said.context.split("lies in ")[1].split(". It begins")[0]
    assert Path(path).read_text("utf-8") == text
    assert (said.plain, "BEGIN" in said.context, "END" in said.context) == ("short", True, False)


def test_a_text_of_just_that_length_stays_as_it_is(tmp_path: Path) -> None:
    said = Said(context="x" * spill.LONGEST)
    assert spill.shortened(said, scene(tmp_path)) is said


def test_where_nothing_can_be_kept_the_beginning_is_still_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    said = spill.shortened(Said(context="BEGIN" + "x" * 12_000), scene(tmp_path / "home"))
    assert "BEGIN" in said.context and "could not be kept" in said.context


@pytest.mark.parametrize(
    ("sequence", "old", "new"),
    [
        ("\x1b]0;t\x07", True, True),
        ("\x1b]1;t\x1b\\", True, True),
        ("\x1b]9;built\x07", True, True),
        ("\x1b]9;two\nlines\x07", True, True),
        ("\x1b]9;4;1;50\x07", True, True),
        ("\x1b]9;3 of 4\x07", True, False),
        ("\x1b]99;;done\x1b\\\x07", True, True),
        ("\x07\x07", True, True),
        ("", False, False),
        ("text", False, False),
        ("\x1b]0;t\x07text", False, False),
        ("\x1b]4;1;red\x07", False, False),
        ("\x1b]8;;http://x\x07", False, False),
        ("\x1b]10;red\x07", False, False),
        ("\x1b]52;c;aGk=\x07", False, False),
        ("\x1b]999;t\x07", False, False),
        ("\x1b]1337;t\x07", False, False),
        ("\x1b[2J", False, False),
        ("\x1bPq\x1b\\", False, False),
        ("\x9d0;t\x07", False, False),
        ("\x1b]0;open", False, False),
        ("\x1b]9;a\x1b]9;b\x07\x07", False, False),
        ("\x1b]9;" + "x" * 5_000 + "\x07", False, False),
    ],
)
def test_only_harmless_sequences_reach_a_terminal(sequence: str, old: bool, new: bool) -> None:
    assert (terminal.passes(sequence, OLD), terminal.passes(sequence, NEW)) == (old, new)


def test_a_program_in_the_background_is_told_to_end_at_its_limit() -> None:
    place = Place("/", {"PATH": "/usr/bin:/bin"})
    began = time.monotonic()
    running = process.start(["sleep", "20"], b"", place, process.Manners(session=True), 0.2)
    while (ended := running.ended()) is None and time.monotonic() - began < 10:
        time.sleep(0.02)
    assert ended is not None and ended.signal == 15
    assert time.monotonic() - began < 5


def test_without_a_limit_it_is_left_alone_until_it_is_killed() -> None:
    place = Place("/", {"PATH": "/usr/bin:/bin"})
    running = process.start(["sleep", "20"], b"", place, process.Manners(session=True))
    time.sleep(0.2)
    assert running.ended() is None
    running.kill()


@pytest.mark.parametrize("version", BOTH)
def test_a_task_that_cannot_be_started_is_an_answer(claude: ClaudeProject, version: str) -> None:
    runner = claude.runner(version)
    use = ToolUse("t1", "Bash", {"command": "x", "run_in_background": True}, "/nowhere/tool")
    called = runner.turn([use])[0]
    assert (called.outcome, called.started) == ("error", False)
    assert runner.end("done").cause == "done"


@pytest.mark.parametrize("version", BOTH)
def test_the_run_waits_for_a_task_and_tells_how_it_ended(claude: ClaudeProject, tmp_path: Path, version: str) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\nsleep 0.3\nexit 3\n")
    program.chmod(0o755)
    claude.configure(Stop=[claude.handler("h1")])
    runner = claude.runner(version)
    runner.turn([ToolUse("t1", "Bash", {"command": "x", "description": "build", "run_in_background": True}, str(program))])
    assert runner.end("waiting").cause == "continued"
    assert runner.end("done").cause == "done"
    first, second = claude.read_by("h1")
    assert [task["description"] for task in first["background_tasks"]] == ["build"]
    assert second["background_tasks"] == []
    assert any("build" in text and "3" in text for text in runner.to_model)


@pytest.mark.parametrize("version", BOTH)
def test_a_first_message_that_is_blocked_is_told_to_the_user(claude: ClaudeProject, version: str) -> None:
    own = {"hookEventName": "SessionStart", "initialUserMessage": "paint it"}
    refusal = claude.handler("h2", "echo no >&2; exit 2")
    claude.configure(SessionStart=[claude.prints("h1", {"hookSpecificOutput": own})], UserPromptSubmit=[refusal])
    runner = claude.runner(version)
    runner.fire("SessionStart", {"source": "startup"})
    assert any("no" in text for text in runner.to_user)
    assert json.loads((claude.folder / "h2.in").read_text())["prompt"] == "paint it"


def test_nothing_of_a_closed_session_runs_on(claude: ClaudeProject, tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 20\n")
    program.chmod(0o755)
    runner = claude.runner(NEW.number)
    runner.turn([ToolUse("t1", "Bash", {"command": "x", "run_in_background": True}, str(program))])
    until = time.monotonic() + 5
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until
        time.sleep(0.02)
    runner.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
