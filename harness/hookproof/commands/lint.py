"""`hookproof lint`: judge settings files of hooks before any hook runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hookproof_reference.gate import session
from hookproof_reference.gate.config import FAIL_ON
from hookproof_reference.gate.errors import GateError
from hookproof_reference.gate.report import FORMATS

from ..errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="settings files, or folders of projects (default: here)"
    )
    parser.add_argument("--profile", metavar="NAME", help="claude-code@VERSION, documented-13, hook-engineering, lecode, ...")
    parser.add_argument(
        "--compat", metavar="RULE", help="where prompt and agent handlers may stand: conservative-3 or documented-13"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there instead of to stdout")
    parser.add_argument("--fail-on", choices=FAIL_ON, help="the mildest finding that makes the exit code 1 (default: warning)")
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend, and show the difference")
    parser.add_argument("--diff", action="store_true", help="only show what --fix would change")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="leave out what this file knows")
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="note all findings as known")
    parser.add_argument("--config", type=Path, metavar="FILE", help="instead of pyproject.toml or .hookproof-lint.toml")
    parser.add_argument("--no-config", action="store_true", help="read no configuration")
    parser.add_argument("--package", type=Path, metavar="DIR", help="audit a skill package: manifest, policy, matrix, folders")
    parser.add_argument("--explain", metavar="RULE", help="say all about one rule")
    parser.add_argument(
        "--list-rules", nargs="?", const="text", choices=("text", "markdown"), help="one line for each rule, or a page of them"
    )
    parser.epilog = (
        "Exit code 0: no findings; 1: findings (see --fail-on); "
        "2: a file could not be read, or there was no settings file to judge."
    )


def run(options: argparse.Namespace) -> int:
    """Do it."""
    try:
        if options.explain is not None:
            text, code = session.explain(options.explain), 0
        elif options.list_rules:
            text, code = session.rules_page() if options.list_rules == "markdown" else session.listing(), 0
        elif options.package is not None:
            text, code = session.audit(options.package, options.format)
        else:
            text, code = session.run(
                session.Options(
                    paths=tuple(options.paths) or (Path(),),
                    profile=options.profile,
                    compat=options.compat,
                    form=options.format,
                    fail_on=options.fail_on,
                    fix=options.fix,
                    diff=options.diff,
                    baseline=options.baseline,
                    write_baseline=options.write_baseline,
                    config=options.config,
                    isolated=options.no_config,
                )
            )
        if options.output is None:
            # a terminal that cannot show a character must not end the report
            sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
        else:
            options.output.write_text(text, "utf-8", "backslashreplace")
    except GateError as error:
        raise UsageError(error.message, error.hint) from None
    except OSError as error:
        raise UsageError(
            f"{error.filename}: {error.strerror}", "choose another place with --output or --write-baseline"
        ) from None
    return code
