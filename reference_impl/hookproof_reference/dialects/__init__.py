"""Which dialects there are, what each can do, and where its rules stand.

This module stays light: the handshake reads it, and nothing else is loaded for a handshake.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; importing typing would cost milliseconds
if TYPE_CHECKING:
    from .base import Dialect
    from .read_only import ReadOnly

KNOWN: dict[str, tuple[str, ...]] = {
    "lecode": ("1.0",),
    "claude-code": ("2.1.178", "2.1.332"),
    "teaagent": ("1",),
}
"""Dialect -> its versions, oldest first. Each dialect is a module of this package that offers `DIALECTS`, by version."""

FEATURES: dict[str, tuple[str, ...]] = {
    "lecode": (
        "rewrite",
        "ask",
        "approver",
        "defer",
        "batch",
        "session-state",
        "prompt-events",
        "post-events",
        "failure-events",
        "lifecycle-events",
        "subagent",
        "settings-report",
        "plugins",
        "frontmatter",
        "trust",
        "terminal",
        "watching",
        "background-tools",
        "exact-numbers",
    ),
    "claude-code": (
        "rewrite",
        "result-rewrite",
        "context",
        "ask",
        "approver",
        "defer",
        "resume",
        "batch",
        "stop-loop",
        "session-state",
        "prompt-events",
        "post-events",
        "failure-events",
        "lifecycle-events",
        "subagent",
        "matcher",
        "timeout",
        "async",
        "exec-form",
        "managed-scope",
        "settings-report",
        "compact",
        "exact-numbers",
    ),
    "teaagent": (
        "rewrite",
        "result-rewrite",
        "approver",
        "batch",
        "session-state",
        "prompt-events",
        "post-events",
        "lifecycle-events",
        "subagent",
        "settings-report",
        "exact-numbers",
    ),
}
"""Dialect -> the features of the runner protocol that it has; the handshake declares the union."""

OPTIONAL: dict[str, dict[str, str]] = {
    "claude-code": {"http": "httpx", "mcp_tool": "mcp", "prompt": "anthropic", "agent": "anthropic"}
}
"""Dialect -> the features that are there only with a library -> that library."""


READ_ONLY: dict[str, tuple[str, ...]] = {
    "codex": ("0.171.0",),
    "gemini-cli": ("0.61.0",),
    "qwen-code": ("0.24.4",),
}
"""Dialects that are not run: only what one handler's end and output mean there is known. Each module offers `READERS`."""

NOT_SCRIPTS = frozenset({"teaagent"})
"""Dialects whose handlers are functions; a program stands for the body of one there, in a form of the reference's own."""


class UnknownDialect(ValueError):
    """A dialect or version that the reference does not implement."""


def names() -> list[str]:
    """All dialects with their versions, as the handshake lists them: `lecode/1.0`."""
    return [f"{dialect}/{version}" for dialect, versions in KNOWN.items() for version in versions]


def load(name: str) -> Dialect:
    """The rules of `lecode/1.0`, or of the newest version for `lecode`. Raises UnknownDialect."""
    dialect, slash, version = name.partition("/")
    if dialect not in KNOWN or (slash and version not in KNOWN[dialect]):
        raise UnknownDialect(f'the reference does not implement the dialect "{name}"; it implements {", ".join(names())}')
    from importlib import import_module

    module = import_module(f".{dialect.replace('-', '_')}", __name__)
    return module.DIALECTS[version or KNOWN[dialect][-1]]  # type: ignore[no-any-return]


def features(dialect: str) -> tuple[str, ...]:
    """The features of a dialect, with the kinds of handlers whose libraries are installed."""
    from importlib.util import find_spec

    return (*FEATURES[dialect], *(kind for kind, library in OPTIONAL.get(dialect, {}).items() if find_spec(library)))


def readable() -> list[dict[str, str | bool]]:
    """All dialects in which an answer can be read: its name, whether it can be run, whether its handlers are scripts."""
    every = {**KNOWN, **READ_ONLY}
    return [
        {"name": f"{dialect}/{version}", "runs": dialect in KNOWN, "scripts": dialect not in NOT_SCRIPTS}
        for dialect, versions in every.items()
        for version in versions
    ]


def reader(name: str) -> ReadOnly | None:
    """A dialect that is only read, by the names that `load` takes as well; None when it is none of those."""
    dialect, slash, version = name.partition("/")
    if dialect not in READ_ONLY or (slash and version not in READ_ONLY[dialect]):
        return None
    from importlib import import_module

    module = import_module(f".{dialect.replace('-', '_')}", __name__)
    return module.READERS[version or READ_ONLY[dialect][-1]]  # type: ignore[no-any-return]
