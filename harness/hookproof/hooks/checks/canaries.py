"""A guard must refuse something and pass something, else it is none."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

from collections.abc import Iterable

from ..check import Finding, Probe, check

FAMILY = "canaries"


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
        yield Finding(what, "a refusal", tried)


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
    if probe.canaries.passed is None and probe.script.event not in ("Stop", "SubagentStop"):
        yield Finding(
            f"all {len(probe.canaries.shots)} stimuli were refused, {probe.canaries.shots[0].stimulus.id} too", "some pass"
        )
