"""`hookproof lint` as it is called: exit codes, streams, and how long it takes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

_SOUND = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date", "timeout": 5}]}]}}\n'
_BAD = _SOUND.replace("Stop", "stop")


def _lint(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hookproof.cli", "lint", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.mark.parametrize(("text", "code"), [(_SOUND, 0), (_BAD, 1), ("{", 1)])
def test_the_exit_code_tells_whether_the_file_is_accepted(tmp_path: Path, text: str, code: int) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    done = _lint(path)
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.json"], "missing.json: could not be read"),
        (["--profile", "nope", "settings.json"], 'no profile "nope"'),
        (["--compat", "nope", "settings.json"], "documented-13"),
        (["--config", "nope.toml", "settings.json"], "nope.toml"),
        (["--explain", "event-cas"], "event-case"),
        (["--output", "no/such/folder/report", "settings.json"], "no/such/folder"),
    ],
)
def test_what_cannot_be_done_is_two_and_no_traceback(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "settings.json").write_text(_SOUND)
    done = _lint(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_fix_shows_the_difference_and_mends_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(_BAD)
    assert _lint("--diff", path).returncode == 1
    assert path.read_text() == _BAD
    done = _lint("--fix", path)
    assert done.returncode == 0
    assert '-{"hooks": {"stop"' in done.stdout
    assert path.read_text() == _SOUND
    assert "---" not in _lint("--fix", path).stdout


def test_a_report_can_go_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(_BAD)
    done = _lint("--format", "json", "--output", tmp_path / "report.json", path)
    assert (done.returncode, done.stdout) == (1, "")
    [finding] = json.loads((tmp_path / "report.json").read_text())["findings"]
    assert (finding["rule"], finding["line"], finding["column"]) == ("event-case", 1, 12)


def test_rules_are_listed_and_explained() -> None:
    assert "event-case" in _lint("--list-rules").stdout
    assert "case-sensitive" in _lint("--explain", "event-case").stdout


def test_the_page_of_rules_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "LINT-RULES.md"
    assert _lint("--list-rules=markdown").stdout == page.read_text("utf-8"), (
        "hookproof lint --list-rules=markdown > docs/LINT-RULES.md"
    )


def test_hundreds_of_files_cost_little_more_than_one(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(300):
        (tmp_path / "many" / f"{number}.json").write_text(_SOUND * 1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert _lint(tmp_path / "many").returncode == 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    # about a third of a second where nothing else runs
    assert used < 3
