"""The loop of Claude Code: prompts, batches, stops, the session, and handlers in the background."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference import Runner, ToolUse

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)
LS = {"command": "ls"}

pytestmark = pytest.mark.parametrize("version", BOTH)


def tool(arguments: Any) -> str:
    """A tool that gives back what it got."""
    return json.dumps(arguments)


def two(name: str = "Bash", program: Any = tool) -> list[ToolUse]:
    field, more = {"Bash": ("command", {}), "Read": ("file_path", {}), "Write": ("file_path", {"content": ""})}[name]
    return [ToolUse(f"t{n}", name, {field: word, **more}, program) for n, word in enumerate(("one", "two"), 1)]


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("echo no >&2; exit 2", "no"),
        ("""echo '{"decision": "block", "reason": "no"}'""", "no"),
        ("""echo '{"decision": "block"}'""", "Blocked by hook"),
        ("""echo '{"continue": false, "stopReason": "no"}'""", "no"),
        ("exit 1", None),
        ("echo text", None),
        ("""echo '{"decision": "approve"}'""", None),
    ],
)
def test_what_blocks_a_prompt(claude: ClaudeProject, version: str, then: str, reason: str | None) -> None:
    claude.configure(UserPromptSubmit=[claude.handler("h1", then)])
    done = claude.runner(version).prompt("hi")
    assert done.submitted == (reason is None)
    assert (reason or "") in done.reason


def test_of_two_that_block_a_prompt_the_first_to_end_is_reported(claude: ClaudeProject, version: str) -> None:
    slow = claude.handler("a", "sleep 0.3; echo A >&2; exit 2")
    claude.configure(UserPromptSubmit=[slow, claude.handler("b", "echo B >&2; exit 2")])
    assert claude.runner(version).prompt("hi").reason.endswith(": B\n")


def test_what_a_prompt_hook_prints_is_for_the_model(claude: ClaudeProject, version: str) -> None:
    own = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "CTX"}}
    claude.configure(
        UserPromptSubmit=[claude.prints("h1", "PLAIN"), claude.prints("h2", own)], SessionStart=[claude.prints("h3", "START")]
    )
    runner = claude.runner(version)
    runner.fire("SessionStart")
    runner.prompt("hi")
    assert runner.to_model == [
        "SessionStart:startup hook success: START",
        "UserPromptSubmit hook success: PLAIN",
        "UserPromptSubmit hook additional context: CTX",
    ]


def test_plain_output_of_other_events_reaches_nobody(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        PreToolUse=[claude.prints("h1", "PLAIN")], PostToolUse=[claude.prints("h2", "PLAIN")], Stop=[claude.prints("h3", "PLAIN")]
    )
    runner = claude.runner(version)
    runner.turn(two())
    assert runner.end("bye").cause == "done"
    assert (runner.to_model, runner.to_user) == ([], [])


def test_a_batch_is_told_once_with_all_its_calls_also_with_the_denied_ones(claude: ClaudeProject, version: str) -> None:
    only_two = claude.handler("pre", "grep -q two pre.in && { echo no >&2; exit 2; }; exit 0")
    claude.configure(PreToolUse=[only_two], PostToolBatch=[claude.handler("batch")])
    called = claude.runner(version).turn([two("Write")[0], two("Write")[1]])
    assert [c.outcome for c in called] == ["ran", "blocked"]
    (batch,) = claude.read_by("batch")
    assert [(c["tool_use_id"], c["tool_input"]) for c in batch["tool_calls"]] == [
        ("t1", {"file_path": "one", "content": ""}),
        ("t2", {"file_path": "two", "content": ""}),
    ]


@pytest.mark.parametrize(("name", "at_once"), [("Bash", 2), ("Read", 2), ("Write", 1)])
def test_calls_of_a_batch_run_together_unless_they_write(claude: ClaudeProject, version: str, name: str, at_once: int) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def slow(arguments: Any) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.2)
        with lock:
            running -= 1
        return "ok"

    claude.configure()
    claude.runner(version).turn(two(name, slow))
    assert most == at_once


def test_continue_false_before_a_tool_lets_the_batch_run_and_ends_the_run(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.prints("h1", {"continue": False, "stopReason": "SR"})], Stop=[claude.handler("h2")])
    runner = claude.runner(version)
    assert [c.outcome for c in runner.turn(two())] == ["ran", "ran"]
    assert runner.over == "stopped by hook"


def test_continue_false_beside_a_deny_blocks_and_ends(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.prints("h1", {"continue": False}), claude.says("h2", "deny")])
    runner = claude.runner(version)
    assert runner.call("Bash", LS, tool).outcome == "blocked"
    assert runner.over == "stopped by hook"


@pytest.mark.parametrize(
    ("event", "then"),
    [
        ("PostToolUse", """echo '{"continue": false}'"""),
        ("PostToolBatch", """echo '{"continue": false}'"""),
        ("PostToolBatch", """echo '{"decision": "block"}'"""),
        ("PostToolBatch", "exit 2"),
    ],
)
def test_what_else_ends_a_run_after_its_tools(claude: ClaudeProject, version: str, event: str, then: str) -> None:
    claude.hooks({event: [claude.handler("h1", then)]})
    runner = claude.runner(version)
    assert runner.call("Bash", LS, tool).outcome == "ran"
    assert runner.over == "stopped by hook"
    assert runner.prompt("again").submitted
    assert runner.over is None


def test_one_deferred_call_ends_the_process_and_its_siblings_have_run(claude: ClaudeProject, version: str) -> None:
    only_two = claude.handler("pre", """grep -q '"two"' pre.in && printf '%s' "$D"; exit 0""")
    claude.configure(PreToolUse=[only_two], PostToolBatch=[claude.handler("batch")])
    own = {"hookEventName": "PreToolUse", "permissionDecision": "defer"}
    runner = claude.runner(version, env={"D": json.dumps({"hookSpecificOutput": own})})
    assert [c.outcome for c in runner.turn(two("Write"))] == ["ran", "deferred"]
    assert (runner.over, runner.gone) == ("deferred", "deferred")
    assert "batch" not in claude.started()


def test_a_resumed_call_is_put_to_the_hooks_again(claude: ClaudeProject, version: str) -> None:
    marked = claude.folder / "asked"
    own = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}})
    claude.configure(
        PreToolUse=[claude.handler("pre", f"[ -e {marked} ] || printf %s '{own}'; : >{marked}")],
        SessionStart=[claude.handler("start")],
    )
    runner = claude.runner(version)
    use = ToolUse("t1", "Bash", LS, tool)
    assert runner.turn([use])[0].outcome == "deferred"
    assert runner.resume(use)[0].outcome == "ran"
    assert [e["tool_use_id"] for e in claude.read_by("pre")] == ["t1", "t1"]
    assert claude.read_by("start")[0]["source"] == "resume"


def stops(runner: Runner, times: int = 40) -> int:
    """How often Stop fires until the run ends."""
    for number in range(1, times + 1):
        if runner.end("bye").cause != "continued":
            return number
    return times


@pytest.mark.parametrize("then", ["exit 2", """echo '{"decision": "block"}'"""])
@pytest.mark.parametrize(
    ("cap", "old", "new"),
    [
        (None, 9, 9),
        ("", 9, 9),
        ("abc", 9, 9),
        ("1", 2, 2),
        ("3", 4, 4),
        ("1.9", 2, 2),
        ("1e1", 2, 11),
        ("0", 20, 20),
        ("-1", 20, 20),
    ],
)
def test_a_stop_is_refused_up_to_the_cap(
    claude: ClaudeProject, version: str, then: str, cap: str | None, old: int, new: int
) -> None:
    claude.configure(Stop=[claude.handler("h1", then)])
    runner = claude.runner(version, env={} if cap is None else {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap})
    assert stops(runner, 20) == {OLD: old, NEW: new}[version]


def test_work_between_two_stops_counts_from_the_start_again(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1", "exit 2")])
    runner = claude.runner(version)
    for _ in range(10):
        assert runner.end("bye").cause == "continued"
        runner.call("Bash", LS, tool)
    assert stops(runner) == 9


def test_the_next_stop_knows_that_one_was_refused(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1", "grep -q 'active\":true' h1.in || { echo E >&2; exit 2; }")])
    runner = claude.runner(version)
    assert (runner.end("one").cause, runner.end("two").cause) == ("continued", "done")
    seen = claude.read_by("h1")
    assert [(e["stop_hook_active"], e["last_assistant_message"]) for e in seen] == [(False, "one"), (True, "two")]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ({"decision": "block", "reason": "R"}, "continued"),
        ({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "C"}}, "continued"),
        ({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": ""}}, "done"),
        ({"decision": "approve"}, "done"),
        ({"continue": True}, "done"),
        ({"decision": "block", "reason": None}, "done"),
        ({"continue": False}, "hook_stopped"),
        ({"continue": False, "decision": "block"}, "hook_stopped"),
    ],
    ids=repr,
)
def test_what_refuses_a_stop(claude: ClaudeProject, version: str, answer: Any, cause: str) -> None:
    claude.configure(Stop=[claude.prints("h1", answer)])
    assert claude.runner(version).end("bye").cause == cause


def test_continue_false_ends_the_run_although_another_blocks(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1", "exit 2"), claude.prints("h2", {"continue": False})])
    assert claude.runner(version).end("bye").cause == "hook_stopped"


def test_the_model_reads_why_it_may_not_stop(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[{"type": "command", "command": "echo E >&2; exit 2"}])
    runner = claude.runner(version)
    runner.end("bye")
    detail = "[echo E >&2; exit 2]: E\n"
    wordings = {
        OLD: f"Stop hook feedback:\n{detail}",
        NEW: f'Stop hook blocking error from command: "echo E >&2; exit 2": {detail}',
    }
    assert runner.to_model == [wordings[version]]


def test_in_a_subagent_another_event_tells_of_its_end(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("stop")], SubagentStop=[claude.handler("sub", matcher="x")])
    claude.runner(version, session={"agent": "reviewer"}).end("bye")
    (seen,) = claude.read_by("sub")
    assert (claude.started(), seen["agent_type"]) == (["sub"], "reviewer")
    assert seen["agent_id"] in seen["agent_transcript_path"]


def test_handlers_of_the_end_share_a_second_and_a_half(claude: ClaudeProject, version: str) -> None:
    claude.configure(SessionEnd=[claude.handler("h1", "sleep 30")])
    began = time.monotonic()
    claude.runner(version).fire("SessionEnd")
    assert 1.4 < time.monotonic() - began < 10


@pytest.mark.parametrize("first", [True, False], ids=["by the settings", "by its first output"])
def test_nobody_waits_for_a_handler_in_the_background_and_its_verdict_is_lost(
    claude: ClaudeProject, version: str, first: bool
) -> None:
    own = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "additionalContext": "LATE"}}
    )
    wait = "i=0; while [ ! -e ran ] && [ $i -lt 200 ]; do sleep 0.02; i=$((i+1)); done"
    then = f"{wait}; printf %s '{own}'; : >printed; exit 2"
    handler = (
        claude.handler("h1", then, **{"async": True}) if first else claude.handler("h1", f"""echo '{{"async": true}}'; {then}""")
    )
    claude.configure(PreToolUse=[handler])
    runner = claude.runner(version)

    def runs(arguments: Any) -> str:
        (claude.folder / "ran").touch()
        return "ok"

    assert runner.call("Bash", LS, runs).outcome == "ran"
    deadline = time.monotonic() + 10
    while "LATE" not in "".join(runner.to_model) and time.monotonic() < deadline:
        time.sleep(0.02)
        runner.prompt("and now")
    assert runner.to_model == ["LATE"]
    runner.close()


def test_a_handler_in_the_background_ends_with_the_session(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1", "echo $$ >pid; sleep 30; : >late", **{"async": True})])
    runner = claude.runner(version)
    runner.end("bye")
    began = time.monotonic()
    runner.close()
    assert time.monotonic() - began < 10
    assert not (claude.folder / "late").exists()


def test_what_a_start_handler_exports_reaches_the_shell_tool_only(claude: ClaudeProject, version: str) -> None:
    program = claude.folder / "tool"
    program.write_text('#!/bin/sh\necho "A=$A F=$CLAUDE_ENV_FILE"\n')
    program.chmod(0o755)
    start = [
        claude.handler("a", "sleep 0.2; echo 'export A=first' >>$CLAUDE_ENV_FILE"),
        claude.handler("b", "echo 'export A=second' >>$CLAUDE_ENV_FILE"),
    ]
    claude.configure(SessionStart=start, PreToolUse=[claude.handler("h1", 'echo "A=$A F=$CLAUDE_ENV_FILE" >env')])
    runner = claude.runner(version)
    runner.fire("SessionStart")
    assert runner.call("Bash", LS, str(program)).result == "A=second F="
    assert (claude.folder / "env").read_text() == "A= F=\n"
    runner.fire("SessionStart", {"source": "clear"})


def test_an_env_file_that_is_no_shell_breaks_every_shell_command(claude: ClaudeProject, version: str) -> None:
    claude.configure(SessionStart=[claude.handler("a", "echo 'exit 7' >>$CLAUDE_ENV_FILE")])
    runner = claude.runner(version)
    runner.fire("SessionStart")
    called = runner.call("Bash", LS, "/bin/true")
    assert (called.outcome, called.started, called.result) == ("failed", False, "Exit code 7")
    assert runner.call("Read", {"file_path": "x"}, tool).outcome == "ran"


def test_what_handlers_find_in_their_environment(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        more={"env": {"B": "settings"}},
        Stop=[claude.handler("h1", "env >env; pwd >cwd")],
        SessionEnd=[claude.handler("h2", "env >end")],
    )
    runner = claude.runner(version, env={"A": "parent", "CLAUDE_EFFORT": "x"})
    runner.end("bye")
    runner.fire("SessionEnd")
    env = dict(line.split("=", 1) for line in (claude.folder / "env").read_text().splitlines())
    assert (
        env.items()
        >= {
            "A": "parent",
            "B": "settings",
            "CLAUDECODE": "1",
            "CLAUDE_CODE_SESSION_ID": "s1",
            "CLAUDE_CODE_CHILD_SESSION": "1",
            "CLAUDE_PROJECT_DIR": str(claude.folder),
            "CLAUDE_EFFORT": "medium",
            "AI_AGENT": f"claude-code_{version.replace('.', '-')}_harness",
        }.items()
    )
    assert "CLAUDE_ENV_FILE" not in env
    assert "CLAUDE_EFFORT" not in (claude.folder / "end").read_text()


def test_a_program_with_arguments_gets_them_without_a_shell(claude: ClaudeProject, version: str) -> None:
    program = claude.folder / "h.sh"
    program.write_text('#!/bin/sh\nfor a; do echo "[$a]" >>args; done\ncat >/dev/null; echo X >&2; exit 2\n')
    program.chmod(0o755)
    words = ["a b", "$HOME", "${CLAUDE_PROJECT_DIR}/q"]
    claude.configure(PreToolUse=[{"type": "command", "command": str(program), "args": words}])
    called = claude.runner(version).call("Bash", LS, tool)
    assert (claude.folder / "args").read_text().splitlines() == ["[a b]", "[$HOME]", f"[{claude.folder}/q]"]
    assert called.reason == f"[{program} {' '.join(words)}]: X\n"


def test_a_prefix_is_put_before_the_whole_command(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[{"type": "command", "command": 'echo "it\'s" >out'}])
    claude.runner(version, env={"CLAUDE_CODE_SHELL_PREFIX": "/bin/sh -xc"}).end("bye")
    assert (claude.folder / "out").read_text() == "it's\n"


def test_a_folder_that_is_gone_is_the_projects_and_then_the_home(claude: ClaudeProject, version: str) -> None:
    below = claude.folder / "sub"
    below.mkdir()
    claude.configure(Stop=[claude.handler("h1", "pwd >cwd")])
    runner = claude.runner(version, project=str(claude.folder))
    runner.place = type(runner.place)(str(below), runner.place.env)
    below.rmdir()
    assert runner.end("bye").cause == "done"
    assert (claude.folder / "cwd").read_text().strip() == str(claude.folder)


def test_an_event_of_another_version_is_said_to_be_none(claude: ClaudeProject, version: str) -> None:
    claude.configure()
    with pytest.raises(ValueError, match='has no event "Interrupt"'):
        claude.runner(version).fire("Interrupt")


def test_the_plain_loop_says_how_to_start_this_one(version: str) -> None:
    with pytest.raises(ValueError, match="has a loop of its own"):
        Runner(f"claude-code/{version}")
