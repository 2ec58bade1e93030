"""The pytest plugin is a guest: it adds a few options, and wakes the engine only when a subject is given.

This module is imported in every pytest run of whoever installed hookproof, so it imports only pytest and
the standard library. What a run does once it has a subject stands in `proof.py`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `--hookproof-NAME` always exists, `--NAME` only in a run that names a subject."""

    name: str
    help: str
    metavar: str | None = None
    """None: a switch."""
    repeatable: bool = False

    @property
    def dest(self) -> str:
        """The attribute of `config.option`."""
        return "hookproof_" + self.name.replace("-", "_")

    def arguments(self) -> dict[str, Any]:
        """The keywords for `addoption`."""
        words: dict[str, Any] = {"dest": self.dest, "help": self.help}
        if self.metavar is None:
            return {**words, "action": "store_true", "default": False}
        if self.repeatable:
            return {**words, "action": "append", "default": [], "metavar": self.metavar}
        return {**words, "action": "store", "default": None, "metavar": self.metavar}


OPTIONS = (
    Option("runner", "the hook runner to judge: a file (./myimpl), reference, or example:NAME", "RUNNER"),
    Option("gate", "the gate to judge, a validator of settings files: a file (./validator), or lint", "GATE"),
    Option("dialect", "judge only this dialect, e.g. lecode or lecode/1.0 (repeatable)", "DIALECT", True),
    Option("family", "only the cases of this family (repeatable)", "FAMILY", True),
    Option("case", "only the case of exactly this id (repeatable)", "ID", True),
    Option("cases", "a folder with case files of your own (repeatable)", "DIR", True),
    Option("results", "write the results, one JSON object per line, to this file", "FILE"),
    Option("slow", "also the cases that need longer than 3 s"),
    Option("smoke", 'three cases and the handshake: tells "wired wrongly" from "has faults"'),
    Option("thorough", "look half a minute for failing examples of each property, instead of a second"),
    Option("examples", "where failing examples of properties are written; default: beside the results", "DIR"),
    Option("assume", "judge a version that the suite does not know as this one; never certifies", "VERSION"),
    Option("known", "a file of known failures, one `ID reason` per line", "FILE"),
    Option("write-known", "write the failures of this run to a new file of known failures", "FILE"),
    Option("hook", "a hook script to prove: ./guard.sh, or a settings file with all its handlers (repeatable)", "SCRIPT", True),
    Option("event", "the event of --hook; else guessed from the script", "EVENT"),
    Option("matcher", "the matcher that --hook will have", "MATCHER"),
    Option("refuse", "a command that --hook must refuse, or a file with a payload (repeatable)", "STIMULUS", True),
    Option("policy", "samples for --hook with what is expected of them", "FILE"),
    Option("portability", "also what the answers of --hook mean in other agents, a test for each, and why"),
    Option("strict-hooks", "a --hook guard that lets pass what it cannot read, or without a program that it needs, fails"),
    Option("accept", "a command that --hook must pass, or a file with a payload (repeatable)", "STIMULUS", True),
)
SUBJECTS = ("runner", "gate", "hook")
"""The options that name a subject: without one of them this plugin does nothing."""

SUITE = pytest.StashKey[Path]()
PROOF = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Only names that nobody else can have."""
    group = parser.getgroup("hookproof", "hookproof: what a hook system really does")
    for option in OPTIONS:
        group.addoption(f"--hookproof-{option.name}", **option.arguments())


# ---- the command line ----------------------------------------------------------------------------


def spelled_out(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments with each bare name written as --hookproof-NAME=VALUE, and the bare names that were used."""
    by_name = {f"--{option.name}": option for option in OPTIONS}
    words: list[str] = []
    used: list[str] = []
    rest: Iterator[str] = iter(args)
    for word in rest:
        if word == "--":
            return [*words, word, *rest], used
        name, equals, value = word.partition("=")
        option = by_name.get(name)
        if option is None:
            words.append(word)
            continue
        used.append(name)
        if option.metavar is not None and not equals:
            try:
                value = next(rest)
            except StopIteration:
                raise pytest.UsageError(f"{name} needs a value: {name}={option.metavar}") from None
            equals = "="
        words.append(f"--hookproof-{option.name}{equals}{value}")
    return words, used


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Give the bare names their meaning, and collect the suite where the user named no paths."""
    words, used = spelled_out(args)
    subject = any(word.partition("=")[0] == f"--hookproof-{name}" for word in words for name in SUBJECTS)
    if not subject:
        result = yield
        if early_config.known_args_namespace.help:
            _offer_bare_names(parser)
        return result
    from . import suite

    args[:] = words
    invocation, _ = spelled_out(early_config.invocation_params.args)
    _refuse_twice(invocation)
    early_config.stash[SUITE] = conformance = suite.conformance()
    ours = not _parsed(early_config, parser, invocation).file_or_dir
    if ours:
        # what is left of paths comes from the user's addopts: it was meant for their own tests
        for path in _parsed(early_config, parser, args).file_or_dir:
            args.remove(path)
        args.append(str(conformance))
    confcutdir = early_config.known_args_namespace.confcutdir
    early_config.known_args_namespace = _parsed(early_config, parser, args)
    early_config.known_args_namespace.confcutdir = str(conformance) if ours else confcutdir
    result = yield
    for name in dict.fromkeys(used):
        owner = _owner(parser, name) or (_owner_not_loaded(early_config, name) if ours else None)
        if owner is not None:
            raise pytest.UsageError(f"{name} is also defined by {owner}; write --hookproof-{name[2:]}")
    if early_config.known_args_namespace.help:
        _offer_bare_names(parser)
    return result


def _refuse_twice(words: Sequence[str]) -> None:
    """An option with one value is given once on a command line; one in addopts may be overruled there."""
    single = {f"--hookproof-{option.name}": option for option in OPTIONS if option.metavar is not None and not option.repeatable}
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return
        if name not in single:
            continue
        value = value if equals else next(rest, "")
        if name in given:
            bare = f"--{single[name].name}"
            raise pytest.UsageError(f"{bare} is given twice, as {given[name]} and as {value}: give one of them")
        given[name] = value


def _parsed(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> argparse.Namespace:
    return parser.parse_known_args(list(args), namespace=copy.copy(config.option))


def _offer_bare_names(parser: pytest.Parser) -> None:
    """For --help: show the short names too."""
    group = parser.getgroup("hookproof")
    for option in OPTIONS:
        if _owner(parser, f"--{option.name}") is None:
            group.addoption(f"--{option.name}", **option.arguments())


def _owner(parser: pytest.Parser, name: str) -> str | None:
    """Who, among the loaded plugins and conftests, has defined an option of this name."""
    for group in [parser._anonymous, *parser._groups]:
        for option in group.options:
            if name in option.names():
                return f'the option group "{group.name}"' if group.name else "another plugin or a conftest.py"
    return None


def _owner_not_loaded(config: pytest.Config, name: str) -> str | None:
    """The user's conftest that defines an option of this name, though our run does not load it."""
    here, root = config.invocation_params.dir, config.rootpath
    above = [folder for folder in (here, *here.parents) if folder == root or root in folder.parents]
    tests = [root / path for path in config.getini("testpaths")]
    for folder in dict.fromkeys([*above, *tests, *sorted(here.glob("test*"))]):
        conftest = folder / "conftest.py"
        if conftest.is_file() and name in _options_defined_in(conftest):
            return str(conftest)
    return None


def _options_defined_in(conftest: Path) -> set[str]:
    try:
        tree = ast.parse(conftest.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    adding = (call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "addoption")
    return {word.value for call in adding for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)}


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Begin the proof: the handshake comes before any test is collected."""
    named = [name for name in SUBJECTS if config.getoption(f"hookproof_{name}")]
    if not named or config.option.help or config.option.version:
        return None
    if len(named) > 1:
        raise pytest.UsageError(f"{' and '.join(f'--{name}' for name in named)} are two kinds of proof: give one of them")
    if named == ["hook"]:
        from .hooks import proof as hook_proof

        hook_proof.begin(config)
        return None
    from . import proof

    return proof.begin(config)


# ---- collecting the suite ------------------------------------------------------------------------


class SuiteModule(pytest.Module):
    """A module of the suite, collected by our own rules and not by those of the user's ini."""

    def funcnamefilter(self, name: str) -> bool:
        """`python_functions` does not count here."""
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        """The suite has no classes."""
        return False

    def _getobj(self) -> Any:
        # by path, under a name of our own: no sys.path entry, no clash with a test_cases.py of the user
        name = f"hookproof_conformance_{self.path.stem}"
        spec = importlib.util.spec_from_file_location(name, self.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module


def _in_suite(path: Path, config: pytest.Config) -> bool:
    suite = config.stash.get(SUITE, None)
    return suite is not None and path.is_relative_to(suite)


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """No `--ignore`, `norecursedirs` or virtual environment hides a part of the suite."""
    if not _in_suite(collection_path, config):
        return None
    # its tests stand side by side: below them are cases and samples, hundreds of files that nobody need look at
    return collection_path.suffix != ".py" and collection_path != config.stash[SUITE]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """The suite's files become our own modules, whatever other plugins make of them."""
    found = yield
    if not _in_suite(file_path, parent.config):
        return found
    if file_path.suffix != ".py" or not file_path.name.startswith("test_"):
        return []
    relative = file_path.relative_to(parent.config.stash[SUITE]).as_posix()
    return [SuiteModule.from_parent(parent, path=file_path, nodeid=f"conformance/{relative}")]


@pytest.fixture
def hookproof_case(request: pytest.FixtureRequest) -> Callable[[], None]:
    """One case of the suite: call it to have the subject judged; raises pytest's own outcomes."""
    return _judgement(request)


@pytest.fixture
def hookproof_property(request: pytest.FixtureRequest) -> Callable[[], None]:
    """One property in one dialect: call it to have a failing example looked for. The test is named after the property."""
    return _judgement(request)


@pytest.fixture
def hookproof_record(request: pytest.FixtureRequest) -> str:
    """What one case of the suite is made of and comes to, as text that is the same in every run."""
    record: str = _proof(request).record(request.param)
    return record


@pytest.fixture
def hookproof_gate(request: pytest.FixtureRequest) -> Callable[[], None]:
    """One settings file of the suite: call it to have the gate judge it, and its valid twin."""
    return _judgement(request)


def _judgement(request: pytest.FixtureRequest) -> Callable[[], None]:
    proof = _proof(request)
    job, item = request.param, request.node
    return lambda: proof.judge(item, job)


def _proof(request: pytest.FixtureRequest) -> Any:
    proof = request.config.stash.get(PROOF, None)
    if proof is None:
        pytest.fail("the suite needs a subject: pytest --runner=./myimpl", pytrace=False)
    return proof


@pytest.fixture
def hook(request: pytest.FixtureRequest) -> Any:
    """A hook script, seen from the test's folder: `hook("./guard.sh").call("Bash", command="rm -rf /").blocks`."""
    from .hooks import fixture

    return fixture.seen_from(request.path.parent)
