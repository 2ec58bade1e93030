"""Harmless calls that only mention what a guard refuses."""

from __future__ import annotations

import posixpath
import shlex


def of_command(command: str) -> dict[str, str]:
    """Name -> a command that says or seeks the refused words and does not do what they say."""
    line = " ".join(command.split())
    quoted = shlex.quote(line)
    return {
        "said in a commit message": f"git commit --allow-empty -m {shlex.quote(f'docs: never run {line}')}",
        "said by echo": f"echo {shlex.quote(f'do not run {line}')}",
        "searched for": f"grep -n -e {quoted} README.md",
        "searched for in the history": f"git log --oneline --grep={quoted}",
        "noted in a file": f"echo {quoted} >> notes.txt",
        "in a comment": f"ls # instead of {line}",
        "in a heredoc": f"cat >> notes.txt <<'EOF'\n{line}\nEOF",
        "as the title of an issue": f"gh issue create --title {shlex.quote(f'block {line}')} --body x",
    }


def of_path(path: str) -> dict[str, str]:
    """Name -> a path that looks like the refused one, and is another file."""
    folder, name = posixpath.split(path)
    stem = name.lstrip(".") or name
    return {
        "a page about it": f"/home/dev/project/docs/about-{stem}.md",
        "a folder of that name before it": f"/home/dev/project/docs/{stem}-guide/readme.txt",
        "a longer name": f"{folder}/my{stem}",
    }
