"""The same file is judged by what was chosen: a version, a compatibility rule, the gate of a document."""

from __future__ import annotations

import pytest

from hookproof_reference.gate.finding import Finding
from hookproof_reference.gate.lint import lint_text
from hookproof_reference.gate.profiles import EVENTS_178, EVENTS_332, EVENTS_SEED, MODEL_EVENTS_13, UnknownProfile, profile

# the two configurations of the document hook-engineering (001), word for word
_SAMPLE = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Write|Edit",
        "hooks": [
          {
            "type": "command",
            "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/protect-client-paths.py",
            "args": [],
            "timeout": 10,
            "statusMessage": "Checking protected client paths"
          }
        ]
      }
    ],
    "UserPromptExpansion": [
      {
        "matcher": "publish-client-deck",
        "hooks": [
          {
            "type": "command",
            "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/check-command-expansion.py",
            "args": [],
            "timeout": 10
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Write|Edit",
        "hooks": [
          {
            "type": "mcp_tool",
            "server": "audit-ledger",
            "tool": "record_hook_event",
            "input": {
              "event": "${hook_event_name}",
              "path": "${toolInput.file_path}"
            },
            "timeout": 15
          }
        ]
      }
    ]
  }
}
"""
_RULE_1 = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "if": "Bash(git push *)",
            "command": "${CLAUDE_PROJECT_DIR}/.claude/hooks/check-git-push.py",
            "args": []
          }
        ]
      }
    ]
  }
}
"""


def _alarms(text: str, name: str, compat: str | None = None) -> list[Finding]:
    return [finding for finding in lint_text(text, profile(name, compat)) if finding.alarm]


def _at(event: str, kind: str = "command") -> str:
    fields = {
        "command": '"command": "date", "timeout": 5',
        "prompt": '"prompt": "Is it safe?"',
        "http": '"url": "https://example.com/"',
    }
    other = ', {"type": "command", "command": "date", "timeout": 5}' if kind == "prompt" else ""
    return f'{{"hooks": {{"{event}": [{{"hooks": [{{"type": "{kind}", {fields[kind]}}}{other}]}}]}}}}'


def test_the_sample_of_the_document_is_accepted_by_the_rule_of_thirteen() -> None:
    assert _alarms(_SAMPLE, "documented-13") == []
    assert _alarms(_SAMPLE, "claude-code", "documented-13") == []


def test_the_sample_is_refused_by_the_documents_own_gate_and_the_contradiction_is_told() -> None:
    found = [finding for finding in lint_text(_SAMPLE, profile("hook-engineering")) if finding.severity == "error"]
    assert [(finding.rule, finding.line, finding.pointer, finding.label) for finding in found] == [
        ("event-not-in-gate", 17, "/hooks/UserPromptExpansion", "HOOKS-CRITICAL")
    ]
    assert "contradicts itself" in found[0].message
    assert "unknown event name" in found[0].message


@pytest.mark.parametrize("name", ["claude-code", "claude-code@2.1.178", "conservative-3", "documented-13", "hook-engineering"])
def test_the_sample_of_rule_one_is_accepted_everywhere(name: str) -> None:
    assert _alarms(_RULE_1, name) == []


def test_without_a_choice_the_conservative_rule_speaks_and_names_the_other() -> None:
    found = [finding for finding in lint_text(_at("Stop", "prompt")) if finding.rule == "model-handler-narrow"]
    assert [finding.severity for finding in found] == ["info"]
    assert "conservative-3" in found[0].message
    assert "documented-13" in found[0].message


@pytest.mark.parametrize("event", sorted(MODEL_EVENTS_13))
def test_the_two_rules_differ_on_ten_events(event: str) -> None:
    narrow = event in {"PreToolUse", "PostToolUse", "PermissionRequest"}
    assert _alarms(_at(event, "prompt"), "documented-13") == []
    assert [finding.rule for finding in _alarms(_at(event, "prompt"), "conservative-3")] == (
        [] if narrow else ["model-handler-narrow"]
    )


@pytest.mark.parametrize("event", EVENTS_SEED)
def test_all_events_of_the_documents_gate_are_one_tier(event: str) -> None:
    assert lint_text(_at(event), profile("hook-engineering")) == []


@pytest.mark.parametrize("event", EVENTS_332)
def test_every_event_of_a_version_is_accepted_there(event: str) -> None:
    assert _alarms(_at(event), "claude-code@2.1.332") == []
    older = [finding.rule for finding in _alarms(_at(event), "claude-code@2.1.178")]
    assert older == ([] if event in EVENTS_178 else ["event-not-in-version"])


@pytest.mark.parametrize(
    ("version", "event", "consequence"),
    [
        ("2.1.178", "PreToolUse", "file dropped"),
        ("2.1.178", "PostToolUse", "file dropped"),
        ("2.1.332", "PreToolUse", "file dropped"),
        ("2.1.332", "PostToolUse", "entry dropped"),
    ],
)
def test_what_a_bad_entry_takes_with_it_depends_on_version_and_event(version: str, event: str, consequence: str) -> None:
    found = _alarms(f'{{"hooks": {{"{event}": [{{"hooks": [{{"type": "command"}}]}}]}}}}', f"claude-code@{version}")
    assert [(finding.rule, finding.consequence) for finding in found] == [("field-missing", consequence)]


def test_acceptance_is_a_conjunction_and_each_part_is_refused_for_its_own_reason() -> None:
    nested = _at("PreToolUse")
    flat = '{"hooks": {"PreToolUse": [{"type": "command", "command": "date", "timeout": 5}]}}'
    wrong_type = nested.replace('"type": "command"', '"type": "shell"')
    assert _alarms(nested, "claude-code") == []
    assert {finding.rule for finding in _alarms(flat, "claude-code")} == {"flat-handler"}
    assert {finding.rule for finding in _alarms(wrong_type, "claude-code")} == {"type-unknown"}


@pytest.mark.parametrize("name", ["claude", "claude-code@", "claude-code@2.x", "documented-14"])
def test_an_unknown_profile_is_told_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UnknownProfile, match=r"claude-code@2\.1\.178"):
        profile(name)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"hooks": {}}',
        '{"statusLine": {"type": "command", "command": "date"}, "env": {"AUDIT_TOKEN_FILE": "/run/token"}}',
        '{"outputStyle": "Explanatory", "permissions": {"allow": ["Bash(ls *)"]}}',
        '{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "log-call", "timeout": 0.5}]}]}}',
        '{"hooks": {"PostToolUse": [{"hooks": [{"type": "agent", "prompt": "Check it.", "timeout": 90}]}]}}',
    ],
)
def test_what_is_right_alarms_nobody(text: str) -> None:
    assert _alarms(text, "claude-code") == []
