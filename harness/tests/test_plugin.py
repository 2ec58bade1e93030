"""The pytest plugin in real child processes: what it leaves alone, what it refuses, what a run comes to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import hookproof
import hookproof_reference
from hookproof import results
from hookproof.errors import ResultsError

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
THIRD_PARTY = str(Path(msgspec.__file__).parents[1])
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "HYPOTHESIS_"))},
    "PYTHONPATH": os.pathsep.join(filter(None, [*ROOTS, os.environ.get("PYTHONPATH")])),
    # plugins by name: an installed hookproof would otherwise be registered twice
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
COMMAND = [sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin"]
FORGETFUL = f"""#!{sys.executable}
import sys
sys.path[:0] = {[ROOTS[1], THIRD_PARTY]!r}
from hookproof_reference import __main__, merging
merge = merging.merge
merging.merge = lambda answers, *rest, **more: merge(answers[:1], *rest, **more)
sys.exit(__main__.main())
"""
"""A runner that forgets all answers but the first."""
SECOND_DENIES = "lecode/veto/second-denies"

Prove = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """Run pytest with the plugin in the test's own folder."""

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, env=ENVIRONMENT | more, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def forgetful(folder: Path) -> str:
    path = folder / "forgetful"
    path.write_text(FORGETFUL)
    path.chmod(0o755)
    return "./forgetful"


def last_line(ran: subprocess.CompletedProcess[str]) -> str:
    return ran.stdout.rstrip("\n").rpartition("\n")[2]


def inventory(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def hostile(folder: Path) -> None:
    """A project whose own pytest settings would empty the run, or break it."""
    for name in ("tests", "conformance", "fixtures", "hookproof_like"):
        (folder / name).mkdir()
    (folder / "pytest.ini").write_text(
        "[pytest]\npython_files = check_*.py\npython_functions = check_*\ntestpaths = tests\n"
        "norecursedirs = conformance lecode _suite *\naddopts = tests --strict-markers -p no:randomly\n"
    )
    for place in (folder, folder / "tests"):
        (place / "conftest.py").write_text("raise SystemExit('the conftest was loaded')\n")
    (folder / "conformance" / "test_cases.py").write_text("raise SystemExit('the wrong suite')\n")
    (folder / "tests" / "test_cases.py").write_text("def test_mine():\n    raise SystemExit('not asked for')\n")
    (folder / "pytest.py").write_text("raise SystemExit('not pytest')\n")


# ---- a guest -------------------------------------------------------------------------------------


def test_without_a_subject_nothing_but_the_plugin_is_imported(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_modules():\n"
        "    ours = {name for name in sys.modules if name.split('.')[0] in ('hookproof', 'msgspec', 'yaml', 'rich', 'psutil')}\n"
        "    assert ours == {'hookproof', 'hookproof.plugin'}\n"
    )
    ran = prove()
    assert ran.returncode == 0, ran.stdout


def test_a_bare_name_that_somebody_else_has_is_theirs_as_long_as_no_subject_is_named(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--slow', action='store_true')\n")
    (tmp_path / "test_slow.py").write_text("def test_slow(request):\n    assert request.config.getoption('--slow')\n")
    assert prove("--slow").returncode == 0


def test_help_shows_the_short_names_and_needs_no_subject(prove: Prove) -> None:
    ran = prove("--help")
    assert ran.returncode == 0
    assert "--runner=RUNNER" in ran.stdout
    assert "--hookproof-runner=RUNNER" in ran.stdout


def test_a_foreign_project_neither_empties_nor_changes_the_run_and_is_left_as_it_was(tmp_path: Path, prove: Prove) -> None:
    hostile(tmp_path)
    before = inventory(tmp_path)
    ran = prove("--runner", "reference", "--smoke", "-p", "_hypothesis_pytestplugin", "-p", "pytest_timeout", "-p", "syrupy")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout
    assert last_line(ran).startswith("smoke: wired well")
    assert inventory(tmp_path) == before


@pytest.mark.parametrize("paths", [[], ["tests"]], ids=["conftest-not-loaded", "conftest-loaded"])
def test_a_name_that_is_taken_is_said_with_the_name_that_is_not(tmp_path: Path, prove: Prove, paths: list[str]) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--runner', default='')\n")
    ran = prove("--runner=reference", *paths)
    assert ran.returncode == 4
    assert "--runner is also defined by" in ran.stderr
    assert "write --hookproof-runner" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_long_name_works_beside_a_taken_one(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--runner', default='')\n")
    ran = prove("--hookproof-runner=reference", "--smoke")
    assert ran.returncode == 0, ran.stdout + ran.stderr


# ---- mistakes ------------------------------------------------------------------------------------


def test_an_unknown_case_is_a_usage_error_with_a_suggestion(prove: Prove) -> None:
    ran = prove("--runner=reference", "--case", "lecode/veto/second-denise")
    assert ran.returncode == 4
    assert SECOND_DENIES in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout


def test_a_subject_and_no_conformance_case_is_a_usage_error(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    pass\n")
    ran = prove("--runner=reference", "test_mine.py")
    assert ran.returncode == 4
    assert "no conformance case" in ran.stderr


def test_deselecting_every_case_is_a_usage_error(prove: Prove) -> None:
    ran = prove("--runner=reference", "-k", "no_such_case_at_all")
    assert ran.returncode == 4
    assert "no conformance case" in ran.stderr


@pytest.mark.parametrize("words", [["--runner"], ["--runner=reference", "--case"]])
def test_an_option_without_its_value_is_named(prove: Prove, words: list[str]) -> None:
    ran = prove(*words)
    assert ran.returncode == 4
    assert f"{words[-1]} needs a value" in ran.stderr


@pytest.mark.parametrize("runner", ["/bin/true", "/bin/cat", "./missing", "/"])
def test_a_runner_that_cannot_be_asked_ends_with_2_and_a_hint(prove: Prove, runner: str) -> None:
    ran = prove(f"--runner={runner}", "--smoke")
    assert ran.returncode in (2, 4)
    assert "hint: " in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    assert "passed" not in ran.stdout


def test_the_cases_without_a_subject_fail_with_what_to_write(prove: Prove) -> None:
    from hookproof import suite

    ran = prove(str(suite.conformance() / "test_cases.py"))
    assert ran.returncode == 1
    assert "--runner=./myimpl" in ran.stdout


# ---- a run ---------------------------------------------------------------------------------------


def test_a_failure_is_told_by_rule_and_ledger_and_without_a_traceback(tmp_path: Path, prove: Prove) -> None:
    ran = prove(f"--runner={forgetful(tmp_path)}", "--case", SECOND_DENIES)
    assert ran.returncode == 1
    for words in ("tool_runs", "wanted", "saw", "seen in the ledger", "start t1", "again: pytest --runner=./forgetful --case"):
        assert words in ran.stdout
    assert "hookproof_case()" not in ran.stdout
    assert "Traceback" not in ran.stdout


def test_the_results_come_in_the_order_of_the_collection_and_end_with_a_footer(tmp_path: Path, prove: Prove) -> None:
    selection = ("--runner=reference", "--family=timeout-units", "--family=veto")
    collected = prove(*selection, "--collect-only", "-q")
    ran = prove(*selection, "--results=out.jsonl")
    assert ran.returncode == 0, ran.stdout
    report = results.read(tmp_path / "out.jsonl")
    ids = [line.partition("[")[2][:-1] for line in collected.stdout.splitlines() if "[" in line]
    assert [case.id for case in report.cases] == [test_id.partition("@")[0] for test_id in ids]
    assert all(test_id.partition("@")[2] in ("", case.dialect) for test_id, case in zip(ids, report.cases, strict=True))
    assert report.header.cases == len(ids)
    assert last_line(ran).startswith(report.footer.verdict)


def test_workers_of_xdist_bring_the_same_results(tmp_path: Path, prove: Prove) -> None:
    # where handlers run at once, what this runner forgets depends on who ends first
    selection = (f"--runner={forgetful(tmp_path)}", "--dialect=lecode", "--family=veto")
    one = prove(*selection, "--results=one.jsonl")
    two = prove(*selection, "--results=two.jsonl", "-p", "xdist.plugin", "-n", "2")
    assert (one.returncode, two.returncode) == (1, 1), two.stdout + two.stderr
    alone, spread = results.read(tmp_path / "one.jsonl"), results.read(tmp_path / "two.jsonl")
    assert [(c.id, c.status) for c in spread.cases] == [(c.id, c.status) for c in alone.cases]
    assert spread.footer.counts == alone.footer.counts
    assert last_line(two) == last_line(one)


def test_a_run_that_stops_early_has_no_footer_and_says_so(tmp_path: Path, prove: Prove) -> None:
    ran = prove(f"--runner={forgetful(tmp_path)}", "--family=veto", "-x", "--results=out.jsonl")
    assert ran.returncode != 0
    assert "cut short after" in last_line(ran)
    with pytest.raises(ResultsError, match="footer is missing"):
        results.read(tmp_path / "out.jsonl")


def test_settings_that_can_change_a_verdict_are_named_and_nothing_is_certified(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nusefixtures = tmp_path\nfilterwarnings = error\n")
    ran = prove("--runner=reference", "-k", "second-denies", "--maxfail=3", "--results=out.jsonl")
    assert ran.returncode == 0, ran.stdout
    header = results.read(tmp_path / "out.jsonl").header
    assert not header.certifies
    for words in ("--maxfail=3", "-k second-denies", "usefixtures = tmp_path", "filterwarnings = error"):
        assert words in header.why_not
        assert words in ran.stdout


def test_a_smoke_run_tells_faults_from_wrong_wiring(tmp_path: Path, prove: Prove) -> None:
    deaf = tmp_path / "deaf"
    deaf.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        "request = json.loads(sys.stdin.readline())\n"
        "hello = {'protocol': 1, 'lasting': False, 'runner': {'name': 'deaf'}, 'dialects': ['lecode/1.0'], 'features': []}\n"
        "print(json.dumps(hello) if request['op'] == 'hello' else 'Traceback: oh no')\n"
    )
    deaf.chmod(0o755)
    assert last_line(prove("--runner=./deaf", "--smoke")).startswith("smoke: wired wrongly: ")


def test_sigterm_ends_the_run_without_a_footer_and_without_a_world(tmp_path: Path) -> None:
    command = [
        *COMMAND,
        "--runner=reference",
        "--slow",
        "--case=lecode/timeout-units/two-of-seven-seconds",
        "--results=out.jsonl",
    ]
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as child:
        until = time.monotonic() + 30
        while time.monotonic() < until and not (tmp_path / "out.jsonl").exists():
            time.sleep(0.05)
        time.sleep(1.5)
        child.send_signal(signal.SIGTERM)
        said = child.communicate(timeout=30)[0]
    assert child.returncode == 128 + signal.SIGTERM
    assert "cut short after 0 of 1" in said
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["header"]


def test_an_interrupt_during_the_handshake_is_no_traceback(tmp_path: Path) -> None:
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\ntouch asked\nexec sleep 60\n".replace("asked", str(tmp_path / "asked")))
    mute.chmod(0o755)
    command = [*COMMAND, "--runner=./mute"]
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as child:
        until = time.monotonic() + 30
        while time.monotonic() < until and not (tmp_path / "asked").exists():
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=30)[1]
    assert child.returncode == pytest.ExitCode.INTERRUPTED
    assert "interrupted before the first case" in said
    assert "Traceback" not in said


# ---- known failures ------------------------------------------------------------------------------


def test_known_failures_are_written_once_and_then_excused(tmp_path: Path, prove: Prove) -> None:
    selection = (f"--runner={forgetful(tmp_path)}", "--dialect=lecode", "--family=veto")
    assert prove(*selection, "--write-known=known.txt").returncode == 1
    ran = prove(*selection, "--known=known.txt")
    assert ran.returncode == 0, ran.stdout
    assert f"known failure: {SECOND_DENIES}" in ran.stdout
    assert "known failures without a reason" in ran.stdout
    again = prove(*selection, "--write-known=known.txt")
    assert again.returncode == 4
    assert "is there already" in again.stderr


def test_a_known_failure_that_passes_fails_the_run(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "known.txt").write_text(f"{SECOND_DENIES} fixed long ago\n")
    ran = prove("--runner=reference", "--case", SECOND_DENIES, "--known=known.txt")
    assert ran.returncode == 1
    assert f"{tmp_path / 'known.txt'}:1" in ran.stdout
    assert "stale" in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["--runner=reference", "--runner", "./other"],
        ["--runner=reference", "--hookproof-runner=./other"],
        ["--hookproof-runner", "reference", "--hookproof-runner", "./other"],
    ],
    ids=["bare", "mixed", "long"],
)
def test_a_second_runner_is_refused_and_does_not_win_in_silence(prove: Prove, words: list[str]) -> None:
    ran = prove(*words)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--runner is given twice, as reference and as ./other: give one of them" in ran.stderr


def test_every_option_with_one_value_is_given_once(prove: Prove) -> None:
    for name in ("gate", "results", "assume", "known", "policy"):
        ran = prove(f"--{name}=a", f"--{name}=b", *([] if name == "gate" else ["--runner=reference"]))
        assert ran.returncode == pytest.ExitCode.USAGE_ERROR
        assert f"--{name} is given twice, as a and as b" in ran.stderr


def test_a_runner_in_the_ini_is_overruled_by_the_command_line(tmp_path: Path, prove: Prove) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --hookproof-runner=./nobody\n")
    ran = prove("--runner=reference", "--smoke")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_what_a_failing_case_was_given_is_kept_and_shown(tmp_path: Path, prove: Prove) -> None:
    value = forgetful(tmp_path)
    ran = prove(f"--runner={value}", f"--case={SECOND_DENIES}", "--case=lecode/veto/deny-blocks", "--results=out.jsonl")
    given = {case.id: case.given for case in results.read(tmp_path / "out.jsonl").cases}
    assert given["lecode/veto/deny-blocks"] == []
    settings, request = given[SECOND_DENIES]
    assert settings.what == "project settings WORLD/project/.lecode/config.toml"
    assert settings.text == '[hooks]\nPreToolUse = ["WORLD/p/h1", "WORLD/p/h2", "WORLD/p/h3"]'
    assert json.loads(request.text)["world"]["root"] == "WORLD"
    assert 'PreToolUse = ["WORLD/p/h1", "WORLD/p/h2", "WORLD/p/h3"]' in ran.stdout
