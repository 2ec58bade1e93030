"""A guard must refuse something and pass something, else it is none."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import re
from collections.abc import Iterable

from .. import stimuli
from ..check import Finding, Probe, check

FAMILY = "canaries"

_ACCIDENT = re.compile(
    r"^usage: |can't open file|cannot open|[Ss]yntax ?[Ee]rror|Traceback \(most recent|No such file", re.MULTILINE
)
"""What interpreters and parsers of arguments say when they end with 2 by themselves."""


@check(
    "refuses-something",
    family=FAMILY,
    title="There is something that the guard refuses.",
    consequence="this guard refused nothing: in {dialect} everything passes, as if it were not there",
    remedy="look at the other findings; if it guards against something that no stimulus showed, name one with --refuse",
    kinds=("guard",),
)
def refuses_something(probe: Probe) -> Iterable[Finding]:
    if probe.canaries.refused is None:
        tried = probe.canaries.tried
        what = "it tried to refuse, without effect" if tried else f"{len(probe.canaries.shots)} different stimuli all passed"
        # the end of a turn has no text in which to look for what is refused: it may hang on files that are not there
        shows_little = (
            not tried and not stimuli.is_call(probe.script.event) and "prompt" not in probe.canaries.shots[0].stimulus.payload
        )
        yield Finding(what, "a refusal", tried, severity="should" if shows_little else None)


@check(
    "passes-something",
    family=FAMILY,
    title="There is something that the guard passes.",
    consequence="{dialect} can do nothing any more; people will take the guard out",
    remedy="refuse only what is meant; if it is right that it refuses so much, name something that passes with --accept",
    severity="should",
    kinds=("guard",),
    needs=("refused",),
)
def passes_something(probe: Probe) -> Iterable[Finding]:
    shots = probe.canaries.shots
    if probe.canaries.passed is None and probe.script.event not in ("Stop", "SubagentStop"):
        # a matcher may keep all other calls from a script, but no prompt, and no call waits for ever by intention
        harmless = shots[0]
        by_accident = bool(_ACCIDENT.search(harmless.fired.complained))
        severe = not stimuli.is_call(probe.script.event) or harmless.meaning.verdict == "defer" or by_accident
        what = f"all {len(shots)} stimuli were refused, {harmless.stimulus.id} too"
        yield Finding(what, "some pass", harmless, severity="must" if severe else None)
