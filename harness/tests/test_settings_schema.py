"""Settings forms have a schema where they are short enough for one, and what the suite writes keeps it."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest

from hookproof import cli, dialects
from hookproof.cases import Handler
from hookproof.dialects import Placed


def schema_of(dialect: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert cli.main(["schema", "settings", "--dialect", dialect]) == 0
    made: dict[str, object] = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(made)
    return made


@pytest.mark.parametrize("dialect", ["core", "lecode", "teaagent"])
def test_what_the_suite_writes_keeps_the_schema(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    placed = [Placed(Handler(), name, event, f"/p/{name}") for name, event in (("h1", "PreToolUse"), ("h2", "Stop"))]
    text = dialects.load(dialect).settings(placed, dialects.KNOWN[dialect][-1])
    jsonschema.validate(tomllib.loads(text) if dialect == "lecode" else json.loads(text), schema_of(dialect, capsys))


@pytest.mark.parametrize(
    ("dialect", "wrong"),
    [
        ("core", {"hooks": {"PreToolUse": ["/p/h1"]}}),
        ("core", {"hooks": {"PreToolUse": [{"timeout": 5}]}}),
        ("teaagent", {"hooks": {"PreToolUse": [{"command": "/p/h1"}]}}),
        ("lecode", {"hooks": ["/p/h1"]}),
        ("lecode", {"hooks": {"PreToolUse": "/p/h1"}}),
        ("lecode", {"hooks": {"Stop": [{"command": "/p/h1"}]}}),
        ("teaagent", {"permission": {"mode": "maybe"}}),
    ],
)
def test_another_form_does_not(dialect: str, wrong: object, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema_of(dialect, capsys))


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("claude-code", "the settings of claude-code are a form of its own, without a schema here; docs/DIALECTS.md"),
        ("claude-code/2.1.178", "the settings of claude-code are a form of its own"),
        ("lecod", '"lecod" is no dialect of this suite'),
    ],
)
def test_what_has_no_schema_is_said_with_what_has(dialect: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", "settings", "--dialect", dialect]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "core, lecode, teaagent" in said


def test_settings_are_of_a_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema", "settings"]) == 2
    assert "--dialect core or --dialect lecode or --dialect teaagent" in capsys.readouterr().err
