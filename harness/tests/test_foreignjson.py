"""JSON of a subject is read, or it is said what is wrong with it; nothing that it writes is more than can be read."""

from __future__ import annotations

import json

import pytest

from hookproof import foreignjson
from hookproof.matching import same


def nested(levels: int) -> str:
    return '{"a":' * (levels // 2) + "[" * (levels - levels // 2) + "]" * (levels - levels // 2) + "}" * (levels // 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("{", "ends in the midst of the JSON, after 1 characters"),
        ('{"a": "tex', "ends in the midst of the JSON, after 10 characters"),
        ("{'a': 1}", "is no JSON at character 2"),
        ("{} {}", "has more behind its first JSON value: '{}'"),
        ("9" * 5000, "holds an integer of 5000 digits"),
        (nested(201), "is nested deeper than 200 levels"),
        (nested(100_000), "is nested deeper than 200 levels"),
        ("[" * 100_000, "is nested deeper than 200 levels"),
    ],
)
def test_what_cannot_be_read_is_told_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="^" + words.replace("{", "\\{").replace("}", "\\}")):
        foreignjson.loads(text)


def test_the_deepest_value_that_is_read_can_be_written_compared_and_shown() -> None:
    found = foreignjson.loads(nested(200))
    assert same(found, json.loads(json.dumps(found)))


def test_brackets_in_a_text_are_no_nesting() -> None:
    assert foreignjson.loads(json.dumps(["[" * 1000])) == ["[" * 1000]


def test_numbers_that_no_double_can_hold_are_compared_all_the_same() -> None:
    huge = foreignjson.loads("9" * 4000)
    assert same(huge, huge)
    assert not same(huge, 1.5)
