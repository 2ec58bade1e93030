"""Policy files say what a script must do; they are read strictly, judged sample by sample, and written anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof import results
from hookproof.errors import CaseFileError
from hookproof.hooks import policy, samples, updating
from hookproof.hooks.bench import Bench
from hookproof.hooks.check import Probe
from hookproof.hooks.command import opened
from hookproof.hooks.meaning import Reader
from hookproof.hooks.policy import Read, Wanted
from hookproof.hooks.script import Script, from_path

ROOT = Path(__file__).parents[2]
GUARD = "#!/bin/sh\ncase $(cat) in *'git push --force'*) echo 'no forced pushes' >&2; exit 2;; esac\n"
PAYLOAD = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push --force"}}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def bench() -> Iterator[tuple[Bench, Reader]]:
    with opened() as both:
        yield both


@pytest.fixture
def guard(tmp_path: Path) -> Path:
    return script_at(tmp_path / "guard.sh", GUARD)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def started(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": f"{ROOT}/harness:{ROOT}/reference_impl", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env.pop("CLAUDE_PROJECT_DIR", None)
        return subprocess.run(  # type: ignore[call-overload, no-any-return]
            [sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, **more
        )

    return started


CHECK = ("-m", "hookproof.cli", "check", "--hook", "./guard.sh", "--policy", "guard.yaml")


def script_at(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def written(folder: Path, text: str) -> Path:
    path = folder / "guard.yaml"
    path.write_text(f"format: 1\nsamples:\n{text}")
    return path


def outcome(bench: tuple[Bench, Reader], script: Script, found: Read) -> dict[str, list[str]]:
    """Sample -> what of it does not hold."""
    probe = Probe(script, *bench)
    return {
        sample.id: [f"{one.saw} / {one.wanted}" for one in samples.judged(found, sample, probe, [script])]
        for sample in found.policy.samples
    }


# ---- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("  - id: a\n    command: ls\n    expect: denny\n", ":5:13:", "denny"),
        ("  - id: a\n    comand: ls\n", ":4:5:", 'did you mean "command"?'),
        ("  - id: a\n    command: ls\n  - id: a\n    command: ls\n", ":5:5:", "taken by a sample above"),
        ("  - id: force\n    command: ls\n  - id: b\n    same_as: forse\n", ":6:5:", 'did you mean "force"?'),
        ("  - id: a\n    command: ls\n    prompt: hi\n", ":5:5:", "do not go together"),
        ("  - id: a\n", ":3:5:", "nothing is fired"),
        ("  - id: a\n    payload: {}\n    json: '{}'\n", ":5:5:", "give one"),
        ("  - id: a\n    command: ls\n    expect: {verdict: deny, reson: x}\n", ":5:29:", 'did you mean "reason"?'),
    ],
)
def test_what_is_wrong_in_a_policy_is_told_with_its_place(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(CaseFileError) as told:
        policy.read(written(tmp_path, text))
    assert place in str(told.value)
    assert message in str(told.value)


def test_same_as_but_changes_only_what_is_said(tmp_path: Path, guard: Path) -> None:
    found = policy.read(
        written(
            tmp_path,
            "  - id: first\n    payload: {tool_name: Bash, tool_input: {command: a, description: d}, cwd: /x}\n"
            "  - id: second\n    same_as: first\n    but: {tool_input.command: b, more: {deep: 1}}\n    without: [cwd]\n"
            "  - id: third\n    same_as: second\n    but: {tool_input: {command: c}}\n    tool: Other\n"
            "  - id: fourth\n    same_as: first\n    command: d\n",
        )
    )
    made = {one.id: samples.stimulus(found, one, from_path(guard)) for one in found.policy.samples}
    assert made["second"].payload == {
        "tool_name": "Bash",
        "tool_input": {"command": "b", "description": "d"},
        "more": {"deep": 1},
    }
    assert made["third"].payload["tool_input"] == {"command": "c", "description": "d"}
    assert made["third"].tool == "Other"
    assert made["fourth"].payload["tool_input"]["command"] == "d"
    assert made["first"].payload["tool_input"]["command"] == "a"


def test_payloads_come_from_files_and_from_json(tmp_path: Path, guard: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(PAYLOAD))
    found = policy.read(
        written(
            tmp_path,
            "  - {id: a, payload: one.json}\n"
            "  - {id: b, payload: claude-code/2.1.332/PreToolUse.Bash.json}\n"
            '  - id: c\n    json: \'{"tool_name": "X", "x": "\\ud83d"}\'\n'
            "  - {id: d, payload: none.json}\n",
        )
    )
    first, captured, odd, missing = found.policy.samples
    script = from_path(guard)
    assert samples.stimulus(found, first, script).payload == PAYLOAD
    assert samples.stimulus(found, captured, script).tool == "Bash"
    assert samples.stimulus(found, odd, script).payload["x"] == "\ud83d"
    with pytest.raises(CaseFileError, match=r"none\.json"):
        samples.stimulus(found, missing, script)


# ---- judging -------------------------------------------------------------------------------------


def test_each_word_means_what_it_says(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    answer = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"\'$d\'","permissionDecisionReason":"r"}}'
    script = script_at(
        tmp_path / "words.sh",
        f"#!/bin/sh\nd=$(jq -r .tool_input.command)\n[ \"$d\" = nothing ] && exit 0\necho '{answer}'\n",
    )
    right = {"allow": "allow pass approve", "deny": "deny block", "ask": "ask block", "nothing": "allow pass none"}
    lines = [
        f"  - {{id: {does}-{word}, command: {does}, expect: {word}}}\n"
        for does in right
        for word in ("allow", "pass", "approve", "none", "deny", "ask", "block")
    ]
    wrong = outcome(bench, from_path(script), policy.read(written(tmp_path, "".join(lines))))
    held = {sample for sample, findings in wrong.items() if not findings}
    assert held == {f"{does}-{word}" for does, words in right.items() for word in words.split()}


def test_reason_rewrite_context_and_exit_are_looked_at(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    own = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "made safe",
        "updatedInput": {"command": "ls -l", "description": "d"},
        "additionalContext": "it was changed",
    }
    script = script_at(tmp_path / "x.sh", f"#!/bin/sh\ncat <<'E'\n{json.dumps({'hookSpecificOutput': own})}\nE\n")
    good = "verdict: approve, reason: safe, rewrite: {command: ls -l}, context: was changed, exit: 0"
    bad = "verdict: deny, reason: other, rewrite: {command: ls}, context: [more], exit: 2"
    text = f"  - {{id: good, command: ls, expect: {{{good}}}}}\n  - {{id: bad, command: ls, expect: {{{bad}}}}}\n"
    found = outcome(bench, from_path(script), policy.read(written(tmp_path, text)))
    assert found["good"] == []
    assert len(found["bad"]) == 5


def test_a_rewrite_with_the_project_in_it_has_a_stable_name(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    script = script_at(
        tmp_path / "x.sh",
        '#!/bin/sh\njq -c \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow",'
        ' updatedInput: {command: ("cd " + .cwd)}}}\'\n',
    )
    text = "  - {id: a, command: ls, expect: {rewrite: {command: cd /home/dev/project}}}\n"
    assert outcome(bench, from_path(script), policy.read(written(tmp_path, text))) == {"a": []}


def test_a_sample_has_its_own_environment(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    script = script_at(tmp_path / "x.sh", '#!/bin/sh\n[ -n "$STRICT" ] && { echo no >&2; exit 2; }\nexit 0\n')
    text = "  - {id: a, command: ls, expect: deny, env: {STRICT: '1'}}\n  - {id: b, command: ls, expect: allow}\n"
    assert outcome(bench, from_path(script), policy.read(written(tmp_path, text))) == {"a": [], "b": []}


def test_samples_are_results_of_the_run_and_its_canaries(run: Run, guard: Path, tmp_path: Path) -> None:
    written(tmp_path, "  - {id: force, command: git push --force, expect: deny}\n  - {id: ls, command: ls, expect: deny}\n")
    done = run(*CHECK, "--family", "policy", "--results", "r.jsonl")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "hook/policy/ls" in done.stdout
    assert "refuses: given/force" in done.stdout
    report = results.read(tmp_path / "r.jsonl")
    assert {case.id: case.status for case in report.cases} == {"hook/policy/force": "pass", "hook/policy/ls": "fail"}
    words = ("-m", "pytest", "-p", "hookproof.plugin", "-p", "no:cacheprovider", "--hook=./guard.sh", "--policy=guard.yaml")
    done = run(*words, "--case", "hook/policy/force")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    done = run(*words, "--case", "hook/policy/forse")
    assert "did you mean hook/policy/force?" in done.stderr + done.stdout


def test_a_policy_for_settings_knows_which_handler_is_meant(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    folder.mkdir()
    for name, word in (("one.sh", "push"), ("two.sh", "secret")):
        script_at(folder / name, f"#!/bin/sh\ncase $(cat) in *{word}*) echo no >&2; exit 2;; esac\n")

    def group(matcher: str, name: str) -> dict[str, object]:
        return {"matcher": matcher, "hooks": [{"type": "command", "command": f'"$CLAUDE_PROJECT_DIR"/.claude/{name}'}]}

    settings = {"hooks": {"PreToolUse": [group("Bash", "one.sh"), group("Write", "two.sh")]}}
    (folder / "settings.json").write_text(json.dumps(settings))
    written(
        tmp_path,
        "  - {id: push, command: git push, expect: deny}\n"
        "  - {id: secret, path: /home/dev/project/secret, expect: deny}\n"
        "  - {id: unguarded, command: cat secret, hook: two.sh, expect: deny}\n",
    )
    done = run(*CHECK[:3], "--settings", ".claude/settings.json", "--policy", "guard.yaml", "--family", "policy", "--json")
    cases = [json.loads(line) for line in done.stdout.splitlines()][1:-1]
    status = {case["id"]: case["status"] for case in cases}
    one, two = "/hooks/PreToolUse/0/hooks/0", "/hooks/PreToolUse/1/hooks/0"
    assert status == {
        f"hook/policy/push@{one}": "pass",
        f"hook/policy/secret@{one}": "not-applicable",
        f"hook/policy/unguarded@{one}": "not-applicable",
        f"hook/policy/push@{two}": "not-applicable",
        f"hook/policy/secret@{two}": "pass",
        f"hook/policy/unguarded@{two}": "fail",
    }


# ---- writing anew --------------------------------------------------------------------------------

OLD = """\
# my policy
format: 1
dialect: claude-code/2.1.332
samples:
  - id: holds       # a word about it
    command: git push --force
    expect: deny    # stays
  - id: word
    command: git push
    expect: deny  # becomes none
  - {id: flow, command: ls, expect: ask}
  - id: block
    command: git push --force
    expect:
      verdict: deny
      reason: another
    why: the reason changed
  - id: nothing
    command: pwd
"""
NEW = """\
# my policy
format: 1
dialect: claude-code/2.1.332
samples:
  - id: holds       # a word about it
    command: git push --force
    expect: deny    # stays
  - id: word
    command: git push
    expect: none  # becomes none
  - {id: flow, command: ls, expect: none}
  - id: block
    command: git push --force
    expect: {verdict: deny, reason: no forced pushes}
    why: the reason changed
  - id: nothing
    expect: none
    command: pwd
"""


def test_update_shows_a_diff_and_changes_only_expectations(run: Run, guard: Path, tmp_path: Path) -> None:
    (tmp_path / "guard.yaml").write_text(OLD)
    done = run(*CHECK, "--update")
    assert done.returncode == 0, done.stderr
    assert "-    expect: deny  # becomes none\n" in done.stdout
    assert "+    expect: none  # becomes none\n" in done.stdout
    assert "deny    # stays\n-" not in done.stdout
    assert "look twice: word was held" in done.stdout
    assert (tmp_path / "guard.yaml").read_text() == NEW
    assert "nothing to write" in run(*CHECK, "--update").stdout
    assert run(*CHECK, "--family", "policy").returncode == 0


def test_update_without_a_policy_is_told(run: Run, guard: Path) -> None:
    done = run(*CHECK[:-2], "--update")
    assert (done.returncode, "--policy" in done.stderr) == (2, True)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    wanted = Wanted(
        verdict="approve", reason="no", rewrite={"command": "a: b", "n": 1, "x": {"y": [True, None]}}, context=["\ttab", "é", "#"]
    )
    path = written(tmp_path, f"  - id: a\n    command: ls\n    expect: {updating.written(wanted)}\n")
    assert policy.read(path).policy.samples[0].expect == wanted
