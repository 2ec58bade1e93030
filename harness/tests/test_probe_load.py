"""Many probes at once, a disk that is full, and disks that serve no world."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookproof import ledger
from hookproof.dialects import Answer
from hookproof.probe import Act, ProbeKit, find_world_folder


@pytest.fixture
def root() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hp-", dir=find_world_folder()))
    yield folder
    shutil.rmtree(folder)


def start(command: Path) -> int:
    """Starts a program the cheapest way; its process id."""
    return os.posix_spawn(command, [str(command)], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)])


def exit_of(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_probe_that_runs_nine_times_at_once_numbers_its_runs_1_to_9(root: Path) -> None:
    command = ProbeKit(root / "kit").place(root, "h1", Act(sleep=0.2))
    assert [exit_of(p) for p in [start(command) for _ in range(9)]] == [0] * 9
    facts = ledger.read(root).facts
    assert sorted(f.run for f in facts if f.kind == "start") == list(range(1, 10))
    assert len({f.detail for f in facts if f.kind == "start"}) == 9
    assert sorted(f.run for f in facts if f.kind == "end") == list(range(1, 10))


def test_300_parallel_writers_leave_whole_lines_in_order_and_each_its_own_run(root: Path) -> None:
    kit = ProbeKit(root / "kit")
    commands = [kit.place(root, f"h{number}", Act()) for number in range(1, 31)]
    assert Counter(exit_of(p) for p in [start(command) for _ in range(10) for command in commands]) == {0: 300}
    seen = ledger.read(root)
    assert seen.torn == []
    assert Counter(f.kind for f in seen.facts) == {"start": 300, "read": 300, "end": 300}
    runs = {(f.probe, f.run) for f in seen.facts if f.kind == "start"}
    assert runs == {(f"h{probe}", run) for probe in range(1, 31) for run in range(1, 11)}
    order = [[f.kind for f in seen.facts if (f.probe, f.run) == one] for one in sorted(runs)[::15]]
    assert order == [["start", "read", "end"]] * 20


def test_5000_starts_from_6_threads_that_also_lay_out_worlds_all_succeed(root: Path) -> None:
    kit = ProbeKit(root / "kit")
    trouble: Counter[str] = Counter()

    def worlds(thread: int) -> int:
        started = 0
        for number in range(84):
            folder = root / f"w{thread}-{number}"
            folder.mkdir()
            commands = [kit.place(folder, f"t{probe}", Act(read="none")) for probe in range(1, 11)]
            for command in commands:
                try:
                    code = exit_of(start(command))
                except OSError as error:
                    trouble[os.strerror(error.errno or 0)] += 1
                else:
                    started += code == 0
                    trouble[f"exit {code}"] += code != 0
            shutil.rmtree(folder)
        return started

    with ThreadPoolExecutor(6) as threads:
        started = sum(threads.map(worlds, range(6)))
    assert +trouble == Counter()
    assert started == 6 * 84 * 10


FULL = r"""
import subprocess, sys
from pathlib import Path
from hookproof.dialects import Answer
from hookproof.liveness import Liveness
from hookproof.probe import Act, ProbeKit
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=" + sys.argv[2], "none", str(folder)], check=True)
kit = ProbeKit(folder / "kit")
commands = [kit.place(folder, name, Act((Answer('{"verdict": "deny"}', "no", exit=2),))) for name in ("h1", "t1")]
with Liveness(folder) as fifos:
    if sys.argv[2] == "0":
        with open(folder / "ballast", "wb", buffering=0) as ballast:
            try:
                while ballast.write(b"x" * 1024):
                    pass
            except OSError:
                pass
    for command in commands:
        done = subprocess.run([command], input=b"{}" * 5000, capture_output=True)
        print(done.returncode, len(done.stdout), b"no" == done.stderr)
    print(len(fifos.complaints()))
"""


def with_own_mounts(root: Path, command: list[str]) -> str:
    """What a command prints that sees, alone, what it mounts."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare to mount a tiny disk")
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", root], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"cannot mount here: {tried.stderr.strip()}")
    done = subprocess.run(["unshare", "-m", *command], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("inodes", ["0", "10"], ids=["no-block-left", "no-inode-left"])
def test_a_full_disk_is_no_verdict(root: Path, inodes: str) -> None:
    printed = with_own_mounts(root, [sys.executable, "-c", FULL, str(root), inodes])
    assert printed == "125 0 False\n125 0 False\n1\n"


FIND = "from hookproof.probe import find_world_folder as find; print(find())"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no /dev/shm here")
@pytest.mark.parametrize(
    ("memory", "temporary", "chosen"),
    [
        ("rw", "rw", "/dev/shm"),
        ("noexec", "rw", "TMPDIR"),
        ("ro", "rw", "TMPDIR"),
        ("size=64k", "rw", "TMPDIR"),
        ("noexec", "noexec", "programs cannot be written to and started from TMPDIR"),
    ],
)
def test_worlds_lie_in_memory_where_programs_start_there_and_else_in_tmpdir(
    root: Path, memory: str, temporary: str, chosen: str
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="hp-", dir="/var/tmp"))
    mounts = f"mount -t tmpfs -o {temporary} none {folder} && mount -t tmpfs -o {memory} none /dev/shm"
    try:
        printed = with_own_mounts(root, ["/bin/sh", "-c", f'{mounts} && TMPDIR={folder} exec {sys.executable} -c "{FIND}"'])
    finally:
        folder.rmdir()
    assert chosen.replace("TMPDIR", str(folder), 1) in printed.splitlines()[-1 if "cannot" not in chosen else -2]


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit to set the limit")
@pytest.mark.parametrize("room", [0, 1, 20, 30])
def test_a_limit_on_the_size_of_files_is_no_verdict(root: Path, room: int) -> None:
    command = ProbeKit(root / "kit").place(root, "h1", Act((Answer("said", exit=2),)))
    (root / "journal").write_text("start h9 1 1\n")
    script = f"trap '' XFSZ; exec prlimit --fsize={13 + room} {command}"
    done = subprocess.run(["/bin/sh", "-c", script], input=b"", capture_output=True, check=False)
    assert done.returncode == 125
    assert not any(f.kind == "end" for f in ledger.read(root).facts)
