"""Matchers that match nothing, everything, or something else in another version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context, Group
from ..finding import Found, Severity
from ..near import nearest
from ..pattern import pattern
from ..rule import rule
from ..vocabulary import FOREIGN, LIST_178, RETIRED, TOOLS, VALUES, names_of, pattern_of, repeats_a_repetition

_GUARD = '{"hooks":{"%s":[{"matcher":"%s","hooks":[{"type":"command","command":"notify-team","timeout":10}]}]}}'
_TOOL_RULE = pattern(r"\s*[A-Za-z]\w*\s*\((?![?|])(?![A-Za-z]+(?:\|[A-Za-z]+)+\)).*\)\s*\Z", re.S)
_EVERYTHING = frozenset(
    {"", "*", ".*", ".+", "^.*$", "^.+$", "^", "^.*", ".*$", ".", "(.*)", r"[\s\S]*", r"\w+", r"^\w+$", r"\w*"}
)
_PROBES = ("Bash", "Write", "NotebookEdit", "Qq", "mcp__zz__yy")
_NOT_IN_NAMES = ";\"'`/&!~<>@#%:="
_MCP_POOL = ("mcp__a__b", "mcp__server__write_file", "mcp__plugin_x_y__delete_item")


def _sample(event: str, matcher: str) -> str:
    return _GUARD % (event, matcher)


def _matched(context: Context) -> Iterator[tuple[Group, str]]:
    """Groups whose matcher is a text that counts."""
    for group in context.groups:
        matcher = group.matcher
        if matcher is not None and matcher.text and group.event.key not in profiles.UNMATCHED_EVENTS:
            yield group, matcher.text


def _tool_groups(context: Context) -> Iterator[tuple[Group, str]]:
    for group, text in _matched(context):
        if group.event.key in profiles.TOOL_EVENTS and text not in _EVERYTHING:
            yield group, text


def _plain(text: str) -> bool:
    """Whether somebody wrote a list of names, whatever stands between them."""
    return names_of(text) is not None


@rule(
    id="matcher-permission-rule",
    severity="error",
    title="A permission rule stands in the matcher",
    consequence="never runs",
    remedy='Write the tool\'s name alone into "matcher" and the rule into "if" of the handler.',
    source="seed 001, Design Rules 2; observed on 2.1.178 and 2.1.332",
    bad=(_sample("PreToolUse", "Bash(npm publish *)"), _sample("PostToolUse", "Write(docs/**)")),
    good=(_sample("PreToolUse", "Bash"), _sample("PreToolUse", "(Edit|Write)"), _sample("PreToolUse", "Notebook(Edit|Read)")),
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
    bad=(_sample("PreToolUse", "(Bash|Write"), _sample("PreToolUse", "*Write"), _sample("PreToolUse", "(?i)write")),
    good=(_sample("PreToolUse", "^(Bash|Write)$"), _sample("PreToolUse", "*"), _sample("PostToolUse", "Note.+")),
)
def _check_regex(context: Context) -> Iterator[Found]:
    for group, text in _matched(context):
        if text in _EVERYTHING or _plain(text) or group.matcher is None:
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
        _sample("PreToolUse", "write"),
        _sample("PreToolUse", "Bash|Edti"),
        _sample("PreToolUse", "apply_patch"),
        _sample("PostToolUse", "^(bash|read)$"),
    ),
    good=(
        _sample("PreToolUse", "Write|Edit|MultiEdit"),
        _sample("PreToolUse", "mcp__db__query"),
        _sample("PreToolUse", "Note.*"),
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
        return f'"{name}" is a tool no more; {RETIRED[name]} does that now', True
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
    if re.search(r"mcp_(?![_\\\\])", text):
        yield context.at(
            group.matcher, f'"{text}" matches no tool; those of a server are called mcp__SERVER__TOOL, with two underscores each'
        )
        return
    if "mcp" in text or "__" in text or any(pattern.search(name) for name in (*TOOLS, *_MCP_POOL, "mcp__github__create_issue")):
        return
    folded = re.compile(pattern.pattern, re.I)
    meant = sorted(name for name in TOOLS if folded.search(name))
    if not meant and text not in _EVERYTHING and not any(c in text for c in _NOT_IN_NAMES):
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
        _sample("PreToolUse", "Bash Write"),
        _sample("PreToolUse", "Write;Edit"),
        _sample("PreToolUse", "/Bash/"),
        _sample("PreToolUse", "\\u0412ash"),
        _sample("PreToolUse", "!Bash"),
        _sample("PreToolUse", "|"),
    ),
    good=(
        _sample("PreToolUse", "Bash|"),
        _sample("PreToolUse", "create|delete.*"),
        _sample("UserPromptExpansion", "veröffentlichen"),
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
            wrong = next(c for c in text if c in _NOT_IN_NAMES)
            yield context.at(group.matcher, f'"{wrong}" in "{text}" is taken literally, and no tool has it in its name')


@rule(
    id="matcher-mcp-without-tool",
    severity="error",
    title="The matcher names an MCP server and no tool",
    consequence="never runs",
    remedy="Write mcp__SERVER__.* for all tools of a server, or the tool's whole name.",
    source="observed on 2.1.178 and 2.1.332; public report B085",
    bad=(_sample("PreToolUse", "mcp__slack"), _sample("PreToolUse", "Bash|mcp__db__"), _sample("PostToolUse", "mcp__my-server")),
    good=(_sample("PreToolUse", "mcp__slack__.*"), _sample("PreToolUse", "mcp__slack__post"), _sample("PreToolUse", "mcp__.*")),
)
def _check_mcp(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        for name in names_of(text) or ():
            if group.matcher is not None and re.fullmatch(r"mcp|mcp_+|mcp__(?:(?!__).)+(?:__)?", name):
                yield context.at(
                    group.matcher,
                    f'"{name}" is compared whole with the name of the tool, mcp__SERVER__TOOL, and matches none',
                    remedy=f"Write {name.rstrip('_')}__.* for all tools.",
                )


@rule(
    id="matcher-matches-everything",
    severity="warning",
    title="The matcher matches every tool by accident",
    consequence="runs for everything",
    remedy='A matcher with other signs than letters, digits, "_" and "|" is a regular expression, found anywhere in '
    'the name: write "Bash" or "^Bash$".',
    source="observed on 2.1.178 and 2.1.332",
    bad=(_sample("PreToolUse", "W*"), _sample("PreToolUse", "^Write$|"), _sample("PreToolUse", "(Bash|)")),
    good=(_sample("PreToolUse", ".*"), _sample("PreToolUse", "*"), _sample("PreToolUse", "Web.*")),
)
def _check_everything(context: Context) -> Iterator[Found]:
    for group, text in _tool_groups(context):
        if group.matcher is None or not re.search("[A-Za-z]", re.sub(r"\\.", "", text)):
            continue
        if not LIST_178.match(text) and _plain(text):
            if not re.search(r"\|\s*\||[|]\s*\Z|\A\s*[|]", text):
                continue
            yield context.at(
                group.matcher,
                f'"{text}" has an empty alternative; up to 2.1.190 it is a regular expression because of the blanks '
                f"and matches every tool",
                remedy='Write the names with a single "|" and no blanks.',
            )
            continue
        if _plain(text):
            continue
        if re.fullmatch(r"\[[A-Za-z]{2,}(?:[,| ]+[A-Za-z]{2,})+\]", text):
            yield context.at(group.matcher, f'"{text}" is a class of single letters: every name that holds one of them matches')
            continue
        if re.search(r"[A-Za-z]\*", text) and "__" not in text and not re.search(r"[.)\]]\*", text):
            pattern_ = pattern_of(text)
            if not isinstance(pattern_, str) and not all(pattern_.search(name) for name in _PROBES):
                yield context.at(
                    group.matcher, f'in "{text}" the star repeats the letter before it; it is no glob', severity="info"
                )
        pattern = pattern_of(text)
        if (
            not isinstance(pattern, str)
            and pattern.pattern
            and not re.search(r"\(\?!", text)
            and all(pattern.search(name) for name in _PROBES)
        ):
            yield context.at(group.matcher, f'"{text}" is a regular expression that matches the name of every tool')


@rule(
    id="matcher-version-dependent",
    severity="warning",
    title="The matcher means something else in another version",
    consequence="not portable",
    remedy='Join names with "|" and no blanks: that is a list in every version.',
    source="public report B087; observed: 2.1.178 matches nothing, 2.1.332 takes it as a list",
    versions="commas and blanks are separators from 2.1.191 on, hyphens belong to names from 2.1.195 on",
    bad=(_sample("PreToolUse", "Write,Edit"), _sample("PostToolUse", "Bash | Edit"), _sample("PreToolUse", " Bash ")),
    good=(_sample("PreToolUse", "Write|Edit"), _sample("SubagentStop", "code-reviewer")),
)
def _check_version(context: Context) -> Iterator[Found]:
    for group, text in _matched(context):
        if group.matcher is None or LIST_178.match(text) or not _plain(text):
            continue
        named = names_of(text) or []
        if re.search(r"\|\s*\|", text) or (any(" " in name for name in named)):
            continue
        if "," in text or " " in text:
            what = "never matches" if not context.profile.at_least(2, 1, 191) else "never matches before 2.1.191"
            grave = None if context.profile.at_least(2, 1, 191) else "never runs"
            severe: Severity | None = None if context.profile.at_least(2, 1, 191) else "error"
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


@rule(
    id="matcher-unknown-value",
    severity="error",
    title="The matcher names a value that the event never has",
    consequence="never runs",
    remedy="Write one of the values that the event is raised with, or leave the matcher out.",
    source="seed 001, Contract; observed on 2.1.178 and 2.1.332",
    bad=(
        _sample("SessionStart", "begin"),
        _sample("SessionStart", "Write|Edit"),
        _sample("PreCompact", "forced"),
        _sample("UserPromptExpansion", "/release"),
    ),
    good=(_sample("SessionStart", "startup|clear"), _sample("PreCompact", "man.*"), _sample("UserPromptExpansion", "release")),
)
def _check_value(context: Context) -> Iterator[Found]:
    for group, text in _matched(context):
        event = group.event.key
        if group.matcher is None or text in _EVERYTHING:
            continue
        if event == "UserPromptExpansion" and text.startswith("/"):
            yield context.at(
                group.matcher, f'"{text}" begins with a slash; the matcher is compared with the bare name of the command'
            )
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
    bad=(_sample("Stop", "Edit"), _sample("UserPromptSubmit", "release")),
    good=(_sample("Stop", ""), _sample("Stop", "*"), _sample("UserPromptSubmit", ".*")),
)
def _check_ignored(context: Context) -> Iterator[Found]:
    for group in context.groups:
        matcher = group.matcher
        if matcher is None or group.event.key not in profiles.UNMATCHED_EVENTS:
            continue
        if matcher.text is not None and matcher.text not in _EVERYTHING:
            yield context.at(
                matcher, f'{group.event.key} ignores its matcher: the handler runs every time, not only for "{matcher.text}"'
            )


@rule(
    id="matcher-catastrophic",
    severity="warning",
    title="The matcher can take exponential time",
    consequence="not portable",
    remedy="Take the inner or the outer repetition away.",
    source="observed: harmless in the engine of 2.1.178 and 2.1.332, exponential in backtracking engines",
    bad=(_sample("PreToolUse", "^(mcp__(\\\\w+)*)+$"), _sample("PreToolUse", "(W+)+rite")),
    good=(_sample("PreToolUse", "mcp__(git|db)__.*"), _sample("PreToolUse", "^(Edit|Write)+$")),
)
def _check_catastrophic(context: Context) -> Iterator[Found]:
    for group, text in _matched(context):
        if group.matcher is not None and "(" in text and repeats_a_repetition(text):
            yield context.at(group.matcher, f'"{text}" repeats a repetition: a long name can take exponential time')
