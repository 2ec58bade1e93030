"""Matchers that match nothing, everything, or something else in another version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context, Group
from ..finding import Found
from ..near import nearest
from ..pattern import pattern
from ..rule import rule
from ..vocabulary import FOREIGN, LIST_178, RETIRED, TOOLS, names_of, pattern_of, repeats_a_repetition

_GUARD = '{"hooks":{"%s":[{"matcher":"%s","hooks":[{"type":"command","command":"notify-team","timeout":10}]}]}}'
_TOOL_RULE = pattern(r"\s*[A-Za-z]\w*\s*\((?![?|])(?![A-Za-z]+(?:\|[A-Za-z]+)+\)).*\)\s*\Z", re.S)
EVERYTHING = frozenset(
    {"", "*", ".*", ".+", "^.*$", "^.+$", "^", "^.*", ".*$", ".", "(.*)", r"[\s\S]*", r"\w+", r"^\w+$", r"\w*"}
)
"""Matchers that are meant to match whatever there is."""
_PROBES = ("Bash", "Write", "NotebookEdit", "Qq", "mcp__zz__yy")
_NOT_IN_NAMES = ";\"'`/&!~<>@#%:="
_MCP_POOL = ("mcp__a__b", "mcp__server__write_file", "mcp__plugin_x_y__delete_item")


def sample(event: str, matcher: str) -> str:
    """Settings with one handler behind this matcher."""
    return _GUARD % (event, matcher)


def matched(context: Context) -> Iterator[tuple[Group, str]]:
    """Groups whose matcher is a text that counts."""
    for group in context.groups:
        matcher = group.matcher
        if matcher is not None and matcher.text and group.event.key not in profiles.UNMATCHED_EVENTS:
            yield group, matcher.text


def _tool_groups(context: Context) -> Iterator[tuple[Group, str]]:
    for group, text in matched(context):
        if group.event.key in profiles.TOOL_EVENTS and text not in EVERYTHING:
            yield group, text


def is_list(text: str) -> bool:
    """Whether somebody wrote a list of names, whatever stands between them."""
    return names_of(text) is not None


@rule(
    id="matcher-permission-rule",
    severity="error",
    title="A permission rule stands in the matcher",
    consequence="never runs",
    remedy='Write the tool\'s name alone into "matcher" and the rule into "if" of the handler.',
    source="seed 001, Design Rules 2; observed on 2.1.178 and 2.1.332",
    bad=(sample("PreToolUse", "Bash(npm publish *)"), sample("PostToolUse", "Write(docs/**)")),
    good=(sample("PreToolUse", "Bash"), sample("PreToolUse", "(Edit|Write)"), sample("PreToolUse", "Notebook(Edit|Read)")),
)
def _check_permission_rule(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        if group.matcher is not None and _is_permission_rule(text):
            if "(" not in text:
                yield context.at(group.matcher, f'"{text}" is no name of a tool: an event or a command stands beside it')
                continue
            yield context.at(
                group.matcher,
                f'"{text}" is a permission rule; a matcher is compared with the name of the tool, which is never that',
            )


def _is_permission_rule(text: str) -> bool:
    return (_TOOL_RULE.match(text) is not None and text.split("(")[0].strip() in TOOLS) or re.match(
        r"[A-Za-z]+:\S", text
    ) is not None


@rule(
    id="matcher-invalid-regex",
    severity="error",
    title="The matcher is no regular expression",
    consequence="never runs",
    remedy='Write names joined with "|", or a regular expression that JavaScript accepts ("." and "*" for anything).',
    source="observed on 2.1.178 and 2.1.332: the handler is silently off",
    bad=(sample("PreToolUse", "(Bash|Write"), sample("PreToolUse", "*Write"), sample("PreToolUse", "(?i)write")),
    good=(sample("PreToolUse", "^(Bash|Write)$"), sample("PreToolUse", "*"), sample("PostToolUse", "Note.+")),
)
def _check_regex(context: Context) -> Iterator[Found]:
    for group, text in matched(context):
        if text in EVERYTHING or is_list(text) or group.matcher is None:
            continue
        if _is_permission_rule(text) and group.event.key in profiles.TOOL_EVENTS:
            continue
        pattern = pattern_of(text)
        if isinstance(pattern, str):
            hint = " (it is no glob)" if "*" in text else ""
            yield context.at(group.matcher, f'"{text}" is no regular expression{hint}: {pattern}; the handler is silently off')


@rule(
    id="matcher-unknown-name",
    severity="error",
    title="The matcher names a tool that does not exist",
    consequence="never runs",
    remedy="Write the tool's name as the program spells it; names are case-sensitive and compared whole.",
    source="observed on 2.1.178 and 2.1.332: no warning anywhere",
    bad=(
        sample("PreToolUse", "write"),
        sample("PreToolUse", "Bash|Edti"),
        sample("PreToolUse", "apply_patch"),
        sample("PostToolUse", "^(bash|read)$"),
    ),
    good=(
        sample("PreToolUse", "Write|Edit|MultiEdit"),
        sample("PreToolUse", "mcp__db__query"),
        sample("PreToolUse", "Note.*"),
    ),
)
def _check_name(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        if group.matcher is None or _is_permission_rule(text):
            continue
        names = names_of(text)
        if names is None:
            yield from _check_regex_names(context, group, text)
            continue
        alive = [name for name in names if name in TOOLS or name.startswith("mcp__")]
        for name in names:
            if not name or name in TOOLS or re.match(r"mcp(?:__|_*\Z)", name) or " " in name:
                continue
            message, certain = _about(name)
            if name in RETIRED and alive:
                yield context.at(group.matcher, message, severity="info", consequence="value ignored")
            elif alive and not certain:
                yield context.at(group.matcher, message, severity="info", consequence="unclear")
            else:
                narrower = "runs too rarely" if alive else None
                yield context.at(
                    group.matcher, message, severity=None if certain and not alive else "warning", consequence=narrower
                )


def _about(name: str) -> tuple[str, bool]:
    """What to say about a name that is no tool, and whether it is certain."""
    if name in RETIRED:
        return f'"{name}" is no tool, or is one no more; {RETIRED[name]} does that', True
    if name in FOREIGN:
        return f'"{name}" is a tool of another agent; here it is {FOREIGN[name]}', True
    if re.match(r"mcp_[^_]|mcp-|mcp\.|MCP", name):
        return f'"{name}" is no tool; those of a server are called mcp__SERVER__TOOL, with two underscores each', True
    likely = nearest(name, TOOLS)
    if likely is not None:
        return f'there is no tool "{name}"; did you mean "{likely}"? Names are case-sensitive', True
    return f'there is no tool "{name}" among those known; if none has that name, the handler never runs', False


def _check_regex_names(context: Context, group: Group, text: str) -> Iterator[Found]:
    pattern = pattern_of(text)
    if isinstance(pattern, str) or not text.isascii() or group.matcher is None:
        return
    if re.search(r"mcp_(?![_\\\\])|mcp[.:/-](?![*+?{])\w", text):
        yield context.at(
            group.matcher, f'"{text}" matches no tool; those of a server are called mcp__SERVER__TOOL, with two underscores each'
        )
        return
    cased = re.search(r"(?i)(?<![a-z])mcp__", text)
    if cased is not None and cased[0] != "mcp__":
        yield context.at(group.matcher, f'"{cased[0]}" begins no name: the tools of a server begin with mcp__, in small letters')
        return
    if "mcp" in text or "__" in text or any(pattern.search(name) for name in (*TOOLS, *_MCP_POOL, "mcp__github__create_issue")):
        return
    folded = re.compile(pattern.pattern, re.I)
    meant = sorted(name for name in TOOLS if folded.search(name))
    if not meant and text not in EVERYTHING and not any(c in text for c in _NOT_IN_NAMES):
        alone = not re.search(r"[.*+?\[]", text)
        hint = "; an escaped bar is no separator" if "\\\\|" in text else ""
        yield context.at(group.matcher, f'"{text}" matches none of the known tools{hint}', severity=None if alone else "warning")
    if meant:
        yield context.at(group.matcher, f'"{text}" matches no tool: names are case-sensitive, and {meant[0]} is spelled so')


@rule(
    id="matcher-matches-nothing",
    severity="error",
    title="The matcher can match no name",
    consequence="never runs",
    remedy='Join whole names with "|", without blanks, quotes or slashes around them.',
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        sample("PreToolUse", "Bash Write"),
        sample("PreToolUse", "Write;Edit"),
        sample("PreToolUse", "/Bash/"),
        sample("PreToolUse", "\\u0412ash"),
        sample("PreToolUse", "!Bash"),
        sample("PreToolUse", "|"),
    ),
    good=(
        sample("PreToolUse", "Bash|"),
        sample("PreToolUse", "create|delete.*"),
        sample("UserPromptExpansion", "veröffentlichen"),
    ),
)
def _check_nothing(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        if group.matcher is None or _is_permission_rule(text):
            continue
        names = names_of(text)
        if names is not None:
            if not any(names):
                yield context.at(group.matcher, f'"{text}" holds no name')
            for name in names:
                if " " in name:
                    yield context.at(group.matcher, f'"{name}" is compared as one name; a blank separates nothing')
            continue
        pattern = pattern_of(text)
        if isinstance(pattern, str):
            continue
        odd = next((c for c in text if ord(c) > 126 or ord(c) < 32), None)
        if odd is not None:
            yield context.at(
                group.matcher, f"the matcher holds U+{ord(odd):04X}, which is in no name of a tool; it looks like another letter"
            )
        elif any(c in text for c in _NOT_IN_NAMES) and not any(pattern.search(name) for name in (*TOOLS, *_MCP_POOL)):
            # what opens a group or stands in a class is no sign of its own
            signs = re.sub(r"\(\?(?:[:!=]|<[!=]|<\w+>)|\[[^\]]*\]", "", text)
            wrong = next((c for c in signs if c in _NOT_IN_NAMES), None)
            yield context.at(
                group.matcher,
                f'"{text}" matches the name of no tool'
                if wrong is None
                else f'"{wrong}" in "{text}" is taken literally, and no tool has it in its name',
            )


@rule(
    id="matcher-mcp-without-tool",
    severity="error",
    title="The matcher names an MCP server and no tool",
    consequence="never runs",
    remedy="Write mcp__SERVER__.* for all tools of a server, or the tool's whole name.",
    source="observed on 2.1.178 and 2.1.332; public report B085",
    bad=(
        sample("PreToolUse", "mcp__slack"),
        sample("PreToolUse", "Bash|mcp__db__"),
        sample("PostToolUse", "mcp__my-server"),
        sample("PreToolUse", "mcp__*__drop"),
    ),
    good=(sample("PreToolUse", "mcp__slack__.*"), sample("PreToolUse", "mcp__slack__post"), sample("PreToolUse", "mcp__.*")),
)
def _check_mcp(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        starred = re.search(r"\bmcp__\*_\w*", text)
        if group.matcher is not None and starred is not None:
            yield context.at(
                group.matcher,
                f'"{starred[0]}" is a regular expression, where "_*" is any number of underscores and no name of a server',
                remedy=f"Write {starred[0].replace('*', '.*', 1)}.",
            )
        for name in names_of(text) or ():
            if group.matcher is not None and re.fullmatch(r"mcp|mcp_+|mcp__(?:(?!__).)+(?:__)?", name):
                yield context.at(
                    group.matcher,
                    f'"{name}" is compared whole with the name of the tool, mcp__SERVER__TOOL, and matches none',
                    remedy=f"Write {name.rstrip('_')}__.* for all tools.",
                )


_NAMES_AS_CLASS = pattern(rf"\[(?:\w+[,| ]+)*(?:{'|'.join(sorted(TOOLS))})(?:[,| ]+\w+)*\]\Z")
"""`[Bash]`, `[Edit|Write]`: somebody takes a class of letters for a list."""


@rule(
    id="matcher-matches-everything",
    severity="warning",
    title="The matcher matches every tool by accident",
    consequence="runs for everything",
    remedy='A matcher with other signs than letters, digits, "_" and "|" is a regular expression, found anywhere in '
    'the name: write "Bash" or "^Bash$".',
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        sample("PreToolUse", "W*"), sample("PreToolUse", "^Write$|"), sample("PreToolUse", "(Bash|)"),
        sample("PreToolUse", "[Bash]"), sample("PostToolUse", "(?!Read).*"),
    ),
    good=(
        sample("PreToolUse", ".*"), sample("PreToolUse", "*"), sample("PreToolUse", "Web.*"),
        sample("PostToolUse", "^(?!Read).*"),
    ),
)  # fmt: skip
def _check_everything(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        if group.matcher is None or not re.search("[A-Za-z]", re.sub(r"\\.", "", text)):
            continue
        if not LIST_178.match(text) and is_list(text):
            if not re.search(r"\|\s*\||[|]\s*\Z|\A\s*[|]", text):
                continue
            yield context.at(
                group.matcher,
                f'"{text}" has an empty alternative; up to 2.1.190 it is a regular expression because of the blanks '
                f"and matches every tool",
                remedy='Write the names with a single "|" and no blanks.',
                severity="info" if context.profile.pinned and context.profile.at_least(2, 1, 191) else None,
            )
            continue
        if is_list(text):
            continue
        if _NAMES_AS_CLASS.match(text):
            yield context.at(group.matcher, f'"{text}" is a class of single letters: every name that holds one of them matches')
            continue
        if re.search(r"[A-Za-z]\*", text) and "__" not in text and not re.search(r"[.)\]]\*", text):
            pattern_ = pattern_of(text)
            if not isinstance(pattern_, str) and not all(pattern_.search(name) for name in _PROBES):
                yield context.at(
                    group.matcher, f'in "{text}" the star repeats the letter before it; it is no glob', severity="info"
                )
        pattern = pattern_of(text)
        excluded = re.match(r"\(\?!([A-Za-z|]+)\)", text)
        if excluded is not None and not isinstance(pattern, str) and pattern.search(excluded[1].split("|")[0]):
            yield context.at(
                group.matcher, f'"{text}" is found anywhere in a name, so it matches {excluded[1]} too; "^" belongs before it'
            )
            continue
        if (
            not isinstance(pattern, str)
            and pattern.pattern
            and not re.search(r"\(\?!", text)
            and all(pattern.search(name) for name in _PROBES)
        ):
            yield context.at(group.matcher, f'"{text}" is a regular expression that matches the name of every tool')


@rule(
    id="matcher-catastrophic",
    severity="warning",
    title="The matcher can take exponential time",
    consequence="not portable",
    remedy="Take the inner or the outer repetition away.",
    source="observed: harmless in the engine of 2.1.178 and 2.1.332, exponential in backtracking engines",
    bad=(sample("PreToolUse", "^(mcp__(\\\\w+)*)+$"), sample("PreToolUse", "(W+)+rite")),
    good=(sample("PreToolUse", "mcp__(git|db)__.*"), sample("PreToolUse", "^(Edit|Write)+$")),
)
def _check_catastrophic(context: Context) -> Iterator[Found]:
    for group, text in matched(context):
        if group.matcher is not None and "(" in text and repeats_a_repetition(text):
            yield context.at(group.matcher, f'"{text}" repeats a repetition: a long name can take exponential time')
