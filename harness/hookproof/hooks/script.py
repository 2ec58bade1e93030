"""A hook script is found: by its path, or as a handler of a settings file, with all that its agent would give it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import CannotStart, UsageError
from . import stimuli

NEWEST = "claude-code/2.1.332"
"""The dialect that is meant when none is named."""

SOURCE_BYTES = 1 << 20
"""A script is read for hints up to this size."""

_EVENT_WORDS = {
    "stop_hook_active": "Stop",
    "tool_response": "PostToolUse",
    "tool_input": "PreToolUse",
    "tool_name": "PreToolUse",
    "permissionDecision": "PreToolUse",
    "permission_suggestions": "PermissionRequest",
    "rewritten_input": "PreToolUse",
    ".prompt": "UserPromptSubmit",
    '"prompt"': "UserPromptSubmit",
    "'prompt'": "UserPromptSubmit",
}
"""What a script that says nothing of its event looks at -> the event that has it; the first that is found counts."""

_CALL_ONLY = re.compile(r"tool_input|tool_name|toolInput|toolName")
_ANSWERED = re.compile(r"hookEventName\W{1,6}\w+")
"""The event that an answer names, in JSON and in the literals of languages."""

_EVENT_NAMES = (
    *("PreToolUse", "PostToolUseFailure", "PostToolUse", "UserPromptSubmit", "SubagentStop", "Stop"),
    *("SessionStart", "SessionEnd", "PermissionRequest", "Notification", "PreCompact"),
    *("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SubagentStart", "SubagentEnd", "PostCompact", "PreCompress"),
    *("PostToolBatch", "UserPromptExpansion", "StopFailure", "PermissionDenied", "PermissionResult", "TeammateIdle"),
    *("TaskCreated", "TaskCompleted", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove"),
    *("InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "PreModelSwitch", "PostModelSwitch"),
)
"""All but those that are words of everyday."""


@dataclass(frozen=True, slots=True)
class Script:
    """One handler: what is started, on which event, for which subjects, within which limit."""

    command: str
    """A command line for /bin/sh; in the exec form the program alone."""
    form: Literal["shell", "exec"] = "shell"
    args: tuple[str, ...] = ()
    event: str = "PreToolUse"
    matcher: str | None = None
    condition: str | None = None
    """The handler's `if`."""
    timeout_s: float | None = None
    """As it was configured; None: nothing was said."""
    dialect: str = NEWEST
    origin: str = ""
    """For people: `guard.sh`, or `settings.json:12`."""
    file: Path | None = None
    """The script's own file, where the command names one that is there."""
    settings: Path | None = None
    """The settings file that it stands in."""
    pointer: str = ""
    """Where in it: /hooks/PreToolUse/0/hooks/0."""
    project: Path | None = None
    """The project that the settings belong to."""
    bundle: Path | None = None
    """The folder of the plugin that the settings belong to, in place of a project."""
    switched_off: bool = False
    """Whether the settings say that no hook runs."""
    background: bool = False
    """Whether the settings say that nobody waits for its answer."""
    event_given: bool = True
    """False: nobody named the event, it was guessed from the script's words."""

    def argv(self, project: str = "", command: str | None = None, bundle: str = "") -> list[str]:
        """What is started.

        In the exec form `project` stands for ${CLAUDE_PROJECT_DIR}, `bundle` for ${CLAUDE_PLUGIN_ROOT}; `command` is
        another command line.
        """
        text = self.command if command is None else command
        if self.form == "shell":
            return ["/bin/sh", "-c", text]
        values = {"${CLAUDE_PROJECT_DIR}": project, "${CLAUDE_PLUGIN_ROOT}": bundle}
        return [_replaced(word, values) for word in (text, *self.args)]

    @property
    def source(self) -> str:
        """The text of the script with its command line; only the command line when there is no text file."""
        return self.command if self.file is None else f"{_text(self.file)}\n{self.command if self.settings else ''}"

    @property
    def where(self) -> str:
        """Which handler it is, in a few words."""
        matched = f" {self.matcher}" if self.matcher else ""
        return f"{self.origin} ({self.event}{matched})"


def from_path(
    path: str | Path,
    *,
    base: Path | None = None,
    event: str | None = None,
    matcher: str | None = None,
    dialect: str = NEWEST,
    timeout_s: float | None = None,
) -> Script:
    """The script in a file, as it would be configured by its absolute path. Raises UsageError when there is no such file."""
    given = os.path.expanduser(str(path))
    file = Path(os.path.abspath((base or Path.cwd()) / given))
    if file.is_dir():
        raise UsageError(f"{path} is a folder", "name the script in it")
    if not file.exists():
        near = [found.name for found in file.parent.glob("*")] if file.parent.is_dir() else []
        import difflib

        close = difflib.get_close_matches(file.name, near, 1, 0.6)
        raise UsageError(f"{path} does not exist (looked for {file})", f"did you mean {close[0]}?" if close else "check the path")
    return Script(
        shlex.quote(str(file)),
        event=event or stimuli.event_there(dialect, guessed_event(_text(file))),
        matcher=matcher,
        timeout_s=timeout_s,
        dialect=dialect,
        origin=str(path),
        file=file,
        event_given=event is not None,
    )


def guessed_event(source: str) -> str:
    """The event that a script seems to be for, from the words in it."""
    if "permissionDecision" in source and _CALL_ONLY.search(source) and "tool_response" not in source:
        # only PreToolUse has such an answer: another name beside it may be the very fault of the script
        source = _ANSWERED.sub("", source)
    named = [name for name in _EVENT_NAMES if re.search(rf"\b{name}\b", source)]
    if len(named) == 1 or (named and named[0] == "PreToolUse"):
        return named[0]
    looked_at = next((event for word, event in _EVENT_WORDS.items() if word in source), None)
    return looked_at or (named[0] if named else "PreToolUse")


# ---- settings files ------------------------------------------------------------------------------


def from_settings(path: str | Path, dialect: str = NEWEST, *, base: Path | None = None) -> list[Script]:
    """All command handlers that stand in a settings file, also those in a form that no agent reads.

    Raises UsageError for a file that is not there, or in which nothing can be found.
    """
    file, text, content, hooks = _read(path, base)
    folder = file.parent
    bundle = folder.parent if dialect.startswith("claude-code") and _of_plugin(file) else None
    project = folder.parent if folder.name.startswith(".") else folder
    # the same command may stand there twice: each takes the next place of its text
    places: dict[str, int] = {}
    found = []
    for event, groups in hooks.items():
        for pointer, group, entry in _entries(groups, f"/hooks/{event}"):
            command = entry if isinstance(entry, str) else entry.get("command")
            if not isinstance(command, str):
                continue
            fields: Mapping[str, Any] = {} if isinstance(entry, str) else entry
            args = fields.get("args")
            timeout = fields.get("timeout")
            needle = json.dumps(command)[1:-1]
            at = text.find(needle, places.get(needle, 0))
            places[needle] = at + 1
            matcher = group.get("matcher")
            condition = fields.get("if")
            found.append(
                Script(
                    command,
                    form="shell" if args is None else "exec",
                    args=tuple(str(word) for word in args) if isinstance(args, list) else (),
                    event=event,
                    matcher=matcher if isinstance(matcher, str) else None,
                    condition=condition if isinstance(condition, str) else None,
                    timeout_s=float(timeout) if isinstance(timeout, int | float) and not isinstance(timeout, bool) else None,
                    dialect=dialect,
                    origin=f"{path}:{text.count(chr(10), 0, max(at, 0)) + 1}",
                    file=_file_in(command, tuple(args) if isinstance(args, list) else (), bundle or project),
                    settings=file,
                    pointer=pointer,
                    project=project if bundle is None else None,
                    bundle=bundle,
                    switched_off=content.get("disableAllHooks") is True,
                    background=fields.get("async") is True or fields.get("asyncRewake") is True,
                )
            )
    if not found:
        raise UsageError(f"{path}: there is no command handler in it", 'a handler is {"type": "command", "command": "..."}')
    return found


def without_program(path: str | Path, *, base: Path | None = None) -> list[str]:
    """The handlers of a settings file that start no program, as type and place. Raises UsageError as `from_settings` does."""
    *_, hooks = _read(path, base)
    found = []
    for event, groups in hooks.items():
        for pointer, _, entry in _entries(groups, f"/hooks/{event}"):
            if isinstance(entry, dict) and not isinstance(entry.get("command"), str):
                kind = entry.get("type", "command")
                found.append(f"{'no command' if kind == 'command' else kind} at {pointer}")
    return found


def _read(path: str | Path, base: Path | None) -> tuple[Path, str, dict[str, Any], dict[str, Any]]:
    """A settings file, its text, what is in it, and the events in that."""
    file = Path(os.path.abspath((base or Path.cwd()) / os.path.expanduser(str(path))))
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: the settings cannot be read: {error.strerror}", "name a settings file") from None
    text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    content = _toml(text, path) if file.suffix == ".toml" else _json(text, path)
    hooks = content.get("hooks", content)
    if not isinstance(hooks, dict):
        raise UsageError(f'{path}: "hooks" is no table of events', "each event has a list of groups, each with a list of hooks")
    return file, text, content, hooks


def _of_plugin(file: Path) -> bool:
    """Whether a file is one in which a plugin has its hooks."""
    return (file.parent.name, file.name) in (("hooks", "hooks.json"), (".claude-plugin", "plugin.json"))


def _entries(groups: Any, pointer: str) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """Each handler with its group, in the right form and in those that people write by mistake."""
    listed = groups if isinstance(groups, list) else [groups]
    for number, group in enumerate(listed):
        here = f"{pointer}/{number}" if isinstance(groups, list) else pointer
        if isinstance(group, str):
            yield here, {}, group
        elif isinstance(group, dict):
            if "command" in group:
                yield here, group, group
            inner = group.get("hooks")
            for place, entry in enumerate(inner if isinstance(inner, list) else [inner]):
                if isinstance(entry, dict | str):
                    yield f"{here}/hooks/{place}", group, entry


def _json(text: str, path: str | Path) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no JSON: {error}", "the agent drops the whole file, without a word: no hook runs") from None
    if not isinstance(content, dict):
        raise UsageError(f"{path}: no JSON object", "the agent drops the whole file: no hook runs")
    return content


def _toml(text: str, path: str | Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: no TOML: {error}", "the agent drops the whole file: no hook runs") from None


def _file_in(command: str, args: tuple[Any, ...], project: Path) -> Path | None:
    """The script that a command line starts: its first word that is a file and no program of the system."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    # filled in word by word: where the quotes are missing, a blank in the folder's name takes only the shell apart
    words = [_filled(word, project) for word in words]
    for word in [*words, *(_filled(str(arg), project) for arg in args)]:
        path = Path(os.path.abspath(project / os.path.expanduser(word.lstrip("<>&;|("))))
        if "/" in word and path.is_file() and not path.is_relative_to("/usr") and not path.is_relative_to("/bin"):
            return path
    return next((project / word for word in words if "." in word and (project / word).is_file()), None)


def _filled(word: str, folder: Path) -> str:
    names = ("CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT")
    return _replaced(word, {form % name: str(folder) for form in ("${%s}", "$%s") for name in names})


def _replaced(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


# ---- what cannot start ---------------------------------------------------------------------------


def why_not_startable(script: Script) -> tuple[str, str] | None:
    """Why the system will not start the script's file, and what to do; None when nothing speaks against it.

    Only for a script that is started by its own name: `bash guard.sh` needs no execute bit.
    """
    file = script.file
    if file is None or not _is_program(script):
        return None
    if not os.access(file, os.X_OK):
        return f"{file.name} is not executable", f"chmod +x {shlex.quote(file.name)}"
    from .. import runnerspec

    with file.open("rb") as stream:
        head = stream.read(256)
    if not head:
        return f"{file.name} is empty", "write the script"
    if head[:2] == b"#!" or (b"\0" not in head and head[:4] != b"\x7fELF" and script.form == "exec"):
        error: CannotStart = runnerspec.explain([str(file)], OSError(8, "Exec format error"))
        if "cannot start it" not in error.message:
            return error.message.replace(str(file), file.name), (error.hint or "").replace(str(file), file.name)
    return None


def _is_program(script: Script) -> bool:
    """Whether the file itself is what is started, and not an argument of an interpreter."""
    if script.settings is None:
        return True
    assert script.file is not None
    try:
        first = script.command if script.form == "exec" else shlex.split(script.command)[0]
    except (ValueError, IndexError):
        return False
    return Path(first).name == script.file.name


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(SOURCE_BYTES)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")
