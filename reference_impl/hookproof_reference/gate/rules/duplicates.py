"""The same handler is there twice, and only one of them counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..context import Context, Handler
from ..document import parse
from ..finding import Found
from ..profiles import UNMATCHED_EVENTS
from ..rule import Example, rule

_A = '{"type": "command", "command": "check-call", "timeout": 5}'
_B = '{"type": "command", "command": "check-call", "timeout": 9}'
_OTHER = '{"type": "command", "command": "log-call", "timeout": 5}'
_LOCAL = ".claude/settings.local.json"
_IDENTITY = {
    "command": ("command", "args", "shell"),
    "http": ("url",),
    "mcp_tool": ("server", "tool", "input"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}


def _with(field: str, value: str) -> str:
    return _A.replace("}", f', "{field}": "{value}"}}')


def _file(*groups: tuple[str, str], event: str = "PreToolUse") -> str:
    entries = ", ".join(f'{{"matcher": "{matcher}", "hooks": [{handlers}]}}' for matcher, handlers in groups)
    return f'{{"hooks": {{"{event}": [{entries}]}}}}'


@rule(
    id="handler-duplicate",
    severity="warning",
    title="The same handler stands twice at one event",
    consequence="value ignored",
    remedy="Keep one of them, with the timeout that is meant.",
    source="observed: the same command, URL or tool runs once for an event, across entries and files; the later timeout counts",
    bad=(
        _file(("Bash", f"{_A}, {_A}")),
        _file(("Bash", f"{_A}, {_B}")),
        _file(("Bash", _A), ("Bash", _B)),
        _file(("Edit|Write", _A), ("Write|Edit", _A)),
        _file(("Bash", _A), ("*", _A)),
        _file(("", f"{_A}, {_A}"), event="Stop"),
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "https://a.example/", "timeout": 5, "headers": {"X": "1"}},'
        ' {"type": "http", "url": "https://a.example/", "timeout": 5, "headers": {"X": "2"}}]}]}}',
    ),
    good=(
        _file(("Bash", f"{_A}, {_OTHER}")),
        _file(("Edit", _A), ("Write", _A)),
        _file(("Bash", f"{_with('if', 'Bash(git *)')}, {_with('if', 'Bash(rm *)')}")),
        _file(("Bash", f"{_with('statusMessage', 'a')}, {_OTHER}")),
        _file(("Bash", _A.replace("}", ', "args": ["a"]}') + ", " + _A.replace("}", ', "args": ["b"]}'))),
    ),
)  # fmt: skip
def check_duplicates(context: Context) -> Iterator[Found]:
    """The same event, an overlapping matcher, the same `if`, the same program."""
    seen: dict[str, list[Handler]] = {}
    for handler in context.handlers:
        key = _identity(handler)
        if key is None:
            continue
        others = seen.setdefault(key, [])
        for other in others:
            overlap = _overlap(other, handler)
            if overlap:
                yield context.at(handler.node, _told(other, handler, overlap, context))
                break
        others.append(handler)


def _identity(handler: Handler) -> str | None:
    fields = _IDENTITY.get(handler.type or "")
    if fields is None or any(handler.get(field) is None for field in fields[:1]):
        return None
    values = []
    for field in (*fields, "if"):
        node = handler.get(field)
        # nearly all values are strings, and those need no encoder
        values.append("" if node is None else node.value if node.kind == "string" else json.dumps(node.plain(), sort_keys=True))
    return "\0".join([handler.event, handler.type or "", *values])


def _told(first: Handler, second: Handler, overlap: str, context: Context) -> str:
    line, _ = context.document.place(first.node.start)
    limits = [handler.get("timeout") for handler in (first, second)]
    before, after = (node.value if node is not None else None for node in limits)
    where = "" if overlap == "all" else f" for {overlap}"
    message = f"the same handler as in line {line}: it runs once{where}"
    if before != after:
        return message + f", with the later time limit ({after if after is not None else 'the default'})"
    return message + "; this later one survives" if first.type == "http" else message


def _overlap(first: Handler, second: Handler) -> str | None:
    """For which subjects both would run: "all", a list of names, or None."""
    if first.group is second.group or first.event in UNMATCHED_EVENTS:
        return "all"
    one, two = _names(first), _names(second)
    if one == two:
        return "all"
    if one is None or two is None:
        return "the tools that both match"
    both = one & two
    return "|".join(sorted(both)) or None


def _names(handler: Handler) -> frozenset[str] | None:
    """The names of a matcher; None for all. A regular expression stands for itself."""
    matcher = (handler.matcher or "").strip()
    if matcher in ("", "*", ".*"):
        return None
    return frozenset(part.strip() for part in matcher.split("|"))


@rule(
    id="handler-in-both-files",
    severity="warning",
    title="The same handler stands in settings.json and in settings.local.json",
    consequence="value ignored",
    remedy="Keep it in one of the files.",
    source="observed: the same command, URL or tool runs once for an event, across entries and files; the later timeout counts",
    kinds=("local",),
    bad=Example(_file(("Bash", _B)), at=_LOCAL, files={".claude/settings.json": _file(("Bash", _A))}),
    good=Example(_file(("Bash", _OTHER)), at=_LOCAL, files={".claude/settings.json": _file(("Bash", _A))}),
)
def check_files(context: Context) -> Iterator[Found]:
    """The project's file is read when its local one is judged."""
    if not context.handlers or context.path in ("", "<text>"):
        return
    project = Path(context.path).parent / "settings.json"
    text = context.read(project)
    if text is None:
        return
    other = Context(parse(text), context.profile, str(project))
    there: dict[str, list[Handler]] = {}
    for handler in other.handlers:
        there.setdefault(_identity(handler) or "", []).append(handler)
    for handler in context.handlers:
        key = _identity(handler)
        for first in there.get(key, []) if key is not None else []:
            overlap = _overlap(first, handler)
            if overlap is not None:
                line, _ = other.document.place(first.node.start)
                where = "" if overlap == "all" else f" for {overlap}"
                yield context.at(handler.node, f"the same handler as in settings.json, line {line}: it runs once{where}")
                break


@rule(
    id="matcher-duplicate",
    severity="info",
    title="Two entries of one event have the same matcher",
    consequence="unclear",
    remedy="Put the handlers into one entry.",
    source="observed: both entries count",
    bad=_file(("Bash", _A), ("Bash", _OTHER)),
    good=_file(("Bash", _A), ("Edit", _OTHER)),
)
def check_matchers(context: Context) -> Iterator[Found]:
    """Harmless; it only hides what belongs together."""
    seen: dict[tuple[str, str | None], int] = {}
    for group in context.groups:
        matcher = group.matcher
        if matcher is not None and matcher.kind != "string":
            continue
        key = (group.event.key, None if matcher is None else matcher.value)
        if key in seen:
            line, _ = context.document.place(seen[key])
            yield context.at(group.node, f"line {line} has an entry for the same matcher")
        else:
            seen[key] = group.node.start
