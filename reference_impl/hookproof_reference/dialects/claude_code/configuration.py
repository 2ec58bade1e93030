"""A settings file becomes handlers; a bad entry takes more or less of the file along, by version.

The forms are those of the program's own schema (003, Config structure); what a bad one takes along was
observed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ...settings import Configured, SettingsError
from ..base import Dropped
from . import urls
from .http_policy import LISTS
from .versions import Version

DEFAULT_TIMEOUT = 600.0
"""Seconds (003, Runner)."""
OTHER_DEFAULTS = {"UserPromptSubmit": 30.0, "MessageDisplay": 10.0}
"""Event -> seconds, where it is not `DEFAULT_TIMEOUT` (observed)."""
MODEL_DEFAULTS = {"prompt": 30.0, "agent": 60.0}
"""Kind -> seconds, for handlers that ask a model (observed)."""

STRICT_EVENT = "PreToolUse"
"""The one event at which a bad entry takes the whole file along at every version."""

DEEP = 64
"""Levels that are looked at where only the form of a file that is nested too deeply is asked for."""

AT_ONCE = 0.001
"""Seconds: what a limit comes to that overflows."""


class Bad(Exception):
    """An entry that is not of its form; the message says why."""


def decode(raw: bytes, version: Version) -> str:
    """The text of a file: UTF-16 with its mark, else UTF-8 in which a wrong byte is U+FFFD (observed)."""
    if version.largest_file is not None and len(raw) > version.largest_file:
        raise SettingsError(f"larger than {version.largest_file >> 20} MiB")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def configured(text: str, events: Mapping[str, Any], version: Version) -> tuple[list[Configured], Dropped, Mapping[str, Any]]:
    """The handlers, what was left out and why, and the whole object for what else it says.

    Raises SettingsError for a file of which nothing counts.
    """
    content = _parsed(text, version) if text.strip() else {}
    for name in LISTS:
        if name in content and not _are_texts(content[name]):
            raise SettingsError(f"{name} is no list of texts; nothing of this file is applied until that is fixed")
    hooks = content.get("hooks", {})
    if not isinstance(hooks, dict):
        return [], [("hooks", "hooks is no object of events")], content
    handlers: list[Configured] = []
    dropped: Dropped = []
    for event, groups in hooks.items():
        if event not in events:
            near = next((f'; did you mean "{e}"?' for e in events if e.lower() == event.lower()), "")
            dropped.append((event, f"unknown hook event: {event}{near}"))
        elif not isinstance(groups, list):
            why = f"{event} is no list of groups"
            if groups is not None and event == STRICT_EVENT and version.events_must_be_lists:
                raise SettingsError(f"{why}; nothing of this file is applied until that is fixed", _without_hooks(content))
            dropped.append((event, why))
        else:
            found, bad = _event(event, groups, version)
            if bad and (event == STRICT_EVENT or not version.spares_file):
                raise SettingsError(f"{bad[0][1]}; nothing of this file is applied until that is fixed", _without_hooks(content))
            handlers += found
            dropped += bad
    return handlers, dropped, content


def _parsed(text: str, version: Version) -> dict[str, Any]:
    try:
        try:
            content = json.loads(text, parse_constant=_no_number)
        except RecursionError:
            content = json.loads(_shallow(text, version.deepest or DEEP), parse_constant=_no_number)
            if version.deepest is None and isinstance(content, dict):
                # below `hooks` it costs only the hooks (observed)
                raise SettingsError("nested too deeply", fatal=isinstance(content.get("hooks", {}), dict)) from None
    except ValueError as error:
        raise SettingsError(f"no JSON: {error}") from None
    if not isinstance(content, dict):
        raise SettingsError("no JSON object")
    return content


def _shallow(text: str, deepest: int) -> str:
    """JSON without what stands below a level: there, objects and lists are empty."""
    kept: list[str] = []
    depth = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\[\]{}"]+|"', text):
        depth -= token in ("]", "}")
        if depth < deepest:
            kept.append(token)
        depth += token in ("[", "{")
    return "".join(kept)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _without_hooks(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "hooks"}


def _event(event: str, groups: list[Any], version: Version) -> tuple[list[Configured], Dropped]:
    """The handlers of one event, and its bad groups and entries."""
    handlers: list[Configured] = []
    bad: Dropped = []
    for number, group in enumerate(groups):
        where = f"{event}[{number}]"
        try:
            matcher, entries = _group(group)
        except Bad as why:
            bad.append((where, f"{where} {why}"))
            continue
        for place, entry in enumerate(entries):
            try:
                handlers.append(_handler(event, matcher, entry, version))
            except Bad as why:
                inner = f"{where}.hooks[{place}]"
                bad.append((inner, f"{inner} {why}"))
    return handlers, bad


def _group(group: Any) -> tuple[str | None, list[Any]]:
    if not isinstance(group, dict):
        raise Bad("is no object with matcher and hooks")
    if not isinstance(group.get("matcher", ""), str):
        raise Bad("has a matcher that is no string")
    if not isinstance(group.get("hooks"), list):
        raise Bad("has no list of hooks")
    return group.get("matcher"), group["hooks"]


def _handler(event: str, matcher: str | None, entry: Any, version: Version) -> Configured:
    if not isinstance(entry, dict):
        raise Bad("is no object")
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in REQUIRED:
        raise Bad(f"has a type that is none of {', '.join(REQUIRED)}")
    for name in REQUIRED[kind]:
        if name not in entry:
            raise Bad(f"has no {name}")
    checks = {**COMMON, **KINDS[kind]}
    if version.on_failure and kind in FAILABLE:
        checks["onFailure"] = ("continue or block", lambda value: value in ("continue", "block"))
    for name, (form, fits) in checks.items():
        if name in entry and not fits(entry[name]):
            raise Bad(f"has a {name} that is no {form}")
    arguments = entry.get("args") if kind == "command" else None
    if kind == "http":
        url = urls.parsed(entry["url"])
        entry = {**entry, "url": url.text if url is not None and version.normal_urls else entry["url"].strip()}
    return Configured(
        event,
        # a lone surrogate cannot be an argument of a program (observed: it becomes this)
        re.sub("[\ud800-\udfff]", "\ufffd", entry["command"]) if kind == "command" else "",
        _limit(event, kind, entry, version),
        matcher,
        kind=kind,
        arguments=None if arguments is None else tuple(arguments),
        condition=entry.get("if") or None,
        background=kind == "command" and entry.get("async") is True,
        on_failure=_on_failure(kind, entry) if version.on_failure else None,
        options=entry,
    )


def _on_failure(kind: str, entry: Mapping[str, Any]) -> Any:
    """What a failure means; at mcp_tool any word but continue is block (observed)."""
    said = entry.get("onFailure")
    return "block" if kind == "mcp_tool" and "onFailure" in entry and said != "continue" else said


def _limit(event: str, kind: str, entry: Mapping[str, Any], version: Version) -> float:
    """Seconds; the settings may give fractions (observed)."""
    default = MODEL_DEFAULTS.get(kind) or OTHER_DEFAULTS.get(event, DEFAULT_TIMEOUT)
    limit = float(entry.get("timeout", default))
    return AT_ONCE if version.longest is not None and limit > version.longest else limit


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_object_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and urls.parsed(value) is not None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


Check = tuple[str, Callable[[Any], bool]]
TEXT: Check = ("string", _is_text)
FLAG: Check = ("true or false", _is_flag)
TEXTS: Check = ("list of strings", _are_texts)
OBJECT: Check = ("object", _is_object)

REQUIRED = {
    "command": ("command",),
    "prompt": ("prompt",),
    "agent": ("prompt",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
}
"""Kind of handler -> the fields that it must have (003, Config structure and hook types)."""

FAILABLE = ("command", "http")
"""The kinds at which an `onFailure` must be one of its two words; at mcp_tool any other word means block."""

COMMON: dict[str, Check] = {
    "timeout": ("number above 0", _is_number),
    "if": TEXT,
    "statusMessage": TEXT,
    "once": FLAG,
}
KINDS: dict[str, dict[str, Check]] = {
    "command": {
        "command": TEXT,
        "args": TEXTS,
        "shell": ("bash or powershell", lambda value: value in ("bash", "powershell")),
        "async": FLAG,
        "asyncRewake": FLAG,
    },
    "prompt": {"prompt": TEXT, "model": TEXT, "continueOnBlock": FLAG},
    "agent": {"prompt": TEXT, "model": TEXT},
    "http": {
        "url": ("URL", _is_url),
        "headers": ("object of strings", _is_object_of_texts),
        "allowedEnvVars": TEXTS,
    },
    "mcp_tool": {"server": TEXT, "tool": TEXT, "input": OBJECT},
}
"""Kind of handler -> its fields and their forms. Fields that are not listed are accepted and ignored."""
