"""What handlers of Claude Code get on stdin has the keys of captured payloads, version by version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference import ToolUse
from hookproof_reference.dialects.claude_code.events import EVENTS

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = "2.1.178", "2.1.332"
PAYLOADS = Path(__file__).parents[2] / "fixtures" / "payloads" / "claude-code"
CAPTURED = sorted(path.relative_to(PAYLOADS).as_posix() for path in PAYLOADS.glob("*/*.json"))

FROM_THE_LOOP = {
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
}
"""The events that the loop fires itself; of all others the fields come from the host."""


def shape(value: Any) -> Any:
    """The keys of an object and of those in it, in order."""
    return {key: shape(inner) for key, inner in value.items()} if isinstance(value, dict) else None


def sent(claude: ClaudeProject, version: str, payload: dict[str, Any]) -> Any:
    """What a handler gets when the same thing happens here."""
    event = payload["hook_event_name"]
    claude.hooks({event: [claude.handler("h1")]})
    agent = payload.get("agent_type") if event in FROM_THE_LOOP else None
    runner = claude.runner(version, host="ask" if event == "PermissionRequest" else "allow", session={"agent": agent})
    if event not in FROM_THE_LOOP:
        runner.fire(event, {key: value for key, value in payload.items() if key in EVENTS[event].own or key not in COMMON})
    elif event == "UserPromptSubmit":
        runner.prompt(payload["prompt"])
    elif event in ("Stop", "SubagentStop"):
        runner.end(payload["last_assistant_message"])
    else:
        call = payload["tool_calls"][0] if event == "PostToolBatch" else payload
        program = claude.folder / "tool"
        program.write_text("#!/bin/sh\n" + ("echo boom >&2; exit 3" if event == "PostToolUseFailure" else "printf hi") + "\n")
        program.chmod(0o755)
        runner.turn([ToolUse("toolu_1", call["tool_name"], call["tool_input"], str(program))])
    return claude.read_by("h1")[0]


COMMON = {"session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "effort", "hook_event_name"}
OF_OTHER_TOOLS = {"tool_response", "permission_suggestions", "tool_calls"}
"""Keys whose inside is the affair of a tool that is not imitated here, or of what a person could choose."""


@pytest.mark.parametrize("captured", CAPTURED)
def test_an_envelope_has_exactly_the_keys_of_the_captured_one(claude: ClaudeProject, captured: str) -> None:
    payload = json.loads((PAYLOADS / captured).read_text())
    envelope = sent(claude, captured.partition("/")[0], payload)
    assert list(envelope) == list(payload)
    for key in payload.keys() - OF_OTHER_TOOLS:
        assert shape(envelope[key]) == shape(payload[key])
        assert type(envelope[key]) is type(payload[key])


def test_there_are_payloads_of_both_versions() -> None:
    assert [len([c for c in CAPTURED if c.startswith(version)]) for version in (OLD, NEW)] == [35, 38]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_the_results_of_bash_and_read_have_the_shape_of_the_captured_ones(claude: ClaudeProject, version: str) -> None:
    for name in ("Bash", "Read"):
        payload = json.loads((PAYLOADS / version / f"PostToolUse.{name}.json").read_text())
        assert shape(sent(claude, version, payload)["tool_response"]) == shape(payload["tool_response"])
        (claude.folder / "h1.in").unlink()


@pytest.mark.parametrize("version", [OLD, NEW])
def test_an_envelope_is_one_compact_line_of_utf_8_with_its_end(claude: ClaudeProject, version: str) -> None:
    claude.configure(UserPromptSubmit=[claude.handler("h1")])
    claude.runner(version).prompt("Grüße\n\u2028 \ud83d")
    raw = (claude.folder / "h1.in").read_bytes()
    assert raw.endswith(b"}\n")
    assert raw.count(b"\n") == 1
    assert '"prompt":"Grüße\\n\u2028 \\ud83d"'.encode() in raw


@pytest.mark.parametrize("version", [OLD, NEW])
def test_an_envelope_names_session_folder_and_transcript(claude: ClaudeProject, version: str) -> None:
    claude.configure(Stop=[claude.handler("h1")])
    claude.runner(version, session={"permission_mode": "acceptEdits"}).end("bye")
    (seen,) = claude.read_by("h1")
    assert (seen["session_id"], seen["cwd"], seen["permission_mode"]) == ("s1", str(claude.folder), "acceptEdits")
    assert seen["transcript_path"].startswith(f"{claude.home}/.claude/projects/-")
    assert seen["transcript_path"].endswith("-project/s1.jsonl")


def test_each_prompt_has_a_name_of_its_own(claude: ClaudeProject) -> None:
    claude.configure(UserPromptSubmit=[claude.handler("h1")], Stop=[claude.handler("h2")])
    runner = claude.runner(NEW)
    for _ in range(2):
        runner.prompt("hi")
        runner.end("bye")
    prompts, stops = ([seen["prompt_id"] for seen in claude.read_by(name)] for name in ("h1", "h2"))
    assert prompts == stops
    assert prompts[0] != prompts[1]
