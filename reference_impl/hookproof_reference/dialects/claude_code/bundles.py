"""Where a handler comes from besides the settings: a plugin or a skill, whose folder its command may name.

The forms were observed with plugins of a folder that is named at the start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...settings import Configured

ROOT, DATA = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"
_OPTION = re.compile(r"\$\{user_config\.([^}]*)\}")


class Misplaced(Exception):
    """A command that names what its handler does not have; the message says what."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One plugin or skill."""

    root: str
    """Its folder."""
    ident: str | None = None
    """The name of a plugin, as messages give it."""
    data: str | None = None
    """The folder in which a plugin keeps what it likes."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What the user has set for it."""

    def env(self) -> dict[str, str]:
        """What its handlers have in their environment besides what all have."""
        found = {ROOT: self.root}
        if self.data is not None:
            found[DATA] = self.data
        named = {re.sub(r"[^A-Za-z0-9_]", "_", key).upper(): value for key, value in self.options.items()}
        return found | {f"CLAUDE_PLUGIN_OPTION_{key}": value for key, value in named.items()}


def dressed(handler: Configured, bundle: Bundle | None) -> Configured:
    """The handler with the placeholders of its bundle filled in. Raises Misplaced for one that it has no value for."""
    words = [handler.command, *(handler.arguments or ())]
    values = {} if bundle is None else bundle.env()
    for name in (ROOT, DATA):
        if any(f"${{{name}}}" in word for word in words) and name not in values:
            raise Misplaced(f"the command names ${{{name}}}, and its handler belongs to no plugin")
    if handler.arguments is None and _OPTION.search(handler.command):
        raise Misplaced("an option of a plugin can stand in args only")
    words = [_filled(word, values, bundle) for word in words]
    return replace(handler, command=words[0], arguments=None if handler.arguments is None else tuple(words[1:]))


def _filled(word: str, values: Mapping[str, str], bundle: Bundle | None) -> str:
    for name in (ROOT, DATA):
        word = word.replace(f"${{{name}}}", values.get(name, ""))
    options = {} if bundle is None else bundle.options
    for key in _OPTION.findall(word):
        if key not in options:
            raise Misplaced(f'the option "{key}" of the plugin is not set')
        word = word.replace(f"${{user_config.{key}}}", options[key])
    return word
