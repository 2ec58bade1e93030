"""`hookproof schema`: the JSON Schema of what hookproof reads and writes, made from the types."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from ..errors import UsageError

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be asked for."""
    parser.add_argument("--dialect", metavar="NAME", help="with settings: core, lecode or teaagent")
    parser.add_argument("of", choices=tuple(SCHEMAS), help="; ".join(f"{name}: {words}" for name, (words, _) in SCHEMAS.items()))


def run(options: argparse.Namespace) -> int:
    """Print one schema."""
    if options.of == "settings":
        made = _settings(options.dialect)
    elif options.dialect is not None:
        raise UsageError(f"the schema of {options.of} is the same for every dialect", "leave --dialect away")
    else:
        made = SCHEMAS[options.of][1]()
    print(json.dumps(made, indent=2))
    return 0


def _protocol() -> dict[str, Any]:
    from .. import protocol

    return protocol.schema()


def _cases() -> dict[str, Any]:
    import msgspec

    from ..casecheck import STEPS, STIMULI
    from ..cases import CaseFile

    schema = msgspec.json.schema(CaseFile)
    for name, keys in (("Case", STIMULI), ("CaseStep", STEPS)):
        schema["$defs"][name]["oneOf"] = [{"required": [key]} for key in keys]
    return {"$schema": DRAFT, "title": "hookproof case file, format 1", **schema}


def _results() -> dict[str, Any]:
    import msgspec

    from ..results import FORMAT, CaseResult, Footer, Header

    schema = msgspec.json.schema(Header | CaseResult | Footer)
    return {"$schema": DRAFT, "title": f"one line of a hookproof results file, format {FORMAT}", **schema}


def _settings(dialect: str | None = None) -> dict[str, Any]:
    from .. import dialects

    described = [name for name in dialects.KNOWN if hasattr(dialects.module(name), "SETTINGS")]
    if dialect is None:
        raise UsageError("settings are of a dialect", f"say which: --dialect {' or --dialect '.join(described)}")
    name, _ = dialects.split(dialect)
    if name not in dialects.KNOWN:
        raise UsageError(f'"{dialect}" is no dialect of this suite', f"there are schemas for {', '.join(described)}")
    if name not in described:
        raise UsageError(
            f"the settings of {name} are a form of its own, without a schema here; docs/DIALECTS.md shows what cases use of it",
            f"there are schemas for {', '.join(described)}",
        )
    return {"$schema": DRAFT, **dialects.module(name).SETTINGS}


def _statements() -> dict[str, Any]:
    import msgspec

    from ..statements import StatementFile

    return {"$schema": DRAFT, "title": "the sentences of a source document, format 1", **msgspec.json.schema(StatementFile)}


def _features() -> dict[str, Any]:
    from ..protocol import FEATURES

    return {
        "$schema": DRAFT,
        "title": "a feature that a runner may declare in its hello",
        "oneOf": [{"const": name, "description": words} for name, words in FEATURES.items()],
    }


SCHEMAS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "protocol": ("the messages between harness and runner", _protocol),
    "cases": ("a case file", _cases),
    "results": ("a line of results.jsonl", _results),
    "features": ("what a runner may declare", _features),
    "statements": ("the sentences of a source document, statements.yaml", _statements),
    "settings": ("a settings file, with --dialect core, lecode or teaagent", _settings),
}
"""Name -> what it describes, and how it is made."""
