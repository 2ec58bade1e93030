"""The lines in which keys stand."""

from __future__ import annotations

import time

import pytest

from hookproof_reference import places


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('[hooks]\nStop = ["x"]', "Stop", 2),
        ('[hooks]\n"Stop" = ["x"]', "Stop", 2),
        ("# Stop = 1\nStopped = 2\nNonStop = 3\n  Stop=4", "Stop", 4),
        ("[hooks.Stop]\nx = 1", "Stop", 1),
        ("\n[hooks]\n", "hooks", 2),
        ("hooks = {Notification = ['Stop'],\n Stop = []}", "Stop", 2),
        ('{"hooks": {"a": [], "Stop": 3}}', "Stop", 1),
        ('{"hooks":\r\n{"a": ["Stop"],\r\n"Stop" : 3}}', "Stop", 3),
        ('{"hooks": ["Stop"]}', "Stop", None),
        ("", "Stop", None),
        ("x = 1", "", None),
    ],
)
def test_the_line_is_the_one_that_gives_the_key_a_value(text: str, key: str, line: int | None) -> None:
    assert places.line_of(text, key) == line


def test_what_is_wrong_is_said_with_its_line_where_that_is_known() -> None:
    assert places.at_line("x = 1\ny = 2", "y", "oh") == "line 2: oh"
    assert places.at_line("x = 1", "y", "oh") == "oh"


def test_looking_for_very_many_keys_takes_no_long_time() -> None:
    keys = [f"key{number}" for number in range(5_000)]
    for text in ("\n".join(f"{key} = 1" for key in keys), ", ".join(f'"{key}": 1' for key in keys) * 100):
        begin = time.monotonic()
        for key in keys:
            places.line_of(text, key)
        assert time.monotonic() - begin < 10
