"""Gemini CLI 0.61.0, to be read only: JSON counts on every exit code and before it, also when it stands on stderr.

Without JSON the exit code decides, and only if there is a text: 0 and 1 pass, all others block. What was
observed contradicts its documentation, by which exit code 2 blocks and any other is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .read_only import NO_JSON, ReadOnly, Rule, Seen, at, denies, javascript_trim, otherwise, says

if TYPE_CHECKING:
    from ..execution import Ran

EVENTS = (
    *("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection"),
    *("SessionStart", "SessionEnd", "PreCompress", "Notification"),
)
HOLDS = frozenset({"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel"})


def _text(ran: Ran) -> str:
    return ran.stdout if javascript_trim(ran.stdout) else ran.stderr


def _reason(seen: Seen) -> str:
    given = seen.body.get("stopReason") or seen.body.get("reason") or "No reason provided"
    return given if isinstance(given, str) else ""


def _asks(seen: Seen) -> bool:
    return seen.event == "BeforeTool" and seen.body.get("decision") == "ask"


RULES = (
    Rule(
        lambda s: s.timed_out, None, "a hook that is too slow is killed, and the call goes on", at("tool", "prompt", "stop"), True
    ),
    Rule(lambda s: s.cannot_start is not None, None, "a hook that cannot start is an error that holds nothing up", failed=True),
    Rule(lambda s: not s.stdout and not s.stderr, None, "without a text nothing is held up, whatever the exit code", at("tool")),
    Rule(
        lambda s: s.event != "AfterAgent" and s.body.get("continue") is False,
        "deny",
        "continue: false ends the run, and the call with it",
        at("tool", "after"),
        reason=_reason,
        note="ends the run",
    ),
    Rule(
        lambda s: s.body.get("continue") is False,
        None,
        "continue: false lets it end, whatever else the JSON says",
        at("stop"),
        note="ends the run",
    ),
    Rule(
        denies,
        "deny",
        'a "decision" of deny or block at the top blocks on any exit code',
        at("tool", "prompt", "stop"),
        reason=_reason,
    ),
    Rule(_asks, "ask", 'a "decision" of ask wants a person; where there is none, the run ends', at("tool"), reason=_reason),
    Rule(
        lambda s: "permissionDecision" in s.own,
        None,
        'permissionDecision is not its word: only a "decision" at the top counts, and JSON beats the exit code',
        at("tool"),
    ),
    Rule(
        lambda s: s.event == "BeforeTool" and isinstance(s.own.get("tool_input"), dict),
        None,
        "hookSpecificOutput.tool_input is laid over the tool's input, on any exit code",
        at("tool"),
        rewrite=lambda s: s.own["tool_input"],
    ),
    Rule(says("decision", "allow", "approve"), "allow", "its JSON says allow, and JSON beats the exit code", at("tool")),
    Rule(
        lambda s: "decision" in s.body,
        None,
        "the decision is none of its words (allow, approve, ask, deny, block, in small letters)",
        at("tool"),
    ),
    Rule(lambda s: s.value is not NO_JSON, None, "its JSON decides nothing, and JSON beats the exit code", at("tool", "prompt")),
    Rule(
        lambda s: s.exit in (0, None),
        None,
        "plain text is a message to the user and decides nothing",
        at("tool", "prompt", "stop"),
    ),
    Rule(lambda s: s.exit == 1, None, "exit code 1 is a warning", at("tool", "prompt", "stop"), True),
    Rule(
        otherwise,
        "deny",
        "exit code {exit} with a text that is no JSON blocks, and the text is the reason",
        at("tool", "prompt", "stop", "after"),
        reason=lambda s: s.stdout or s.stderr,
    ),
)

READERS = {
    "0.61.0": ReadOnly(
        "gemini-cli", "0.61.0", EVENTS, HOLDS, RULES, _text, javascript_trim, plain_is_context=frozenset(), twice=True
    )
}
