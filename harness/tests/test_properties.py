"""Properties: each catches a planted fault, holds for the reference, keeps to its budget, and what it finds can be replayed."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import msgspec
import pytest

import hookproof_reference
from hookproof import cli, counterexample, dialects, posture, proving, search, suite
from hookproof.cases import Handler, Say
from hookproof.engine import Engine, Options
from hookproof.errors import CaseFileError, SubjectError, UsageError
from hookproof.ground import Ground, Observation
from hookproof.properties import FAMILY, RELATIONS, Choice, Claimed, Seen
from hookproof.protocol import FEATURES
from hookproof.results import CaseResult

CAUGHT = [
    ("adding-an-allow-never-loosens", "any-allow-wins", "lecode/1.0"),
    ("a-silent-handler-changes-nothing", "silence-forgets-the-verdict", "lecode/1.0"),
    ("a-silent-handler-changes-nothing", "rewrite-lost-beside-silence", "lecode/1.0"),
    ("a-failing-handler-never-loosens", "unreadable-answer-open", "lecode/1.0"),
    ("no-permission-verdict-is-widened", "allow-overrides-the-host", "lecode/1.0"),
    ("a-denied-call-stays-denied-under-reordering", "first-answer-wins", "lecode/1.0"),
    ("a-timed-out-handler-costs-only-itself", "cut-handler-voids-the-event", "claude-code/2.1.332"),
    ("observational-events-never-block", "post-deny-withholds", "lecode/1.0"),
]
"""Property, the fault that it must catch, and in which dialect."""
REFERENCE = Path(hookproof_reference.__file__).parents[1]
DENY, ALLOW = Handler(say=Say(verdict="deny")), Handler(say=Say(verdict="allow"))

Prove = Callable[..., CaseResult]


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """The result of one property for one runner."""

    def run(runner: str, name: str, dialect: str = "lecode/1.0", *, thorough: bool = False) -> CaseResult:
        engine = Engine(
            Options(
                runner=runner,
                base=tmp_path,
                dialects=(dialect,),
                case_ids=(f"property/{name}@{dialect}",),
                examples=tmp_path / "examples",
                thorough=thorough,
            )
        )
        try:
            return engine.prove(engine.properties[0])
        finally:
            engine.close()

    return run


@pytest.fixture
def reference() -> Iterator[Engine]:
    engine = Engine(Options(runner="reference", base=Path.cwd(), families=(FAMILY,)))
    yield engine
    engine.close()


def faulty(fault: str) -> str:
    path = suite.fixtures() / "faulty_runners" / f"{fault}.py"
    return shlex.join([sys.executable, "-S", str(path)])


def runner(folder: Path, change: str) -> str:
    """The reference with a change of its own, as a program."""
    path = folder / "runner"
    path.write_text(
        f"#!{sys.executable} -S\nimport sys, time, os\nsys.path.insert(0, {str(REFERENCE)!r})\n"
        f"from hookproof_reference import __main__, runner\n{change}\nsys.exit(__main__.main())\n"
    )
    path.chmod(0o755)
    return "./runner"


def ground(name: str, version: str) -> Ground:
    decided = posture.KNOWN[f"{name}/{version}"]
    return Ground(dialects.load(name), version, f"{name}/{version}", decided, frozenset(FEATURES), "loop")


def observed(*runs: int, hook: str = "allow", started: tuple[str, ...] = (), ended: frozenset[str] = frozenset()) -> Observation:
    return Observation(runs, msgspec.UNSET, started, ended, hook, ("ran",) * len(runs), ())


# ---- what they catch -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "fault", "dialect"), CAUGHT)
def test_a_property_catches_its_fault_and_the_example_replays(
    name: str, fault: str, dialect: str, prove: Prove, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # thorough: a busy machine gets to few examples in a second, and the first failure ends the search anyway
    result = prove(faulty(fault), name, dialect, thorough=True)
    assert (result.status, result.family, result.level) == ("fail", "properties", "must")
    (check,) = result.checks
    assert not check.ok and check.saw and check.wanted == RELATIONS[name].sentence
    assert "a failing example" in result.note and "\nfirst: " in result.note
    (path,) = (tmp_path / "examples").glob("*.yaml")
    assert str(path) in result.hint
    assert cli.main(["replay", str(path), "--runner", faulty(fault)]) == 1
    assert "does not hold" in capsys.readouterr().out
    assert cli.main(["replay", str(path), "--runner", "reference"]) == 0


def test_all_properties_hold_for_the_reference_within_their_budget(reference: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "BUDGET", 5.0)
    began = time.monotonic()
    found = [reference.prove(job) for job in reference.properties]
    took = time.monotonic() - began
    assert [(r.id, r.note) for r in found if r.status not in ("pass", "not-applicable")] == []
    assert {r.id for r in found if r.status == "pass"} >= {f"property/{name}@{dialect}" for name, _, dialect in CAUGHT}
    assert took < 6 * proving.BUDGET


def test_every_property_has_a_test_of_its_name_in_the_suite() -> None:
    trees = [ast.parse(path.read_text()) for path in suite.conformance().glob("test_*.py")]
    functions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    named = [f.name for f in functions if any(a.arg == "hookproof_property" for a in f.args.args)]
    assert sorted(named) == sorted(f"test_{name.replace('-', '_')}" for name in RELATIONS)


# ---- runners that cannot be searched -------------------------------------------------------------


def test_a_slow_runner_is_not_tested_and_it_is_said_why(prove: Prove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "SLOWEST", 0.02)
    slow = "call = runner.Runner.call\nrunner.Runner.call = lambda *a: time.sleep(0.5) or call(*a)"
    result = prove(runner(tmp_path, slow), "adding-an-allow-never-loosens")
    assert result.status == "not-tested"
    assert "an example takes" in result.note


def test_a_runner_that_dies_on_some_input_is_an_error_with_the_example(prove: Prove, tmp_path: Path) -> None:
    dies = (
        "from hookproof_reference import merging\nmerge = merging.merge\n"
        "merging.merge = lambda answers, *more: os._exit(3) if len(answers) > 3 else merge(answers, *more)"
    )
    result = prove(runner(tmp_path, dies), "a-silent-handler-changes-nothing", thorough=True)
    assert (result.status, result.error_kind) == ("error", "Died")
    assert "exit code 3" in result.note and "h4 is silent" in result.note


def test_a_runner_that_does_nothing_right_is_an_error_at_once(prove: Prove, tmp_path: Path) -> None:
    result = prove(runner(tmp_path, "runner.Runner.call = lambda *a: os._exit(4)"), "adding-an-allow-never-loosens")
    assert (result.status, result.error_kind) == ("error", "Died")


def test_a_runner_that_hangs_on_an_example_does_not_hang_the_search(
    prove: Prove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookproof.trial.ANSWER_LIMIT", 1.0)
    hangs = (
        "from hookproof_reference import merging\nmerge = merging.merge\n"
        "merging.merge = lambda answers, *more: time.sleep(60) if len(answers) > 3 else merge(answers, *more)"
    )
    began = time.monotonic()
    result = prove(runner(tmp_path, hangs), "a-silent-handler-changes-nothing")
    assert (result.status, result.error_kind) == ("error", "TimedOut")
    assert time.monotonic() - began < 40


def test_a_relation_that_cannot_be_asked_is_not_applicable_with_the_reason(prove: Prove) -> None:
    result = prove("reference", "a-timed-out-handler-costs-only-itself", "lecode/1.0")
    assert (result.status, result.note) == ("not-applicable", "lecode has no words for the time limit of one handler")


# ---- hypothesis ----------------------------------------------------------------------------------


def test_the_profile_of_the_user_is_neither_used_nor_changed(prove: Prove) -> None:
    before = hypothesis.settings.default
    hypothesis.settings.register_profile("hookproof-test-user", max_examples=1, phases=[], deadline=1)
    hypothesis.settings.load_profile("hookproof-test-user")
    try:
        users = hypothesis.settings.default
        result = prove(faulty("any-allow-wins"), "adding-an-allow-never-loosens")
        assert hypothesis.settings.default is users
        ours = search.settings("hookproof", 50)
    finally:
        hypothesis.settings.register_profile("hookproof-test-before", before)
        hypothesis.settings.load_profile("hookproof-test-before")
    assert result.status == "fail"
    assert (ours.max_examples, ours.deadline, ours.database, ours.derandomize) == (50, None, None, True)
    assert hypothesis.Phase.explain not in ours.phases and hypothesis.Phase.shrink in ours.phases


def test_the_same_examples_are_drawn_in_every_run() -> None:
    place = ground("lecode", "1.0")
    relation = RELATIONS["a-silent-handler-changes-nothing"]

    def drawn() -> list[str]:
        seen: list[str] = []

        def ask(cases: object) -> list[Observation | SubjectError]:
            seen.append(str(cases))
            return [observed(1), observed(1)]

        search.search(relation, place, ask, seconds=60, cost=3)
        return seen

    first = drawn()
    assert len(first) > 20
    assert drawn() == first


def test_a_relation_draws_only_what_the_dialect_can_say_and_the_runner_declares() -> None:
    full = ground("lecode", "1.0")
    bare = Ground(full.dialect, full.version, full.asked, full.posture, frozenset(), "loop")
    assert any(h.say == Say(verdict="ask") for h in full.before)
    assert not any(h.say == Say(verdict="ask") for h in bare.before)
    assert not any(isinstance(h.say, Say) and h.say.verdict is None for h in full.before), (
        "lecode has no answer without a verdict"
    )
    assert RELATIONS["observational-events-never-block"].why_not(bare) == "not declared: post-events"


# ---- the relations as plain functions ------------------------------------------------------------


def test_an_ask_of_the_mode_may_be_lifted_by_an_allow_only_where_the_dialect_says_so() -> None:
    relation = RELATIONS["no-permission-verdict-is-widened"]
    claude, lecode = ground("claude-code", "2.1.332"), ground("lecode", "1.0")
    asked = relation.case(claude, [ALLOW], "ask")
    assert relation.wrong(claude, Seen(asked, observed(1))) is None
    assert relation.wrong(claude, Seen(relation.case(claude, [ALLOW], "deny"), observed(1))) is not None
    assert relation.wrong(claude, Seen(relation.case(claude, [Handler()], "ask"), observed(1))) is not None
    assert relation.wrong(lecode, Seen(asked, observed(1))) is not None


def test_a_handler_that_came_to_its_end_was_not_cut() -> None:
    relation, place = RELATIONS["a-timed-out-handler-costs-only-itself"], ground("claude-code", "2.1.332")
    first = relation.case(place, [ALLOW], "allow")
    second = relation.vary(first, Choice(at=0, extra=relation.inserted(place)[0]))
    assert second is not None
    cut = observed(1, started=("h1", "h2"), ended=frozenset({"h2"}))
    whole = observed(1, started=("h1", "h2"), ended=frozenset({"h1", "h2"}))
    alone = observed(1, started=("h1",), ended=frozenset({"h1"}))
    assert relation.wrong(place, Seen(first, alone, second, cut)) is None
    assert "h1 was not cut" in str(relation.wrong(place, Seen(first, alone, second, whole)))


def test_what_only_the_answer_says_is_a_claim() -> None:
    relation, place = RELATIONS["adding-an-allow-never-loosens"], ground("lecode", "1.0")
    case = relation.case(place, [DENY], "allow")
    ran = relation.wrong(place, Seen(case, observed(0, hook="deny"), case, observed(1, hook="deny")))
    said = relation.wrong(place, Seen(case, observed(0, hook="deny"), case, observed(0, hook="allow")))
    assert ran is not None and not isinstance(ran, Claimed)
    assert isinstance(said, Claimed)


def test_where_it_is_chance_who_ends_first_only_one_handler_rewrites_and_none_allows_beside_it() -> None:
    one, other = (Handler(say=Say(verdict="allow", input={"command": word})) for word in ("a", "b"))
    parallel, sequential = ground("claude-code", "2.1.178"), ground("lecode", "1.0")
    assert parallel.settled([ALLOW, one, DENY, other]) == [one, DENY]
    assert parallel.settled([ALLOW, DENY, ALLOW]) == [ALLOW, DENY, ALLOW]
    assert sequential.settled([ALLOW, one, DENY, other]) == [ALLOW, one, DENY, other]


def test_a_reordering_keeps_the_handlers() -> None:
    relation, place = RELATIONS["a-denied-call-stays-denied-under-reordering"], ground("lecode", "1.0")
    case = relation.case(place, [DENY, ALLOW, Handler()], "allow")
    second = relation.vary(case, Choice(order=(2, 0, 1)))
    assert second is not None and second.handlers == [Handler(), DENY, ALLOW]


# ---- the file, and choosing ----------------------------------------------------------------------


def written(folder: Path) -> Path:
    relation, place = RELATIONS["adding-an-allow-never-loosens"], ground("lecode", "1.0")
    first = relation.case(place, [DENY, Handler(exit=2, stderr="no: 'yes'\n")], "ask")
    second = relation.vary(first, Choice(at=1, extra=ALLOW))
    return counterexample.write(folder, relation, place, (first, second), "it ran")


def test_an_example_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    example = counterexample.read(written(tmp_path))
    relation, place = RELATIONS[example.property], ground("lecode", "1.0")
    assert example.second is not None
    first, second = (counterexample.case_of(each, relation, place) for each in (example.first, example.second))
    assert first == relation.case(place, [DENY, Handler(exit=2, stderr="no: 'yes'\n")], "ask")
    assert second == relation.vary(first, Choice(at=1, extra=ALLOW))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("verdict: deny", "verdikt: deny", '"verdikt" is no answer field; did you mean "verdict"?'),
        ("property: adding-an", "property: addin-an", 'did you mean "adding-an-allow-never-loosens"?'),
        ("dialect: lecode/1.0", "dialect: lecode/7", 'the suite does not know version "7" of lecode'),
        ("property: adding-an-allow-never-loosens", "property: no-permission-verdict-is-widened", "is a bound on one run"),
        ("  call:", "  call2:", '"call2" is no described field'),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_the_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(CaseFileError) as refused:
        counterexample.read(path)
    assert said in str(refused.value)
    assert f"{path.name}:" in str(refused.value).partition(" ")[0]


def test_replay_refuses_what_cannot_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path)
    assert cli.main(["replay", str(path), "--runner", "/bin/true"]) == 2
    path.write_text(path.read_text().replace("verdict: allow", "context: more"))
    assert cli.main(["replay", str(path), "--runner", "reference"]) == 2
    assert "lecode has no words" in capsys.readouterr().err


def test_a_property_is_chosen_by_its_id_and_an_unknown_one_is_refused() -> None:
    def chosen(**options: object) -> list[str]:
        engine = Engine(Options(runner="reference", base=Path.cwd(), dialects=("lecode",), **options))  # type: ignore[arg-type]
        engine.close()
        return [job.id for job in engine.properties]

    everything = [f"property/{name}@lecode/1.0" for name in RELATIONS]
    assert chosen() == everything
    assert chosen(families=("properties",)) == everything
    assert chosen(case_ids=("property/adding-an-allow-never-loosens",)) == everything[:1]
    assert chosen(case_ids=(everything[2],)) == everything[2:3]
    assert chosen(families=("veto",)) == chosen(smoke=True) == chosen(case_ids=("lecode/veto/second-denies",)) == []
    with pytest.raises(UsageError, match="did you mean"):
        chosen(case_ids=("property/adding-an-allow-never-loosen",))


def test_a_run_of_pytest_shows_the_example_and_writes_it_beside_the_results(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(cli.__file__).parents[1]), str(REFERENCE)])
    ran = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin", f"--runner={faulty('any-allow-wins')}"),
            *("--dialect=lecode", "--family=properties", "--results=r.jsonl"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 1
    assert "second: a tool call, the host says allow" in ran.stdout
    assert "hookproof replay" in ran.stdout
    assert "skipped" not in ran.stdout
    assert "properties: " in ran.stdout and " examples" in ran.stdout
    assert (tmp_path / "adding-an-allow-never-loosens.lecode-1.0.yaml").is_file()
    assert not (tmp_path / ".hypothesis").exists()
