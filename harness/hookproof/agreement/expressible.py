"""Which rows the runner protocol can express: told by their fields and the form of their settings alone.

Decided before anything runs; neither the row's name nor what was observed is looked at.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import generated, model
from .rows import filled

SETTINGS = ("settings", "managed_settings", "user_settings", "project_settings", "local_settings")
WHOLE_SETTINGS = ("settings_raw", "settings_b64", "settings_gen")
"""Stand in place of `settings`, where that could not be an object."""

TOOLS = ("Bash", "Read", "Write", "Edit", "TaskCreate", "TaskUpdate")
"""The tools of the program that one program of ours can stand in for; those of MCP servers beside them."""

MODES = ("default", "acceptEdits", "dontAsk", "bypassPermissions")
CLASSIFIED = {"plan": "2.1.332", "auto": "0"}
"""Mode -> the version since which a service of the vendor decides in it; before that, it asks like the default."""

LARGEST_OPTION = 2 * 1024 * 1024
"""Bytes of settings given by an option, from which on some versions do not start; the protocol has no such option."""

PORT = "@PORT@"
"""Stands for the port of the server that a row's http handlers ask."""

ANSWER: Mapping[str, type | tuple[type, ...]] = {
    "status": int,
    "body": str,
    "headers": dict,
    "sleep": (int, float),
    "body_sleep": (int, float),
}
"""What an answer of that server consists of."""

NOTICED = ("FileChanged", "CwdChanged", "ConfigChange", "MessageDisplay")
"""The events that a host fires when it notices something; no step of the protocol is that something."""

_ASKS_SERVER = re.compile(r'"type\\*"\s*:\s*\\*"mcp_tool\\*"')
PLACE_OF_PLUGINS = "@W@/"
"""Where the folders of plugins lie: beside the project."""
SERVER_PROGRAM = "mcp_srv.py"
"""The program behind a row's MCP servers, in the folder `@L@`; lab_tools.py has its tools."""
_ASKS_A_MODEL = re.compile(r'"type\\*"\s*:\s*\\*"(?:prompt|agent)\\*"')
_ADDRESS = re.compile(r'"url\\*"\s*:\s*\\*"\s*https?://(?:[^/?#"\\]*@)?(\[[^]"]*\]|[^:/?#"\\]*)', re.IGNORECASE)
_HERE = re.compile(r"localhost\.?|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|", re.IGNORECASE)
"""The hosts that are this machine, whatever the network around it."""
_SHORT_LIMIT = re.compile(r'updatedInput.*\btimeout\\*"\s*:\s*\\*"?\d{1,3}\b')
"""A rewrite that gives the shell less than a second, in its milliseconds: what then happens is a race of the host's."""
_LEAVES_FOLDER = re.compile(r"(?:^|[;&|(\n])\s*(?:cd|pushd|popd)\b")


def left_out(fields: Mapping[str, Any], version: str) -> list[str]:
    """What of a row the protocol cannot express at a version: fields, with the part of them; empty: it can."""
    found: list[str] = []
    for name, value in fields.items():
        check = _CHECKS.get(name)
        found += [name] if check is None else check(value, fields, version)
    return list(dict.fromkeys([*found, *_of_settings(fields)]))


def settings_texts(fields: Mapping[str, Any]) -> Iterator[str]:
    """The settings of a row as texts, its files among them. Raises ValueError for what cannot be worked out."""
    for name in SETTINGS:
        if fields.get(name) is not None:
            yield json.dumps(fields[name])
    for name in WHOLE_SETTINGS:
        if name in fields:
            yield whole_settings(name, fields[name]).decode("utf-8", "replace")
    bundled = tuple(f"../{folder}/" for folder in plugins(fields))
    for name, file in (fields.get("files") or {}).items():
        of_plugin = name.startswith(bundled) and name.endswith(".json") and not name.endswith(".mcp.json")
        if of_plugin or name.endswith((".claude/settings.json", ".claude/settings.local.json")):
            yield file[0]


def plugins(fields: Mapping[str, Any]) -> list[str]:
    """The folders of plugins that options name, as paths in the world."""
    return [name.removeprefix(PLACE_OF_PLUGINS) for name in _given(fields, "--plugin-dir")]


def _given(fields: Mapping[str, Any], option: str) -> list[str]:
    """The values of an option."""
    args = fields.get("args")
    args = args if isinstance(args, list) else []
    return [args[at + 1] for at, word in enumerate(args[:-1]) if word == option and isinstance(args[at + 1], str)]


def whole_settings(name: str, value: str) -> bytes:
    """The bytes of a settings file that a row gives as a whole. Raises ValueError."""
    if name == "settings_b64":
        return base64.b64decode(value, validate=True)
    text = generated.text_of(value) if name == "settings_gen" else value
    return text.encode("utf-8", "surrogatepass")


def _of_settings(fields: Mapping[str, Any]) -> Iterator[str]:
    try:
        texts = list(settings_texts(fields))
    except (ValueError, TypeError, KeyError, binascii.Error):
        yield "settings that cannot be worked out"
        return
    if any(_ASKS_SERVER.search(text) for text in texts):
        yield from _of_servers(fields)
    for text in texts:
        if not all(_HERE.fullmatch(host[1]) for host in _ADDRESS.finditer(text)):
            yield "settings: a handler on another machine"
        for event in NOTICED:
            if f'"{event}"' in text:
                yield f"settings: event {event}"
        for word in ("initialUserMessage", "watchPaths", "run_in_background"):
            if word in text:
                yield f"settings: {word}"
        if _SHORT_LIMIT.search(text):
            yield "settings: a rewrite that cuts the shell at once"
        if len(text) > LARGEST_OPTION:
            yield "settings: larger than an option may be"


def asks_servers(fields: Mapping[str, Any]) -> bool:
    """Whether handlers of a row ask MCP servers. Raises ValueError for settings that cannot be worked out."""
    return any(_ASKS_SERVER.search(text) for text in settings_texts(fields))


def server_files(fields: Mapping[str, Any]) -> list[str]:
    """The files of a row that list MCP servers, as the row names them: the project's own, and those of an option."""
    return [".mcp.json", *(name.removeprefix("@P@/") for name in _given(fields, "--mcp-config"))]


def _of_servers(fields: Mapping[str, Any]) -> Iterator[str]:
    """What of the servers that handlers ask cannot be laid out: unknown programs, and connections that are no stdio."""
    for name in (*server_files(fields), *(f"../{folder}/.mcp.json" for folder in plugins(fields))):
        if name not in (fields.get("files") or {}):
            continue
        try:
            servers = list(json.loads(fields["files"][name][0])["mcpServers"].values())
            known = all(s.get("type", "stdio") == "stdio" and s["args"][0] == f"@L@/{SERVER_PROGRAM}" for s in servers)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            continue  # then the program has no servers either
        if not known:
            yield "files: an MCP server that is not known"


def _anything(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    return []


def _object(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    return [] if value is None or isinstance(value, dict | str) else ["settings of another kind"]


def _files(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    well = isinstance(value, dict) and all(
        isinstance(file, list) and len(file) == 2 and isinstance(file[0], str) and isinstance(file[1], int)
        for file in value.values()
    )
    if not well:
        return ["files of another kind"]
    places = (os.path.normpath(os.path.join("/w/proj", filled(name, {"@W@": "/w", "@P@": "/w/proj"}))) for name in value)
    return [] if all(place.startswith("/w/") for place in places) else ["files: outside of the world"]


def _env(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    return [] if isinstance(value, dict) else ["env of another kind"]


def _prompt(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    if not isinstance(value, str) or not value:
        return ["prompt: none"]
    return ["prompt: a command of the program"] if value.startswith("/") else []


def _mode(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    return [] if value in ("stream", "text", None) else [f"mode: {value}"]


def _script(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    if not isinstance(value, dict):
        return ["script of another kind"]
    found = [f"script: {name}" for name, part in value.items() if not _is_expressible(name, part)]
    if not found and any(route["contains"] in said for route in value.get("routes", ()) for said in _of_main_loop(fields)):
        found.append("script: a route that the main loop takes")
    return found


def _of_main_loop(fields: Mapping[str, Any]) -> list[str]:
    """What stands in the requests of the main loop, whatever the handlers do."""
    return [str(fields.get("prompt") or ""), json.dumps(fields.get("turns"), ensure_ascii=False)]


def asks_a_model(fields: Mapping[str, Any]) -> bool:
    """Whether some handler of a row asks a model."""
    return any(_ASKS_A_MODEL.search(text) for text in settings_texts(fields))


def _is_expressible(name: str, part: Any) -> bool:
    return _are_answers(part) if name == "http" else model.expressible(name, part)


def _are_answers(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(answer, dict)
        and "status" in answer
        and all(isinstance(part, ANSWER.get(name, ())) for name, part in answer.items())
        for answer in value.values()
    )


def _turns(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    found = []
    for block in (block for turn in value for block in turn):
        tool, given = block.get("tool"), block.get("input")
        found += [f"turns: {name}" for name in block if name not in ("tool", "input", "text", "id")]
        if tool is None:
            continue
        if not isinstance(tool, str):
            found.append("turns: tool of another kind")
            continue
        if tool not in TOOLS and not tool.startswith("mcp__"):
            found.append(f"turns: tool {tool}")
        if not isinstance(given, dict):
            continue
        command = given.get("command", "")
        if tool == "Bash" and isinstance(command, str) and _LEAVES_FOLDER.search(command):
            found.append("turns: the shell changes its folder")
        if "run_in_background" in given:
            found.append("turns: run_in_background")
        if ".claude/settings" in json.dumps(given):
            found.append("turns: the tool writes settings")
    return found


def _args(value: Any, fields: Mapping[str, Any], version: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ["args of another kind"]
    found, words = [], iter(value)
    for word in words:
        if word == "--permission-mode":
            mode = next(words, "")
            since = CLASSIFIED.get(mode)
            if mode not in MODES and (since is None or _number(version) >= _number(since)):
                found.append(f"args: {word} {mode}")
        elif word == "--permission-prompt-tool":
            next(words, "")
            found += _approver(fields, version)
        elif word in ("--mcp-config", "--setting-sources"):
            next(words, "")
        elif word == "--plugin-dir" and next(words, "").startswith(PLACE_OF_PLUGINS):
            continue
        elif word not in ("--init", "--maintenance"):
            found.append(f"args: {word}")
            break
    return found


def _approver(fields: Mapping[str, Any], version: str) -> list[str]:
    approval, why = approval_of(fields)
    if why is not None:
        return [f"files: approver that {why}"]
    if approval == "allow_once" and "updatedInput" not in answer_of_approver(fields) and _number(version) < _number("2.1.332"):
        return ["files: approver without an input, which this version takes for an error"]
    return []


def answer_of_approver(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool that is asked for permission answers; empty: no JSON object."""
    try:
        servers = json.loads(fields["files"]["mcp.json"][0])["mcpServers"]
        answer = json.loads(next(iter(servers.values()))["env"]["PT_REPLY"])
    except (KeyError, ValueError, TypeError, StopIteration):
        return {}
    return answer if isinstance(answer, dict) else {}


def approval_of(fields: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The approver's answer in the protocol's words, or why there is none."""
    if "PT_SLEEP" in json.dumps(fields.get("files", {})):
        return None, "takes its time"
    answer = answer_of_approver(fields)
    if answer.get("behavior") == "deny":
        return "deny", None
    if answer.get("behavior") != "allow":
        return None, "gives no answer"
    return ("allow_once", None) if not answer.get("updatedInput") else (None, "changes the input")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


Check = Callable[[Any, Mapping[str, Any], str], list[str]]

_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("settings_raw", "settings_b64", "settings_gen", "group", "allowed", "unstable", "lab_note"), _anything),
    **dict.fromkeys(SETTINGS, _object),
    # runs when all is over, and only looks
    "post": _anything,
    "files": _files,
    "env": _env,
    "prompt": _prompt,
    "mode": _mode,
    "script": _script,
    "turns": _turns,
    "args": _args,
}
"""Field -> what of it cannot be expressed. A field that is not here cannot be at all."""
