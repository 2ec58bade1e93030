"""`hookproof faults` plants each known fault and shows that the cases which name it fail, and every case by a fault."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import catalog, faults, suite
from ..catalog import Entry
from ..errors import UsageError
from ..faults import Fault, Proof
from ..mistakes import suggestion
from ..results import BAD

INDENT = "    "


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--fault", action="append", default=[], metavar="ID", help="only this fault (repeatable)")
    parser.add_argument("--dialect", action="append", default=[], metavar="DIALECT", help="only faults of this dialect")
    parser.add_argument("--slow", action="store_true", help="also the cases that need longer than 3 s")
    wide = f"ask each fault all cases, not a sample of {faults.SAMPLE} beside those that name it"
    parser.add_argument("--wide", action="store_true", help=wide)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")
    parser.add_argument("--folder", metavar="DIR", help="faults of your own, instead of the suite's")
    parser.add_argument("--cases", action="append", default=[], metavar="DIR", help="cases of your own, instead of the suite's")


def run(options: argparse.Namespace) -> int:
    """Exit code 0: every fault is caught and every case catches one; 1: not so."""
    folders = [Path(folder) for folder in options.cases]
    entries = _entries(folders)
    known = faults.load(Path(options.folder) if options.folder else suite.fixtures() / "faulty_runners")
    chosen = _chosen(known, options.fault, options.dialect)
    entries = [e for e in entries if not options.dialect or e.dialect in (*options.dialect, "core")]
    whole = len(chosen) == len(known)
    wrong = faults.disagreements(known, entries) if not options.dialect else []
    account = _Account(entries, wrong, words=not options.json)
    account.reference(_fails_of_the_reference(entries, chosen, folders, whole, options.slow))
    for proof in faults.prove_all(chosen, entries, folders, slow=options.slow, wide=options.wide):
        account.take(proof)
    return account.end(whole=whole, slow=options.slow)


def _entries(folders: Sequence[Path]) -> list[Entry]:
    if not folders:
        return list(catalog.load([suite.conformance()]).entries)
    own = [folder.resolve() for folder in folders]
    loaded = catalog.load([suite.conformance(), *folders]).entries
    return [e for e in loaded if any(e.path.resolve().is_relative_to(folder) for folder in own)]


def _chosen(known: Sequence[Fault], ids: Sequence[str], dialects: Sequence[str]) -> list[Fault]:
    names = [fault.id for fault in known]
    for wanted in ids:
        if wanted not in names:
            raise UsageError(f'there is no fault "{wanted}"', suggestion(wanted, names))
    for dialect in dialects:
        if not any(dialect in fault.dialects for fault in known):
            raise UsageError(
                f'no fault is one of "{dialect}"', suggestion(dialect, sorted({d for f in known for d in f.dialects}))
            )
    chosen = [f for f in known if (not ids or f.id in ids) and (not dialects or set(dialects) & set(f.dialects))]
    if not chosen:
        raise UsageError("no fault is left of this selection: nothing would be proved")
    return chosen


def _fails_of_the_reference(
    entries: Sequence[Entry], chosen: Sequence[Fault], folders: Sequence[Path], whole: bool, slow: bool
) -> list[str]:
    """Cases that fail without any fault: what fails anyway proves nothing."""
    names = {fault.id for fault in chosen}
    asked = [e.id for e in entries if (whole or names & set(e.case.killed_by)) and (slow or not e.case.slow)]
    if not asked:
        return []
    results = faults.ask("reference", asked, catalog.load([suite.conformance(), *folders]), slow=slow)
    return [r.id for r in results if r.status in BAD or r.status == "warn"]


class _Account:
    """What is said of each fault as it comes, and of all of them at the end."""

    def __init__(self, entries: Sequence[Entry], wrong: list[str], *, words: bool) -> None:
        self.entries = entries
        self.wrong = wrong
        self.words = words
        self.proofs: list[Proof] = []
        self.failed_by: dict[str, list[str]] = {entry.id: [] for entry in entries}

    def reference(self, failing: list[str]) -> None:
        self.wrong += [f"{case} fails without any fault: the reference itself is wrong, or the case is" for case in failing]

    def take(self, proof: Proof) -> None:
        self.proofs.append(proof)
        for case in proof.failed:
            self.failed_by[case].append(proof.fault.id)
        self._print(*_told(proof))

    def end(self, *, whole: bool, slow: bool) -> int:
        vacuous: list[str] = []
        if whole:
            vacuous = [e.id for e in self.entries if not self.failed_by[e.id] and (slow or not e.case.slow)]
        bad = [proof for proof in self.proofs if proof.verdict not in ("caught", "not tried")]
        fine = not (bad or vacuous or self.wrong)
        if self.words:
            self._print("", *(f"! {text}" for text in self.wrong), *(f"! no fault fails {case}" for case in vacuous))
            self._print(_summary(self.proofs, len(self.entries) if whole else None, len(vacuous)))
        else:
            print(json.dumps(self._plain(fine, vacuous), indent=2))
        return 0 if fine else 1

    def _plain(self, fine: bool, vacuous: list[str]) -> dict[str, Any]:
        return {
            "fine": fine,
            "wrong": self.wrong,
            "faults": [_plain(proof) for proof in self.proofs],
            "cases": [{"id": case, "failed_by": names} for case, names in self.failed_by.items()],
            "vacuous": vacuous,
        }

    def _print(self, *lines: str) -> None:
        if self.words and lines:
            print("\n".join(lines), flush=True)


def _told(proof: Proof) -> list[str]:
    fault = proof.fault
    caught = [case for case, failed in proof.named.items() if failed]
    missed = [case for case, failed in proof.named.items() if not failed]
    lines = [f"{proof.verdict}: {fault.id}", f"{INDENT}{fault.title} ({fault.origin})"]
    lines += [f"{INDENT}{words}: {', '.join(cases)}" for words, cases in (
        ("caught by", caught),
        ("NOT caught by", missed),
        ("not tried, slow", proof.untried),
        ("also fails", proof.others),
    ) if cases]  # fmt: skip
    if proof.verdict == "too wide":
        cases = len(proof.named) + proof.touched
        lines.append(f"{INDENT}it fails about {proof.share:.0%} of {cases} cases: more than one decision is changed")
    return lines + [f"{INDENT}no answer: {text}" for text in proof.broken[:5]]


def _summary(proofs: Sequence[Proof], cases: int | None, vacuous: int) -> str:
    counts = {word: sum(p.verdict == word for p in proofs) for word in ("caught", "survived", "too wide", "broken", "not tried")}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    elsewhere = sum(p.fault.seen_elsewhere for p in proofs)
    line = f"{len(proofs)} {'fault' if len(proofs) == 1 else 'faults'}, {elsewhere} of them seen outside this suite: {told}"
    if cases is None:
        return line
    return f"{line}; {cases} cases, {vacuous or 'none'} of them failed by no fault"


def _plain(proof: Proof) -> dict[str, Any]:
    fault = proof.fault
    return {
        "id": fault.id,
        "title": fault.title,
        "origin": fault.origin,
        "dialects": list(fault.dialects),
        "verdict": proof.verdict,
        "named": proof.named,
        "others": list(proof.others),
        "not_tried": list(proof.untried),
        "broken": list(proof.broken),
        "sampled": proof.sampled,
        "touched": proof.touched,
        "share": round(proof.share, 3),
    }
