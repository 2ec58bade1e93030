"""A world holds each settings file where the dialect itself looks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookproof import dialects, layout
from hookproof.cases import Case
from hookproof.errors import DialectError
from hookproof.probe import ProbeKit


def world(tmp_path: Path, dialect: str, *scopes: str) -> layout.World:
    raw: dict[str, Any] = {
        "id": f"{dialect}/veto/x",
        "rule": "a-rule",
        "why": "It is only laid out.",
        "handlers": [{}],
        "settings": [{"scope": scope, "text": f"{scope}: {{h1}}"} for scope in scopes],
        "call": {"tool": "shell"},
        "expect": {"tool_runs": 1},
        "killed_by": ["some-fault"],
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
