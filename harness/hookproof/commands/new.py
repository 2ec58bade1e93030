"""`hookproof new`: start a case, or a runner of your own."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from .. import casefile, catalog, skeleton, strictyaml, suite
from ..cases import Source
from ..catalog import Catalog
from ..errors import UsageError
from ..mistakes import suggestion
from ..skeleton import NewCase, NewRule
from .cases import write_whole

DEMANDED: dict[str, str] = {
    "dialect": "the dialect whose forms the case uses",
    "family": "the family, which is the name of its file",
    "id": "the last part of its id, for life: what it shows, in small letters and hyphens",
    "rule": "the normative sentence that it tests: a case without a rule is an opinion",
    "twin": "a case in which the same tool does run: proves that this one is not vacuous (none: this one is such a control)",
    "killed_by": "the planted fault that it catches: a case that no fault fails proves nothing",
}
"""What a case cannot be begun without, and why."""

SUFFIXES: dict[str, tuple[str, ...]] = {"python": (".py",), "node": (".mjs", ".js"), "sh": (".sh",)}
"""Language -> how the files of its examples end."""

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="WHAT", required=True)
    case = actions.add_parser("case", help="a case that loads, to be completed")
    case.add_argument("--dialect", metavar="D", help=DEMANDED["dialect"])
    case.add_argument("--family", metavar="F", help=DEMANDED["family"])
    case.add_argument("--id", metavar="SLUG", help=DEMANDED["id"])
    case.add_argument("--rule", metavar="R", help=DEMANDED["rule"])
    case.add_argument("--twin", metavar="ID", help=DEMANDED["twin"])
    case.add_argument("--killed-by", action="append", metavar="FAULT", help=f"{DEMANDED['killed_by']} (repeatable)")
    where = case.add_mutually_exclusive_group()
    where.add_argument("--folder", type=Path, metavar="DIR", help="where your cases lie; run them with --cases DIR")
    where.add_argument("--into-suite", action="store_true", help="write into the suite of this checkout: for its contributors")
    new_rule = case.add_argument_group("a rule that does not exist yet")
    new_rule.add_argument("--text", metavar="SENTENCE", help="the rule in your own words")
    new_rule.add_argument("--document", metavar="NAME", help="the document that says so")
    new_rule.add_argument("--section", metavar="NAME", help="the section in it")
    runner = actions.add_parser("runner", help="a runner to start from")
    runner.add_argument("--language", required=True, choices=tuple(SUFFIXES))
    runner.add_argument("--output", type=Path, metavar="PATH", help="absent: the example's own name, here")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    return _runner(options.language, options.output) if options.action == "runner" else _case(options)


def _case(options: argparse.Namespace) -> int:
    missing = [name for name in DEMANDED if not getattr(options, name)]
    if missing:
        rows = "\n".join(f"  --{name.replace('_', '-'):<10} {DEMANDED[name]}" for name in missing)
        raise UsageError(f"a case cannot be begun without:\n{rows}")
    for name in ("dialect", "family", "id", "rule"):
        if not SLUG.fullmatch(getattr(options, name)):
            raise UsageError(f'--{name} "{getattr(options, name)}" must be small letters, digits and single hyphens')
    for fault in options.killed_by:
        if not SLUG.fullmatch(fault):
            raise UsageError(f'--killed-by "{fault}" must be small letters, digits and single hyphens')
    twin = None if options.twin == "none" else str(options.twin)
    new = NewCase(options.dialect, options.family, options.id, options.rule, twin, tuple(options.killed_by))
    folder = options.folder or _checkout(options.into_suite)
    loaded = catalog.load([suite.conformance(), *([folder] if _holds_cases(folder) else [])])
    rule = _rule(loaded, new, options)
    if any(entry.id == new.id for entry in loaded.entries):
        entry = loaded.entry(new.id)
        raise UsageError(
            f'the case "{new.id}" exists already: {entry.path}:{entry.line}', "choose another --id; ids are for life"
        )
    if new.id in loaded.retired:
        raise UsageError(f'the id "{new.id}" was retired and may not come back', "choose another --id")
    if twin is not None:
        loaded.entry(twin)
    homes = {entry.path for entry in loaded.entries if (entry.dialect, entry.family) == (new.dialect, new.family)}
    ours = sorted(path for path in homes if path.resolve().is_relative_to(folder.resolve()))
    path = ours[0] if ours else folder / new.dialect / f"{new.family}.yaml"
    before = _text(path)
    count = skeleton.count(before, path) if before is not None else 0
    text = skeleton.proved(skeleton.with_case(before, new, rule, path), new, count, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: cannot be made: {error.strerror}") from None
    write_whole(path, text)
    line = casefile.read(path).cases[-1][0]
    print(
        f"{path}:{line}: {new.id}\nnext: write down its handlers, stimulus and expectations, then: hookproof cases check {path}"
    )
    return 0


def _rule(loaded: Catalog, new: NewCase, options: argparse.Namespace) -> NewRule | None:
    """The rule to write beside the case; None if it exists. Raises UsageError."""
    about = (options.text, options.document, options.section)
    if new.rule in loaded.rules:
        if loaded.rules[new.rule][1] != new.dialect:
            raise UsageError(f'the rule "{new.rule}" is one of {loaded.rules[new.rule][1]}, not of {new.dialect}')
        if any(about):
            raise UsageError(f'the rule "{new.rule}" exists already: leave --text, --document and --section away')
        return None
    if not all(about):
        hint = "for a new rule give --text, --document and --section too"
        raise UsageError(f'there is no rule "{new.rule}"; {suggestion(new.rule, sorted(loaded.rules))}', hint)
    if not new.rule.startswith(f"{new.dialect}-"):
        raise UsageError(f'the id of a rule begins with its dialect: "{new.dialect}-{new.rule}"')
    return NewRule(options.text, Source(document=options.document, section=options.section))


def _checkout(wanted: bool) -> Path:
    """The suite, where it was asked for by name: what everybody is judged by is not written to in passing."""
    installed = suite.root().name == "_suite"
    own = "--folder DIR is for cases of your own, run with --cases DIR"
    if not wanted:
        raise UsageError(
            "a case cannot be begun without a place for it",
            own if installed else f"{own}; --into-suite writes into {suite.conformance()}",
        )
    if installed:
        raise UsageError("the installed suite is not written to", own)
    return suite.conformance()


def _holds_cases(folder: Path) -> bool:
    return folder.is_dir() and any(folder.rglob("*.yaml"))


def _text(path: Path) -> str | None:
    return strictyaml.read_text(path) if path.exists() else None


def _runner(language: str, output: Path | None) -> int:
    examples = suite.fixtures() / "runners"
    there = sorted(path for path in examples.glob("*") if path.is_file() and path.suffix in sum(SUFFIXES.values(), ()))
    example = next((path for path in there if path.suffix in SUFFIXES[language]), None)
    if example is None:
        names = ", ".join(path.name for path in there) or "none"
        raise UsageError(f"there is no example runner in {language} yet; there are: {names}", "copy one of them and translate it")
    target = output or Path(example.name)
    if target.is_dir():
        target = target / example.name
    if target.exists():
        raise UsageError(f"{target} exists already", "choose another --output")
    try:
        shutil.copyfile(example, target)
        target.chmod(0o755)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    command = target if target.is_absolute() else f"./{target}"
    print(f"{target}: a runner to start from\nnext: hookproof check --runner {command}")
    return 0
