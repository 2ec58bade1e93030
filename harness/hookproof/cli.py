"""The `hookproof` command: looks up the subcommand, imports only that one, says errors in words."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from . import __version__
from .errors import HookproofError, UsageError

COMMANDS: dict[str, str] = {
    "check": "put a runner, a hook script or a gate to the proof, in a clean child run",
    "cases": "list, show or export the cases",
    "rules": "list the rules and say which are tested",
    "schema": "print a JSON Schema: protocol, cases or results",
    "new": "start a case file or a runner of your own",
    "replay": "ask a runner the failing example of a property again",
    "lint": "judge settings files of hooks before any hook runs",
    "scaffold": "write a hooks block and a handler script that refuses when it fails",
    "record": "stand in for a hook script and note what it is given and what it answers",
    "agree": "hold a runner against what the real program was seen to do",
    "faults": "plant each known fault in the reference and see the cases catch it",
}
"""Name -> what it is for; each is the module of that name in `commands`."""
GIVEN = "values given so far"


class Once(argparse.Action):
    """An option with one value: a second one is refused, where argparse would forget the first without a word."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Store it."""
        given: dict[str, Any] = namespace.__dict__.setdefault(GIVEN, {})
        if option_string is not None and self.dest in given:
            parser.error(f"{option_string} is given twice, as {given[self.dest]} and as {values}: give one of them")
        given[self.dest] = values
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """Of the command, and of all its subcommands."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        for name in (None, "store"):
            self.register("action", name, Once)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit code 0: well, 1: findings, 2: it could not be done."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = Parser(prog="hookproof", description="Proves what a hook system really does.")
    parser.add_argument("--version", action="version", version=f"hookproof {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in words if not word.startswith("-")), None)
    # the other commands matter only where they are listed: a start costs a tenth less without them
    offered = [chosen] if chosen in COMMANDS and words[0] == chosen else list(COMMANDS)
    for name in offered:
        purpose = COMMANDS[name]
        sub = subparsers.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if name == chosen:
            module = import_module(f".commands.{name}", __package__)
            module.arguments(sub)
            sub.set_defaults(run=module.run)
    options = parser.parse_args(words)
    try:
        _stand_somewhere()
        code: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except HookproofError as error:
        print(f"hookproof: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader went away (`| head`): no traceback, and none from the interpreter's own flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        # a full disk behind stdout, a working folder that is gone
        print(f"hookproof: {error}", file=sys.stderr)
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130


def _stand_somewhere() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("the folder that this was started in is gone", "change to a folder that exists") from None


if __name__ == "__main__":
    sys.exit(main())
