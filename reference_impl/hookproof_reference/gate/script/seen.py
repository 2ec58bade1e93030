"""Every script that the handlers of a file start, and every command that is a script itself, with what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..context import Context
from ..launch import Launch, launches, written_in
from ..pattern import pattern
from .traits import Trait, Traits, traits_of

_GUARD_NAME = pattern(
    r"guard|protect|block|deny|check|prevent|valid|polic|restrict|"
    r"secur|forbid|enforc|gate|safe|scan|verify|refus|firewall|no[-_]",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One script text in use by one handler."""

    launch: Launch
    text: str
    traits: Traits
    inline: bool
    """Whether the text is the command of the settings themselves."""

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return "the command" if self.inline else (self.launch.script or "").rpartition("/")[2]

    def where(self, trait: Trait) -> str:
        """The place of a trait in words: `guard.sh line 7`."""
        return self.name if self.inline else f"{self.name} line {trait.line}"

    @property
    def event(self) -> str:
        """The event of the handler."""
        return self.launch.handler.event


_last: tuple[Context | None, list[Seen]] = (None, [])


def seen(context: Context) -> list[Seen]:
    """All texts that can be read; computed once for a context."""
    global _last
    if _last[0] is not context:
        _last = (context, list(_seen(context)))
    return _last[1]


def _seen(context: Context) -> Iterator[Seen]:
    for launch in launches(context):
        if launch.shell and not launch.simple and launch.handler.text("shell") != "powershell":
            yield Seen(launch, launch.command, traits_of(launch.command, "sh"), True)
            yield from _inline(launch)
        if launch.path is not None and launch.path.is_file():
            text = context.read(launch.path)
            if text is None or "\0" in text[:512]:
                continue
            language = written_in(launch.script or "", text) or launch.language(text) or ""
            yield Seen(launch, text, traits_of(text, language), False)


def _inline(launch: Launch) -> Iterator[Seen]:
    """Programs that are given as text: python3 -c, node -e."""
    for step in launch.steps:
        language = {"python": "python", "python3": "python", "node": "node"}.get(step.name)
        arguments = step.arguments
        for flag, text in pairwise(arguments):
            if language is not None and flag in ("-c", "-e", "--eval"):
                yield Seen(launch, text, traits_of(text, language), True)


def looks_like_guard(launch: Launch) -> bool:
    """Whether the script's name says that it refuses something."""
    name = (launch.script or "").rpartition("/")[2]
    return bool(name) and _GUARD_NAME.search(name) is not None


def is_guard(context: Context, launch: Launch) -> bool:
    """Whether the handler is there to refuse: by what its script does, or by its name where that cannot be read."""
    texts = [each for each in seen(context) if each.launch is launch]
    script = [each for each in texts if not each.inline]
    if script:
        return any(each.traits.refuses for each in texts)
    return any(each.traits.refuses for each in texts) or looks_like_guard(launch)
