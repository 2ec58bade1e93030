"""Guards of files that some of the tools that write pass by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..launch import launches
from ..pattern import pattern
from ..rule import rule
from ..script.seen import is_guard
from .guards import _IN, _matches, _project

_WRITERS = ("Write", "Edit", "NotebookEdit")


@rule(
    id="guard-misses-writers",
    severity="warning",
    title="The guard of files does not see every tool that writes",
    consequence="some calls pass",
    remedy='Write "Write|Edit|NotebookEdit", and look at MCP tools that write (mcp__.*__(write|edit).*).',
    source="public report B100; seed 001, When To Use",
    bad=(_project(_IN + 'case $payload in *secrets*) echo "secrets are protected" >&2; exit 2 ;; esac\n', matcher="Write"),),
    good=(_project(_IN + 'case $payload in *secrets*) echo "secrets are protected" >&2; exit 2 ;'
                         '; esac\n', matcher="Write|Edit|NotebookEdit"),
          _project(matcher="Bash")),
)  # fmt: skip
def _check_writers(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        matcher = launch.handler.matcher
        if (
            launch.handler.event != "PreToolUse"
            or not matcher
            or launch.handler.get("if") is not None
            or not is_guard(context, launch)
        ):
            continue
        caught = {tool for tool in _WRITERS if _matches(matcher, tool)}
        if not caught & {"Write", "Edit"}:
            continue
        by_mcp = _writes_by_mcp(matcher)
        others = {
            tool
            for group in context.groups
            if group.event.key == "PreToolUse" and group is not launch.handler.group and group.matcher is not None
            for tool in _WRITERS
            if _matches(group.matcher.text or "", tool)
        }
        by_mcp = by_mcp or any(
            _writes_by_mcp(group.matcher.text)
            for group in context.groups
            if group.event.key == "PreToolUse" and group.matcher is not None and group.matcher.text
        )
        missed = [tool for tool in _WRITERS if tool not in caught | others]
        node = launch.handler.group.matcher
        if node is None or not (missed or not by_mcp):
            continue
        server = None if by_mcp else next((name for name in context.mcp_servers if _FILE_SERVER.search(name)), None)
        unseen = [*missed, *([] if by_mcp else [f"the tools of {server}" if server is not None else "MCP tools that write"])]
        yield context.at(
            node,
            f'the guard sees "{matcher}" and not {" or ".join(unseen)}',
            severity=None if "Write" in missed or "Edit" in missed or server is not None else "info",
        )


_FILE_SERVER = pattern(r"file|(?:\A|[-_])fs(?:\Z|[-_])|editor|serena|desktop-commander|text-edit", re.I)
"""Names of servers whose tools write files."""


def _writes_by_mcp(matcher: str) -> bool:
    return any(
        _matches(matcher, tool)
        for tool in ("mcp__files__write", "mcp__filesystem__write_file", "mcp__fs__edit_file", "mcp__filesystem__edit_file")
    )
