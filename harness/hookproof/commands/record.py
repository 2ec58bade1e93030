"""`hookproof record -- ./guard.sh` stands in for a hook script: what it is given and what it answers goes into a policy file."""

from __future__ import annotations

import argparse
from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--into", metavar="FILE", help="the policy file; default: NAME.policy.yaml in the project's folder")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="behind --: the script and its arguments")


def run(options: argparse.Namespace) -> int:
    """End as the script ended, whatever became of the recording."""
    from ..hooks import recording

    into = Path(options.into) if options.into else recording.default_place(options.command)
    return recording.record(options.command, into)
