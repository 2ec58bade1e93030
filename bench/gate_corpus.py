"""Counts what `hookproof lint` says about the corpus: faults named rightly, and alarms on correct files.

    python bench/gate_corpus.py [--misses] [--samples ID...]
    python bench/gate_corpus.py --speed

With --speed: what one more file costs, what a thousand files take, and what a first start takes.
Run it in a checkout with hookproof installed (or PYTHONPATH=harness:reference_impl).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hookproof.gatecorpus import Sample, lay_out, samples
from hookproof_reference.gate import lint
from hookproof_reference.gate.finding import Finding
from hookproof_reference.gate.profiles import profile


def findings(sample: Sample, folder: Path) -> list[Finding]:
    """What lint says about one file, judged against the first version for which its fault is one."""
    settings = lay_out(sample, folder)
    name = sample.profile or (f"claude-code@{sample.versions[0]}" if sample.versions else "claude-code")
    return lint.lint_file(settings, profile(name))


def speed() -> int:
    """Print CPU per file, and wall time of a thousand files and of a first start."""
    with tempfile.TemporaryDirectory(prefix="gate-") as base:
        files = [lay_out(sample, Path(base, str(number))) for number, sample in enumerate(samples())]
        against = profile()
        for file in files[:20]:
            lint.lint_file(file, against)
        before = time.process_time()
        for file in files:
            lint.lint_file(file, against)
        print(f"one more file: {1000 * (time.process_time() - before) / len(files):.2f} ms of CPU (at most 1)")
        command = [sys.executable, "-m", "hookproof.cli", "lint", "--no-config", "--format=json"]
        thousand = [str(file) for file in (files * 3)[:1000]]
        subprocess.run([*command, thousand[0]], stdout=subprocess.DEVNULL, check=False)
        print(f"1,000 files in one call: {_wall([*command, *thousand]):.2f} s (less than 2)")
        cold = [_wall([*command, str(file)]) for file in files[:: len(files) // 15]]
        bare = min(_wall([sys.executable, "-c", "pass"]) for _ in range(5))
        print(
            f"a start with one file: {1000 * statistics.median(cold):.0f} ms, at best {1000 * min(cold):.0f} (less than 150); "
            f"an empty Python: {1000 * bare:.0f} ms"
        )
    return 0


def _wall(command: list[str]) -> float:
    before = time.perf_counter()
    # with compiled files, as in an installed package
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)
    return time.perf_counter() - before


def main() -> int:
    """Print one line for each family, and with --misses each file that is not named rightly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="show what was said about the files that are missed")
    parser.add_argument("--samples", nargs="*", default=[], help="only these, with all that is said")
    parser.add_argument("--speed", action="store_true", help="measure time instead")
    options = parser.parse_args()
    if options.speed:
        return speed()
    total, right, alarmed, spent = Counter[str](), Counter[str](), 0, 0.0
    with tempfile.TemporaryDirectory(prefix="gate-") as base:
        for number, sample in enumerate(samples()):
            if options.samples and sample.id not in options.samples:
                continue
            before = time.process_time()
            found = findings(sample, Path(base, str(number)))
            spent += time.process_time() - before
            alarms = [finding for finding in found if finding.alarm]
            total[sample.family] += 1
            named = {finding.rule for finding in (found if sample.level == "info" else alarms)} & set(sample.names)
            good = not alarms if sample.correct else bool(named)
            right[sample.family] += good
            alarmed += sample.correct and not good
            if options.samples or (options.misses and not good):
                said = "".join(f"\n    {f.severity} {f.rule}: {f.message}" for f in found) or " nothing"
                print(f"{sample.id}: {sample.fault or sample.why}{said}")
    for family in total:
        print(f"{family:18} {right[family]:4} of {total[family]:4}")
    faults = sum(count for family, count in total.items() if family != "correct")
    hits = sum(count for family, count in right.items() if family != "correct")
    print(
        f"named rightly: {hits} of {faults} ({100 * hits / max(1, faults):.1f} %); alarms on correct files: {alarmed} "
        f"of {total['correct']}"
    )
    print(f"laid out and linted: {1000 * spent / max(1, sum(total.values())):.2f} ms of CPU a file")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
