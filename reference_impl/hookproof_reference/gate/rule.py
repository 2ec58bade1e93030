"""Rules register themselves: a decorated generator function, with all that a reader wants to know about it as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .finding import CONSEQUENCES, SEVERITIES, Found, Severity

if TYPE_CHECKING:
    from .context import Context

Check = Callable[["Context"], Iterator[Found]]

FAMILIES: tuple[str, ...] = (
    "json_level",
    "shape",
    "events",
    "handlers",
    "failure",
    "timeouts",
    "duplicates",
    "compatibility",
    "other_dialects",
    "matchers",
    "matcher_values",
    "conditions",
    "paths",
    "places",
    "tokens",
    "servers",
    "scripts",
    "needs",
    "script_parts",
    "reading",
    "answers",
    "answers_at_events",
    "guards",
    "swallowed",
    "writers",
    "authority",
    "network",
    "commands",
    "takeover",
    "placement",
    "plugin_manifest",
)
"""The modules of `rules`, in the order in which their findings are listed for one place."""

CLAUDE = ("claude-code", "hook-engineering")
"""The profiles (by family name) that judge settings of Claude Code."""


@dataclass(frozen=True, slots=True)
class Example:
    """A file that shows a rule, and the project around it.

    With `files` (path in the project -> text) the settings lie at `at` in a project folder and scripts can be
    read; a file beginning with `#!` is executable unless `modes` says otherwise. Without, they stand alone.
    """

    settings: str | bytes
    files: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    at: str = ".claude/settings.json"
    profile: str = "claude-code"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Its id is a slug for life."""

    id: str
    severity: Severity
    title: str
    consequence: str
    remedy: str
    source: str
    check: Check
    bad: tuple[Example, ...]
    good: tuple[Example, ...]
    versions: str = "all"
    """The versions for which it holds, in words."""
    profiles: tuple[str, ...] = CLAUDE
    kinds: tuple[str, ...] = ("settings", "local", "managed", "plugin-hooks")
    torn: bool = False
    """Whether it has something to say about a text whose structure had to be guessed."""
    family: str = ""


_RULES: dict[str, Rule] = {}
_loaded: list[str] = []


def rule(
    *,
    id: str,
    severity: Severity,
    title: str,
    consequence: str,
    remedy: str,
    source: str,
    bad: str | bytes | Example | tuple[str | bytes | Example, ...],
    good: str | bytes | Example | tuple[str | bytes | Example, ...],
    versions: str = "all",
    profiles: tuple[str, ...] = CLAUDE,
    kinds: tuple[str, ...] = ("settings", "local", "managed", "plugin-hooks"),
    torn: bool = False,
) -> Callable[[Check], Check]:
    """Register a rule: each `bad` example is found by exactly this rule, each `good` one by none."""
    if severity not in SEVERITIES or consequence not in CONSEQUENCES:
        raise ValueError(f"rule {id}: no such severity or consequence: {severity}, {consequence}")
    if id in _RULES:
        raise ValueError(f"rule {id} is there twice")

    def register(check: Check) -> Check:
        family = check.__module__.rpartition(".")[2]
        _RULES[id] = Rule(
            id=id, severity=severity, title=title, consequence=consequence, remedy=remedy, source=source, check=check,
            bad=_examples(bad), good=_examples(good), versions=versions, profiles=profiles, kinds=kinds, torn=torn, family=family,
        )  # fmt: skip
        return check

    return register


def all_rules() -> dict[str, Rule]:
    """Every rule by its id; the modules are imported at the first call."""
    if not _loaded:
        from importlib import import_module

        for family in FAMILIES:
            import_module(f"{__package__}.rules.{family}")
        _loaded.extend(FAMILIES)
    return _RULES


def _examples(given: str | bytes | Example | tuple[str | bytes | Example, ...]) -> tuple[Example, ...]:
    several = given if isinstance(given, tuple) else (given,)
    return tuple(each if isinstance(each, Example) else Example(each) for each in several)
