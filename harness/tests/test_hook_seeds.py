"""A script's own words become calls that reach what it looks for, whatever tool and key that stands in."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof.hooks import repository, seeds
from hookproof.hooks.bench import Bench
from hookproof.hooks.check import Probe
from hookproof.hooks.command import opened
from hookproof.hooks.meaning import Reader
from hookproof.hooks.script import from_path
from hookproof.hooks.search import Canaries, search

LOAD = "import json, sys\nd = json.load(sys.stdin)\nt = d.get('tool_input') or {}\nn = d.get('tool_name')\n"
NO = "print('no', file=sys.stderr); sys.exit(2)\n"


@pytest.fixture(scope="module")
def bench() -> Iterator[tuple[Bench, Reader]]:
    with opened() as both:
        yield both


def found(bench: tuple[Bench, Reader], folder: Path, text: str) -> Canaries:
    path = folder / "guard"
    path.write_text(text)
    path.chmod(0o755)
    script = from_path(path)
    return search(script, Probe(script, *bench).shoot_all)


@pytest.mark.parametrize(
    "condition",
    [
        'n.startswith("mcp__postgres__") and "drop table" in json.dumps(t).lower()',
        'n == "WebFetch" and t.get("url", "").split("/")[2:3] == ["pastebin.com"]',
        'n in ("Task", "Agent") and t["subagent_type"] == "deployer"',
        'n == "Grep" and "api_key" in t.get("pattern", "")',
        'n == "Edit" and "breakpoint()" in t.get("new_string", "")',
        'n == "NotebookEdit" and t["notebook_path"].endswith("/locked.ipynb")',
        '(t.get("command") or "").split()[:2] == ["vault", "write"]',
        'len(t.get("content") or "") > 20_000',
        '(t.get("content") or "").count("x") >= 400 and len(t) > 1',
    ],
)
def test_a_guard_of_any_tool_and_key_is_seen_to_refuse(bench: tuple[Bench, Reader], tmp_path: Path, condition: str) -> None:
    made = found(bench, tmp_path, f"#!/usr/bin/env python3\n{LOAD}if {condition}:\n    {NO}")
    assert made.refused is not None
    assert made.passed is not None


def test_a_guard_that_refuses_only_alone_is_seen_to_refuse(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    place = tmp_path / "busy"
    text = f"""#!/bin/sh
mkdir {place} 2>/dev/null || exit 0
c=$(cat)
sleep 0.05
rmdir {place}
case $c in *'crontab -r'*) echo no >&2; exit 2;; esac
"""
    assert found(bench, tmp_path, text).refused is not None


def test_a_guard_of_the_branch_finds_itself_on_main(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    text = """#!/bin/sh
case $(cat) in *'git commit'*) [ "$(git rev-parse --abbrev-ref HEAD)" = main ] && { echo 'not on main' >&2; exit 2; };; esac
exit 0
"""
    made = found(bench, tmp_path, text)
    assert made.refused is not None
    assert not [name for shot in made.shots for name in shot.fired.wrote]


def test_the_repository_is_whole(tmp_path: Path) -> None:
    repository.write(tmp_path)
    repository.write(tmp_path)  # a second time it stays as it is
    asked = subprocess.run(["git", "-C", tmp_path, "fsck", "--strict"], capture_output=True, text=True)
    assert (asked.returncode, asked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ("jq -r '.tool_input.url // empty'", ["url"]),
        ('data["tool_input"]["query"]', ["query"]),
        ('data.get("tool_input", {}).get("sql")', ["sql"]),
        ("p?.tool_input?.branch ?? ''", ["branch"]),
        ("jq -r .tool_input.command", []),
    ],
)
def test_the_keys_that_a_script_reads_are_known(source: str, keys: list[str]) -> None:
    assert seeds.keys_in(source) == keys


def test_the_beginning_of_a_tools_name_becomes_a_whole_one() -> None:
    assert [seeds.whole(name) for name in ("mcp__db__", "mcp__db", "mcp__db__write", "WebFetch", "mcp__")] == [
        *("mcp__db__query", "mcp__db__query", "mcp__db__write", "WebFetch", "mcp__server__query")
    ]
