"""The ways in which a script answers are read in every dialect: does what it refuses happen there, and what it passes?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .. import stimuli
from ..check import Probe
from ..fire import Fired, How
from ..meaning import Meaning, Readable
from ..search import Shot
from ..stimuli import Stimulus
from . import change
from .change import Change

Role = Literal["refusal", "pass"]
Outcome = Literal["blocks", "asks", "runs", "runs rewritten", "no such event"]

AT_MOST = 3
"""This many ways of refusing, and of passing, are read: the most frequent."""
WORDS = frozenset({"decision", "permissionDecision", "verdict", "behavior", "hookEventName", "continue", "suppressOutput"})
"""Keys whose values make a difference; all other texts are alike."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One way in which the script answers."""

    name: str
    """R1, R2 for refusals, P1, P2 for what passes."""
    role: Role
    shot: Shot

    @property
    def rewrites(self) -> bool:
        """Whether it passes a call with another input, as its own agent reads it."""
        return self.role == "pass" and self.shot.meaning.rewrite is not None


@dataclass(frozen=True, slots=True)
class Cell:
    """What one answer comes to in one dialect."""

    answer: Answer
    dialect: str
    event: str | None
    """Its name there; None: there is no such event."""
    outcome: Outcome
    ok: bool
    """It does what the script means by it."""
    why: str
    source: str
    possible: bool = True
    """False: no answer at all could hold this event up there."""


@dataclass(frozen=True, slots=True)
class Call:
    """The refused call once more, in the payload of another agent."""

    dialect: str
    stimulus: Stimulus
    ok: bool
    why: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """All answers of a script in all dialects."""

    own: str
    event: str
    answers: tuple[Answer, ...]
    dialects: tuple[Readable, ...]
    cells: tuple[Cell, ...]
    changes: tuple[tuple[Answer, Change], ...] = ()
    """For each answer that does not mean the same everywhere, the smallest change by which it does."""
    calls: tuple[Call, ...] = ()
    thorough: bool = False
    """Changes were looked for, and calls were made."""

    def of(self, dialect: str) -> tuple[Cell, ...]:
        """The cells of one dialect."""
        return tuple(cell for cell in self.cells if cell.dialect == dialect)

    def call(self, dialect: str) -> Call | None:
        """The call in this dialect's payload."""
        return next((call for call in self.calls if call.dialect == dialect), None)


def agent(dialect: str) -> str:
    """A dialect without its version."""
    return dialect.partition("/")[0]


def event_in(event: str, own: str, other: str) -> str:
    """What another agent calls an event."""
    back = {name: common for common, name in stimuli.OTHER_NAMES.get(agent(own), {}).items()}
    common = back.get(event, event)
    return stimuli.OTHER_NAMES.get(agent(other), {}).get(common, common)


def matrix(probe: Probe, *, thorough: bool = False) -> Matrix | None:
    """Read all answers of a script everywhere; None when it gave none.

    `thorough` looks for changes as well, and makes the refused call in the payload of each other agent.
    """
    answers = tuple(answers_of(probe))
    if not answers:
        return None
    dialects = probe.reader.readable
    cells = tuple(_cell(probe, answer, one.name) for one in dialects for answer in answers)
    found = Matrix(probe.dialect, probe.script.event, answers, dialects, cells, thorough=thorough)
    if not thorough:
        return found
    changes = []
    for answer in answers:
        # no form of a rewrite is known in all of them
        if not answer.rewrites and any(not cell.ok for cell in cells if cell.answer is answer):
            own = (probe.dialect, probe.script.event)
            smallest = change.smallest(answer.shot, answer.role, _everywhere(found, answer), own, probe.reader)
            if smallest is not None:
                changes.append((answer, smallest))
    return Matrix(probe.dialect, probe.script.event, answers, dialects, cells, tuple(changes), tuple(_calls(probe, found)), True)


def answers_of(probe: Probe) -> Iterable[Answer]:
    """One answer for each way of refusing and of passing, the most frequent first."""
    seen = probe.canaries
    refusals = [*seen.all_refused, *seen.all_tried]
    refusing = {id(shot) for shot in refusals}
    passing = [
        shot
        for shot in seen.shots
        if id(shot) not in refusing and not shot.crashed and not shot.fired.timed_out and not shot.refuses
    ]
    for letter, role, shots in (("R", "refusal", [s for s in refusals if not s.fired.timed_out]), ("P", "pass", passing)):
        for number, shot in enumerate(_frequent(shots), 1):
            yield Answer(f"{letter}{number}", "refusal" if role == "refusal" else "pass", shot)


def form(fired: Fired) -> tuple[object, ...]:
    """What tells one way of answering from another, whatever the texts."""
    return (
        fired.exit,
        fired.signal,
        fired.cannot_start is not None,
        _shape(_json(fired.said)),
        _shape(_json(fired.complained)),
    )


def _frequent(shots: Sequence[Shot]) -> list[Shot]:
    forms: dict[tuple[object, ...], list[Shot]] = {}
    for shot in shots:
        forms.setdefault(form(shot.fired), []).append(shot)
    return [group[0] for group in sorted(forms.values(), key=len, reverse=True)[:AT_MOST]]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return "text" if text.strip() else ""


def _shape(value: Any, key: str = "") -> object:
    if isinstance(value, dict):
        return tuple(sorted(((str(name), _shape(item, str(name))) for name, item in value.items()), key=lambda pair: pair[0]))
    if isinstance(value, str):
        return value if key in WORDS else "text" if value.strip() else ""
    return repr(value) if key in WORDS else type(value).__name__


def _cell(probe: Probe, answer: Answer, dialect: str) -> Cell:
    event = event_in(probe.script.event, probe.dialect, dialect)
    if event not in probe.reader.events(dialect):
        return Cell(
            answer, dialect, None, "no such event", True, f"there is no event {event}", "its documentation", possible=False
        )
    meaning = probe.reader.read(answer.shot.fired, event, dialect, answer.shot.how.limit_s)
    possible = change.can_hold(dialect, event, probe.reader)
    ok = meaning.blocks == (answer.role == "refusal") and (not answer.rewrites or meaning.rewrite is not None)
    return Cell(answer, dialect, event, _outcome(meaning), ok, meaning.why, meaning.source, possible)


def _outcome(meaning: Meaning) -> Outcome:
    if meaning.blocks:
        return "asks" if meaning.verdict == "ask" else "blocks"
    return "runs" if meaning.rewrite is None else "runs rewritten"


def _everywhere(found: Matrix, answer: Answer) -> list[tuple[str, str]]:
    """The dialects and events in which an answer should mean the same: of agents that start scripts, where it can be held."""
    scripts = {one.name for one in found.dialects if one.scripts}
    return [
        (cell.dialect, cell.event)
        for cell in found.cells
        if cell.answer is answer and cell.event is not None and cell.possible and cell.dialect in scripts
    ]


# ---- the same call in other payloads -------------------------------------------------------------


def _calls(probe: Probe, found: Matrix) -> Iterable[Call]:
    """Fire the refused call as each other agent writes it: a script that does not know the form lets it pass."""
    refusal = next((answer for answer in found.answers if answer.role == "refusal"), None)
    if refusal is None:
        return
    forms = {form(answer.shot.fired) for answer in found.answers if answer.role == "refusal"}
    wanted = []
    for one in found.dialects:
        event = event_in(found.event, found.own, one.name)
        stimulus = translated(refusal.shot.stimulus, found.own, one.name, event)
        if stimulus is not None and one.scripts and one.name != found.own and event in probe.reader.events(one.name):
            wanted.append((one.name, stimulus))
    # Codex sets no variable with the project's folder; the others do, by Claude Code's name as well
    bare = How(env=(("CLAUDE_PROJECT_DIR", None),))
    futures = [
        probe.bench.submit(probe.script, stimulus.data(), bare if agent(name) == "codex" else How()) for name, stimulus in wanted
    ]
    for (name, stimulus), future in zip(wanted, futures, strict=True):
        fired = future.result()
        known = form(fired) in forms or probe.reader.read(fired, stimulus.event, name, How().limit_s).blocks
        keys = ", ".join(_keys(stimulus))
        why = "the script knows the call in this form" if known else f"the script lets it pass: there it is {keys}"
        yield Call(name, stimulus, known, why)


def translated(stimulus: Stimulus, own: str, other: str, event: str) -> Stimulus | None:
    """The same call, prompt or event in the form of another agent; None where that cannot be said."""
    command, path = stimuli.command_of(stimulus), stimuli.path_of(stimulus)
    if stimuli.is_call(event) and command is not None:
        return stimuli.shell(other, event, command)
    if stimuli.is_call(event) and path is not None:
        names = stimuli.TOOLS.get(agent(own), {})
        kind = next((kind for kind, name in names.items() if name == stimulus.tool), None)
        return None if kind in (None, stimuli.SHELL) else stimuli.touching(other, event, str(kind), path)
    prompt = stimulus.payload.get("prompt")
    if event in ("UserPromptSubmit", "BeforeAgent") and isinstance(prompt, str):
        return stimuli.base(other, event).but(prompt=prompt)
    return None


def _keys(stimulus: Stimulus) -> list[str]:
    if isinstance(stimulus.payload.get("tool"), dict):
        return [f"tool.name {stimulus.tool}", *(f"tool.args.{key}" for key in stimulus.input)]
    if stimulus.tool is not None:
        return [f"tool_name {stimulus.tool}", *(f"tool_input.{key}" for key in stimulus.input)]
    return [
        f"{stimulus.event} with " + " and ".join(key for key in stimulus.payload if key in ("event", "hook_event_name", "prompt"))
    ]
