"""Settings files of Claude Code become handlers; what a bad entry takes along differs by version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference import dialects
from hookproof_reference.settings import Loaded, load

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)

GOOD = {"type": "command", "command": "a"}


def loaded(folder: Path, content: Any, version: str, scope: str = "project") -> Loaded:
    path = folder / "settings.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return load([(scope, str(path))], dialects.load(f"claude-code/{version}"))


def hooks(**events: Any) -> dict[str, Any]:
    return {"hooks": events, "permissions": {"deny": ["Bash"]}}


@pytest.mark.parametrize("version", BOTH)
def test_groups_become_handlers_in_order_with_limits_in_seconds(tmp_path: Path, version: str) -> None:
    content = hooks(
        PreToolUse=[{"matcher": "Bash", "hooks": [{**GOOD, "timeout": 1.5}, {**GOOD, "command": "b", "args": ["x"]}]}],
        UserPromptSubmit=[{"hooks": [GOOD]}],
        Stop=[{"hooks": [{"type": "prompt", "prompt": "?"}]}],
    )
    result = loaded(tmp_path, content, version)
    assert [(h.event, h.command, h.timeout, h.matcher) for h in result.handlers] == [
        ("PreToolUse", "a", 1.5, "Bash"),
        ("PreToolUse", "b", 600.0, "Bash"),
        ("UserPromptSubmit", "a", 30.0, None),
        ("Stop", "", 30.0, None),
    ]
    assert (result.handlers[1].arguments, result.report[0].status) == (("x",), "loaded")


BAD_ENTRIES = [
    {"type": "banana", "command": "a"},
    {"command": "a"},
    {"type": "command"},
    {**GOOD, "command": None},
    {**GOOD, "timeout": 0},
    {**GOOD, "timeout": -1},
    {**GOOD, "timeout": "5"},
    {**GOOD, "timeout": None},
    {**GOOD, "timeout": True},
    {**GOOD, "args": None},
    {**GOOD, "args": [1]},
    {**GOOD, "if": 5},
    {**GOOD, "once": 5},
    {**GOOD, "async": "yes"},
    {**GOOD, "shell": "zsh"},
    {**GOOD, "statusMessage": 1},
    {"type": "http", "url": 5},
    {"type": "mcp_tool", "tool": "t"},
    {"type": "mcp_tool", "server": "s", "tool": "t", "input": "x"},
    {"type": "prompt"},
    None,
    [],
    "x",
    5,
    False,
    {},
]


@pytest.mark.parametrize("entry", BAD_ENTRIES, ids=repr)
@pytest.mark.parametrize("version", BOTH)
def test_a_bad_guard_takes_the_whole_file_along(tmp_path: Path, version: str, entry: Any) -> None:
    result = loaded(tmp_path, hooks(PreToolUse=[{"hooks": [GOOD, entry]}], Stop=[{"hooks": [GOOD]}]), version)
    assert (result.handlers, result.rest, result.report[0].status) == ((), (), "rejected")
    assert "PreToolUse[0].hooks[1]" in str(result.report[0].message)


@pytest.mark.parametrize("entry", BAD_ENTRIES, ids=repr)
def test_a_bad_entry_elsewhere_takes_along_only_itself_at_the_newer_version(tmp_path: Path, entry: Any) -> None:
    content = hooks(PostToolUse=[{"hooks": [entry, GOOD]}], PreToolUse=[{"hooks": [GOOD]}])
    result = loaded(tmp_path, content, NEW)
    assert [h.event for h in result.handlers] == ["PostToolUse", "PreToolUse"]
    assert (result.report[0].status, result.report[0].dropped) == ("partial", ["PostToolUse[0].hooks[0]"])
    assert loaded(tmp_path, content, OLD).report[0].status == "rejected"


@pytest.mark.parametrize(
    "group",
    [None, [], "x", 5, {}, {"hooks": None}, {"hooks": {}}, {"hooks": [GOOD], "matcher": None}, {"hooks": [], "matcher": 5}],
    ids=repr,
)
@pytest.mark.parametrize("version", BOTH)
def test_a_bad_group_of_guards_takes_the_whole_file_along(tmp_path: Path, version: str, group: Any) -> None:
    assert loaded(tmp_path, hooks(PreToolUse=[group, {"hooks": [GOOD]}]), version).report[0].status == "rejected"


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        (None, "partial", "partial"),
        ([], "loaded", "loaded"),
        ("x", "partial", "rejected"),
        (5, "partial", "rejected"),
        ({}, "partial", "rejected"),
    ],
    ids=repr,
)
def test_an_event_that_is_no_list(tmp_path: Path, value: Any, old: str, new: str) -> None:
    content = hooks(PreToolUse=value, PostToolUse=[{"hooks": [GOOD]}])
    assert [loaded(tmp_path, content, v).report[0].status for v in BOTH] == [old, new]


@pytest.mark.parametrize("value", [None, [], "x", 5, False], ids=repr)
@pytest.mark.parametrize("version", BOTH)
def test_hooks_that_are_no_object_leave_the_rest_of_the_file(tmp_path: Path, version: str, value: Any) -> None:
    result = loaded(tmp_path, {"hooks": value, "permissions": {"deny": ["Bash"]}}, version)
    assert (result.report[0].status, result.report[0].dropped) == ("partial", ["hooks"])
    assert result.rest[0][1]["permissions"] == {"deny": ["Bash"]}


@pytest.mark.parametrize("version", BOTH)
def test_an_unknown_event_is_left_out_whatever_it_holds(tmp_path: Path, version: str) -> None:
    result = loaded(tmp_path, hooks(preToolUse=["nonsense"], PreToolUse=[{"hooks": [GOOD]}]), version)
    assert (len(result.handlers), result.report[0].dropped) == (1, ["preToolUse"])
    assert 'did you mean "PreToolUse"?' in str(result.report[0].message)


def test_each_version_has_its_own_events(tmp_path: Path) -> None:
    counts = [len(dialects.load(f"claude-code/{version}").events) for version in BOTH]
    assert counts == [30, 34]
    content = hooks(DirectoryAdded=[{"hooks": [GOOD]}])
    assert [loaded(tmp_path, content, v).report[0].status for v in BOTH] == ["partial", "loaded"]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", "loaded"),
        (b" \n", "loaded"),
        (b"{}", "loaded"),
        (b"\xef\xbb\xbf{}", "loaded"),
        ("{}".encode("utf-16"), "loaded"),
        (b'{"x": "caf\xe9"}\r\n', "loaded"),
        (b"{", "rejected"),
        (b"null", "rejected"),
        (b"[]", "rejected"),
        (b"// c\n{}", "rejected"),
        (b'{"a": 1,}', "rejected"),
        (b"{} {}", "rejected"),
        (b"{}\0", "rejected"),
        (b'{"a": NaN}', "rejected"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("version", BOTH)
def test_what_is_a_file_and_what_is_none(tmp_path: Path, version: str, raw: bytes, status: str) -> None:
    assert loaded(tmp_path, raw, version).report[0].status == status


def test_a_file_above_two_mebibytes_is_ignored_at_the_newer_version(tmp_path: Path) -> None:
    content = {"pad": "x" * 2_200_000, **hooks(Stop=[{"hooks": [GOOD]}])}
    assert [loaded(tmp_path, content, v).report[0].status for v in BOTH] == ["loaded", "rejected"]


def test_of_duplicate_keys_the_last_counts(tmp_path: Path) -> None:
    raw = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a", "command": "b"}]}]}}'
    assert [h.command for h in loaded(tmp_path, raw, NEW).handlers] == ["b"]


def test_a_policy_file_with_a_bad_guard_keeps_its_permissions(tmp_path: Path) -> None:
    result = loaded(tmp_path, hooks(PreToolUse=[{"hooks": [{}]}]), NEW, "managed")
    assert (result.handlers, result.report[0].status) == ((), "rejected")
    assert result.rest == (("managed", {"permissions": {"deny": ["Bash"]}}),)


def test_a_limit_that_overflows_is_over_at_once_at_the_older_version(tmp_path: Path) -> None:
    content = hooks(PreToolUse=[{"hooks": [{**GOOD, "timeout": 2_147_484}]}])
    old, new = (loaded(tmp_path, content, version).handlers[0].timeout for version in BOTH)
    assert old < 0.01
    assert new == 2_147_484


@pytest.mark.parametrize(("word", "status"), [("block", "loaded"), ("continue", "loaded"), ("banana", "rejected")])
def test_on_failure_is_a_word_of_the_newer_version(tmp_path: Path, word: str, status: str) -> None:
    content = hooks(PreToolUse=[{"hooks": [{**GOOD, "onFailure": word}]}])
    old, new = (loaded(tmp_path, content, version) for version in BOTH)
    assert (old.report[0].status, new.report[0].status) == ("loaded", status)
    assert old.handlers[0].on_failure is None


@pytest.mark.parametrize(
    ("scopes", "started"),
    [
        ({}, ["user", "project", "managed"]),
        ({"project": {"disableAllHooks": True}}, ["managed"]),
        ({"user": {"disableAllHooks": True}, "project": {"disableAllHooks": False}}, ["user", "project", "managed"]),
        ({"local": {"disableAllHooks": True}}, ["managed"]),
        ({"managed": {"disableAllHooks": True}}, []),
        ({"managed": {"allowManagedHooksOnly": True}}, ["managed"]),
        ({"project": {"allowManagedHooksOnly": True}}, ["user", "project", "managed"]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("version", BOTH)
def test_who_can_switch_hooks_off(claude: ClaudeProject, version: str, scopes: dict[str, Any], started: list[str]) -> None:
    for scope in ("user", "project", "managed"):
        claude.configure(scope=scope, more=scopes.get(scope), Stop=[claude.handler(scope)])
    claude.configure(scope="local", more=scopes.get("local"))
    claude.runner(version).end("bye")
    assert sorted(claude.started()) == sorted(started)


def test_what_is_nested_deeply_is_left_out_at_the_newer_version_and_loses_the_file_at_the_older(tmp_path: Path) -> None:
    deep = b"[" * 20_000 + b'"x]"' + b"]" * 20_000
    raw = json.dumps(hooks(Stop=[{"hooks": [GOOD]}])).encode()[:-1] + b', "deep": ' + deep + b"}"
    old, new = (loaded(tmp_path, raw, version) for version in BOTH)
    assert (old.report[0].status, new.report[0].status) == ("rejected", "loaded")
    assert [h.command for h in new.handlers] == ["a"]
