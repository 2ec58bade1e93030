"""What a case costs: all CPU of a run, against the same probes started bare in the same kind of folder.

`tox -e bench`, or `python bench/bench.py --rounds 9`. Nothing is asserted: a table, ratios first, and whether
what is wanted is met. CPU is user and system time of pytest, harness, runner and all their children.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec

from hookproof import catalog, dialects, results, suite
from hookproof.catalog import Entry
from hookproof.layout import lay_out
from hookproof.probe import ProbeKit, find_world_folder

DIALECT = "lecode"
FEW, MANY = 25, 250
PER_FILE = 25
"""As many cases as a file of the suite may hold."""
WANTED_RATIO = 2.0
WANTED_GROWTH = 10.0
"""MB between FEW and MANY cases."""

# runs pytest, then notes its own CPU and the peak of its own memory: VmHWM, because ru_maxrss begins with the parent's
MEASURED = """
import re, sys, time, pytest
code = pytest.main(sys.argv[2:])
with open("/proc/self/status") as status, open(sys.argv[1], "w") as own:
    print(time.process_time(), re.search(r"VmHWM:\\s+(\\d+)", status.read())[1], file=own)
sys.exit(code)
"""
ONE_SHOT = """#!{python} -S
import sys
sys.path[:0] = {path!r}
from hookproof_reference import __main__ as reference
declared = reference.hello
reference.hello = lambda: {{**declared(), "lasting": False}}
sys.exit(reference.main())
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run of pytest: CPU and wall in seconds, peak in MB, and which probes were started in each case."""

    cpu: float
    own: float
    """The part of pytest and the harness in it, without runner, handlers and tools."""
    wall: float
    peak: float
    starts: list[tuple[Entry, list[str]]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one set of repeated cases lies, and which case of the suite each of them is."""

    folder: Path
    entries: list[Entry]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a case costs, against the same probes started bare.")
    parser.add_argument("--rounds", type=int, default=5, help="how often each run is repeated; medians are shown (5)")
    parser.add_argument("--runner", default="reference", help="the runner to ask (reference)")
    options = parser.parse_args()
    with _folder() as place:
        few, many = (_repeated(place / str(count), count) for count in (FEW, MANY))
        _run(options.runner, few)  # fills the caches of compiled modules
        rounds = [(_run(options.runner, few), _run(options.runner, many)) for _ in range(options.rounds)]
        bare = [(_bare(a.starts, place), _bare(b.starts, place)) for a, b in rounds]
        shelled = [_bare(b.starts, place, by_shell=True) for _, b in rounds]
        one_shot = _run(str(_one_shot(place)), few) if options.runner == "reference" else None
        _print(options.runner, rounds, bare, shelled, one_shot)
    return 0


def _print(
    runner: str, rounds: list[tuple[Cost, Cost]], bare: list[tuple[float, float]], shelled: list[float], one_shot: Cost | None
) -> None:
    few, many = ([pair[n] for pair in rounds] for n in (0, 1))
    bare_few, bare_many = ([pair[n] for pair in bare] for n in (0, 1))
    ratio_few = median(run.cpu / alone for run, alone in zip(few, bare_few, strict=True))
    ratio_many = median(run.cpu / alone for run, alone in zip(many, bare_many, strict=True))
    ratio_shelled = median(run.cpu / alone for run, alone in zip(many, shelled, strict=True))
    marginal = median((b.cpu - a.cpu) / (MANY - FEW) for a, b in rounds)
    bare_case, shelled_case = median(bare_many) / MANY, median(shelled) / MANY
    own = median((b.own - a.own) / (MANY - FEW) for a, b in rounds)
    begin = median(a.cpu - FEW * (b.cpu - a.cpu) / (MANY - FEW) for a, b in rounds)
    growth = median(b.peak for b in many) - median(a.peak for a in few)
    probes = sum(len(names) for _, names in many[0].starts)
    rows = [
        (f"CPU of a run / CPU of its bare probes, {MANY} cases", f"{ratio_many:.2f}", f"wanted at most {WANTED_RATIO}"),
        (f"the same, {FEW} cases (start of pytest included)", f"{ratio_few:.2f}", ""),
        ("the same, each further case", f"{marginal / bare_case:.2f}", ""),
        (
            f"CPU of a run / CPU of its probes by /bin/sh -c, {MANY} cases",
            f"{ratio_shelled:.2f}",
            "as the dialect has them started",
        ),
        ("the same, each further case", f"{marginal / shelled_case:.2f}", ""),
        ("CPU of each further case", f"{marginal * 1e3:.2f} ms", f"pytest and harness {own * 1e3:.2f} ms, all others the rest"),
        ("CPU before the first case and after the last", f"{begin * 1e3:.0f} ms", "pytest, plugins, reading the suite"),
        (f"CPU per case, {MANY} cases", f"{median(r.cpu for r in many) / MANY * 1e3:.2f} ms", "median of rounds"),
        (f"CPU per case, {FEW} cases", f"{median(r.cpu for r in few) / FEW * 1e3:.2f} ms", "median of rounds"),
        ("CPU of the bare probes per case", f"{bare_case * 1e3:.2f} ms", f"{probes / MANY:.1f} probes per case"),
        ("CPU of the probes by /bin/sh -c per case", f"{shelled_case * 1e3:.2f} ms", "handlers by a shell, tools without"),
        ("cases per second, lasting", f"{MANY / median(r.wall for r in many):.0f}", f"{MANY} cases, {os.cpu_count()} cores"),
        ("cases per second, one-shot", "-" if one_shot is None else f"{FEW / one_shot.wall:.0f}", f"{FEW} cases"),
        (f"peak memory of pytest, {FEW} cases", f"{median(r.peak for r in few):.1f} MB", ""),
        (f"peak memory of pytest, {MANY} cases", f"{median(r.peak for r in many):.1f} MB", f"growth {growth:+.1f} MB"),
        ("import of the plugin", f"{_import_of_plugin() * 1e3:.1f} ms", "in a pytest that has no use for it"),
    ]
    folder = find_world_folder()
    print(f"runner {runner}, {len(rounds)} rounds; worlds on {_file_system(folder)}; Python {sys.version.split()[0]}\n")
    for name, value, note in rows:
        print(f"{name:<64}{value:>12}   {note}".rstrip())
    met = {f"at most {WANTED_RATIO} times the bare probes": ratio_many <= WANTED_RATIO}
    met[f"memory grows under {WANTED_GROWTH:.0f} MB"] = growth < WANTED_GROWTH
    print("\nwanted: " + "; ".join(f"{what}: {'met' if well else 'NOT met'}" for what, well in met.items()))


# ---- the runs ------------------------------------------------------------------------------------


def _run(runner: str, place: Place) -> Cost:
    report, own = place.folder / "results.jsonl", place.folder / "own"
    words = [f"--runner={runner}", f"--cases={place.folder / 'cases'}", "--family=bench", f"--results={report}"]
    command = [sys.executable, "-c", MEASURED, str(own), "-q", "-p", "no:cacheprovider", *words]
    # without its caches, pytest would compile and rewrite every plugin again in each run
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (place.folder / "output").open("wb") as output:
        began = time.perf_counter()
        child = subprocess.Popen(command, cwd=place.folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        _, state, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(state)
    if child.returncode != 0:
        raise SystemExit(f"the run ended with {child.returncode}:\n{(place.folder / 'output').read_text()[-4000:]}")
    cases = results.read(report).cases
    starts = [(place.entries[int(case.id.rpartition("-")[2])], _started(case)) for case in cases]
    cpu, peak = own.read_text().split()
    return Cost(used.ru_utime + used.ru_stime, float(cpu), wall, int(peak) / 1024, starts)


def _started(case: results.CaseResult) -> list[str]:
    """The probes that were started, one name per start: `start h1.1 4711` is one of h1."""
    words = [moment.what.split() for moment in case.timeline]
    return [word[1].partition(".")[0] for word in words if word[0] == "start"]


def _bare(starts: list[tuple[Entry, list[str]]], place: Path, *, by_shell: bool = False) -> float:
    """Seconds of CPU that the same probes take when they are started one after the other by nobody but us.

    With `by_shell` the handlers are started as commands of a shell, as every runner of the dialect has to.
    """
    folder = Path(tempfile.mkdtemp(prefix="hookproof-bench-", dir=find_world_folder()))
    try:
        kit, dialect, version = ProbeKit(folder), dialects.load(DIALECT), dialects.resolve(DIALECT)[1]
        stdin = place / "stdin"
        stdin.write_text(json.dumps({"event": dialect.event_of_call, "tool": {"name": "bash", "args": {"command": "ls"}}}))
        programs = []
        for entry, names in starts:
            world = lay_out(entry.case, dialect, version, f"{DIALECT}/{version}", kit, folder)
            for name in names:
                command = str(world.probes / name)
                programs.append(["/bin/sh", "-c", command] if by_shell and name.startswith("h") else [command])
        files = [(os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0)]
        files += [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
        before = _cpu()
        for argv in programs:
            os.waitpid(os.posix_spawn(argv[0], argv, os.environ, file_actions=files), 0)
        return _cpu() - before
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _import_of_plugin() -> float:
    code = "import time, pytest; t = time.perf_counter(); import hookproof.plugin; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout) for _ in range(5)]
    return median(times)


# ---- what is run ---------------------------------------------------------------------------------


def _repeated(folder: Path, count: int) -> Place:
    """A folder with `count` cases: those of the suite that start at once, again and again under new ids."""
    entries = list(itertools.islice(itertools.cycle(_plain_cases()), count))
    cases = [msgspec.to_builtins(entry.case) for entry in entries]
    for number, case in enumerate(cases):
        case |= {"id": f"{DIALECT}/bench/case-{number}", "tags": []}
    (folder / "cases").mkdir(parents=True)
    for first in range(0, count, PER_FILE):
        # JSON is YAML too
        file = {"format": 1, "dialect": DIALECT, "family": "bench", "cases": cases[first : first + PER_FILE]}
        (folder / "cases" / f"bench-{first}.yaml").write_text(json.dumps(file, indent=1), "utf-8")
    return Place(folder, entries)


def _plain_cases() -> list[Entry]:
    """Cases whose probes neither sleep nor wait for each other: bare, they cost what they cost in a run."""
    entries = catalog.load([suite.conformance()]).entries
    return [entry for entry in entries if entry.dialect == DIALECT and entry.case.naps() == 0 and not _odd(entry)]


def _odd(entry: Entry) -> bool:
    if any(h.wait_for or h.wait_for_end or h.signal or h.ignore_term or h.stdout_bytes for h in entry.case.handlers):
        return True
    # these cannot be written down again as JSON that is YAML too
    surrogates = "\\ud" in json.dumps(msgspec.to_builtins(entry.case))
    return surrogates or any(call.payload or call.json for call in entry.case.tool_calls())


def _one_shot(place: Path) -> Path:
    """The reference as a runner that is started anew for each request."""
    path = place / "one-shot"
    here = [sysconfig.get_path("purelib"), *(p for p in sys.path if p.endswith(("harness", "reference_impl")))]
    path.write_text(ONE_SHOT.format(python=sys.executable, path=here))
    path.chmod(0o755)
    return path


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hookproof-bench-") as name:
        yield Path(name)


def _file_system(folder: Path) -> str:
    mounts = [line.split(" ") for line in Path("/proc/mounts").read_text("utf-8", "surrogateescape").splitlines()]
    inside = [(len(words[1]), words[2], words[1]) for words in mounts if folder.is_relative_to(words[1])]
    return "{1} ({2})".format(*max(inside))


if __name__ == "__main__":
    sys.exit(main())
