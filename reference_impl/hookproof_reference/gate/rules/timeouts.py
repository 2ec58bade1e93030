"""A time limit is no number of seconds, or not the number that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context, Handler
from ..finding import Found
from ..pattern import pattern
from ..rule import rule

_SOURCE = "observed: the settings schema of 2.1.178 and 2.1.332"
_LONGEST = 2147483
"""Seconds: 2^31 milliseconds."""
_DEFAULT = 600
_WAITED_FOR = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion", "SessionStart"})


def _file(timeout: str, event: str = "PreToolUse") -> str:
    handler = f'{{"type": "command", "command": "date", "timeout": {timeout}}}'
    return f'{{"hooks": {{"{event}": [{{"hooks": [{handler}]}}]}}}}'


_GOOD = tuple(_file(timeout) for timeout in ("5", "0.5", "600", "1e1", "30.0"))


def _numbers(context: Context) -> Iterator[tuple[Handler, float]]:
    for handler in context.handlers:
        node = handler.get("timeout")
        if node is not None and node.kind == "number" and node.value == node.value:
            yield handler, node.value


@rule(
    id="timeout-type",
    severity="error",
    title="The time limit is no number",
    consequence="file dropped",
    remedy="Write a number of seconds, without quotes.",
    source=_SOURCE,
    bad=tuple(_file(value) for value in ('"10"', '"10s"', "null", "true", "[10]", '{"seconds": 10}')),
    good=_GOOD,
)
def check_type(context: Context) -> Iterator[Found]:
    """A string of digits is no number, and null is not the default."""
    for handler in context.handlers:
        node = handler.get("timeout")
        if node is not None and node.kind != "number":
            shown = f'"{str(node.value)[:20]}"' if node.kind == "string" else node.kind
            yield context.at(
                handler.key("timeout"), f"timeout is {shown}, not a number", consequence=context.invalid(handler.event)
            )


@rule(
    id="timeout-not-positive",
    severity="error",
    title="The time limit is zero or less",
    consequence="file dropped",
    remedy="Write a positive number of seconds; leave it out for the default.",
    source=_SOURCE,
    bad=tuple(_file(value) for value in ("0", "-1", "0.0", "-0.5")),
    good=_GOOD,
)
def check_positive(context: Context) -> Iterator[Found]:
    """There is no value for "no limit"."""
    for handler, value in _numbers(context):
        if value <= 0:
            message = f"timeout is {value:g}; it must be more than zero"
            yield context.at(handler.key("timeout"), message, consequence=context.invalid(handler.event))


@rule(
    id="timeout-overflow",
    severity="error",
    title="The time limit is so long that it overflows",
    consequence="never runs",
    remedy="Write the seconds that are really meant; 600 is the default.",
    source="observed: above 2147483 s 2.1.178 cancels the handler at once and the tool runs; 2.1.332 takes the longest it can",
    bad=tuple(_file(value) for value in ("1e12", "2147484", "99999999999999999999")),
    good=_GOOD,
)
def check_overflow(context: Context) -> Iterator[Found]:
    """2^31 milliseconds are the most that fits."""
    for handler, value in _numbers(context):
        if value > _LONGEST:
            old = context.profile.drops_file
            yield context.at(
                handler.key("timeout"),
                f"timeout is {value:.15g} seconds; "
                + ("this version cancels the handler at once" if old else "2.1.178 cancels the handler at once"),
                severity="error" if old else "warning",
                consequence="never runs" if old else "limit ignored",
            )


@rule(
    id="timeout-milliseconds",
    severity="warning",
    title="The time limit looks like milliseconds",
    consequence="limit ignored",
    remedy="Write seconds: 5, not 5000.",
    source="public report B030: 5000 meant as 5 s gives 83 minutes; observed: accepted",
    bad=tuple(_file(value) for value in ("5000", "1000", "60000", "1500", "1e4")),
    good=(*_GOOD, _file("600"), _file("900", "Stop")),
)
def check_milliseconds(context: Context) -> Iterator[Found]:
    """1000 and more, unless it is a number of tens of minutes, which somebody may mean."""
    for handler, value in _numbers(context):
        if 1000 <= value <= _LONGEST and not _deliberate(value):
            in_seconds = f"{value / 1000:g}"
            message = f"timeout is in seconds: {value:g} are {value / 60:.0f} minutes"
            yield context.at(handler.key("timeout"), message, remedy=f"Write {in_seconds} if {in_seconds} seconds are meant.")


def _deliberate(value: float) -> bool:
    """1200, 1800, 3600, 7200: tens of minutes that are no round thousands."""
    return value <= 14400 and value % 600 == 0 and value % 1000 != 0


@rule(
    id="timeout-above-default",
    severity="warning",
    title="The time limit is above the default",
    consequence="limit ignored",
    remedy="Check that a handler may really hold the session up for so long; 600 seconds are the default.",
    source="documentation: 600 s; observed: accepted",
    bad=(_file("900"), _file("1200", "UserPromptSubmit"), _file("300", "UserPromptSubmit")),
    good=(*_GOOD, _file("900", "PostToolUse"), _file("3600", "Stop"), _file("60", "UserPromptSubmit")),
)
def check_default(context: Context) -> Iterator[Found]:
    """An alarm where a call or a person waits for the answer; elsewhere work may take long, and it is only worth knowing."""
    for handler, value in _numbers(context):
        if handler.event == "UserPromptSubmit" and handler.type in _OF_30 and 120 < value <= _DEFAULT:
            yield context.at(
                handler.key("timeout"),
                f"timeout is {value:g} seconds, above the 30 that UserPromptSubmit gives: somebody waits at the prompt",
            )
        elif _DEFAULT < value < 1000 or (value >= 1000 and _deliberate(value)):
            waited_for = handler.event in _WAITED_FOR
            message = f"timeout is {value:g} seconds, above the default of {_DEFAULT}"
            yield context.at(
                handler.key("timeout"),
                message + (f": {handler.event} stands still for so long" if waited_for else ""),
                severity=None if waited_for else "info",
                consequence=None if waited_for else "unclear",
            )


_OF_30 = ("command", "http", "mcp_tool")
"""The types whose default at UserPromptSubmit is 30 s. (observed)"""


@rule(
    id="timeout-tiny",
    severity="warning",
    title="The time limit is so short that starting a program is a race",
    consequence="some calls pass",
    remedy="Give it a second or more.",
    source="observed: with 0.001 the same handler was cancelled in some runs and obeyed in others",
    bad=(_file("0.001"), _file("0.01")),
    good=(*_GOOD, _file("0.1")),
)
def check_tiny(context: Context) -> Iterator[Found]:
    """Half a second is fine."""
    for handler, value in _numbers(context):
        if 0 < value < 0.1:
            yield context.at(
                handler.key("timeout"), f"timeout is {value:g} seconds: whether the handler gets to answer is a matter of luck"
            )


@rule(
    id="timeout-session-end",
    severity="warning",
    title="SessionEnd handlers get no more than a minute",
    consequence="limit ignored",
    remedy="Write 60 or less, and let long work go on in a process of its own.",
    source="documentation: one limit for all SessionEnd handlers, raised to the longest timeout, at most 60 s",
    bad=(_file("120", "SessionEnd"), _file("300", "SessionEnd")),
    good=(_file("60", "SessionEnd"), _file("300", "Stop")),
)
def check_session_end(context: Context) -> Iterator[Found]:
    """They share one limit."""
    for handler, value in _numbers(context):
        if handler.event == "SessionEnd" and 60 < value < 1000:
            yield context.at(handler.key("timeout"), f"timeout is {value:g} seconds; SessionEnd ends after 60")


def _at_end(command: str, more: str = "") -> str:
    return f'{{"hooks": {{"SessionEnd": [{{"hooks": [{{"type": "command", "command": "{command}"{more}}}]}}]}}}}'


@rule(
    id="timeout-session-end-short",
    severity="warning",
    title="SessionEnd gives slow work no time",
    consequence="cannot start",
    remedy='Give the handler a timeout, such as "timeout": 30: it raises the limit that all SessionEnd handlers share.',
    source="observed on 2.1.178 and 2.1.332: without a timeout handlers are cancelled after 1.5 seconds",
    bad=(_at_end("npm run report"), _at_end("pytest -q > report.txt")),
    good=(_at_end("npm run report", ', "timeout": 30'), _at_end("date >> sessions.log")),
)
def check_session_end_short(context: Context) -> Iterator[Found]:
    """Only programs that hardly ever end in time."""
    if any(handler.event == "SessionEnd" for handler, _ in _numbers(context)):
        return
    for handler in context.handlers:
        if handler.event == "SessionEnd" and handler.type == "command" and handler.get("timeout") is None:
            slow = _SLOW.match(handler.text("command") or "")
            if slow is not None and not (handler.text("command") or "").rstrip().endswith("&"):
                yield context.at(handler.key("command"), f"{slow[1]} has 1.5 seconds here, and is cancelled then")


_SLOW = pattern(
    r"\s*(?:cd [^;&|]*(?:&&|;)\s*)?((?:npm|pnpm|yarn|bun)(?:\s+run)?|npx|pytest|make|cargo|go (?:test|build)|mvn|gradle|docker|"
    r"tox|claude)\b"
)


_CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


@rule(
    id="stop-cap-off",
    severity="warning",
    title="Nothing ends a Stop handler that always blocks",
    consequence="runs too often",
    remedy="Leave the limit at its 8, or write a number above 0.",
    source="observed on 2.1.178 and 2.1.332: with 0 or less there is no limit",
    kinds=("settings", "local", "managed"),
    bad=(f'{{"env": {{"{_CAP}": "0"}}}}', f'{{"env": {{"{_CAP}": "-1"}}}}'),
    good=(f'{{"env": {{"{_CAP}": "3"}}}}', "{}"),
)
def check_cap(context: Context) -> Iterator[Found]:
    """The variable may stand in the settings' own environment."""
    env = context.root.get("env") if context.root is not None else None
    node = env.get(_CAP) if env is not None else None
    if node is not None and re.fullmatch(r"\s*(?:-\s*\d+|0+)(?:\.\d*)?\s*", node.text or str(node.value)):
        yield context.at(node, f"{_CAP} is {node.text or node.value}: the agent can be sent back for ever")


@rule(
    id="timeout-missing",
    severity="info",
    title="A guard has no time limit of its own",
    consequence="unclear",
    remedy='Give it one, such as "timeout": 10: a guard that hangs holds the call for ten minutes and then lets it pass.',
    source="documentation: 600 s by default; observed: a handler that times out is no decision",
    bad='{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "date"}]}]}}',
    good=_GOOD,
)
def check_missing(context: Context) -> Iterator[Found]:
    """Command and http handlers of PreToolUse and PermissionRequest."""
    for handler in context.handlers:
        if (
            handler.event in ("PreToolUse", "PermissionRequest")
            and handler.type in ("command", "http")
            and "timeout" not in handler.node.value
        ):
            yield context.at(handler.node, "a guard without a timeout waits up to 600 seconds and then lets the call pass")
