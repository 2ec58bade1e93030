"""The reference says what an end and an output mean, and starts nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookproof_reference.__main__ import answer

CLAUDE, LECODE = "claude-code/2.1.332", "lecode/1.0"


def read(dialect: str, event: str, **ran: Any) -> dict[str, Any]:
    return answer(json.dumps({"op": "read", "id": "1", "dialect": dialect, "event": event, "ran": ran}).encode())


def test_exit_code_1_passes_in_one_dialect_and_blocks_in_another() -> None:
    assert read(CLAUDE, "PreToolUse", exit=1, stderr="no")["blocks"] is False
    assert read(LECODE, "PreToolUse", exit=1, stderr="no")["blocks"] is True


def test_exit_code_2_blocks_with_its_stderr_as_the_reason() -> None:
    found = read(CLAUDE, "PreToolUse", exit=2, stderr="no")
    assert (found["verdict"], found["blocks"], found["reason"]) == ("deny", True, "[hook]: no")


def test_an_ask_holds_the_call_as_well() -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "sure?"}
    found = read(CLAUDE, "PreToolUse", exit=0, stdout=json.dumps({"hookSpecificOutput": own}))
    assert (found["verdict"], found["blocks"], found["reason"]) == ("ask", True, "sure?")


def test_a_wrong_event_name_is_a_failure_that_passes() -> None:
    own = {"hookEventName": "PostToolUse", "permissionDecision": "deny"}
    found = read(CLAUDE, "PreToolUse", exit=0, stdout=json.dumps({"hookSpecificOutput": own}))
    assert found["blocks"] is False
    assert "hookEventName" in found["failed"]


def test_a_timeout_and_a_signal_are_told_as_failures() -> None:
    assert "timed out" in read(CLAUDE, "PreToolUse", timed_out=True, timeout=5)["failed"]
    assert read(CLAUDE, "PreToolUse", signal=9)["failed"]


def test_plain_text_is_context_for_a_prompt_and_nothing_before_a_call() -> None:
    assert read(CLAUDE, "UserPromptSubmit", exit=0, stdout="mind the gap")["context"] == ["mind the gap"]
    assert read(CLAUDE, "PreToolUse", exit=0, stdout="mind the gap")["context"] == []


def test_what_ends_the_run_is_noted() -> None:
    assert read(CLAUDE, "PreToolUse", exit=0, stdout='{"continue": false}')["notes"] == ["ends the run"]


@pytest.mark.parametrize(("dialect", "event"), [(CLAUDE, "PreTooluse"), ("nobody/1", "Stop"), (LECODE, "SubagentStop")])
def test_an_unknown_dialect_or_event_is_an_error_in_words(dialect: str, event: str) -> None:
    assert event in read(dialect, event, exit=0)["error"] or dialect in read(dialect, event, exit=0)["error"]


def test_the_events_of_a_dialect_are_listed() -> None:
    found = answer(json.dumps({"op": "events", "id": "1", "dialect": CLAUDE}).encode())
    assert "PreToolUse" in found["events"]
