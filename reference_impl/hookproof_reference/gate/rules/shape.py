"""The nesting is wrong: event -> array of matcher entries -> `hooks` -> array of handlers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context
from ..document import Member, Node
from ..fields import ALL_FIELDS
from ..finding import Found
from ..near import folded, nearest
from ..profiles import EVENTS_332
from ..rule import rule

_SCHEMA = "001, rule 1; observed at 2.1.178 and 2.1.332"
_HANDLER = '{"type": "command", "command": "date", "timeout": 5}'
_GROUP = f'{{"matcher": "Bash", "hooks": [{_HANDLER}]}}'
_GOOD = f'{{"hooks": {{"PreToolUse": [{_GROUP}]}}}}'
_NESTED = 'Write {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "..."}]}]}}.'
_EVENTS = frozenset(EVENTS_332)
_ALL_KINDS = ("settings", "local", "managed", "plugin-hooks", "unread")


def _events_in(node: Node | None) -> list[Member]:
    """The members of an object that are event names with something under them."""
    return [m for m in node.members if m.key in _EVENTS and m.node.kind in ("array", "object")] if node is not None else []


@rule(
    id="root-no-object",
    severity="error",
    title="The outermost value is no object",
    consequence="file dropped",
    remedy='Settings are one object: {"hooks": {...}}.',
    source=_SCHEMA,
    bad=(f"[{_GOOD}]", "null", '"hooks"', "5"),
    good=_GOOD,
)
def check_root(context: Context) -> Iterator[Found]:
    """An array, a string, null: the program ignores the file."""
    root = context.root
    if root is not None and root.kind != "object":
        yield context.at(root, f"the outermost value is {_a(root)}, not an object")


@rule(
    id="hooks-no-object",
    severity="error",
    title="`hooks` is no object of events",
    consequence="never runs",
    remedy=_NESTED,
    source=_SCHEMA + "; 2.1.332 drops the whole file where a list holds PreToolUse handlers",
    bad=(f'{{"hooks": [{_GROUP}]}}', '{"hooks": null}', '{"hooks": "hooks.json"}', '{"hooks": false}', '{"hooks": 5}'),
    good=(_GOOD, "{}", '{"hooks": {}}'),
)
def check_hooks(context: Context) -> Iterator[Found]:
    """A list of handlers is the oldest form of all."""
    hooks = context.root.get("hooks") if context.root is not None else None
    if hooks is None or hooks.kind == "object":
        return
    dropped = hooks.kind == "array" and bool(hooks.value) and not context.profile.drops_file
    yield context.at(
        hooks, f"hooks is {_a(hooks)}, not an object of events", consequence="file dropped" if dropped else None
    )  # fmt: skip


@rule(
    id="hooks-misplaced",
    severity="error",
    title="Events stand where nobody looks for them",
    consequence="never runs",
    remedy='Put the events directly under the top-level key "hooks".',
    source="observed: 2.1.178 ignores them; 2.1.332 drops the whole file where PreToolUse is among them",
    bad=(
        f'{{"PreToolUse": [{_GROUP}]}}',
        f'{{"hook": {{"PreToolUse": [{_GROUP}]}}}}',
        f'{{"Hooks": {{"Stop": [{{"hooks": [{_HANDLER}]}}]}}}}',
        f'{{"permissions": {{"deny": [], "hooks": {{"PreToolUse": [{_GROUP}]}}}}}}',
        f'{{"hooks": {{"hooks": {{"PreToolUse": [{_GROUP}]}}}}}}',
        f'{{"settings": {{"hooks": {{"PostToolUse": [{_GROUP}]}}}}}}',
        f'{{"hooks.PostToolUse": [{_GROUP}]}}',
    ),
    good=_GOOD,
    kinds=_ALL_KINDS,
)
def check_placement(context: Context) -> Iterator[Found]:
    """Top level, a misspelt key, or one object too deep."""
    root = context.root
    if root is None or root.kind != "object":
        return
    for member in _events_in(root):
        yield context.at(
            member, f"{member.key} stands at the top level, not under hooks", consequence=_misplaced(context, [member])
        )
    for member in root.members:
        dotted = re.fullmatch(r"hooks[./]([A-Za-z]+)", member.key)
        if dotted is not None and dotted[1] in _EVENTS:
            message = f'"{member.key}" is one key with a dot in it; {dotted[1]} stands inside of hooks'
            yield context.at(member, message, consequence=_misplaced(context, [member]))
            continue
        if member.key != "hooks" and member.node.kind == "object" and member.key not in _EVENTS:
            inner = _events_in(member.node)
            if inner:
                near = "; the key is hooks, in small letters" if folded(member.key) in ("hook", "hooks") else ""
                yield context.at(
                    member, f"events stand under {member.key}, not under hooks{near}", consequence=_misplaced(context, inner)
                )
            deeper = member.node.member("hooks")
            if deeper is not None and (inner := _events_in(deeper.node)):
                message = f"events stand under {member.key}.hooks, not under the top-level hooks"
                yield context.at(deeper, message, consequence=_misplaced(context, inner))
    if context.hooks is not None:
        for member in context.hooks.members:
            if folded(member.key) in ("hook", "hooks", "events") and (inner := _events_in(member.node)):
                yield context.at(member, f"events stand under hooks.{member.key}", consequence=_misplaced(context, inner))


def _misplaced(context: Context, events: list[Member]) -> str:
    gate = any(member.key == "PreToolUse" for member in events)
    return "file dropped" if gate and not context.profile.drops_file else "never runs"


@rule(
    id="event-no-array",
    severity="error",
    title="An event's value is no array",
    consequence="event dropped",
    remedy="Give the event an array of matcher entries. " + _NESTED,
    source=_SCHEMA + "; 2.1.332 drops the whole file where it is PreToolUse, 2.1.178 only the event",
    bad=tuple(f'{{"hooks": {{"PreToolUse": {value}}}}}' for value in (_GROUP, "{}", '"x.sh"', "null", "5", _HANDLER)),
    good=(_GOOD, '{"hooks": {"Stop": []}}'),
)
def check_events(context: Context) -> Iterator[Found]:
    """An object, a string or null instead of the array."""
    for event in context.events:
        if event.node.kind == "array" or event.key not in _EVENTS:
            continue
        gate = event.key == "PreToolUse" and event.node.kind != "null" and not context.profile.drops_file
        message = f"{event.key} is {_a(event.node)}, not an array of matcher entries"
        yield context.at(event.node, message, consequence="file dropped" if gate else None)


@rule(
    id="flat-handler",
    severity="error",
    title="A handler stands directly under its event (the old flat form)",
    consequence="file dropped",
    remedy='Put it into a matcher entry: {"matcher": "...", "hooks": [HANDLER]}; `hookproof lint --fix` does that.',
    source="001, anti-patterns; " + _SCHEMA,
    bad=(
        f'{{"hooks": {{"PreToolUse": [{_HANDLER}]}}}}',
        '{"hooks": {"Stop": [{"matcher": "", "command": "date"}]}}',
        '{"hooks": {"PostToolUse": [{"matcher": "Write", "type": "http", "url": "https://example.com/"}]}}',
    ),
    good=_GOOD,
)
def check_flat(context: Context) -> Iterator[Found]:
    """It is recognised by its fields and by having no `hooks`."""
    for event, node in _entries(context):
        if is_flat(node):
            message = f"a handler directly under {event.key}; between them belongs a matcher entry with hooks"
            yield context.at(node, message, consequence=context.invalid(event.key))


def is_flat(node: Node) -> bool:
    """Whether a member of an event's array is a handler rather than a matcher entry."""
    return (
        node.kind == "object"
        and node.get("hooks") is None
        and any(key in node.value for key in ("type", "command", "url", "prompt", "server", "script", "cmd"))
    )


@rule(
    id="entry-no-object",
    severity="error",
    title="A matcher entry is no object",
    consequence="file dropped",
    remedy=_NESTED,
    source=_SCHEMA,
    bad=tuple(
        f'{{"hooks": {{"PreToolUse": [{value}]}}}}' for value in ('"./guard.sh"', "null", "5", "[]", "false", f"[{_GROUP}]")
    ),
    good=_GOOD,
)
def check_entries(context: Context) -> Iterator[Found]:
    """A bare command is a habit from other programs."""
    for event, node in _entries(context):
        if node.kind != "object":
            message = f"an entry of {event.key} is {_a(node)}, not an object with matcher and hooks"
            yield context.at(node, message, consequence=context.invalid(event.key))


@rule(
    id="entry-without-hooks",
    severity="error",
    title="A matcher entry has no `hooks` array",
    consequence="file dropped",
    remedy='Give it "hooks": [HANDLER, ...].',
    source=_SCHEMA,
    bad=(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}',
        f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hook": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "handlers": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": {_HANDLER}}}]}}}}',
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": "guard.sh"}]}}',
        '{"hooks": {"Stop": [{"hooks": null}]}}',
        '{"hooks": {"Stop": [{}]}}',
    ),
    good=(_GOOD, '{"hooks": {"Stop": [{"hooks": []}]}}'),
)
def check_groups(context: Context) -> Iterator[Found]:
    """Missing, misspelt, or of another type."""
    for event, node in _entries(context):
        if node.kind != "object" or is_flat(node):
            continue
        hooks = node.member("hooks")
        consequence = context.invalid(event.key)
        if hooks is not None:
            if hooks.node.kind != "array":
                yield context.at(hooks, f"hooks is {_a(hooks.node)}, not an array of handlers", consequence=consequence)
            continue
        near = next(
            (m for m in node.members if folded(m.key) in ("hook", "hooks", "handlers", "handler", "actions", "commands")), None
        )
        if near is not None:
            yield context.at(near, f'"{near.key}" is not read; the handlers stand under "hooks"', consequence=consequence)
        else:
            yield context.at(node, f"an entry of {event.key} has no hooks", consequence=consequence)


@rule(
    id="handler-no-object",
    severity="error",
    title="A handler is no object",
    consequence="file dropped",
    remedy='Write {"type": "command", "command": "..."}.',
    source=_SCHEMA,
    bad=tuple(
        f'{{"hooks": {{"PreToolUse": [{{"hooks": [{value}]}}]}}}}' for value in ('"./guard.sh"', "null", "[]", "5", _GROUP)
    ),
    good=_GOOD,
)
def check_handlers(context: Context) -> Iterator[Found]:
    """A bare command, or a second matcher entry inside the first."""
    for group in context.groups:
        inner = group.node.get("hooks")
        for node in inner.items if inner is not None else ():
            if node.kind != "object":
                message = f"a handler of {group.event.key} is {_a(node)}, not an object"
            elif node.get("hooks") is not None and node.get("type") is None:
                message = "a matcher entry stands inside another; handlers are expected here"
            else:
                continue
            yield context.at(node, message, consequence=context.invalid(group.event.key))


@rule(
    id="handler-list-empty",
    severity="info",
    title="There is an entry without any handler",
    consequence="unclear",
    remedy="Take it out, or give it a handler.",
    source="observed: accepted",
    bad=('{"hooks": {"Stop": []}}', '{"hooks": {"Stop": [{"hooks": []}]}}'),
    good=_GOOD,
)
def check_empty(context: Context) -> Iterator[Found]:
    """Accepted, and most likely not meant."""
    for event in context.events:
        if event.key in _EVENTS and event.node.kind == "array" and not event.node.value:
            yield context.at(event, f"{event.key} has no entries")
    for group in context.groups:
        inner = group.node.get("hooks")
        if inner is not None and not inner.value:
            yield context.at(inner, f"an entry of {group.event.key} has no handlers")


@rule(
    id="matcher-in-handler",
    severity="error",
    title="`matcher` stands inside the handler, where it is not read",
    consequence="runs for everything",
    remedy="Move it up, beside hooks.",
    source="observed: accepted without complaint, the handler runs for every call",
    bad='{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "date", "matcher": "Bash"}]}]}}',
    good=_GOOD,
)
def check_matcher_in_handler(context: Context) -> Iterator[Found]:
    """One level too deep."""
    for handler in context.handlers:
        member = handler.node.member("matcher")
        if member is not None and handler.get("hooks") is None:
            lost = handler.group.matcher is None
            yield context.at(
                member,
                "a matcher inside the handler is not read" + (", so it runs for everything" if lost else ""),
                severity=None if lost else "warning",
                consequence=None if lost else "value ignored",
            )


@rule(
    id="field-in-entry",
    severity="warning",
    title="A field of the handler stands beside `hooks`, where it is not read",
    consequence="value ignored",
    remedy="Move it into the handler.",
    source="observed: accepted without complaint and ignored",
    bad=(
        f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "timeout": 5, "hooks": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "if": "Bash(git *)", "hooks": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"Stop": [{{"type": "command", "hooks": [{_HANDLER}]}}]}}}}',
    ),
    good=_GOOD,
)
def check_field_in_group(context: Context) -> Iterator[Found]:
    """An `if` that is lost makes the handler run for every call of the matcher."""
    for group in context.groups:
        for member in group.node.members:
            if member.key in ALL_FIELDS:
                lost = member.key == "if"
                yield context.at(
                    member,
                    f"{member.key} beside hooks is not read" + (": the handler runs whatever the rule says" if lost else ""),
                    severity="error" if lost else None,
                    consequence="runs too often" if lost else None,
                )


_GROUP_WORDS = {
    "matchers": "matcher", "match": "matcher", "tool": "matcher", "tools": "matcher", "toolname": "matcher",
    "toolnames": "matcher",
    "pattern": "matcher", "filter": "matcher", "matcher": "matcher", "mather": "matcher", "macher": "matcher", "regex": "matcher",
}  # fmt: skip


@rule(
    id="matcher-misspelt",
    severity="error",
    title="The matcher has another name, under which it is not read",
    consequence="runs for everything",
    remedy='Name it "matcher".',
    source="observed: unknown keys are accepted without complaint; the handlers then run for every tool",
    bad=(
        f'{{"hooks": {{"PreToolUse": [{{"matchers": "Bash", "hooks": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"PreToolUse": [{{"Matcher": "Bash", "hooks": [{_HANDLER}]}}]}}}}',
        f'{{"hooks": {{"PreToolUse": [{{"tools": ["Bash"], "hooks": [{_HANDLER}]}}]}}}}',
    ),
    good=_GOOD,
)
def check_matcher_name(context: Context) -> Iterator[Found]:
    """Only where there is no matcher that counts."""
    for group in context.groups:
        if group.matcher is None:
            for member in group.node.members:
                if member.key not in ("hooks", "matcher") and member.key not in ALL_FIELDS and _means_matcher(member.key):
                    yield context.at(member, f'"{member.key}" is not read, so the handlers run for everything')


def _means_matcher(key: str) -> bool:
    return folded(key) in _GROUP_WORDS or nearest(key, ("matcher",)) is not None


@rule(
    id="matcher-type",
    severity="error",
    title="The matcher is no string",
    consequence="file dropped",
    remedy='Write one string: "Edit|Write" for several tools; leave it out for all.',
    source=_SCHEMA,
    bad=tuple(
        f'{{"hooks": {{"PreToolUse": [{{"matcher": {value}, "hooks": [{_HANDLER}]}}]}}}}'
        for value in ('["Edit", "Write"]', "null", '{"tool": "Bash"}', "5", "true")
    ),
    good=(_GOOD, f'{{"hooks": {{"PreToolUse": [{{"matcher": "Edit|Write", "hooks": [{_HANDLER}]}}]}}}}'),
)
def check_matcher_type(context: Context) -> Iterator[Found]:
    """A list of tools is what most people try."""
    for event, node in _entries(context):
        matcher = node.get("matcher")
        if matcher is not None and matcher.kind != "string":
            several = [each.text for each in matcher.items if each.text]
            remedy = f'Write "matcher": "{"|".join(several)}".' if several else None
            message = f"the matcher is {_a(matcher)}, not a string"
            yield context.at(matcher, message, remedy=remedy, consequence=context.invalid(event.key))


def _entries(context: Context) -> Iterator[tuple[Member, Node]]:
    """Every member of every event's array, for events that the program knows; others are ignored as a whole."""
    for event in context.events:
        if event.key in _EVENTS:
            for node in event.node.items:
                yield event, node


def _a(node: Node) -> str:
    return "null" if node.kind == "null" else f"{'an' if node.kind in ('object', 'array') else 'a'} {node.kind}"
