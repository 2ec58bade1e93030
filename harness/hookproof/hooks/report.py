"""A report becomes lines for a terminal: what the script is, what is wrong with it and what to do, the counts."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from ..results import BAD, CaseResult, Footer
from .certify import HookReport
from .portability import words

WIDTH = 110


def text(report: HookReport, *, failures: bool = True) -> list[str]:
    """All that a person needs to know of one script, the most important first; `failures` were told elsewhere if not."""
    lines = [report.first_line, *_canaries(report)]
    bad = [case for case in report.cases if case.status in BAD]
    warned = [case for case in report.cases if case.status == "warn" and case.family != "hook-portability"]
    for case in [*(bad if failures else []), *warned]:
        lines += ["", *finding(case)]
    if report.evasions:
        lines += ["", report.evasions[0], *(line for told in report.evasions[1:] for line in _wrapped(told.lstrip(), "  ", 3))]
    lines += ["", *_families(report.cases), *_not_tested(report.cases), *_elsewhere(report)]
    return lines


def finding(case: CaseResult) -> list[str]:
    """One broken rule: the demand, what was seen, the remedy."""
    mark = "FAIL" if case.status in BAD else "warn"
    if case.status == "harness-error":
        mark = "OUR FAULT"
    lines = [f"{mark} {case.id}", *_wrapped(case.sentence, "  ")]
    for seen in case.checks[:3]:
        lines += _wrapped(f"saw: {seen.saw}", "  ", hang=5)
    if len(case.checks) > 3:
        lines.append(f"  and {len(case.checks) - 3} more of the kind")
    if case.note:
        lines += _wrapped(case.note, "  ")
    if case.hint:
        for line in case.hint.splitlines():
            lines += _wrapped(line, "  ")
    return lines


def last_line(footer: Footer) -> str:
    """The verdict."""
    return f"{footer.verdict} ({footer.seconds:.1f} s)"


def _canaries(report: HookReport) -> list[str]:
    lines = []
    if report.refused is not None:
        lines.append(f"  refuses: {report.refused.stimulus.id} ({report.refused.meaning.verdict}, {report.refused.fired.ended})")
    if report.passed is not None and report.kind == "guard":
        lines.append(f"  passes:  {report.passed.stimulus.id}")
    if not report.script.event_given:
        lines.append(f"  event:   {report.script.event}, guessed from its words; --event says another")
    return lines


def _families(cases: Sequence[CaseResult]) -> list[str]:
    names = list(dict.fromkeys(case.family for case in cases))
    lines = []
    for name in names:
        counts = Counter(case.status for case in cases if case.family == name)
        words = ", ".join(f"{number} {word}" for word, number in counts.items())
        lines.append(f"  {name.removeprefix('hook-'):<14} {words}")
    return lines


def _not_tested(cases: Sequence[CaseResult]) -> list[str]:
    reasons: dict[str, int] = Counter(case.note for case in cases if case.status == "not-tested")
    return [f"  not tested: {number} {'check' if number == 1 else 'checks'}: {reason}" for reason, number in reasons.items()]


def _elsewhere(report: HookReport) -> list[str]:
    """What its answers come to in other agents: all of it when that was asked for, else a line."""
    if report.matrix is None:
        return []
    if report.matrix.thorough:
        return ["", *words.table(report.matrix)]
    told = words.line(report.matrix)
    return _wrapped(f"{told} (hookproof check --portability says why)", "  ", hang=2) if told else []


def _wrapped(text: str, indent: str, hang: int = 0) -> list[str]:
    blank = " " * (len(indent) + hang)
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=blank, break_on_hyphens=False, break_long_words=False
    )
