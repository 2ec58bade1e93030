"""Which dialects are judged, and as which versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof.errors import DialectError, UsageError
from hookproof.protocol import HelloAnswer, RunnerInfo
from hookproof.selection import Chosen, Options, choose


def chosen(*declared: str, assume: str | None = None, only: tuple[str, ...] = ()) -> list[Chosen]:
    hello = HelloAnswer(protocol=1, runner=RunnerInfo(name="x"), dialects=list(declared))
    return choose(hello, Options(runner="x", base=Path(), assume=assume, dialects=only))


def test_an_unknown_version_is_judged_as_the_one_that_is_assumed() -> None:
    assert chosen("lecode/9", assume="1.0") == [Chosen("lecode/9", "lecode", "1.0")]


@pytest.mark.parametrize("declared", ["lecode/1.0", "lecode/9"], ids=["known", "unknown"])
def test_a_version_that_nobody_knows_is_not_assumed(declared: str) -> None:
    with pytest.raises(UsageError, match="--assume 9: the suite does not know this version of lecode, claude-code") as caught:
        chosen(declared, "claude-code/2.1.178", assume="9")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("it knows lecode 1.0; claude-code 2.1.178, ")


def test_only_the_dialects_that_are_asked_for_count() -> None:
    with pytest.raises(UsageError, match=r"does not know this version of lecode\n"):
        chosen("lecode/1.0", "claude-code/2.1.178", assume="2.1.178", only=("lecode",))


def test_a_version_is_assumed_only_of_the_dialect_that_has_it() -> None:
    assert chosen("lecode/9", "claude-code/9", assume="1.0") == [Chosen("lecode/9", "lecode", "1.0")]


def test_an_unknown_version_without_an_assumption_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DialectError, match=r'does not know version "9" of lecode; it knows 1\.0'):
        chosen("lecode/9")
