"""Hooks that are to grant what rules deny, and models that decide alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..pattern import pattern
from ..rule import Example, rule
from ..script.seen import seen

_SCRIPT = ".claude/hooks/refuse.sh"
_RUN = '\\"$CLAUDE_PROJECT_DIR\\"/' + _SCRIPT

_ALLOW = (
    "#!/bin/sh\ncat >/dev/null\n"
    """echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'\n"""
)


def _settings(more: str) -> str:
    handler = f'{{"type":"command","command":"{_RUN}"{more},"timeout":9}}'
    return f'{{"permissions":{{"deny":["Bash(wget *)"]}},"hooks":{{"PreToolUse":[{{"matcher":"Bash","hooks":[{handler}]}}]}}}}'


@rule(
    id="allow-as-override",
    severity="warning",
    title="An allow is meant to override a deny rule",
    consequence="value ignored",
    remedy="Change the rule under permissions; a hook can tighten and never loosen.",
    source="seed 001, Anti-Patterns; observed: the rule holds whatever the hook says",
    bad=Example(_settings(',"if":"Bash(wget *)"'), files={_SCRIPT: _ALLOW}),
    good=Example(_settings(',"if":"Bash(npm test *)"'), files={_SCRIPT: _ALLOW}),
)
def _check_override(context: Context) -> Iterator[Found]:
    permissions = context.root.get("permissions") if context.root is not None else None
    rules = [
        node.text
        for key in ("deny", "ask")
        if permissions is not None and (listed := permissions.get(key)) is not None
        for node in listed.items
        if node.text
    ]
    for each in seen(context):
        if (
            each.event not in ("PreToolUse", "PermissionRequest")
            or not each.traits.has("allow")
            or each.traits.has("deny")
            or each.traits.ends_with_2
        ):
            continue
        condition = each.launch.handler.text("if")
        clash = next((r for r in rules if r == condition or r == each.launch.handler.matcher), None)
        boasts = re.search(
            r"(?:overrid|bypass|ignor)\w*\s+(?:\w+\s+){0,3}(?:deny|denied|permission|rule|polic|settings)",
            each.text + (each.launch.handler.text("statusMessage") or ""),
            re.I,
        )
        if clash is not None:
            yield context.at(
                each.launch.handler.key("command"), f'{each.name} allows what the rule "{clash}" denies: the rule holds'
            )
        elif boasts is not None:
            yield context.at(
                each.launch.handler.key("command"), f'{each.name} says "{boasts[0]}": an allow of a hook overrides no rule'
            )


_IRREVERSIBLE = pattern(
    r"\b(?:delet|deploy|production|prod\b|drop|destroy|irreversib|"
    r"force|push|credential|secret|payment|publish|migrat|wipe|erase|rm\b)",
    re.I,
)
_POLICY = pattern(
    r"\b(?:block|deny|refuse|reject|never|forbid|must not|do not allow|don't allow|only allow|prevent|stop|(?:un)?safe|"
    r"dangerous|destructive|risky|harmful|allowed|permitted|authori[sz]ed)\b",
    re.I,
)


def _judge(kind: str, prompt: str, more: str = "") -> str:
    return (
        f'{{"hooks":{{"PreToolUse":[{{"matcher":"Bash","hooks":[{{"type":"{kind}","prompt":"{prompt}","timeout":9}}{more}]}}]}}}}'
    )


@rule(
    id="model-only-control",
    severity="warning",
    title="A model alone decides about something that cannot be undone",
    consequence="unclear",
    remedy="Put a command or http handler beside it that decides by rule; keep the model for judgment.",
    source="seed 001, Anti-Patterns and Design Rules 7",
    bad=(_judge("prompt", "Refuse every deletion of customer data."), _judge("agent", "Never let a deploy to production pass.")),
    good=(
        _judge("prompt", "Is the style of this command good?"),
        _judge(
            "prompt", "Refuse every deletion of customer data.", ',{"type":"command","command":"check-deletions","timeout":9}'
        ),
    ),
)
def _check_model(context: Context) -> Iterator[Found]:
    for handler in context.handlers:
        if handler.type not in ("prompt", "agent") or handler.event not in (
            "PreToolUse",
            "PermissionRequest",
            "UserPromptSubmit",
        ):
            continue
        prompt = handler.text("prompt") or ""
        about = f"{prompt} {handler.text('if') or ''}"
        if not _IRREVERSIBLE.search(about) or not _POLICY.search(prompt):
            continue
        firm = any(other.event == handler.event and other.type in ("command", "http", "mcp_tool") for other in context.handlers)
        if not firm:
            yield context.at(
                handler.key("prompt"), f"this {handler.type} handler is the only control, and what it answers depends on a model"
            )
