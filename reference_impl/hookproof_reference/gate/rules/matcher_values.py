"""Matchers of events that are no events of tools, and matchers that another version reads otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found, Severity
from ..near import nearest
from ..rule import Example, rule
from ..vocabulary import LIST_178, TOOLS, VALUES, names_of, pattern_of
from .matchers import EVERYTHING, is_list, matched, sample


@rule(
    id="matcher-version-dependent",
    severity="warning",
    title="The matcher means something else in another version",
    consequence="not portable",
    remedy='Join names with "|" and no blanks: that is a list in every version.',
    source="public report B087; observed: 2.1.178 matches nothing, 2.1.332 takes it as a list",
    versions="commas and blanks are separators from 2.1.191 on, hyphens belong to names from 2.1.195 on",
    bad=(sample("PreToolUse", "Write,Edit"), sample("PostToolUse", "Bash | Edit"), sample("PreToolUse", " Bash ")),
    good=(
        sample("PreToolUse", "Write|Edit"),
        sample("SubagentStop", "code-reviewer"),
        Example(sample("PreToolUse", "Write,Edit"), profile="claude-code@2.1.332"),
    ),
)
def _check_version(context: Context) -> Iterator[Found]:
    for group, text in matched(context):
        if group.matcher is None or LIST_178.match(text) or not is_list(text):
            continue
        named = names_of(text) or []
        if re.search(r"\|\s*\|", text) or (any(" " in name for name in named)):
            continue
        if "," in text or " " in text:
            newer = context.profile.at_least(2, 1, 191)
            what = "never matches before 2.1.191" if newer else "never matches"
            grave = None if newer else "never runs"
            # who has named a version wants to hear of that one
            severe: Severity | None = "error" if not newer else "info" if context.profile.pinned else None
            yield context.at(
                group.matcher,
                f'"{text}" {what}: commas and blanks make it a regular expression there',
                consequence=grave,
                severity=severe,
            )
        elif "-" in text and group.event.key not in profiles.TOOL_EVENTS:
            yield context.at(
                group.matcher,
                f'"{text}" is a regular expression before 2.1.195 and also matches longer names that contain it',
                severity="info",
            )


_AGENTS = frozenset({"Agent", "Task", "Workflow", "Monitor", "Brief", "Config"})
"""Names of tools that a type of subagent may have, too."""


@rule(
    id="matcher-unknown-value",
    severity="error",
    title="The matcher names a value that the event never has",
    consequence="never runs",
    remedy="Write one of the values that the event is raised with, or leave the matcher out.",
    source="seed 001, Contract; observed on 2.1.178 and 2.1.332",
    bad=(
        sample("SessionStart", "begin"),
        sample("SessionStart", "Write|Edit"),
        sample("PreCompact", "forced"),
        sample("UserPromptExpansion", "/release"),
        sample("UserPromptExpansion", "release now"),
        sample("Elicitation", "mcp__ledger__ask"),
        sample("SubagentStop", "Bash|Edit"),
    ),
    good=(sample("SessionStart", "startup|clear"), sample("PreCompact", "man.*"), sample("UserPromptExpansion", "release")),
)
def _check_value(context: Context) -> Iterator[Found]:
    for group, text in matched(context):
        event = group.event.key
        if group.matcher is None or text in EVERYTHING:
            continue
        if event == "UserPromptExpansion" and text.startswith("/"):
            yield context.at(
                group.matcher, f'"{text}" begins with a slash; the matcher is compared with the bare name of the command'
            )
        elif event == "UserPromptExpansion" and re.fullmatch(r"[\w-]+ [\w -]*", text):
            yield context.at(
                group.matcher, f'"{text}" holds more than a name; the matcher is compared with the bare name of the command'
            )
        elif event in ("Elicitation", "ElicitationResult") and text.startswith("mcp__"):
            yield context.at(group.matcher, f'"{text}" is a tool; the matcher is compared with the bare name of the server')
        elif event in ("SubagentStart", "SubagentStop"):
            tools = [name for name in names_of(text) or () if name in TOOLS - _AGENTS]
            if tools:
                yield context.at(group.matcher, f'"{tools[0]}" is a tool; the matcher is compared with the type of the subagent')
        values = VALUES.get(event)
        if values is None:
            continue
        names = names_of(text)
        if names is None:
            pattern = pattern_of(text)
            if not isinstance(pattern, str) and not any(pattern.search(value) for value in values):
                yield context.at(group.matcher, f'"{text}" matches none of the values of {event}: {", ".join(values)}')
            continue
        for name in names:
            if not name or name in values:
                continue
            likely = nearest(name, values)
            hint = f'; did you mean "{likely}"?' if likely else f"; it has {', '.join(values[:6])}"
            tool = f" ({name} is a tool, and {event} is no event of tools)" if name in TOOLS else ""
            yield context.at(
                group.matcher,
                f'{event} never has "{name}"{tool}{hint}',
                severity="warning" if any(other in values for other in names) or event == "Notification" else None,
            )


@rule(
    id="matcher-ignored",
    severity="warning",
    title="The event has no matcher",
    consequence="runs for everything",
    remedy="Leave the matcher out and let the script look at its input.",
    source="public report B091; observed on 2.1.178 and 2.1.332",
    bad=(sample("Stop", "Edit"), sample("UserPromptSubmit", "release")),
    good=(sample("Stop", ""), sample("Stop", "*"), sample("UserPromptSubmit", ".*")),
)
def _check_ignored(context: Context) -> Iterator[Found]:
    for group in context.groups:
        matcher = group.matcher
        if matcher is None or group.event.key not in profiles.UNMATCHED_EVENTS:
            continue
        if matcher.text is not None and matcher.text not in EVERYTHING:
            yield context.at(
                matcher, f'{group.event.key} ignores its matcher: the handler runs every time, not only for "{matcher.text}"'
            )
