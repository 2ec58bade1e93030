"""A hook runner reads settings, runs handlers, reads and merges their answers, and enforces the result.

This is the reference: it does what the rules of each dialect say and can be read from top to bottom,
beginning at `Runner` in runner.py. It is a library, too:

    >>> import os, tempfile
    >>> from hookproof_reference import Runner
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "config.toml")
    >>> guard = '{"verdict": "deny", "reason": "not on fridays"}'
    >>> with open(path, "w") as file:
    ...     _ = file.write(f"[hooks]\\nPreToolUse = ['''cat >/dev/null; echo '{guard}' ''']\\n")
    >>> runner = Runner("lecode/1.0", settings=[path], cwd=folder)
    >>> runner.loaded.report[0].status
    'loaded'
    >>> called = runner.call("bash", {"command": "ls"}, lambda arguments: "never asked")
    >>> called.hook, called.outcome, called.started, called.reason
    ('deny', 'blocked', False, 'not on fridays')
    >>> runner.prompt("hello").submitted
    True

Claude Code has a loop of its own, with batches of calls and a Stop that can be refused:

    >>> from hookproof_reference import ToolUse, start
    >>> guard = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}'
    >>> with open(path, "w") as file:
    ...     _ = file.write(f'{{"hooks": {{"PreToolUse": [{guard}]}}}}')
    >>> runner = start("claude-code/2.1.332", [path], cwd=folder)
    >>> [done.outcome for done in runner.turn([ToolUse("t1", "Bash", {"command": "ls"}), ToolUse("t2", "Read", {})])]
    ['blocked', 'error']

Hooks that are Python functions in one process are the package `hookproof_reference.teaagent`.

`python -m hookproof_reference` speaks the runner protocol (wire.py). All times are seconds.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Runner", "Session", "ToolUse", "__version__", "start"]

TYPE_CHECKING = False  # type checkers take it for true; importing typing would cost milliseconds
if TYPE_CHECKING:
    from .runner import Runner, Session, ToolUse, start


def __getattr__(name: str) -> object:
    # the handshake needs nothing of this, and a lane is started often
    if name in ("Runner", "Session", "ToolUse", "start"):
        from . import runner

        return getattr(runner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
