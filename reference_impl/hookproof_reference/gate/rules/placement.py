"""Hooks that are switched off, lie where nobody reads them, or use one format's words in the other's place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..launch import launches
from ..rule import Example, rule

_GROUP = '{"matcher":"Bash","hooks":[{"type":"command","command":"notify-team","timeout":9}]}'
_HOOKS = f'"hooks":{{"PostToolUse":[{_GROUP}]}}'
_PLUGIN = '{"hooks":{"PostToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"%s","timeout":9}]}]}}'
_AT = "hooks/hooks.json"
_NAMED = {".claude-plugin/plugin.json": '{"name": "p", "hooks": "./hooks.json"}\n'}
_MANIFEST = {".claude-plugin/plugin.json": '{"name": "p"}\n'}


@rule(
    id="hooks-disabled",
    severity="error",
    title="All hooks are switched off",
    consequence="never runs",
    remedy='Remove "disableAllHooks".',
    source="observed on 2.1.178 and 2.1.332: silent, and the hooks of "
    "all other files are off too (but those of managed settings)",
    kinds=("settings", "local", "managed"),
    bad=f'{{"disableAllHooks":true,{_HOOKS}}}',
    good=(f'{{"disableAllHooks":false,{_HOOKS}}}', f"{{{_HOOKS}}}"),
)
def _check_disabled(context: Context) -> Iterator[Found]:
    member = context.root.member("disableAllHooks") if context.root is not None and context.root.kind == "object" else None
    if member is not None and member.node.value is True:
        yield context.at(
            member, "disableAllHooks is true: no hook of this file runs, nor of the user's and the project's other files"
        )


@rule(
    id="managed-key-ignored",
    severity="warning",
    title="A key of managed settings stands elsewhere",
    consequence="value ignored",
    remedy="Put it into managed settings; here it has no effect.",
    source="observed on 2.1.178 and 2.1.332",
    kinds=("settings", "local"),
    bad=f'{{"allowManagedHooksOnly":true,{_HOOKS}}}',
    good=f"{{{_HOOKS}}}",
)
def _check_managed(context: Context) -> Iterator[Found]:
    for key in ("allowManagedHooksOnly", "allowManagedPermissionRulesOnly", "strictKnownMarketplaces"):
        member = context.root.member(key) if context.root is not None and context.root.kind == "object" else None
        if member is not None:
            yield context.at(member, f'"{key}" has an effect in managed settings only')


@rule(
    id="file-not-read",
    severity="error",
    title="No program reads this file",
    consequence="never runs",
    remedy="Move the hooks into .claude/settings.json (in a plugin: hooks/hooks.json beside .claude-plugin).",
    source="observed on 2.1.178 and 2.1.332: silent",
    kinds=("settings", "local", "plugin-hooks", "unread"),
    bad=(Example(f"{{{_HOOKS}}}", at=".claude/hooks.json"), Example(f"{{{_HOOKS}}}", at=".claude/hooks/hooks.json"),
         Example(f"{{{_HOOKS}}}", at=".claude/settings.team.json"),
         Example(f"{{{_HOOKS}}}", at=".claude-plugin/hooks.json", files=_MANIFEST),
         Example(f"{{{_HOOKS}}}", at=".claude-plugin/hooks/hooks.json", files=_MANIFEST),
         Example(f"{{{_HOOKS}}}", at="hooks.json", files=_MANIFEST),
         Example(f"{{{_HOOKS}}}", at="hooks/hook.json", files=_MANIFEST),
         Example(f"// hooks\n{{{_HOOKS}}}", at=".claude/settings.jsonc"),
         Example("hooks:\n  PostToolUse: []\n", at=".claude/settings.yaml"),
         Example(f"{{{_HOOKS}}}", at=".claude.json"),
         Example(f"{{{_HOOKS}}}", at=".claude/config.json")),
    good=(Example(f"{{{_HOOKS}}}"), Example(f"{{{_HOOKS}}}", at=_AT, files=_MANIFEST),
          Example(f"{{{_HOOKS}}}", at="hooks.json", files=_NAMED),
          Example('{"theme": "dark"}', at=".claude/config.json"),
          Example('{"editor.tabSize": 2}', at="settings.json", files={".claude/settings.json": "{}"})),
    torn=True,
)  # fmt: skip
def _check_read(context: Context) -> Iterator[Found]:
    above, name = os.path.split(context.path)
    folder = os.path.basename(above)
    if context.kind == "unread" and name == ".claude.json":
        if context.hooks is not None:
            yield context.at(context.hooks, f"no program reads hooks in {name}: they never run")
        return
    if context.kind == "unread" and (context.document.torn or context.root is None or not name.endswith(".json")):
        yield Found(0, 0, "", f"no program reads {folder}/{name}: its hooks never run")
        return
    if context.document.torn or context.root is None or context.root.kind != "object":
        return
    wrong = None
    if context.kind == "unread" and (folder == "hooks" or name == "config.json") and context.root.get("hooks") is None:
        return
    if context.kind == "unread":
        wrong = f"{folder}/{name}" if folder.startswith(".claude") or folder == "hooks" else name
    elif (
        folder == ".claude"
        and re.fullmatch(r"(?:settings[.-].+|hooks.*|.*hooks)\.jsonc?", name)
        and name != "settings.local.json"
    ):
        wrong = f".claude/{name}"
    elif folder == ".claude-plugin" and name not in ("plugin.json", "marketplace.json"):
        wrong = f".claude-plugin/{name}"
    elif (
        name in ("settings.json", "settings.local.json")
        and folder != ".claude"
        and (context.root.get("hooks") is not None or context.root.get("permissions") is not None)
        and (os.path.isfile(os.path.join(above, ".claude", "settings.json")) or _is_project(above, context.document.text))
    ):
        wrong = f"{name} beside .claude"
    if wrong is not None:
        hooks = context.root.member("hooks")
        yield context.at(hooks or context.root, f"no program reads {wrong}: its hooks never run")


def _is_project(folder: str, text: str) -> bool:
    """Whether a folder is the top of a repository whose .claude the settings speak of."""
    return (
        ".claude/" in text
        and os.path.isdir(os.path.join(folder, ".claude"))
        and (os.path.exists(os.path.join(folder, ".git")) or os.path.isdir(os.path.join(folder, ".claude", "hooks")))
        and os.path.basename(folder) != ".claude"
    )


@rule(
    id="plugin-path",
    severity="error",
    title="The plugin starts a script that is not its own",
    consequence="cannot start",
    remedy="Begin the path with ${CLAUDE_PLUGIN_ROOT}.",
    source="seed 001, Contract: the plugin's format is not that of settings",
    kinds=("plugin-hooks",),
    bad=Example(_PLUGIN % '\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/note.sh', at=_AT, files=_MANIFEST),
    good=Example(
        _PLUGIN % '\\"${CLAUDE_PLUGIN_ROOT}\\"/note.sh', at=_AT, files={**_MANIFEST, "note.sh": "#!/bin/sh\ncat >/dev/null\n"}
    ),
)
def _check_plugin_path(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.script is not None and re.search(r"\$\{?CLAUDE_PROJECT_DIR", launch.script):
            yield context.at(
                launch.handler.key("command"),
                f"{launch.script} lies in whatever project the plugin is used in, and there it is not",
            )


_PLUGIN_KEYS = frozenset({"hooks", "description", "$schema", "name", "version"})


@rule(
    id="plugin-key-ignored",
    severity="warning",
    title="A key has no effect in the hooks of a plugin",
    consequence="value ignored",
    remedy="Put it into settings, or leave it out; a plugin cannot give permissions.",
    source="seed 001, Contract; observed",
    kinds=("plugin-hooks",),
    bad=Example(f'{{"permissions":{{"deny":["Bash(rm *)"]}},{_HOOKS}}}', at=_AT, files=_MANIFEST),
    good=Example(f'{{"description":"notes",{_HOOKS}}}', at=_AT, files=_MANIFEST),
)
def _check_plugin_key(context: Context) -> Iterator[Found]:
    root = context.root
    if root is None or root.kind != "object" or root.get("hooks") is None:
        return
    for member in root.members:
        if member.key not in _PLUGIN_KEYS and member.key not in context.profile.events:
            yield context.at(member, f'"{member.key}" has no effect in the hooks of a plugin')


@rule(
    id="settings-description",
    severity="warning",
    title="A description stands in settings",
    consequence="value ignored",
    remedy="Leave it out; only the hooks of a plugin have a description.",
    source="seed 001, Contract (E-47)",
    kinds=("settings", "local", "managed"),
    bad=f'{{"description":"our hooks",{_HOOKS}}}',
    good=f"{{{_HOOKS}}}",
)
def _check_description(context: Context) -> Iterator[Found]:
    member = context.root.member("description") if context.root is not None and context.root.kind == "object" else None
    if member is not None and context.hooks is not None:
        yield context.at(member, '"description" belongs to the hooks of a plugin; settings do not know it')


@rule(
    id="entry-switch-ignored",
    severity="warning",
    title="A switch on a matcher entry has no effect",
    consequence="value ignored",
    remedy="Take the entry out; there is no field that switches one off.",
    source="observed on 2.1.178 and 2.1.332: unknown keys are accepted, and the handlers run",
    bad=f'{{"hooks":{{"PostToolUse":[{{"disabled":true,{_GROUP[1:]}]}}}}',
    good=f"{{{_HOOKS}}}",
)
def _check_switch(context: Context) -> Iterator[Found]:
    for group in context.groups:
        for member in group.node.members:
            if member.key in ("disabled", "enabled", "disable", "enable", "active", "skip", "off"):
                yield context.at(member, f'"{member.key}" is no field of a matcher entry: its handlers run all the same')
