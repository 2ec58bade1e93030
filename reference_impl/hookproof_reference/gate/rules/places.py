"""Paths and values in commands that are put together so that they lead elsewhere, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..document import Node
from ..finding import Found
from ..launch import launches
from ..pattern import pattern
from ..rule import rule

_ENV_FILE_EVENTS = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})


def _matcher(event: str) -> str:
    return "startup" if event == "SessionStart" else "Edit|Write"


def _command(text: str, more: str = "", event: str = "PreToolUse") -> str:
    handler = f'{{"type":"command","command":"{text}"{more},"timeout":9}}'
    return f'{{"hooks":{{"{event}":[{{"matcher":"{_matcher(event)}","hooks":[{handler}]}}]}}}}'


def _texts(context: Context) -> Iterator[tuple[Node, str, bool, str]]:
    """Each command and each argument: its place, its text, whether a shell reads it, and the event."""
    for launch in launches(context):
        command, args = launch.handler.get("command"), launch.handler.get("args")
        for node in [*([command] if command is not None else []), *(args.items if args is not None else [])]:
            if node.text and ("$" in node.text or "~" in node.text):
                yield node, node.text, launch.shell and launch.handler.text("shell") != "powershell", launch.handler.event


_COMPOSED: tuple[tuple[re.Pattern[str], str], ...] = (
    (pattern(r"\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)(?![\w}:%#/])"), "the brace is not closed"),
    (
        pattern(r"(\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\}?)[\"']?/?[\"']?\1"),
        "the folder is put in twice, one inside of the other",
    ),
    (
        pattern(r"\$(?:\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\}|CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\b)[\"']?\.claude\b"),
        "no slash stands between the folder and .claude",
    ),
    (
        pattern(r"\$(?:\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\})[\"']?(?:scripts|hooks|bin|src|tools)/"),
        "no slash follows the folder",
    ),
)
_QUOTED_TILDE = pattern(r"(?:\A|[\s;|&])[\"']~/")
_POWERSHELL = pattern(r"\$env:\w+", re.I)


@rule(
    id="path-composed",
    severity="error",
    title="The path is put together wrongly",
    consequence="cannot start",
    remedy='Write "$CLAUDE_PROJECT_DIR"/.claude/hooks/NAME.',
    source="the syntax of sh; observed: a handler that does not start lets the call pass",
    bad=(
        _command('\\"$CLAUDE_PROJECT_DIR\\".claude/hooks/record.sh'),
        _command('\\"${CLAUDE_PROJECT_DIR\\"/.claude/hooks/record.sh'),
        _command('\\"$CLAUDE_PROJECT_DIR\\"/\\"$CLAUDE_PROJECT_DIR\\"/record.sh'),
        _command('\\"~/.claude/hooks/record.sh\\"'),
        _command("node $env:CLAUDE_PROJECT_DIR/record.js"),
    ),
    good=(
        _command('\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/record.sh'),
        _command("~/.claude/hooks/record.sh"),
        _command('cp \\"$CLAUDE_PROJECT_DIR\\"/a \\"$CLAUDE_PROJECT_DIR\\"/b'),
    ),
)
def check_composed(context: Context) -> Iterator[Found]:
    """A brace left open, a slash left out, a quoted tilde, the words of another shell."""
    for node, text, shell, _ in _texts(context):
        for wrong, what in _COMPOSED:
            if wrong.search(text) is not None:
                yield context.at(node, f"{what}: the handler does not start")
                break
        else:
            if shell and _QUOTED_TILDE.search(text) is not None:
                yield context.at(node, "a tilde stays literal in quotes: the handler does not start")
            elif shell and (other := _POWERSHELL.search(text)) is not None:
                yield context.at(node, f'"{other[0]}" is of PowerShell; hooks are run by sh, where it is ${other[0][5:]}')


@rule(
    id="variable-of-another-agent",
    severity="error",
    title="The variable is one of another agent",
    consequence="cannot start",
    remedy='Write "$CLAUDE_PROJECT_DIR".',
    source="observed: nobody sets it here, and the path begins at the root of the file system",
    bad=(_command('\\"$GEMINI_PROJECT_DIR\\"/hooks/record.sh'), _command("${CURSOR_PROJECT_DIR}/record.sh", ',"args":[]')),
    good=_command('\\"$CLAUDE_PROJECT_DIR\\"/hooks/record.sh'),
)
def check_agent(context: Context) -> Iterator[Found]:
    """What somebody brought along who came from there."""
    for node, text, _, _ in _texts(context):
        other = re.search(
            r"\$\{?((?:GEMINI|QWEN|CURSOR|CODEX|COPILOT|WINDSURF|KIRO|ZEROSTACK|LECODE)_(?:PROJECT|WORKSPACE)_?\w*)", text
        )
        if other is not None and f"{other[1]}=" not in text:
            yield context.at(node, f"nobody sets {other[1]} here")


@rule(
    id="path-working-directory",
    severity="warning",
    title="The path begins in the working directory",
    consequence="cannot start",
    remedy='Write "$CLAUDE_PROJECT_DIR" for $PWD, and quote a command that gives the folder.',
    source="public report B121; observed: the working directory of hooks follows a cd of the model",
    bad=(_command('\\"$PWD\\"/.claude/hooks/record.sh'), _command("$(git rev-parse --show-toplevel)/.claude/hooks/record.sh")),
    good=(_command('\\"$(git rev-parse --show-toplevel)\\"/.claude/hooks/record.sh'), _command('ls \\"$PWD\\"')),
)
def check_directory(context: Context) -> Iterator[Found]:
    """$PWD and $(pwd); and a folder that a command gives, without quotes."""
    for node, text, shell, _ in _texts(context):
        here = re.search(r"(\$\{?PWD\}?|\$\(pwd\))[\"']?/(?:\.claude|scripts|hooks|tools)/", text)
        bare = re.search(r"(?:\A|\s)\$\(git rev-parse [^)]*\)/", text)
        if here is not None and not re.match(r"cd\s+[\"']?\$\{?CLAUDE", text):
            yield context.at(node, f"{here[1]} is the working directory, which is not always the project")
        elif shell and bare is not None:
            yield context.at(node, f"{bare[0].strip()} is not quoted: with a blank in that path the handler does not start")


@rule(
    id="path-personal",
    severity="warning",
    title="The path is a place below somebody's home folder",
    consequence="not portable",
    remedy="Begin the path with ${CLAUDE_PROJECT_DIR} (or ${CLAUDE_PLUGIN_ROOT} in a plugin).",
    source="seed 001, Anti-Patterns and Design Rules 5",
    kinds=("settings", "plugin-hooks"),
    bad=(
        _command("~/work/shop/.claude/hooks/record.sh"),
        _command('\\"$HOME\\"/src/shop/.claude/hooks/record.sh'),
        _command("~/.claude/plugins/cache/notes/1.0.0/record.sh"),
    ),
    good=(_command("~/.claude/hooks/record.sh"), _command('\\"$HOME\\"/.local/bin/record')),
)
def check_personal(context: Context) -> Iterator[Found]:
    """A checkout, or the cache of plugins."""
    for node, text, _, _ in _texts(context):
        checkout = re.search(r"(?:~|\$\{?HOME\}?)[\"']?/(?!\.claude)[^\s\"';|&]+/\.claude/", text)
        cache = re.search(r"\.claude/plugins/(?:cache|marketplaces|repos)/", text)
        if checkout is not None:
            yield context.at(node, f'"{checkout[0]}" is one person\'s checkout; elsewhere the handler does not start')
        elif cache is not None:
            yield context.at(node, f'"{cache[0]}" is where one version of a plugin was put; the next one lies elsewhere')


@rule(
    id="env-file-not-set",
    severity="error",
    title="CLAUDE_ENV_FILE is not set at this event",
    consequence="value ignored",
    remedy="Write to it at SessionStart, Setup, CwdChanged or FileChanged.",
    source="seed 003, environment; observed on 2.1.178 and 2.1.332",
    bad=_command('echo export A=1 >> \\"$CLAUDE_ENV_FILE\\"'),
    good=_command('echo export A=1 >> \\"$CLAUDE_ENV_FILE\\"', event="SessionStart"),
)
def check_env_file(context: Context) -> Iterator[Found]:
    """An empty name is no file, and the shell ends with an error."""
    for node, text, _, event in _texts(context):
        used = event in profiles.EVENTS_332 and event not in _ENV_FILE_EVENTS and "CLAUDE_ENV_FILE" in text
        if used and re.search(r"\$\{?CLAUDE_ENV_FILE\b(?!:)", text) and not re.search(r"-n\s+[\"']?\$\{?CLAUDE_ENV", text):
            yield context.at(node, f"CLAUDE_ENV_FILE is not set at {event}: nothing is kept")


@rule(
    id="token-in-command",
    severity="error",
    title="A token of MCP input stands in a command",
    consequence="value empty",
    remedy="Read the value from the JSON on stdin: jq -r .tool_input.file_path.",
    source="observed: tokens are replaced in the input of mcp_tool handlers only; in a shell it is a bad substitution",
    bad=(_command("prettier --write ${tool_input.file_path}"), _command("prettier", ',"args":["${tool_input.file_path}"]')),
    good=(_command("jq -r .tool_input.file_path"), _command('f=${tool_input:-}; echo \\"$f\\"')),
)
def check_token(context: Context) -> Iterator[Found]:
    """`${tool_input.x}`, `{{tool_input.x}}`."""
    for launch in launches(context):
        command, args = launch.handler.get("command"), launch.handler.get("args")
        for node in [*([command] if command is not None else []), *(args.items if args is not None else [])]:
            token = re.search(
                r"\$\{(?:tool_input|tool_response|tool_name|hook_event_name|session_id)(?:\.\w+)+\}|\{\{\s*tool_\w+[^}]*\}\}",
                node.text or "",
            )
            if token is not None:
                refuses = launch.shell and token[0].startswith("$")
                yield context.at(
                    node,
                    f"{token[0]} is replaced in the input of mcp_tool handlers only"
                    + ("; here the shell ends with 2" if refuses else "; here it stays as it is"),
                    consequence="every call refused" if refuses and launch.handler.event in profiles.BLOCKING_EVENTS else None,
                )
                break
