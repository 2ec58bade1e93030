"""Rows whose handlers ask a model: which can be expressed, how the model plays its script, and what is compared."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookproof import cli
from hookproof.agreement.expressible import left_out
from hookproof.agreement.model import Models, expressible

FAULTS = Path(__file__).parents[2] / "fixtures" / "faulty_runners"
RAN = {"tool": "Bash", "input": {"command": "echo RAN >> @W@/log/ran; echo main-out", "description": "d"}}
VERDICT = {"tool": "StructuredOutput", "input": {"ok": False, "reason": "AGNO"}}


def settings(kind: str, event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [{"type": kind, "prompt": "MARK $ARGUMENTS"}]}]}}


def seen(wrote: list[str], requests: int, end: str = "completed", **results: Any) -> dict[str, Any]:
    return {"tool_wrote": wrote, "model_requests": requests, "tool_results": results, "terminal_reason": end}


PROMPT_ROW = {
    "case": "a-prompt-refuses",
    "group": "g",
    "settings": settings("prompt"),
    "turns": [[RAN]],
    "script": {"toolless_reply": '{"ok": false, "reason": "PNO"}'},
    "observed": {
        "2.1.178": seen([], 2, t1=[True, "PreToolUse:Bash hook error: [MARK $ARGUMENTS]: PNO"]),
        "2.1.332": seen([], 1, "hook_stopped"),
    },
}
AGENT_TURNS = [[{"tool": "Bash", "input": {"command": "echo AGENT >> @W@/log/ran; echo agent-out"}}], [VERDICT]]
AGENT_ROW = {
    "case": "an-agent-looks-first",
    "group": "g",
    "settings": settings("agent"),
    "turns": [[RAN]],
    "script": {"routes": [{"contains": "MARK", "first": True, "turns": AGENT_TURNS}]},
    "observed": {
        version: seen(
            ["AGENT"], 4, t2=[False, "agent-out"], t1=[True, "PreToolUse:Bash hook error: Agent hook condition was not met: AGNO"]
        )
        for version in ("2.1.178", "2.1.332")
    },
}


def agree(tmp_path: Path, capsys: pytest.CaptureFixture[str], *rows: dict[str, Any], runner: str = "reference") -> dict[str, Any]:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    cli.main(["agree", str(file), "--json", "--runner", runner])
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_the_reference_does_what_was_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = agree(tmp_path, capsys, PROMPT_ROW, AGENT_ROW)
    assert said["agrees"], said["differing"]
    assert [account["statuses"] for account in said["versions"].values()] == [{"agrees": 2}] * 2


@pytest.mark.parametrize(
    ("fault", "row", "what"),
    [
        ("prompt-no-by-the-other-version", PROMPT_ROW, {"requests", "end", "blocked"}),
        ("verdicts-unread", AGENT_ROW, {"tool ran", "blocked"}),
        ("agents-cannot-act", AGENT_ROW, {"tool ran", "blocked"}),
        ("agents-reminded-by-the-other-version", {**AGENT_ROW, "script": {}}, {"tool ran", "requests", "blocked"}),
    ],
)
def test_a_runner_with_a_fault_disagrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, row: dict[str, Any], what: set[str]
) -> None:
    said = agree(tmp_path, capsys, row, runner=str(FAULTS / f"{fault}.py"))
    assert not said["agrees"]
    assert {difference["what"] for told in said["differing"] for difference in told["differences"]} == what


def test_a_reason_that_the_model_gave_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(json.dumps(AGENT_ROW).replace("not met: AGNO", "not met: OTHER"))
    said = agree(tmp_path, capsys, told)
    assert {difference["what"] for one in said["differing"] for difference in one["differences"]} == {"told"}


@pytest.mark.parametrize(
    ("name", "part", "well"),
    [
        ("toolless_reply", "ok", True),
        ("toolless_reply", ["a", "b"], True),
        ("toolless_reply", [], False),
        ("toolless_reply", {"ok": True}, False),
        ("routes", [], True),
        ("routes", [{"contains": "X", "not": "Y", "first": True, "turns": [[VERDICT]], "end": [{"text": "x"}]}], True),
        ("routes", [{"contains": "X", "turns": [[{"sleep": 1}, {"wait_file": "f", "max": 2}, {"text": "x"}]]}], True),
        ("routes", [{"turns": []}], False),
        ("routes", [{"contains": "X", "delay": 5}], False),
        ("routes", [{"contains": "X", "turns": [{"text": "x"}]}], False),
        ("routes", [{"contains": "X", "turns": [[{"tool": "Bash"}]]}], False),
        ("routes", [{"contains": "X", "turns": [[{"text": "x", "sleep": 1}]]}], False),
        ("api_error", {"status": 500}, False),
    ],
)
def test_which_scripts_can_be_played(name: str, part: Any, well: bool) -> None:
    assert expressible(name, part) is well


def test_a_route_that_takes_the_main_loops_requests_leaves_a_row_out() -> None:
    script = {"routes": [{"contains": "go"}]}
    fields = {"settings": settings("prompt"), "turns": [[RAN]], "script": script}
    assert left_out({**fields, "prompt": "go"}, "2.1.332") == ["script: a route that the main loop takes"]
    assert left_out({**fields, "prompt": "walk"}, "2.1.332") == []


@pytest.fixture
def models() -> Iterator[Models]:
    made = Models()
    yield made
    made.close()


def asked(text: str, *more: str, tools: bool = True) -> dict[str, Any]:
    messages = [{"role": "user", "content": [{"type": "text", "text": each}]} for each in (text, *more)]
    return {"messages": messages, "tools": [{"name": "Bash"}] if tools else []}


def test_routes_go_by_what_a_request_says(models: Models) -> None:
    model = models.serve(
        {
            "routes": [
                {"contains": "A", "first": True, "turns": [[{"text": "a1"}]], "end": [{"text": "a-end"}]},
                {"contains": "B", "not": "C", "turns": [[{"text": "b1"}]]},
            ],
            "toolless_reply": ["one", "two"],
        }
    )
    said = [
        model.choose(request)[0]["text"]
        for request in (
            asked("A"),
            asked("A"),
            asked("x", "A", tools=False),
            asked("x", "B"),
            asked("x", "B"),
            asked("B", "C", tools=False),
            asked("x", tools=False),
        )
    ]
    assert said == ["a1", "a-end", "one", "b1", "route done", "two", "two"]
    assert model.requests == 4


def test_results_are_kept_once(models: Models) -> None:
    model = models.serve({})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}], "is_error": True}
    request = {"messages": [{"role": "user", "content": [result]}], "tools": [{}]}
    for _ in range(2):
        model.choose(request)
    assert model.results == {"t1": (True, "x")}


def test_a_model_whose_row_is_over_does_not_sleep_on(models: Models) -> None:
    model = models.serve({})
    sleeper = threading.Thread(target=model.content, args=([{"sleep": 60}, {"wait_file": "/nowhere", "max": 60}],))
    sleeper.start()
    began = time.monotonic()
    models.forget(model)
    sleeper.join(10)
    assert not sleeper.is_alive()
    assert time.monotonic() - began < 5
