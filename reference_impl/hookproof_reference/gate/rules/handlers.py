"""A handler's type is unknown, a field that it needs is missing, or a field has the wrong type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..context import Context, Handler
from ..document import Kind, Member
from ..fields import ALL_FIELDS, COMMON, FIELD_WORDS, FIELDS, NOTES, REQUIRED, TYPE_WORDS
from ..finding import Found
from ..near import folded, nearest
from ..pattern import pattern
from ..profiles import EVENTS_332, HANDLER_TYPES
from ..rule import rule

_SCHEMA = "observed: the settings schema of 2.1.178 and 2.1.332; 001, handler types"
_KNOWN_EVENTS = frozenset(EVENTS_332)


def _file(*handlers: str, event: str = "PreToolUse") -> str:
    return f'{{"hooks": {{"{event}": [{{"matcher": "Bash", "hooks": [{", ".join(handlers)}]}}]}}}}'


_DATE = '{"type": "command", "command": "date"}'
_GOOD = (
    _file('{"type": "command", "command": "date", "args": [], "shell": "bash", "timeout": 5, "statusMessage": "looking"}'),
    _file('{"type": "http", "url": "https://hooks.example.com/x", "headers": {"X-A": "1"}, "allowedEnvVars": []}'),
    _file('{"type": "mcp_tool", "server": "audit", "tool": "record", "input": {"a": [1, {"b": null}]}}', event="PostToolUse"),
    _file('{"type": "prompt", "prompt": "Safe? $ARGUMENTS", "model": "small", "continueOnBlock": true}', _DATE),
    _file('{"type": "agent", "prompt": "Look into it: $ARGUMENTS"}', _DATE),
)  # fmt: skip


@rule(
    id="type-missing",
    severity="error",
    title="A handler has no type",
    consequence="file dropped",
    remedy='Add "type": "command", "http", "mcp_tool", "prompt" or "agent".',
    source=_SCHEMA,
    bad=(
        _file('{"command": "date"}'),
        _file("{}"),
        _file('{"url": "https://example.com/"}'),
        _file('{"Type": "command", "command": "date"}'),
    ),
    good=_GOOD,
)
def check_type_missing(context: Context) -> Iterator[Found]:
    """The fields tell which type was meant."""
    for handler in context.known_handlers:
        if "type" in handler.node.value:
            continue
        wanted = next((t for t in HANDLER_TYPES if all(field in handler.node.value for field in REQUIRED[t])), None)
        other = next((m.key for m in handler.node.members if folded(m.key) in ("type", "kind")), None)
        message = f'the handler has no type; "{other}" is not read' if other else "the handler has no type"
        remedy = f'Add "type": "{wanted}".' if wanted and other is None else 'Name the field "type".' if other else None
        yield context.at(handler.node, message, remedy=remedy, consequence=context.invalid(handler.event))


@rule(
    id="type-unknown",
    severity="error",
    title="There is no handler type of that name",
    consequence="file dropped",
    remedy="Write command, http, mcp_tool, prompt or agent.",
    source=_SCHEMA,
    bad=tuple(
        _file(f'{{"type": {value}, "command": "date"}}')
        for value in ('"Command"', '"shell"', '"script"', '"intercept"', '""', '"PreToolUse"')
    ),
    good=_GOOD,
)
def check_type(context: Context) -> Iterator[Found]:
    """Types are case-sensitive, too."""
    for handler in context.known_handlers:
        kind = handler.get("type")
        if kind is None or kind.kind != "string" or kind.value in HANDLER_TYPES:
            continue
        word = str(kind.value)
        right = TYPE_WORDS.get(folded(word)) or nearest(word, HANDLER_TYPES)
        hint = f'; did you mean "{right}"?' if right else ""
        if word in _KNOWN_EVENTS:
            hint = "; that is an event, which stands outside, as the key"
        yield context.at(
            kind,
            f'there is no handler type "{word[:40]}"{hint}',
            remedy=f'Write "type": "{right}".' if right else None,
            consequence=context.invalid(handler.event),
        )


def _meant_field(key: str, kind: str) -> str | None:
    """The field that was meant by a key that is none of this handler type."""
    own = _own(kind)
    word = FIELD_WORDS.get(folded(key))
    if word in own:
        return word
    return nearest(key, own) if len(key) < 30 else None


@cache
def _own(kind: str) -> frozenset[str]:
    return frozenset(COMMON) | frozenset(FIELDS.get(kind, ()))


@rule(
    id="field-missing",
    severity="error",
    title="A field that this type of handler needs is missing",
    consequence="file dropped",
    remedy="Add the field.",
    source=_SCHEMA,
    bad=(
        _file('{"type": "command"}'),
        _file('{"type": "command", "cmd": "date"}'),
        _file('{"type": "command", "prompt": "Is it safe?"}'),
        _file('{"type": "http"}'),
        _file('{"type": "http", "uri": "https://example.com/"}'),
        _file('{"type": "mcp_tool", "server": "audit"}', event="PostToolUse"),
        _file('{"type": "mcp_tool", "tool": "record"}', event="PostToolUse"),
        _file('{"type": "prompt", "model": "small"}', event="PostToolUse"),
        _file('{"type": "agent", "agent": "reviewer"}', event="PostToolUse"),
    ),
    good=_GOOD,
)
def check_required(context: Context) -> Iterator[Found]:
    """One finding for each handler, naming what stands there instead."""
    for handler in context.known_handlers:
        missing = [field for field in REQUIRED.get(handler.type or "", ()) if field not in handler.node.value]
        if not missing:
            continue
        message = f"the {handler.type} handler has no {' and no '.join(missing)}"
        instead = _instead(handler, missing)
        if instead is not None:
            message += f'; "{instead.key}" is not read for it'
        yield context.at(
            instead or handler.node,
            message,
            remedy=f'Add "{missing[0]}".',
            consequence=context.invalid(handler.event),
        )


def _instead(handler: Handler, missing: list[str]) -> Member | None:
    for member in handler.node.members:
        if member.key not in _own(handler.type or ""):
            meant = _meant_field(member.key, handler.type or "")
            if meant in missing or (member.key in ALL_FIELDS and member.key not in COMMON) or member.key == "agent":
                return member
    return None


@rule(
    id="field-empty",
    severity="error",
    title="A field that the handler needs is empty",
    consequence="never runs",
    remedy="Fill it in, or take the handler out.",
    source="001 (a command must not be blank); observed: nothing is run",
    bad=(
        _file('{"type": "command", "command": ""}'),
        _file('{"type": "command", "command": "  "}'),
        _file('{"type": "prompt", "prompt": ""}', event="PostToolUse"),
    ),
    good=_GOOD,
)
def check_empty(context: Context) -> Iterator[Found]:
    """Blank counts as empty."""
    for handler in context.known_handlers:
        for field in REQUIRED.get(handler.type or "", ()):
            text = handler.text(field)
            if text is not None and not text.strip():
                yield context.at(handler.key(field), f"{field} is empty")


@rule(
    id="field-type",
    severity="error",
    title="A field's value has the wrong type",
    consequence="file dropped",
    remedy="Write the type that the message names.",
    source=_SCHEMA,
    bad=(
        _file('{"type": ["command"], "command": "date"}'),
        _file('{"type": null, "command": "date"}'),
        _file('{"type": "command", "command": ["date"]}'),
        _file('{"type": "command", "command": null}'),
        _file('{"type": "command", "command": "date", "args": "-u"}'),
        _file('{"type": "command", "command": "date", "args": ["-u", 5]}'),
        _file('{"type": "command", "command": "date", "async": "true"}'),
        _file('{"type": "command", "command": "date", "once": "yes"}'),
        _file('{"type": "command", "command": "date", "if": ["Bash(git *)"]}'),
        _file('{"type": "command", "command": "date", "statusMessage": 5}'),
        _file('{"type": "http", "url": "https://example.com/", "headers": ["X-A: 1"]}'),
        _file('{"type": "http", "url": "https://example.com/", "headers": {"X-A": 1}}'),
        _file('{"type": "http", "url": "https://example.com/", "allowedEnvVars": "TOKEN"}'),
        _file('{"type": "mcp_tool", "server": "audit", "tool": "record", "input": "all"}', event="PostToolUse"),
        _file('{"type": "command", "command": "date", "onFailure": true}'),
    ),
    good=_GOOD,
)
def check_types(context: Context) -> Iterator[Found]:
    """Null is a wrong type, too. The time limit has rules of its own."""
    for handler in context.known_handlers:
        own = FIELDS.get(handler.type or "", {})
        for member in handler.node.members:
            kinds: tuple[Kind, ...] | None = own.get(member.key) or COMMON.get(member.key)
            if kinds is None or member.key == "timeout":
                continue
            if member.key == "onFailure" and not context.profile.at_least(2, 1, 179):
                continue
            node = member.node
            wrong: str | None = None
            if node.kind not in kinds:
                wrong = f"{member.key} is {_a(node.kind)}, not {_a(kinds[0])}"
            elif node.kind == "array":
                odd = next((each for each in node.items if each.kind != "string"), None)
                if odd is not None:
                    node, wrong = odd, f"{member.key} holds {_a(odd.kind)}; all its values are strings"
            elif member.key == "headers":
                odd = next((each.node for each in node.members if each.node.kind != "string"), None)
                if odd is not None:
                    node, wrong = odd, f"the header {odd.key} is {_a(odd.kind)}, not a string"
            if wrong:
                yield context.at(node, wrong, consequence=context.invalid(handler.event))


def _a(kind: str) -> str:
    return "null" if kind == "null" else f"{'an' if kind in ('object', 'array') else 'a'} {kind}"


_CHOICES = {"shell": ("bash", "powershell"), "onFailure": ("continue", "block")}


@rule(
    id="field-value",
    severity="error",
    title="A field's value is none of those that it may have",
    consequence="file dropped",
    remedy="Write one of the values that the message names.",
    source="observed: any other value makes the entry invalid; onFailure exists since some version after 2.1.178",
    bad=(
        _file('{"type": "command", "command": "date", "shell": "zsh"}'),
        _file('{"type": "command", "command": "date", "shell": "sh"}'),
        _file('{"type": "command", "command": "date", "onFailure": "deny"}'),
    ),
    good=(
        *_GOOD,
        _file('{"type": "command", "command": "date", "onFailure": "block"}'),
    ),
)
def check_values(context: Context) -> Iterator[Found]:
    """`shell` and `onFailure`."""
    for handler in context.known_handlers:
        for field, allowed in _CHOICES.items():
            text = handler.text(field)
            if text is None or text in allowed or field not in FIELDS.get(handler.type or "", ()):
                continue
            if field == "onFailure" and not context.profile.at_least(2, 1, 179):
                continue
            blocks = field == "onFailure" and handler.type == "mcp_tool"
            yield context.at(
                handler.key(field),
                f'{field} is "{text[:40]}"; it may be {" or ".join(allowed)}',
                consequence="value ignored" if blocks else context.invalid(handler.event),
            )


_URL = pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://[^/?#\s]+|(?:http|https):/*[^/?#\s]+")


@rule(
    id="url-invalid",
    severity="error",
    title="The URL is none, or of a kind that is not fetched",
    consequence="file dropped",
    remedy="Write a whole URL: https://host/path.",
    source="observed: relative and empty URLs make the entry invalid; ftp: and file: fail as unsupported protocols",
    bad=tuple(
        _file(f'{{"type": "http", "url": "{url}"}}')
        for url in ("example.com/hook", "/hook", "localhost:8080/x", "ftp://example.com/x", "file:///x")
    ),
    good=(
        _GOOD[1],
        _file('{"type": "http", "url": "http://localhost:8080/x"}'),
        _file('{"type": "http", "url": "http://[::1]:80/"}'),
    ),
)
def check_url(context: Context) -> Iterator[Found]:
    """Whether the address is a wise one is for the network rules."""
    for handler in context.known_handlers:
        url = handler.text("url") if handler.type == "http" else None
        if not url or not url.strip():
            continue
        scheme = url.strip().partition(":")[0].lower()
        if scheme in ("http", "https") and _URL.match(url.strip()):
            continue
        if scheme in ("ftp", "file", "ws", "wss", "data", "javascript", "unix", "tcp", "ssh") and ":" in url:
            yield context.at(handler.key("url"), f"{scheme}: is not fetched, only http: and https:", consequence="cannot start")
        else:
            yield context.at(handler.key("url"), f'"{url[:60]}" is no whole URL', consequence=context.invalid(handler.event))


@rule(
    id="field-foreign",
    severity="warning",
    title="A field belongs to another type of handler",
    consequence="value ignored",
    remedy="Take it out, or change the type.",
    source="001 (ambiguous payload); observed: accepted without complaint and ignored",
    bad=(
        _file('{"type": "command", "command": "date", "url": "https://example.com/"}'),
        _file('{"type": "command", "command": "date", "prompt": "Is it safe?"}'),
        _file('{"type": "http", "url": "https://example.com/", "command": "date"}'),
        _file('{"type": "prompt", "prompt": "Is it safe?", "command": "date"}', event="PostToolUse"),
        _file('{"type": "http", "url": "https://example.com/", "async": true}', event="PostToolUse"),
    ),
    good=_GOOD,
)
def check_foreign(context: Context) -> Iterator[Found]:
    """Two payloads in one handler: only the one of its type counts."""
    for handler in context.known_handlers:
        if handler.type not in FIELDS or _lacks(handler):
            continue
        own = _own(handler.type)
        for member in handler.node.members:
            if member.key in ALL_FIELDS and member.key not in own:
                yield context.at(member, f"a {handler.type} handler does not read {member.key}")


def _lacks(handler: Handler) -> bool:
    return any(field not in handler.node.value for field in REQUIRED.get(handler.type or "", ()))


@rule(
    id="field-unknown",
    severity="warning",
    title="No handler has a field of that name",
    consequence="value ignored",
    remedy="Take it out, or write the name that the message suggests.",
    source="observed: unknown keys are accepted without complaint and ignored",
    bad=(
        _file('{"type": "command", "command": "date", "timeoutSec": 5}'),
        _file('{"type": "command", "command": "date", "timout": 5}'),
        _file('{"type": "command", "command": "date", "enabled": false}'),
        _file('{"type": "command", "command": "date", "tools": ["Bash"]}'),
        _file('{"type": "command", "command": "date", "env": {"A": "1"}}'),
    ),
    good=(*_GOOD, _file('{"type": "command", "command": "date", "description": "says the date", "_note": 1}')),
)
def check_unknown(context: Context) -> Iterator[Found]:
    """A switched-off handler that still runs is the worst of them."""
    for handler in context.known_handlers:
        if handler.type not in FIELDS or _lacks(handler):
            continue
        for member in handler.node.members:
            key = member.key
            if key in ALL_FIELDS or key in NOTES or key == "matcher" or key.startswith(("_", "$", "/")):
                continue
            meant = _meant_field(key, handler.type)
            hint = f'; did you mean "{meant}"?' if meant else ""
            off = (key in ("enabled", "active") and member.node.value is False) or (
                key == "disabled" and member.node.value is True
            )
            yield context.at(
                member,
                f'"{key[:40]}" is not read' + (": the handler runs all the same" if off else hint),
                severity="error" if meant == "if" else None,
                consequence="runs too often" if off or meant == "if" else "limit ignored" if meant == "timeout" else None,
            )


@rule(
    id="once-ignored",
    severity="warning",
    title="`once` has no effect in a settings file",
    consequence="value ignored",
    remedy="Take it out; it counts only in the frontmatter of a skill.",
    source="observed: ignored on all events; honoured in the frontmatter of skills",
    bad=_file('{"type": "command", "command": "date", "once": true}'),
    good=(_file('{"type": "command", "command": "date", "once": false}'), _file('{"type": "command", "command": "date"}')),
    profiles=("claude-code",),
)
def check_once(context: Context) -> Iterator[Found]:
    """The handler runs every time."""
    for handler in context.known_handlers:
        once = handler.get("once")
        if once is not None and once.value is True:
            yield context.at(handler.key("once"), "once has no effect here: the handler runs every time")
