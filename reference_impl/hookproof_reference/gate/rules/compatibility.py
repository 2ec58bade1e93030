"""A type of handler stands at an event that does not run it."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context, Handler
from ..finding import Found, Severity
from ..profiles import EVENTS_332, MODEL_EVENTS_3, MODEL_EVENTS_13, START_EVENTS
from ..rule import CLAUDE, Example, rule

_KNOWN = frozenset(EVENTS_332)
_WIDE = frozenset(MODEL_EVENTS_13)
_PROMPT = '{"type": "prompt", "prompt": "Is it safe? $ARGUMENTS", "timeout": 20}'
_AGENT = '{"type": "agent", "prompt": "Is it safe? $ARGUMENTS", "timeout": 20}'
_HTTP = '{"type": "http", "url": "https://hooks.example.com/x", "timeout": 5}'
_MCP = '{"type": "mcp_tool", "server": "audit", "tool": "record", "timeout": 5}'
_COMMAND = '{"type": "command", "command": "date", "timeout": 5}'
_START_SOURCE = (
    "observed: never runs in print mode (no MCP client context); documentation and 001: it is listed as supported (contested)"
)


def _file(event: str, *handlers: str) -> str:
    return f'{{"hooks": {{"{event}": [{{"hooks": [{", ".join(handlers)}]}}]}}}}'


@rule(
    id="type-not-at-event",
    severity="error",
    title="This event does not run handlers of this type",
    consequence="never runs",
    remedy="Use a command handler there, or an event that has this type.",
    source="documentation (the table of events and types); 001, handler/event compatibility; observed",
    bad=(
        *(_file(event, _HTTP) for event in sorted(START_EVENTS)),
        *(
            _file(event, _PROMPT, _COMMAND)
            for event in ("SessionStart", "Setup", "Notification", "SessionEnd", "PreCompact", "SubagentStart")
        ),
        *(_file(event, _AGENT, _COMMAND) for event in ("SessionStart", "ConfigChange", "WorktreeCreate", "StopFailure")),
        Example(_file("Notification", _AGENT), profile="documented-13"),
    ),
    good=(
        *(_file(event, _COMMAND) for event in EVENTS_332),
        *(_file(event, _HTTP) for event in EVENTS_332 if event not in START_EVENTS),
        *(Example(_file(event, _PROMPT, _COMMAND), profile="documented-13") for event in sorted(_WIDE)),
    ),
)
def check_matrix(context: Context) -> Iterator[Found]:
    """http at the start, prompt and agent wherever no rule allows them."""
    for handler in context.handlers:
        if handler.event not in _KNOWN:
            continue
        if handler.type == "http" and handler.event in START_EVENTS:
            yield context.at(handler.key("type"), f"an http handler is skipped in silence at {handler.event}")
        elif handler.type in ("prompt", "agent") and handler.event not in _WIDE:
            message = f"{handler.event} runs no {handler.type} handlers: neither the rule of 3 events nor that of 13 has it"
            yield context.at(handler.key("type"), message)


@rule(
    id="model-handler-narrow",
    severity="info",
    title="By the conservative rule prompt and agent handlers stand at three events only",
    consequence="unclear",
    remedy="Confirm in your version that it fires, or use a command handler; --compat documented-13 accepts it.",
    source="001, source discrepancy: 3 events against 13; observed: prompt handlers work on Stop and UserPromptSubmit, too",
    bad=(
        _file("Stop", _PROMPT),
        Example(_file("Stop", _PROMPT), profile="conservative-3"),
        Example(_file("UserPromptSubmit", _AGENT), profile="conservative-3"),
        Example(_file("SubagentStop", _AGENT), profile="hook-engineering"),
    ),
    good=(
        *(_file(event, _PROMPT, _COMMAND) for event in sorted(MODEL_EVENTS_3)),
        *(Example(_file(event, _PROMPT, _COMMAND), profile="documented-13") for event in sorted(_WIDE)),
    ),
    profiles=CLAUDE,
)
def check_narrow(context: Context) -> Iterator[Found]:
    """Where nobody chose a rule, both are named and the finding is no alarm; where somebody did, it is an error."""
    profile = context.profile
    if profile.compatibility != "conservative-3":
        return
    strict = profile.chosen
    for handler in context.handlers:
        if handler.type in ("prompt", "agent") and handler.event in _WIDE and handler.event not in MODEL_EVENTS_3:
            message = (
                f"a {handler.type} handler at {handler.event}: the rule of 3 events (conservative-3) refuses it, "
                "that of 13 (documented-13) accepts it"
            )
            if profile.critical:
                message = f"silent bomb: {message}"
            yield context.at(
                handler.key("type"),
                message,
                severity="error" if strict else None,
                consequence="gate refuses" if profile.critical else "never runs" if strict else None,
            )


@rule(
    id="mcp-at-start",
    severity="warning",
    title="An mcp_tool handler at the start of a session has no server to talk to",
    consequence="never runs",
    remedy="Use a command handler, or put one beside it to fall back to.",
    source=_START_SOURCE,
    bad=(_file("SessionStart", _MCP), _file("Setup", _MCP)),
    good=(_file("SessionStart", _MCP, _COMMAND), _file("PostToolUse", _MCP), _file("UserPromptSubmit", _MCP)),
)
def check_mcp_start(context: Context) -> Iterator[Found]:
    """With a command handler at the same event it is only worth knowing."""
    commands = {handler.event for handler in context.handlers if handler.type == "command"}
    for handler in context.handlers:
        if handler.type == "mcp_tool" and handler.event in START_EVENTS:
            fallback = handler.event in commands
            yield context.at(
                handler.key("type"),
                f"at {handler.event} no server is connected yet, and the handler fails without stopping anything"
                + ("; the command handler beside it runs" if fallback else "; nothing stands in for it"),
                severity="info" if fallback else None,
            )


@rule(
    id="mcp-at-end",
    severity="warning",
    title="An mcp_tool handler at the end of a session finds its server closed",
    consequence="never runs",
    remedy="Use a command handler, or record at Stop.",
    source='observed at 2.1.178 and 2.1.332: "MCP server is not connected" (servers are closed first)',
    bad=_file("SessionEnd", _MCP),
    good=(_file("SessionEnd", _COMMAND), _file("Stop", _MCP), _file("SessionEnd", _MCP, _COMMAND)),
    profiles=("claude-code",),
)
def check_mcp_end(context: Context) -> Iterator[Found]:
    """Documented, and never seen to work; with a command handler beside it, or a rule that was chosen, only worth knowing."""
    commands = {handler.event for handler in context.handlers if handler.type == "command"}
    for handler in context.handlers:
        if handler.type == "mcp_tool" and handler.event == "SessionEnd":
            mild = context.profile.chosen or "SessionEnd" in commands
            message = "at SessionEnd the MCP servers are closed before the handlers run"
            yield context.at(handler.key("type"), message, severity="info" if mild else None)


@rule(
    id="agent-at-permission",
    severity="warning",
    title="An agent handler at PermissionRequest is not run",
    consequence="never runs",
    remedy="Use a command handler, or put the agent at PreToolUse.",
    source='observed at 2.1.332: "agent-type hooks are not supported for PermissionRequest events"; the document lists it',
    bad=_file("PermissionRequest", _AGENT, _COMMAND),
    good=(_file("PermissionRequest", _COMMAND), Example(_file("PermissionRequest", _AGENT, _COMMAND), profile="documented-13")),
    profiles=("claude-code",),
)
def check_agent_permission(context: Context) -> Iterator[Found]:
    """The two compatibility rules accept it, so under them it is only worth knowing."""
    for handler in context.handlers:
        if _is_agent_at_permission(handler):
            severity: Severity | None = "info" if context.profile.chosen else None
            yield context.at(handler.key("type"), "PermissionRequest runs no agent handlers (2.1.332)", severity=severity)


def _is_agent_at_permission(handler: Handler) -> bool:
    return handler.type == "agent" and handler.event == "PermissionRequest"


@rule(
    id="field-not-in-version",
    severity="warning",
    title="The version does not know this field",
    consequence="value ignored",
    remedy="Judge against a version that has it, or do without it: end the guard with 2 on every failure.",
    source="observed: 2.1.332 has onFailure, 2.1.178 ignores it",
    versions="up to 2.1.178",
    bad=Example(
        _file("PreToolUse", '{"type": "command", "command": "date", "onFailure": "block", "timeout": 9}'),
        profile="claude-code@2.1.178",
    ),
    good=_file("PreToolUse", '{"type": "command", "command": "date", "onFailure": "block", "timeout": 9}'),
    profiles=("claude-code",),
)
def check_version(context: Context) -> Iterator[Found]:
    """What fails opens there all the same."""
    for handler in context.known_handlers if not context.profile.at_least(2, 1, 179) else ():
        member = handler.node.member("onFailure")
        if member is not None:
            yield context.at(member, "onFailure is not read by 2.1.178: a handler that fails lets the call pass")
