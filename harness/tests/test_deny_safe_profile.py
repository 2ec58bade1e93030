"""deny-safe is asked of every runner whose posture says that failures block, in its own dialect, and of no other."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from hookproof import catalog, certificate, posture, suite
from hookproof.cases import Handler
from hookproof.engine import Engine, Options
from hookproof.errors import CaseFileError
from hookproof.protocol import Posture
from hookproof.results import Footer, Header

CLOSED = posture.KNOWN["lecode/1.0"]
OPEN = posture.KNOWN["claude-code/2.1.178"]


@pytest.fixture(scope="module")
def loaded() -> catalog.Catalog:
    return catalog.load([suite.conformance()])


def header(declared: Posture | None) -> Header:
    return Header(
        hookproof="0",
        suite="0",
        cases=0,
        subject=["x"],
        runner={"name": "x"},
        dialects=[],
        scope="loop",
        features=[],
        posture=None if declared is None else msgspec.to_builtins(declared),
        foreign=[],
        certifies=True,
        why_not="",
    )


def asked(loaded: catalog.Catalog, declared: Posture | None, *judged: tuple[str, str]) -> list[tuple[str, str]]:
    return [(wanted.name, subject) for wanted, subject in certificate.demanded(loaded, header(declared), judged)]


def test_a_runner_of_core_is_asked_when_all_its_failures_are_closed(loaded: catalog.Catalog) -> None:
    assert asked(loaded, CLOSED, ("core", "1")) == [("core-1", "core/1"), ("deny-safe", "core/1")]


@pytest.mark.parametrize("cause", ["exit", "signal", "timeout", "unreadable", "cannot_start"])
def test_one_failure_that_is_open_is_enough_not_to_be_asked(loaded: catalog.Catalog, cause: str) -> None:
    failure = msgspec.structs.replace(CLOSED.failure, **{cause: "open"})
    assert asked(loaded, msgspec.structs.replace(CLOSED, failure=failure), ("core", "1")) == [("core-1", "core/1")]


def test_a_known_dialect_is_asked_by_the_posture_of_its_rules(loaded: catalog.Catalog) -> None:
    sets = asked(loaded, OPEN, ("lecode", "1.0"), ("claude-code", "2.1.178"))
    assert ("deny-safe", "lecode/1.0") in sets
    assert ("deny-safe", "claude-code/2.1.178") not in sets


def judged(runner: str) -> Footer:
    engine = Engine(Options(runner=runner, base=Path.cwd()))
    try:
        return engine.footer([engine.result(job) for job in engine.jobs], 1)
    finally:
        engine.close()


def test_the_parallel_example_certifies_for_it() -> None:
    footer = judged("example:parallel")
    assert footer.certified == ["core-1", "deny-safe"]
    assert "deny-safe" in footer.verdict


def test_the_example_that_fails_open_keeps_core_and_is_not_asked_for_it() -> None:
    footer = judged("example:inorder")
    assert footer.certified == ["core-1"]
    assert "deny-safe" not in footer.verdict


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "profile: true\nposture: {failure.exot: closed}",
            r'"failure.exot" is no place in a posture; did you mean "failure.exit"',
        ),
        ("profile: true\nposture: {failure.exit: shut}", r'"shut" is no word for failure.exit'),
    ],
)
def test_a_profile_demands_only_what_a_posture_can_say(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "requirements").mkdir()
    text = f'format: 1\nname: mine\ndialect: core\nversion: "1"\nfrozen: "2026-12-01"\n{line}\nrules: [core-deny-is-final]\n'
    (tmp_path / "requirements" / "mine.yaml").write_text(text)
    with pytest.raises(CaseFileError, match=why):
        catalog.load([suite.conformance(), tmp_path])


@pytest.mark.parametrize(("unit", "number"), [("s", 1.5), ("s-or-ms", 1.5), ("ms", 1500)])
def test_a_limit_in_seconds_is_written_in_the_declared_unit(loaded: catalog.Catalog, unit: str, number: float) -> None:
    case = msgspec.structs.replace(
        loaded.entry("core/timeout-units/half-a-second").case, handlers=[Handler(timeout={"seconds": 1.5})]
    )
    resolved = posture.resolve(case, msgspec.structs.replace(CLOSED, timeout_unit=unit))
    assert not isinstance(resolved, str)
    assert resolved.handlers[0].timeout == number
