"""MCP servers that handlers and matchers name, compared with those that the project declares."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..near import nearest
from ..rule import Example, rule

_DECLARED = {".mcp.json": '{"mcpServers": {"ledger": {"command": "ledger-mcp"}}}\n'}


def _handler(server: str) -> str:
    handler = f'{{"type":"mcp_tool","server":"{server}","tool":"note","timeout":9}}'
    return f'{{"hooks":{{"PostToolUse":[{{"matcher":"Edit","hooks":[{handler}]}}]}}}}'


def _matcher(text: str) -> str:
    handler = '{"type":"command","command":"notify-team","timeout":9}'
    return f'{{"hooks":{{"PostToolUse":[{{"matcher":"{text}","hooks":[{handler}]}}]}}}}'


@rule(
    id="mcp-server-unknown",
    severity="warning",
    title="No MCP server of that name is declared",
    consequence="never runs",
    remedy="Write the server's name as .mcp.json has it.",
    source="observed on 2.1.178 and 2.1.332: an unknown server is an error that stops nothing, a matcher for one matches nothing",
    bad=(
        Example(_handler("legder"), files=_DECLARED),
        Example(_matcher("mcp__Ledger__note"), files=_DECLARED),
        Example(_matcher("mcp__ledgr__.*"), files=_DECLARED),
    ),
    good=(
        Example(_handler("ledger"), files=_DECLARED),
        Example(_matcher("mcp__ledger__.*"), files=_DECLARED),
        Example(_matcher("mcp__.*__note"), files=_DECLARED),
        _handler("legder"),
    ),
)
def check_servers(context: Context) -> Iterator[Found]:
    """A server may come from elsewhere, too: one that is spelled nearly like a declared one is an alarm, another a remark."""
    declared = context.mcp_servers
    if not declared or context.kind in ("plugin-hooks", "plugin-manifest"):
        return
    for handler in context.handlers:
        name = handler.text("server") if handler.type == "mcp_tool" else None
        if name and name not in declared and not name.startswith("plugin:"):
            likely = nearest(name, declared)
            hint = f'; did you mean "{likely}"?' if likely is not None else ""
            yield context.at(
                handler.key("server"),
                f'.mcp.json has no server "{name}"{hint}',
                severity=None if likely is not None else "info",
                consequence=None if likely is not None else "unclear",
            )
    for group in context.groups:
        matcher = group.matcher
        if matcher is None or not matcher.text or group.event.key not in profiles.TOOL_EVENTS:
            continue
        for name in dict.fromkeys(re.findall(r"mcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__", matcher.text)):
            plain = {re.sub(r"[^A-Za-z0-9_-]", "_", each): each for each in declared}
            likely = None if name in plain or name.startswith("plugin_") else nearest(name, list(plain))
            if likely is not None:
                yield context.at(matcher, f'.mcp.json has no server "{name}"; did you mean "{likely}"?')


_PLUGIN = {**_DECLARED, ".claude-plugin/plugin.json": '{"name": "books"}\n'}
_HOOKS = "hooks/hooks.json"


@rule(
    id="plugin-server-name",
    severity="error",
    title="The plugin's own server has another name in hooks",
    consequence="never runs",
    remedy='A plugin\'s server is "plugin:PLUGIN:SERVER" to a handler, and its tools are mcp__plugin_PLUGIN_SERVER__TOOL.',
    source="public report B089; observed: the bare name is not connected, and the tools of a plugin's server carry its name",
    kinds=("plugin-hooks",),
    bad=(
        Example(_handler("ledger"), at=_HOOKS, files=_PLUGIN),
        Example(_matcher("mcp__ledger__note"), at=_HOOKS, files=_PLUGIN),
    ),
    good=(
        Example(_handler("plugin:books:ledger"), at=_HOOKS, files=_PLUGIN),
        Example(_matcher("mcp__plugin_books_ledger__note"), at=_HOOKS, files=_PLUGIN),
        Example(_matcher("mcp__.*ledger.*__note"), at=_HOOKS, files=_PLUGIN),
        Example(_matcher("mcp__github__.*"), at=_HOOKS, files=_PLUGIN),
    ),
)
def check_own(context: Context) -> Iterator[Found]:
    """Only servers that the plugin itself brings along."""
    for handler in context.handlers if context.mcp_servers else ():
        name = handler.text("server") if handler.type == "mcp_tool" else None
        if name in context.mcp_servers:
            whole = f"plugin:{context.plugin_name or 'PLUGIN'}:{name}"
            yield context.at(handler.key("server"), f'"{name}" is not connected under that name; here it is "{whole}"')
    for group in context.groups if context.mcp_servers else ():
        text = group.matcher.text if group.matcher is not None else None
        if group.matcher is None or not text or group.event.key not in profiles.TOOL_EVENTS:
            continue
        for name in context.mcp_servers:
            if re.search(rf"(?<![\w*.])mcp__{re.escape(name)}__", text) and "mcp__plugin_" not in text:
                whole = f"mcp__plugin_{context.plugin_name or 'PLUGIN'}_{name}__"
                yield context.at(group.matcher, f"the tools of the plugin's own {name} begin with {whole}")
                break
