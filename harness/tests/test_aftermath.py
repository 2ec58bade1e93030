"""What a runner does after an answer costs the case that it answered, whichever is asked next, and whenever that is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import hookproof
import hookproof_reference
from hookproof import catalog, results, suite
from hookproof.engine import Engine, Options

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
THIRD_PARTY = str(Path(msgspec.__file__).parents[1])
RUNNER = f"""#!{sys.executable}
import json, os, sys, time
sys.path[:0] = {[ROOTS[1], THIRD_PARTY]!r}
from hookproof_reference import __main__ as reference
for line in sys.stdin.buffer:
    answer = reference.answer(line)
    if "dialects" in answer:
        answer["lasting"] = LASTING
    # looked at before the answer: behind it, its world is gone
    guilty = any("/h2" in open(settings["path"]).read() for settings in json.loads(line).get("settings", []))
    print(json.dumps(answer), flush=True)
    if guilty:
        time.sleep(DELAY)
        ACT
"""
"""The reference, with something behind its answer to each case of two handlers or more."""
KNOWN = catalog.load([suite.conformance()])
GUILTY = {e.id for e in KNOWN.entries if e.family == "veto" and e.dialect == "lecode" and len(e.case.handlers) > 1}


def runner(folder: Path, act: str, delay: float = 0.0, lasting: bool = True) -> str:
    path = folder / "runner"
    path.write_text(RUNNER.replace("ACT", act).replace("DELAY", str(delay)).replace("LASTING", str(lasting)))
    path.chmod(0o755)
    return str(path)


def erring(value: str, folder: Path) -> dict[str, str]:
    """The cases that were errors, with their notes."""
    engine = Engine(Options(runner=value, base=folder, dialects=("lecode",), families=("veto",)), KNOWN)
    try:
        found = [engine.result(job) for job in engine.jobs if job.entry.dialect == "lecode"]
    finally:
        engine.close()
    return {result.id: f"{result.error_kind}: {result.note}" for result in found if result.status == "error"}


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.02], ids=["at-once", "soon", "later"])
@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("print('a word', flush=True)", "NotProtocol: more than one line came for request r"),
        ("print(json.dumps(answer), flush=True)", "NotProtocol: more than one line came for request r"),
        ("os._exit(3)", "Died: the runner ended with exit code 3 after its answer to request r"),
        ("os.kill(os.getpid(), 9)", "Died: the runner was ended by SIGKILL after its answer to request r"),
        ("os.close(1); time.sleep(99)", "Died: the runner closed its stdout after its answer to request r"),
    ],
    ids=["a-word", "the-answer-again", "exit", "signal", "closed-stdout"],
)
def test_what_follows_an_answer_costs_the_case_that_was_answered(tmp_path: Path, act: str, words: str, delay: float) -> None:
    found = erring(runner(tmp_path, act, delay), tmp_path)
    assert set(found) == GUILTY
    assert all(note.startswith(words) for note in found.values()), found


def test_a_runner_that_is_started_for_each_request_is_held_to_one_line_too(tmp_path: Path) -> None:
    found = erring(runner(tmp_path, "print('a word', flush=True)", 0.02, lasting=False), tmp_path)
    assert set(found) == GUILTY
    assert all(note.startswith("NotProtocol: more than one line came") for note in found.values()), found


def test_blank_lines_between_answers_are_nobodys(tmp_path: Path) -> None:
    assert erring(runner(tmp_path, "print('\\n', flush=True)", 0.003), tmp_path) == {}


def test_workers_blame_the_same_cases(tmp_path: Path) -> None:
    value = runner(tmp_path, "print('a word', flush=True)", 0.003)
    words = ["-p", "xdist.plugin", "-n", "2", f"--runner={value}", "--dialect=lecode", "--family=veto", "--results=out.jsonl"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": os.pathsep.join([*ROOTS, THIRD_PARTY]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin", *words]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    erred = {case.id for case in results.read(tmp_path / "out.jsonl").cases if case.status == "error"}
    assert {case_id for case_id in erred if case_id.startswith("lecode/")} == GUILTY
