"""A git repository with one empty commit on `main`, written by hand: for scripts that ask on which branch they are."""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path

_ASKS = re.compile(
    r"symbolic-ref|--show-current|abbrev-ref|rev-parse|show-toplevel|ls-files|git (status|branch|diff|log|config)\b"
)
_WHO = "dev <dev@localhost> 1700000000 +0000"


def asks(source: str) -> bool:
    """Whether a script asks git for the state of its project."""
    return _ASKS.search(source) is not None


def write(project: Path) -> None:
    """Make a folder a repository; one that is there already stays."""
    git = project / ".git"
    if git.exists():
        return
    for name in ("objects", "refs/heads", "refs/tags"):
        (git / name).mkdir(parents=True)
    tree = _object(git, "tree", b"")
    commit = _object(git, "commit", f"tree {tree}\nauthor {_WHO}\ncommitter {_WHO}\n\nbegin\n".encode())
    (git / "refs" / "heads" / "main").write_text(f"{commit}\n")
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = dev\n\temail = dev@localhost\n"
    )


def _object(git: Path, kind: str, content: bytes) -> str:
    data = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    folder = git / "objects" / name[:2]
    folder.mkdir()
    (folder / name[2:]).write_bytes(zlib.compress(data))
    return name
