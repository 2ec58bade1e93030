"""How far the handlers of one event overlap: the slowest of them against all of them, from the first start to the tool's.

`python bench/overlap.py [--runner ./myimpl]`. Nothing is asserted. 1.0 is what a runner comes
to that starts all at once and waits for nothing but the slowest; one that runs them one after the other comes to their number.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from hookproof.engine import Engine, Options
from hookproof.errors import HookproofError
from hookproof.results import CaseResult

NAP = 0.3
"""Seconds that each handler sleeps."""
COUNTS = (1, 2, 4, 8, 16)


def main() -> int:
    """Print the table; 2 when the runner could not be asked."""
    parser = argparse.ArgumentParser(description="The slowest handler of an event against all of them.")
    parser.add_argument("--runner", default="reference")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "core" / "bench.yaml"
        place.parent.mkdir()
        place.write_text(json.dumps(_cases()), "utf-8")
        try:
            results = _asked(asked.runner, Path(folder))
        except HookproofError as error:
            print(f"bench: {error.message}", file=sys.stderr)
            return 2
    print(f"{asked.runner}, handlers of one event that each sleep {NAP} s\n")
    print("dialect                handlers  slowest s  whole s  whole / slowest")
    for result in results:
        if result.status != "pass":
            print(f"{result.dialect:<22} {result.id}: {result.status} {result.note}")
            continue
        slowest, whole = _times(result)
        count = sum(1 for moment in result.timeline if moment.what.startswith("start h"))
        print(f"{result.dialect:<22} {count:8}  {slowest:9.2f}  {whole:7.2f}  {whole / slowest:15.2f}")
    return 0


def _cases() -> dict[str, object]:
    return {
        "format": 1,
        "dialect": "core",
        "family": "bench",
        "rules": {
            "core-bench-overlap": {
                "level": "may",
                "text": "Handlers of one event may overlap.",
                "source": {"document": "bench", "section": "overlap"},
            }
        },
        "cases": [
            {
                "id": f"core/bench/handlers-{count}",
                "rule": "core-bench-overlap",
                "why": "How long many take against one.",
                "handlers": [{"sleep": NAP} for _ in range(count)],
                "call": {"tool": "shell", "input": {"command": "ls"}},
                "expect": {"tool_runs": 1},
                "killed_by": ["no-fault"],
            }
            for count in COUNTS
        ],
    }


def _asked(runner: str, folder: Path) -> list[CaseResult]:
    ids = tuple(f"core/bench/handlers-{count}" for count in COUNTS)
    # a window of one: what is measured here is a time, and nothing may run beside it
    options = Options(runner, Path.cwd(), case_ids=ids, case_folders=(folder,), workers=2, window=1)
    engine = Engine(options)
    try:
        return [engine.result(job) for job in engine.jobs]
    finally:
        engine.close()


def _times(result: CaseResult) -> tuple[float, float]:
    """Seconds: the longest of the handlers, and from the first start to the start of the tool."""
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}
    for moment in result.timeline:
        if found := re.match(r"(start|end) (\w+)\.", moment.what):
            (begun if found[1] == "start" else ended)[found[2]] = moment.at or 0.0
    handlers = [name for name in begun if name.startswith("h")]
    return max(ended[name] - begun[name] for name in handlers), begun["t1"] - min(begun[name] for name in handlers)


if __name__ == "__main__":
    sys.exit(main())
