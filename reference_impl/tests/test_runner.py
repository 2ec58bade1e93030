"""From a tool call, a prompt or an event to what is done."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import hookproof_reference.dialects.lecode as lecode
from hookproof_reference import Runner
from hookproof_reference.dialects import UnknownDialect
from hookproof_reference.dialects.base import OnVeto, Order
from hookproof_reference.tools import ToolFailed

if TYPE_CHECKING:
    from .conftest import Project

COMMON = {"event", "ts", "session", "cwd"}


def tool(arguments: Any) -> str:
    """A tool that gives back what it got."""
    return json.dumps(arguments)


def test_a_call_without_handlers_runs(project: Project) -> None:
    project.configure()
    called = project.runner().call("bash", {"command": "ls"}, tool)
    assert (called.hook, called.outcome, called.started, called.result) == ("none", "ran", True, '{"command": "ls"}')


def test_a_deny_after_an_allow_still_denies_and_all_handlers_run_in_order(project: Project) -> None:
    project.configure(
        PreToolUse=[project.says("h1", "allow"), project.says("h2", "deny", reason="not on fridays"), project.handler("h3")],
        PostToolUse=[project.handler("h4")],
        PostToolUseFailure=[project.handler("h5")],
    )
    called = project.runner().call("bash", {}, tool)
    assert (called.hook, called.outcome, called.started) == ("deny", "blocked", False)
    assert (called.reason, called.result) == ("not on fridays", None)
    assert project.started() == ["h1", "h2", "h3"]


def test_a_host_that_denies_never_consults_the_hooks(project: Project) -> None:
    project.configure(PreToolUse=[project.says("h1", "allow")], PermissionRequest=[project.handler("h2")])
    called = project.runner(host="deny", approver="allow_once").call("bash", {}, tool)
    assert (called.hook, called.outcome, called.started) == ("none", "blocked", False)
    assert project.started() == []


def test_a_host_that_asks_is_not_answered_by_a_hook_that_allows(project: Project) -> None:
    project.configure(PreToolUse=[project.says("h1", "allow")])
    called = project.runner(host="ask").call("bash", {}, tool)
    assert (called.outcome, called.started) == ("asked", False)


@pytest.mark.parametrize(("approver", "outcome"), [("allow_once", "ran"), ("allow_always", "ran"), ("deny", "blocked")])
def test_an_approver_is_asked_between_two_events(project: Project, approver: str, outcome: str) -> None:
    project.configure(
        PreToolUse=[project.handler("pre")],
        PermissionRequest=[project.says("request", "allow")],
        PermissionResult=[project.says("result", "deny")],
    )
    called = project.runner(host="ask", approver=approver).call("bash", {"a": 1}, tool)
    assert called.outcome == outcome
    assert project.started() == ["request", "result"] + (["pre"] if outcome == "ran" else [])
    assert project.read_by("request")["tool"] == {"name": "bash", "args": {"a": 1}}
    assert project.read_by("result").keys() == COMMON | {"tool", "decision"}
    assert project.read_by("result")["decision"] == approver


def test_automatic_approval_asks_nobody_and_is_told(project: Project) -> None:
    project.configure(PermissionRequest=[project.handler("request")], PermissionResult=[project.handler("result")])
    assert project.runner(host="ask", approver="auto").call("bash", {}, tool).outcome == "ran"
    assert project.started() == ["result"]
    assert project.read_by("result")["decision"] == "auto"


def test_a_hook_that_asks_without_anybody_there_leaves_the_call_asked(project: Project) -> None:
    project.configure(PreToolUse=[project.says("h1", "ask", reason="sure?")])
    called = project.runner().call("bash", {}, tool)
    assert (called.hook, called.outcome, called.started, called.reason) == ("ask", "asked", False, "sure?")


@pytest.mark.parametrize(("approver", "outcome"), [("allow_once", "ran"), ("auto", "ran"), ("deny", "blocked")])
def test_a_hook_that_asks_is_answered_by_the_approver_who_sees_the_rewrite(project: Project, approver: str, outcome: str) -> None:
    project.configure(
        PreToolUse=[project.says("h1", "ask", rewritten_input={"a": 2})], PermissionResult=[project.handler("result")]
    )
    called = project.runner(approver=approver).call("bash", {"a": 1}, tool)
    assert (called.hook, called.outcome) == ("ask", outcome)
    assert project.read_by("result")["tool"]["args"] == {"a": 2}
    assert called.result == ('{"a": 2}' if outcome == "ran" else None)


def test_an_approver_who_agrees_does_not_overrule_a_hook_that_denies(project: Project) -> None:
    project.configure(PreToolUse=[project.says("h1", "deny")])
    called = project.runner(host="ask", approver=lambda name, arguments: "allow_always").call("bash", {}, tool)
    assert (called.hook, called.outcome, called.started) == ("deny", "blocked", False)


def test_a_rewrite_replaces_the_arguments_as_a_whole_and_later_handlers_see_the_old_ones(project: Project) -> None:
    project.configure(
        PreToolUse=[project.says("h1", "defer", rewritten_input={"b": 2}), project.handler("h2")],
        PostToolUse=[project.says("post", "deny", rewritten_input={"c": 3})],
    )
    called = project.runner().call("bash", {"a": 1}, tool)
    assert (called.hook, called.outcome, called.result) == ("defer", "ran", '{"b": 2}')
    assert project.read_by("h2")["tool"]["args"] == {"a": 1}
    assert project.read_by("post")["tool"]["args"] == {"b": 2}


def test_a_broken_guard_blocks_and_a_broken_observer_is_logged(project: Project) -> None:
    project.configure(PreToolUse=[project.says("h1", "allow")], PostToolUse=["exit 4"], Stop=["./no-such-program"])
    runner = project.runner()
    assert runner.call("bash", {}, tool).outcome == "ran"
    assert runner.end("bye").cause == "done"
    assert [re.sub(r"'.*'", "...", line)[:40] for line in project.logged] == [
        "PostToolUse: ...: hook failed: exit code",
        "Stop: ...: hook failed: exit code 127: /",
    ]
    project.configure(PreToolUse=["exit 4"])
    called = project.runner().call("bash", {}, tool)
    assert (called.hook, called.outcome, called.reason) == ("deny", "blocked", "hook failed: exit code 4")


def test_after_success_error_and_exception_exactly_one_event_tells_which(project: Project) -> None:
    def fails(arguments: Any) -> str:
        raise ToolFailed("no such file")

    def raises(arguments: Any) -> str:
        raise RuntimeError("kaboom")

    project.configure(PostToolUse=[project.handler("ok")], PostToolUseFailure=[project.handler("bad")])
    runner = project.runner()
    assert runner.call("read", {}, lambda a: "text").outcome == "ran"
    assert project.read_by("ok").keys() == COMMON | {"tool", "result"}
    assert project.read_by("ok")["result"] == {"content": "text", "is_error": False}
    failed = runner.call("read", {}, fails)
    assert (failed.outcome, failed.started, failed.result) == ("failed", True, "no such file")
    assert project.read_by("bad")["result"] == {"content": "no such file", "is_error": True}
    raised = runner.call("read", {}, raises)
    assert (raised.outcome, raised.started, raised.reason) == ("error", True, "RuntimeError: kaboom")
    assert project.read_by("bad").keys() == COMMON | {"tool", "reason"}
    assert project.started() == ["ok", "bad", "bad"]


@pytest.mark.parametrize(
    ("body", "outcome", "result", "reason"),
    [
        ("cat", "ran", '{"n": "\\ud83d"}', ""),
        ("echo no; exit 99", "failed", "no\n", ""),
        ("echo one >&2; echo two >&2; exit 100", "error", None, "one"),
        ("kill -9 $$", "error", None, "exit code -9"),
    ],
)
def test_a_program_is_a_tool(project: Project, body: str, outcome: str, result: str | None, reason: str) -> None:
    program = project.folder / "tool"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    project.configure()
    called = project.runner().call("bash", {"n": "\ud83d"}, str(program))
    assert (called.outcome, called.result, called.reason) == (outcome, result, reason)


def test_a_tool_that_is_not_there_was_not_started(project: Project) -> None:
    project.configure()
    called = project.runner().call("bash", {}, str(project.folder / "none"))
    assert (called.outcome, called.started) == ("error", False)


@pytest.mark.parametrize(("verdict", "submitted"), [("allow", True), ("defer", True), ("ask", True), ("deny", False)])
def test_only_a_deny_blocks_a_prompt(project: Project, verdict: str, submitted: bool) -> None:
    project.configure(UserPromptSubmit=[project.says("h1", verdict, reason="because")])
    done = project.runner().prompt("hi")
    assert (done.submitted, done.reason) == (submitted, "" if submitted else "because")
    assert project.read_by("h1").keys() == COMMON | {"prompt"}


@pytest.mark.parametrize(("text", "cause"), [("bye", "done"), ("", "empty")])
def test_the_end_is_told_and_cannot_be_vetoed(project: Project, text: str, cause: str) -> None:
    project.configure(Stop=[project.says("h1", "deny")])
    ended = project.runner().end(text)
    assert (ended.cause, ended.stop_count) == (cause, 1)
    assert project.read_by("h1")["reason"] == cause


@pytest.mark.parametrize("event", lecode.EVENTS)
def test_each_event_has_the_common_keys_and_its_own_and_no_others(project: Project, event: str) -> None:
    project.configure(**{event: [project.handler("h1")]})
    fields = dict.fromkeys(lecode.EVENTS[event], "x")
    project.runner().fire(event, fields)
    envelope = project.read_by("h1")
    assert list(envelope) == ["event", "ts", "session", "cwd", *fields]
    assert envelope["event"] == event
    assert envelope["session"] == {"id": "s1", "name": "main"}
    assert envelope["cwd"] == str(project.folder)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", envelope["ts"])


def test_an_envelope_is_one_line_of_ascii_without_an_end_and_outside_a_session_that_is_null(project: Project) -> None:
    project.configure(SessionStart=[project.handler("h1")])
    runner = project.runner()
    runner.session = None
    runner.fire("SessionStart", {"note": "zwei\nGrüße"})
    text = (project.folder / "h1.in").read_bytes()
    assert b"\n" not in text
    assert text.isascii()
    assert json.loads(text)["session"] is None


def test_handlers_get_the_environment_and_nothing_of_their_own(project: Project) -> None:
    project.configure(Stop=["env | sort >env"])
    project.runner(env={"PATH": "/usr/bin:/bin", "COLOUR": "green"}).end("bye")
    names = {line.partition("=")[0] for line in (project.folder / "env").read_text().splitlines()}
    assert names - {"PWD", "OLDPWD", "_", "SHLVL"} == {"PATH", "COLOUR"}


def test_a_project_that_is_gone_is_an_exception(project: Project, tmp_path: Path) -> None:
    project.configure(PreToolUse=["true"])
    runner = project.runner()
    shutil.rmtree(tmp_path)
    with pytest.raises(FileNotFoundError):
        runner.call("bash", {}, tool)


def test_a_tool_that_removes_the_project_is_still_told_to_have_run(project: Project, tmp_path: Path) -> None:
    def removes(arguments: Any) -> str:
        shutil.rmtree(tmp_path)
        return "gone"

    project.configure(PostToolUse=["true"])
    called = project.runner().call("bash", {}, removes)
    assert (called.outcome, called.started) == ("error", True)
    assert called.reason.startswith("FileNotFoundError")


def test_an_event_that_there_is_not_is_said_to_be_none(project: Project) -> None:
    project.configure()
    with pytest.raises(ValueError, match='lecode has no event "pretooluse"'):
        project.runner().fire("pretooluse")


def test_a_host_that_says_something_unknown_lets_nothing_run(project: Project) -> None:
    project.configure()
    with pytest.raises(ValueError, match="it can say allow, ask, deny"):
        project.runner(host="block")


@pytest.mark.parametrize("name", ["lecode/2.0", "lecode/", "zerostack"])
def test_a_dialect_that_is_not_implemented_is_said_to_be_none(name: str) -> None:
    with pytest.raises(UnknownDialect, match=r"it implements lecode/1\.0"):
        Runner(name)


class Hasty(lecode.Lecode):
    """A dialect that starts all handlers at once and stops at the first veto."""

    order: Order = "parallel"
    on_veto: OnVeto = "stop"


def test_another_dialect_can_run_them_at_once_and_stop_at_the_first_veto(project: Project) -> None:
    project.configure(PreToolUse=["sleep 30", "exit 1", project.says("h3", "allow")])
    runner = project.runner()
    runner.dialect = Hasty()
    called = runner.call("bash", {}, tool)
    assert (called.hook, called.reason) == ("deny", "hook failed: exit code 1")


class HooksFirst(lecode.Lecode):
    """A dialect whose hooks come before the permission check."""

    permission_first = False


@pytest.mark.parametrize(
    ("host", "verdict", "outcome"), [("ask", "allow", "asked"), ("deny", "allow", "blocked"), ("allow", "ask", "asked")]
)
def test_another_dialect_can_put_the_hooks_first_and_they_still_only_narrow(
    project: Project, host: str, verdict: str, outcome: str
) -> None:
    project.configure(PreToolUse=[project.says("h1", verdict)])
    runner = project.runner(host=host)
    runner.dialect = HooksFirst()
    called = runner.call("bash", {}, tool)
    assert (called.hook, called.outcome, called.started) == (verdict, outcome, False)
    assert project.started() == ["h1"]
