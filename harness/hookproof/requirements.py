"""A requirement set is frozen: it names the rules, and with them the cases, that a certificate covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from . import casecheck, casefile, dialects, strictyaml
from .cases import Slug, Strict
from .errors import UsageError
from .mistakes import Mistake, suggestion
from .protocol import FEATURES
from .strictyaml import Document

if TYPE_CHECKING:
    from .catalog import Catalog, Entry


class RequirementSet(Strict, kw_only=True):
    """One file of `conformance/requirements/`, named as its set."""

    format: Literal[1]
    name: Annotated[str, Meta(pattern=r"^[a-z0-9.-]+$")]
    """lecode-1.0"""
    dialect: Slug
    version: str
    frozen: str
    """The day since which it does not change: 2026-12-01."""
    about: str = ""
    features: tuple[str, ...] = ()
    """Features that a runner may not leave undeclared."""
    posture: dict[str, str] = {}
    """What a runner's posture must say for the set to be asked of it: `failure.exit: closed`."""
    profile: bool = False
    """Of core rules: asked in every dialect whose posture fits, and not only of runners that speak core."""
    rules: Annotated[tuple[Slug, ...], Meta(min_length=1)]

    @property
    def subject(self) -> str:
        """What it certifies for: `lecode/1.0`."""
        return f"{self.dialect}/{self.version}"


@dataclass(frozen=True, slots=True)
class Required:
    """The ids of the cases that a set demands, in the order of the catalog."""

    ordinary: tuple[str, ...]
    slow: tuple[str, ...]
    """These run only with --slow; without them nothing is certified."""

    @property
    def all(self) -> frozenset[str]:
        """Both kinds."""
        return frozenset(self.ordinary + self.slow)


def read(path: Path) -> tuple[RequirementSet, Document]:
    """The set in a file, not yet held against a catalog. Raises CaseFileError."""
    document = strictyaml.load(path)
    return casefile.convert(document, RequirementSet), document


def mistakes(made: RequirementSet, document: Document, catalog: Catalog) -> Iterator[Mistake]:
    """What in the set the catalog cannot keep."""
    for keys, text in _findings(made, document.path, catalog):
        line, column = strictyaml.at(document.root, keys)
        yield Mistake(document.path, line, column, text)


def named(sets: tuple[RequirementSet, ...], name: str) -> RequirementSet:
    """The set of this name. Raises UsageError."""
    for each in sets:
        if each.name == name:
            return each
    raise UsageError(f'there is no requirement set "{name}"', suggestion(name, [each.name for each in sets]))


def for_version(sets: tuple[RequirementSet, ...], dialect: str, version: str) -> tuple[RequirementSet, ...]:
    """The sets that a runner of this dialect and version can fulfil."""
    return tuple(each for each in sets if each.dialect == dialect and each.version == version)


def required(catalog: Catalog, wanted: RequirementSet) -> Required:
    """The cases of the set's rules that are asked in its version."""
    entries = [entry for entry in catalog.entries if entry.case.rule in wanted.rules and _asked(entry, wanted)]
    return Required(
        tuple(entry.id for entry in entries if not entry.case.slow),
        tuple(entry.id for entry in entries if entry.case.slow),
    )


def not_scored(catalog: Catalog, wanted: RequirementSet) -> tuple[str, ...]:
    """Rules of the same dialect and version with cases, which are not in the set: added after it was frozen."""
    rules = dict.fromkeys(entry.case.rule for entry in catalog.entries if _asked(entry, wanted))
    return tuple(rule for rule in rules if rule not in wanted.rules)


def _asked(entry: Entry, wanted: RequirementSet) -> bool:
    return entry.dialect == wanted.dialect and entry.holds_in(wanted.version)


def _findings(made: RequirementSet, path: Path, catalog: Catalog) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if made.name != path.stem:
        yield ("name",), f'the file of the set "{made.name}" must be called {made.name}.yaml'
    known = dialects.KNOWN.get(made.dialect)
    if known is None:
        yield ("dialect",), f'"{made.dialect}" is no dialect of this suite; {suggestion(made.dialect, list(dialects.KNOWN))}'
    elif made.version not in known:
        yield ("version",), f'the suite does not know version "{made.version}" of {made.dialect}; known: {", ".join(known)}'
    try:
        date.fromisoformat(made.frozen)
    except ValueError:
        yield ("frozen",), f'"frozen" must be a day such as 2026-12-01, not "{made.frozen}"'
    for number, feature in enumerate(made.features):
        if feature not in FEATURES:
            yield ("features", number), f'"{feature}" is no feature; {suggestion(feature, list(FEATURES))}'
    if made.profile and made.dialect != "core":
        yield ("profile",), "a profile is a set of core rules: they can be asked in every dialect"
    words = casecheck.posture_words()
    for place, word in made.posture.items():
        if place not in words:
            yield ("posture", place), f'"{place}" is no place in a posture; {suggestion(place, list(words))}'
        elif words[place] and word not in words[place]:
            yield ("posture", place), f'"{word}" is no word for {place}; {suggestion(word, words[place])}'
    tested = {entry.case.rule for entry in catalog.entries if _asked(entry, made)}
    for number, name in enumerate(made.rules):
        if name in made.rules[:number]:
            yield ("rules", number), f'the rule "{name}" stands here twice'
        elif name not in catalog.rules:
            yield ("rules", number), f'there is no rule "{name}"; {suggestion(name, list(catalog.rules))}'
        elif catalog.rules[name][1] != made.dialect:
            yield ("rules", number), f'the rule "{name}" is one of {catalog.rules[name][1]}, not of {made.dialect}'
        elif name not in tested:
            yield ("rules", number), f'no case tests the rule "{name}" in version {made.version}: it cannot be required'
