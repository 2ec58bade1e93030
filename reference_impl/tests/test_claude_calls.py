"""One tool call of Claude Code: hooks, rules, the mode and a person, and what comes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference import Runner
from hookproof_reference.dialects.claude_code import kinds
from hookproof_reference.handlers import Unsupported
from hookproof_reference.tools import ToolFailed

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)
LS = {"command": "ls", "description": "d"}

pytestmark = pytest.mark.parametrize("version", BOTH)


def tool(arguments: Any) -> str:
    """A tool that gives back the command it got."""
    return str(arguments["command"])


@pytest.mark.parametrize(
    ("said", "hook", "outcome"),
    [
        ("allow", "allow", "ran"),
        ("ask", "ask", "asked"),
        ("defer", "defer", "deferred"),
        ("deny", "deny", "blocked"),
        (None, "none", "ran"),
    ],
)
def test_what_a_verdict_comes_to_in_print_mode(
    claude: ClaudeProject, version: str, said: str | None, hook: str, outcome: str
) -> None:
    claude.configure(PreToolUse=[claude.says("h1", said, "R") if said else claude.handler("h1")])
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.hook, called.outcome, called.started) == (hook, outcome, outcome == "ran")


def test_a_deny_after_an_allow_still_denies_and_the_slow_one_is_awaited(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        PreToolUse=[claude.says("h1", "allow"), claude.says("h2", "deny", "no", before="sleep 0.3")],
        PostToolUse=[claude.handler("h3")],
    )
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.hook, called.outcome, called.reason) == ("deny", "blocked", "no")
    assert sorted(claude.started()) == ["h1", "h2"]


def test_the_model_reads_who_denied_at_the_newer_version(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "deny", "no")])
    assert claude.runner(version).call("Bash", LS, tool).result == {OLD: "no", NEW: "PreToolUse:Bash hook error: no"}[version]
    command = "echo E >&2; exit 2"
    claude.configure(PreToolUse=[{"type": "command", "command": command}])
    assert claude.runner(version).call("Bash", LS, tool).result == f"PreToolUse:Bash hook error: [{command}]: E\n"


def test_all_handlers_start_at_once(claude: ClaudeProject, version: str) -> None:
    met = "i=0; while [ ! -e {0} ] && [ $i -lt 150 ]; do sleep 0.02; i=$((i+1)); done; [ -e {0} ]"
    claude.configure(
        PreToolUse=[claude.handler("a", f": >a.here; {met.format('b.here')} && echo met >>met")],
        Stop=[],
    )
    groups = [{"matcher": "Bash", "hooks": [claude.handler("b", f": >b.here; {met.format('a.here')} && echo met >>met")]}]
    content = json.loads((claude.folder / "project.json").read_text())
    content["hooks"]["PreToolUse"] += groups
    claude.write(content)
    claude.runner(version).call("Bash", LS, tool)
    assert (claude.folder / "met").read_text().split() == ["met", "met"]


def test_a_rewrite_replaces_the_whole_input_and_later_events_see_it(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        PreToolUse=[claude.says("h1", "allow", updatedInput={"command": "pwd"}), claude.handler("h2")],
        PostToolUse=[claude.handler("h3")],
    )
    assert claude.runner(version).call("Bash", LS, tool).result == "pwd"
    assert claude.read_by("h2")[0]["tool_input"] == LS
    assert claude.read_by("h3")[0]["tool_input"] == {"command": "pwd"}


@pytest.mark.parametrize(
    "rewrite", [{}, {"command": 5}, {"command": None}, {"description": "x"}, {"command": "x", "description": {}}], ids=repr
)
def test_a_rewrite_that_is_no_input_of_the_tool_is_not_run(claude: ClaudeProject, version: str, rewrite: Any) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "allow", updatedInput=rewrite)])
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.outcome, called.started) == ("error", False)
    assert "returned updatedInput that failed schema validation" in called.reason


def test_texts_for_numbers_and_unknown_keys_in_a_rewrite(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "allow", updatedInput={"command": "x", "timeout": "5", "bogus": 1})])
    seen: list[Any] = []

    def program(arguments: Any) -> str:
        seen.append(arguments)
        return "ok"

    claude.runner(version).call("Bash", LS, program)
    assert seen == [{OLD: {"command": "x", "timeout": "5", "bogus": 1}, NEW: {"command": "x", "timeout": 5}}[version]]


RULES = [  # rules, host, hook, outcome
    ({}, "allow", None, "ran"),
    ({}, "ask", None, "asked"),
    ({}, "ask", "allow", "ran"),
    ({}, "deny", None, "blocked"),
    ({}, "deny", "allow", "blocked"),
    ({"allow": ["Bash"]}, "ask", None, "ran"),
    ({"allow": ["Bash"]}, "ask", "ask", "asked"),
    ({"allow": ["Bash"]}, "allow", "deny", "blocked"),
    ({"ask": ["Bash(ls *)"]}, "allow", None, "asked"),
    ({"ask": ["Bash(ls *)"]}, "allow", "allow", "asked"),
    ({"deny": ["Bash(ls *)"]}, "allow", "allow", "blocked"),
    ({"deny": ["Bash(ls *)"], "allow": ["Bash"]}, "allow", None, "blocked"),
    ({"deny": ["Bash(git *)"]}, "allow", "allow", "ran"),
    ({"deny": ["Bash(ls *)"]}, "allow", "defer", "deferred"),
]


@pytest.mark.parametrize(("rules", "host", "said", "outcome"), RULES, ids=repr)
def test_rules_hold_against_hooks_and_a_hook_lifts_only_the_mode(
    claude: ClaudeProject, version: str, rules: Any, host: str, said: str | None, outcome: str
) -> None:
    claude.configure(more={"permissions": rules}, PreToolUse=[claude.says("h1", said)] if said else [])
    assert claude.runner(version, host=host).call("Bash", LS, tool).outcome == outcome


def test_a_rewrite_is_what_the_rules_are_asked_about(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        more={"permissions": {"deny": ["Bash(rm *)"]}}, PreToolUse=[claude.says("h1", "allow", updatedInput={"command": "rm x"})]
    )
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.hook, called.outcome) == ("allow", "blocked")
    assert called.reason == "Permission to use Bash with command rm x has been denied."


def test_a_tool_that_is_denied_as_a_whole_asks_no_hook(claude: ClaudeProject, version: str) -> None:
    claude.configure(
        more={"permissions": {"deny": ["Bash"]}}, PreToolUse=[claude.handler("h1")], PostToolBatch=[claude.handler("h2")]
    )
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.hook, called.outcome, claude.started()) == ("none", "blocked", ["h2"])


def test_plan_mode_holds_against_a_hook_at_the_newer_version(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "allow")])
    runner = claude.runner(version, host="ask", session={"permission_mode": "plan"})
    assert runner.call("Bash", LS, tool).outcome == {OLD: "ran", NEW: "asked"}[version]


def request(**decision: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


@pytest.mark.parametrize(
    ("decision", "outcome", "result"),
    [
        ({"behavior": "allow"}, "ran", "ls"),
        ({"behavior": "allow", "updatedInput": {"command": "pwd"}}, "ran", "pwd"),
        ({"behavior": "deny", "message": "M"}, "blocked", "M"),
    ],
    ids=repr,
)
def test_a_request_for_permission_can_be_answered_by_a_hook(
    claude: ClaudeProject, version: str, decision: Any, outcome: str, result: str
) -> None:
    claude.configure(PermissionRequest=[claude.prints("h1", request(**decision))])
    called = claude.runner(version, host="ask", session={"interactive": True}).call("Bash", LS, tool)
    assert (called.outcome, called.result) == (outcome, result)
    printed = claude.runner(version, host="ask").call("Bash", LS, tool)
    assert printed.outcome == (outcome if version == NEW else "asked")


def test_the_first_request_hook_with_a_verdict_ends_the_others(claude: ClaudeProject, version: str) -> None:
    slow = claude.handler("slow", "sleep 30")
    claude.configure(PermissionRequest=[slow, claude.prints("h1", request(behavior="allow"))])
    assert claude.runner(version, host="ask", session={"interactive": True}).call("Bash", LS, tool).outcome == "ran"


@pytest.mark.parametrize(("approver", "outcome"), [("allow_once", "ran"), ("deny", "blocked"), (None, "asked")])
def test_an_approver_answers_a_hook_that_asks(claude: ClaudeProject, version: str, approver: str | None, outcome: str) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "ask", "sure?")])
    called = claude.runner(version, approver=approver).call("Bash", LS, tool)
    assert (called.hook, called.outcome) == ("ask", outcome)
    assert called.reason == {"ran": "", "blocked": "sure?", "asked": "sure?"}[outcome]


def test_defer_is_ignored_where_a_person_sits(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.says("h1", "defer")])
    called = claude.runner(version, session={"interactive": True}).call("Bash", LS, tool)
    assert (called.hook, called.outcome) == ("none", "ran")


def test_after_success_and_failure_another_event_tells(claude: ClaudeProject, version: str) -> None:
    def fails(arguments: Any) -> str:
        raise ToolFailed("boom")

    claude.configure(PostToolUse=[claude.handler("ok")], PostToolUseFailure=[claude.handler("bad")])
    runner = claude.runner(version)
    assert runner.call("Bash", LS, tool).outcome == "ran"
    assert claude.read_by("ok")[0]["tool_response"]["stdout"] == "ls"
    failed = runner.call("Read", {"file_path": "x"}, fails)
    assert (failed.outcome, failed.result, claude.read_by("bad")[0]["error"]) == ("failed", "boom", "boom")
    assert claude.started() == ["ok", "bad"]


def test_a_failing_shell_command_is_told_with_its_exit_code(claude: ClaudeProject, version: str) -> None:
    program = claude.folder / "tool"
    program.write_text("#!/bin/sh\necho boom >&2; exit 3\n")
    program.chmod(0o755)
    claude.configure(PostToolUseFailure=[claude.handler("bad")])
    assert claude.runner(version).call("Bash", LS, str(program)).result == "Exit code 3\nboom"
    assert claude.read_by("bad")[0]["error"] == "Exit code 3\nboom"


@pytest.mark.parametrize(
    ("tool_name", "output", "result"),
    [
        ("Bash", {"stdout": "X", "stderr": "", "interrupted": False, "isImage": False}, "X"),
        ("Bash", "X", "ls"),
        ("Bash", {"stdout": "X"}, "ls"),
        ("mcp__srv__say", "X", "X"),
        ("mcp__srv__say", [{"type": "text", "text": "X"}], "X"),
    ],
    ids=repr,
)
def test_a_replaced_output_must_have_the_shape_of_the_tools_own(
    claude: ClaudeProject, version: str, tool_name: str, output: Any, result: str
) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}
    claude.configure(PostToolUse=[claude.prints("h1", answer)])
    assert claude.runner(version).call(tool_name, LS, tool).result == result


def test_a_block_after_the_tool_is_feedback_and_the_result_stands(claude: ClaudeProject, version: str) -> None:
    block = claude.prints("h1", {"decision": "block", "reason": "RA"})
    claude.configure(PostToolUse=[block, claude.handler("h2", "sleep 0.2; echo RB >&2; exit 2")])
    called = claude.runner(version).call("Bash", LS, tool)
    assert (called.outcome, called.result) == ("ran", "ls")
    assert [text.rpartition(": ")[2].strip() for text in called.feedback] == ["RA", "RB"]


def test_contexts_reach_the_model_in_the_order_of_completion(claude: ClaudeProject, version: str) -> None:
    def context(name: str) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": name}}

    slow = claude.handler("a", f"sleep 0.3; printf %s '{json.dumps(context('A'))}'")
    claude.configure(PreToolUse=[slow, claude.prints("b", context("B"))])
    runner = claude.runner(version)
    runner.call("Bash", LS, tool)
    label = "PreToolUse:Bash hook additional context: "
    assert runner.to_model == {OLD: [f"{label}B", f"{label}A"], NEW: [f"{label}B\nA"]}[version]


def test_a_message_is_for_the_user_and_not_for_the_model(claude: ClaudeProject, version: str) -> None:
    claude.configure(PreToolUse=[claude.prints("h1", {"systemMessage": "SM"})])
    runner = claude.runner(version, session={"interactive": True})
    runner.call("Bash", LS, tool)
    assert (runner.to_user, runner.to_model) == (["PreToolUse:Bash says: SM"], [])


def test_a_kind_of_handler_whose_library_is_missing_says_what_to_install(
    claude: ClaudeProject, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    claude.configure(PreToolUse=[{"type": "http", "url": "http://127.0.0.1:9/"}], Stop=[claude.handler("h1")])
    runner: Runner = claude.runner(version)
    with pytest.raises(Unsupported, match=r"http: install hookproof\[http\]"):
        runner.call("Bash", LS, tool)
    assert runner.end("bye").cause == "done"
