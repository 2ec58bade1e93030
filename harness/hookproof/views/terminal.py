"""The stream becomes text for a terminal: what failed and why, a table of families, a last line."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from ..results import BAD, CaseResult, Check, Footer, Header, Moment, Status, count

WIDTH = 110
GIVEN_CHARS = 700
"""So much of each settings file and of the request is shown with a failure."""
STDERR_CHARS, STDERR_LINES = 3000, 40
"""So much of the end of a subject's stderr is shown; results keep more."""
LABELS: dict[Status, str] = {
    "pass": "pass",
    "fail": "fail",
    "error": "error",
    "harness-error": "our fault",
    "warn": "warn",
    "not-tested": "not tested",
    "not-applicable": "n.a.",
}
"""Status word -> the heading of its column; in the order in which the table shows them."""
REFERENCE = "hookproof-reference"
"""How the runner of this project calls itself."""
NOT_DECLARED = "not declared: "
"""How the note begins of a case that does not apply because the runner does not say that it can do so much."""
EXTRAS = {"http": "http", "mcp_tool": "mcp", "prompt": "model", "agent": "model"}
"""Feature of the reference -> the extra that installs its library."""
ALWAYS: tuple[Status, ...] = ("pass", "fail", "warn", "not-tested", "not-applicable")
"""The columns that stand in the table even when they are empty."""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def head(header: Header, suite: Path, asked: str) -> list[str]:
    """What is asked of whom (`asked`: as the user named it), and every reason why nothing can be certified."""
    name = " ".join(str(header.runner[key]) for key in ("name", "version") if header.runner.get(key)) or "unnamed runner"
    lines = [
        f"hookproof {header.hookproof}: {_cases(header.cases)} of {suite}, hash {header.suite[:12]}",
        f"subject: {name} ({asked}), {', '.join(header.dialects)}, scope {header.scope}",
    ]
    if not header.certifies:
        lines.append(f"this run certifies nothing: {header.why_not}")
    return [printable(line) for line in lines]


def failure(result: CaseResult) -> str:
    """All that a person needs to understand one failure: rule, wanted, saw, what happened, how to see it again."""
    lines = [f"{result.id}: {_what(result)}", *_wrapped(result.sentence, "  ")]
    lines.append(f"  ({result.level}; {result.source}; rule {result.rule})")
    if result.note:
        lines += ["", *_wrapped(result.note, "  ")]
    failed = [check for check in result.checks if not check.ok]
    if failed:
        lines += ["", *(line for check in failed for line in _check(check, _of_gate(result)))]
        held = len(result.checks) - len(failed)
        if held:
            lines.append(f"  ({held} other {'check' if held == 1 else 'checks'} of this case held)")
    if result.timeline:
        lines += ["", "  what happened, as the probes wrote it down:", *(f"    {line}" for line in timeline(result.timeline))]
    elif failed and not _of_gate(result):
        lines += ["", "  what happened: no probe was started"]
    if result.given:
        lines += ["", "  what the runner was given (WORLD: the folder of the case):", *_of_given(result)]
    subject = "gate" if _of_gate(result) else "runner"
    if result.said:
        lines += ["", f"  the {subject} printed:", *_quoted(result.said)]
    if result.complained:
        lines += ["", f"  the {subject}'s stderr:", *_quoted(_end_of(result.complained))]
    if result.hint:
        lines += ["", *_wrapped(f"hint: {result.hint}", "  ")]
    lines += ["", f"  again: {result.rerun}"]
    return printable("\n".join(lines))


def _of_given(result: CaseResult) -> list[str]:
    lines: list[str] = []
    cut = False
    for given in result.given:
        text = _compact(given.text)
        cut = cut or len(text) > GIVEN_CHARS
        text = text if len(text) <= GIVEN_CHARS else f"{text[:GIVEN_CHARS]}..."
        lines += [f"    {given.what}", *(f"  {line}" for line in _quoted(text))]
    if cut:
        lines.append(f"    (cut; in words: hookproof cases show {result.id}; whole in the file of --results, under `given`)")
    return lines


def _compact(text: str) -> str:
    """JSON in one line, without what a person does not look for first; other text as it is."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, dict) and "steps" in found:
        # the folders and the settings' places are said above, the ids are chance
        found = {key: found[key] for key in ("dialect", "session", "permission", "steps") if found.get(key) is not None}
    return json.dumps(found, ensure_ascii=False)


def timeline(moments: Sequence[Moment]) -> list[str]:
    """The ledger, one fact per line, with the milliseconds since the first."""
    return [f"{'' if m.at is None else format(m.at * 1000, '8.0f') + ' ms':>11}  {m.what}" for m in moments]


def refusal(message: str, hint: str | None, said: str, complained: str) -> str:
    """Why the runner could not be asked at all, with its own words."""
    lines = [f"hookproof: {message}"]
    if said:
        lines += ["it printed:", *_quoted(said)]
    if complained:
        lines += ["its stderr:", *_quoted(_end_of(complained))]
    if hint:
        lines.append(f"hint: {hint}")
    return printable("\n".join(lines))


def printable(text: str) -> str:
    """The text with its control characters written out: what a subject prints must not steer the reader's terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def table(cases: Sequence[CaseResult]) -> list[str]:
    """The families with their counts, in the order of the suite, and a last row of sums."""
    present = {case.status for case in cases}
    columns = [status for status in LABELS if status in present or status in ALWAYS]
    several = len({case.dialect for case in cases}) > 1
    families: dict[str, list[CaseResult]] = {}
    for case in cases:
        families.setdefault(f"{case.dialect} {case.family}" if several else case.family, []).append(case)
    width = max([len("family"), *map(len, families)])
    rows = [f"{'family':<{width}}  " + "  ".join(f"{LABELS[status]:>{_column(status)}}" for status in columns)]
    for name, members in [*families.items(), ("all", list(cases))]:
        if name == "all" and len(families) > 1:
            rows.append("-" * len(rows[0]))
        elif name == "all":
            break
        counts = count(members)
        rows.append(f"{name:<{width}}  " + "  ".join(f"{counts.get(status, 0) or '.':>{_column(status)}}" for status in columns))
    return rows


def asides(cases: Sequence[CaseResult], runner: str | None = None) -> list[str]:
    """What did not fail and yet must be said: warnings, and what was not tested or does not apply, by reason."""
    lines = []
    for case in cases:
        if case.status == "warn":
            failed = "; ".join(f"wanted {c.wanted}, saw {c.saw}" for c in case.checks if not c.ok)
            lines.append(f"warning: {case.id}: {failed or case.note} ({case.level}: {case.sentence})")
    for status in ("not-tested", "not-applicable"):
        reasons: dict[str, int] = {}
        for case in cases:
            if case.status == status:
                reasons[case.note or "no reason given"] = reasons.get(case.note or "no reason given", 0) + 1
        lines += [f"{LABELS[status]}: {_cases(number)}: {reason}" for reason, number in reasons.items()]
    return [printable(line) for line in lines + _extras(cases, runner) + _properties(cases)]


def _extras(cases: Sequence[CaseResult], runner: str | None) -> list[str]:
    """What to install so that more of the cases apply to our own reference."""
    if runner != REFERENCE:
        return []
    notes = [case.note for case in cases if case.status == "not-applicable" and case.note.startswith(NOT_DECLARED)]
    features = {name for note in notes for name in note.removeprefix(NOT_DECLARED).split(", ")}
    lacking = sorted({EXTRAS[name] for name in features & EXTRAS.keys()})
    return [f"n.a.: the reference lacks libraries for these handlers: install hookproof[{','.join(lacking)}]"] if lacking else []


def _properties(cases: Sequence[CaseResult]) -> list[str]:
    """For each dialect, how many examples the properties held for: a property is tried, not proved."""
    held: dict[str, list[str]] = {}
    for case in cases:
        if case.family == "properties" and case.status == "pass":
            held.setdefault(case.dialect, []).append(case.note)
    return [f"properties: {len(notes)} hold in {dialect}, tried with {', '.join(notes)}" for dialect, notes in held.items()]


def last_line(footer: Footer, cases: Sequence[CaseResult], excused: int = 0) -> str:
    """The verdict, in one line."""
    words = footer.verdict
    if excused:
        words += f"; {excused} of the failures {'is' if excused == 1 else 'are'} known"
    if own := sum(case.status == "harness-error" for case in cases):
        words += f"; hookproof itself failed in {_cases(own)}, which {'says' if own == 1 else 'say'} nothing about the subject"
    if cases and not any(case.status in ("pass", "warn") or case.status in BAD for case in cases):
        words += "; nothing was tested, so nothing is proved"
    return printable(words)


def smoke(cases: Sequence[CaseResult]) -> str:
    """The verdict of a smoke run: wired wrongly (with a hint), wired and with faults, or wired well."""
    bad = [case for case in cases if case.status in BAD]
    if not cases:
        return "smoke: no case was answered"
    if any(case.status == "harness-error" for case in bad):
        return f"smoke: hookproof itself failed: {_first_note(bad, 'harness-error')}"
    if any(case.status == "error" for case in bad):
        erring = next(case for case in bad if case.status == "error")
        hint = erring.hint.replace("\n    ", " ")
        return printable(f"smoke: wired wrongly: {erring.note}" + (f"; hint: {hint}" if hint else ""))
    if bad and not any(case.timeline for case in cases):
        return (
            "smoke: wired wrongly: no handler and no tool was ever started; "
            "hint: read the settings files that the request names, and start `program` for a call that may run"
        )
    if bad and not any(moment.what.startswith("start h") for case in cases for moment in case.timeline):
        return (
            "smoke: wired wrongly: tools ran, and no handler was ever started; "
            "hint: read the settings files that the request names, and start their handlers before a call"
        )
    if bad:
        return f"smoke: wired well, but it has faults: {len(bad)} of {_cases(len(cases))} failed; next: run it without --smoke"
    tested = sum(case.status in ("pass", "warn") for case in cases)
    if not tested:
        return "smoke: nothing was tested: none of the smoke cases applies to what the runner declares"
    return f"smoke: wired well: the handshake and {_cases(tested)} pass; next: all cases, without --smoke"


def cut_short(done: int, wanted: int | None) -> str:
    """The last line of a run that has no verdict."""
    return f"cut short after {done} of {'an unknown number of' if wanted is None else wanted} cases: this run proves nothing"


def _what(result: CaseResult) -> str:
    subject = "gate" if _of_gate(result) else "runner"
    if result.status == "error":
        return f"the {subject} could not be judged ({result.error_kind or 'error'})"
    if result.status == "harness-error":
        return f"hookproof itself failed; this says nothing about the {subject}"
    return "the rule is not kept"


def _of_gate(result: CaseResult) -> bool:
    return result.family.startswith("gate-")


def _check(check: Check, of_gate: bool) -> list[str]:
    seen = "seen by how it ended" if of_gate else "seen in the ledger"
    basis = seen if check.basis == "seen" else "claimed by the runner"
    return [
        f"  {check.name} ({basis})",
        *_wrapped(f"wanted  {check.wanted}", "    ", hang=8),
        *_wrapped(f"saw     {check.saw or 'nothing'}", "    ", hang=8),
    ]


def _column(status: Status) -> int:
    return max(4, len(LABELS[status]))


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"


def _first_note(cases: Sequence[CaseResult], status: Status) -> str:
    return next(case.note for case in cases if case.status == status)


def _quoted(text: str) -> list[str]:
    return [f"    | {line}" for line in text.rstrip("\n").splitlines()]


def _end_of(text: str) -> str:
    """What a program wrote last: that is where it says why it gave up."""
    text = text.rstrip("\n")
    end = "\n".join(text[-STDERR_CHARS:].splitlines()[-STDERR_LINES:])
    return end if len(end) == len(text) else f"... (the end of {len(text)} characters)\n{end}"


def _wrapped(text: str, indent: str, hang: int = 0) -> list[str]:
    wrapped: list[str] = []
    for line in text.splitlines() or [""]:
        if line.startswith("    "):  # a command: it is pasted as it stands
            wrapped.append(indent + line)
            continue
        wrapped += textwrap.wrap(
            line, WIDTH, initial_indent=indent, subsequent_indent=indent + " " * hang, break_on_hyphens=False
        ) or [indent]
    return wrapped
