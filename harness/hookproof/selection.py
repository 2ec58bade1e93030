"""Which cases are asked of a runner, in which dialects, and under which names."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import dialects, posture
from .catalog import Catalog, Entry
from .errors import DialectError, UsageError
from .ground import Ground
from .mistakes import suggestion
from .properties import FAMILY, RELATIONS
from .protocol import HelloAnswer
from .proving import PropertyJob

WINDOW = 64
PROPERTY = "property/"
"""How the id of a property begins: property/NAME@DIALECT, or without the dialect for all of them."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for. `base` is the folder that relative paths start from."""

    runner: str
    base: Path
    dialects: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    case_folders: tuple[Path, ...] = ()
    slow: bool = False
    smoke: bool = False
    assume: str | None = None
    workers: int = 1
    """How many processes share the machine (xdist): the lanes are divided by it."""
    window: int = WINDOW
    """How many ordinary cases may be under way or done ahead of the one whose result is wanted."""
    foreign: tuple[str, ...] = ()
    """Settings of the surrounding pytest that can change a verdict."""
    thorough: bool = False
    """Properties get half a minute each, instead of a share of some seconds."""
    examples: Path | None = None
    """Where failing examples of properties are written; None: a temporary folder."""

    @property
    def rerun(self) -> str:
        """The command that runs the same subject again, to be followed by `--case ID`."""
        words = [f"--runner={self.runner}", *(f"--cases={folder}" for folder in self.case_folders)]
        words += [f"--assume={self.assume}"] if self.assume else []
        return shlex.join(["pytest", *words])

    @property
    def narrowed(self) -> list[str]:
        """The options that leave cases out."""
        chosen = (("--family", self.families), ("--case", self.case_ids), ("--smoke", self.smoke))
        return [name for name, value in chosen if value]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A dialect that is judged: by the rules of `version`, asked for as `asked` (they differ only under --assume)."""

    asked: str
    dialect: str
    version: str


@dataclass(frozen=True, slots=True)
class Job:
    """One case in one dialect. A core case comes with the expectation that the posture has."""

    entry: Entry
    dialect: str
    version: str
    asked: str
    no_posture: str = ""
    """Why the posture gives this case no expectation, in words."""

    @property
    def id(self) -> str:
        """The case's id."""
        return self.entry.case.id

    @property
    def test_id(self) -> str:
        """The id of the test: the case's own, with the dialect where a case can be asked in several."""
        alone = self.entry.dialect == self.dialect and len(dialects.KNOWN[self.dialect]) == 1
        return self.id if alone else f"{self.id}@{self.asked}"


def choose(hello: HelloAnswer, options: Options) -> list[Chosen]:
    """The dialects to judge, of those that the runner declares.

    Raises DialectError when it declares only versions that the suite does not know (and none is assumed),
    UsageError when it declares none of the dialects that were asked for, or the assumed version is none of theirs.
    """
    wanted = [(name, dialects.resolve(name)[1] if "/" in name else None) for name in options.dialects]
    names = [(dialects.split(name)[0] if version else dialects.resolve(name)[0], version) for name, version in wanted]
    if options.assume is not None:
        _refuse_unknown(options.assume, [n for n in hello.dialects if not names or dialects.split(n)[0] in dict(names)])
    chosen: list[Chosen] = []
    unknown: DialectError | None = None
    for asked in dict.fromkeys(hello.dialects):
        name, version = dialects.split(asked)
        if names and not any(name == w and v in (None, version) for w, v in names):
            continue
        try:
            chosen.append(Chosen(asked, *dialects.resolve(asked)))
        except DialectError as error:
            if options.assume is not None and options.assume in dialects.KNOWN.get(name, ()):
                chosen.append(Chosen(asked, *dialects.resolve(f"{name}/{options.assume}")))
            else:
                unknown = error
    if chosen:
        # three cases are enough to tell wrong wiring from faults, and it is wired for all dialects alike
        return chosen[:1] if options.smoke else chosen
    if unknown is not None:
        raise unknown
    raise UsageError(
        f"the runner declares {', '.join(hello.dialects)}, not {', '.join(options.dialects)}",
        "ask for a dialect that its hello declares",
    )


def _refuse_unknown(assumed: str, declared: Sequence[str]) -> None:
    known = {name: dialects.KNOWN[name] for name, _ in map(dialects.split, declared) if name in dialects.KNOWN}
    if known and not any(assumed in versions for versions in known.values()):
        listed = "; ".join(f"{name} {', '.join(versions)}" for name, versions in known.items())
        raise UsageError(f"--assume {assumed}: the suite does not know this version of {', '.join(known)}", f"it knows {listed}")


def select(catalog: Catalog, chosen: Sequence[Chosen], hello: HelloAnswer, options: Options) -> list[Job]:
    """The jobs of a run, in the order of the catalog. Raises UsageError for unknown names and for an empty selection."""
    for case_id in options.case_ids:
        if not case_id.startswith(PROPERTY):
            catalog.entry(case_id)
    families = {FAMILY, *(entry.family for entry in catalog.entries)}
    if unknown := [family for family in options.families if family not in families]:
        raise UsageError(f'no family is called "{unknown[0]}"', f"families: {', '.join(sorted(families))}")
    jobs = [
        _job(entry, one, hello)
        for one in chosen
        for entry in catalog.entries
        if entry.dialect in (one.dialect, "core")
        and (entry.dialect == "core" or entry.holds_in(one.version))
        and (not options.families or entry.family in options.families)
        and (not options.case_ids or entry.id in options.case_ids)
        and (not options.smoke or ("smoke" in entry.case.tags and entry.dialect == one.dialect))
    ]
    if not jobs and not properties(chosen, hello, options):
        raise UsageError(
            f"no case is left of this selection in {', '.join(one.asked for one in chosen)}: nothing would be proved",
            "see `hookproof cases list`",
        )
    return jobs


def properties(chosen: Sequence[Chosen], hello: HelloAnswer, options: Options) -> list[PropertyJob]:
    """The properties of a run, dialect after dialect. Raises UsageError for an id that is none."""
    jobs = [PropertyJob(relation, _ground(one, hello)) for one in chosen for relation in RELATIONS.values()]
    known = {name for job in jobs for name in (job.id, f"{PROPERTY}{job.relation.name}")}
    wanted = [case_id for case_id in options.case_ids if case_id.startswith(PROPERTY)]
    if unknown := [case_id for case_id in wanted if case_id not in known]:
        raise UsageError(f'no property has the id "{unknown[0]}"', suggestion(unknown[0], sorted(known)))
    if options.smoke or (options.families and FAMILY not in options.families):
        return []
    return [job for job in jobs if not options.case_ids or job.id in wanted or f"{PROPERTY}{job.relation.name}" in wanted]


def _ground(one: Chosen, hello: HelloAnswer) -> Ground:
    return Ground(
        dialect=dialects.load(one.dialect),
        version=one.version,
        asked=one.asked,
        posture=posture.of(one.dialect, one.version, hello),
        features=frozenset(hello.features),
        scope=hello.scope,
    )


def _job(entry: Entry, one: Chosen, hello: HelloAnswer) -> Job:
    resolved = posture.resolve(entry.case, posture.of(one.dialect, one.version, hello))
    if isinstance(resolved, str):
        return Job(entry, one.dialect, one.version, one.asked, no_posture=resolved)
    if resolved is not entry.case:
        entry = dataclasses.replace(entry, case=resolved)
    return Job(entry, one.dialect, one.version, one.asked)
