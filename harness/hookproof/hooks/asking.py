"""What a user names on a command line becomes scripts and stimuli."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from . import stimuli
from .script import NEWEST, Script, from_path, from_settings, without_program
from .stimuli import Stimulus

if TYPE_CHECKING:
    from .check import Check
    from .meaning import Reader

SETTINGS = (".json", ".toml")
"""The ends of the names of settings files."""
NEWEST_OF = {
    "claude-code": NEWEST,
    "lecode": "lecode/1.0",
    "codex": "codex/0.171.0",
    "gemini-cli": "gemini-cli/0.61.0",
    "qwen-code": "qwen-code/0.24.4",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be put to the proof, and how."""

    hooks: tuple[str, ...]
    """Scripts, or settings files, all of whose handlers are meant."""
    base: Path
    event: str | None = None
    matcher: str | None = None
    dialect: str = NEWEST
    families: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    """Commands, prompts, paths, or files with a payload."""
    accept: tuple[str, ...] = ()
    policy: str | None = None
    """A file of samples with what is expected of them."""
    strict: bool = False
    """Whether what a guard lets through in circumstances that agents seldom bring about is a failure."""

    def scripts(self) -> list[Script]:
        """All scripts, in order. Raises UsageError."""
        found: list[Script] = []
        pointers = {case.partition("@")[2] for case in self.cases if "@" in case}
        for hook in self.hooks:
            if hook.endswith(SETTINGS):
                handlers = from_settings(hook, self.dialect, base=self.base)
                found += [script for script in handlers if not pointers or script.pointer in pointers]
            else:
                found.append(from_path(hook, base=self.base, event=self.event, matcher=self.matcher, dialect=self.dialect))
        if not found:
            raise UsageError(
                f"no handler stands at {', '.join(sorted(pointers))}", "the part behind @ is a place in the settings"
            )
        return found

    def left_out(self) -> list[str]:
        """A line for each settings file with handlers that start no program: those are not judged."""
        files = {hook: without_program(hook, base=self.base) for hook in self.hooks if hook.endswith(SETTINGS)}
        return [f"{hook}: not judged, for it starts no program: {'; '.join(found)}" for hook, found in files.items() if found]

    @property
    def checks(self) -> tuple[str, ...]:
        """The ids of the checks that are meant."""
        return tuple(dict.fromkeys(case.partition("@")[0] for case in self.cases))

    def with_policy(self, *, dialect_given: bool) -> Asked:
        """What the policy file says of its dialect and event counts where the user says nothing else. Raises CaseFileError."""
        from . import policy

        found = policy.given(self.policy, self.base)
        if found is None:
            return self
        dialect = self.dialect if dialect_given or found.policy.dialect is None else dialect_named(found.policy.dialect)
        return replace(self, dialect=dialect, event=self.event or found.policy.event)

    def policy_checks(self, scripts: Sequence[Script]) -> list[Check]:
        """The samples of the policy file as checks; none without one. Raises CaseFileError."""
        from . import policy, samples

        found = policy.given(self.policy, self.base)
        return [] if found is None else samples.checks(found, scripts)

    def canaries(self, script: Script) -> tuple[list[Stimulus], list[Stimulus]]:
        """What the user says that the script must refuse, and what it must pass, by options and by the policy file."""
        from . import policy, samples

        refuse, accept = self.stimuli(self.refuse, script), self.stimuli(self.accept, script)
        found = policy.given(self.policy, self.base)
        if found is not None:
            refuse += samples.canaries(found, script, blocked=True)
            accept += samples.canaries(found, script, blocked=False)
        return refuse, accept

    def stimuli(self, given: Sequence[str], script: Script) -> list[Stimulus]:
        """The stimuli that are meant at this script's event. Raises UsageError and DialectError."""
        return [stimulus(text, script, self.base) for text in given]


def dialect_named(name: str | None) -> str:
    """A dialect with its version: the newest where none is given."""
    return NEWEST if name is None else NEWEST_OF.get(name, name)


def must_be_drivable(scripts: Sequence[Script], reader: Reader) -> None:
    """Handlers are driven through their settings by the reference. Raises UsageError for a dialect that it only reads."""
    runs = {one.name: one.runs for one in reader.readable}
    for script in scripts:
        if script.settings is not None and not runs.get(script.dialect, True):
            name = script.dialect.partition("/")[0]
            raise UsageError(
                f"{script.settings.name} cannot be driven as {script.dialect}: what this agent's answers mean is known here, "
                "how it takes its settings is not",
                f"prove each script by itself: hookproof check --hook SCRIPT --event EVENT --dialect {name}; "
                f"what is wrong in the settings says hookproof lint --profile {name} FILE",
            )


def stimulus(text: str, script: Script, base: Path) -> Stimulus:
    """A payload file, a payload as JSON, a path to write to, a prompt or a command."""
    dialect, event = script.dialect, script.event
    if text.endswith(".json") and (base / text).is_file():
        return stimuli.from_file(base / text, event)
    if text.lstrip().startswith("{"):
        try:
            return Stimulus("given", event, json.loads(text))
        except ValueError as error:
            raise UsageError(f"{text}: no payload: {error}", "a payload is a JSON object") from None
    if event in ("UserPromptSubmit", "BeforeAgent"):
        return stimuli.base(dialect, event).but(id=f"given/{text[:40]}", prompt=text)
    if not stimuli.is_call(event):
        raise UsageError(f'"{text}" is no stimulus for {event}', "give a file with a payload, or the payload as JSON")
    if text.startswith("/") and " " not in text:
        return stimuli.touching(dialect, event, stimuli.WRITE, text, id=f"given/{text}")
    return stimuli.shell(dialect, event, text, id=f"given/{text[:50]}")
