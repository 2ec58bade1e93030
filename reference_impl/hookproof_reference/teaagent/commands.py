"""Ready-made hooks run a program after a tool has run, and complain when it fails."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Collection, Sequence
from typing import Any

from ..handlers import Place, process
from .hooks import HookError, PostToolUseHookFn

LIMIT = 30.0
"""Seconds that a program may take (observed)."""

SHOWN = 500
"""Characters of a program's stderr that a complaint shows (observed)."""

CHANGES_FILES = frozenset({"workspace_write_file", "workspace_apply_patch", "workspace_edit_at_hash", "git_commit"})
"""The tools after which the linter runs (observed)."""


def shell_command_hook(
    command: str, *, tools: Collection[str] = (), cwd: str | os.PathLike[str] | None = None, timeout: float = LIMIT
) -> PostToolUseHookFn:
    """A hook that runs a command after these tools, or after all; it raises HookError when the command fails.

    Despite its name no shell sees the command: it is split into words, in which every character stands
    for itself but for quotes and backslashes (000, Invariants). A command that cannot be split starts nothing.
    """

    def run(tool: str, arguments: dict[str, Any], result: dict[str, Any], /) -> None:
        if tools and tool not in tools:
            return
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise HookError(f"the command cannot be split: {command}: {error}") from None
        if not words:
            raise HookError("the command is empty")
        _must_end_well(words, f"the command failed: {command}", cwd, timeout)

    return run


def post_lint_check_hook(root: str | os.PathLike[str], *, tools: Collection[str] = CHANGES_FILES) -> PostToolUseHookFn:
    """A hook that runs `ruff check` on a folder after files were changed; it raises HookError for findings.

    Without ruff it does nothing (observed).
    """

    def lint(tool: str, arguments: dict[str, Any], result: dict[str, Any], /) -> None:
        if tool in tools and shutil.which("ruff") is not None:
            _must_end_well(["ruff", "check", os.fspath(root)], "the linter complains", None, LIMIT)

    return lint


lint_check_hook = post_lint_check_hook
"""The same function under its older name (000, Invariants)."""


def _must_end_well(words: Sequence[str], complaint: str, cwd: str | os.PathLike[str] | None, limit: float) -> None:
    try:
        ended = process.run(words, b"", Place(os.path.abspath(cwd or os.getcwd()), os.environ), limit)
    except OSError as error:
        raise HookError(f"{complaint}: {error}") from None
    if ended.cannot_start is not None:
        raise HookError(f"{complaint}: {ended.cannot_start}")
    if ended.timed_out:
        raise HookError(f"{complaint}: not done after {limit} s")
    if ended.exit != 0:
        how = f"exit code {ended.exit}" if ended.signal is None else f"signal {ended.signal}"
        said = (ended.stderr.strip() or ended.stdout.strip())[:SHOWN]
        raise HookError(f"{complaint}: {how}" + (f": {said}" if said else ""))
