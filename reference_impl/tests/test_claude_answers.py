"""What handlers of Claude Code print and how they exit becomes an answer. Each row was seen on the program itself."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference import dialects, merging, reading
from hookproof_reference.dialects.claude_code import answers
from hookproof_reference.execution import Ran
from hookproof_reference.reading import Answer
from hookproof_reference.settings import Configured

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)
DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "R"}


def own(**fields: Any) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}})


def read(
    version: str, stdout: str = "", exit: int | None = 0, event: str = "PreToolUse", stderr: str = "", **more: Any
) -> Answer:
    handler = Configured(event, "cmd", 1.0, on_failure=more.pop("on_failure", None))
    return reading.read(Ran(handler, exit, stdout=stdout, stderr=stderr, **more), event, dialects.load(f"claude-code/{version}"))


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127, 255])
@pytest.mark.parametrize("version", BOTH)
def test_json_decides_on_every_exit_code(version: str, code: int) -> None:
    answer = read(version, own(permissionDecision="deny", permissionDecisionReason="R"), code, stderr="E")
    assert (answer.verdict, answer.reason) == ("deny", "R")


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127, 255])
@pytest.mark.parametrize("version", BOTH)
def test_without_json_only_exit_code_2_blocks(version: str, code: int) -> None:
    assert read(version, "text", code, stderr="E").verdict is None


@pytest.mark.parametrize(
    ("stdout", "stderr", "reason"),
    [
        ("", "E", "[cmd]: E"),
        ("text", "", "[cmd]: No stderr output"),
        (own(permissionDecision="allow"), "E", "[cmd]: E"),
        ("{}", "E", "[cmd]: E"),
        (own(permissionDecision="deny", permissionDecisionReason="R"), "E", "R"),
        ("{broken", "E", "[cmd]: E"),
    ],
)
@pytest.mark.parametrize("version", BOTH)
def test_exit_code_2_blocks_and_only_a_deny_in_json_has_another_reason(
    version: str, stdout: str, stderr: str, reason: str
) -> None:
    answer = read(version, stdout, 2, stderr=stderr)
    assert (answer.verdict, answer.reason) == ("deny", reason)


MISFITS = [
    own(permissionDecision="banana"),
    own(permissionDecision="Deny"),
    own(permissionDecision="deny", permissionDecisionReason=5),
    own(permissionDecision="deny", updatedInput=None),
    own(permissionDecision="deny", updatedInput=[]),
    own(permissionDecision="deny", additionalContext=5),
    json.dumps({"hookSpecificOutput": {**DENY, "hookEventName": "Stop"}}),
    json.dumps({"hookSpecificOutput": {k: v for k, v in DENY.items() if k != "hookEventName"}}),
    json.dumps({"hookSpecificOutput": DENY, "systemMessage": 5}),
    json.dumps({"hookSpecificOutput": DENY, "continue": "false"}),
    json.dumps({"hookSpecificOutput": DENY, "reason": None}),
    json.dumps({"decision": "deny"}),
]


@pytest.mark.parametrize("stdout", MISFITS)
@pytest.mark.parametrize("version", BOTH)
def test_json_that_does_not_fit_comes_to_no_verdict_and_is_told(version: str, stdout: str) -> None:
    answer = read(version, stdout)
    assert answer.verdict is None
    assert "does not fit" in str(answer.failed)


@pytest.mark.parametrize("stdout", MISFITS)
def test_beside_json_that_does_not_fit_exit_code_2_blocks_only_at_the_newer_version(stdout: str) -> None:
    assert [read(version, stdout, 2).verdict for version in BOTH] == [None, "deny"]


@pytest.mark.parametrize(
    "stdout",
    [
        json.dumps({"hookSpecificOutput": DENY}),
        "\n\n   " + json.dumps({"hookSpecificOutput": DENY}),
        "\ufeff" + json.dumps({"hookSpecificOutput": DENY}),
        json.dumps({"hookSpecificOutput": DENY}, indent=2),
        json.dumps({"hookSpecificOutput": {**DENY, "bogus": 1}, "more": 1}),
        json.dumps({"decision": "block", "reason": "R"}),
        json.dumps({"decision": "approve", "hookSpecificOutput": DENY}),
        '{"decision": "approve", "decision": "block", "reason": "R"}',
    ],
)
@pytest.mark.parametrize("version", BOTH)
def test_these_are_denies(version: str, stdout: str) -> None:
    answer = read(version, stdout)
    assert (answer.verdict, answer.reason) == ("deny", "R")


@pytest.mark.parametrize(
    "stdout",
    [
        "hello\n" + json.dumps({"hookSpecificOutput": DENY}),
        json.dumps({"hookSpecificOutput": DENY}) + "\ntrailing",
        json.dumps({"hookSpecificOutput": DENY}) * 2,
        json.dumps({"hookSpecificOutput": DENY})[:-3],
        json.dumps([{"hookSpecificOutput": DENY}]),
        '"deny"',
        "1",
        '{"async": true, "decision": "block"}',
        '{"decision": "block", "x": NaN}',
        "{" * 50_000,
    ],
)
@pytest.mark.parametrize("version", BOTH)
def test_these_are_no_verdicts(version: str, stdout: str) -> None:
    assert read(version, stdout).verdict is None


@pytest.mark.parametrize(
    "how", [{"timed_out": True}, {"signal": 9}, {"cannot_start": "no such file"}], ids=["timeout", "signal", "cannot start"]
)
@pytest.mark.parametrize("version", BOTH)
def test_a_handler_that_did_not_end_well_lets_the_call_pass(version: str, how: dict[str, Any]) -> None:
    answer = read(version, json.dumps({}) if "signal" not in how else "", None, **how)
    assert answer.verdict is None
    assert answer.failed is not None


@pytest.mark.parametrize(
    ("ran", "verdict"),
    [
        ({"exit": 1}, "deny"),
        ({"exit": None, "signal": 9}, "deny"),
        ({"exit": None, "timed_out": True}, "deny"),
        ({"exit": None, "cannot_start": "x"}, "deny"),
        ({"stdout": own(permissionDecision="banana")}, "deny"),
        ({"exit": 1, "stdout": own(permissionDecision="allow")}, "deny"),
        ({"stdout": "text"}, None),
        ({"stdout": "{broken"}, None),
        ({"stdout": "{}"}, None),
        ({"exit": 1, "event": "Stop"}, None),
    ],
    ids=repr,
)
def test_a_handler_can_ask_that_its_failure_blocks(ran: dict[str, Any], verdict: str | None) -> None:
    assert read(NEW, on_failure="block", **ran).verdict == verdict


@pytest.mark.parametrize("event", sorted(answers.EXIT_2_WITHOUT_EFFECT))
@pytest.mark.parametrize("version", BOTH)
def test_at_some_events_exit_code_2_is_an_error_like_any_other(version: str, event: str) -> None:
    assert read(version, exit=2, event=event).verdict is None


@pytest.mark.parametrize(
    ("head", "leaves"),
    [
        (b'{"async": true}\n', True),
        (b'{\n "async": true\n}', True),
        (b'hello\n{"async": true, "asyncTimeout": 5}', True),
        (b'{"hookSpecificOutput": {"a": 1}, "async": true}', True),
        (b'{"async": false}', False),
        (b'{"async": tr', False),
        (b'"async": true', False),
        (b"", False),
    ],
)
def test_what_asks_to_go_on_in_the_background(head: bytes, leaves: bool) -> None:
    assert answers.goes_on_in_background(head) == leaves


ORDER = ["allow", "ask", "defer", "deny"]
"""Written down once more: deny > defer > ask > allow."""

given_answers = st.lists(
    st.builds(
        Answer,
        st.sampled_from([*ORDER, None]),
        st.sampled_from(["", "one", "two"]),
        st.none() | st.fixed_dictionaries({"n": st.integers(0, 9)}),
    ),
    max_size=5,
)
PROPERTY = settings(max_examples=200, deadline=None, database=None, derandomize=True)


@pytest.mark.parametrize("verdicts", [*product(ORDER, repeat=2), *product(ORDER, repeat=3)], ids=" ".join)
@pytest.mark.parametrize("version", BOTH)
def test_the_most_severe_verdict_wins_in_every_order(version: str, verdicts: tuple[str, ...]) -> None:
    dialect = dialects.load(f"claude-code/{version}")
    assert merging.merge([Answer(v) for v in verdicts], dialect).verdict == sorted(verdicts, key=ORDER.index)[-1]


@pytest.mark.parametrize(
    ("verdict", "old", "new"), [("deny", "second", "second"), ("ask", "second", "first"), ("allow", "second", "second")]
)
def test_whose_reason_is_reported(verdict: str, old: str, new: str) -> None:
    both = [Answer(verdict, "first"), Answer(verdict, "second")]
    assert [merging.merge(both, dialects.load(f"claude-code/{version}")).reason for version in BOTH] == [old, new]


@pytest.mark.parametrize(
    ("pair", "old", "new"),
    [
        ((Answer("allow", rewrite={"n": 1}), Answer("allow", rewrite={"n": 2})), 2, 2),
        ((Answer("allow", rewrite={"n": 1}), Answer("allow")), None, 1),
        ((Answer("allow"), Answer("allow", rewrite={"n": 1})), 1, 1),
        ((Answer(rewrite={"n": 1}), Answer("allow")), 1, 1),
        ((Answer("allow"), Answer(rewrite={"n": 1})), 1, 1),
        ((Answer("allow", rewrite={"n": 1}), Answer()), 1, 1),
        ((Answer(rewrite={"n": 1}), Answer()), 1, 1),
    ],
)
def test_whose_rewrite_is_applied(pair: tuple[Answer, Answer], old: int | None, new: int | None) -> None:
    merged = [merging.merge(pair, dialects.load(f"claude-code/{version}")) for version in BOTH]
    assert [m.rewrite and m.rewrite["n"] for m in merged] == [old, new]


@given(given_answers, st.integers(0, 5), st.sampled_from(BOTH))
@PROPERTY
def test_a_silent_handler_changes_nothing_wherever_it_ends(several: list[Answer], place: int, version: str) -> None:
    dialect = dialects.load(f"claude-code/{version}")
    assert merging.merge([*several[:place], Answer(), *several[place:]], dialect) == merging.merge(several, dialect)


@given(given_answers, st.sampled_from(BOTH))
@PROPERTY
def test_one_more_allow_never_loosens(several: list[Answer], version: str) -> None:
    dialect = dialects.load(f"claude-code/{version}")
    before, after = (merging.merge(x, dialect).verdict for x in (several, [*several, Answer("allow")]))
    assert after == (before or "allow")
