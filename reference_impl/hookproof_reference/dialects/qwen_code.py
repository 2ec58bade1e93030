"""Qwen Code 0.24.4, to be read only: exit code 2 counts stderr alone, every other exit code the JSON on stdout.

Several handlers can undo each other's veto there (observed: an allow of one erases the deny of another),
which the reading of one handler does not show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .read_only import NO_JSON, ReadOnly, Rule, Seen, at, denies, javascript_trim, otherwise

if TYPE_CHECKING:
    from ..execution import Ran

EVENTS = (
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"),
    *("SessionStart", "SessionEnd", "SessionDelete", "MessageDisplay", "Stop", "StopFailure", "SubagentStart", "SubagentStop"),
    *("PreCompact", "PostCompact", "Notification", "PermissionRequest", "PermissionDenied", "TodoCreated", "TodoCompleted"),
    "InstructionsLoaded",
)
HOLDS = frozenset(
    {"PreToolUse", "PostToolUse", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "PermissionRequest"}
)


def _text(ran: Ran) -> str:
    if ran.exit == 2:
        return ran.stderr
    return ran.stdout if javascript_trim(ran.stdout) else ran.stderr


def _decision(seen: Seen) -> object:
    """The permission decision before a tool: the specific one where it is one of its words, else the general one."""
    own = seen.own.get("permissionDecision")
    if seen.event == "PreToolUse" and own in ("allow", "deny", "ask"):
        return own
    return {"block": "deny", "approve": "allow"}.get(str(seen.body.get("decision")), seen.body.get("decision"))


def _reason(seen: Seen) -> object:
    own = seen.own.get("permissionDecisionReason") if seen.event == "PreToolUse" else None
    return own if isinstance(own, str) else seen.body.get("reason") or "No reason provided"


def _refused_permission(seen: Seen) -> bool:
    decision = seen.own.get("decision")
    return seen.event == "PermissionRequest" and isinstance(decision, dict) and decision.get("behavior") == "deny"


def _plain(seen: Seen) -> bool:
    return seen.exit == 2 and bool(seen.stderr) and seen.value is NO_JSON


RULES = (
    Rule(lambda s: s.timed_out, None, "a hook that is too slow is killed, and the call goes on", at("tool"), True),
    Rule(lambda s: s.cannot_start is not None, None, "a hook that cannot start is an error that holds nothing up", failed=True),
    Rule(
        lambda s: s.exit == 2 and not s.stderr,
        None,
        "exit code 2 counts only with a text on stderr; stdout is not read then",
        at("tool"),
        True,
    ),
    Rule(
        lambda s: s.event == "PostToolUse" and s.body.get("continue") is not False and (denies(s) or _plain(s)),
        None,
        "what a hook says against a result is dropped: the model is told nothing",
        at("after"),
    ),
    Rule(_plain, "deny", "exit code 2 with a text on stderr blocks", at("tool", "prompt", "stop"), reason=lambda s: s.stderr),
    Rule(
        lambda s: s.event in ("Stop", "SubagentStop") and s.body.get("continue") is False,
        "deny",
        "continue: false at the end is read as a block: it goes on",
        at("stop"),
        reason=lambda s: s.body.get("stopReason"),
    ),
    Rule(
        lambda s: s.body.get("continue") is False,
        "deny",
        "continue: false refuses, and the run goes on",
        at("tool", "after"),
        reason=lambda s: s.body.get("stopReason"),
    ),
    Rule(
        _refused_permission,
        "deny",
        "hookSpecificOutput.decision says deny",
        reason=lambda s: s.own["decision"].get("message"),
    ),
    Rule(
        lambda s: _decision(s) == "deny",
        "deny",
        "its JSON says deny, on any exit code but 2, whatever the event's name in it",
        at("tool", "prompt", "stop"),
        reason=_reason,
    ),
    Rule(
        lambda s: s.event == "PreToolUse" and _decision(s) == "ask",
        "ask",
        "its JSON says ask, which is a deny where nobody can be asked",
        at("tool"),
        reason=_reason,
    ),
    Rule(
        lambda s: "updatedInput" in s.own,
        None,
        "updatedInput is never applied: the call goes on with what it had",
        at("tool"),
    ),
    Rule(lambda s: _decision(s) == "allow", "allow", "its JSON says allow", at("tool")),
    Rule(
        lambda s: "decision" in s.body or "permissionDecision" in s.own,
        None,
        "the decision is none of its words (allow, approve, ask, deny, block, in small letters)",
        at("tool"),
    ),
    Rule(lambda s: s.value is not NO_JSON, None, "its JSON decides nothing", at("tool", "prompt", "after")),
    Rule(lambda s: s.signal is not None, None, "a hook that is killed by a signal and said nothing passes", at("tool"), True),
    Rule(lambda s: s.exit == 0 and not s.stdout, None, "nothing said: nothing is held up", at("tool", "after")),
    Rule(lambda s: s.exit == 0, None, "plain text is a message and decides nothing", at("tool", "prompt", "stop")),
    Rule(otherwise, None, "exit code {exit} is an error that holds nothing up", at("tool", "prompt", "stop"), True),
)

READERS = {
    "0.24.4": ReadOnly(
        "qwen-code",
        "0.24.4",
        EVENTS,
        HOLDS,
        RULES,
        _text,
        javascript_trim,
        plain_is_context=frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion"}),
        twice=True,
    )
}
