"""What a handler did becomes an answer."""

from __future__ import annotations

import pytest

from hookproof_reference.dialects.lecode import DIALECT, EVENTS
from hookproof_reference.execution import Ran
from hookproof_reference.reading import Answer, read
from hookproof_reference.settings import Configured

HANDLER = Configured("PreToolUse", "./guard", 10.0)
ALLOW = '{"verdict": "allow"}'
NO_VERDICT = "missing or invalid 'verdict' in output"

FAILURES = [
    (Ran(HANDLER, exit=1, stderr="boom\n"), "exit code 1: boom"),
    (Ran(HANDLER, exit=1, stdout=ALLOW), "exit code 1"),
    (Ran(HANDLER, exit=2, stdout=ALLOW), "exit code 2"),
    (Ran(HANDLER, exit=127, stderr="x" * 300), "exit code 127: " + "x" * 200),
    (Ran(HANDLER, signal=9, stdout=ALLOW), "exit code -9"),
    (Ran(HANDLER, timed_out=True, stdout=ALLOW), "timed out after 10.0s"),
    (Ran(HANDLER, cannot_start="Argument list too long"), "cannot start: Argument list too long"),
    (Ran(HANDLER, exit=0, stdout="not json"), "invalid JSON output"),
    (Ran(HANDLER, exit=0, stdout="checking ...\n" + ALLOW), "invalid JSON output"),
    (Ran(HANDLER, exit=0, stdout=ALLOW + ALLOW), "invalid JSON output"),
    (Ran(HANDLER, exit=0, stdout="\ufeff" + ALLOW), "invalid JSON output"),
    (Ran(HANDLER, exit=0, stdout="[" * 100_000), "invalid JSON output"),
    (Ran(HANDLER, exit=0, stdout="{}"), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout="[]"), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout="null"), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout='{"verdict": null}'), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout='{"verdict": "block"}'), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout='{"verdict": " deny"}'), NO_VERDICT),
    (Ran(HANDLER, exit=0, stdout='{"hookSpecificOutput": {"permissionDecision": "allow"}}'), NO_VERDICT),
]


@pytest.mark.parametrize(("ran", "detail"), FAILURES)
@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit"])
def test_a_failure_denies_on_an_enforced_event(ran: Ran, detail: str, event: str) -> None:
    assert read(ran, event, DIALECT) == Answer("deny", f"hook failed: {detail}", failed=detail)


@pytest.mark.parametrize(("ran", "detail"), FAILURES)
@pytest.mark.parametrize("event", sorted(EVENTS.keys() - {"PreToolUse", "UserPromptSubmit"}))
def test_a_failure_abstains_on_every_other_event(ran: Ran, detail: str, event: str) -> None:
    assert read(ran, event, DIALECT) == Answer(failed=detail)


@pytest.mark.parametrize("stdout", ["", " \n\t"])
def test_an_empty_answer_abstains(stdout: str) -> None:
    assert read(Ran(HANDLER, exit=0, stdout=stdout), "PreToolUse", DIALECT) == Answer()


@pytest.mark.parametrize("verdict", ["allow", "defer", "ask", "deny", "DENY"])
def test_each_verdict_is_read_in_any_case_of_letters(verdict: str) -> None:
    ran = Ran(HANDLER, exit=0, stdout=f'{{"verdict": "{verdict}", "reason": "because"}}\n')
    assert read(ran, "PreToolUse", DIALECT) == Answer(verdict.lower(), "because")


@pytest.mark.parametrize(("reason", "read_as"), [("null", ""), ("7", "7"), ('["a"]', "['a']"), ('""', "")])
def test_a_reason_of_any_type_is_made_text(reason: str, read_as: str) -> None:
    ran = Ran(HANDLER, exit=0, stdout=f'{{"verdict": "deny", "reason": {reason}}}')
    assert read(ran, "PreToolUse", DIALECT).reason == read_as


@pytest.mark.parametrize(
    ("rewrite", "read_as"), [('{"a": 1}', {"a": 1}), ("{}", {}), ("[1]", None), ('"ls"', None), ("null", None)]
)
def test_only_an_object_is_a_rewrite(rewrite: str, read_as: object) -> None:
    ran = Ran(HANDLER, exit=0, stdout=f'{{"verdict": "allow", "rewritten_input": {rewrite}}}')
    assert read(ran, "PreToolUse", DIALECT).rewrite == read_as


def test_a_rewrite_on_another_event_is_ignored() -> None:
    ran = Ran(HANDLER, exit=0, stdout='{"verdict": "allow", "rewritten_input": {"prompt": "other"}}')
    assert read(ran, "UserPromptSubmit", DIALECT) == Answer("allow")
