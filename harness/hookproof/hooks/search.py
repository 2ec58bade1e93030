"""A stimulus that the script refuses and one that it passes are found by firing: its own words first, then a stock."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from . import stimuli
from .fire import Fired, How
from .meaning import Meaning
from .script import Script
from .seeds import seeds
from .stimuli import Stimulus

BATCH = 12
BUDGET_S = 4.0
"""The search ends after this time, with what it has."""
PATIENCE_S = 15.0
"""After this time it ends in any case; so long it goes on for a script that means to refuse and was not seen to."""
READ_CHARS = 100_000
"""What a script says in its first so many characters is looked at for words of refusal."""
ENOUGH = 6
"""This many refused stimuli of the script's own words are enough to go on with."""

MOST_ALONE = 40
ALONE = How(limit_s=9.9)
"""Not the ordinary way, lest the answer of before is taken for this one."""

IN_VAIN = 60
"""After this many stimuli no refusal that has an effect is looked for any more, when one without effect was seen."""

_WANTS = re.compile(
    r"\bden(y|ied|ies)\b|\bblock(ed|ing|s)?\b|\brefus|\bforbid|not (be )?(allowed|permitted)|\breject|\bprohibit|\bdanger"
    r'|"(permission_?decision|decision|verdict|permission|behavior)"\s*:\s*"(deny|ask|block|reject|no|forbid)'
    r'|"(continue|approve|allow|allowed|ok)"\s*:\s*false',
    re.IGNORECASE,
)
_MEANS_TO_REFUSE = re.compile(
    r"permissionDecision\W{1,8}ask\b|\b(exit|return) 2\b|exit\(2\)|exit[Cc]ode = 2\b|\bdeny\b|\"block\"|'block'|\bblocked\b"
    r"|\bdenied\b|\brefus|\bforbidden\b",
    re.IGNORECASE,
)
_CRASH = re.compile(
    r"Traceback \(most recent call last\)|^\s+at .+:\d+:\d+\)?$|unbound variable|syntax error|command not found|not found$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Shot:
    """One stimulus fired at the script, and what that means in its dialect."""

    stimulus: Stimulus
    how: How
    fired: Fired
    meaning: Meaning

    @property
    def refuses(self) -> bool:
        """It holds what the event is about."""
        return self.meaning.blocks

    @property
    def tries(self) -> bool:
        """It says that it refuses, whether or not that has an effect."""
        if self.refuses or self.fired.exit == 2:
            return True
        said, complained = self.fired.said[:READ_CHARS], self.fired.complained[:READ_CHARS]
        return bool(_WANTS.search(said) or _WANTS.search(complained)) and not self.crashed

    @property
    def crashed(self) -> bool:
        """It ended by a fault of its own, as far as that can be seen."""
        if self.fired.signal is not None or self.fired.cannot_start is not None:
            return True
        return self.fired.exit not in (0, None) and bool(_CRASH.search(self.fired.complained[:READ_CHARS]))

    @property
    def answer(self) -> object:
        """Stdout as JSON; None when it is none."""
        try:
            return json.loads(self.fired.said)
        except (ValueError, RecursionError):
            return None

    @property
    def shape(self) -> tuple[object, ...]:
        """What tells this answer from that to another stimulus, whatever texts it has."""
        return (self.fired.exit, self.fired.signal, self.fired.timed_out, self.meaning.verdict, self.tries, self.meaning.failed)

    def shown(self) -> str:
        """What it did, in a line."""
        said = self.fired.said.strip()
        complained = self.fired.complained.strip()
        parts = [self.fired.ended]
        parts.append(f"stdout {_cut(said)}" if said else "nothing on stdout")
        if complained:
            parts.append(f"stderr {_cut(complained)}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Canaries:
    """Two stimuli that tell a guard from a fake: one that must be refused, one that must pass."""

    refused: Shot | None = None
    passed: Shot | None = None
    tried: Shot | None = None
    """It says that it refuses, and that has no effect."""
    all_refused: tuple[Shot, ...] = ()
    all_tried: tuple[Shot, ...] = ()
    shots: tuple[Shot, ...] = field(default=(), repr=False)


Shooting = Callable[[Sequence[tuple[Stimulus, How]]], list[Shot]]


def search(script: Script, shoot: Shooting, refuse: Sequence[Stimulus] = (), accept: Sequence[Stimulus] = ()) -> Canaries:
    """Fire until there is a refused and a passed stimulus, or nothing is left to try; `refuse` and `accept` come first."""
    plain = [*accept, *stimuli.harmless(script.dialect, script.event)[:6]]
    own = seeds(script)
    likely = _likely(script)
    rest = [s for s in stimuli.stock(script.dialect, script.event) if s.id not in {one.id for one in own}]
    rest.sort(key=lambda stimulus: not likely(stimulus))  # stable: the likeliest of either sort stays first
    began = time.monotonic()
    shots: list[Shot] = []
    shots += shoot([(plain[0], How())])
    if shots[0].fired.timed_out or shots[0].fired.flooded:
        return Canaries(shots=tuple(shots))
    ahead = _distinct([plain[0], *refuse, *plain[1:3], *own, *plain[3:], *rest])[1:]
    while ahead:
        batch, ahead = ahead[:BATCH], ahead[BATCH:]
        shots += shoot([(stimulus, How()) for stimulus in batch])
        found = _sorted(shots, {id(s) for s in refuse})
        own_left = len(shots) < len(refuse) + 3 + len(own)
        if found.refused and found.passed and (len(found.all_refused) >= ENOUGH or not own_left):
            break
        if found.tried and found.passed and len(shots) > IN_VAIN and not own_left:
            break
        in_vain = means_to_refuse(script.source) and not (found.refused or found.tried)
        if time.monotonic() - began > (PATIENCE_S if in_vain else BUDGET_S):
            break
    if not any(shot.refuses for shot in shots) and means_to_refuse(script.source):
        shots += _alone(own, shoot)
    return _sorted(shots, {id(s) for s in refuse})


def _alone(own: Sequence[Stimulus], shoot: Shooting) -> list[Shot]:
    """The script's own words once more, one by one: what several starts share may have kept it from refusing."""
    began = time.monotonic()
    shots: list[Shot] = []
    for stimulus in own[:MOST_ALONE]:
        shots += shoot([(stimulus, ALONE)])
        if shots[-1].refuses or time.monotonic() - began > BUDGET_S:
            break
    return shots


def _likely(script: Script) -> Callable[[Stimulus], bool]:
    """Which stimuli the script may look at: commands, paths, or both."""
    source = script.source
    commands, paths = bool(re.search(r"\bcommand\b", source)), bool(re.search(r"file_path|\bpath\b|notebook_path", source))
    return lambda stimulus: (stimuli.command_of(stimulus) is not None) == commands or commands == paths


def means_to_refuse(source: str) -> bool:
    """Whether the script has words of refusal outside of its comment lines."""
    code = "\n".join(line for line in source.splitlines() if not re.match(r"\s*(#|//)", line))
    return _MEANS_TO_REFUSE.search(code) is not None


def _distinct(items: Sequence[Stimulus]) -> list[Stimulus]:
    found: dict[bytes, Stimulus] = {}
    for item in items:
        found.setdefault(item.data(), item)
    return list(found.values())


def _sorted(shots: Sequence[Shot], wanted: set[int]) -> Canaries:
    refused = [shot for shot in shots if shot.refuses]
    refused.sort(key=lambda shot: id(shot.stimulus) not in wanted)
    passing = [shot for shot in shots if not shot.refuses and not shot.fired.timed_out]
    usual = _usual(shots)
    tried = [shot for shot in passing if shot.shape != usual and (shot.tries or _sets_itself_apart(shot, usual))]
    quiet = [shot for shot in passing if shot not in tried and not shot.crashed]
    return Canaries(
        refused[0] if refused else None,
        quiet[0] if quiet else None,
        tried[0] if tried else None,
        tuple(refused),
        tuple(tried),
        tuple(shots),
    )


def _usual(shots: Sequence[Shot]) -> tuple[object, ...] | None:
    """How the script answers most things, or, while little was tried, the first harmless one."""
    shapes = [shot.shape for shot in shots if not shot.refuses]
    return max(shapes, key=shapes.count) if shapes else None


def _sets_itself_apart(shot: Shot, usual: tuple[object, ...] | None) -> bool:
    """It ends with a code of its own and says something, where most stimuli end with 0."""
    return usual is not None and usual[0] == 0 and shot.fired.exit not in (0, None) and not shot.crashed


def _cut(text: str, length: int = 160) -> str:
    line = text.replace("\n", "\\n")
    return repr(line if len(line) <= length else line[:length] + "...")
