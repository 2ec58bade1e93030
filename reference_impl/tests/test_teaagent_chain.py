"""The chain of hooks as Python functions."""

from __future__ import annotations

import doctest
import inspect
from enum import Enum
from typing import Any, get_args

import pytest

from hookproof_reference import teaagent
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.permissions import Enforced
from hookproof_reference.teaagent import (
    DESTRUCTIVE_TOOLS,
    HookConfig,
    HookError,
    HookEvent,
    HookPermissionMode,
    HookRunner,
    ToolRaised,
    call_tool,
    permission_check_hook,
)

Json = dict[str, Any]
SESSION = ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "SubagentStop"]


def chain(event: str, *hooks: Any, enabled: bool = True) -> HookRunner:
    runner = HookRunner(HookConfig(enabled))
    for hook in hooks:
        runner.register(event, hook)
    return runner


def raises(error: Exception) -> Any:
    def hook(*arguments: Any) -> None:
        raise error

    return hook


def notes(log: list[Any], name: str = "") -> Any:
    def hook(*arguments: Any) -> None:
        log.append((name, *arguments) if name else arguments)

    return hook


class Recorder:
    """A tool that remembers what it got."""

    def __init__(self) -> None:
        self.got: list[Json] = []

    def __call__(self, arguments: Json) -> Json:
        self.got.append(arguments)
        return {"content": "done"}


def test_the_examples_in_the_package_hold() -> None:
    assert doctest.testmod(teaagent).attempted > 5
    assert doctest.testmod(teaagent).failed == 0


def test_there_are_eight_events_and_all_of_them_are_names_of_claude_code() -> None:
    names = {event.value for event in HookEvent}
    assert names == {*SESSION, "PreToolUse", "PostToolUse", "PreCompact"}
    from hookproof_reference.dialects.claude_code import events

    assert names <= set(events.known(VERSIONS["2.1.178"]))


def test_there_are_four_kinds_of_hook_function_each_with_its_arguments() -> None:
    kinds = {kind.__name__: list(inspect.signature(kind.__call__).parameters)[1:] for kind in get_args(teaagent.HookFn)}
    assert kinds == {
        "SessionHookFn": ["session_id", "context"],
        "PreToolUseHookFn": ["tool", "arguments"],
        "PostToolUseHookFn": ["tool", "arguments", "result"],
        "PreCompactHookFn": ["context"],
    }


@pytest.mark.parametrize("event", SESSION)
def test_a_session_hook_gets_the_session_and_the_context_and_what_it_returns_has_no_effect(event: str) -> None:
    log: list[Any] = []
    context = {"k": 1}

    def hook(session_id: str, given: Json) -> Json:
        log.append((session_id, dict(given)))
        return {"x": 1}

    assert chain(event, hook, hook).run_session_event(event, "s1", context) is None  # type: ignore[func-returns-value]
    assert log == [("s1", {"k": 1}), ("s1", {"k": 1})]
    assert context == {"k": 1}


def test_each_session_event_has_a_method_of_its_own() -> None:
    log: list[Any] = []
    runner = HookRunner()
    for event in SESSION:
        runner.register(event, notes(log, event))
    for method in ("run_session_start", "run_session_end", "run_user_prompt_submit", "run_stop", "run_subagent_stop"):
        getattr(runner, method)("s1", {"k": 1})
    assert log == [(event, "s1", {"k": 1}) for event in SESSION]


@pytest.mark.parametrize("event", SESSION)
def test_the_exception_of_a_session_hook_propagates_and_ends_the_chain(event: str) -> None:
    log: list[Any] = []
    for error in (KeyError("gone"), HookError("no")):
        with pytest.raises(type(error)) as raised:
            chain(event, raises(error), notes(log)).run_session_event(event, "s1", {})
        assert raised.value is error
    assert log == []


@pytest.mark.parametrize(
    ("event", "may"),
    [("SessionStart", True), ("UserPromptSubmit", True), ("Stop", False), ("SubagentStop", False), ("SessionEnd", False)],
)
def test_only_the_beginning_of_a_session_and_a_prompt_let_a_hook_change_the_context_in_place(event: str, may: bool) -> None:
    seen: list[Any] = []

    def change(session_id: str, context: Json) -> None:
        context["more"] = True
        context["deep"]["more"] = True

    def look(session_id: str, context: Json) -> None:
        seen.append("more" in context or "more" in context["deep"])

    context: Json = {"deep": {}}
    chain(event, change, look).run_session_event(event, "s1", context)
    assert (context, seen) == (({"deep": {"more": True}, "more": True}, [True]) if may else ({"deep": {}}, [False]))


def test_a_compaction_hook_may_return_another_context_which_the_next_one_sees_and_none_keeps_it() -> None:
    seen: list[Any] = []
    runner = chain("PreCompact", lambda context: {**context, "x": 1}, notes(seen), lambda context: None)
    assert runner.run_pre_compact({"k": 1}) == {"k": 1, "x": 1}
    assert seen == [({"k": 1, "x": 1},)]


@pytest.mark.parametrize("first", [True, False])
def test_a_change_stands_whatever_hooks_without_one_come_before_or_after_it(first: bool) -> None:
    def change(tool: str, arguments: Json) -> Json:
        return {**arguments, "b": 2}

    hooks = [change, lambda tool, arguments: None]
    tool = Recorder()
    call_tool(chain("PreToolUse", *(hooks if first else hooks[::-1])), "t", {"a": 1}, tool)
    assert tool.got == [{"a": 1, "b": 2}]


def test_later_hooks_see_earlier_changes_also_those_made_in_place() -> None:
    def in_place(tool: str, arguments: Json) -> None:
        arguments["b"] = 2

    runner = chain("PreToolUse", in_place, lambda tool, arguments: {**arguments, "c": arguments["b"]})
    assert runner.run_pre_tool_use("t", {"a": 1}) == {"a": 1, "b": 2, "c": 2}


def test_an_empty_dict_is_a_change() -> None:
    tool = Recorder()
    call_tool(chain("PreToolUse", lambda tool, arguments: {}), "t", {"a": 1}, tool)
    assert tool.got == [{}]


def test_the_first_veto_gives_the_reason_and_later_hooks_do_not_run() -> None:
    log: list[Any] = []
    runner = chain("PreToolUse", notes(log, "a"), raises(HookError("b")), notes(log, "c"))
    with pytest.raises(HookError, match=r"\Ab\Z"):
        runner.run_pre_tool_use("t", {})
    assert log == [("a", "t", {})]


def test_a_call_survives_a_veto_and_the_next_one_is_asked_about_anew() -> None:
    vetoes = iter([HookError("no"), None])

    def hook(tool: str, arguments: Json) -> None:
        if error := next(vetoes):
            raise error

    runner, tool = chain("PreToolUse", hook), Recorder()
    first, second = (call_tool(runner, "t", {}, tool) for _ in range(2))
    assert (first.hook, first.outcome, first.started, first.reason) == ("deny", "blocked", False, "no")
    assert (second.outcome, len(tool.got)) == ("ran", 1)


@pytest.mark.parametrize("returned", ["no", False, [1]])
def test_what_a_hook_returns_is_passed_on_and_no_tool_runs_with_arguments_that_are_no_object(returned: Any) -> None:
    runner, tool = chain("PreToolUse", lambda tool, arguments: returned), Recorder()
    assert runner.run_pre_tool_use("t", {}) == returned
    done = call_tool(runner, "t", {}, tool)
    assert (done.outcome, done.started, tool.got) == ("error", False, [])
    assert "object" in done.reason


def test_any_other_exception_of_a_hook_stops_the_call_as_well() -> None:
    tool = Recorder()
    done = call_tool(chain("PreToolUse", raises(ZeroDivisionError("oh"))), "t", {}, tool)
    assert (done.hook, done.outcome, done.started, done.reason) == ("deny", "error", False, "ZeroDivisionError: oh")
    assert tool.got == []


def test_post_hooks_change_the_result_in_turn_and_none_keeps_an_earlier_change() -> None:
    hooks = [lambda t, a, r: {**r, "p": 7}, lambda t, a, r: None, lambda t, a, r: {**r, "q": r["p"]}]
    done = call_tool(chain("PostToolUse", *hooks), "t", {}, lambda arguments: {"content": "x"})
    assert done.result == {"content": "x", "p": 7, "q": 7}


def test_a_post_hook_that_raises_loses_nothing_and_vetoes_nothing() -> None:
    seen: list[Any] = []
    runner = chain("PostToolUse", lambda t, a, r: {**r, "p": 7}, raises(HookError("too late")), notes(seen))
    done = call_tool(runner, "t", {"a": 1}, lambda arguments: {"content": "x"})
    assert (done.outcome, done.result) == ("ran", {"content": "x", "p": 7})
    assert done.feedback == ["HookError: too late"]
    assert seen == [("t", {"a": 1}, {"content": "x", "p": 7})]


def test_without_somebody_who_listens_a_post_hook_that_raises_is_logged() -> None:
    said: list[str] = []
    runner = HookRunner(log=said.append)
    runner.register("PostToolUse", raises(HookError("too late")))
    assert runner.run_post_tool_use("t", {}, {"r": 1}) == {"r": 1}
    assert said == ["PostToolUse: HookError: too late"]


def test_no_post_hook_hears_of_a_tool_that_raises() -> None:
    log: list[Any] = []
    for error, started in ((ValueError("oh"), True), (ToolRaised("oh", started=False), False)):
        done = call_tool(chain("PostToolUse", notes(log)), "t", {}, raises(error))
        assert (done.outcome, done.started) == ("error", started)
        assert done.reason.endswith("oh")
    assert log == []


def test_disabled_nothing_runs_and_every_method_returns_none_at_once() -> None:
    runner = HookRunner(HookConfig(enabled=False))
    for event in HookEvent:
        runner.register(event, raises(AssertionError("a hook was run")))
    assert runner.run_pre_tool_use("t", {"a": 1}) is None
    assert runner.run_post_tool_use("t", {}, {"r": 1}) is None
    assert runner.run_pre_compact({"k": 1}) is None
    for name in SESSION:
        runner.run_session_event(name, "s1", {})
    done = call_tool(runner, "t", {"a": 1}, lambda arguments: arguments)
    assert (done.outcome, done.result) == ("ran", {"a": 1})


def test_enabled_without_hooks_the_arguments_come_back_as_they_are() -> None:
    arguments = {"a": 1}
    assert HookRunner().run_pre_tool_use("t", arguments) is arguments


def test_an_event_that_there_is_not_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ValueError, match='no hook event "preToolUse"; did you mean "PreToolUse"'):
        HookRunner().register("preToolUse", notes([]))
    with pytest.raises(ValueError, match="PreToolUse is no event of a session"):
        HookRunner().run_session_event("PreToolUse", "s1", {})


# ---- the permission hook -------------------------------------------------------------------------


def vetoed(hook: Any, tool: str, arguments: Json | None = None) -> str | None:
    """The reason of the veto, if there is one."""
    try:
        hook(tool, arguments or {})
    except HookError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("mode", "own", "other", "harmless"),
    [("ALLOW", False, False, False), ("DENY", True, True, False), ("ASK", True, False, False), ("AUTO", True, False, False)],
)
def test_a_mode_blocks_the_hooks_own_set_or_every_destructive_tool(mode: str, own: bool, other: bool, harmless: bool) -> None:
    hook = permission_check_hook(HookPermissionMode[mode], destructive_tools={"mytool"})
    assert [vetoed(hook, tool) is not None for tool in ("mytool", "shell", "read_file")] == [own, other, harmless]


@pytest.mark.parametrize("tool", sorted(DESTRUCTIVE_TOOLS))
def test_the_default_is_auto_over_the_six_destructive_tools(tool: str) -> None:
    assert "auto" in str(vetoed(permission_check_hook(), tool))
    assert len(DESTRUCTIVE_TOOLS) == 6


def test_no_call_is_remembered() -> None:
    hook = permission_check_hook(HookPermissionMode.ASK)
    assert [vetoed(hook, "shell") is not None for _ in range(2)] == [True, True]


def test_the_four_modes_are_a_type_of_their_own() -> None:
    class PermissionMode(Enum):
        ALLOW = "allow"
        DENY = "deny"

    assert [mode.name for mode in HookPermissionMode] == ["ALLOW", "DENY", "ASK", "AUTO"]
    assert HookPermissionMode.ALLOW != PermissionMode.ALLOW  # type: ignore[comparison-overlap]
    assert HookPermissionMode.DENY != "deny"  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("mode", "policy", "outcome"),
    [("ALLOW", "ran", "ran"), ("DENY", "ran", "blocked"), ("ALLOW", "blocked", "blocked"), ("DENY", "blocked", "blocked")],
)
def test_hook_mode_and_session_policy_act_alone_and_the_stricter_holds(mode: str, policy: Any, outcome: str) -> None:
    tool = Recorder()
    runner = chain("PreToolUse", permission_check_hook(HookPermissionMode[mode]))
    done = call_tool(runner, "shell", {}, tool, permitted=lambda tool, arguments: Enforced(policy))
    assert (done.outcome, len(tool.got)) == (outcome, int(outcome == "ran"))


def test_the_policy_sees_the_arguments_as_the_hooks_have_left_them() -> None:
    seen: list[Any] = []

    def permitted(tool: str, arguments: Json) -> Enforced:
        seen.append(arguments)
        return Enforced("blocked")

    call_tool(chain("PreToolUse", lambda t, a: {"path": "/etc"}), "t", {"path": "x"}, Recorder(), permitted=permitted)
    assert seen == [{"path": "/etc"}]


def test_patterns_deny_paths_of_any_tool_and_never_lift_a_block() -> None:
    hook = permission_check_hook(deny_patterns=["*.pem"], allow_patterns=["*"])
    assert "*.pem" in str(vetoed(hook, "read_file", {"path": "a/key.pem"}))
    assert vetoed(hook, "read_file", {"path": "a/key.txt"}) is None
    assert vetoed(hook, "read_file") is None
    assert vetoed(hook, "shell", {"path": "a/key.txt"}) is not None
    free = permission_check_hook(HookPermissionMode.ALLOW, deny_patterns=["*"])
    assert vetoed(free, "shell", {"path": "x"}) is None
