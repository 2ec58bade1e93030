"""A runner that removes or changes what it must leave alone is named as the cause: it is not hookproof that failed."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

import hookproof_reference
from hookproof import catalog, suite
from hookproof.engine import Engine, Options
from hookproof.results import CaseResult

ROOT = str(Path(hookproof_reference.__file__ or "").parents[1])
THIRD_PARTY = str(Path(msgspec.__file__).parents[1])
RUNNER = f"""#!{sys.executable}
import json, os, shutil, sys
sys.path[:0] = {[ROOT, THIRD_PARTY]!r}
from hookproof_reference import __main__ as reference
for line in sys.stdin.buffer:
    root = json.loads(line).get("world", {{}}).get("root")
    if root and not AFTER:
        ACT
    answer = reference.answer(line)
    if root and AFTER:
        ACT
    print(json.dumps(answer), flush=True)
"""
KNOWN = catalog.load([suite.conformance()])
CASES = ("lecode/veto/deny-blocks", "lecode/veto/allow-runs")


def asked(folder: Path, act: str, after: bool) -> list[CaseResult]:
    path = folder / "runner"
    path.write_text(RUNNER.replace("ACT", act).replace("AFTER", str(after)))
    path.chmod(0o755)
    engine = Engine(Options(runner=str(path), base=folder, dialects=("lecode",), case_ids=CASES), KNOWN)
    try:
        return [engine.result(job) for job in engine.jobs]
    finally:
        engine.close()


@pytest.mark.parametrize("after", [False, True], ids=["before-it-runs-them", "when-it-ran-them"])
@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("shutil.rmtree(root, ignore_errors=True)", "its world was removed, moved or locked"),
        ("os.rename(root, root + '.old')", "its world was removed, moved or locked"),
        ("shutil.rmtree(root + '/p', ignore_errors=True)", "its world was removed, moved or locked"),
        ("os.rename(root, root + '.old'); os.makedirs(root + '/p')", "its world was replaced"),
        ("shutil.rmtree(os.path.dirname(root), ignore_errors=True)", "the folder of the whole run was removed"),
    ],
    ids=["removed", "moved", "ledger-removed", "replaced", "run-removed"],
)
def test_who_takes_the_world_away_is_named(tmp_path: Path, act: str, words: str, after: bool) -> None:
    for result in asked(tmp_path, act, after):
        assert (result.status, result.error_kind) == ("error", "Wrecked"), result.note
        assert words in result.note
        assert "removes, moves and replaces none" in result.hint


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("os.unlink(root + '/p/journal')", "it no longer says that h1.1 started"),
        ("open(root + '/p/journal', 'w').close()", "it no longer says that h1.1 started"),
        ("os.unlink(root + '/p/journal'); os.mkdir(root + '/p/journal')", "is no file any more"),
        ("print('a word', file=open(root + '/p/journal', 'a'))", "something that is no probe wrote into their journal: 'a word'"),
    ],
    ids=["removed", "emptied", "replaced", "written-into"],
)
def test_who_changes_the_notes_of_the_probes_is_named(tmp_path: Path, act: str, words: str) -> None:
    for result in asked(tmp_path, act, after=True):
        assert (result.status, result.error_kind) == ("error", "Wrecked"), result.note
        assert words in result.note
