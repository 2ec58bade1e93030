"""What the model and the user read of hooks and permissions. Only the texts stand here, by version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .answers import NO_STDERR, Said
from .versions import Version

BLOCKED = "Blocked by hook"
"""The reason of a block that gives none."""


def contexts(name: str, answers: Iterable[Said], version: Version) -> list[str]:
    """The contexts of one event for the model, in the order in which the handlers ended."""
    given = [said.context for said in answers if said.context]
    if version.one_context and given:
        given = ["\n".join(given)]
    return [f"{name} hook additional context: {text}" for text in given]


def plain(name: str, answers: Iterable[Said]) -> list[str]:
    """Plain stdout, at the events at which it is for the model."""
    return [f"{name} hook success: {said.plain}" for said in answers if said.plain]


def for_user(name: str, answers: Iterable[Said], interactive: bool, version: Version) -> list[str]:
    """The messages for the user, where there is a place to show them."""
    if not interactive and not version.print_mode_messages:
        return []
    return [f"{name} says: {said.message}" for said in answers if said.message]


def denied(tool: str, reason: str, by_exit: bool, version: Version) -> str:
    """What the model reads instead of a result when a hook denied."""
    named = by_exit or version.names_the_denier
    return f"PreToolUse:{tool} hook error: {reason}" if named else reason


def feedback(name: str, said: Said) -> str:
    """What the model reads beside a result when a hook after the tool blocks."""
    return f'{name} hook blocking error from command: "{said.command}": {said.reason or BLOCKED}'


def stop(event: str, said: Said, version: Version) -> str:
    """What the model reads when it may not stop."""
    return version.stop_wording.format(event=event, command=said.command, detail=said.reason or BLOCKED)


def of_plugin(reason: str, ident: str) -> str:
    """A refusal that names the plugin whose it is."""
    return f"{reason}\n\nThis handler is one of the plugin {ident}."


def woken(name: str, stderr: str) -> str:
    """What the model reads of a handler in the background that exited with 2."""
    return f'Stop hook blocking error from command "{name}": {stderr or NO_STDERR}'


def in_background(ident: str) -> str:
    """What the model reads in the place of a result that is still to come."""
    return f"The command runs in the background with ID {ident}; its end will be told."


def task_over(described: Mapping[str, Any], code: int | None) -> str:
    """What the model reads when a command in the background has ended."""
    how = "was killed" if code is None else f"ended with exit code {code}"
    return f'<task-notification>Background command "{described["description"]}" {how}</task-notification>'


def todo_feedback(event: str, said: Said) -> str:
    """What the model reads when a hook blocks a new thing to do, or that one is done."""
    return f"{event} hook feedback:\n{said.reason or BLOCKED}"


def prompt_blocked(said: Said) -> str:
    """Why a prompt was not submitted."""
    return said.reason or BLOCKED


def prompt_kept_back(event: str, prompt: str, reason: str) -> str:
    """What the user reads of a prompt that hooks blocked; without a prompt it is not repeated (observed)."""
    text = f"{event} operation blocked by hook:\n{reason}"
    return f"{text}\n\nOriginal prompt: {prompt}" if prompt else text


def prompt_stopped(reason: str) -> str:
    """What the user reads of a prompt at which a hook ended the run (observed)."""
    return f"Operation stopped by hook: {reason}"


def absent(tool: str) -> str:
    """What the model reads of a tool that a rule denies as a whole."""
    return f"No such tool available: {tool}. {tool} is disabled for this session."


def rule_denied(tool: str, arguments: Any) -> str:
    """What the model reads of a call that a rule denies."""
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return f"Permission to use {tool}{f' with command {command}' if command is not None else ''} has been denied."


def classified(tool: str) -> str:
    """Why the classifier of the auto mode refused."""
    return f"{tool} was refused by the check of the auto mode"


def needs_approval(tool: str) -> str:
    """What the model reads of a call that nobody could be asked about."""
    return f"Claude requested permissions to use {tool}, but you haven't granted it yet."


def request_denied() -> str:
    """The reason of a PermissionRequest hook that denies without one."""
    return "Permission denied by hook"


def bad_input(why: str) -> str:
    """What the model reads of a call with an input that is none of the tool's."""
    return f"<tool_use_error>InputValidationError: {why}</tool_use_error>"


def bad_output(tool: str) -> str:
    """What the model reads when a hook has replaced a result by something that the program cannot read."""
    return f"the replaced result of {tool} is neither a text nor a list of blocks"


def bad_rewrite(event: str, tool: str, why: str, version: Version) -> str:
    """What the model reads when a hook's rewrite is no input of the tool."""
    text = f"{event} hook for {tool} returned updatedInput that failed schema validation: "
    text += f"{tool} failed due to the following issue:\n{why}"
    if version.checks_types:
        text += "\nThe tool input from the model was valid; the hook's rewrite of it was not."
    return text


def suggestions(tool: str, arguments: Any) -> list[dict[str, Any]]:
    """What a person could choose to be asked no more."""
    if tool == "Bash":
        command = arguments.get("command", "") if isinstance(arguments, dict) else ""
        rule = {"toolName": tool, "ruleContent": command}
        return [{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}]
    return [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
