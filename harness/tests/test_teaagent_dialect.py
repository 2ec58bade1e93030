"""The words of TeaAgent: what can be said in them, what cannot, and that its settings keep their own schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from hookproof import catalog, dialects, suite
from hookproof.cases import Handler, Say
from hookproof.dialects import Answer, Placed
from hookproof.dialects.teaagent import DESTRUCTIVE, DIALECT, EVENTS, SETTINGS
from hookproof.errors import DialectError

ODD = {"narrowing/a-mode-of-the-policy", "lifecycle/no-ninth-event"}
"""Cases whose settings are wrong on purpose."""


def say(event: str = "PreToolUse", **words: object) -> Answer:
    return DIALECT.answer(Say(**words), event, "1")  # type: ignore[arg-type]


def placed(name: str, event: str, handler: Handler | None = None) -> Placed:
    return Placed(handler or Handler(), name, event, f"/w/p/{name}")


def valid(text: str) -> bool:
    return jsonschema.Draft202012Validator(SETTINGS).is_valid(json.loads(text))


def test_a_veto_is_exit_2_with_its_reason_on_stderr() -> None:
    assert say(verdict="deny", reason="not on fridays") == Answer(stderr="not on fridays", exit=2)
    assert say("UserPromptSubmit", verdict="block") == Answer(exit=2)


def test_changed_arguments_are_the_returned_object_itself() -> None:
    assert say(input={"b": 2}) == Answer(stdout='{"b": 2}')
    assert say(verdict="allow", input={}) == Answer(stdout="{}")
    assert say("PostToolUse", output={"content": "x"}) == Answer(stdout='{"content": "x"}')


def test_a_native_answer_is_printed_as_it_stands() -> None:
    assert say("SessionStart", native={"mutate": {"k": 1}}) == Answer(stdout='{"mutate": {"k": 1}}')


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("PreToolUse", {"verdict": "allow"}),
        ("PreToolUse", {"verdict": "ask"}),
        ("PreToolUse", {"verdict": "defer"}),
        ("PreToolUse", {"context": "more"}),
        ("PreToolUse", {"verdict": "deny", "input": {}}),
        ("PreToolUse", {"reason": "fine", "input": {}}),
        ("PreToolUse", {"input": ["a list"]}),
        ("PreToolUse", {"output": {}}),
        ("PostToolUse", {"input": {}}),
        ("Stop", {"output": {}}),
    ],
)
def test_what_a_hook_of_teaagent_cannot_say_is_refused(event: str, words: dict[str, object]) -> None:
    with pytest.raises(DialectError):
        say(event, **words)


def test_settings_keep_the_order_of_registration_for_each_event() -> None:
    text = DIALECT.settings([placed("h1", "Stop"), placed("h2", "PreToolUse"), placed("h3", "Stop")], "1")
    assert json.loads(text) == {"enabled": True, "hooks": {"Stop": ["/w/p/h1", "/w/p/h3"], "PreToolUse": ["/w/p/h2"]}}
    assert valid(text)


@pytest.mark.parametrize(
    "handler", [Handler(matcher="shell"), Handler(timeout=3), Handler(if_="x"), Handler(native={"once": True})]
)
def test_a_field_that_a_registration_does_not_have_is_refused(handler: Handler) -> None:
    with pytest.raises(DialectError, match="h1"):
        DIALECT.settings([placed("h1", "PreToolUse", handler)], "1")


def test_a_ninth_event_is_refused() -> None:
    with pytest.raises(DialectError, match="no event PostToolUseFailure"):
        DIALECT.settings([placed("h1", "PostToolUseFailure")], "1")


def test_the_schema_names_eight_events_and_four_modes() -> None:
    assert len(set(EVENTS)) == 8
    assert all(valid(json.dumps({"permission": {"mode": mode}})) for mode in ("allow", "deny", "ask", "auto"))
    assert not valid('{"permission": {"mode": "workspace-write"}}')
    assert not valid('{"hooks": {"pretooluse": []}}')
    assert not valid('{"enabled": "yes"}')
    assert set(SETTINGS["properties"]["permission"]["properties"]["destructive_tools"]["default"]) == set(DESTRUCTIVE)


def test_settings_written_out_in_cases_keep_the_schema_unless_they_are_wrong_on_purpose() -> None:
    entries = catalog.load([suite.conformance() / "teaagent"]).entries
    written = {e.id.removeprefix("teaagent/"): native.text for e in entries for native in e.case.settings or []}
    assert len(written) > 20
    assert {name for name, text in written.items() if not valid(text)} == ODD


def test_the_dialect_is_known_in_one_version() -> None:
    assert dialects.resolve("teaagent") == ("teaagent", "1")
    with pytest.raises(DialectError, match='does not know version "2"'):
        dialects.resolve("teaagent/2")
