"""`hookproof scaffold`: write a hooks block that the gate accepts, and a handler script that refuses when it fails."""

from __future__ import annotations

import argparse
from pathlib import Path

from hookproof_reference.gate import scaffold
from hookproof_reference.gate.errors import GateError
from hookproof_reference.gate.profiles import HANDLER_TYPES, UnknownProfile, profile
from hookproof_reference.gate.report import coverage_gap

from ..errors import UsageError

_FIELDS = ("url", "prompt", "server", "tool")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("event", metavar="EVENT", help="such as PreToolUse")
    parser.add_argument("--type", choices=HANDLER_TYPES, default="command", help="default: command")
    parser.add_argument("--matcher", metavar="TEXT", help="tools or values that it is for; default: all")
    parser.add_argument("--if", dest="condition", metavar="RULE", help="one permission rule, such as 'Bash(git push *)'")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="default: 10")
    parser.add_argument("--language", choices=tuple(scaffold.LANGUAGES), default="sh", help="of the script; default: sh")
    parser.add_argument("--name", default="guard", help="of the script; default: guard")
    parser.add_argument(
        "--refuse", action="append", default=[], metavar="TEXT", help="a text that the script refuses (repeatable)"
    )
    for field in _FIELDS:
        parser.add_argument(f"--{field}", metavar="TEXT", help=f"the handler's {field}")
    parser.add_argument("--profile", default="claude-code", metavar="NAME", help="what the block is judged against")
    parser.add_argument("--into", type=Path, metavar="FILE", help="add it to this .claude/settings.json, and write the script")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    wanted = scaffold.Wanted(
        event=options.event,
        type=options.type,
        matcher=options.matcher,
        condition=options.condition,
        timeout=options.timeout,
        language=options.language,
        name=options.name,
        refuse=tuple(options.refuse),
        fields=tuple((field, getattr(options, field)) for field in _FIELDS if getattr(options, field) is not None),
    )
    try:
        against = profile(options.profile)
        text = scaffold.validated(wanted, against)
        if options.into is None:
            print(text, end="")
            if wanted.type == "command":
                print(f"\n{wanted.script} (mode 755):\n{scaffold.script(wanted)}", end="")
        else:
            for path in scaffold.write(options.into, wanted):
                print(f"written: {path}")
    except (GateError, UnknownProfile) as error:
        raise UsageError(str(error), getattr(error, "hint", None)) from None
    boundary = "a hook can tighten what the permission rules allow, never loosen it; no permission rule was written"
    print(f"\nevent: {wanted.event}, matcher: {wanted.matcher or 'all'}, handler: {wanted.type}\nboundary: {boundary}")
    print(f"validate: hookproof lint {options.into or '.claude/settings.json'} --profile {against.name}")
    print(f"coverage_gap: {coverage_gap(against)}")
    return 0
