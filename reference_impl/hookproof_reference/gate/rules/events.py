"""An event's name is not one that the program knows."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..document import Member
from ..fields import TOOLS
from ..finding import Found
from ..near import folded, nearest
from ..profiles import EVENTS_178, EVENTS_332, EVENTS_SEED
from ..rule import Example, rule

_HOOKS = '[{"hooks": [{"type": "command", "command": "date", "timeout": 5}]}]'
_MATCHED = '[{"matcher": "Bash", "hooks": [{"type": "command", "command": "date", "timeout": 5}]}]'
_KNOWN = frozenset(EVENTS_332)
_BY_FOLDED = {folded(event): event for event in EVENTS_332}
_TOOLS = {folded(tool) for tool in TOOLS}
_WORDS: dict[str, str] = {
    "pretool": "PreToolUse", "beforetool": "PreToolUse", "beforetooluse": "PreToolUse", "toolstart": "PreToolUse",
    "pretoolcall": "PreToolUse", "posttool": "PostToolUse", "aftertool": "PostToolUse", "aftertooluse": "PostToolUse",
    "posttoolcall": "PostToolUse", "posttoolfailure": "PostToolUseFailure", "posttooluseerror": "PostToolUseFailure",
    "toolerror": "PostToolUseFailure", "subagenttooluse": "PreToolUse", "permission": "PermissionRequest",
    "onpermission": "PermissionRequest", "prompt": "UserPromptSubmit", "userprompt": "UserPromptSubmit",
    "promptsubmit": "UserPromptSubmit", "onprompt": "UserPromptSubmit", "beforeagent": "UserPromptSubmit",
    "sessionbegin": "SessionStart", "onstart": "SessionStart", "start": "SessionStart", "sessionstop": "SessionEnd",
    "end": "SessionEnd", "agentstop": "Stop", "onstop": "Stop", "afteragent": "Stop", "finish": "Stop",
    "subagentend": "SubagentStop", "subagentbegin": "SubagentStart", "precompress": "PreCompact", "beforecompact": "PreCompact",
    "aftercompact": "PostCompact", "notify": "Notification", "permissionresult": "PermissionDenied", "init": "Setup",
}  # fmt: skip
"""What other programs and people call them."""


def meant(name: str) -> str | None:
    """The event that was meant by a name that is none."""
    if len(name) > 60:
        return None
    key = folded(name)
    return _BY_FOLDED.get(key) or _WORDS.get(key) or nearest(name, EVENTS_332)


def is_miscased(name: str) -> bool:
    """Whether the name differs from an event's only in case, hyphens or underscores."""
    return name not in _KNOWN and folded(name) in _BY_FOLDED


def _dropped(context: Context) -> str | None:
    return "event dropped" if context.kind == "plugin-hooks" and context.profile.drops_file else None


def _unknown(context: Context) -> Iterator[Member]:
    for event in context.events:
        if event.key not in _KNOWN:
            yield event


@rule(
    id="event-case",
    severity="error",
    title="An event's name is written with other letters: names are case-sensitive",
    consequence="never runs",
    remedy="Write the name as the message says; `hookproof lint --fix` does that.",
    source="001, event names; observed: the event is ignored, 2.1.178 says nothing, 2.1.332 only in its log",
    bad=tuple(
        f'{{"hooks": {{"{name}": {_HOOKS}}}}}'
        for name in ("stop", "preToolUse", "session_start", "USERPROMPTSUBMIT", "Pre-Compact")
    ),
    good=f'{{"hooks": {{"Stop": {_HOOKS}}}}}',
)
def check_case(context: Context) -> Iterator[Found]:
    """Only the case, a hyphen or an underscore differs."""
    for event in _unknown(context):
        right = _BY_FOLDED.get(folded(event.key))
        if right is not None:
            yield context.at(event, f'unknown event name "{event.key}"; it is written "{right}"', remedy=f'Write "{right}".')


@rule(
    id="event-is-tool",
    severity="error",
    title="A tool's name stands where an event belongs",
    consequence="never runs",
    remedy='Put the handlers under an event, and the tool into its matcher: "PreToolUse": [{"matcher": "Bash", ...}].',
    source="observed: 2.1.178 ignores it; 2.1.332 drops the whole file",
    bad=(
        f'{{"hooks": {{"Bash": {_HOOKS}}}}}',
        f'{{"hooks": {{"Edit|Write": {_HOOKS}}}}}',
        f'{{"hooks": {{"mcp__db__query": {_HOOKS}}}}}',
    ),
    good=f'{{"hooks": {{"PreToolUse": {_MATCHED}}}}}',
)
def check_tool(context: Context) -> Iterator[Found]:
    """`Bash`, `Edit|Write`, `mcp__server__tool`."""
    for event in _unknown(context):
        if _is_tool(event.key):
            consequence = None if context.profile.drops_file else "file dropped"
            yield context.at(event, f'"{event.key}" is a tool, not an event', consequence=consequence)


def _is_tool(name: str) -> bool:
    return name.startswith("mcp__") or all(folded(part) in _TOOLS for part in name.split("|"))


@rule(
    id="event-unknown",
    severity="error",
    title="There is no event of that name",
    consequence="never runs",
    remedy="Use one of the names of the documentation; they are case-sensitive.",
    source="001, event names; observed: the event is ignored, 2.1.178 says nothing, 2.1.332 only in its log",
    bad=tuple(
        f'{{"hooks": {{"{name}": {_HOOKS}}}}}' for name in ("PreToolUsed", "BeforeTool", "OnFriday", "SubagentEnd", "Stopp", "")
    ),
    good=(
        f'{{"hooks": {{"Stop": {_HOOKS}}}}}',
        f'{{"hooks": {{"PreSkillShellCommand": {_HOOKS}}}}}',
        f'{{"hooks": {{"Setup": {_HOOKS}}}}}',
    ),
)
def check_unknown(context: Context) -> Iterator[Found]:
    """Whatever is neither a mis-cased event, nor a tool, nor a container of events that stands too deep."""
    for event in _unknown(context):
        key = folded(event.key)
        if key in _BY_FOLDED or _is_tool(event.key) or _holds_events(event):
            continue
        right = meant(event.key)
        hint = f'; did you mean "{right}"?' if right else ""
        yield context.at(
            event,
            f'unknown event name "{event.key[:60]}"{hint}',
            remedy=f'Write "{right}".' if right else None,
            consequence=_dropped(context),
        )


def _holds_events(event: Member) -> bool:
    """`hooks.hooks`: the placement is wrong, not the name. Notes of people are no events either."""
    return event.key.startswith(("_", "$", "//")) or any(member.key in _KNOWN for member in event.node.members)


@rule(
    id="event-not-in-version",
    severity="error",
    title="This version does not have the event",
    consequence="never runs",
    remedy="Use an event that the version has, or name a newer version with --profile.",
    source="observed: the lists that both binaries carry",
    versions="2.1.178 and before",
    bad=tuple(
        Example(f'{{"hooks": {{"{name}": {_HOOKS}}}}}', profile="claude-code@2.1.178")
        for name in EVENTS_332
        if name not in EVENTS_178
    ),
    good=(
        Example(f'{{"hooks": {{"DirectoryAdded": {_HOOKS}}}}}', profile="claude-code@2.1.332"),
        Example(f'{{"hooks": {{"Stop": {_HOOKS}}}}}', profile="claude-code@2.1.178"),
    ),
    profiles=("claude-code",),
)
def check_version(context: Context) -> Iterator[Found]:
    """The profile names the version."""
    lacking = context.profile.events
    for event in context.events:
        if event.key in _KNOWN and event.key not in lacking:
            version = ".".join(str(number) for number in context.profile.version)
            yield context.at(event, f"{event.key} is not among the events of {version}", consequence=_dropped(context))


_SAMPLE_EVENT = f'{{"hooks": {{"UserPromptExpansion": {_HOOKS}}}}}'


@rule(
    id="event-not-in-gate",
    severity="error",
    title="The gate of hook-engineering does not list the event",
    consequence="gate refuses",
    remedy="Use one of its 22 events, or judge by what the program has: --profile documented-13.",
    source="001, event names: a hooks.json naming any other event is rejected",
    bad=(
        Example(_SAMPLE_EVENT, profile="hook-engineering"),
        Example(f'{{"hooks": {{"PostToolBatch": {_HOOKS}}}}}', profile="hook-engineering"),
    ),
    good=tuple(Example(f'{{"hooks": {{"{event}": {_HOOKS}}}}}', profile="hook-engineering") for event in EVENTS_SEED),
    profiles=("hook-engineering",),
)
def check_gate(context: Context) -> Iterator[Found]:
    """The list contradicts the document it comes from: its own sample and its matrix use events that the list lacks."""
    listed = context.profile.events
    for event in context.events:
        if event.key in _KNOWN and event.key not in listed:
            why = (
                "; the document that this gate comes from contradicts itself here: its sample uses this event, its list lacks it"
                if event.key == "UserPromptExpansion"
                else "; the program has the event, the list of this gate lacks it"
            )
            yield context.at(event, f'unknown event name "{event.key}"{why}')


@rule(
    id="expansion-without-fallback",
    severity="info",
    title="UserPromptExpansion is guarded, UserPromptSubmit is not",
    consequence="unclear",
    remedy="Confirm that the event fires in your version, or add the same check to UserPromptSubmit.",
    source="001, rule 4 and checklist (coverage_gap)",
    bad=_SAMPLE_EVENT,
    good=f'{{"hooks": {{"UserPromptExpansion": {_HOOKS}, "UserPromptSubmit": {_HOOKS}}}}}',
    profiles=("claude-code",),
)
def check_fallback(context: Context) -> Iterator[Found]:
    """Both binaries fire it; the document asks for a fallback all the same."""
    events = {event.key: event for event in context.events}
    if "UserPromptExpansion" in events and "UserPromptSubmit" not in events:
        message = "coverage_gap: UserPromptExpansion is a less common event and has no UserPromptSubmit handler to fall back to"
        yield context.at(events["UserPromptExpansion"], message)
