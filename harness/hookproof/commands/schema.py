"""`hookproof schema`: the JSON Schema of what hookproof reads and writes, made from the types."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be asked for."""
    parser.add_argument("of", choices=tuple(SCHEMAS), help="; ".join(f"{name}: {words}" for name, (words, _) in SCHEMAS.items()))


def run(options: argparse.Namespace) -> int:
    """Print one schema."""
    print(json.dumps(SCHEMAS[options.of][1](), indent=2))
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
}
"""Name -> what it describes, and how it is made."""
