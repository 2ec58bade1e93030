"""`hookproof rules`: list and show the normative sentences, and say which of them are tested."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path

import msgspec

from .. import catalog, coverage, results, rowcoverage, suite
from ..catalog import Catalog
from ..errors import UsageError
from ..mistakes import suggestion


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="one line for each rule")
    show = actions.add_parser("show", help="one rule with its source and its cases")
    show.add_argument("id", nargs="+", metavar="ID")
    cover = actions.add_parser("coverage", help="tested, excluded, untested: by source document and section")
    cover.add_argument(
        "--results", type=Path, metavar="FILE", help="count a rule as tested when a case of it ran and passed there"
    )
    cover.add_argument("--rows", action="store_true", help="each sentence of the sources: its cases, its exclusion, or neither")
    cover.add_argument("--strict", action="store_true", help="end with 1 when a rule (with --rows: a sentence) is untested")
    for each in (listing, show, cover):
        each.add_argument("--cases", action="append", default=[], type=Path, metavar="DIR", help="further cases (repeatable)")
    for each in (listing, cover):
        each.add_argument("--dialect", metavar="NAME", help="only this dialect")
        each.add_argument("--json", action="store_true", help="one JSON value")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    loaded = catalog.load([suite.conformance(), *options.cases])
    if options.action == "show":
        print("\n\n".join(_told(loaded, rule_id) for rule_id in options.id))
        return 0
    known = sorted({dialect for _, dialect in loaded.rules.values()})
    if options.dialect is not None and options.dialect not in known:
        raise UsageError(f'there is no dialect "{options.dialect}" among the rules', suggestion(options.dialect, known))
    if options.action == "list":
        return _list(loaded, options.dialect, as_json=options.json)
    report = results.read(options.results) if options.results else None
    if options.rows:
        rows = rowcoverage.measure(loaded, options.dialect, report)
        print(json.dumps(rowcoverage.as_data(rows), indent=1) if options.json else rowcoverage.as_text(rows))
        return 1 if options.strict and any(row.state == "untested" for row in rows) else 0
    covered = coverage.measure(loaded, options.dialect, report)
    print(json.dumps(coverage.as_data(covered), indent=1) if options.json else coverage.as_text(covered))
    return 1 if options.strict and coverage.totals(covered)["untested"] else 0


def _list(loaded: Catalog, dialect: str | None, *, as_json: bool) -> int:
    chosen = {name: rule for name, (rule, of) in loaded.rules.items() if dialect in (None, of)}
    if as_json:
        rows = [{"id": name, "dialect": loaded.rules[name][1], **msgspec.to_builtins(rule)} for name, rule in chosen.items()]
        print(json.dumps(rows, indent=1))
        return 0
    for name, rule in chosen.items():
        notes = [*(["disputed"] if rule.disputed else []), *(["excluded"] if rule.excluded else [])]
        print(f"{name} ({', '.join([rule.level, *notes])})")
        print(textwrap.fill(rule.text, 110, initial_indent="    ", subsequent_indent="    "))
    print(f"\n{len(chosen)} rules")
    return 0


def _told(loaded: Catalog, rule_id: str) -> str:
    rule, dialect = loaded.rule(rule_id)
    cases = [entry.id for entry in loaded.entries if entry.case.rule == rule_id]
    rows = f", rows {', '.join(rule.source.rows)}" if rule.source.rows else ""
    sets = [each.name for each in loaded.requirements if rule_id in each.rules]
    lines = [
        f"{rule_id} ({rule.level})",
        f"  {rule.text}",
        f"  dialect    {dialect}, versions: {', '.join(rule.versions) or 'all'}",
        f"  source     {rule.source.document}, {rule.source.section}{rows}",
        *([f"  disputed   {rule.disputed}"] if rule.disputed else []),
        *([f"  excluded   {rule.excluded.reason}: {rule.excluded.note}"] if rule.excluded else []),
        f"  cases      {', '.join(cases) or 'none'}",
        f"  required   {', '.join(sets) or 'by no requirement set'}",
    ]
    return "\n".join(lines)
