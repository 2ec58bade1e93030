"""What a run proves: requirement sets held against results, and the last line for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import applicability, posture, requirements
from .catalog import Catalog
from .protocol import Posture
from .requirements import RequirementSet
from .results import BAD, CaseResult, Footer, Header, count


@dataclass(frozen=True, slots=True)
class Standing:
    """One requirement set after a run. `required` and `passed` count cases; slow ones are a tier of their own."""

    name: str
    required: int
    passed: int
    absent: tuple[str, ...]
    """Features that the set does not let a runner leave out, and that were not declared."""
    left_out: tuple[str, ...]
    """What required cases did not apply for (undeclared features, scope chain): said on the certificate."""
    slow_required: int
    slow_passed: int

    @property
    def certified(self) -> bool:
        """Every required ordinary case ran and passed, or rests on a feature that may be absent."""
        return not self.absent and self.required > 0 and self.passed == self.required

    @property
    def title(self) -> str:
        """The certificate's name: `+slow` when the cases that need longer than 3 s have passed as well."""
        return f"{self.name}+slow" if self.slow_required and self.slow_passed == self.slow_required else self.name


def standing(
    wanted: RequirementSet, catalog: Catalog, header: Header, cases: Iterable[CaseResult], subject: str | None = None
) -> Standing:
    """How a run stands towards one requirement set, by its cases in `subject` (`lecode/1.0`; None: the set's own)."""
    subject = subject or wanted.subject
    by_id = {case.id: case for case in cases if case.dialect == subject}
    required = requirements.required(catalog, wanted)
    notes = {by_id[name].note for name in required.all if name in by_id and by_id[name].status == "not-applicable"}
    left_out = sorted({word for note in notes for word in applicability.left_out(note)})
    ordinary, slow = ([n for n in names if _status(by_id, n) != "not-applicable"] for names in (required.ordinary, required.slow))
    return Standing(
        name=wanted.name if subject == wanted.subject else f"{wanted.name}@{subject}",
        required=len(ordinary),
        passed=sum(_status(by_id, name) == "pass" for name in ordinary),
        absent=tuple(f for f in wanted.features if f not in header.features),
        left_out=tuple(left_out),
        slow_required=len(slow),
        slow_passed=sum(_status(by_id, name) == "pass" for name in slow),
    )


def demanded(catalog: Catalog, header: Header, judged: Sequence[tuple[str, str]]) -> list[tuple[RequirementSet, str]]:
    """The sets that are asked of a runner, each with the dialect and version in which: its own, and profiles that fit."""
    return [
        (wanted, f"{dialect}/{version}")
        for dialect, version in judged
        for wanted in sorted(catalog.requirements, key=lambda each: each.profile)
        if (wanted.profile or (wanted.dialect, wanted.version) == (dialect, version))
        and _fits(wanted, posture.told(dialect, version, header.posture))
    ]


def _fits(wanted: RequirementSet, told: Posture | None) -> bool:
    if told is None:
        return not wanted.posture
    return all(posture.word(told, path) == word for path, word in wanted.posture.items())


def _status(by_id: dict[str, CaseResult], name: str) -> str:
    return by_id[name].status if name in by_id else "not asked"


def footer(
    header: Header,
    catalog: Catalog,
    judged: Sequence[tuple[str, str]],
    cases: Sequence[CaseResult],
    seconds: float,
    *,
    slow: bool,
) -> Footer:
    """The last line of a run over `cases`; `judged` are the dialects and versions that were judged."""
    sets = demanded(catalog, header, judged)
    standings = [standing(wanted, catalog, header, cases, subject) for wanted, subject in sets]
    bad = [case for case in cases if case.status in BAD]
    certified = [s.title for s in standings if s.certified] if header.certifies and not bad else []
    checks = [check for case in cases for check in case.checks]
    return Footer(
        counts=count(cases),
        verdict=_verdict(header, standings, certified, cases, slow),
        certified=certified,
        not_scored=sorted({rule for r, _ in sets if not r.profile for rule in requirements.not_scored(catalog, r)}),
        seen=sum(check.basis == "seen" for check in checks),
        claimed=sum(check.basis == "claimed" for check in checks),
        seconds=round(seconds, 2),
    )


def _verdict(header: Header, standings: list[Standing], certified: list[str], cases: Sequence[CaseResult], slow: bool) -> str:
    name = header.runner.get("name", "the runner")
    bad = sum(case.status in BAD for case in cases)
    passed = sum(case.status == "pass" for case in cases)
    if certified:
        held = [s for s in standings if s.title in certified]
        without = sorted({word for s in held for word in s.left_out})
        words = f"certified: {name} keeps {', '.join(certified)} ({'; '.join(map(_counted, held))})"
        if without:
            words += f"; not covered: {', '.join(without)}"
        # all that the table counts, also those that no requirement set holds
        if not slow and (waiting := sum(case.slow and case.status == "not-tested" for case in cases)):
            words += f"; {waiting} slow {'case' if waiting == 1 else 'cases'} not tested (--slow)"
        return words
    if not header.certifies:
        return f"{passed} of {len(cases)} cases pass, {bad} failed; no certificate: {header.why_not}"
    parts = []
    for s in standings:
        part = f"{s.name}: {_counted(s)}"
        if s.absent:
            part += f", and it demands {', '.join(s.absent)}"
        parts.append(part)
    if not parts:
        parts = [f"{passed} of {len(cases)} cases pass; there is no requirement set for this dialect"]
    return f"not certified: {name}: {'; '.join(parts)}; {bad} of {len(cases)} cases failed"


def _counted(s: Standing) -> str:
    """The required cases that were asked for: slow ones count once one of them has passed."""
    required = s.required + (s.slow_required if s.slow_passed else 0)
    return f"{s.passed + s.slow_passed} of {required} required cases pass"
