"""A script's own words become stimuli: commands, paths, prompts, and calls of the tools and with the keys that it looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import literals, stimuli
from .script import Script
from .stimuli import EDIT, READ, WRITE, Stimulus

MOST = 160
"""Stimuli made from one script."""
TEXTS, TOOLS, KEYS = 10, 4, 4
"""So many texts of a script go into so many of its tools, under so many of its keys."""

OWNERS = {
    "url": "WebFetch",
    "query": "WebSearch",
    "prompt": "Task",
    "subagent_type": "Task",
    "description": "Task",
    "pattern": "Grep",
    "glob": "Grep",
    "notebook_path": "NotebookEdit",
    "new_source": "NotebookEdit",
    "new_string": "Edit",
    "old_string": "Edit",
    "skill": "Skill",
    "sql": "mcp__database__query",
    "statement": "mcp__database__query",
}
"""A key of a call's input -> the tool that has it."""
ANY_KEYS = ("query", "sql", "command", "url", "text")
"""The keys of a call of a tool of which only the name is known."""

_KEY = re.compile(rf"(?:\.|[\"'`]|\b)({'|'.join(OWNERS)})\b")
_LOOKED_UP = re.compile(
    r"tool_?[iI]nput(?:[\"']\]?)?\)?(?:\s*(?://|\?\?|\|\||or)\s*(?:\{\}|empty)\)?)?(?:\?\.|\.get\([\"']|\.|\[[\"'])(\w+)"
)
_NUMBER = re.compile(r"(?<![\w.])(\d[\d_]{1,9})(?![\w.])")
_SIZE = re.compile(r"len\(|\.length|\.size|\$\{#|\bwc\b|\blength\b|getsize")
SHORT, LONG = 50, 2_000_000
"""Numbers that may be a bound of size."""
_TOOL = re.compile(r"[A-Z][a-z]+([A-Z][a-z]+)*")
_ORDINARY = frozenset({"command", "file_path", "path", "content", "get"})
"""The keys that commands and paths are tried under anyway."""


def seeds(script: Script) -> list[Stimulus]:
    """Stimuli made of the script's own strings and patterns, the likeliest first."""
    dialect, event = script.dialect, script.event
    texts = literals.texts(script.source)
    if event in ("UserPromptSubmit", "BeforeAgent"):
        return [stimuli.base(dialect, event).but(id=f"own/{text[:50]}", prompt=text) for text in texts[:40]]
    if not stimuli.is_call(event):
        return []
    keys = keys_in(script.source)
    if script.condition:
        texts = [named(script.condition), *texts]
    found = [*_plain(script, texts), *(_keyed(script, texts, keys) if keys else ())]
    tools = [text for text in texts if is_tool(text)]
    return [*found[: MOST - 50], *_long(script), *_called(script, texts, tools, keys)][:MOST]


def _plain(script: Script, texts: list[str]) -> Iterator[Stimulus]:
    """Each text as a command, as a path, as what is written."""
    dialect, event = script.dialect, script.event
    for text in texts:
        if is_tool(text):
            name = whole(text)
            yield stimuli.call(dialect, event, name, id=f"own/tool {name}", file_path="/home/dev/project/notes.txt", command="ls")
            continue
        yield stimuli.shell(dialect, event, text, id=f"own/{text[:50]}")
        if looks_like_path(text):
            path = text if text.startswith("/") else f"/home/dev/project/{text.removeprefix('./')}"
            for kind in (WRITE, EDIT, READ):
                yield stimuli.touching(dialect, event, kind, path, id=f"own/{kind} {path}")
    name, key = stimuli.tool_name(dialect, WRITE), "path" if dialect.startswith("lecode") else "file_path"
    for text in [text for text in texts if len(text) > 5][:10]:
        fields = {key: "/home/dev/project/notes.txt", "content": text}
        yield stimuli.call(dialect, event, name, id=f"own/content {text[:40]}", **fields)


def _keyed(script: Script, texts: list[str], keys: list[str]) -> Iterator[Stimulus]:
    """Each text under the keys that the script reads, in a call of the tool that has them."""
    for text in [text for text in texts if not is_tool(text)][:TEXTS]:
        for key in keys[:KEYS]:
            tool = OWNERS.get(key, "mcp__server__tool")
            for value in _as(key, text):
                yield stimuli.call(script.dialect, script.event, tool, id=f"own/{tool} {value}"[:60], **{key: value})


def _called(script: Script, texts: list[str], tools: list[str], keys: list[str]) -> Iterator[Stimulus]:
    """Each text in calls of the tools that the script names: guards look at both."""
    own = [text for text in texts if not is_tool(text)][:TEXTS]
    known = {stimuli.tool_name(script.dialect, kind) for kind in (stimuli.SHELL, WRITE, EDIT, READ)}
    for tool in [tool for tool in tools if tool not in known][:TOOLS]:
        for text in own:
            fields = {key: _as(key, text)[-1] for key in keys or ANY_KEYS}
            yield stimuli.call(script.dialect, script.event, whole(tool), id=f"own/{whole(tool)} {text}"[:60], **fields)


def _long(script: Script) -> Iterator[Stimulus]:
    """What is longer than a number of the script's: guards of size have no words."""
    numbers = {int(found[1].replace("_", "")) for found in _NUMBER.finditer(script.source) if _SIZE.search(script.source)}
    write, key = stimuli.tool_name(script.dialect, WRITE), "path" if script.dialect.startswith("lecode") else "file_path"
    for number in sorted(number for number in numbers if SHORT <= number <= LONG)[:2]:
        for name, text in (("characters", "x" * (number + 1)), ("lines", "x\n" * min(number + 1, LONG // 2))):
            fields = {key: "/home/dev/project/notes.txt", "content": text}
            yield stimuli.call(script.dialect, script.event, write, id=f"own/{number + 1} {name}", **fields)
        yield stimuli.shell(script.dialect, script.event, f"echo {'x' * number}", id=f"own/echo {number} characters")


def keys_in(source: str) -> list[str]:
    """The keys of a call's input that a script reads, besides command and path."""
    found = [match[1] for pattern in (_LOOKED_UP, _KEY) for match in pattern.finditer(source)]
    return [key for key in dict.fromkeys(found) if key not in _ORDINARY]


def named(condition: str) -> str:
    """The command, or the path, that an `if` names: Bash(git push:*) names git push x."""
    return condition.partition("(")[2].rstrip(")").replace("*", "x").replace(":x", " x")


def is_tool(text: str) -> bool:
    """Whether a text is the name of a tool, or the beginning of one."""
    return bool(_TOOL.fullmatch(text) or re.fullmatch(r"mcp__\w*", text))


def whole(tool: str) -> str:
    """A name of a tool, where only its beginning is given: mcp__db__ and mcp__db become mcp__db__query."""
    parts = tool.split("__")
    if parts[0] != "mcp" or (len(parts) > 2 and parts[2]):
        return tool
    return f"mcp__{parts[1] or 'server'}__query"


def looks_like_path(text: str) -> bool:
    """Whether a text may be the name of a file."""
    return " " not in text and bool(re.search(r"[./]", text)) and bool(re.search(r"[A-Za-z]", text))


def _as(key: str, text: str) -> list[str]:
    """A text as a value of a key: a host is wanted within an address."""
    if key != "url" or "://" in text:
        return [text]
    host = text.strip("./")
    return [text, f"https://{'www' if text.startswith('.') else ''}{text if text.startswith('.') else host}/"]
