"""Handlers that plugins, agents and skills bring: what their files may hold, and that a damaged one costs only itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference import dialects
from hookproof_reference.dialects.claude_code import bundles, firstlines, frontmatter, plugins
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.settings import Configured

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = VERSIONS["2.1.178"], VERSIONS["2.1.332"]
EVENTS = dialects.load("claude-code/2.1.332").events
LS = {"command": "ls"}

FIELDS = """---
name: deploy
description: "ships: it"
tools: ["Bash", "Read"]
hooks:
  PreToolUse:
    - matcher: 'Bash|Read'
      hooks:
        - type: command
          command: 'echo "x" >&2; exit 2'   # refuses
          once: true
          timeout: 1.5
  Stop:
  - hooks:
    -
      type: command
      command: true && ls
empty:
---
Body: {not read}
"""


def test_the_first_lines_are_read_as_yaml_has_them() -> None:
    assert firstlines.head(FIELDS) == {
        "name": "deploy",
        "description": "ships: it",
        "tools": ["Bash", "Read"],
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "Bash|Read",
                    "hooks": [{"type": "command", "command": 'echo "x" >&2; exit 2', "once": True, "timeout": 1.5}],
                }
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "true && ls"}]}],
        },
        "empty": None,
    }


@pytest.mark.parametrize("text", ["", "no lines", "---\nnever closed\n", "--- \nname: x\n", "\n---\nname: x\n---\n"])
def test_a_file_without_such_lines_has_none(text: str) -> None:
    assert firstlines.head(text) is None


@pytest.mark.parametrize(
    "inside",
    [
        "name: |\n  long",
        "- a\n- b",
        "name: x\n  deeper: y",
        "just a text",
        "a: &b x",
        'a: "open',
        "a: 'open",
        "a: 'b' c",
        "a: [1,",
        "? a\n: b",
    ],
)
def test_what_cannot_be_read_is_refused(inside: str) -> None:
    with pytest.raises(ValueError):
        firstlines.head(f"---\n{inside}\n---\n")


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(st.text(alphabet=st.sampled_from("-: \n\"'[]{}|#>&*!ab1"), max_size=60) | st.text(max_size=40))
def test_any_first_lines_are_read_or_refused(text: str) -> None:
    try:
        assert isinstance(firstlines.head(f"---\n{text}\n---\n"), dict | None)
    except (ValueError, RecursionError):
        pass


def plugin(folder: Path, **files: Any) -> str:
    """A plugin's folder; `manifest` and `hooks` are its two files."""
    for name, path in (("manifest", ".claude-plugin/plugin.json"), ("hooks", "hooks/hooks.json")):
        if name in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(files[name] if isinstance(files[name], str) else json.dumps(files[name]), "utf-8")
    return str(folder)


def group(command: str = "true", kind: str = "command") -> list[Any]:
    return [{"hooks": [{"type": kind, "command": command}]}]


@pytest.mark.parametrize(
    "files",
    [
        {"manifest": "[1]"},
        {"manifest": "{"},
        {"manifest": {"name": 5}},
        {"manifest": "[" * 100_000},
        {"manifest": {"name": "p", "hooks": "./missing.json"}},
        {"manifest": {"name": "p", "hooks": "."}},
        {"manifest": {"name": "p"}, "hooks": "{"},
        {"manifest": {"name": "p"}, "hooks": "null"},
        {"manifest": {"name": "p"}, "hooks": {"PreToolUse": group()}},
        {"manifest": {"name": "p"}, "hooks": {"hooks": {"PreToolUse": group(kind="banana")}}},
        {"manifest": {"name": "p"}, "hooks": {"hooks": {"PostToolUse": group(kind="banana"), "PreToolUse": group()}}},
        {"manifest": {"name": "p"}, "hooks": {"hooks": []}},
        {"manifest": {"name": "p"}, "hooks": {"hooks": {"PreToolUse": "x"}}},
    ],
)
@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_damaged_plugin_is_refused_in_words(tmp_path: Path, files: dict[str, Any], version: Any) -> None:
    with pytest.raises(plugins.Damaged) as why:
        plugins.load(plugin(tmp_path, **files), "/home/dev", [], EVENTS, version)
    assert str(why.value)


def test_a_folder_without_anything_is_an_empty_plugin(tmp_path: Path) -> None:
    bundle, handlers = plugins.load(str(tmp_path / "guard"), "/home/dev", [], EVENTS, NEW)
    assert (bundle.ident, handlers) == ("guard@inline", [])


def test_options_of_odd_forms_are_no_options(tmp_path: Path) -> None:
    folder = plugin(tmp_path, manifest={"name": "p"})
    odd: list[dict[str, Any]] = [
        {"pluginConfigs": 5},
        {"pluginConfigs": {"p@inline": []}},
        {"pluginConfigs": {"p@inline": {"options": "x"}}},
        {"pluginConfigs": {"p@inline": {"options": {"a.b": 7, "c": None, "d": "e"}}}},
    ]
    bundle, _ = plugins.load(folder, "/home/dev", odd, EVENTS, NEW)
    assert bundle.env() == {
        "CLAUDE_PLUGIN_ROOT": folder,
        "CLAUDE_PLUGIN_DATA": "/home/dev/.claude/plugins/data/p-inline",
        "CLAUDE_PLUGIN_OPTION_A_B": "7",
        "CLAUDE_PLUGIN_OPTION_D": "e",
    }


@pytest.mark.parametrize(
    ("words", "bundle", "said"),
    [
        (("${CLAUDE_PLUGIN_ROOT}/x",), None, "belongs to no plugin"),
        (("x", "${CLAUDE_PLUGIN_DATA}"), bundles.Bundle("/skill"), "CLAUDE_PLUGIN_DATA"),
        (("x ${user_config.a}",), bundles.Bundle("/p", "p@inline", "/d", {"a": "b"}), "args only"),
        (("x", "${user_config.z}"), bundles.Bundle("/p", "p@inline", "/d", {"a": "b"}), '"z"'),
    ],
)
def test_a_placeholder_without_a_value_is_said(words: tuple[str, ...], bundle: bundles.Bundle | None, said: str) -> None:
    handler = Configured("Stop", words[0], 1.0, arguments=words[1:] or None)
    with pytest.raises(bundles.Misplaced, match=said):
        bundles.dressed(handler, bundle)


def test_a_filled_in_value_is_not_filled_in_again() -> None:
    handler = Configured("Stop", "x", 1.0, arguments=("${user_config.a}",))
    bundle = bundles.Bundle("/p", "p@inline", "/d", {"a": "${CLAUDE_PLUGIN_ROOT}"})
    assert bundles.dressed(handler, bundle).arguments == ("${CLAUDE_PLUGIN_ROOT}",)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".", "a b", "\0", "x\ny"])
def test_a_skill_cannot_lead_out_of_its_folder(tmp_path: Path, name: str) -> None:
    assert frontmatter.skill(str(tmp_path), name, EVENTS, NEW) is None


@pytest.mark.parametrize("hooks", ["5", "[]", '{"PreToolUse": 5}', '{"PreToolUse": [{"hooks": [{"type": "banana"}]}]}', "{"])
def test_an_agent_with_unusable_hooks_brings_none(tmp_path: Path, hooks: str) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "a.md").write_text(f"---\nname: a\nhooks: {hooks}\n---\n", "utf-8")
    assert frontmatter.agent(str(tmp_path), "a", EVENTS, NEW) == []


@pytest.mark.parametrize("version", [OLD.number, NEW.number])
def test_a_damaged_plugin_is_logged_and_the_rest_goes_on(claude: ClaudeProject, tmp_path: Path, version: str) -> None:
    claude.configure(PreToolUse=[claude.handler("h1")])
    folder = plugin(tmp_path / "broken", manifest="{")
    runner = claude.runner(version, plugins=[folder, str(tmp_path / "missing")])
    assert runner.call("Bash", LS, lambda arguments: "ok").outcome == "ran"
    assert claude.started() == ["h1"]
    assert any("broken" in line and "not loaded" in line for line in claude.logged)


@pytest.mark.parametrize("version", [OLD.number, NEW.number])
def test_a_skill_that_is_invoked_twice_runs_its_handlers_once(claude: ClaudeProject, version: str) -> None:
    folder = claude.folder / ".claude" / "skills" / "s"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: s\nhooks:\n  PreToolUse:\n    - hooks:\n      - type: command\n        command: echo h1 >>journal\n---\n",
        "utf-8",
    )
    runner = claude.runner(version)
    runner.prompt("/s")
    runner.prompt("/s again")
    runner.call("Bash", LS, lambda arguments: "ok")
    assert claude.started() == ["h1"]
