"""`hookproof cases`: list, show, export and check the cases."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .. import catalog, dialects, suite
from ..catalog import Catalog, Entry
from ..errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="one line for each case")
    listing.add_argument(
        "--dialect", action="append", default=[], metavar="NAME[/VERSION]", help="only this dialect (repeatable)"
    )
    listing.add_argument("--family", action="append", default=[], help="only this family (repeatable)")
    listing.add_argument("--json", action="store_true", help="one JSON array")
    show = actions.add_parser("show", help="one case in words")
    show.add_argument("id", nargs="+", metavar="ID")
    export = actions.add_parser("export", help="all rules and cases in one JSON object, payloads filled in")
    export.add_argument("--output", type=Path, metavar="FILE", help="write there instead of to stdout")
    check = actions.add_parser("check", help="only load, and say what is wrong")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files or folders; none: the suite")
    for each in (listing, show, export, check):
        each.add_argument("--cases", action="append", default=[], type=Path, metavar="DIR", help="further cases (repeatable)")


def run(options: argparse.Namespace) -> int:
    """Do it. `check` ends with 1 when something is wrong."""
    folders = [suite.conformance(), *options.cases]
    if options.action == "check":
        return _check(folders, options.files)
    loaded = catalog.load(folders)
    if options.action == "list":
        return _list(_chosen(loaded, options.dialect, options.family), as_json=options.json)
    if options.action == "show":
        from .. import casewords

        print("\n\n".join(casewords.told(loaded.entry(case_id)) for case_id in options.id))
        return 0
    text = json.dumps(loaded.export(), indent=1) + "\n"
    if options.output is None:
        sys.stdout.write(text)
    else:
        write_whole(options.output, text)
        print(f"{options.output}: {len(loaded.entries)} cases, suite {loaded.digest}")
    return 0


def write_whole(path: Path, text: str) -> None:
    """Put a text into a file in one step: nobody ever sees half of it. Raises UsageError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, "utf-8", newline="")
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None


def _chosen(loaded: Catalog, names: Sequence[str], families: Sequence[str]) -> tuple[Entry, ...]:
    asked = [dialects.split(name) for name in names]
    entries = loaded.select([dialect for dialect, _ in asked], families)
    for name, (_, version) in zip(names, asked, strict=True):
        if version is not None:
            dialects.resolve(name)
    return tuple(
        entry for entry in entries if not asked or any(d == entry.dialect and (v is None or entry.holds_in(v)) for d, v in asked)
    )


def _list(entries: Sequence[Entry], *, as_json: bool) -> int:
    if as_json:
        rows = [
            {
                "id": entry.id,
                "dialect": entry.dialect,
                "family": entry.family,
                "rule": entry.case.rule,
                "level": entry.rule.level,
                "versions": list(entry.versions),
                "scope": entry.case.scope,
                "tags": list(entry.case.tags),
                "why": entry.case.why,
                "killed_by": list(entry.case.killed_by),
            }
            for entry in entries
        ]
        print(json.dumps(msgspec.to_builtins(rows), indent=1))
        return 0
    if not entries:
        raise UsageError("no case is left of this selection")
    width = max(len(entry.id) for entry in entries)
    for entry in entries:
        tags = f"  [{', '.join(entry.case.tags)}]" if entry.case.tags else ""
        print(f"{entry.id:<{width}}  {entry.case.rule}{tags}")
    slow = sum(entry.case.slow for entry in entries)
    families = len({(entry.dialect, entry.family) for entry in entries})
    print(f"\n{len(entries)} cases in {families} families, {slow} of them slow")
    return 0


def _check(folders: Sequence[Path], files: Sequence[Path]) -> int:
    """Files are held against the suite, but only what is wrong in them is said."""
    loaded, mistakes = catalog.examine([*folders, *files])
    if files:
        asked = [file.resolve() for file in files]
        mistakes = [m for m in mistakes if any(m.path.resolve().is_relative_to(file) for file in asked)]
    for mistake in sorted(set(mistakes)):
        print(mistake)
    if mistakes:
        print(f"\n{len(set(mistakes))} mistakes", file=sys.stderr)
        return 1
    asked_cases = [
        e for e in loaded.entries if not files or any(e.path.resolve().is_relative_to(file.resolve()) for file in files)
    ]
    print(f"{len(asked_cases)} cases load; nothing is wrong with them")
    return 0
