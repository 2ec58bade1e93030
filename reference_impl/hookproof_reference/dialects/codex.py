"""Codex CLI 0.171.0, to be read only: a well-formed deny with a reason blocks, or exit code 2 with one; all else passes.

Its JSON is strict: an unknown field, an unknown word or a missing event name takes the whole answer with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .read_only import NO_JSON, ReadOnly, Rule, Seen, at, otherwise

if TYPE_CHECKING:
    from ..execution import Ran

EVENTS = (
    *("PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "SessionEnd"),
    *("UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "Interrupt"),
)
HOLDS = frozenset({"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"})
ENDS = frozenset({"Stop", "SubagentStop"})

Form = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _any(value: Any) -> bool:
    return True


def _one_of(*words: str) -> Form:
    return lambda value: value is None or value in words


def _object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


TOP: Mapping[str, Form] = {"continue": _flag, "stopReason": _text, "suppressOutput": _flag, "systemMessage": _text}
DECIDING: Mapping[str, Mapping[str, Form]] = {
    "PreToolUse": {"decision": _one_of("approve", "block"), "reason": _text},
    **{event: {"decision": _one_of("block"), "reason": _text} for event in ("PostToolUse", "UserPromptSubmit", *ENDS)},
}
"""Event -> the fields at the top by which it decides."""
CONTEXT: Mapping[str, Form] = {"additionalContext": _text}
OWN: Mapping[str, Mapping[str, Form]] = {
    "PreToolUse": {
        **CONTEXT,
        "permissionDecision": _one_of("allow", "ask", "deny"),
        "permissionDecisionReason": _text,
        "updatedInput": _any,
    },
    "PermissionRequest": {"decision": _object},
    "PostToolUse": {**CONTEXT, "updatedToolOutput": _any, "updatedMCPToolOutput": _any},
    "UserPromptSubmit": CONTEXT,
    "SessionStart": CONTEXT,
    "SubagentStart": CONTEXT,
}
"""Event -> the fields of its hookSpecificOutput beside the event's name; where none stand here it may have no such object."""


def misfit(seen: Seen) -> bool:
    """Whether its JSON has a field too many, one of a wrong form, or no event name."""
    fields = {**TOP, **DECIDING.get(seen.event, {})}
    if seen.event in OWN:
        fields["hookSpecificOutput"] = _object
    if any(key not in fields or not fields[key](value) for key, value in seen.body.items()):
        return True
    if seen.body.get("hookSpecificOutput") is None:
        return False
    own = OWN[seen.event]
    return seen.own.get("hookEventName") not in EVENTS or any(
        key != "hookEventName" and (key not in own or not own[key](value)) for key, value in seen.own.items()
    )


def _specific(seen: Seen) -> bool:
    """Before a tool the specific fields decide as soon as there is one."""
    return any(seen.own.get(key) is not None for key in ("permissionDecision", "permissionDecisionReason", "updatedInput"))


def _says_no(seen: Seen) -> bool:
    if seen.event == "PermissionRequest":
        return (seen.own.get("decision") or {}).get("behavior") == "deny"
    if seen.event == "PreToolUse" and _specific(seen):
        return bool(seen.own.get("permissionDecision") == "deny")
    return bool(seen.body.get("decision") == "block")


def _reason(seen: Seen) -> str:
    if seen.event == "PermissionRequest":
        given = (seen.own.get("decision") or {}).get("message") or "PermissionRequest hook denied approval"
    elif seen.event == "PreToolUse" and _specific(seen):
        given = seen.own.get("permissionDecisionReason")
    else:
        given = seen.body.get("reason")
    return given.strip() if isinstance(given, str) else ""


def _unsupported(seen: Seen) -> bool:
    """What is known before a tool call and not supported there: the whole answer is dropped."""
    if seen.event not in ("PreToolUse", "PermissionRequest"):
        return False
    stops = seen.body.get("continue") is False or seen.body.get("stopReason") is not None
    if stops or seen.body.get("suppressOutput") is True:
        return True
    if seen.event == "PermissionRequest":
        decision = seen.own.get("decision") or {}
        return decision.get("interrupt") is True or any(
            decision.get(key) is not None for key in ("updatedInput", "updatedPermissions")
        )
    if _specific(seen):
        rewrites = seen.own.get("updatedInput") is not None
        word = seen.own.get("permissionDecision")
        return word == "ask" or rewrites != (word == "allow") or word is None
    return seen.body.get("decision") == "approve" or (seen.body.get("reason") is not None and seen.body.get("decision") is None)


RULES = (
    Rule(
        lambda s: s.cannot_start is not None, None, "a hook that cannot start is a failed hook, and the call goes on", failed=True
    ),
    Rule(
        lambda s: s.timed_out, None, "a hook that is too slow is killed, and the call goes on", at("tool", "prompt", "stop"), True
    ),
    Rule(
        lambda s: s.exit is None,
        None,
        "a hook that is killed by a signal is a failed hook, and the call goes on",
        at("tool"),
        True,
    ),
    Rule(
        lambda s: s.exit == 2 and bool(s.stderr),
        "deny",
        "exit code 2 with a text on stderr blocks",
        (*at("tool", "prompt", "stop", "after"), "PermissionRequest"),
        reason=lambda s: s.stderr,
    ),
    Rule(
        lambda s: s.exit == 2,
        None,
        "exit code 2 without a text on stderr is a failed hook, and the call goes on",
        at("tool"),
        True,
    ),
    Rule(
        lambda s: s.exit != 0,
        None,
        "exit code {exit} is a failed hook, whatever it printed, and the call goes on",
        (*at("tool", "prompt", "stop"), "PermissionRequest"),
        True,
    ),
    Rule(lambda s: not s.stdout, None, "nothing said: nothing is held up", at("tool")),
    Rule(
        lambda s: s.value is NO_JSON and (s.stdout[:1] in "{[" or s.event in ENDS),
        None,
        "its JSON cannot be read: the hook failed, and the call goes on",
        at("tool", "stop"),
        True,
    ),
    Rule(lambda s: s.value is NO_JSON, None, "stdout that is no JSON as a whole decides nothing", at("tool", "prompt")),
    Rule(lambda s: not isinstance(s.value, dict), None, "JSON that is no object decides nothing", at("tool")),
    Rule(
        misfit,
        None,
        "its JSON has a field or a word that is not known there, or no hookEventName: all of it is dropped",
        at("tool"),
        True,
    ),
    Rule(
        lambda s: s.event in ENDS and s.body.get("continue") is False,
        None,
        "continue: false lets it end, whatever else the JSON says",
        at("stop"),
        note="ends the run",
    ),
    Rule(
        lambda s: s.event in ("UserPromptSubmit", "PostToolUse") and s.body.get("continue") is False,
        "deny",
        "continue: false stops it",
        at("after"),
        reason=lambda s: s.body.get("stopReason"),
        note="ends the run",
    ),
    Rule(
        _unsupported,
        None,
        "its JSON asks for what is not supported there (a bare allow, ask, continue: false, ...): all of it is dropped",
        (*at("tool"), "PermissionRequest"),
        True,
    ),
    Rule(
        lambda s: _says_no(s) and not _reason(s),
        None,
        "a deny without a reason is a failed hook, and the call goes on",
        at("tool"),
        True,
    ),
    Rule(
        _says_no,
        "deny",
        "its JSON denies with a reason",
        (*at("tool", "prompt", "stop", "after"), "PermissionRequest"),
        reason=_reason,
    ),
    Rule(
        lambda s: s.own.get("updatedInput") is not None,
        "allow",
        "updatedInput with an allow replaces the tool's input",
        at("tool"),
        rewrite=lambda s: s.own["updatedInput"],
    ),
    Rule(otherwise, None, "its JSON decides nothing", at("prompt", "after")),
)


def _stdout(ran: Ran) -> str:
    return ran.stdout


READERS = {
    "0.171.0": ReadOnly(
        "codex",
        "0.171.0",
        EVENTS,
        HOLDS,
        RULES,
        _stdout,
        str.strip,
        plain_is_context=frozenset({"UserPromptSubmit", "SessionStart"}),
    )
}
