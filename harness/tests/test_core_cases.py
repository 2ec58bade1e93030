"""Core cases are neutral, are asked in every dialect that can say them, and certify a runner for what it declares."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookproof import applicability, casefile, casewords, catalog, dialects, posture, runnerspec, selection, suite
from hookproof.cases import Handler
from hookproof.certificate import standing
from hookproof.engine import Engine, Options
from hookproof.errors import CaseFileError
from hookproof.protocol import HelloAnswer, RunnerInfo
from hookproof.results import CaseResult

SHELL = pytest.mark.skipif(not (shutil.which("jq") and shutil.which("timeout")), reason="the example needs jq and timeout")
GOOD: dict[str, Any] = {
    "id": "core/veto/x",
    "rule": "core-deny",
    "why": "A runner that believes nobody passes the others.",
    "handlers": [{"say": {"verdict": "deny"}}],
    "call": {"tool": "shell", "input": {"command": "ls"}},
    "expect": {"tool_runs": 0},
    "killed_by": ["always-allow"],
}


def said(tmp_path: Path, **changes: Any) -> str:
    rule = {"level": "must", "text": "A deny keeps the tool from running.", "source": {"document": "core", "section": "Veto"}}
    file = {"format": 1, "dialect": "core", "family": "veto", "rules": {"core-deny": rule}, "cases": [{**GOOD, **changes}]}
    path = tmp_path / "veto.yaml"
    path.write_text(json.dumps(file))
    try:
        casefile.read(path)
    except CaseFileError as error:
        return error.message
    return ""


def test_a_neutral_case_is_accepted(tmp_path: Path) -> None:
    assert said(tmp_path) == ""
    assert said(tmp_path, call={"tool": "mcp__store__put"}) == ""
    assert said(tmp_path, expect={"envelope": {"h1": {"event": "PreToolUse", "input": {"command": "ls"}}}}) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"call": {"tool": "Bash"}}, 'tools are shell, write, read and mcp__SERVER__TOOL, not "Bash"'),
        ({"handlers": [{"native": {"shell": "bash"}}]}, '"native" is a field of some dialects'),
        ({"handlers": [{"if": "Bash(ls)"}]}, '"if" is a field of some dialects'),
        ({"handlers": [{"say": {"native": {"decision": "block"}}}]}, "`native` is an answer to the letter"),
        ({"settings": [{"text": "{}"}]}, "its settings are written from the handlers"),
        ({"expect": {"stdin": {"h1": {"keys": ["event"]}}}}, "`envelope` says what a handler reads"),
        ({"expect": {"envelope": {"h2": {"event": "Stop"}}}}, '"h2" is no probe of this case'),
        ({"expect": {"envelope": {"h1": {"evnt": "Stop"}}}}, '"evnt" is no neutral key of an envelope; did you mean "event"?'),
        ({"expect": {"envelope": {"h1": {"tool": 3}}}}, '"tool" of an envelope is a text'),
        ({"expect": {"envelope": {"h1": {}}}}, "an envelope without any key always passes"),
        ({"by_posture": [{"on": "failure.exti", "is": {"open": {}}}]}, 'did you mean "failure.exit"?'),
        ({"by_posture": [{"on": "on_veto", "is": {"halt": {}}}]}, '"halt" is no word for on_veto'),
        ({"by_posture": [{"on": "on_veto", "is": {"stop": {"not_started": ["h7"]}}}]}, '"h7" is no probe of this case'),
    ],
)
def test_what_is_not_neutral_or_not_known_is_refused(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    assert words in said(tmp_path, **changes)


def test_a_case_is_shown_with_all_its_expectations() -> None:
    words = casewords.told(catalog.load([suite.conformance()]).entry("core/deny-safe/exit-1"))
    assert "where the posture's failure.exit is closed" in words
    assert "where the posture's failure.exit is open" in words


# ---- in which dialects they are asked ------------------------------------------------------------


def jobs(dialect: str, **options: Any) -> list[selection.Job]:
    hello = HelloAnswer(protocol=1, runner=RunnerInfo(name="r"), dialects=[dialect], posture=posture.KNOWN["lecode/1.0"])
    asked = Options(runner="reference", base=Path.cwd(), **options)
    return selection.select(catalog.load([suite.conformance()]), selection.choose(hello, asked), hello, asked)


@pytest.mark.parametrize("dialect", ["lecode/1.0", "claude-code/2.1.178", "claude-code/2.1.332", "core/1"])
def test_every_core_case_is_there_in_every_dialect_and_most_can_be_said(dialect: str) -> None:
    name, version = dialects.resolve(dialect)
    core = [job for job in jobs(dialect) if job.entry.dialect == "core"]
    assert len(core) >= 25
    unsayable = [job.id for job in core if applicability.unsayable(job.entry.case, dialects.load(name), version)]
    assert all(any(word in case_id for word in ("timeout", "tools-guard", "switched-off")) for case_id in unsayable)
    assert not unsayable or dialect == "lecode/1.0"


def test_what_a_dialect_has_no_words_for_is_not_applicable_and_no_gap_of_the_runner() -> None:
    case = dataclasses.replace(catalog.load([suite.conformance()]).entry("core/ordering/this-tools-guard")).case
    note = applicability.unsayable(case, dialects.load("lecode"), "1.0") or ""
    assert "h1: lecode has no settings field matcher" in note
    assert applicability.left_out(note) == []


def test_what_the_posture_decides_is_no_gap_of_the_runner_and_an_undeclared_feature_is_one() -> None:
    assert applicability.left_out("the posture order is parallel: this case asks for sequential") == []
    assert applicability.left_out("not declared: ask, defer") == ["ask", "defer"]
    assert applicability.left_out(applicability.CHAIN) == ["enforcement (scope chain)"]


def test_a_smoke_test_asks_each_dialect_its_own_three() -> None:
    assert {job.entry.dialect for job in jobs("lecode/1.0", smoke=True)} == {"lecode"}
    assert len(jobs("core/1", smoke=True)) == 3


def test_a_neutral_matcher_becomes_the_dialects_own_tool_name() -> None:
    placed = dialects.Placed(Handler(matcher="Bash"), "h1", "PreToolUse", "/h1")
    text = dialects.load("claude-code").settings([placed], "2.1.178")
    results = run("reference", "claude-code/2.1.178", "core/ordering/this-tools-guard")
    assert '"matcher": "Bash"' in text
    assert [result.status for result in results] == ["pass"]


# ---- the example in sh ---------------------------------------------------------------------------


def run(runner: str, dialect: str, *case_ids: str) -> list[CaseResult]:
    engine = Engine(Options(runner=runner, base=Path.cwd(), dialects=(dialect,), case_ids=case_ids))
    try:
        return [engine.result(job) for job in engine.jobs]
    finally:
        engine.close()


@SHELL
def test_the_example_in_sh_is_certified_for_what_it_declares() -> None:
    engine = Engine(Options(runner="example:oneshot", base=Path.cwd()))
    try:
        results = [engine.result(job) for job in engine.jobs]
        required = next(made for made in engine.catalog.requirements if made.name == "core-1")
        held = standing(required, engine.catalog, engine.header, results)
    finally:
        engine.close()
    assert [(r.id, r.note) for r in results if r.status not in ("pass", "not-applicable", "not-tested")] == []
    assert held.certified
    assert held.required >= 25
    assert "prompt-events" in held.left_out


@SHELL
def test_the_example_that_fails_open_is_no_longer_what_it_declares(tmp_path: Path) -> None:
    text = (suite.fixtures() / "runners" / "oneshot.sh").read_text()
    closed = '[ $code -eq 0 ] || veto "hook failed: exit code'
    assert closed in text
    copy = tmp_path / "open.sh"
    copy.write_text(text.replace(closed, '[ $code -eq 0 ] || return 0; : "'))
    copy.chmod(0o755)
    results = run(str(copy), "core/1", "core/deny-safe/exit-1", "core/deny-safe/killed", "core/veto/deny-blocks")
    assert {r.id: r.status for r in results} == {
        "core/deny-safe/exit-1": "fail",
        "core/deny-safe/killed": "pass",
        "core/veto/deny-blocks": "pass",
    }


@SHELL
def test_the_example_denies_when_its_settings_cannot_be_read(tmp_path: Path) -> None:
    settings = tmp_path / "hooks.json"
    settings.write_text("{ no json")
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\ntouch ran\n")
    tool.chmod(0o755)
    request = {
        "op": "run",
        "id": "r1",
        "dialect": "core/1",
        "world": {
            "root": str(tmp_path),
            "project": str(tmp_path),
            "home": str(tmp_path),
            "cwd": str(tmp_path),
            "env": {"A": "b c'd"},
        },
        "settings": [{"scope": "project", "path": str(settings)}],
        "session": None,
        "permission": {"verdict": "allow", "approver": None},
        "steps": [{"turn": {"tool_calls": [{"id": "t1", "name": "shell", "input": {}, "program": str(tool)}]}}],
    }
    argv = runnerspec.parse("example:oneshot", tmp_path).argv
    done = subprocess.run(argv, input=json.dumps(request), capture_output=True, text=True, check=True)
    call = json.loads(done.stdout)["steps"][0]["calls"][0]
    assert (call["hook"], call["outcome"], call["started"]) == ("deny", "blocked", False)
    assert "settings cannot be read" in call["reason"]
    assert not (tmp_path / "ran").exists()
