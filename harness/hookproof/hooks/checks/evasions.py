"""A guard refuses a deed, not one way to write it; and it leaves alone what only speaks of it."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

from collections.abc import Iterable

from ..check import Finding, NotApplicable, NotTested, Probe, check
from ..evasions import Kind, Survey, cut, survey

FAMILY = "evasions"
RISK = "a model that is refused tries again in other words, and in {dialect} these pass"
PARSE = "take the command apart before looking at it: split at ; & | and newlines, look into $( ), backticks and sh -c"


def _surveyed(probe: Probe, *, commands: bool) -> Survey:
    made = survey(probe)
    if not (made.command_targets or made.path_targets):
        raise NotApplicable("it refuses no command and no path for its own sake")
    if commands and not made.command_targets:
        raise NotApplicable("it refuses no command")
    if not commands and not made.path_targets:
        raise NotApplicable("it refuses no path")
    return made


def _passing(probe: Probe, *kinds: Kind, commands: bool = True) -> Iterable[Finding]:
    made = _surveyed(probe, commands=commands)
    found = made.of(*kinds)
    for one in found:
        yield Finding(one.told(), f"refused like `{cut(one.attempt.of)}`")
    missed = [one for one in made.left_out if one.kind in kinds and one.effort == "everyday"]
    if not found and missed:
        raise NotTested(f"{len(missed)} everyday variants were not fired for want of time")


@check(
    "other-place-in-a-list",
    family=FAMILY,
    title="A refused command is refused too where it stands in a list, a pipe, a subshell or a substitution.",
    consequence=RISK,
    remedy=PARSE,
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def other_place_in_a_list(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "chaining")


@check(
    "in-a-wrapper",
    family=FAMILY,
    title="A refused command is refused too when another program starts it.",
    consequence=RISK,
    remedy="skip VAR=x, env, command, nohup, timeout, sudo and the like; look into the argument of sh -c, eval, xargs and "
    "find -exec; refuse what is piped into a shell",
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def in_a_wrapper(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "wrapping")


@check(
    "spelled-otherwise",
    family=FAMILY,
    title="A refused command is refused too with other quotes, blanks, paths of its program, or variables.",
    consequence=RISK,
    remedy="split the command as a shell does (python's shlex, not a pattern over the text) and compare the last part of the "
    "program's path; refuse what has $ or ` in the program's name",
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def spelled_otherwise(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "spelling")


@check(
    "other-options",
    family=FAMILY,
    title="A refused command is refused too with its options split, joined, long, short or moved, and in other words.",
    consequence=RISK,
    remedy="look at the options one by one, wherever they stand; skip options in front of a subcommand (git -C DIR, git -c X=Y); "
    "protect the thing itself where that can be done (branch protection, file modes)",
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def other_options(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "options")


@check(
    "path-spelled-otherwise",
    family=FAMILY,
    title="A refused file is refused too by another name: relative, with .. or //, through a link.",
    consequence="the file that is guarded is written to by another name, and {dialect} lets it pass",
    remedy='resolve the path before looking at it: realpath -m -- "$path", from the payload\'s cwd',
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def path_spelled_otherwise(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "path", commands=False)


@check(
    "other-writers",
    family=FAMILY,
    title="A refused file is refused too when another tool writes to it.",
    consequence="in {dialect} the file is written to by the tool that the guard does not look at",
    remedy="match every tool that writes (Write|Edit|MultiEdit|NotebookEdit|mcp__.*) and take the path from file_path, "
    "notebook_path, path or destination",
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def other_writers(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "writer", commands=False)


@check(
    "shell-writers",
    family=FAMILY,
    title="A refused file is refused too when a shell command writes to it.",
    consequence="in {dialect} a model whose Write is refused takes echo > FILE instead",
    remedy="guard the shell too, or protect the file by its mode; a permission rule of the agent can deny both",
    severity="may",
    kinds=("guard",),
    needs=("refused",),
)
def shell_writers(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "shell-writer", commands=False)


@check(
    "other-systems",
    family=FAMILY,
    title="A refused file is refused too by the names that it has on other systems.",
    consequence="on a system that does not tell these names apart, the file is not guarded",
    remedy="compare names without regard to letter case, and expand ~",
    severity="may",
    kinds=("guard",),
    needs=("refused",),
)
def other_systems(probe: Probe) -> Iterable[Finding]:
    yield from _passing(probe, "elsewhere", commands=False)


@check(
    "mentions-pass",
    family=FAMILY,
    title="What only mentions the refused thing passes.",
    consequence="harmless work is refused; people will take the guard out, or learn to go round it",
    remedy="look at the program that is called, not at the whole text: words in quotes are no commands",
    severity="may",
    kinds=("guard",),
    needs=("refused",),
)
def mentions_pass(probe: Probe) -> Iterable[Finding]:
    made = survey(probe)
    if not (made.command_targets or made.path_targets):
        raise NotApplicable("it refuses no command and no path for its own sake")
    for name, text, shot in made.overblocked:
        yield Finding(f"`{cut(text)}` is refused ({name}; {shot.fired.ended})", "it passes")
