"""How a command handler is started: which program, which script, where that script lies, and what it says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .context import Context, Handler
from .pattern import pattern
from .shellwords import Step, steps

INTERPRETERS: dict[str, str] = {
    "sh": "sh", "dash": "sh", "ash": "sh", "bash": "bash", "zsh": "bash", "ksh": "bash",
    "python": "python", "python3": "python", "pypy3": "python", "node": "node", "nodejs": "node", "bun": "node", "deno": "node",
    "tsx": "node", "ruby": "ruby", "perl": "perl", "php": "php", "pwsh": "powershell", "powershell": "powershell",
}  # fmt: skip
"""Program -> language of the script that it runs."""

SUFFIXES: dict[str, str] = {
    ".sh": "sh", ".bash": "bash", ".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".rb": "ruby",
    ".pl": "perl", ".php": "php", ".ps1": "powershell",
}  # fmt: skip

_PREFIXES = frozenset({"env", "exec", "command", "nohup", "time", "if", "!", "then", "npx", "bunx", "pnpx", "uvx"})
"""Words that stand before the program itself."""

_WRAPPERS = frozenset({"timeout", "gtimeout", "nice", "ionice", "stdbuf", "setsid", "xargs"})
"""Programs that start the one behind their own options."""

_ROOT = pattern(
    r"\$\{CLAUDE_PROJECT_DIR(?::-[^}]*)?\}|\$CLAUDE_PROJECT_DIR\b|\$\(pwd\)|\$PWD\b|\$\(git rev-parse --show-toplevel\)"
)
_PLUGIN = pattern(r"\$\{CLAUDE_PLUGIN_ROOT\}|\$CLAUDE_PLUGIN_ROOT\b")
_SCRIPT = pattern(r"\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|php|ps1|exe|cmd|bat)\Z")


@dataclass(frozen=True, slots=True)
class Launch:
    """One command handler, taken apart."""

    handler: Handler
    command: str
    shell: bool
    """Shell form; False for the exec form (`args` is there)."""
    steps: tuple[Step, ...]
    """Of the shell form; one step of the given words in the exec form."""
    interpreter: str | None
    """The name of the program that runs the script (`python3`), None where the script itself is started."""
    script: str | None
    """The script as written."""
    path: Path | None
    """Where it is or should be; None where the place cannot be told."""
    step: int = 0
    """Which step starts the script."""

    @property
    def there(self) -> bool:
        """Whether something lies at that path (a link to nothing does not)."""
        return self.path is not None and self.path.exists()

    @property
    def simple(self) -> bool:
        """Whether the command does nothing but start the script."""
        return len(self.steps) == 1 and self.script is not None

    def language(self, text: str | None) -> str | None:
        """The language in which the script will be read: by its runner, else its first line, else its suffix."""
        if self.interpreter is not None:
            return INTERPRETERS.get(self.interpreter)
        return written_in(self.script or "", text)


def written_in(name: str, text: str | None) -> str | None:
    """The language that a script is written in, by its first line, else by its suffix."""
    first = (text or "").lstrip("\ufeff").split("\n", 1)[0]
    if first.startswith("#!"):
        words = first[2:].split()
        if words:
            program = words[0].rpartition("/")[2]
            if program == "env":
                program = next((w for w in words[1:] if not w.startswith("-") and "=" not in w), "")
            return INTERPRETERS.get(re.sub(r"(?<=python3)\.\d+\Z", "", program.rpartition("/")[2]))
    return SUFFIXES.get(os.path.splitext(name)[1])


_last: tuple[Context | None, list[Launch]] = (None, [])


def launches(context: Context) -> list[Launch]:
    """All command handlers with a command; computed once for a context."""
    global _last
    if _last[0] is not context:
        _last = (context, list(_launches(context)))
    return _last[1]


def _launches(context: Context) -> Iterator[Launch]:
    for handler in context.handlers:
        command = handler.text("command")
        if handler.type != "command" or not command or not command.strip():
            continue
        args = handler.get("args")
        if args is not None:
            words = [command, *(item.text or "" for item in args.items)]
            taken: tuple[Step, ...] = (_exec_step(words),)
        else:
            taken = steps(command)
        interpreter, script, index = _script_of(taken, shell=args is None)
        path = _locate(context, script) if script is not None else None
        yield Launch(handler, command, args is None, taken, interpreter, script, path, index)


def _looks_like_script(word: str) -> bool:
    """Whether an argument of an interpreter is a file to run: it has a script's suffix, or is a path in the project."""
    if word.startswith("-") or "=" in word.split("/")[0]:
        return False
    return (
        _SCRIPT.search(word) is not None or re.match(r"\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)|\./|\.\./|~/|/", word) is not None
    )


def _exec_step(words: list[str]) -> Step:
    from .shellwords import Word

    return Step(tuple(Word(word, word, word, "") for word in words), "")


def _script_of(taken: tuple[Step, ...], *, shell: bool) -> tuple[str | None, str | None, int]:
    """The interpreter and the script of the first step that starts one."""
    for index, step in enumerate(taken):
        words = [word.value for word in step.words]
        while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in _PREFIXES or words[0] in _WRAPPERS):
            wrapper = words.pop(0)
            # `timeout -k 1 5 guard.sh`: the options and numbers of what only starts another program
            while wrapper in _WRAPPERS and words and re.match(r"-|\d+(?:\.\d+)?[smhd]?\Z", words[0]):
                words.pop(0)
        if not words:
            continue
        program = words[0].rpartition("/")[2]
        plain = re.sub(r"(?<=python3)\.\d+\Z", "", program)
        if plain in INTERPRETERS or program == "uv":
            flags = [w for w in words[1:] if w.startswith("-")]
            script = next((w for w in words[1:] if _looks_like_script(w)), None)
            if script is not None and not any(re.match(r"-\w*[cem]\Z|--eval", flag) for flag in flags):
                return plain, script, index
            continue
        if _SCRIPT.search(words[0]) or re.search(r"\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)|(?:\A|/)\.claude/", words[0]):
            return None, words[0], index
    return None, None, 0


def _locate(context: Context, script: str) -> Path | None:
    plugin = bool(_PLUGIN.search(script))
    relative = (_PLUGIN if plugin else _ROOT).sub("", script, count=1)
    anchored = relative != script
    if "$" in relative or "`" in relative or relative.startswith("~") or "\0" in relative:
        return None
    if not anchored:
        if relative.startswith("/"):
            return Path(relative) if len(relative) < 4000 else None
        if re.match(r"[A-Za-z]:|\\", relative):
            return None
    relative = relative.lstrip("/")
    if not relative or len(relative) > 1000:
        return None
    if plugin:
        return context.plugin / relative if context.plugin is not None else _nearby(context, relative)
    if context.project is not None:
        return context.project / relative
    return _nearby(context, relative)


def _nearby(context: Context, relative: str) -> Path | None:
    """A folder above the file in which the script lies, or at least the script's own folder: that is the project."""
    if context.path in ("", "<text>"):
        return None
    here = Path(context.path)
    folders = [here.parent, *list(here.parent.parents)[:3]]
    for folder in folders:
        if (folder / relative).exists():
            return folder / relative
    if "/" in relative:
        for folder in folders:
            if (folder / relative).parent.is_dir():
                return folder / relative
    return None


def asks_for(command: str, name: str) -> bool:
    """Whether the command asks itself if the script is there, which may then be missing."""
    return re.search(rf"(?:\[|\btest)\s+(?:!\s+)?-[efrsx]\s+[^;&|]*{re.escape(name)}", command) is not None
