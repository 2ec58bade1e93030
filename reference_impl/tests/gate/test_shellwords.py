"""Shell texts are cut as a shell cuts them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof_reference.gate.shellwords import steps


def _words(command: str) -> list[list[str]]:
    return [[word.value for word in step.words] for step in steps(command)]


def test_operators_part_steps_and_quotes_keep_them() -> None:
    assert _words("a \"b;c\" && d | e 'f|g'; h") == [["a", "b;c"], ["d"], ["e", "f|g"], ["h"]]
    assert [step.then for step in steps("a && b || c; d &")] == ["&&", "||", ";", "&"]


def test_redirections_are_no_words() -> None:
    (step,) = steps("guard.sh -v >> guard.log 2>&1")
    assert [word.value for word in step.words] == ["guard.sh", "-v"]
    assert step.redirects == ((">>", "guard.log"), ("2>&", "1"))


def test_what_stands_outside_of_quotes_is_known() -> None:
    (step,) = steps('"$ROOT"/a $ROOT/b')
    quoted, bare = step.words
    assert "ROOT" not in quoted.bare
    assert "ROOT" in bare.bare


@given(st.lists(st.text("abc$/.-_ \"'", min_size=1, max_size=8), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    assert _words(" ".join(shlex.quote(word) for word in words)) == [words]


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    assert isinstance(steps(text), tuple)


@pytest.mark.parametrize("text", ["'", '"', "\\", "$(", "`", "a '", "${", "<<<", ">", "2>", "|", "&&"])
def test_an_open_end_is_an_end(text: str) -> None:
    steps(text)
