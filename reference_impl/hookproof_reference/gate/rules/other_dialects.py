"""Settings of lecode, Codex, Gemini CLI and Qwen Code, as far as their forms are known."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..near import folded, suggestion
from ..rule import Example, rule

_LECODE = ("lecode",)
_TOML = ("lecode",)
_AT_TOML = ".lecode/config.toml"
_KINDS = ("settings", "plugin-hooks", "codex", "gemini", "qwen")
_TO_GEMINI = {
    "PreToolUse": "BeforeTool", "PostToolUse": "AfterTool", "UserPromptSubmit": "BeforeAgent", "Stop": "AfterAgent",
    "PreCompact": "PreCompress",
}  # fmt: skip


def _lecode(text: str) -> Example:
    return Example(text, at=_AT_TOML, profile="lecode")


def _file(event: str, fields: str, profile: str) -> Example:
    return Example(f'{{"hooks": {{"{event}": [{{"hooks": [{{{fields}}}]}}]}}}}', profile=profile)


_LECODE_GOOD = _lecode('[hooks]\nPreToolUse = ["./guard.sh", "./second.sh"]\nStop = []\n')
_OTHERS_GOOD = (
    _file("PreToolUse", '"type": "command", "command": "date", "timeout": 5', "codex"),
    _file("BeforeTool", '"type": "command", "command": "date", "timeout": 5000', "gemini-cli"),
    _file("PreToolUse", '"type": "command", "command": "date", "timeout": 5', "qwen-code"),
)


@rule(
    id="lecode-no-toml",
    severity="error",
    title="The configuration is no TOML",
    consequence="file dropped",
    remedy="Mend the place named.",
    source="002, Configuration; TOML 1.0",
    bad=(_lecode("[hooks\n"), _lecode("[hooks]\nStop = [./x.sh]\n"), _lecode('[hooks]\nStop = ["a"]\nStop = ["b"]\n')),
    good=_LECODE_GOOD,
    profiles=_LECODE,
    kinds=_TOML,
    torn=True,
)
def check_toml(context: Context) -> Iterator[Found]:
    """The reader names one place."""
    for damage in context.document.damage:
        if damage.harm in ("torn", "too-deep"):
            yield Found(damage.start, damage.end, "", f"no TOML: {damage.what}")


@rule(
    id="lecode-event-unknown",
    severity="error",
    title="lecode has no event of that name",
    consequence="never runs",
    remedy="Use one of its 15 names; they are case-sensitive.",
    source="002, Events; observed: it is warned of and left out, the rest is kept",
    bad=(_lecode('[hooks]\npretooluse = ["./x.sh"]\n'), _lecode('[hooks]\nSubagentStop = ["./x.sh"]\n')),
    good=_LECODE_GOOD,
    profiles=_LECODE,
    kinds=_TOML,
)
def check_lecode_events(context: Context) -> Iterator[Found]:
    """Names of Claude Code are not all names of lecode."""
    for event in context.events:
        if event.key not in context.profile.events:
            yield context.at(event, f'unknown event name "{event.key[:60]}"{suggestion(event.key, context.profile.events)}')


@rule(
    id="lecode-no-commands",
    severity="error",
    title="An event is no list of shell commands",
    consequence="event dropped",
    remedy='Write EVENT = ["command", ...] under [hooks].',
    source="002, Configuration; observed: what is no string is left out",
    bad=(
        _lecode('[hooks]\nPreToolUse = "./x.sh"\n'),
        _lecode("[hooks]\nPreToolUse = [5]\n"),
        _lecode('[[hooks.PreToolUse]]\nmatcher = "bash"\ncommand = "./x.sh"\n'),
        _lecode('hooks = ["./x.sh"]\n'),
    ),
    good=_LECODE_GOOD,
    profiles=_LECODE,
    kinds=_TOML,
)
def check_lecode_commands(context: Context) -> Iterator[Found]:
    """Neither a matcher nor a time limit can be said there."""
    hooks = context.root.get("hooks") if context.root is not None else None
    if hooks is not None and hooks.kind != "object":
        yield context.at(hooks, "hooks is no table of events", consequence="never runs")
    for event in context.events:
        if event.key not in context.profile.events:
            continue
        if event.node.kind != "array":
            yield context.at(event, f"{event.key} is no list of commands")
            continue
        for node in event.node.items:
            if node.kind != "string":
                what = "a table; lecode has no matcher and no time limit here" if node.kind == "object" else f"a {node.kind}"
                yield context.at(node, f"an entry of {event.key} is {what}, not a command", consequence="entry dropped")


@rule(
    id="foreign-event",
    severity="error",
    title="This program has no event of that name",
    consequence="never runs",
    remedy="Use one of the program's own names.",
    source="the programs' documents; observed: an unknown event is ignored",
    bad=(
        _file("PreToolUse", '"type": "command", "command": "date"', "gemini-cli"),
        _file("PostToolUseFailure", '"type": "command", "command": "date"', "codex"),
        _file("TaskCreated", '"type": "command", "command": "date"', "qwen-code"),
    ),
    good=_OTHERS_GOOD,
    profiles=("codex", "gemini-cli", "qwen-code"),
    kinds=_KINDS,
)
def check_foreign_events(context: Context) -> Iterator[Found]:
    """Gemini CLI has names of its own for the same moments."""
    known = context.profile.events
    for event in context.events:
        if event.key not in known and event.node.kind == "array":
            meant = _TO_GEMINI.get(event.key) if context.profile.dialect == "gemini-cli" else None
            hint = f'; it is called "{meant}" there' if meant else suggestion(event.key, known)
            yield context.at(event, f'{context.profile.dialect} has no event "{event.key[:60]}"{hint}')


@rule(
    id="foreign-timeout",
    severity="error",
    title="The time limit is not in the unit or the type of this program",
    consequence="limit ignored",
    remedy="Codex: whole seconds; Gemini CLI: milliseconds; Qwen Code: seconds below 1000.",
    source="observed: Codex rejects the whole file, Gemini CLI kills the handler, Qwen Code reads 1000 and more as milliseconds",
    bad=(
        _file("PreToolUse", '"type": "command", "command": "date", "timeout": 0.5', "codex"),
        _file("PreToolUse", '"type": "command", "command": "date", "timeout": -5', "codex"),
        _file("PreToolUse", '"type": "command", "command": "date", "timeout": "5"', "codex"),
        _file("BeforeTool", '"type": "command", "command": "date", "timeout": 5', "gemini-cli"),
        _file("PreToolUse", '"type": "command", "command": "date", "timeout": 5000', "qwen-code"),
    ),
    good=_OTHERS_GOOD,
    profiles=("codex", "gemini-cli", "qwen-code"),
    kinds=_KINDS,
)
def check_foreign_timeouts(context: Context) -> Iterator[Found]:
    """The same 5 is five seconds, or five milliseconds."""
    dialect = context.profile.dialect
    for handler in context.handlers:
        node = handler.get("timeout")
        if node is None or node.value != node.value:
            continue
        number = node.value if node.kind == "number" else None
        place = handler.key("timeout")
        if dialect == "codex":
            if not isinstance(number, int) or number < 0:
                yield context.at(place, "timeout is no whole number of seconds", consequence="file dropped")
        elif number is None:
            yield context.at(place, "timeout is no number; the default is used")
        elif dialect == "gemini-cli" and number < 100:
            yield context.at(
                place, f"timeout is in milliseconds: {number:g} end the handler before it has started", consequence="never runs"
            )
        elif dialect == "qwen-code" and number >= 1000:
            yield context.at(place, f"{number:g} is read as milliseconds", severity="warning")


_TYPES = {"codex": ("command", "mcp_tool"), "gemini-cli": ("command",), "qwen-code": ("command", "http", "prompt")}


@rule(
    id="foreign-type",
    severity="error",
    title="This program does not run handlers of this type",
    consequence="never runs",
    remedy="Use a command handler.",
    source="observed: Codex skips prompt and agent and rejects the whole file for http; Gemini CLI drops all but command",
    bad=(
        _file("PreToolUse", '"type": "http", "url": "https://example.com/"', "codex"),
        _file("PreToolUse", '"type": "prompt", "prompt": "Is it safe?"', "codex"),
        _file("BeforeTool", '"type": "http", "url": "https://example.com/"', "gemini-cli"),
        _file("PreToolUse", '"type": "agent", "prompt": "Is it safe?"', "qwen-code"),
    ),
    good=_OTHERS_GOOD,
    profiles=("codex", "gemini-cli", "qwen-code"),
    kinds=_KINDS,
)
def check_foreign_types(context: Context) -> Iterator[Found]:
    """A guard that is skipped guards nothing."""
    allowed = _TYPES[context.profile.dialect]
    for handler in context.handlers:
        if handler.type is not None and handler.type not in allowed:
            dropped = context.profile.dialect == "codex" and handler.type == "http"
            near = suggestion(handler.type, allowed) if folded(handler.type) != handler.type else ""
            yield context.at(
                handler.key("type"),
                f"{context.profile.dialect} runs no {handler.type[:40]} handlers{near}",
                consequence="file dropped" if dropped else None,
            )
