"""A script's answers are read in every agent, and the change that makes them agree is found by trying."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof import suite
from hookproof.hooks import certify, report
from hookproof.hooks.asking import dialect_named
from hookproof.hooks.bench import Bench
from hookproof.hooks.certify import HookReport
from hookproof.hooks.command import opened
from hookproof.hooks.fire import Fired
from hookproof.hooks.meaning import Reader
from hookproof.hooks.portability import change, matrix, words
from hookproof.hooks.script import NEWEST, from_path

CLAUDE = ("claude-code/2.1.178", "claude-code/2.1.332")
CODEX, GEMINI, QWEN, LECODE, TEAAGENT = "codex/0.171.0", "gemini-cli/0.61.0", "qwen-code/0.24.4", "lecode/1.0", "teaagent/1"
SCRIPTS = {*CLAUDE, CODEX, GEMINI, QWEN, LECODE}

DENY = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}'
GUARD = "#!/bin/sh\ncase $(cat) in *'git push --force'*) {refusal};; esac\n{rest}\n"
Prove = Callable[..., HookReport]


@pytest.fixture(scope="module")
def bench() -> Iterator[tuple[Bench, Reader]]:
    with opened() as both:
        yield both


@pytest.fixture
def prove(bench: tuple[Bench, Reader], tmp_path: Path) -> Prove:
    def proved(
        refusal: str, rest: str = "", *, text: str = GUARD, event: str = "PreToolUse", dialect: str = NEWEST
    ) -> HookReport:
        path = tmp_path / "guard.sh"
        path.write_text(text.replace("{refusal}", refusal).replace("{rest}", rest))
        path.chmod(0o755)
        script = from_path(path, event=event, dialect=dialect)
        return certify.certify(script, *bench, families=["canaries"], portable=True)

    return proved


def runs_in(made: HookReport, role: str = "refusal") -> set[str]:
    """Where a refusal holds nothing up; with role "pass": where what passes is held up."""
    assert made.matrix is not None
    return {cell.dialect for cell in made.matrix.cells if cell.answer.role == role and not cell.ok}


def changes(made: HookReport) -> dict[str, change.Change]:
    assert made.matrix is not None
    return {answer.name: found for answer, found in made.matrix.changes}


@pytest.mark.parametrize(
    ("refusal", "where", "remedy"),
    [
        ("echo no >&2; exit 2", set(), None),
        ("exit 2", {CODEX, GEMINI, QWEN}, ("write the reason to stderr, as plain text",)),
        ("echo no; exit 2", {CODEX, QWEN}, ("write the reason to stderr, as plain text",)),
        ("echo no >&2; exit 1", {*CLAUDE, CODEX, GEMINI, QWEN}, ("exit with 2 instead of 1",)),
        (f"echo '{DENY}'", {GEMINI, TEAAGENT}, ('add "decision": "block" and "reason" at the top of the JSON',)),
        (f"echo '{DENY}'; echo no >&2; exit 2", {GEMINI}, ("print nothing on stdout",)),
        (
            """echo '{"verdict":"deny","reason":"no"}'""",
            {*CLAUDE, CODEX, GEMINI, QWEN, TEAAGENT},
            ('print only {"decision": "block", "reason": "..."} on stdout',),
        ),
        ("""echo '{"decision":"block","reason":"no"}'""", {TEAAGENT}, None),
        ("""echo '{"decision":"block"}'""", {CODEX, TEAAGENT}, ('give a "reason"',)),
    ],
)
def test_each_way_of_refusing_runs_where_it_was_seen_to_run_and_the_smallest_change_is_named(
    prove: Prove, refusal: str, where: set[str], remedy: tuple[str, ...] | None
) -> None:
    made = prove(refusal)
    assert runs_in(made) == where
    found = changes(made)
    assert (found["R1"].words if found else None) == remedy
    assert all(one.everywhere for one in found.values())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("echo no >&2; exit 1", "echo no >&2; exit 2"),
        ("exit 2", "echo no >&2; exit 2"),
        (f"echo '{DENY}'; echo no >&2; exit 2", "echo no >&2; exit 2"),
        (f"echo '{DENY}'", f"""echo '{DENY[:-1]},"decision":"block","reason":"no"}}'"""),
    ],
)
def test_a_script_that_is_changed_as_told_blocks_everywhere(prove: Prove, before: str, after: str) -> None:
    told = changes(prove(before))["R1"]
    changed = prove(after)
    assert set(told.agrees) == SCRIPTS
    assert not runs_in(changed) & SCRIPTS
    assert not changes(changed)
    assert changed.refused is not None and changed.refused.fired.exit == told.becomes.exit


def test_a_log_line_on_stdout_is_a_block_where_every_failure_is_one(prove: Prove) -> None:
    made = prove("echo no >&2; exit 2", rest="echo all is well")
    assert runs_in(made, "pass") == {LECODE, TEAAGENT}
    assert changes(made)["P1"].words == ("print nothing on stdout",)
    assert made.matrix is not None
    assert "what it passes is BLOCKED in lecode 1.0" in words.line(made.matrix)


def test_a_change_that_costs_the_context_says_so(prove: Prove) -> None:
    made = prove(
        "echo no >&2; exit 2",
        rest="echo mind the gap",
        event="UserPromptSubmit",
        text=GUARD.replace("git push --force", "hunter2"),
    )
    assert "what it tells the model is lost" in words.remedy(changes(made)["P1"])


def test_a_guard_that_asks_is_told_that_the_change_refuses(prove: Prove) -> None:
    found = changes(prove(f"echo '{DENY.replace('deny', 'ask')}'"))
    assert "it refuses then instead of asking" in words.remedy(found["R1"])


def test_a_rewrite_is_looked_for_in_each_agent(prove: Prove) -> None:
    rewrite = DENY.replace('"deny"', '"allow","updatedInput":{"command":"ls"}')
    made = prove("", text=f"#!/bin/sh\ncat >/dev/null\necho '{rewrite}'\n")
    assert runs_in(made, "pass") == {GEMINI, QWEN, LECODE}
    assert made.matrix is not None
    told = words.line(made.matrix)
    assert "BLOCKED in lecode" in told and "NOT APPLIED in Gemini CLI 0.61.0, Qwen Code 0.24.4" in told


GOOD = suite.fixtures() / "hooks" / "good"


@pytest.mark.parametrize("name", ["case.sh", "deny.py", "lecode-verdict.sh", "prompt-secrets.py", "stop-once.sh"])
def test_a_good_script_of_the_fixtures_is_good_everywhere_or_has_a_change_by_which_it_is(
    bench: tuple[Bench, Reader], name: str
) -> None:
    made = certify.certify(from_path(GOOD / name), *bench, families=["canaries"], portable=True)
    assert made.matrix is not None
    for answer in made.matrix.answers:
        wrong = {cell.dialect for cell in made.matrix.cells if cell.answer is answer and not cell.ok and cell.possible}
        if wrong & SCRIPTS:
            assert changes(made)[answer.name].everywhere


def test_each_cell_has_a_reason_and_says_where_it_is_known_from(prove: Prove) -> None:
    made = prove("exit 2")
    assert made.matrix is not None
    assert {cell.dialect for cell in made.matrix.cells} == {*SCRIPTS, TEAAGENT}
    for cell in made.matrix.cells:
        assert cell.why and cell.source
    codex = next(cell for cell in made.matrix.of(CODEX) if cell.answer.role == "refusal")
    assert ("stderr" in codex.why, codex.source) == (True, "observed at 0.171.0")


def test_the_results_warn_and_never_fail(prove: Prove) -> None:
    made = prove("exit 2")
    told = {case.id: case.status for case in made.cases if case.family == "hook-portability"}
    assert told == {
        "hook/portability/claude-code": "pass",
        "hook/portability/codex": "warn",
        "hook/portability/gemini-cli": "warn",
        "hook/portability/qwen-code": "warn",
        "hook/portability/lecode": "pass",
        "hook/portability/teaagent": "not-applicable",
    }
    assert not made.bad
    codex = next(case for case in made.cases if case.id == "hook/portability/codex")
    assert [(one.name, one.ok) for one in codex.checks] == [("R1", False), ("P1", True), ("call", True)]
    assert "write the reason to stderr" in codex.hint


def test_a_script_that_knows_one_tool_name_only_does_not_know_the_call_elsewhere(prove: Prove) -> None:
    text = "#!/bin/sh\nc=$(cat)\ncase $c in *'\"Bash\"'*'git push --force'*) echo no >&2; exit 2;; esac\n"
    made = prove("", text=text)
    assert made.matrix is not None
    assert {call.dialect: call.ok for call in made.matrix.calls} == {
        CLAUDE[0]: True,
        CODEX: True,
        GEMINI: False,
        QWEN: False,
        LECODE: False,
    }
    gemini = made.matrix.call(GEMINI)
    assert gemini is not None and "run_shell_command" in gemini.why
    assert "NOT KNOWN" in "\n".join(words.table(made.matrix))


def test_an_event_that_holds_nothing_up_is_said_to_be_powerless_there(prove: Prove) -> None:
    text = "#!/bin/sh\ncase $(cat) in *'\"stop_hook_active\":true'*) exit 0;; esac\necho go on >&2; exit 2\n"
    made = prove("", text=text, event="Stop")
    assert runs_in(made) == {LECODE, TEAAGENT}
    assert "no answer that was tried holds Stop up in lecode 1.0" in "\n".join(report.text(made))
    assert not changes(made)


def test_an_event_that_an_agent_does_not_have_is_not_held_against_the_script(prove: Prove) -> None:
    made = prove("", text="#!/bin/sh\necho no >&2; exit 2\n", event="TaskCompleted")
    told = {case.dialect: case.status for case in made.cases if case.family == "hook-portability"}
    assert (told[CODEX], told[GEMINI], told[LECODE]) == ("not-applicable",) * 3


def test_a_script_for_another_agent_is_read_from_there(prove: Prove) -> None:
    made = prove("""echo '{"decision":"deny","reason":"no"}'""", event="BeforeTool", dialect=GEMINI)
    assert made.kind == "guard"
    assert runs_in(made) == {*CLAUDE, CODEX, TEAAGENT}
    assert changes(made)["R1"].words == ('write "decision": "block"',)


@pytest.mark.parametrize(
    ("event", "own", "other", "there"),
    [
        ("PreToolUse", CLAUDE[1], GEMINI, "BeforeTool"),
        ("BeforeTool", GEMINI, LECODE, "PreToolUse"),
        ("SubagentStop", CLAUDE[1], LECODE, "SubagentEnd"),
        ("SubagentEnd", LECODE, CODEX, "SubagentStop"),
        ("AfterAgent", GEMINI, QWEN, "Stop"),
        ("Stop", QWEN, QWEN, "Stop"),
    ],
)
def test_an_event_goes_by_each_agents_own_name(event: str, own: str, other: str, there: str) -> None:
    assert matrix.event_in(event, own, other) == there


def test_an_agent_without_a_version_means_the_newest_that_can_be_read(bench: tuple[Bench, Reader]) -> None:
    readable = {one.name for one in bench[1].readable}
    assert {dialect_named(name) for name in words.NAMES if name != "teaagent"} <= readable


def test_texts_do_not_tell_answers_apart_and_decisions_do() -> None:
    one, two, three = (
        Fired(exit=0, stdout=text.encode()) for text in (DENY, DENY.replace('"no"', '"never"'), DENY.replace("deny", "ask"))
    )
    assert matrix.form(one) == matrix.form(two) != matrix.form(three)


def test_the_ordinary_report_has_a_line_and_the_long_one_a_table(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    path = tmp_path / "guard.sh"
    path.write_text(GUARD.replace("{refusal}", f"echo '{DENY}'").replace("{rest}", ""))
    path.chmod(0o755)
    short = report.text(certify.certify(from_path(path), *bench, families=["canaries"]))
    told = " ".join(short[-2:])
    assert "elsewhere: blocks in Claude Code 2.1.178, Codex" in told and "RUNS in Gemini CLI" in told


def test_the_command_prints_a_stream_with_all_cells(tmp_path: Path) -> None:
    path = tmp_path / "guard.sh"
    path.write_text(GUARD.replace("{refusal}", "echo no >&2; exit 1").replace("{rest}", ""))
    path.chmod(0o755)
    line = [sys.executable, "-m", "hookproof.cli", "check", "--hook", str(path), "--portability", "--family", "answers", "--json"]
    found = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    lines = [json.loads(text) for text in found.stdout.splitlines()]
    portable = [one for one in lines if one.get("family") == "hook-portability"]
    assert found.returncode == 1, found.stderr
    assert len(portable) == len(words.NAMES)
    assert lines[0]["cases"] == len(lines) - 2
    assert {one["status"] for one in portable} <= {"warn", "pass", "not-applicable"}
    assert all(check["saw"] for one in portable for check in one["checks"])
    assert lines[-1]["kind"] == "footer"
