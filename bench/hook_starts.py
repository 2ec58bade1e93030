"""What a stimulus costs the proof of a hook script in CPU time, above the bare start; and what a whole certificate takes.

    python bench/hook_starts.py [--number 300] [--rounds 5] [--certify SCRIPT]

Fired and read as the checks do it, in lanes with namespaces; the time of the reference that reads the answers is counted, too.
Only the excess is of interest: the start itself costs the same either way. Medians are shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from hookproof.hooks import certify, stimuli
from hookproof.hooks.check import Probe
from hookproof.hooks.command import opened
from hookproof.hooks.fire import How
from hookproof.hooks.script import from_path

SCRIPT = "#!/bin/sh\ncat >/dev/null\nexit 0\n"


def cpu_s() -> float:
    """User and system time of this process and of the children that it waited for."""
    used = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cpu_of(pid: int) -> float:
    """The same of one other process; 0 where that cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def excess(number: int, rounds: int) -> tuple[float, float, float]:
    """Milliseconds of CPU for each stimulus: the bare start, what firing adds, what firing and reading add."""
    with tempfile.TemporaryDirectory() as name, opened() as (bench, reader):
        path = Path(name, "hook.sh")
        path.write_text(SCRIPT)
        path.chmod(0o755)
        script = from_path(path)
        made = [stimuli.shell(script.dialect, "PreToolUse", f"echo {one}") for one in range(number)]
        probe = Probe(script, bench, reader)
        probe.shoot_all(made[:20])  # lanes and reader have begun

        def bare() -> None:
            for one in made:
                subprocess.run(script.argv(), input=one.data(), capture_output=True)

        def fired() -> None:
            bench.fire_all([(script, one.data(), How()) for one in made])

        def read() -> None:
            probe.shoot_all(made, fresh=True)

        def each(do: Callable[[], None]) -> float:
            before = cpu_s() + cpu_of(reader.pid)
            do()
            return (cpu_s() + cpu_of(reader.pid) - before) / number * 1000

        taken = [[each(do) for do in (bare, fired, read)] for _ in range(rounds)]
    plain, firing, reading = (statistics.median(column) for column in zip(*taken, strict=True))
    return plain, firing - plain, reading - plain


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="stimuli in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--certify", metavar="SCRIPT", help="also the time of a whole certificate of this script")
    options = parser.parse_args()
    plain, firing, reading = excess(options.number, options.rounds)
    print(
        f"bare start {plain:.2f} ms of CPU; firing adds {firing:.2f} ms, firing and reading {reading:.2f} ms (wanted: at most 1)"
    )
    if options.certify:
        before = cpu_s()
        with opened() as (bench, reader):
            made = certify.certify(from_path(options.certify), bench, reader)
        load = os.getloadavg()[0]
        print(
            f"{options.certify}: {made.seconds:.1f} s for {made.starts} starts, {cpu_s() - before:.1f} s of CPU, load {load:.1f}"
        )


if __name__ == "__main__":
    main()
