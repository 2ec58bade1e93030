"""What the program was seen to do in corners that a case cannot show, or not at this size."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference.dialects.claude_code import inputs, matchers
from hookproof_reference.dialects.claude_code.versions import VERSIONS

if TYPE_CHECKING:
    from .conftest import ClaudeProject

pytestmark = pytest.mark.parametrize("version", VERSIONS)

DEEP = "[" * 20_000 + "]" * 20_000
NAME = "mcp__notes__" + "a" * 34


@pytest.mark.parametrize("text", ["mcp__notes__(a+)+b", "^(([a-z_])+)+$!", "(.*)*(.*)*(.*)*x!$", "^(([a-z_])+)+!$"])
def test_a_search_that_would_never_end_finds_nothing(text: str, version: str) -> None:
    began = time.monotonic()
    assert not matchers.matches(text, NAME, VERSIONS[version])
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("text", ["(Edit|Bash)+", "^(B|b)*ash$", "B(a){1}sh"])
def test_a_repeated_group_that_does_no_harm_is_found(text: str, version: str) -> None:
    assert matchers.matches(text, "Bash", VERSIONS[version])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"command": "ls"}, None),
        ({"command": "ls", "timeout": 5, "run_in_background": True}, None),
        ({"command": "ls", "bogus": 1}, "issue:\nAn unexpected parameter `bogus` was provided"),
        ({}, "issue:\nThe required parameter `command` is missing"),
        ({"bogus": 1}, "issues:\nThe required parameter `command` is missing\nAn unexpected parameter `bogus` was provided"),
    ],
)
def test_an_input_that_the_tool_does_not_take_is_named(arguments: dict[str, Any], why: str | None, version: str) -> None:
    told = inputs.unfit("Bash", arguments)
    assert told == (None if why is None else f"Bash failed due to the following {why}")


def test_nothing_is_known_of_the_inputs_of_other_tools(version: str) -> None:
    assert inputs.unfit("mcp__notes__read", {"anything": 1}) is None


@pytest.mark.parametrize(
    ("settings", "starts"),
    [
        ('{"hooks": {}, "deep": ' + DEEP + "}", {"2.1.178": False, "2.1.332": True}),
        ('{"hooks": ' + DEEP + "}", {"2.1.178": True, "2.1.332": True}),
    ],
)
def test_settings_that_are_nested_for_ever(claude: ClaudeProject, version: str, settings: str, starts: dict[str, bool]) -> None:
    claude.write(settings)
    runner = claude.runner(version)
    assert (runner.gone is None) == starts[version]
