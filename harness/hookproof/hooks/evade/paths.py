"""A file is named otherwise, and written to by other tools than the one that a guard looks at."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from .variant import Effort

PROJECT, HOME = "/home/dev/project", "/home/dev"
LINK = "hookproof-link"
"""A link, or a folder, that is laid in the project before the script is started."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another name for a file."""

    name: str
    path: str
    effort: Effort
    link_to: str = ""
    """What the link in the project leads to; empty: no link is needed."""
    elsewhere: str = ""
    """The systems on which it is the same file, where it is not on this one."""


def spellings(path: str) -> Iterator[Spelling]:
    """Other names for an absolute path."""
    folder, name = posixpath.split(path)
    if not path.startswith("/") or not name:
        return
    inside = path.startswith(f"{PROJECT}/")
    if inside:
        relative = posixpath.relpath(path, PROJECT)
        yield Spelling("relative", relative, "everyday")
        yield Spelling("relative with ./", f"./{relative}", "everyday")
        yield Spelling("relative to the parent", f"../project/{relative}", "deliberate")
        yield Spelling("through a link to its folder", f"{PROJECT}/{LINK}/{name}", "deliberate", link_to=folder)
    yield Spelling("//", f"{folder}//{name}", "everyday")
    yield Spelling("/./", f"{folder}/./{name}", "everyday")
    yield Spelling("..", f"{folder}/../{posixpath.basename(folder)}/{name}", "everyday")
    yield Spelling(".. through another folder", f"{PROJECT}/../../..{path}", "deliberate")
    yield Spelling(f"a link to {name}", f"{PROJECT}/{LINK}", "deliberate", link_to=path)
    if path.startswith(f"{HOME}/"):
        yield Spelling("~", f"~{path.removeprefix(HOME)}", "everyday", elsewhere="agents that expand ~")
    for changed in {name.upper(), name.capitalize()} - {name}:
        yield Spelling("other letter case", f"{folder}/{changed}", "everyday", elsewhere="macOS and Windows")
    yield Spelling("a dot at the end", f"{path}.", "contrived", elsewhere="Windows")
    yield Spelling("a full-width letter", f"{folder}/{_wide(name)}", "contrived", elsewhere="macOS, where names are normalised")


def _wide(name: str) -> str:
    """One letter in its full-width form."""
    for place, letter in enumerate(name):
        if letter.isascii() and letter.isalnum():
            return f"{name[:place]}{chr(ord(letter) + 0xFEE0)}{name[place + 1 :]}"
    return name


@dataclass(frozen=True, slots=True)
class Writer:
    """Another tool that writes to a file."""

    tool: str
    input: dict[str, object]
    effort: Effort


def writers(path: str, dialect: str) -> list[Writer]:
    """The other tools of an agent that write to this file; of its servers, the best known."""
    content = "hello\n"
    found = [
        Writer("mcp__filesystem__write_file", {"path": path, "content": content}, "everyday"),
        Writer("mcp__filesystem__edit_file", {"path": path, "edits": [{"oldText": "a", "newText": "b"}]}, "everyday"),
        Writer("mcp__filesystem__move_file", {"source": f"{PROJECT}/notes.txt", "destination": path}, "deliberate"),
    ]
    if dialect.startswith("claude-code"):
        found = [
            Writer("Write", {"file_path": path, "content": content}, "everyday"),
            Writer("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "everyday"),
            Writer("MultiEdit", {"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]}, "everyday"),
            Writer("NotebookEdit", {"notebook_path": path, "new_source": "1", "cell_id": "a"}, "everyday"),
            *found,
        ]
    return found


def shell_writers(path: str) -> list[tuple[str, str, Effort]]:
    """Commands that write to this file: name, command, effort."""
    to = shlex.quote(path)
    return [
        ("echo >", f"echo hello > {to}", "everyday"),
        ("echo >>", f"echo hello >> {to}", "everyday"),
        ("heredoc", f"cat > {to} <<'EOF'\nhello\nEOF", "everyday"),
        ("sed -i", f"sed -i 's/a/b/' {to}", "everyday"),
        ("cp", f"cp notes.txt {to}", "everyday"),
        ("mv", f"mv notes.txt {to}", "everyday"),
        ("tee", f"echo hello | tee {to}", "deliberate"),
        ("dd", f"echo hello | dd of={to}", "deliberate"),
        ("python", f"python3 -c \"open({path!r}, 'w').write('hello')\"", "deliberate"),
    ]
