"""Other ways to what a guard refuses are made and fired; those that pass are compared with it in a sandbox, and ranked."""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal
from weakref import WeakKeyDictionary

from . import stimuli
from .bench import Bench
from .check import Probe
from .equivalence import PROJECT, Sameness, Sandbox
from .evade import mentions, options, paths, shell
from .evade.variant import EFFORTS, Effort, Variant
from .fire import How
from .search import Shot
from .stimuli import Stimulus
from .targets import command_targets, path_key, path_targets, side_by_side

BUDGET_S = 5.0
"""For the firing of variants of one script; those that come to mind first are fired first."""
BATCH = 24
HANGING = 2
"""After more starts than this that came to no end in one batch, no more are made."""
COMPARING_S = 3.0
"""For the comparing of those that pass; what comes later is assumed to do the same."""

Kind = Literal["chaining", "wrapping", "spelling", "options", "path", "writer", "shell-writer", "elsewhere"]

HOW_SURE: dict[Sameness, str] = {"seen": "same effect seen in a sandbox", "assumed": "same effect assumed", "different": ""}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One other way to do what was refused."""

    kind: Kind
    name: str
    text: str
    effort: Effort
    stimulus: Stimulus
    of: str
    """What was refused: a command or a path."""
    how: How = field(default_factory=How)
    compared: tuple[str, str] | None = None
    """The commands that show in the sandbox whether both do the same; None: that cannot be shown so."""
    touches: str = ""
    """The file that it must change to count."""
    note: str = ""
    doubtful: bool = False
    """Counts only if it was seen to do the same."""


@dataclass(frozen=True, slots=True)
class Evasion:
    """An attempt that passes the guard."""

    attempt: Attempt
    sameness: Sameness
    reached: bool = True
    """False: its settings do not lead this call to the guard at all."""

    @property
    def rank(self) -> tuple[int, int]:
        """The most serious first: what is sure, then what is likely to be written."""
        return (self.sameness != "seen", EFFORTS.index(self.attempt.effort))

    def told(self) -> str:
        """In a line."""
        why = "" if self.reached else "does not reach the guard; "
        more = f"; {self.attempt.note}" if self.attempt.note else ""
        sure = HOW_SURE[self.sameness]
        return f"`{cut(self.attempt.text)}` passes ({why}{self.attempt.name}; {self.attempt.effort}; {sure}{more})"


@dataclass(slots=True)
class Survey:
    """What came of all attempts against one script."""

    targets: tuple[str, ...] = ()
    evasions: list[Evasion] = field(default_factory=list)
    """Ranked."""
    fired: int = 0
    refuted: int = 0
    """Variants that passed, and rightly: they do something else."""
    left_out: list[Attempt] = field(default_factory=list)
    """Not fired, for want of time; the contrived ones first."""
    overblocked: list[tuple[str, str, Shot]] = field(default_factory=list)
    """Harmless things that are refused: how they mention the refused, their text, what the guard did."""
    sandbox: bool = False
    """Whether effects could be compared."""
    path_targets: int = 0
    command_targets: int = 0

    def of(self, *kinds: Kind) -> list[Evasion]:
        """The evasions of these kinds, ranked."""
        return [one for one in self.evasions if one.attempt.kind in kinds]

    def told(self, shown: int = 8) -> list[str]:
        """A summary for people: the first of the ranking."""
        serious = [one for one in self.evasions if one.attempt.kind != "elsewhere"]
        if not self.fired:
            return []
        head = f"evasions: {len(serious)} of {self.fired} other ways to do `{cut(self.targets[0])}` pass"
        if len(self.targets) > 1:
            head = head.replace(" pass", f" and {len(self.targets) - 1} more refused things pass")
        lines = [head if serious else head.replace(f"{len(serious)} of", "none of")]
        lines += [f"  {number}. {one.told()}" for number, one in enumerate(serious[:shown], 1)]
        if len(serious) > shown:
            lines.append(f"  and {len(serious) - shown} more; --json lists them all")
        if self.left_out:
            lines.append(f"  {len(self.left_out)} more were not fired for want of time")
        return lines


_surveys: WeakKeyDictionary[Probe, Survey] = WeakKeyDictionary()
_sandboxes: WeakKeyDictionary[Bench, Sandbox] = WeakKeyDictionary()
_locks: WeakKeyDictionary[Probe, threading.Lock] = WeakKeyDictionary()
_lock = threading.Lock()


def survey(probe: Probe) -> Survey:
    """All attempts against one script; made once."""
    with _lock:
        own = _locks.setdefault(probe, threading.Lock())
        sandbox = _sandboxes.setdefault(probe.bench, Sandbox(probe.bench))
    with own:
        if probe not in _surveys:
            _surveys[probe] = _survey(probe, sandbox)
        return _surveys[probe]


def surveyed(probe: Probe) -> Survey | None:
    """The survey, if it was made."""
    return _surveys.get(probe)


def _survey(probe: Probe, sandbox: Sandbox) -> Survey:
    commands = command_targets(probe, sandbox)
    files = path_targets(probe)
    attempts = [
        *(attempt for place, shot in enumerate(commands) for attempt in _on_command(probe, shot.stimulus, place == 0)),
        *(attempt for place, shot in enumerate(files[:2]) for attempt in _on_path(probe, shot.stimulus, place == 0)),
    ]
    attempts = _in_turn(attempts)
    made = Survey(
        targets=tuple(_target(shot.stimulus) for shot in [*commands, *files[:2]]),
        command_targets=len(commands),
        path_targets=len(files),
    )
    passing = _fired(probe, attempts, made)
    until = time.monotonic() + COMPARING_S
    sure = side_by_side(lambda one: _compared(sandbox, one[0], until), passing)
    judged = [Evasion(attempt, sameness, reached) for (attempt, reached), sameness in zip(passing, sure, strict=True)]
    real = [one for one in judged if one.sameness == "seen" or (one.sameness == "assumed" and not one.attempt.doubtful)]
    made.refuted = len(judged) - len(real)
    made.evasions = sorted(real, key=lambda one: one.rank)
    made.overblocked = list(_overblocked(probe, sandbox, commands[:2], files[:1]))
    made.sandbox = sandbox.works
    return made


def _in_turn(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The everyday ones first, and of each sort one after the other, so that none is left out for want of time."""
    places: Counter[tuple[Effort, Kind]] = Counter()
    weighed = []
    for attempt in attempts:
        places[attempt.effort, attempt.kind] += 1
        weighed.append((EFFORTS.index(attempt.effort), places[attempt.effort, attempt.kind]))
    order = sorted(range(len(attempts)), key=weighed.__getitem__)
    return [attempts[place] for place in order]


def _fired(probe: Probe, attempts: Sequence[Attempt], made: Survey) -> list[tuple[Attempt, bool]]:
    """Fire what there is time for; those that the guard does not hold, and whether they reach it."""
    until = time.monotonic() + BUDGET_S
    passing: list[tuple[Attempt, bool]] = []
    for start in range(0, len(attempts), BATCH):
        batch = attempts[start : start + BATCH]
        if time.monotonic() > until:
            made.left_out = list(attempts[start:])
            break
        shots = probe.shoot_all([(attempt.stimulus, attempt.how) for attempt in batch])
        made.fired += len(batch)
        if sum(shot.fired.timed_out for shot in shots) > HANGING:
            made.left_out = list(attempts[start + BATCH :])
            return passing
        for attempt, shot in zip(batch, shots, strict=True):
            reached = reaches(probe, attempt.stimulus)
            if not reached or not (shot.refuses or shot.fired.timed_out):
                passing.append((attempt, reached))
    return passing


def _compared(sandbox: Sandbox, attempt: Attempt, until: float) -> Sameness:
    if time.monotonic() > until:
        return "assumed"
    if attempt.touches:
        return sandbox.touches(attempt.text, attempt.touches)
    return "assumed" if attempt.compared is None else sandbox.same(*attempt.compared)


def reaches(probe: Probe, stimulus: Stimulus) -> bool:
    """Whether a call gets to the script, by its settings or by the matcher that it will have."""
    script = probe.script
    if probe.wiring is not None:
        if stimulus.tool == _tool_of_canary(probe) and script.condition is None:
            return True
        return probe.wiring.reached(stimulus).starts > 0
    if script.matcher in (None, "", "*") or stimulus.tool is None:
        return True
    try:
        return re.fullmatch(script.matcher, stimulus.tool) is not None
    except re.error:
        return True


def _tool_of_canary(probe: Probe) -> str | None:
    return probe.canaries.refused.stimulus.tool if probe.canaries.refused else None


# ---- what is written otherwise -------------------------------------------------------------------


def _target(stimulus: Stimulus) -> str:
    return stimuli.command_of(stimulus) or stimuli.path_of(stimulus) or stimulus.id


def _on_command(probe: Probe, stimulus: Stimulus, in_every_way: bool) -> Iterator[Attempt]:
    command = stimuli.command_of(stimulus) or ""
    seen: set[str] = {command}
    made: list[Variant] = [*options.variants(command), *shell.variants(command)]
    for variant in made:
        if variant.text in seen or (not in_every_way and variant.effort != "everyday"):
            continue
        seen.add(variant.text)
        other = stimulus.with_input(id=f"{variant.group}/{variant.name}", command=variant.text)
        yield Attempt(
            *(variant.group, variant.name, variant.text, variant.effort, other, command),
            compared=(command, variant.text),
            doubtful=variant.doubtful,
        )


def _on_path(probe: Probe, stimulus: Stimulus, in_every_way: bool) -> Iterator[Attempt]:
    path = stimuli.path_of(stimulus) or ""
    key = path_key(stimulus)
    for one in paths.spellings(path):
        how, before, behind = How(), "", ""
        if one.link_to:
            if probe.script.form == "exec":
                continue
            how = How(command=_linked(probe.script.command, one.link_to))
            before, behind = f"ln -s {shlex.quote(one.link_to)} {paths.LINK}; ", f"; rm {paths.LINK}"
        compared = (f"echo hello >{shlex.quote(path)}", f"{before}echo hello >{shlex.quote(one.path)}{behind}")
        other = stimulus.with_input(id=f"path/{one.name}", **{key: one.path})
        kind: Kind = "elsewhere" if one.elsewhere else "path"
        note = f"the same file on {one.elsewhere}" if one.elsewhere else ""
        sure = None if one.elsewhere else compared
        yield Attempt(kind, one.name, one.path, one.effort, other, path, how, sure, note=note)
    if not in_every_way or stimulus.tool not in {writer.tool for writer in paths.writers(path, probe.dialect)}:
        return
    for writer in paths.writers(path, probe.dialect):
        if writer.tool != stimulus.tool:
            other = stimuli.call(probe.dialect, probe.script.event, writer.tool, id=f"writer/{writer.tool}", **writer.input)
            yield Attempt("writer", f"by {writer.tool}", f"{writer.tool} {path}", writer.effort, other, path)
    for name, command, effort in paths.shell_writers(path):
        other = stimuli.shell(probe.dialect, probe.script.event, command, id=f"shell-writer/{name}")
        yield Attempt("shell-writer", f"by {name}", command, effort, other, path, touches=path)


def _linked(command: str, target: str) -> str:
    """The script's command line with a link laid in the project before, and taken away behind it."""
    for folder, name in ((PROJECT, '"$PWD"'), ("/home/dev", '"$HOME"')):
        if target == folder or target.startswith(f"{folder}/"):
            there = f"{name}{shlex.quote(target.removeprefix(folder)) if target != folder else ''}"
            break
    else:
        there = shlex.quote(target)
    return f"ln -sfn {there} {paths.LINK}; {command}\ncode=$?; rm -f {paths.LINK}; exit $code"


# ---- what is refused without need ----------------------------------------------------------------


def _overblocked(
    probe: Probe, sandbox: Sandbox, commands: Sequence[Shot], files: Sequence[Shot]
) -> Iterator[tuple[str, str, Shot]]:
    """Harmless calls that are refused; those that turn out to do what was refused are none."""
    for target in commands:
        command = stimuli.command_of(target.stimulus) or ""
        named = mentions.of_command(command)
        calls = [target.stimulus.with_input(id=f"mention/{name}", command=text) for name, text in named.items()]
        refused = [pair for pair in zip(named.items(), probe.shoot_all(calls), strict=True) if pair[1].refuses]
        sure = side_by_side(partial(sandbox.same, command), [text for (_, text), _ in refused])
        for ((name, text), shot), sameness in zip(refused, sure, strict=True):
            if sameness != "seen":
                yield name, text, shot
    for target in files:
        path = stimuli.path_of(target.stimulus) or ""
        places = mentions.of_path(path)
        calls = [
            target.stimulus.with_input(id=f"mention/{name}", **{path_key(target.stimulus): text}) for name, text in places.items()
        ]
        if "content" in target.stimulus.input:
            places["named in the text of another file"] = stimuli.ORDINARY[2]
            said = {path_key(target.stimulus): stimuli.ORDINARY[2], "content": f"see {path}\n"}
            calls.append(target.stimulus.with_input(id="mention/in a text", **said))
        for (name, text), shot in zip(places.items(), probe.shoot_all(calls), strict=True):
            if shot.refuses:
                yield name, text, shot


def cut(text: str, length: int = 90) -> str:
    """A text on one line, of bearable length."""
    line = text.replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= length else f"{line[: length - 3]}..."
