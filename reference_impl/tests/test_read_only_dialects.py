"""Three agents are read as they were observed: what one handler did, and whether the call ran."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookproof_reference import dialects
from hookproof_reference.__main__ import answer

CODEX, GEMINI, QWEN = "codex/0.171.0", "gemini-cli/0.61.0", "qwen-code/0.24.4"
AGENTS = (CODEX, GEMINI, QWEN)
BEFORE = {CODEX: "PreToolUse", GEMINI: "BeforeTool", QWEN: "PreToolUse"}


def read(dialect: str, event: str, **ran: Any) -> dict[str, Any]:
    line = json.dumps({"op": "read", "id": "1", "dialect": dialect, "event": event, "ran": ran})
    return answer(line.encode())


def specific(dialect: str, event: str | None = None, **fields: Any) -> str:
    own = {"hookEventName": event or BEFORE[dialect], **fields}
    return json.dumps({"hookSpecificOutput": {key: value for key, value in own.items() if value is not ...}})


def deny(dialect: str, reason: str = "no", **more: Any) -> str:
    """A deny in the agent's own form."""
    if dialect == GEMINI:
        return json.dumps({"decision": "deny", "reason": reason, **more})
    own = json.loads(specific(dialect, permissionDecision="deny", permissionDecisionReason=reason))
    return json.dumps({**own, **more})


def allow(dialect: str) -> str:
    if dialect == GEMINI:
        return '{"decision": "allow", "reason": "ok"}'
    return specific(dialect, permissionDecision="allow", permissionDecisionReason="ok")


def outcome(dialect: str, **ran: Any) -> str:
    """B: the call was blocked, R: it ran. A stdout that is a function is written in the agent's own form."""
    stdout = ran.get("stdout", "")
    found = read(dialect, BEFORE[dialect], **{"exit": 0, **ran, "stdout": stdout(dialect) if callable(stdout) else stdout})
    assert "error" not in found
    return "B" if found["blocks"] else "R"


OBSERVED: list[tuple[str, dict[str, Any], str]] = [
    ("says nothing", {}, "RRR"),
    ("exit 2 with stderr", {"exit": 2, "stderr": "no"}, "BBB"),
    ("exit 2 in silence", {"exit": 2}, "RRR"),
    ("exit 2 with text on stdout", {"exit": 2, "stdout": "text"}, "RBR"),
    ("exit 2 with an allow", {"exit": 2, "stdout": allow}, "RRR"),
    ("exit 2 with an allow and stderr", {"exit": 2, "stdout": allow, "stderr": "no"}, "BRB"),
    ("exit 1 with stderr", {"exit": 1, "stderr": "no"}, "RRR"),
    ("exit 1 with a deny", {"exit": 1, "stdout": deny}, "RBB"),
    ("exit 3 with stderr", {"exit": 3, "stderr": "no"}, "RBR"),
    ("exit 3 in silence", {"exit": 3}, "RRR"),
    ("exit 3 with a deny", {"exit": 3, "stdout": deny}, "RBB"),
    ("no such command", {"exit": 127, "stderr": "sh: no such file"}, "RBR"),
    ("killed in silence", {"exit": None, "signal": 9}, "RRR"),
    ("killed after a deny", {"exit": None, "signal": 9, "stdout": deny}, "RBB"),
    ("too slow", {"exit": None, "timed_out": True, "timeout": 1}, "RRR"),
    ("broken JSON", {"stdout": "{bad json"}, "RRR"),
    ("text", {"stdout": "hello world"}, "RRR"),
    ("an array", {"stdout": "[1,2]"}, "RRR"),
    ("null", {"stdout": "null"}, "RRR"),
    ("a log line before a deny", {"stdout": lambda d: f"log line\n{deny(d)}"}, "RRR"),
    ("text after a deny", {"stdout": lambda d: f"{deny(d)}\ntrailing"}, "RRR"),
    ("a deny with an unknown field", {"stdout": lambda d: deny(d, xUnknown=1)}, "RBB"),
    ("fields of a wrong type", {"stdout": '{"decision": 5, "reason": ["x"]}'}, "RRR"),
    ("permissionDecision", {"stdout": lambda d: specific(d, permissionDecision="deny", permissionDecisionReason="no")}, "BRB"),
    ("permissionDecision without a reason", {"stdout": lambda d: specific(d, permissionDecision="deny")}, "RRB"),
    (
        "permissionDecision without an event",
        {"stdout": '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'},
        "RRB",
    ),
    (
        "permissionDecision for another event",
        {"stdout": lambda d: specific(d, "Stop", permissionDecision="deny", permissionDecisionReason="no")},
        "BRB",
    ),
    ("decision block", {"stdout": '{"decision": "block", "reason": "no"}'}, "BBB"),
    ("decision block without a reason", {"stdout": '{"decision": "block"}'}, "RBB"),
    ("decision deny", {"stdout": '{"decision": "deny", "reason": "no"}'}, "RBB"),
    ("decision in capitals", {"stdout": '{"decision": "DENY", "reason": "no"}'}, "RRR"),
    ("allow", {"stdout": allow}, "RRR"),
    (
        "ask",
        {
            "stdout": lambda d: (
                '{"decision": "ask", "reason": "sure?"}'
                if d == GEMINI
                else specific(d, permissionDecision="ask", permissionDecisionReason="sure?")
            )
        },
        "RBB",
    ),
    ("defer", {"stdout": lambda d: specific(d, permissionDecision="defer", permissionDecisionReason="x")}, "RRR"),
    ("continue false", {"stdout": '{"continue": false, "stopReason": "stop"}'}, "RBB"),
    ("a byte order mark", {"stdout": lambda d: "\ufeff" + deny(d)}, "RBB"),
]


@pytest.mark.parametrize(("ran", "wanted"), [row[1:] for row in OBSERVED], ids=[row[0] for row in OBSERVED])
def test_a_call_runs_or_not_as_it_was_observed(ran: dict[str, Any], wanted: str) -> None:
    assert "".join(outcome(dialect, **ran) for dialect in AGENTS) == wanted


@pytest.mark.parametrize("dialect", AGENTS)
def test_what_was_observed_says_so_with_the_version(dialect: str) -> None:
    found = read(dialect, BEFORE[dialect], exit=2, stderr="no")
    assert found["source"] == f"observed at {dialect.partition('/')[2]}"
    assert "exit code 2" in found["why"]
    assert found["reason"] == "no"


def test_what_was_only_read_in_the_source_says_so() -> None:
    assert "not observed" in read(CODEX, "PreToolUse", cannot_start="no such file")["source"]


def test_a_rewrite_is_applied_as_each_agent_does_it() -> None:
    new = {"command": "ls"}
    whole = specific(CODEX, permissionDecision="allow", updatedInput=new)
    assert read(CODEX, "PreToolUse", exit=0, stdout=whole)["rewrite"] == new
    assert read(CODEX, "PreToolUse", exit=0, stdout=specific(CODEX, updatedInput=new))["rewrite"] is None
    assert (
        read(CODEX, "PreToolUse", exit=0, stdout=specific(CODEX, permissionDecision="deny", updatedInput=new))["blocks"] is False
    )
    assert read(GEMINI, "BeforeTool", exit=1, stdout=specific(GEMINI, tool_input=new))["rewrite"] == new
    assert read(QWEN, "PreToolUse", exit=0, stdout=whole)["rewrite"] is None


@pytest.mark.parametrize(("dialect", "event"), [(CODEX, "Stop"), (GEMINI, "AfterAgent"), (QWEN, "Stop")])
def test_a_block_at_the_end_makes_it_go_on_and_a_crash_does_not(dialect: str, event: str) -> None:
    assert read(dialect, event, exit=2, stderr="go on")["blocks"] is True
    assert read(dialect, event, exit=0, stdout='{"decision": "block", "reason": "go on"}')["blocks"] is True
    assert read(dialect, event, exit=1, stderr="x")["blocks"] is False
    assert read(dialect, event, exit=0, stdout="{bad")["blocks"] is False


def test_continue_false_at_the_end_ends_two_agents_and_keeps_the_third_going() -> None:
    stops = '{"continue": false, "stopReason": "halt"}'
    events = {CODEX: "Stop", GEMINI: "AfterAgent", QWEN: "Stop"}
    assert [read(dialect, events[dialect], exit=0, stdout=stops)["blocks"] for dialect in AGENTS] == [False, False, True]


@pytest.mark.parametrize(("dialect", "event"), [(CODEX, "UserPromptSubmit"), (GEMINI, "BeforeAgent"), (QWEN, "UserPromptSubmit")])
def test_a_prompt_is_held_by_exit_code_2_and_by_a_block(dialect: str, event: str) -> None:
    assert read(dialect, event, exit=2, stderr="no")["blocks"] is True
    assert read(dialect, event, exit=0, stdout='{"decision": "block", "reason": "no"}')["blocks"] is True
    assert read(dialect, event, exit=1, stderr="x")["blocks"] is False


def test_plain_text_is_context_for_a_prompt_in_two_of_three() -> None:
    events = {CODEX: "UserPromptSubmit", GEMINI: "BeforeAgent", QWEN: "UserPromptSubmit"}
    found = [read(dialect, events[dialect], exit=0, stdout="mind the gap")["context"] for dialect in AGENTS]
    assert found == [["mind the gap"], [], ["mind the gap"]]


def test_what_is_said_against_a_result_reaches_the_model_in_two_of_three() -> None:
    events = {CODEX: "PostToolUse", GEMINI: "AfterTool", QWEN: "PostToolUse"}
    assert [read(dialect, events[dialect], exit=2, stderr="bad")["blocks"] for dialect in AGENTS] == [True, True, False]


@pytest.mark.parametrize("dialect", AGENTS)
def test_every_event_can_be_read_whatever_is_printed(dialect: str) -> None:
    events = answer(json.dumps({"op": "events", "id": "1", "dialect": dialect}).encode())["events"]
    odd = [
        "",
        "x",
        "{}",
        "[]",
        '"{}"',
        '{"hookSpecificOutput": 5}',
        '{"hookSpecificOutput": {"decision": []}}',
        '{"decision": {}}',
    ]
    for event in events:
        for stdout in odd:
            for code in (0, 1, 2, 3):
                assert "error" not in read(dialect, event, exit=code, stdout=stdout, stderr="x")


def test_an_agent_that_is_only_read_is_not_declared_as_one_that_runs() -> None:
    every = answer(b'{"op": "dialects", "id": "1"}')["dialects"]
    assert {one["name"] for one in every if not one["runs"]} == set(AGENTS)
    assert not set(AGENTS) & set(dialects.names())
    assert [one["name"] for one in every if not one["scripts"]] == ["teaagent/1"]


@pytest.mark.parametrize("name", ["codex/1.0", "gemini-cli/0.60", "qwen"])
def test_an_unknown_version_is_an_error_in_words(name: str) -> None:
    assert name in read(name, "PreToolUse", exit=0)["error"]
