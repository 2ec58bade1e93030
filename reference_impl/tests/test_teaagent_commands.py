"""Ready-made hooks that run a program after a tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof_reference import teaagent
from hookproof_reference.teaagent import HookError, shell_command_hook


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    path = tmp_path / "probe"
    path.write_text('#!/bin/sh\nfor word in "$@"; do printf "[%s]" "$word"; done >>argv\n')
    path.chmod(0o755)
    return path


def test_a_quoted_word_is_one_argument_and_every_metacharacter_is_literal(probe: Path) -> None:
    command = f'{probe} "a b" $HOME * > x "|" & ; `id` $(id) ~'
    shell_command_hook(command, cwd=probe.parent)("t", {}, {})
    assert (probe.parent / "argv").read_text() == "[a b][$HOME][*][>][x][|][&][;][`id`][$(id)][~]"
    assert not (probe.parent / "x").exists()


def test_a_command_after_a_semicolon_is_not_run(probe: Path) -> None:
    with pytest.raises(HookError):
        shell_command_hook(f"true; {probe} x", cwd=probe.parent)("t", {}, {})
    assert not (probe.parent / "argv").exists()


def test_an_unbalanced_quote_starts_nothing(probe: Path) -> None:
    with pytest.raises(HookError, match="cannot be split"):
        shell_command_hook(f"{probe} 'a", cwd=probe.parent)("t", {}, {})
    assert not (probe.parent / "argv").exists()


def test_a_command_that_fails_is_a_complaint_that_shows_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(HookError, match="exit code 3: oh") as raised:
        shell_command_hook("sh -c 'printf oh%0900d >&2; exit 3'", cwd=tmp_path)("t", {}, {})
    assert len(str(raised.value).partition("exit code 3: ")[2]) == 500
    with pytest.raises(HookError, match=r"not done after 0\.2 s"):
        shell_command_hook("sleep 30", timeout=0.2)("t", {}, {})
    with pytest.raises(HookError, match="the command is empty"):
        shell_command_hook("")("t", {}, {})


def test_a_command_runs_only_after_its_tools(probe: Path) -> None:
    hook = shell_command_hook(f"{probe} x", tools={"write"}, cwd=probe.parent)
    hook("read", {}, {})
    assert not (probe.parent / "argv").exists()
    hook("write", {}, {})
    assert (probe.parent / "argv").read_text() == "[x]"


def test_the_lint_hook_is_one_function_under_two_names() -> None:
    assert teaagent.lint_check_hook is teaagent.post_lint_check_hook


def test_the_lint_hook_complains_of_what_the_linter_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linter = tmp_path / "bin" / "ruff"
    linter.parent.mkdir()
    linter.write_text('#!/bin/sh\necho "$*: F401" >&2; exit 1\n')
    linter.chmod(0o755)
    monkeypatch.setenv("PATH", f"{linter.parent}:/usr/bin:/bin")
    hook = teaagent.post_lint_check_hook(tmp_path)
    assert hook("read_file", {}, {}) is None
    with pytest.raises(HookError, match=f"check {tmp_path}: F401"):
        hook("workspace_write_file", {}, {})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook("workspace_write_file", {}, {}) is None
