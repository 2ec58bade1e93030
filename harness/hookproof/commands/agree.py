"""`hookproof agree` holds a runner against what the real program was seen to do, row by row."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..agreement import rows
from ..agreement.agree import Account, Agreement, Held, versions_of
from ..errors import UsageError

INDENT = "    "


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE.jsonl", help="observations, one JSON object a line")
    parser.add_argument("--runner", default="reference", metavar="RUNNER", help="a file (./myimpl), reference, or example:NAME")
    parser.add_argument("--version", action="append", default=[], metavar="V", help="only this version (repeatable)")
    parser.add_argument("--row", action="append", default=[], metavar="NAME", help="only this row (repeatable)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")


def run(options: argparse.Namespace) -> int:
    """Exit code 0: all rows that can be expressed and are supported agree, 1: not so, 2: none could be compared."""
    found = rows.read(Path(options.file))
    chosen = [row for row in found if not options.row or row.name in options.row]
    for name in options.row:
        if not any(row.name == name for row in chosen):
            raise UsageError(f'{options.file} has no row "{name}"')
    agreement = Agreement(options.runner, Path.cwd(), versions_of(chosen, options.version))
    held = []
    try:
        for each in agreement.all_rows(chosen):
            held.append(each)
            if not options.json and each.differences:
                print("\n".join(_told(each)), flush=True)
    finally:
        agreement.close()
    if not any(account.expressible for account in agreement.accounts.values()):
        raise UsageError("no row can be expressed: nothing was compared", _left_out_words(agreement.accounts))
    if not any(account.compared for account in agreement.accounts.values()):
        raise UsageError("the runner supports none of the rows: nothing was compared", _unsupported_words(agreement.accounts))
    fine = not any(account.statuses["disagrees"] for account in agreement.accounts.values())
    if options.json:
        print(json.dumps(_plain(fine, held, agreement.accounts), indent=2))
    else:
        print("\n".join(_summary(agreement.accounts)))
    return 0 if fine else 1


def _told(held: Held) -> list[str]:
    word = f"aside ({held.note})" if held.status == "aside" else held.status
    lines = [f"line {held.row.line}: {held.row.name} at {held.version} {word}"]
    for difference in held.differences:
        lines.append(f"{INDENT}{difference.what}: seen {difference.wanted}")
        lines.append(f"{INDENT}{' ' * len(difference.what)}  here {difference.saw}")
    return lines


def _summary(accounts: dict[str, Account]) -> list[str]:
    lines = []
    for version, account in accounts.items():
        share = account.expressible / account.rows if account.rows else 0
        lines.append(
            f"{version}: {account.rows} rows, {account.expressible} expressible ({share:.1%}): {_counts(account.statuses)}"
        )
        if account.repeated:
            lines.append(f"{INDENT}{account.repeated} of them when tried again: their outcome is a race, or hangs on times")
        if account.unsupported:
            lines.append(f"{INDENT}unsupported by the runner: {_counts(account.unsupported)}")
        if account.differing:
            lines.append(f"{INDENT}disagreeing in: {_counts(account.differing)}")
        if account.left_out:
            lines.append(f"{INDENT}left out by field: {_counts(account.left_out)}")
    return lines


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _left_out_words(accounts: dict[str, Account]) -> str:
    return "; ".join(f"{version}: {_counts(account.left_out)}" for version, account in accounts.items())


def _unsupported_words(accounts: dict[str, Account]) -> str:
    return "; ".join(f"{version}: {_counts(account.unsupported)}" for version, account in accounts.items())


def _plain(fine: bool, held: list[Held], accounts: dict[str, Account]) -> dict[str, Any]:
    return {
        "agrees": fine,
        "versions": {
            version: {
                "rows": account.rows,
                "expressible": account.expressible,
                "statuses": dict(account.statuses),
                "repeated": account.repeated,
                "unsupported": dict(account.unsupported.most_common()),
                "differing": dict(account.differing),
                "left_out": dict(account.left_out.most_common()),
            }
            for version, account in accounts.items()
        },
        "differing": [
            {
                "row": each.row.name,
                "line": each.row.line,
                "version": each.version,
                "status": each.status,
                "note": each.note,
                "differences": [{"what": d.what, "seen": d.wanted, "here": d.saw} for d in each.differences],
            }
            for each in held
            if each.differences
        ],
    }
