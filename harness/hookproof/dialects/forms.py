"""The settings forms that are the suite's own, as types: those of core and of teaagent. Their JSON Schema is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ..errors import UsageError

CoreEvent = Literal[
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd", "PreCompact"
]
TeaAgentEvent = Literal[
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SubagentStop", "SessionEnd"
]


class CoreHandler(Struct, forbid_unknown_fields=True):
    """One handler."""

    command: Annotated[str, Meta(min_length=1, description="A line for /bin/sh -c, started in the world's cwd.")]
    timeout: Annotated[
        Any,
        Meta(
            description="Its limit, a number above 0 in the unit of the runner's posture. What any other value means is "
            "`odd_timeout` of the posture."
        ),
    ] = None
    matcher: Annotated[str, Meta(description="The exact name of the one tool that it is for.")] = ""


class CoreSettings(Struct, forbid_unknown_fields=True):
    """`.core/hooks.json`."""

    hooks: Annotated[dict[CoreEvent, list[CoreHandler]], Meta(description="Event -> its handlers, in order.")]
    enabled: Annotated[bool, Meta(description="false: no handler is started.")] = True


class TeaAgentPermission(Struct, forbid_unknown_fields=True):
    """The permission hook; where this is absent there is none, and {} is one with its defaults."""

    mode: Literal["auto", "allow", "deny", "ask"] = "auto"
    destructive_tools: Annotated[
        list[str] | msgspec.UnsetType,
        Meta(description="Instead of the six default ones; what else is destructive stays so under deny."),
    ] = msgspec.UNSET
    deny_patterns: list[str] = []
    allow_patterns: list[str] = []


class TeaAgentSettings(Struct, forbid_unknown_fields=True):
    """`.teaagent/hooks.json`."""

    enabled: Annotated[bool, Meta(description="false: no hook is called.")] = True
    permission: TeaAgentPermission | msgspec.UnsetType = msgspec.UNSET
    hooks: Annotated[
        dict[TeaAgentEvent, list[Annotated[str, Meta(min_length=1)]]],
        Meta(description="Event -> the paths of its programs, in the order of registration."),
    ] = {}


FORMS: dict[str, type[Struct]] = {"core": CoreSettings, "teaagent": TeaAgentSettings}
"""Dialect -> the type of its settings file. The other dialects have the form of a real program."""


def schema(dialect: str) -> dict[str, Any]:
    """The JSON Schema of a settings form. Raises UsageError for a dialect whose form is not ours."""
    if dialect not in FORMS:
        raise UsageError(f'the settings of "{dialect}" are no form of this suite', f"there are schemas for {', '.join(FORMS)}")
    return msgspec.json.schema(FORMS[dialect])
