"""All case files become one catalog: ids are unique, rules and twins exist, and cases are found by name."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from . import __version__, casecheck, casefile, dialects, requirements, statements, strictyaml, suite
from .cases import Case, Rule, Strict
from .errors import HarnessError, UsageError
from .mistakes import Mistake, Mistaken, failure, near, near_id, shown, suggestion
from .requirements import RequirementSet
from .statements import StatementFile
from .strictyaml import Document

RETIRED = "retired.yaml"
"""The file that lists ids of cases and rules that may never come back."""
REQUIREMENTS = "requirements"
"""The folder of the requirement sets, beside the folders of the dialects."""


class RetiredFile(Strict, kw_only=True):
    """Ids that were in use once, each with why it went."""

    format: Literal[1]
    retired: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """One case with what belongs to it."""

    case: Case
    rule: Rule
    dialect: str
    family: str
    path: Path
    line: int

    @property
    def id(self) -> str:
        """The case's id."""
        return self.case.id

    @property
    def versions(self) -> tuple[str, ...]:
        """The dialect versions in which it is asked; empty: all."""
        return tuple(self.case.versions or self.rule.versions)

    def holds_in(self, version: str) -> bool:
        """Whether it is asked in this version of its dialect."""
        return not self.versions or version in self.versions


@dataclass(frozen=True, slots=True)
class Catalog:
    """Every case and rule that was loaded, in the order of the files."""

    entries: tuple[Entry, ...]
    rules: dict[str, tuple[Rule, str]]
    """Rule id -> the rule and its dialect."""
    retired: frozenset[str]
    requirements: tuple[RequirementSet, ...] = ()
    """The frozen requirement sets, by name."""
    statements: tuple[StatementFile, ...] = ()
    """The rows of the source documents, one list for each dialect."""
    _by_id: dict[str, Entry] = field(default_factory=dict, repr=False)
    _digests: list[str] = field(default_factory=list, repr=False)
    """The hash once it was asked for."""

    def __post_init__(self) -> None:
        self._by_id.update((entry.id, entry) for entry in self.entries)

    def entry(self, case_id: str) -> Entry:
        """The case of this id. Raises UsageError that says which id was probably meant."""
        if case_id in self._by_id:
            return self._by_id[case_id]
        if case_id in self.retired:
            raise UsageError(f'the case "{case_id}" was retired')
        meant = near_id(case_id, self._by_id)
        hint = f'did you mean "{meant}"?' if meant else "`hookproof cases list` lists all"
        raise UsageError(f'there is no case "{case_id}"', hint)

    def rule(self, rule_id: str) -> tuple[Rule, str]:
        """The rule of this id and its dialect. Raises UsageError."""
        if rule_id in self.rules:
            return self.rules[rule_id]
        meant = near(rule_id, self.rules)
        hint = f'did you mean "{meant}"?' if meant else "`hookproof rules list` lists all"
        raise UsageError(f'there is no rule "{rule_id}"', hint)

    def select(
        self, dialects: Sequence[str] = (), families: Sequence[str] = (), ids: Sequence[str] = (), *, smoke: bool = False
    ) -> tuple[Entry, ...]:
        """The cases that all given filters let through. Raises UsageError for a name that names nothing.

        A dialect is a name without version; a family is `veto` or `lecode/veto`; `smoke` keeps the
        cases with that tag.
        """
        _known("dialect", dialects, sorted({entry.dialect for entry in self.entries}))
        names = {entry.family for entry in self.entries} | {f"{entry.dialect}/{entry.family}" for entry in self.entries}
        _known("family", families, sorted(names))
        wanted = {self.entry(case_id).id for case_id in ids}
        return tuple(
            entry
            for entry in self.entries
            if (not dialects or entry.dialect in dialects)
            and (not families or entry.family in families or f"{entry.dialect}/{entry.family}" in families)
            and (not ids or entry.id in wanted)
            and (not smoke or "smoke" in entry.case.tags)
        )

    @property
    def digest(self) -> str:
        """The hash of all its cases."""
        if not self._digests:
            self._digests.append(digest_of(self.entries))
        return self._digests[0]

    def export(self) -> dict[str, Any]:
        """Everything in one JSON object, payloads filled in: for authors in any language."""
        return {
            "format": 1,
            "hookproof": __version__,
            "suite": self.digest,
            "rules": {name: {"dialect": dialect, **msgspec.to_builtins(rule)} for name, (rule, dialect) in self.rules.items()},
            "cases": [_plain(entry) for entry in self.entries],
            "retired": sorted(self.retired),
        }


def digest_of(entries: Iterable[Entry]) -> str:
    """A short hash of what these cases demand: 12 hexadecimal digits of SHA-256, the same on every machine."""
    plain = [{**_plain(entry), "sentence": msgspec.to_builtins(entry.rule)} for entry in sorted(entries, key=lambda e: e.id)]
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def load(folders: Sequence[Path]) -> Catalog:
    """All cases of these folders (or files); the suite's own folder is `suite.conformance()`.

    Raises CaseFileError that lists all that is wrong, UsageError for a folder without any case file.
    """
    catalog, mistakes = examine(folders)
    if mistakes:
        raise failure(mistakes)
    return catalog


def examine(folders: Sequence[Path]) -> tuple[Catalog, list[Mistake]]:
    """As `load`, but with all mistakes as data; a file with mistakes contributes no cases."""
    gathering = _Gathering()
    with _no_collection():
        for folder in folders:
            for path in _files(folder):
                gathering.read(path)
        return gathering.finish()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nearly all that is made here is kept: looking for garbage in it again and again takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of cases")
    found = [path for path in folder.rglob("*.yaml") if "payloads" not in path.relative_to(folder).parts[:-1]]
    if not found:
        raise UsageError(f"{folder}: no case file (*.yaml) is in this folder", "`hookproof new case` begins one")
    return sorted(found)


class _Gathering:
    """Collects files, then checks across them."""

    def __init__(self) -> None:
        self.seen: set[Path] = set()
        self.reads: list[casefile.Read] = []
        self.sets: list[tuple[RequirementSet, Document]] = []
        self.statements: list[tuple[StatementFile, Document]] = []
        self.retired: dict[str, str] = {}
        self.mistakes: list[Mistake] = []
        self.incomplete = False
        """A file could not be read: what it would have held is not missing."""
        self.entries: dict[str, Entry] = {}
        self.rules: dict[str, tuple[Rule, str]] = {}
        self.homes: dict[str, str] = {}
        """Rule id -> the place where it is written."""

    def read(self, path: Path) -> None:
        """Take one file in; each file once, whatever path leads to it."""
        real = path.resolve()
        if real in self.seen:
            return
        self.seen.add(real)
        try:
            if path.name == RETIRED:
                self.retired |= casefile.convert(strictyaml.load(path), RetiredFile).retired
            elif path.name == statements.FILE:
                self.statements.append(statements.read(path))
            elif path.parent.name == REQUIREMENTS:
                self.sets.append(requirements.read(path))
            else:
                self.reads.append(casefile.read(path))
        except Mistaken as error:
            self.mistakes += error.mistakes
            self.incomplete = True

    def finish(self) -> tuple[Catalog, list[Mistake]]:
        """The catalog and all that is wrong."""
        for read in self.reads:
            self.mistakes += self._rules(read)
        for read in self.reads:
            self.mistakes += self._cases(read)
        if not self.incomplete:
            for read in self.reads:
                self.mistakes += self._across(read, _faults_for(read.path))
        sets = tuple(sorted((made for made, _ in self.sets), key=lambda made: made.name))
        rows = tuple(made for made, _ in self.statements)
        catalog = Catalog(tuple(self.entries.values()), self.rules, frozenset(self.retired), sets, rows)
        if not self.incomplete:
            for made, document in self.sets:
                self.mistakes += requirements.mistakes(made, document, catalog)
            self.mistakes += statements.mistakes(self.statements, catalog)
        return catalog, self.mistakes

    def _rules(self, read: casefile.Read) -> Iterator[Mistake]:
        known = dialects.KNOWN.get(read.file.dialect)
        for name, rule in read.file.rules.items():
            keys = ("rules", name)
            if name in self.homes:
                yield read.mistake(keys, f"this rule stands in {self.homes[name]} already")
                continue
            if not name.startswith(f"{read.file.dialect}-"):
                yield read.mistake(keys, f'the id of a rule begins with its dialect: "{read.file.dialect}-..."')
            if name in self.retired:
                yield read.mistake(keys, f"this id was retired and may not come back: {self.retired[name]}")
            for number, version in enumerate(rule.versions):
                if known and version not in known:
                    yield read.mistake((*keys, "versions", number), _no_version(version, read.file.dialect, known))
            line, column = read.rules[name]
            self.homes[name] = f"{shown(read.path)}:{line}:{column}"
            self.rules[name] = (rule, read.file.dialect)

    def _cases(self, read: casefile.Read) -> Iterator[Mistake]:
        known = dialects.KNOWN.get(read.file.dialect)
        for number, case in enumerate(read.file.cases):
            keys = ("cases", number)
            if case.id in self.entries:
                other = self.entries[case.id]
                yield read.mistake(
                    (*keys, "id"), f"this id stands in {shown(other.path)}:{other.line} already; ids are unique for life"
                )
                continue
            if case.id in self.retired:
                yield read.mistake((*keys, "id"), f"this id was retired and may not come back: {self.retired[case.id]}")
            for place, version in enumerate(case.versions):
                if known and version not in known:
                    yield read.mistake((*keys, "versions", place), _no_version(version, read.file.dialect, known))
            if case.rule not in self.rules:
                if not self.incomplete:
                    yield read.mistake((*keys, "rule"), f'there is no rule "{case.rule}"; {_meant(case.rule, self.rules)}')
                continue
            rule, dialect = self.rules[case.rule]
            if dialect != read.file.dialect:
                yield read.mistake((*keys, "rule"), f'the rule "{case.rule}" is one of {dialect}, not of {read.file.dialect}')
            if rule.excluded:
                yield read.mistake((*keys, "rule"), f'the rule "{case.rule}" is excluded, yet here is a case of it')
            line = read.cases[number][0]
            self.entries[case.id] = Entry(case, rule, read.file.dialect, read.file.family, read.path, line)

    def _across(self, read: casefile.Read, faults: frozenset[str]) -> Iterator[Mistake]:
        for number, case in enumerate(read.file.cases):
            keys = ("cases", number)
            twin = self.entries.get(case.twin) if case.twin else None
            forbids = casecheck.forbids_running(case)
            if case.twin and twin is None:
                yield read.mistake((*keys, "twin"), f'there is no case "{case.twin}"; {_meant(case.twin, self.entries)}')
            elif forbids and not case.twin:
                why = "name in `twin` a case in which it does run, which proves that this one is not vacuous"
                yield read.mistake((*keys, *forbids), f"`{forbids[-1]}` says that something does not run: {why}")
            elif twin and forbids and forbids[-1] == "tool_runs" and not casecheck.lets_run(twin.case):
                yield read.mistake((*keys, "twin"), f'in the twin "{case.twin}" no tool is expected to run (tool_runs: 1)')
            elif twin and forbids and forbids[-1] == "tool_runs" and not _tools(case) & _tools(twin.case):
                yield read.mistake((*keys, "twin"), f'the twin "{case.twin}" calls other tools than this case')
            for place, fault in enumerate(case.killed_by):
                if faults and fault not in faults:
                    text = f'there is no fault "{fault}" in fixtures/faulty_runners; {_meant(fault, faults)}'
                    yield read.mistake((*keys, "killed_by", place), text)


def _plain(entry: Entry) -> dict[str, Any]:
    case = msgspec.to_builtins(entry.case)
    return {"dialect": entry.dialect, "family": entry.family, **case, "versions": list(entry.versions)}


def _tools(case: Case) -> set[str]:
    return {call.tool for call in case.tool_calls()}


def _faults_for(path: Path) -> frozenset[str]:
    """The planted faults that a file of the suite may name; empty: any (people's own cases have faults of their own)."""
    try:
        root = suite.root()
    except HarnessError:
        return frozenset()
    return _fault_ids(root) if path.resolve().is_relative_to(root / "conformance") else frozenset()


@cache
def _fault_ids(root: Path) -> frozenset[str]:
    folder = root / "fixtures" / "faulty_runners"
    return frozenset(path.stem for path in folder.glob("*.py") if not path.name.startswith("_"))


def _known(kind: str, names: Sequence[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f'there is no {kind} "{name}" among the cases', suggestion(name, known))


def _meant(word: str, known: Iterable[str]) -> str:
    meant = near_id(word, known)
    return f'did you mean "{meant}"?' if meant else "nothing has a similar name"


def _no_version(version: str, dialect: str, known: tuple[str, ...]) -> str:
    return f'the suite does not know version "{version}" of {dialect}; known: {", ".join(known)}'
