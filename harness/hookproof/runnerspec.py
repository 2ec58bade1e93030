"""What `--runner` may say, and which program is meant by it.

./myimpl --fast             a value with a slash is a file; arguments are split as a shell splits words
"./my impl"                 a file whose path has blanks in it is found first
reference                   the bundled reference implementation
example:NAME                a bundled example
agent:NAME@VERSION          a real agent; not in this version
"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import site
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from . import suite
from .errors import CannotStart, UsageError

GRAMMAR = "a file has a slash in it (./myimpl), else it is `reference` or `example:NAME`"

_INTERPRETERS = {".py": sys.executable, ".mjs": "node", ".js": "node", ".cjs": "node", ".sh": "/bin/sh"}

# -S saves 2 ms of each start and skips .pth files; what they and the venv would give is handed over as a list
_START_REFERENCE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.path += sys.argv.pop(1).split(':'); "
    "from hookproof_reference.__main__ import main; sys.exit(main())"
)


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """A runner that can be started. It is started in an empty home, so all paths in `argv` are absolute."""

    argv: tuple[str, ...]
    shown: str
    """As the user wrote it: for reports and for commands to run again."""
    kind: Literal["file", "reference", "example"]


def parse(value: str, base: Path) -> RunnerSpec:
    """The program that `value` means; relative paths are seen from `base`.

    Raises UsageError for what the grammar does not know, CannotStart for a file that cannot be started.
    """
    value = value.strip()
    if not value:
        raise UsageError("--runner is empty", GRAMMAR)
    if value == "reference":
        return RunnerSpec(_reference(), value, "reference")
    if value.startswith("example:"):
        return RunnerSpec(_example(value.removeprefix("example:")), value, "example")
    if value.startswith("agent:"):
        raise UsageError(f'"{value}": real agents are not in this version', GRAMMAR)
    return RunnerSpec(program(value, base, _OPTION), value, "file")


@dataclass(frozen=True, slots=True)
class Option:
    """An option whose value is a program, for messages."""

    name: str
    noun: str
    """What the program would be."""
    grammar: str
    words: Callable[[], Sequence[str]]
    """What else can be said in place of a file."""


def program(value: str, base: Path, option: Option) -> tuple[str, ...]:
    """The file with arguments that `value` means. Raises as `parse` does."""
    if "/" in value and (base / os.path.expanduser(value)).exists():
        return (_startable(base / os.path.expanduser(value), value),)
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise UsageError(f"{option.name}={value}: {error}", "words are split as a shell splits them") from None
    if not words or "/" not in words[0]:
        raise _bare(value, words, base, option)
    return (_startable(base / os.path.expanduser(words[0]), words[0]), *(_argument(word, base) for word in words[1:]))


def explain(argv: Sequence[str], error: OSError) -> CannotStart:
    """Why the system refused to start a program, in words, with what to do."""
    path = Path(argv[0])
    try:
        with path.open("rb") as stream:
            head = stream.read(256)
    except OSError:
        head = b""
    first = head.split(b"\n", 1)[0]
    if first.startswith(b"#!"):
        words = first[2:].decode("utf-8", "replace").split(None, 1)
        if first.endswith(b"\r"):
            return CannotStart(
                f"{path}: its first line ends with a carriage return, which the system takes for a part of the name",
                f"save it with LF line ends:\n    sed -i 's/\\r$//' {shlex.quote(str(path))}",
            )
        if words and not Path(words[0]).exists():
            return CannotStart(
                f"{path}: its interpreter {words[0]} is missing",
                f"correct its first line (it is {first.decode('utf-8', 'replace')!r}), for instance #!/usr/bin/env NAME",
            )
        if words and not os.access(words[0], os.X_OK):
            return CannotStart(f"{path}: its interpreter {words[0]} is not executable", "correct its first line")
    elif head and not head.startswith(b"\x7fELF") and b"\0" not in head:
        return CannotStart(
            f"{path}: {error.strerror}: it is text without a first line that names its interpreter",
            f"begin it with a line like {_shebang(path)}",
        )
    return CannotStart(f"{path}: the system cannot start it: {error.strerror}", "try to start it by hand")


def _startable(path: Path, written: str) -> str:
    path = Path(os.path.abspath(path))
    if path.is_dir():
        inside = next((f"{written.rstrip('/')}/{name}" for name in _programs(path)), None)
        raise CannotStart(
            f"{written} is a folder", f"name the program in it, perhaps {inside}" if inside else "name the program in it"
        )
    if not path.exists():
        if path.is_symlink():
            raise CannotStart(f"{written} is a link to {os.readlink(path)}, which does not exist", "correct the link")
        raise CannotStart(f"{written} does not exist (looked for {path})", _did_you_mean(path, written))
    if not path.is_file():
        raise CannotStart(f"{written} is no ordinary file", GRAMMAR)
    if not os.access(path, os.X_OK):
        raise CannotStart(f"{written} is not executable", f"chmod +x {shlex.quote(written)}")
    return str(path)


def _did_you_mean(path: Path, written: str) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(found.name for found in path.parent.iterdir())
    close = difflib.get_close_matches(path.name, names, 1, 0.6) or [name for name in names if Path(name).stem == path.name]
    return f"did you mean {written[: len(written) - len(path.name)]}{close[0]}?" if close else "check the path"


def _programs(folder: Path) -> list[str]:
    try:
        return sorted(found.name for found in folder.iterdir() if found.is_file() and os.access(found, os.X_OK))
    except OSError:
        return []


def _argument(word: str, base: Path) -> str:
    # the subject does not run in `base`, so a relative path among its arguments would lead nowhere
    head, equals, tail = word.rpartition("=")
    if "/" in tail and not os.path.isabs(tail) and (base / tail).exists():
        return head + equals + os.path.abspath(base / tail)
    return word


def _bare(value: str, words: Sequence[str], base: Path, option: Option) -> UsageError:
    word = words[0] if words else value
    rest = value.strip().removeprefix(word)
    hint = option.grammar
    if (base / word).is_file():
        hint = f'write "./{word}{rest}"'
    elif found := shutil.which(word):
        hint = f'write "{found}{rest}"'
    elif close := difflib.get_close_matches(word, option.words(), 1, 0.7):
        hint = f'did you mean "{close[0]}"? ' + option.grammar
    return UsageError(f'{option.name}={value}: "{word}" is no {option.noun}', hint)


def _shebang(path: Path) -> str:
    interpreter = {".py": "python3", ".mjs": "node", ".js": "node", ".rb": "ruby", ".ts": "npx tsx", ".bash": "bash"}.get(
        path.suffix
    )
    return f"#!/usr/bin/env {interpreter}" if interpreter else "#!/bin/sh"


def _reference() -> tuple[str, ...]:
    spec = find_spec("hookproof_reference")
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart("the reference implementation is not installed", "install hookproof again")
    folder = Path(next(iter(spec.submodule_search_locations))).resolve().parent
    packages = ":".join(path for path in site.getsitepackages() if Path(path) != folder)
    return (sys.executable, "-I", "-S", "-c", _START_REFERENCE, str(folder), packages)


def _examples() -> dict[str, Path]:
    folder = suite.fixtures() / "runners"
    if not folder.is_dir():
        return {}
    return {found.stem: found for found in sorted(folder.iterdir()) if found.suffix in _INTERPRETERS and found.is_file()}


def _example(name: str) -> tuple[str, ...]:
    examples = _examples()
    if name not in examples:
        raise UsageError(f'there is no example "{name}"', f"there are: {', '.join(examples) or 'none'}")
    path = examples[name]
    interpreter = shutil.which(_INTERPRETERS[path.suffix])
    if interpreter is None:
        raise CannotStart(
            f"example:{name} needs {_INTERPRETERS[path.suffix]}, which is not on PATH", "install it, or take another example"
        )
    return (interpreter, str(path))


_OPTION = Option("--runner", "runner", GRAMMAR, lambda: ["reference", *(f"example:{name}" for name in _examples())])
