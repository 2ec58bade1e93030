"""The field `if`: one permission rule, on events of tools, for a tool that the matcher lets through."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context, Handler
from ..finding import Found
from ..near import nearest
from ..pattern import pattern
from ..rule import rule
from ..vocabulary import TOOLS, names_of, pattern_of

_RULE = pattern(r"([A-Za-z_][\w.-]*)(\(.*\))?\Z", re.S)


def _sample(event: str, matcher: str, condition: str) -> str:
    given = f'"matcher":"{matcher}",' if matcher else ""
    handler = f'{{"type":"command","command":"notify-team","if":"{condition}","timeout":10}}'
    return f'{{"hooks":{{"{event}":[{{{given}"hooks":[{handler}]}}]}}}}'


def _conditions(context: Context) -> Iterator[tuple[Handler, str]]:
    for handler in context.handlers:
        text = handler.text("if")
        if text:
            yield handler, text


@rule(
    id="if-ignored-event",
    severity="error",
    title="The event does not evaluate `if`",
    consequence="never runs",
    remedy="Leave `if` out, or move the handler to PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest or "
    "PermissionDenied.",
    source="seed 001, Anti-Patterns; observed on 2.1.178 and 2.1.332",
    bad=(_sample("Stop", "", "Bash(ls *)"), _sample("SessionEnd", "", "Write")),
    good=_sample("PostToolUse", "Bash", "Bash(ls *)"),
)
def _check_event(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        if handler.event not in profiles.TOOL_EVENTS:
            yield context.at(
                handler.key("if"), f'{handler.event} does not evaluate "if": a handler that carries "{text}" never runs there'
            )


@rule(
    id="if-several-rules",
    severity="error",
    title="`if` holds several rules",
    consequence="never runs",
    remedy="Write one handler for each rule, with the same command; they are run once each where they match.",
    source="public report B093; observed on 2.1.178 and 2.1.332",
    bad=(
        _sample("PreToolUse", "Bash", "Bash(dd *)||Bash(mkfs *)"),
        _sample("PreToolUse", "Edit|Write", "Edit|Write"),
        _sample("PreToolUse", "Bash", "Bash(dd *), Bash(mkfs *)"),
    ),
    good=(_sample("PreToolUse", "Bash", "Bash(ls * | wc *)"), _sample("PreToolUse", "Bash", "Bash(echo a, b)")),
)
def _check_several(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        if handler.event in profiles.TOOL_EVENTS and _several(text):
            yield context.at(
                handler.key("if"), f'"{text}" is more than one rule; `if` takes exactly one and never matches such a text'
            )


def _several(text: str) -> bool:
    if re.search(r"\)\s*\n\s*[A-Z]\w*\(", text):
        return True
    parts = re.split(r"\)?\s*(?:\|\||&&|\||,|;|\s(?:or|and|OR|AND)\s)\s*", text)
    if len(parts) < 2:
        return False
    outside = re.sub(r"\([^()]*\)", "", text)
    return (
        re.search(r"\|\||&&|\||,|;|\s(?:or|and|OR|AND)\s", outside) is not None
        and _RULE.match(parts[0] + ")" * parts[0].count("(")) is not None
    )


@rule(
    id="if-malformed",
    severity="error",
    title="`if` is no permission rule",
    consequence="never runs",
    remedy='Write Tool or Tool(pattern), as in "Bash(git push *)".',
    source="seed 001, Design Rules 2; observed on 2.1.178 and 2.1.332",
    bad=(
        _sample("PreToolUse", "Bash", "Bash(dd *"),
        _sample("PreToolUse", "Bash", "Bash (dd *)"),
        _sample("PreToolUse", "Bash", "!Bash(dd *)"),
        _sample("PreToolUse", "Bash", "/dd/"),
        _sample("PreToolUse", "Bash", "*"),
    ),
    good=(_sample("PreToolUse", "Bash", "Bash"), _sample("PreToolUse", "Bash", "Bash(dd:*)"), _sample("PreToolUse", "Bash", "")),
)
def _check_form(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        if handler.event not in profiles.TOOL_EVENTS or _several(text) or _RULE.match(text):
            continue
        yield context.at(handler.key("if"), f'"{text}" is no permission rule{_why(text)}; the handler never runs')


def _why(text: str) -> str:
    if text != text.strip():
        return ": a blank stands before or after it"
    if text.count("(") != text.count(")"):
        return ": a parenthesis is not closed"
    if re.match(r"\w+\s+\(", text):
        return ": a blank stands before the parenthesis"
    if text.startswith("!"):
        return ": a rule cannot be negated"
    if "*" in text and "(" not in text:
        return ": a name cannot hold a star"
    return ""


@rule(
    id="if-unknown-tool",
    severity="error",
    title="`if` names a tool that does not exist",
    consequence="never runs",
    remedy="Spell the tool as the program does.",
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        _sample("PreToolUse", "Write", "write(src/*)"),
        _sample("PreToolUse", "mcp__db__.*", "mcp__db"),
        _sample("PreToolUse", "", "Basch(dd *)"),
    ),
    good=(_sample("PreToolUse", "", "Bash(dd *)"), _sample("PreToolUse", "", "mcp__db__query")),
)
def _check_tool(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        form = _RULE.match(text)
        if form is None or handler.event not in profiles.TOOL_EVENTS or _several(text):
            continue
        name = form[1]
        if name in TOOLS:
            continue
        if name.startswith("mcp__"):
            if re.fullmatch(r"mcp__(?:(?!__).)+(?:__)?", name):
                yield context.at(
                    handler.key("if"), f'"{name}" names a server and no tool; a rule takes the whole name, mcp__SERVER__TOOL'
                )
            continue
        likely = nearest(name, TOOLS)
        if likely is not None:
            yield context.at(handler.key("if"), f'there is no tool "{name}"; did you mean "{likely}"? The handler never runs')
        else:
            yield context.at(handler.key("if"), f'there is no tool "{name}" among those known', severity="warning")


@rule(
    id="if-other-tool",
    severity="error",
    title="`if` and the matcher exclude each other",
    consequence="never runs",
    remedy="Name in `if` a tool that the matcher lets through.",
    source="seed 001, Design Rules 2; observed on 2.1.178 and 2.1.332",
    bad=(_sample("PreToolUse", "Bash", "Write(*.py)"), _sample("PostToolUse", "Edit|Write", "Bash(ls *)")),
    good=(
        _sample("PreToolUse", "Bash|Write", "Write(*.py)"),
        _sample("PreToolUse", "", "Write(*.py)"),
        _sample("PreToolUse", "Task", "Agent"),
    ),
)
def _check_other(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        matcher = handler.matcher
        form = _RULE.match(text)
        if form is None or not matcher or matcher == "*" or handler.event not in profiles.TOOL_EVENTS or form[1] not in TOOLS:
            continue
        names = names_of(matcher)
        pattern = pattern_of(matcher)
        same = {"Task", "Agent"} if form[1] in ("Task", "Agent") else {form[1]}
        if names is not None:
            # names that do not exist are told elsewhere; here only what can match at all
            meets = bool(same & set(names)) or not any(name in TOOLS or name.startswith("mcp__") for name in names)
        else:
            meets = isinstance(pattern, str) or any(pattern.search(name) for name in same)
        if not meets:
            yield context.at(
                handler.key("if"), f'the matcher "{matcher}" lets no {form[1]} through, and "if" lets nothing else through'
            )


def _read(condition: str, tool: str = "Read") -> str:
    return _sample("PreToolUse", tool, condition)


@rule(
    id="if-never-true",
    severity="error",
    title="The rule in `if` is true for no call",
    consequence="never runs",
    remedy="Write an absolute path with two slashes, Read(//etc/**); a rule for an MCP tool is its bare name.",
    source="observed on 2.1.178 and 2.1.332: one slash is the project's root; a rule for an MCP tool takes no pattern but *",
    bad=(_read("Read(/etc/**)"), _read("Write(/Users/ada/**)", "Write"), _read("mcp__git__push(main)", "mcp__git__push")),
    good=(
        _read("Read(//etc/**)"), _read("Read(/src/**)"), _read("mcp__git__push", "mcp__git__push"),
        _read("Bash(/bin/rm *)", "Bash"),
    ),
)  # fmt: skip
def _check_never(context: Context) -> Iterator[Found]:
    for handler, text in _conditions(context):
        found = _RULE.match(text)
        if found is None or handler.event not in profiles.TOOL_EVENTS or not found[2]:
            continue
        inner = found[2][1:-1]
        if found[1].startswith("mcp__") and inner not in ("", "*"):
            yield context.at(handler.key("if"), f'"{text}": a rule for an MCP tool is its name alone, and this one is never true')
        elif found[1] in ("Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep") and _ROOTED.match(inner):
            yield context.at(
                handler.key("if"), f'"{inner}" begins at the project; a path from the root of the system has two slashes'
            )


_ROOTED = pattern(r"/(?:etc|usr|var|home|Users|root|opt|tmp|private|proc|sys|dev|mnt|Volumes)(?:/|\Z)")
