"""Many answers become one: properties over plain data."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference.dialects.lecode import DIALECT
from hookproof_reference.merging import REASONS, REWRITES, merge
from hookproof_reference.reading import Answer

ORDER = ["allow", "defer", "ask", "deny"]
"""Written down once more, from the document: deny > ask > defer > allow."""

answers = st.lists(
    st.builds(
        lambda verdict, reason, rewrite: Answer(verdict, reason, rewrite) if verdict else Answer(),
        st.sampled_from([*ORDER, None]),
        st.sampled_from(["", "one", "two"]),
        st.none() | st.fixed_dictionaries({}, optional={"n": st.integers(0, 9)}),
    ),
    max_size=5,
)


@pytest.mark.parametrize("verdicts", [*product(ORDER, repeat=2), *product(ORDER, repeat=3)], ids=" ".join)
def test_the_most_severe_verdict_wins_in_every_order(verdicts: tuple[str, ...]) -> None:
    assert merge([Answer(v) for v in verdicts], DIALECT).verdict == sorted(verdicts, key=ORDER.index)[-1]


def test_nobody_who_speaks_means_no_verdict() -> None:
    assert merge([], DIALECT).verdict is None
    assert merge([Answer(), Answer()], DIALECT).verdict is None


@given(answers)
@settings(max_examples=200, deadline=None, database=None, derandomize=True)
def test_the_first_non_empty_reason_is_reported_whoever_gave_it(given_answers: list[Answer]) -> None:
    reasons = [a.reason for a in given_answers if a.reason]
    assert merge(given_answers, DIALECT).reason == (reasons[0] if reasons else "")


@given(answers)
@settings(max_examples=200, deadline=None, database=None, derandomize=True)
def test_the_rewrite_is_that_of_the_most_severe_who_gave_one_and_of_the_first_among_equals(given_answers: list[Answer]) -> None:
    merged = merge(given_answers, DIALECT)
    for verdict in reversed(ORDER):
        rewrites = [a.rewrite for a in given_answers if a.verdict == verdict and a.rewrite is not None]
        if rewrites:
            assert merged.rewrite is rewrites[0]
            return
    assert merged.rewrite is None


@given(answers, st.integers(0, 5))
@settings(max_examples=200, deadline=None, database=None, derandomize=True)
def test_a_silent_handler_changes_nothing_wherever_it_stands(given_answers: list[Answer], place: int) -> None:
    assert merge([*given_answers[:place], Answer(), *given_answers[place:]], DIALECT) == merge(given_answers, DIALECT)


def test_an_empty_object_is_a_rewrite() -> None:
    assert merge([Answer("allow", rewrite={})], DIALECT).rewrite == {}


def test_other_dialects_can_choose_other_reasons_and_rewrites() -> None:
    three = [Answer("allow", "fine", {"n": 1}), Answer("deny", "no", {"n": 2}), Answer("ask", "hm", {"n": 3})]
    assert REASONS["most-severe"](three, DIALECT.severity) == "no"
    assert REWRITES["last"](three, DIALECT.severity) == {"n": 3}
