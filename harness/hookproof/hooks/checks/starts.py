"""A script must start wherever its agent starts it."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from ..check import Finding, NotApplicable, Probe, check
from ..fire import How
from ..script import why_not_startable
from ..search import Shot
from ..stimuli import Stimulus, harmless

FAMILY = "starts"
NOT_STARTED = (126, 127)


def canaries(probe: Probe) -> list[Stimulus]:
    """The refused and the passed stimulus, or, for a script that has none, a harmless one."""
    found = [shot.stimulus for shot in (probe.canaries.refused or probe.canaries.tried, probe.canaries.passed) if shot]
    return found or harmless(probe.dialect, probe.script.event)[:1]


def differences(probe: Probe, how: How) -> Iterable[tuple[Shot, Shot]]:
    """The canaries fired in the ordinary way and in another, where the two do not come to the same."""
    stimuli = canaries(probe)
    usual = probe.shoot_all(stimuli)
    for before, after in zip(usual, probe.shoot_all([(stimulus, how) for stimulus in stimuli]), strict=True):
        if not same(before, after):
            yield before, after


def same(before: Shot, after: Shot) -> bool:
    """Whether two answers come to the same."""
    return (before.meaning.verdict, before.meaning.blocks, before.fired.exit) == (
        after.meaning.verdict,
        after.meaning.blocks,
        after.fired.exit,
    )


def _opens(before: Shot, after: Shot) -> str:
    if before.refuses and not after.refuses:
        return "what it refuses passes"
    return "what it passes is held" if after.refuses and not before.refuses else "it answers otherwise"


def _compared(probe: Probe, how: How, circumstance: str, wanted: str) -> Iterable[Finding]:
    for before, after in differences(probe, how):
        severity = None if before.refuses and not after.refuses else "should"
        yield Finding(
            f"{circumstance}: {_opens(before, after)}; else {before.fired.ended}",
            wanted,
            after,
            severity=severity,  # type: ignore[arg-type]
        )


@check(
    "starts",
    family=FAMILY,
    title="The system can start the script.",
    consequence="a script that does not start decides nothing; in {dialect} this is what then happens to every call",
    remedy="make it executable and give it a first line that names its interpreter",
)
def starts(probe: Probe) -> Iterable[Finding]:
    why = why_not_startable(probe.script)
    shot = probe.shoot(canaries(probe)[0])
    failed = shot.fired.cannot_start is not None or (shot.fired.exit in NOT_STARTED and not shot.fired.stdout)
    if why is None and not failed:
        return
    outcome = "the call is held" if shot.refuses else "the call passes, unguarded"
    saw, remedy = why or (shot.fired.complained.strip() or shot.fired.ended, "")
    yield Finding(f"{saw}; then {outcome}", "it starts", shot if failed else None, remedy)


@check(
    "comes-to-an-end",
    family=FAMILY,
    title="The script comes to an end by itself.",
    consequence="every call waits for it until {dialect} kills it; what is killed has decided nothing",
    remedy="wait for nothing that may never come; read stdin to its end and no further",
)
def comes_to_an_end(probe: Probe) -> Iterable[Finding]:
    if probe.hangs:
        shot = probe.canaries.shots[0]
        flooded = shot.fired.flooded
        saw = f"it had to be killed: {flooded}" if flooded else f"it was still running after {shot.how.limit_s:g} s"
        yield Finding(saw, "it ends", shot)


@check(
    "line-ends",
    family=FAMILY,
    title="The script has the line ends of the system that runs it.",
    consequence="a carriage return becomes part of names and words, and the script fails in odd places",
    remedy="save it with LF line ends, and say so in .gitattributes: *.sh text eol=lf",
    needs=("file",),
)
def line_ends(probe: Probe) -> Iterable[Finding]:
    first, _, rest = probe.source.partition("\n")
    if first.endswith("\r") and first.startswith("#!"):
        yield Finding("its first line ends with a carriage return", "LF line ends")
    elif "\r\n" in rest and "sh" in first:
        yield Finding(f"{rest.count(chr(13))} lines end with a carriage return", "LF line ends")


@check(
    "path-with-blanks",
    family=FAMILY,
    title="The script works from a folder whose name has a blank in it.",
    consequence="for a user whose folder is called so, the script fails on every call",
    remedy='quote every use of "$0", "$(dirname "$0")" and "$CLAUDE_PROJECT_DIR"',
    needs=("file",),
)
def path_with_blanks(probe: Probe) -> Iterable[Finding]:
    script = probe.script
    # a command line is written for one project: what its folder is called today counts, what it may be called is a remark
    milder = script.settings is not None and " " not in str(script.bundle or script.project)
    if script.settings is not None:
        name = "CLAUDE_PROJECT_DIR" if script.bundle is None else "CLAUDE_PLUGIN_ROOT"
        copied = probe.bench.bundle_of(script) or probe.bench.project_of(script)
        if name not in script.command or copied is None:
            raise NotApplicable("the command has no path that depends on the project")
        spaced = copied.parent / "a project"
        if not spaced.exists():
            os.symlink(copied, spaced)
        how = How(env=((name, str(spaced)),))
    else:
        assert script.file is not None
        how = How(command=probe.bench.copy_of(script, f"a folder/{script.file.name}"))
    for finding in _compared(probe, how, "below a folder with a blank in its name", "the same answers"):
        yield replace(finding, severity="should") if milder else finding


@check(
    "other-folder",
    family=FAMILY,
    title="The script works from any working folder.",
    consequence="the agent's working folder follows its cd; from another one the script fails",
    remedy='find files from "$CLAUDE_PROJECT_DIR" or from the script\'s own folder, not from the working folder',
)
def other_folder(probe: Probe) -> Iterable[Finding]:
    # the root of the worlds exists, is nobody's project, and a relative path leads nowhere from it
    how = How(cwd=probe.bench.root)
    yield from _compared(probe, how, "started in another folder", "the same answers")


@check(
    "small-path",
    family=FAMILY,
    title="The script finds its programs with the PATH of a bare system.",
    consequence="an agent that is started from a desktop has a short PATH; what is not on it is not found",
    remedy="use only what lies in /usr/bin and /bin, or name the program by its whole path, or refuse when it is missing",
    severity="should",
)
def small_path(probe: Probe) -> Iterable[Finding]:
    for before, after in differences(probe, How(path="/usr/bin:/bin")):
        yield Finding(f"with PATH=/usr/bin:/bin: {_opens(before, after)}; else {before.fired.ended}", "the same answers", after)


@check(
    "no-home",
    family=FAMILY,
    title="The script works without HOME.",
    consequence="in a container or a service there may be none; the script fails",
    remedy="write ${HOME:-} and do without it",
    severity="should",
)
def no_home(probe: Probe) -> Iterable[Finding]:
    yield from _compared(probe, How(home=False), "without HOME", "the same answers")
