"""Gates as subjects: what counts as refused, what as an error, and that no gate passes by refusing or crashing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hookproof
import hookproof_reference
from hookproof import gatecorpus, results
from hookproof.errors import CannotStart, DialectError, UsageError
from hookproof.gates import jobs, spec
from hookproof.gates.ask import Gate
from hookproof.gates.engine import GateEngine, Options
from hookproof.reaper import Reaper

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
    "PYTHONPATH": os.pathsep.join(filter(None, [*ROOTS, os.environ.get("PYTHONPATH")])),
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
LOOKS_FOR_FLAT = """#!/bin/sh
# refuses a flat schema and nothing else
case $1 in */.claude/settings.json) ;; *) exit 0 ;; esac
python3 - "$1" <<'END'
import json, sys
try:
    hooks = json.load(open(sys.argv[1], encoding="utf-8-sig")).get("hooks", {})
except Exception:
    sys.exit(0)
groups = [group for event in hooks.values() if isinstance(event, list) for group in event] if isinstance(hooks, dict) else []
sys.exit(3 if any(isinstance(group, dict) and "command" in group for group in groups) else 0)
END
"""

MakeGate = Callable[[str], str]


@pytest.fixture
def make_gate(tmp_path: Path) -> MakeGate:
    def write(text: str) -> str:
        path = tmp_path / "gate"
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return "./gate"

    return write


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


def run(
    folder: Path, gate: str, *, families: tuple[str, ...] = (), ids: tuple[str, ...] = (), limit_s: float = 10.0
) -> list[results.CaseResult]:
    """All results of a run inside this process."""
    engine = GateEngine(Options(gate=gate, base=folder, families=families, case_ids=ids, limit_s=limit_s))
    try:
        return [engine.result(job) for job in list(engine.jobs)]
    finally:
        engine.close()


def counted(cases: list[results.CaseResult]) -> Counter[str]:
    return Counter(case.status for case in cases)


# ---- what --gate may say -------------------------------------------------------------------------


def test_a_gate_is_a_file_with_arguments(make_gate: MakeGate, tmp_path: Path) -> None:
    make_gate("exit 0")
    found = spec.parse("./gate --strict 'a b'", tmp_path, "claude-code/2.1.332")
    assert found.argv == (str(tmp_path / "gate"), "--strict", "a b")
    assert found.name == "gate"


def test_our_own_lint_is_told_the_version(tmp_path: Path) -> None:
    assert "--profile=claude-code@2.1.178" in spec.parse("lint", tmp_path, "claude-code/2.1.178").argv


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        ("", UsageError, "empty"),
        ("linter", UsageError, 'did you mean "lint"'),
        ("gate", UsageError, 'write "./gate"'),
        ("./none", CannotStart, "does not exist"),
        ("./plain", CannotStart, "chmod +x"),
        ("'./gate", UsageError, "--gate='./gate"),
    ],
)
def test_what_cannot_be_meant_is_said_with_a_hint(
    make_gate: MakeGate, tmp_path: Path, value: str, error: type[Exception], said: str
) -> None:
    make_gate("exit 0")
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    with pytest.raises(error) as caught:
        spec.parse(value, tmp_path, "claude-code/2.1.332")
    assert said in str(caught.value)


# ---- one file ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("does", "word", "error"),
    [
        ("exit 0", "accepted", ""),
        ("exit 1", "refused", ""),
        ("exit 125", "refused", ""),
        ("exit 126", "error", "Died"),
        ("exit 127", "error", "Died"),
        ("exit 139", "error", "Died"),
        ("kill -SEGV $$", "error", "Died"),
        ("sleep 20", "error", "TimedOut"),
        ("trap '' TERM; while :; do sleep 1; done", "error", "TimedOut"),
        ("exec >&-; sleep 20", "error", "TimedOut"),
        ("yes a line", "error", "Flooded"),
        ("head -c 20000000 /dev/zero", "error", "Flooded"),
        ("yes >&2 & sleep 0.2; kill $!; exit 1", "refused", ""),
        ("sleep 30 & exit 0", "accepted", ""),
    ],
)
def test_how_a_gate_ends_is_its_answer(
    make_gate: MakeGate, reaper: Reaper, tmp_path: Path, does: str, word: str, error: str
) -> None:
    made = Gate(spec.parse(make_gate(does), tmp_path, "claude-code/2.1.332"), reaper, tmp_path, limit_s=1.5)
    began = time.monotonic()
    answer = made.ask(tmp_path / "settings.json", tmp_path)
    assert (answer.word, answer.error) == (word, error), answer.saw
    assert time.monotonic() - began < 15


def test_the_settings_file_is_the_last_argument_and_lies_in_its_project(make_gate: MakeGate, tmp_path: Path) -> None:
    told = make_gate('echo "$# $2 $PWD" >&2; test -f "$2" && test -x .claude/hooks/guard.sh && exit 9')
    [case] = run(tmp_path, f"{told} --strict", ids=("gate/correct/guard-bash",))
    count, settings, folder = case.complained.split()
    assert (count, case.checks[0].saw) == ("2", "the gate ended with 9")
    assert settings == f"{folder}/.claude/settings.json"
    assert "guard" not in settings


def test_a_gate_sees_nothing_of_the_callers_secrets(make_gate: MakeGate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "swordfish")
    [case] = run(tmp_path, make_gate("env >&2; exit 1"), ids=("gate/correct/stop",))
    assert "HOME=" in case.complained
    assert "swordfish" not in case.complained


# ---- the whole -----------------------------------------------------------------------------------


def test_a_gate_that_refuses_everything_passes_nothing(make_gate: MakeGate, tmp_path: Path) -> None:
    cases = run(tmp_path, make_gate("exit 1"), families=("shape", "correct"))
    assert set(counted(cases)) <= {"fail", "not-applicable"}
    faulty = next(case for case in cases if case.family == "gate-shape")
    assert [(check.name, check.ok) for check in faulty.checks] == [("refused", True), ("accepted", False)]
    assert "valid twin" in faulty.checks[1].wanted


def test_a_gate_that_crashes_on_everything_passes_nothing(make_gate: MakeGate, tmp_path: Path) -> None:
    cases = run(tmp_path, make_gate("echo 'cannot go on' >&2; kill -ABRT $$"), families=("gate-shape", "correct"))
    assert set(counted(cases)) <= {"error", "not-applicable"}
    assert {case.error_kind for case in cases if case.status == "error"} == {"Died"}
    assert "SIGABRT" in cases[0].note
    assert cases[0].complained == "cannot go on\n"


def test_a_gate_that_crashes_only_on_the_twin_passes_nothing(make_gate: MakeGate, tmp_path: Path) -> None:
    gate = make_gate('grep -q tooluse "$1" && exit 1; kill -KILL $$')
    [case] = run(tmp_path, gate, ids=("gate/event-names/all-lower-case",))
    assert case.status == "error"
    assert case.note.startswith("on the valid twin correct/")
    assert case.note.endswith("the gate was ended by SIGKILL")


def test_a_gate_that_accepts_everything_sees_no_fault(tmp_path: Path) -> None:
    cases = run(tmp_path, "/bin/true", families=("shape", "timeout", "correct"))
    assert {case.status for case in cases if case.family == "gate-correct"} == {"pass", "not-applicable"}
    assert {case.status for case in cases if case.family != "gate-correct"} == {"fail", "not-applicable"}


def test_a_gate_that_hangs_is_given_up_and_ended(make_gate: MakeGate, tmp_path: Path) -> None:
    began = time.monotonic()
    cases = run(tmp_path, make_gate(f"echo $$ >>{tmp_path}/pids; exec sleep 60"), families=("matcher",), limit_s=0.5)
    assert time.monotonic() - began < 40
    assert set(counted(cases)) <= {"error", "not-applicable"}
    assert any("not asked any more" in case.note for case in cases)
    assert not [pid for pid in (tmp_path / "pids").read_text().split() if Path(f"/proc/{pid}").exists()]


def test_a_gate_passes_exactly_what_it_can_tell_from_its_twin(make_gate: MakeGate, tmp_path: Path) -> None:
    cases = run(tmp_path, make_gate(LOOKS_FOR_FLAT), families=("shape",))
    passed = {case.id for case in cases if case.status == "pass"}
    assert "gate/shape/flat-handlers" in passed
    assert 1 <= len(passed) < len(cases)


def test_a_file_without_a_fault_at_the_judged_version_does_not_apply() -> None:
    corpus = gatecorpus.folder()
    of = {version: {job.id: job.why_not for job in jobs.select(corpus, version, (), ())} for version in ("2.1.178", "2.1.332")}
    assert not of["2.1.178"]["gate/matcher/comma-178"]
    assert of["2.1.332"]["gate/matcher/comma-178"] == "no fault at 2.1.332, only at 2.1.178"


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (("lecode",), UsageError),
        (("claude-code/2.1.178", "claude-code/2.1.332"), UsageError),
        (("claude-code/9.9",), DialectError),
    ],
)
def test_a_dialect_without_a_corpus_is_refused(wanted: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        jobs.version_of(wanted)


# ---- the command line ----------------------------------------------------------------------------


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_our_own_lint_passes_as_a_gate(tmp_path: Path) -> None:
    families = [f"--family={name}" for name in ("json", "event-names", "duplicates")]
    ran = command(
        tmp_path, "hookproof.cli", "check", "--gate=lint", "--dialect=claude-code/2.1.178", *families, "--results=out.jsonl"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    report = results.read(tmp_path / "out.jsonl")
    assert report.header.dialects == ["claude-code/2.1.178"]
    assert set(report.footer.counts) <= {"pass", "not-applicable"}
    assert "faulty files told from their valid twins (100 %)" in ran.stdout


def test_pytest_shows_each_file_as_a_test_and_says_how_to_run_it_again(tmp_path: Path) -> None:
    ran = command(
        tmp_path,
        "pytest",
        "-p",
        "hookproof.plugin",
        "--gate=/bin/true",
        "--family=duplicates",
        "--case=gate/duplicates/same-matcher-twice",
    )
    again = next((line for line in ran.stdout.splitlines() if "again: " in line), "")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "conformance/test_gate.py::test_settings_file[gate/duplicates/same-matcher-twice]" in ran.stdout
    assert again.strip() == "again: pytest --gate=/bin/true --case gate/duplicates/same-matcher-twice"
    assert "wanted  an exit code from 1 to 125" in ran.stdout
    assert ran.stdout.rstrip().endswith("0 of 1 faulty files told from their valid twins (0 %)")


def test_known_misses_of_a_gate_are_excused_and_workers_share_the_files(tmp_path: Path) -> None:
    ran = command(tmp_path, "hookproof.cli", "check", "--gate=/bin/true", "--family=if", "--write-known=known.txt")
    assert ran.returncode == 1
    words = ("pytest", "-p", "hookproof.plugin", "-p", "xdist", "-n", "2", "--gate=/bin/true", "--family=if", "--known=known.txt")
    again = command(tmp_path, *words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "known failures" in again.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--gate=./none",), 2, "does not exist"),
        (("--gate=lint", "--runner=reference"), 2, "two kinds of proof"),
        (("--gate=lint", "--smoke"), 2, "--smoke is for runners"),
        (("--gate=lint", "--case=gate/json/nothing"), 2, "no settings file has the id"),
        (("--gate=lint", "--family=nothing"), 2, "no family is called"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_says_why(tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    ran = command(tmp_path, "hookproof.cli", "check", *words)
    assert ran.returncode == code
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_stream_of_a_gate_is_whole(tmp_path: Path) -> None:
    ran = command(tmp_path, "hookproof.cli", "check", "--gate=/bin/true", "--family=duplicates", "--json")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["kind"] for line in lines[:: len(lines) - 1]] == ["header", "footer"]
    assert {line["family"] for line in lines[1:-1]} == {"gate-duplicates"}
    assert lines[0]["certifies"] is False
