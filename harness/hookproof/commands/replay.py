"""`hookproof replay` asks a runner both cases of a failing example, and holds the same relation against what comes out."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import counterexample
from ..engine import Engine, Options
from ..errors import DialectError, SubjectError, UsageError
from ..ground import Ground, Observation
from ..properties import RELATIONS, Relation, Seen
from ..views import terminal


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE", help="a failing example, as a run of the properties wrote it")
    parser.add_argument("--runner", required=True, metavar="RUNNER", help="a file (./myimpl), reference, or example:NAME")


def run(options: argparse.Namespace) -> int:
    """Exit code 0: the relation holds, 1: it does not, or the runner does not answer, 2: it could not be asked."""
    example = counterexample.read(Path(options.file))
    relation = RELATIONS[example.property]
    name = f"property/{relation.name}"
    engine = Engine(
        Options(runner=options.runner, base=Path.cwd(), dialects=(example.dialect,), families=("properties",), case_ids=(name,))
    )
    try:
        ground = engine.properties[0].ground
        if reason := relation.why_not(ground):
            raise UsageError(f"{name} cannot be asked of this runner: {reason}")
        try:
            seen = _asked(engine, example, relation, ground)
            wrong = relation.wrong(ground, seen)
        except SubjectError as error:
            print(terminal.refusal(error.message, error.hint, error.said, error.complained))
            return 1
        except DialectError as error:
            raise DialectError(f"{options.file}: {error.message}", error.hint) from None
    finally:
        engine.close()
    print("\n".join(_told(name, relation, seen, wrong)))
    return 0 if wrong is None else 1


def _asked(engine: Engine, example: counterexample.Counterexample, relation: Relation, ground: Ground) -> Seen:
    """Both cases, side by side. Raises a kind of SubjectError."""
    cases = [counterexample.case_of(each, relation, ground) for each in (example.first, example.second) if each is not None]
    observed: list[Observation] = []
    for each in engine.observe_all(cases, ground):
        if isinstance(each, SubjectError):
            raise each
        observed.append(each)
    if example.second is None:
        return Seen(cases[0], observed[0])
    return Seen(cases[0], observed[0], cases[1], observed[1])


def _told(name: str, relation: Relation, seen: Seen, wrong: str | None) -> list[str]:
    lines = [f"{name}: {'holds' if wrong is None else 'does not hold'}", f"  {relation.sentence}"]
    if wrong is not None:
        lines.append(f"  saw: {wrong}")
    for words, case, observed in (("first", seen.case, seen.first), ("second", seen.other, seen.second)):
        if case is not None and observed is not None:
            lines.append(f"  {words}: {counterexample.told(case)}")
            lines += [f"    {line}" for line in terminal.timeline(observed.story)]
    return lines
