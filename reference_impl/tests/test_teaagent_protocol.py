"""The chain behind `.teaagent/hooks.json` and the runner protocol: each hook is a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookproof_reference import opinion, wire

Json = dict[str, Any]


class Project:
    """A folder with small programs as hooks, which note their starts in `journal` and what they read in files of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "hooks.json"

    def program(self, name: str, then: str = "true") -> str:
        """A program that notes its start and its stdin, and goes on with some shell text."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho {name} >>journal; cat >{name}.in; {then}\n")
        path.chmod(0o755)
        return str(path)

    def returns(self, name: str, value: Any) -> str:
        """A program that prints JSON."""
        return self.program(name, f"printf %s '{json.dumps(value)}'")

    def vetoes(self, name: str, reason: str) -> str:
        """A program that ends with 2."""
        return self.program(name, f"echo {reason} >&2; exit 2")

    def run(self, settings: Any, *steps: Json, **more: Any) -> Json:
        """The whole answer to a run."""
        self.settings.write_text(settings if isinstance(settings, str) else json.dumps(settings))
        folder = str(self.folder)
        request = {
            "id": "r1",
            "dialect": "teaagent/1",
            "world": {"root": folder, "project": folder, "home": folder, "cwd": folder, "env": {}},
            "settings": [{"scope": "project", "path": str(self.settings)}],
            "session": {"id": "s1"},
            "steps": list(steps),
            **more,
        }
        return wire.answer_run(json.loads(json.dumps(request)))

    def call(self, settings: Any, tool: str = "t", arguments: Any = None, then: str = "printf done", **more: Any) -> Json:
        """What became of one call."""
        uses = [{"id": "t1", "name": tool, "input": {"a": 1} if arguments is None else arguments}]
        uses[0]["program"] = self.program("tool", then)
        answer = self.run(settings, {"turn": {"tool_calls": uses}}, **more)
        done: Json = answer["steps"][0]["calls"][0]
        return done

    def fire(self, event: str, program: str, context: Json) -> Json:
        """What became of one event."""
        answer = self.run({"hooks": {event: [program]}}, {"event": event, "fields": context})
        done: Json = answer["steps"][0]["event"]
        return done

    def started(self) -> list[str]:
        """Who started, in order."""
        journal = self.folder / "journal"
        return journal.read_text().split() if journal.exists() else []

    def read_by(self, name: str) -> Any:
        """What a program got on stdin."""
        return json.loads((self.folder / f"{name}.in").read_text())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_program_reads_what_its_hook_function_is_called_with(project: Project) -> None:
    hooks = {event: [project.program(event)] for event in ("PreToolUse", "PostToolUse", "PreCompact", "Stop")}
    uses = [{"id": "t1", "name": "t", "input": {"a": "ü"}, "program": project.program("tool", "printf done")}]
    steps: list[Json] = [{"turn": {"tool_calls": uses}}, {"event": "PreCompact", "fields": {"k": 1}}, {"turn": {"text": "bye"}}]
    answer = project.run({"hooks": hooks}, *steps)
    assert project.started() == ["PreToolUse", "tool", "PostToolUse", "PreCompact", "Stop"]
    result = {"content": "done", "is_error": False}
    assert answer["steps"][0]["calls"][0]["result"] == result
    assert project.read_by("PreToolUse") == {"event": "PreToolUse", "tool": "t", "arguments": {"a": "ü"}}
    assert project.read_by("PostToolUse") == {"event": "PostToolUse", "tool": "t", "arguments": {"a": "ü"}, "result": result}
    assert project.read_by("PreCompact") == {"event": "PreCompact", "context": {"k": 1}}
    assert project.read_by("Stop") == {"event": "Stop", "session_id": "s1", "context": {"text": "bye"}}


def test_each_program_sees_what_those_before_it_have_returned_or_changed_in_place(project: Project) -> None:
    chain = [project.returns("h1", {"a": 2}), project.returns("h2", {"mutate": {"b": 3}}), project.program("h3")]
    done = project.call({"hooks": {"PreToolUse": chain}})
    assert project.read_by("h2")["arguments"] == {"a": 2}
    assert project.read_by("h3")["arguments"] == {"a": 2, "b": 3}
    assert project.read_by("tool") == {"a": 2, "b": 3}
    assert (done["hook"], done["outcome"]) == ("allow", "ran")


def test_silence_is_none_and_the_hook_says_nothing(project: Project) -> None:
    done = project.call({"hooks": {"PreToolUse": [project.program("h1")]}})
    assert (done["hook"], done["outcome"], project.read_by("tool")) == ("none", "ran", {"a": 1})


def test_exit_code_2_is_a_veto_with_stderr_as_its_reason(project: Project) -> None:
    done = project.call({"hooks": {"PreToolUse": [project.vetoes("h1", "not on fridays"), project.program("h2")]}})
    assert (done["hook"], done["outcome"], done["started"], done["reason"]) == ("deny", "blocked", False, "not on fridays")
    assert project.started() == ["h1"]


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("exit 1", "ProgramError: exit code 1"),
        ("echo oh >&2; exit 7", "ProgramError: exit code 7: oh"),
        ("kill -9 $$", "ProgramError: exit code -9"),
        ("echo no", "ProgramError: the output is no JSON"),
        ("echo '\"no\"'", "ProgramError: the output is no JSON object"),
        ("echo false", "ProgramError: the output is no JSON object"),
        ("echo '{}{}'", "ProgramError: the output is no JSON"),
    ],
)
def test_anything_else_is_another_exception_and_stops_the_call(project: Project, then: str, says: str) -> None:
    done = project.call({"hooks": {"PreToolUse": [project.program("h1", then), project.program("h2")]}})
    assert (done["hook"], done["outcome"], done["started"], done["reason"]) == ("deny", "error", False, says)
    assert project.started() == ["h1"]


def test_a_program_that_is_gone_stops_the_call_and_is_named(project: Project) -> None:
    done = project.call({"hooks": {"PreToolUse": [str(project.folder / "gone")]}})
    assert (done["outcome"], done["started"]) == ("error", False)
    assert "gone" in done["reason"]


def test_a_post_hook_changes_the_result_and_cannot_lose_it(project: Project) -> None:
    chain = [project.returns("h1", {"p": 7}), project.vetoes("h2", "late"), project.returns("h3", {"mutate": {"q": 8}})]
    done = project.call({"hooks": {"PostToolUse": chain}})
    assert (done["outcome"], done["result"], done["feedback"]) == ("ran", {"p": 7, "q": 8}, ["HookError: late"])
    assert project.started() == ["tool", "h1", "h2", "h3"]


def test_post_hooks_hear_of_an_error_result_and_not_of_a_tool_that_raises(project: Project) -> None:
    settings = {"hooks": {"PostToolUse": [project.program("h1")]}}
    done = project.call(settings, then="echo oh; exit 1")
    assert (done["outcome"], done["result"]) == ("failed", {"content": "oh\n", "is_error": True})
    done = project.call(settings, then="echo kaboom >&2; exit 100")
    assert (done["outcome"], done["started"], done["reason"]) == ("error", True, "kaboom")
    assert project.started() == ["tool", "h1", "tool"]


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"])
def test_the_exception_of_a_session_hook_reaches_the_host(project: Project, event: str) -> None:
    assert project.fire(event, project.vetoes("h1", "no"), {"k": 1}) == {"raised": "HookError: no", "context": {"k": 1}}


@pytest.mark.parametrize(
    ("event", "returned", "mutated"),
    [
        ("SessionStart", False, True),
        ("UserPromptSubmit", False, True),
        ("PreCompact", True, True),
        ("Stop", False, False),
        ("SubagentStop", False, False),
        ("SessionEnd", False, False),
    ],
)
def test_the_host_keeps_its_context_but_for_what_the_event_lets_a_hook_change(
    project: Project, event: str, returned: bool, mutated: bool
) -> None:
    answer = project.fire(event, project.returns("h1", {"x": 1}), {"k": 1})
    assert answer == {"raised": None, "context": {"x": 1} if returned else {"k": 1}}
    answer = project.fire(event, project.returns("h2", {"mutate": {"x": 1}}), {"k": 1})
    assert answer == {"raised": None, "context": {"k": 1, "x": 1} if mutated else {"k": 1}}


def test_a_prompt_whose_hook_raises_is_not_submitted(project: Project) -> None:
    steps: list[Json] = [{"prompt": "hi"}, {"turn": {"text": "bye"}}]
    answer = project.run({"hooks": {"UserPromptSubmit": [project.vetoes("h1", "no")]}}, *steps)
    assert answer["steps"] == [{"prompt": {"submitted": False, "reason": "HookError: no"}}, {"skipped": "prompt blocked"}]
    assert project.read_by("h1") == {"event": "UserPromptSubmit", "session_id": "s1", "context": {"prompt": "hi"}}
    answer = project.run({"hooks": {"UserPromptSubmit": [project.returns("h2", {"x": 1})]}}, *steps)
    assert answer["steps"] == [{"prompt": {"submitted": True, "reason": None}}, {"end": {"cause": "done", "stop_count": 1}}]


def test_a_subagent_ends_with_an_event_of_its_own(project: Project) -> None:
    hooks = {event: [project.program(event)] for event in ("Stop", "SubagentStop")}
    project.run({"hooks": hooks}, {"turn": {"text": "bye"}}, session={"id": "s1", "agent": "searcher"})
    assert project.started() == ["SubagentStop"]


def test_disabled_nothing_is_started_and_nothing_blocked(project: Project) -> None:
    hooks = {event: [project.vetoes(event, "no")] for event in ("PreToolUse", "PostToolUse", "Stop")}
    settings = {"enabled": False, "permission": {"mode": "deny"}, "hooks": hooks}
    done = project.call(settings, "shell")
    assert (done["hook"], done["outcome"], project.started()) == ("none", "ran", ["tool"])


@pytest.mark.parametrize(
    ("permission", "own", "other"),
    [
        (None, "ran", "ran"),
        ({}, "ran", "blocked"),
        ({"mode": "allow", "destructive_tools": ["mine"]}, "ran", "ran"),
        ({"mode": "deny", "destructive_tools": ["mine"]}, "blocked", "blocked"),
        ({"mode": "ask", "destructive_tools": ["mine"]}, "blocked", "ran"),
        ({"mode": "auto", "destructive_tools": ["mine"]}, "blocked", "ran"),
    ],
)
def test_the_permission_mode_stands_in_the_settings(project: Project, permission: Any, own: str, other: str) -> None:
    settings = {} if permission is None else {"permission": permission}
    assert [project.call(settings, tool)["outcome"] for tool in ("mine", "shell")] == [own, other]


def test_a_change_of_the_arguments_does_not_evade_a_denied_path(project: Project) -> None:
    settings = {
        "permission": {"deny_patterns": ["*.pem"]},
        "hooks": {"PreToolUse": [project.returns("h1", {"path": "key.pem"})]},
    }
    done = project.call(settings, "read_file", {"path": "key.txt"})
    assert (done["outcome"], done["started"]) == ("blocked", False)


@pytest.mark.parametrize(
    ("verdict", "approver", "outcome"),
    [("deny", "allow_once", "blocked"), ("ask", None, "asked"), ("ask", "deny", "blocked"), ("ask", "allow_once", "ran")],
)
def test_no_hook_lifts_what_the_host_says(project: Project, verdict: str, approver: str | None, outcome: str) -> None:
    settings = {"permission": {"mode": "allow"}, "hooks": {"PreToolUse": [project.returns("h1", {"b": 2})]}}
    done = project.call(settings, permission={"verdict": verdict, "approver": approver})
    assert (done["outcome"], done["started"]) == (outcome, outcome == "ran")


def test_what_the_host_denies_is_put_to_no_hook(project: Project) -> None:
    settings = {"hooks": {"PreToolUse": [project.program("h1", "exit 1")]}}
    done = project.call(settings, permission={"verdict": "deny"})
    assert (done["hook"], done["outcome"], project.started()) == ("none", "blocked", [])


@pytest.mark.parametrize(
    ("settings", "dropped", "says"),
    [
        ('{"hooks":\n {"preToolUse": []}}', ["preToolUse"], 'line 2: unknown hook event: preToolUse; did you mean "PreToolUse"?'),
        ('{"hooks": {\n"Stop": "x"}}', ["Stop"], "line 2: Stop is no list of programs"),
        ('{"hooks": {"Stop": [3, ""]}}', ["Stop[0]", "Stop[1]"], "line 1: Stop[1] is no program, which is a path"),
        ('{"hooks": 3}', ["hooks"], "hooks is no object"),
        ('{"enabled": 0}', ["enabled"], "hooks stay enabled"),
        ('{"permission": true}', ["permission"], "auto, holds"),
        ('{"permission": {"mode": "off"}}', ["permission.mode"], "allow, deny, ask, auto; the default, auto, holds"),
        ('{"permission": {"destructive_tools": "shell"}}', ["permission.destructive_tools"], "the default holds"),
        ('{"hooks": {"Stop": [], "Stop": []}}', ["Stop"], '"Stop" stands there 2 times, and only the last one counts'),
        ('{"hocks": {}}', ["hocks"], '"hocks" is no setting'),
    ],
)
def test_a_mistake_in_the_settings_costs_only_itself_and_is_told(
    project: Project, settings: str, dropped: list[str], says: str
) -> None:
    more = settings.replace("{", f'{{"hooks": {{"PreToolUse": ["{project.vetoes("h1", "no")}"]}}, ', 1)
    report = project.run(settings)["settings"][0]
    assert (report["status"], report["dropped"]) == ("partial", dropped)
    assert report["message"].startswith(f"{project.settings}: ")
    assert says in report["message"]
    if '"hooks"' not in settings:
        assert project.call(more)["outcome"] == "blocked"


@pytest.mark.parametrize("permission", ["true", '{"mode": "off"}', '{"destructive_tools": "shell"}', '{"mode": ["deny"]}'])
def test_a_guard_that_is_written_wrongly_still_guards(project: Project, permission: str) -> None:
    assert project.call(f'{{"permission": {permission}}}', "shell")["outcome"] == "blocked"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('{"hooks":\n {', "line 2: no JSON: "),
        ("[]", "no object"),
        ("[" * 100_000, "nested too deeply"),
        ("", "line 1: no JSON"),
        ("9" * 5000, "digits"),
    ],
)
def test_settings_that_cannot_be_read_are_rejected_in_words(project: Project, settings: str, says: str) -> None:
    report = project.run(settings)["settings"][0]
    assert report["status"] == "rejected"
    assert says in report["message"]


def test_what_one_program_did_can_be_asked_about_without_starting_it() -> None:
    def read(event: str = "PreToolUse", **ran: Any) -> tuple[str, str, Any]:
        answer = opinion.answer_read({"id": "1", "dialect": "teaagent/1", "event": event, "ran": ran})
        return answer["verdict"], answer["reason"], answer["rewrite"]

    assert read(exit=2, stderr="no\n") == ("deny", "no", None)
    assert read(exit=0, stdout='{"b": 2}') == ("allow", "", {"b": 2})
    assert read(exit=0) == ("none", "", None)
    assert read(exit=1)[0] == "deny"
    assert read("Stop", exit=2, stderr="no")[0] == "none"


def test_an_event_that_there_is_not_is_an_error_of_the_request(project: Project) -> None:
    assert "SessionStart" in project.run({}, {"event": "Interrupt"})["error"]
