"""A world holds each settings file where the dialect itself looks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookproof import dialects, layout, protocol
from hookproof.cases import Case
from hookproof.errors import DialectError
from hookproof.probe import ProbeKit


def world(tmp_path: Path, dialect: str, *scopes: str, **more: Any) -> layout.World:
    raw: dict[str, Any] = {
        "id": f"{dialect}/veto/x",
        "rule": "a-rule",
        "why": "It is only laid out.",
        "handlers": [{}],
        "settings": [{"scope": scope, "text": f"{scope}: {{h1}}"} for scope in scopes],
        "call": {"tool": "shell"},
        "expect": {"tool_runs": 1},
        "killed_by": ["some-fault"],
        **more,
    }
    case = msgspec.convert(raw, Case)
    return layout.lay_out(case, dialects.load(dialect), "1", f"{dialect}/1", ProbeKit(tmp_path), tmp_path)


def test_each_scope_has_the_file_name_that_claude_code_gives_it(tmp_path: Path) -> None:
    laid = world(tmp_path, "claude-code", "managed", "user", "project", "local")
    places = {settings.scope: str(Path(settings.path).relative_to(laid.root)) for settings in laid.request.settings}
    assert places == {
        "managed": "managed/managed-settings.json",
        "user": "home/.claude/settings.json",
        "project": "project/.claude/settings.json",
        "local": "project/.claude/settings.local.json",
    }
    for settings in laid.request.settings:
        assert Path(settings.path).read_text() == f"{settings.scope}: {laid.probes}/h1"
    layout.clear_away(laid, ProbeKit(tmp_path / "kit"))
    assert not laid.root.exists()


@pytest.mark.parametrize("dialect", ["lecode", "teaagent"])
def test_a_scope_that_a_dialect_does_not_know_is_no_file_beside_the_others(dialect: str, tmp_path: Path) -> None:
    with pytest.raises(DialectError, match=f"{dialect} has no settings file of scope local") as caught:
        world(tmp_path, dialect, "project", "local")
    assert caught.value.hint == "it has project"


@pytest.mark.parametrize("dialect", list(dialects.KNOWN))
def test_every_dialect_has_a_settings_file_of_its_project(dialect: str) -> None:
    assert "project" in dialects.load(dialect).settings_files


def test_the_files_of_a_project_name_its_handlers_and_its_plugins_are_in_the_request(tmp_path: Path) -> None:
    files = {"guard/hooks/hooks.json": "run {h1}", ".claude/agents/a.md": "\N{SNOWMAN}"}
    laid = world(tmp_path, "claude-code", "project", files=files, plugins=["guard"], session={"trusted": False})
    assert (laid.project / "guard/hooks/hooks.json").read_text() == f"run {laid.probes}/h1"
    assert (laid.project / ".claude/agents/a.md").read_text("utf-8") == "\N{SNOWMAN}"
    assert laid.request.plugins == [f"{laid.project}/guard"]
    assert laid.request.session is not None and not laid.request.session.trusted
    layout.clear_away(laid, ProbeKit(tmp_path / "kit"))
    assert not laid.root.exists()


def test_what_a_case_does_not_ask_for_is_not_in_its_request(tmp_path: Path) -> None:
    line = protocol.encode(world(tmp_path, "claude-code", "project").request)
    assert b"plugins" not in line and b"trusted" not in line


@pytest.mark.parametrize("name", ["../x", "a/../b", "/etc/x", "a//b", "", ".", "..", "a/", "~/x", "a\nb"])
def test_no_file_of_a_case_lies_outside_of_its_project(name: str, tmp_path: Path) -> None:
    with pytest.raises(msgspec.ValidationError):
        world(tmp_path, "claude-code", files={name: "x"})


def test_what_a_tool_starts_with_is_kept_where_the_case_asks_for_it(tmp_path: Path) -> None:
    laid = world(tmp_path, "claude-code", "project", expect={"env": {"t1": {"A": {"equals": "b"}}}})
    assert "record='env'" in (laid.probes / "t1.act").read_text()


@pytest.mark.parametrize(
    ("more", "content"),
    [
        ({"text": "\ufeff{\r\n}"}, b"\xef\xbb\xbf{\r\n}"),
        ({"text": "é", "encoding": "latin-1"}, b"\xe9"),
        ({"text": "{}", "encoding": "utf-16"}, "{}".encode("utf-16")),
        ({"text": "{}", "length": 5}, b"{}   "),
        ({"text": "[{deep}]", "deep": 3}, b"[[[[]]]]"),
    ],
    ids=repr,
)
def test_settings_to_the_letter_may_be_odd(tmp_path: Path, more: dict[str, Any], content: bytes) -> None:
    laid = world(tmp_path, "claude-code", settings=[more])
    assert Path(laid.request.settings[0].path).read_bytes() == content
