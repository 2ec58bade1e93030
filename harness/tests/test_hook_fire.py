"""Scripts are fired: what they do is written down, nothing of theirs outlives them, nothing of ours reaches them."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof import tree
from hookproof.errors import HarnessError
from hookproof.hooks import lanes, talk
from hookproof.hooks.bench import Bench
from hookproof.hooks.fire import How
from hookproof.hooks.script import Script, from_path

Make = Callable[..., Script]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench() as opened:
        yield opened


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(text: str, name: str = "hook.sh", mode: int = 0o755) -> Script:
        path = tmp_path / name
        path.write_text(text)
        path.chmod(mode)
        return from_path(path)

    return made


def alive(name: str) -> list[int]:
    mine = tree.below(tree.table(), [os.getpid()])
    return [pid for pid in mine if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_exit_code_stdout_and_stderr_are_kept(bench: Bench, make: Make) -> None:
    fired = bench.fire(make("#!/bin/sh\ncat; echo no >&2; exit 2\n"), b'{"a":1}\n')
    assert (fired.exit, fired.said, fired.complained, fired.unread) == (2, '{"a":1}\n', "no\n", 0)


def test_a_payload_that_is_not_read_is_no_failure(bench: Bench, make: Make) -> None:
    fired = bench.fire(make("#!/bin/sh\nexit 0\n"), b"x" * 1_000_000)
    assert fired.exit == 0
    assert fired.unread > 0


def test_the_captured_folders_become_folders_that_exist(bench: Bench, make: Make) -> None:
    script = make('#!/bin/sh\nread -r line; cd "$line" && pwd && cd "$HOME" && pwd\n')
    project, home = bench.fire(script, b"/home/dev/project\n").said.split()
    assert project.startswith(str(bench.root))
    assert home == str(Path(project).parent / "home")


def test_nothing_of_the_callers_environment_is_seen_but_decoys_are(
    bench: Bench, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_OWN_SECRET", "s3cret")
    said = bench.fire(make("#!/bin/sh\nenv\n"), b"").said
    assert "s3cret" not in said
    assert bench.decoys["GITHUB_TOKEN"] in said


def test_what_it_writes_into_its_world_is_told_and_gone(bench: Bench, make: Make) -> None:
    script = make('#!/bin/sh\necho x >"$HOME/h"; echo x >p; echo x >"$TMPDIR/t"; echo "$HOME"\n')
    fired = bench.fire(script, b"")
    assert fired.wrote == ("home/h", "project/p", "tmp/t")
    assert not Path(fired.said.strip()).exists()


def test_a_daemon_that_detaches_itself_is_named_and_ended(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\n(setsid sleep 86399 >/dev/null 2>&1 </dev/null &)\nexit 0\n")
    fired = bench.fire(script, b"")
    assert fired.exit == 0
    assert fired.left == ("sleep",)
    assert alive("86399") == []


def test_a_child_that_holds_stdout_is_not_waited_for(bench: Bench, make: Make) -> None:
    began = time.monotonic()
    fired = bench.fire(make("#!/bin/sh\nsleep 86398 &\necho done\n"), b"")
    assert fired.held
    assert fired.said == "done\n"
    assert time.monotonic() - began < 10
    assert alive("86398") == []


def test_stdout_that_was_held_once_is_waited_for_less(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\nsleep 30 &\necho said\n")
    bench.fire(script, b"{}")
    began = time.monotonic()
    held = [bench.fire(script, b"{}") for _ in range(5)]
    assert all(fired.held and fired.said == "said\n" for fired in held)
    assert time.monotonic() - began < 5 * 0.5


def test_a_script_that_hangs_and_ignores_term_is_ended_at_its_limit(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 86397; done\n")
    fired = bench.fire(script, b"", How(limit_s=0.3))
    assert fired.timed_out
    assert fired.ignored_term
    assert fired.exit is None
    assert alive("86397") == []


def test_a_flood_is_cut_and_named(bench: Bench, make: Make) -> None:
    fired = bench.fire(make("#!/bin/sh\nyes\n"), b"", How(limit_s=20))
    assert "output" in fired.flooded
    assert len(fired.stdout) <= 2 << 20


def test_a_flood_of_files_is_cut_and_named(bench: Bench, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "FILES_BYTES", 32 << 20)
    fired = bench.fire(make('#!/bin/sh\nn=0\nwhile :; do n=$((n + 1)); head -c 1000000 /dev/zero >"$TMPDIR/$n"; done\n'), b"")
    assert "of files" in fired.flooded
    assert fired.seconds < 10


def test_a_fork_bomb_is_ended_and_the_next_script_runs_as_ever(bench: Bench, make: Make) -> None:
    if not bench.confines:
        pytest.skip("there are no process namespaces here")
    bomb = make("#!/bin/bash\nb() { b | b & }; b\n", "bomb.sh")
    fired = bench.fire(bomb, b"", How(limit_s=20))
    assert "processes" in fired.flooded
    assert alive("bomb.sh") == []
    assert bench.fire(make("#!/bin/sh\nexit 3\n"), b"").exit == 3


def test_a_script_cannot_have_more_processes_than_a_lane_has_numbers(bench: Bench, make: Make) -> None:
    if not bench.confines or not lanes._numbers_are_own():
        pytest.skip("no process namespaces here, or none with a highest number of their own")
    highest = Path("/proc/sys/kernel/pid_max").read_text()
    fired = bench.fire(make("#!/bin/sh\ncat /proc/sys/kernel/pid_max\n"), b"{}")
    assert int(fired.stdout) <= 4000 < int(highest)
    assert Path("/proc/sys/kernel/pid_max").read_text() == highest, "the machine's own is not touched"


def test_a_crowded_system_is_waited_for_and_then_no_finding(
    bench: Bench, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script, real, tries = make("#!/bin/sh\necho said\n"), subprocess.Popen, []

    def crowded(*args: object, **words: object) -> object:
        tries.append(args)
        if len(tries) < room:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return real(*args, **words)  # type: ignore[call-overload]

    bench.fire(script, b"{}")  # the lane has begun
    monkeypatch.setattr(subprocess, "Popen", crowded)
    room = 3
    assert bench.fire(script, b"{}").said == "said\n"
    monkeypatch.setattr(talk, "CROWDED_S", 0.0)
    room = 100
    with pytest.raises(HarnessError, match="no more processes"):
        bench.fire(script, b"{}")


def test_a_script_that_kills_its_parent_hurts_nobody_else(bench: Bench, make: Make) -> None:
    fired = bench.fire(make("#!/bin/sh\nkill -9 $PPID\nsleep 0.2\nexit 0\n"), b"")
    assert fired.signal == 9


def test_the_payload_can_come_in_pieces_and_stdin_can_stay_open(bench: Bench, make: Make) -> None:
    data = b"x" * 5000 + b"\n"
    assert bench.fire(make("#!/bin/sh\nwc -c\n"), data, How(stdin="pieces")).said.strip() == "5001"
    assert bench.fire(make("#!/bin/sh\ncat\n"), data, How(stdin="held", limit_s=0.3)).timed_out
    assert bench.fire(make("#!/bin/sh\ncat 2>/dev/null || exit 9\n"), data, How(stdin="closed")).exit == 9


def test_a_folder_that_cannot_be_written_to_and_a_full_disk(bench: Bench, make: Make) -> None:
    script = make('#!/bin/sh\ncat >/dev/null\necho hello >"$HOME/x" || exit 7\nexit 0\n')
    for how in (How(read_only=True), How(full=True)):
        fired = bench.fire(script, b"{}", how)
        if fired.exit == 125:
            pytest.skip("nothing can be mounted here")
        assert fired.exit == 7
    assert bench.fire(script, b"{}").exit == 0


def test_a_path_without_a_program_has_the_others(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\ncommand -v jq; command -v sed\n")
    said = bench.fire(script, b"", How(path=bench.path_without("jq"))).said.split()
    assert [Path(line).name for line in said] == ["sed"]


def test_many_scripts_run_at_once_with_pids_of_their_own(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\nsleep 0.3; echo $$\n")
    fired = bench.fire_all([(script, b"", How())] * 8, at_once=8)
    assert len({one.said for one in fired}) == 8


def test_changes_outside_the_worlds_are_told(bench: Bench, make: Make, tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    watched.mkdir()
    bench.watch(watched)
    bench.fire(make(f"#!/bin/sh\necho x >{watched}/log\n"), b"")
    assert bench.watched() == (str(watched / "log"),)


def test_a_bench_leaves_no_process_and_no_folder_behind(make: Make) -> None:
    with Bench() as own:
        own.fire(make("#!/bin/sh\n(sleep 86396 &)\n"), b"")
        root = own.root
    assert not root.exists()
    assert alive("86396") == []
    assert alive("hookproof-lane") == []


def test_without_namespaces_nothing_gets_away_either(make: Make) -> None:
    with Bench(lanes=1, confine=False) as own:
        fired = own.fire(make("#!/bin/sh\n(setsid sleep 86395 >/dev/null 2>&1 </dev/null &)\nsleep 0.1\n"), b"")
        assert not own.confines
        assert fired.left == ("sleep",)
        assert alive("86395") == []
        assert own.fire(make("#!/bin/sh\nexit 4\n"), b"").exit == 4


def test_firing_costs_little_more_than_the_bare_start(bench: Bench, make: Make) -> None:
    script = make("#!/bin/sh\nexit 0\n")
    number = 100

    def cpu_s(do: Callable[[], object]) -> float:
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        before = [resource.getrusage(kind) for kind in kinds]
        do()
        after = [resource.getrusage(kind) for kind in kinds]
        return sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True)) / number

    def bare() -> None:
        for _ in range(number):
            subprocess.run(script.argv(), input=b"{}", capture_output=True, check=True)

    fired = cpu_s(lambda: bench.fire_all([(script, b"{}", How())] * number))
    # the wanted bound is 1 ms; on a busy machine the clock of the CPU itself is coarse
    assert fired - cpu_s(bare) < 0.004
