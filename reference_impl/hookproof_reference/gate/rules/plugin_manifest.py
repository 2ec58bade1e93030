"""What a plugin's manifest and the hooks of the plugin say of one another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..launch import launches
from ..near import suggestion
from ..rule import Example, rule

_AT = ".claude-plugin/plugin.json"
_HOOKS = '{"hooks":{"PostToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"notify-team","timeout":9}]}]}}'
_WITH_OPTION = {_AT: '{"name": "p", "userConfig": {"team": {"type": "string"}}}\n'}


def _hooks(command: str, more: str = "") -> str:
    handler = f'{{"type":"command","command":"{command}"{more},"timeout":9}}'
    return f'{{"hooks":{{"PostToolUse":[{{"matcher":"Edit","hooks":[{handler}]}}]}}}}'


@rule(
    id="plugin-hooks-missing",
    severity="error",
    title="The manifest names a file of hooks that is not there",
    consequence="never runs",
    remedy="Name a file of the plugin, beginning with ./ (hooks/hooks.json is read without being named).",
    source="observed: a path in the manifest is read beside hooks/hooks.json; documentation",
    kinds=("plugin-manifest",),
    bad=(
        Example('{"name": "p", "hooks": "./config/hooks.json"}', at=_AT, files={"hooks/hooks.json": _HOOKS}),
        Example('{"name": "p", "hooks": ["./extra.json"]}', at=_AT, files={"README.md": "p\n"}),
    ),
    good=(
        Example('{"name": "p", "hooks": "./config/hooks.json"}', at=_AT, files={"config/hooks.json": _HOOKS}),
        Example('{"name": "p"}', at=_AT, files={"README.md": "p\n"}),
    ),
)
def check_named(context: Context) -> Iterator[Found]:
    """One path, or a list of them."""
    named = context.root.get("hooks") if context.root is not None else None
    if named is None or context.plugin is None:
        return
    for node in [named] if named.kind == "string" else named.items:
        if not node.text or "\0" in node.text or len(node.text) > 1000:
            continue
        if node.text.startswith("/") or ".." in node.text.split("/"):
            yield context.at(node, f'"{node.text}" lies outside of the plugin, where no file of hooks is read')
        elif not os.path.isfile(context.plugin / node.text):
            yield context.at(node, f'"{node.text}" is not there: no hook of it is read')


def _upper(name: str) -> str:
    """How an option's name ends its variable."""
    return re.sub(r"\W", "_", name).upper()


@rule(
    id="plugin-option",
    severity="error",
    title="An option of the plugin is used where it has no value",
    consequence="cannot start",
    remedy='Use the exec form ("args": ["${user_config.NAME}"]) and declare NAME under userConfig of plugin.json; a script '
    "finds it as $CLAUDE_PLUGIN_OPTION_NAME.",
    source="observed on 2.1.178 and 2.1.332: an error in the shell form, and wherever no value is set; the tool runs",
    kinds=("settings", "local", "managed", "plugin-hooks"),
    bad=(
        Example(_hooks("notify ${user_config.team}"), at="hooks/hooks.json", files=_WITH_OPTION),
        Example(_hooks("notify", ',"args":["${user_config.tema}"]'), at="hooks/hooks.json", files=_WITH_OPTION),
        _hooks("notify", ',"args":["${user_config.team}"]'),
    ),
    good=Example(_hooks("notify", ',"args":["${user_config.team}"]'), at="hooks/hooks.json", files=_WITH_OPTION),
)
def check_option(context: Context) -> Iterator[Found]:
    """`${user_config.NAME}` in a command or an argument."""
    for launch in launches(context):
        args = launch.handler.get("args")
        command = launch.handler.get("command")
        for node in [*([command] if command is not None else []), *(args.items if args is not None else [])]:
            option = re.search(r"\$\{user_config\.(\w+)\}", node.text or "")
            if option is None:
                variable = re.search(r"\$\{?CLAUDE_PLUGIN_OPTION_(\w+)", node.text or "")
                declared = context.plugin_options if context.kind == "plugin-hooks" else None
                if variable is not None and declared is not None and variable[1] not in {_upper(name) for name in declared}:
                    yield context.at(node, f"userConfig of plugin.json has no option for {variable[0]}: it is empty")
                continue
            if context.kind != "plugin-hooks":
                yield context.at(node, f"{option[0]} is known only to hooks of a plugin; here the handler refuses to start")
            elif launch.shell:
                yield context.at(node, f"{option[0]} in a shell command is an error; it is put into arguments only")
            elif context.plugin_options is not None and option[1] not in context.plugin_options:
                hint = suggestion(option[1], context.plugin_options)
                yield context.at(node, f'userConfig of plugin.json has no "{option[1]}"{hint}: the handler fails')
            else:
                continue
            break
