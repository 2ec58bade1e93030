"""What a posture decides: which expectation a core case has, and for whom it has none."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hookproof import posture
from hookproof.cases import Case, Expect
from hookproof.protocol import HelloAnswer, Posture, RunnerInfo, faults_of_hello

LECODE = posture.KNOWN["lecode/1.0"]
CLAUDE = posture.KNOWN["claude-code/2.1.178"]


def case(*choices: dict[str, Any], **expect: Any) -> Case:
    return msgspec.convert(
        {
            "id": "core/veto/x",
            "rule": "core-x",
            "why": "Something that is expected.",
            "call": {"tool": "shell"},
            "expect": expect,
            "by_posture": list(choices),
            "killed_by": ["some-fault"],
        },
        Case,
    )


def hello(**declared: Any) -> HelloAnswer:
    return HelloAnswer(protocol=1, runner=RunnerInfo(name="r"), **declared)


EXIT = {"on": "failure.exit", "is": {"closed": {"tool_runs": 0, "hook": "deny"}, "open": {"tool_runs": 1, "hook": "none"}}}


@pytest.mark.parametrize(("declared", "runs", "hook"), [(LECODE, 0, "deny"), (CLAUDE, 1, "none")])
def test_each_posture_has_its_own_expectation(declared: Posture, runs: int, hook: str) -> None:
    resolved = posture.resolve(case(EXIT, started=["h1"]), declared)
    assert isinstance(resolved, Case)
    assert (resolved.expect.started, resolved.expect.tool_runs, resolved.expect.hook) == (["h1"], runs, hook)
    assert not resolved.by_posture


def test_all_choices_hold_together() -> None:
    order = {"on": "order", "is": {"sequential": {"started": ["h1", "h2"]}}}
    resolved = posture.resolve(case(order, EXIT), LECODE)
    assert isinstance(resolved, Case)
    assert (resolved.expect.started, resolved.expect.tool_runs) == (["h1", "h2"], 0)


def test_a_word_without_an_expectation_makes_the_case_not_applicable_and_says_why() -> None:
    why = posture.resolve(case({"on": "order", "is": {"sequential": {"started": ["h1"]}}}), CLAUDE)
    assert why == "the posture order is parallel: this case asks for sequential"


def test_a_case_without_choices_is_the_same_for_everybody() -> None:
    plain = case(tool_runs=1)
    assert posture.resolve(plain, None) is plain
    assert posture.resolve(case(EXIT), None) == "the runner declares no posture"


def test_a_number_of_the_posture_is_a_word_too() -> None:
    assert posture.word(CLAUDE, "timeout_default") == "600"
    assert posture.word(CLAUDE, "failure.cannot_start") == "open"


def test_what_a_posture_demands_replaces_the_same_demand_and_leaves_the_others() -> None:
    more = posture.merged(Expect(tool_runs=1, hook="allow"), Expect(tool_runs=0))
    assert (more.tool_runs, more.hook) == (0, "allow")


def test_a_demanded_null_is_a_demand() -> None:
    assert posture.merged(Expect(tool_input={"a": 1}), Expect(tool_input=None)).tool_input is None
    assert posture.merged(Expect(tool_input={"a": 1}), Expect()).tool_input == {"a": 1}


def test_a_known_dialect_has_its_own_posture_whatever_the_runner_declares() -> None:
    declared = hello(dialects=["lecode/1.0", "core/1"], posture=CLAUDE)
    assert posture.of("lecode", "1.0", declared) == LECODE
    assert posture.of("core", "1", declared) == CLAUDE


def test_a_runner_of_core_must_declare_a_posture() -> None:
    assert "no posture" in (faults_of_hello(hello(dialects=["core/1"])) or "")
    assert faults_of_hello(hello(dialects=["core/1"], posture=LECODE)) is None
    assert faults_of_hello(hello(dialects=["lecode/1.0"])) is None
