"""A handler must be reached by what it is for, through the settings that the user really has."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from .. import stimuli
from ..check import Finding, NotApplicable, Probe, check
from ..script import Script
from ..search import Shot
from ..seeds import named
from ..stimuli import Stimulus
from ..wiring import Wiring
from .answers import HELD

FAMILY = "wiring"
SHELLS = ("Bash", "bash")
TOOLS_OF_ALL = ("Bash", "Write", "Edit", "Read", "MultiEdit", "NotebookEdit")
DAYS_S = 1000.0
"""A limit of this many seconds or more was meant in milliseconds."""


def _wiring(probe: Probe) -> Wiring:
    if probe.wiring is None:
        raise NotApplicable("it stands in no settings file")
    return probe.wiring


def occasions(probe: Probe) -> list[Stimulus]:
    """One stimulus for each kind of call that there is at this event, also with the matcher's own words as tools."""
    dialect, event = probe.dialect, probe.script.event
    found = stimuli.variants(dialect, event)
    if stimuli.is_call(event):
        kinds = (stimuli.WRITE, stimuli.EDIT, stimuli.READ)
        found = [stimuli.shell(dialect, event, "ls"), *found]
        found += [stimuli.touching(dialect, event, kind, "/home/dev/project/notes.txt") for kind in kinds]
        found += [
            stimuli.call(
                dialect, event, name, id=name, url="https://example.com", pattern="*", query="x", file_path="/home/dev/project/a"
            )
            for name in ("MultiEdit", "NotebookEdit", "WebFetch", "WebSearch", "Glob", "Grep", "mcp__server__tool")
        ]
    if probe.script.condition:
        # an `if` names a command or a path: what it names is tried as well
        inner = named(probe.script.condition)
        tool = probe.script.condition.partition("(")[0]
        found.append(
            stimuli.call(dialect, event, tool, id=probe.script.condition, command=inner, file_path=f"/home/dev/project/{inner}")
        )
    if probe.canaries.refused is not None:
        found.insert(0, probe.canaries.refused.stimulus)
    return found


def _way(script: Script) -> str:
    """What stands between an event and the handler, in words."""
    on = f"matcher {script.matcher!r}" if script.matcher is not None else "no matcher"
    off = ", and disableAllHooks is true" if script.switched_off else ""
    return f"{on}, if {script.condition!r}{off}" if script.condition else f"{on}{off}"


@check(
    "event-exists",
    family=FAMILY,
    title="The event in the settings is one that the agent has.",
    consequence="{dialect} never fires it, so the handler never starts, and nothing says so",
    remedy="write the event's name as the agent's documentation does, with its case",
)
def event_exists(probe: Probe) -> Iterable[Finding]:
    event = probe.script.event
    if not probe.event_exists:
        known = probe.reader.events(probe.dialect)
        close = difflib.get_close_matches(event, known, 1, 0.6) or [name for name in known if name.lower() == event.lower()]
        yield Finding(f'"{event}" is no event of {probe.dialect}', remedy=f'did you mean "{close[0]}"?' if close else "")


@check(
    "settings-load",
    family=FAMILY,
    title="The agent takes the handler's entry as it stands.",
    consequence="{dialect} drops the entry, or the whole file with all its hooks and rules, without a word",
    remedy='write {"hooks": {EVENT: [{"matcher": "...", "hooks": [{"type": "command", "command": "..."}]}]}}',
    needs=("settings",),
)
def settings_load(probe: Probe) -> Iterable[Finding]:
    if not probe.event_exists:
        raise NotApplicable("the event does not exist")
    found = _wiring(probe).reached(occasions(probe)[0])
    mine = [entry for entry in found.dropped if entry.startswith(probe.script.event)]
    if found.status in ("rejected", "missing") or mine:
        yield Finding(f"the settings are {found.status}: {found.message or ', '.join(mine)}", "the entry is loaded")


@check(
    "is-reached",
    family=FAMILY,
    title="Something that happens in the agent starts the handler.",
    consequence="the handler never runs in {dialect}; what it guards is unguarded, and nothing says so",
    remedy="correct matcher, `if` and place; a matcher is a tool's name with its case, an `if` only works on tool events",
    needs=("settings",),
)
def is_reached(probe: Probe) -> Iterable[Finding]:
    script = probe.script
    if not probe.event_exists:
        raise NotApplicable("the event does not exist")
    tried = occasions(probe)
    if _wiring(probe).any_reached(tried) is None:
        yield Finding(f"none of {len(tried)} different {script.event} payloads started it ({_way(script)})", "at least one does")


@check(
    "reaches-what-it-refuses",
    family=FAMILY,
    title="What the script refuses reaches it through the settings.",
    consequence="the guard works when it is tried by hand and is never asked by {dialect}: what it would refuse passes",
    remedy="let the matcher name the tool that the script looks at, or leave the matcher out",
    kinds=("guard",),
    needs=("settings", "refused"),
)
def reaches_what_it_refuses(probe: Probe) -> Iterable[Finding]:
    if not probe.event_exists:
        raise NotApplicable("the event does not exist")
    wiring = _wiring(probe)
    refused = _for_their_own_sake(probe.canaries.all_refused)
    missed = [shot for shot in refused[:8] if not wiring.reached(shot.stimulus).starts]
    if missed and len(missed) == len(refused[:8]):
        yield Finding(
            f"the script refuses {missed[0].stimulus.id}, but the settings let no such thing come to it ({_way(probe.script)})",
            shot=missed[0],
        )
    elif missed := [shot for shot in missed if _meant(probe, shot)]:
        names = ", ".join(dict.fromkeys(str(shot.stimulus.tool) for shot in missed))
        yield Finding(f"the script also refuses calls of {names}, which do not reach it", severity="may", shot=missed[0])


def _for_their_own_sake(refused: Sequence[Shot]) -> list[Shot]:
    """The refused calls, less those of a writer whose text only holds a command that is refused as such."""
    commands = [stimuli.command_of(shot.stimulus) or "" for shot in refused if shot.stimulus.tool in SHELLS]
    if any(stimuli.is_program(command.split()[0]) for command in commands if command.split()):
        return [shot for shot in refused if not shot.stimulus.id.startswith("own/content")]
    return list(refused)


def _meant(probe: Probe, shot: Shot) -> bool:
    """Whether a script that refuses this call means to: many look for their words in all that they are given."""
    tool = str(shot.stimulus.tool)
    return tool in TOOLS_OF_ALL or tool in probe.source


@check(
    "answer-awaited",
    family=FAMILY,
    title="The agent waits for a guard's answer.",
    consequence="{dialect} starts it and goes on at once: what it refuses has run before it is read",
    remedy='take "async" out: only what needs no answer may run in the background',
    kinds=("guard",),
    events=HELD,
    needs=("settings",),
)
def answer_awaited(probe: Probe) -> Iterable[Finding]:
    if probe.script.background:
        yield Finding("the handler runs in the background", "it is waited for", probe.canaries.refused)


@check(
    "limit-in-seconds",
    family=FAMILY,
    title="The time limit is given in the agent's unit.",
    consequence="{dialect} reads seconds: a hanging script holds every call for that long",
    remedy="write seconds: 5, not 5000",
    needs=("settings",),
)
def limit_in_seconds(probe: Probe) -> Iterable[Finding]:
    limit = probe.script.timeout_s
    # Gemini CLI and its kin count in milliseconds
    if limit is None or probe.dialect.startswith(("gemini", "qwen")):
        return
    if limit >= DAYS_S:
        yield Finding(f"timeout {limit:g} is {limit / 60:.0f} minutes", "seconds", remedy=f"write {max(1, round(limit / 1000))}")
