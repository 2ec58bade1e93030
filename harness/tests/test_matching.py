"""What a probe read is held against what a case wants: keys at the top, keys inside, and the words for both."""

from __future__ import annotations

from typing import Any

from hookproof import matching
from hookproof.cases import StdinMatch

READ = {"event": "PreToolUse", "tool": {"name": "bash", "args": {"command": "ls"}}, "session": None}


def test_keys_inside_fit_where_they_are_exactly_these() -> None:
    assert matching.faults_of_stdin(StdinMatch(keys_of={"tool": ["args", "name"], "tool.args": ["command"]}), READ) == []


def test_a_key_too_many_and_one_too_few_inside_are_named_with_their_path() -> None:
    assert matching.faults_of_stdin(StdinMatch(keys_of={"tool": ["name", "id"]}), READ) == [
        "tool.args is there",
        "tool.id is absent",
    ]


def test_keys_inside_of_what_is_no_object_do_not_fit() -> None:
    wanted = StdinMatch(keys_of={"session": ["id"], "result": ["content"]})
    assert matching.faults_of_stdin(wanted, READ) == ["session is no object", "result is no object"]
    assert matching.faults_of_stdin(wanted, ["a", "list"]) == ['it read ["a", "list"], no object']


def test_keys_at_the_top_and_inside_are_told_in_words() -> None:
    wanted = StdinMatch(keys=["event", "tool"], keys_of={"tool": ["name", "args"]})
    assert matching.wanted_stdin(wanted) == "with exactly the keys event, tool and tool with exactly the keys name, args"
    assert matching.faults_of_stdin(wanted, READ) == ["session is there"]


def test_each_object_of_a_list_has_what_is_wanted_and_there_is_one_at_least() -> None:
    wanted = StdinMatch(each={"tasks": {"type": "shell"}})
    assert matching.faults_of_stdin(wanted, {"tasks": [{"type": "shell", "id": 1}, {"type": "shell"}]}) == []
    mixed = {"tasks": [{"type": "shell"}, {"id": 1}, 5]}
    assert matching.faults_of_stdin(wanted, mixed) == ["tasks.type is absent", "tasks is 5"]
    odds: list[dict[str, Any]] = [{"tasks": []}, {"tasks": {}}, {}]
    for odd in odds:
        assert matching.faults_of_stdin(wanted, odd) == ["tasks is no list with something in it"]
    assert matching.faults_of_stdin(wanted, []) == ["it read [], no object"]
    assert matching.wanted_stdin(wanted) == 'each of tasks with {"type": "shell"}'
