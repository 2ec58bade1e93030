"""The matrix becomes a line, a table, and results of the stream."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Sequence

from ... import results
from ...results import CaseResult, Status
from ..script import Script
from .change import Change
from .matrix import Answer, Cell, Matrix, Role, agent

NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "lecode": "lecode",
    "teaagent": "TeaAgent",
}
"""Agent -> its name for people, in the order in which they are told. One result each."""

WIDTH = 110
MEANT = {"refusal": "refuses", "pass": "passes"}
SENTENCE = "What the script refuses does not happen in {agent} either, and what it passes happens there."
AS_FUNCTION = "its hooks are functions, not scripts; read as the body of one, and not counted"


def name_of(dialect: str) -> str:
    """A dialect for people: Codex 0.171.0."""
    return f"{NAMES.get(agent(dialect), agent(dialect))} {dialect.partition('/')[2]}".strip()


def _ordered(found: Matrix) -> list[str]:
    order = list(NAMES)
    names = [one.name for one in found.dialects]
    return sorted(names, key=lambda name: order.index(agent(name)) if agent(name) in order else len(order))


def _scripts(found: Matrix) -> set[str]:
    return {one.name for one in found.dialects if one.scripts}


# ---- a line --------------------------------------------------------------------------------------


def line(found: Matrix) -> str:
    """What it comes to elsewhere, in a line: "blocks in Claude Code 2.1.178, Codex 0.171.0; RUNS in Gemini CLI 0.61.0"."""
    names = [name for name in _ordered(found) if name in _scripts(found) and name != found.own]
    parts: list[str] = []
    if any(answer.role == "refusal" for answer in found.answers):
        parts += _told(found, names)
    passing = [(name, cell) for name in names for cell in found.of(name) if cell.answer.role == "pass" and not cell.ok]
    blocked = dict.fromkeys(name for name, cell in passing if cell.outcome in ("blocks", "asks"))
    unchanged = dict.fromkeys(name for name, cell in passing if cell.outcome == "runs")
    if blocked:
        parts.append(f"what it passes is BLOCKED in {_list(blocked)}")
    if unchanged:
        parts.append(f"its rewrite is NOT APPLIED in {_list(unchanged)}")
    if not parts:
        return ""
    return f"elsewhere: {'; '.join(parts)}"


def _told(found: Matrix, names: Sequence[str]) -> Iterable[str]:
    groups: dict[str, list[str]] = {}
    for name in names:
        cells = [cell for cell in found.of(name) if cell.answer.role == "refusal"]
        if any(cell.event is None for cell in cells):
            word = "never fires in"
        elif not all(cell.possible for cell in cells):
            word = "cannot hold it up in"
        else:
            held = sum(cell.ok for cell in cells)
            word = "blocks in" if held == len(cells) else "blocks now and then in" if held else "RUNS in"
        groups.setdefault(word, []).append(name)
    for word, members in groups.items():
        yield f"{word} {_list(members)}"


def _list(names: Iterable[str]) -> str:
    return ", ".join(name_of(name) for name in names)


# ---- a table -------------------------------------------------------------------------------------


def table(found: Matrix) -> list[str]:
    """The whole matrix: its answers, a row for each agent, the reason of each cell, the smallest change."""
    lines = ["what its answers come to, agent by agent"]
    for one in found.answers:
        lines += _wrapped(f"{one.name} {MEANT[one.role]} {one.shot.stimulus.id}: {one.shot.shown()}", 2, 5)
    calls = {call.dialect for call in found.calls}
    head = [one.name for one in found.answers] + (["the same call, as it is written there"] if calls else [])
    rows = [[_shown(cell) for cell in found.of(name)] + _called(found, name) for name in _ordered(found)]
    widths = [max(len(row[place]) for row in [head, *rows] if place < len(row)) for place in range(len(head))]
    left = max(len(name_of(name)) for name in _ordered(found))
    lines += ["", f"  {'':<{left}}  {_row(head, widths)}"]
    lines += [f"  {name_of(name):<{left}}  {_row(row, widths)}" for name, row in zip(_ordered(found), rows, strict=True)]
    lines.append("")
    for name in _ordered(found):
        for text in _reasons(found, name):
            lines += _wrapped(f"{name_of(name)}: {text}", 2, 4)
    lines += ["", *_remedies(found)]
    return [text.rstrip() for text in lines]


def _wrapped(text: str, indent: int, hang: int) -> list[str]:
    first, more = " " * indent, " " * hang
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=more, break_on_hyphens=False, break_long_words=False
    )


def _shown(cell: Cell) -> str:
    if cell.event is None:
        return "-"
    return cell.outcome if cell.ok else cell.outcome.upper()


def _called(found: Matrix, name: str) -> list[str]:
    call = found.call(name)
    return [] if not found.calls else ["" if call is None else "known" if call.ok else "NOT KNOWN"]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False))


def _reasons(found: Matrix, name: str) -> list[str]:
    """Why each cell is what it is; alike reasons once."""
    reasons: dict[str, list[str]] = {}
    for cell in found.of(name):
        reasons.setdefault(f"{cell.why} [{cell.source}]", []).append(cell.answer.name)
    lines = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
    call = found.call(name)
    if call is not None and not call.ok:
        lines.append(f"the call: {call.why}")
    if name not in _scripts(found):
        lines.append(AS_FUNCTION)
    return lines


def _remedies(found: Matrix) -> list[str]:
    lines = []
    rewriting = [one.name for one in found.answers if one.rewrites and any(not c.ok for c in found.cells if c.answer is one)]
    if rewriting:
        lines.append(f"  {', '.join(rewriting)}: no form of a rewrite is known that is applied everywhere")
    for (role, told), names in _by_words(found).items():
        lines.append(f"  the smallest change by which {', '.join(names)} {_aim(role)}:")
        lines += _wrapped(told, 4, 4)
    powerless = _powerless(found)
    if powerless:
        lines.append(f"  no answer that was tried holds {found.event} up in {_list(powerless)}")
    elif not lines and all(cell.ok for cell in found.cells if cell.dialect in _scripts(found)):
        lines.append("  its answers mean the same in every agent that starts scripts and has the event")
    return lines


def _powerless(found: Matrix) -> list[str]:
    """The agents in which nothing can be refused at this event."""
    wrong = {cell.dialect for cell in found.cells if not cell.ok and not cell.possible}
    return [name for name in _ordered(found) if name in wrong and name in _scripts(found)]


def _by_words(found: Matrix) -> dict[tuple[Role, str], list[str]]:
    alike: dict[tuple[Role, str], list[str]] = {}
    for answer, change in found.changes:
        alike.setdefault((answer.role, remedy(change)), []).append(answer.name)
    return alike


def _aim(role: Role) -> str:
    return "blocks everywhere" if role == "refusal" else "passes everywhere"


def remedy(change: Change) -> str:
    """What to do, and what came of it when it was tried."""
    told = " and ".join(change.words)
    told += f" (tried in {len(change.agrees) + len(change.differs)} dialects"
    if change.differs:
        told += f"; still not in {_list(change.differs)}, where nothing that was tried helps together with the rest"
    if change.mute:
        told += f"; {_list(change.mute)} will not show the reason"
    if change.hardens:
        told += "; it refuses then instead of asking"
    if change.silences:
        told += "; what it tells the model is lost then"
    return f"{told})"


# ---- results -------------------------------------------------------------------------------------


def names() -> list[str]:
    """The ids of the results, one for each agent."""
    return [f"hook/portability/{one}" for one in NAMES]


def cases(found: Matrix | None, script: Script, seconds: float = 0.0) -> list[CaseResult]:
    """One result for each agent, with a check for each cell; what differs is warned of."""
    option, where = ("--hook", script.origin) if script.settings is None else ("--settings", script.origin.rpartition(":")[0])
    made = []
    for one in NAMES:
        names = [] if found is None else [name for name in _ordered(found) if agent(name) == one]
        status, note = _status(found, names)
        cells = [] if found is None else [cell for name in names for cell in found.of(name)]
        calls = [] if found is None else [call for call in found.calls if call.dialect in names]
        checks = [_check(cell, several=len(names) > 1) for cell in cells] + [
            results.Check(name="call", ok=call.ok, basis="seen", wanted="the script knows the call in this form", saw=call.why)
            for call in calls
        ]
        ident = f"hook/portability/{one}"
        made.append(
            CaseResult(
                id=ident if script.settings is None else f"{ident}@{script.pointer}",
                dialect=names[-1] if names else one,
                family="hook-portability",
                rule=f"same-in-{one}",
                level="may",
                sentence=SENTENCE.format(agent=NAMES[one]),
                source=script.where,
                status=status,
                checks=checks,
                note=note,
                hint=_hint(found, cells) if status == "warn" else "",
                rerun=f"hookproof check {option} {shlex.quote(where)} --portability",
                seconds=seconds,
            )
        )
    return made


def _status(found: Matrix | None, names: Sequence[str]) -> tuple[Status, str]:
    if found is None or not names:
        return "not-tested", "the script gave no answer that could be read"
    cells = [cell for name in names for cell in found.of(name)]
    if not set(names) & _scripts(found):
        return "not-applicable", AS_FUNCTION
    if all(cell.event is None for cell in cells):
        return "not-applicable", cells[0].why
    if any(not cell.ok for cell in cells) or any(not call.ok for call in found.calls if call.dialect in names):
        return "warn", ""
    return "pass", ""


def _check(cell: Cell, several: bool) -> results.Check:
    wanted = "blocks" if cell.answer.role == "refusal" else "runs rewritten" if cell.answer.rewrites else "runs"
    at = f" at {cell.dialect.partition('/')[2]}" if several else ""
    saw = (
        f"{cell.outcome}: {cell.why} [{cell.source}]; the answer to {cell.answer.shot.stimulus.id} was {cell.answer.shot.shown()}"
    )
    return results.Check(name=f"{cell.answer.name}{at}", ok=cell.ok, basis="seen", wanted=wanted, saw=saw)


def _hint(found: Matrix | None, cells: Sequence[Cell]) -> str:
    if found is None:
        return ""
    wrong: list[Answer] = [cell.answer for cell in cells if not cell.ok]
    hints = [
        f"the smallest change by which {answer.name} {_aim(answer.role)}: {remedy(change)}"
        for answer, change in found.changes
        if answer in wrong
    ]
    hints += [
        f"no answer that was tried holds {cell.event} up in {name_of(cell.dialect)}"
        for cell in cells
        if not cell.ok and not cell.possible
    ]
    if not wrong:
        hints.append("to mend it: read the tool's name and its input in this agent's form, too")
    return "\n".join(hints)
