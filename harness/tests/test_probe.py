"""A probe does what its act says, notes it, and no trouble of its own looks like an answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookproof import ledger
from hookproof.cases import Child
from hookproof.dialects import Answer
from hookproof.errors import HarnessError
from hookproof.probe import INLINE, Act, ProbeKit, encode, find_world_folder

EVERY_BYTE = bytes(range(1, 256))


class World:
    """A kit and one ledger folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kit = ProbeKit(root / "kit")
        self.folder = root / "ledger"
        self.folder.mkdir()

    def place(self, act: Act, name: str = "h1") -> str:
        return str(self.kit.place(self.folder, name, act))

    def run(self, act: Act, name: str = "h1", stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([self.place(act, name)], input=stdin, capture_output=True, timeout=60, check=False)

    def ledger(self) -> ledger.Ledger:
        return ledger.read(self.folder)

    def lines(self) -> list[str]:
        """The journal without process ids."""
        return [" ".join(f"{fact}".split(" ")[:2]) if fact.kind == "start" else str(fact) for fact in self.ledger().facts]


@pytest.fixture
def world() -> Iterator[World]:
    root = Path(tempfile.mkdtemp(prefix="hp-", dir=find_world_folder()))
    yield World(root)
    shutil.rmtree(root)


def until_noted(world: World, line: str) -> None:
    """Waits for a line of the journal."""
    limit = time.monotonic() + 20
    while line not in world.lines():
        assert time.monotonic() < limit, f'"{line}" never came'
        time.sleep(0.005)


# ---- the ordinary case ---------------------------------------------------------------------------


def test_a_probe_without_anything_to_do_reads_prints_nothing_and_exits_0(world: World) -> None:
    done = world.run(Act(), stdin=b'{"a": 1}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert world.lines() == ["start h1.1", "read h1.1", "end h1.1 0"]
    assert world.ledger().stdin_json("h1") == {"a": 1}


def test_start_and_end_have_times_and_the_start_a_process_id(world: World) -> None:
    before = time.time()
    process = subprocess.Popen([world.place(Act(read="none", sleep=0.3))])
    process.wait()
    seen = world.ledger()
    started, ended = seen.started_at("h1"), seen.ended_at("h1")
    assert started is not None and ended is not None
    assert before - 0.1 < started < ended - 0.25
    assert seen.facts[0].detail == str(process.pid)


def test_an_answer_is_printed_on_both_streams_with_its_exit_code(world: World) -> None:
    done = world.run(Act((Answer('{"verdict": "deny"}', "no", 2),)))
    assert (done.returncode, done.stdout, done.stderr) == (2, b'{"verdict": "deny"}', b"no")
    assert world.lines()[-1] == "end h1.1 2"


def test_of_a_list_of_answers_each_run_gives_its_own_and_the_last_repeats(world: World) -> None:
    command = world.place(Act((Answer("one"), Answer("two", exit=3), Answer("three", exit=4))))
    done = [subprocess.run([command], capture_output=True, stdin=subprocess.DEVNULL, check=False) for _ in range(5)]
    assert [(d.stdout, d.returncode) for d in done] == [(b"one", 0), (b"two", 3), (b"three", 4), (b"three", 4), (b"three", 4)]
    assert world.ledger().starts("h1") == 5


def test_a_tool_is_the_same_program_without_a_fifo(world: World) -> None:
    done = world.run(Act((Answer("ok"),)), "t1", b"{}")
    assert (done.returncode, done.stdout) == (0, b"ok")
    assert world.ledger().started("t") == ["t1"]
    assert not (world.folder / "t1.live").exists()


# ---- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'it\'s "quoted" $HOME `id` $(id) \\n \\ %s %% -n',
        "-n",
        "two\nlines\r\n\n",
        "grüße 日本 \U0001f600",
        "nul\0inside",
        EVERY_BYTE.decode("utf-8", "surrogateescape"),
        "\ud83d alone",
        "x" * INLINE,
        "é'" * 1_500_000,
    ],
    ids=["shell", "option", "lines", "unicode", "nul", "every-byte", "surrogate", "longest-inline", "megabytes"],
)
def test_any_text_is_printed_to_the_byte(world: World, text: str) -> None:
    done = world.run(Act((Answer(text, text + "!"), Answer())))
    assert done.stdout == encode(text)
    assert done.stderr == encode(text) + b"!"


@pytest.mark.parametrize("length", [100, INLINE, 300_000])
def test_stdout_is_filled_with_blanks_and_stays_the_same_json(world: World, length: int) -> None:
    done = world.run(Act((Answer('{"verdict": "allow"}'),), stdout_bytes=length))
    assert len(done.stdout) == length
    assert json.loads(done.stdout) == {"verdict": "allow"}


def test_stdout_without_an_answer_is_filled_with_x(world: World) -> None:
    assert world.run(Act(stdout_bytes=300_000)).stdout == b"x" * 300_000


def test_an_answer_longer_than_stdout_bytes_is_not_cut(world: World) -> None:
    assert world.run(Act((Answer("long enough"),), stdout_bytes=4)).stdout == b"long enough"


# ---- stdin ---------------------------------------------------------------------------------------


def test_stdin_is_kept_to_the_byte(world: World) -> None:
    sent = (bytes(range(256)) + b"\xff\xfe\0" * 7) * 20_000
    assert len(sent) > 5_000_000
    assert world.run(Act(), stdin=sent).returncode == 0
    assert world.ledger().stdin("h1") == sent


def test_half_reads_64_bytes_and_then_closes_stdin(world: World) -> None:
    process = subprocess.Popen([world.place(Act(read="half", sleep=2))], stdin=subprocess.PIPE)
    assert process.stdin is not None
    os.write(process.stdin.fileno(), b"y" * 65)
    # it notes that it has read once stdin is closed
    until_noted(world, "read h1.1")
    with pytest.raises(BrokenPipeError):
        os.write(process.stdin.fileno(), b"y")
    process.kill()
    process.wait()
    process.stdin.close()
    assert world.ledger().stdin("h1") == b"y" * 64


def test_none_leaves_stdin_unread(world: World) -> None:
    assert world.run(Act(read="none"), stdin=b"{}").returncode == 0
    assert world.lines() == ["start h1.1", "end h1.1 0"]
    assert world.ledger().stdin("h1") is None


def test_a_runner_that_closed_stdin_is_no_trouble_of_the_probe(world: World) -> None:
    done = subprocess.run(["/bin/sh", "-c", f"{world.place(Act((Answer(exit=2),)))} <&-"], capture_output=True, check=False)
    assert done.returncode == 2
    assert world.lines() == ["start h1.1", "end h1.1 2"]


# ---- how it is started ---------------------------------------------------------------------------


def test_environment_folder_and_arguments_are_kept_as_they_were_given(world: World) -> None:
    command = world.place(Act(record=frozenset({"env", "cwd", "args"})))
    given = {"PATH": "", "EMPTY": "", "LINES": "a\nb=c", "reads": "none", "n": "7", "no-name": "1", "IFS": "1"}
    odd = world.root / "a folder's"
    odd.mkdir()
    arguments = ["", "two words", "line\nbreak", "*", "-n"]
    done = subprocess.run([command, *arguments], env=given, cwd=odd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    seen = world.ledger()
    assert (done.returncode, done.stderr) == (0, b"")
    assert seen.env("h1") == given
    assert seen.cwd("h1") == str(odd.resolve())
    assert seen.args("h1") == arguments


def test_no_arguments_are_kept_as_an_empty_list(world: World) -> None:
    world.run(Act(record=frozenset({"args"})))
    assert world.ledger().args("h1") == []
    assert world.ledger().env("h1") is None


def test_a_missing_probe_is_only_a_path(world: World) -> None:
    command = world.place(Act(missing=True))
    assert command == str(world.folder / "h1")
    assert list(world.folder.iterdir()) == []


def test_a_probe_that_is_not_executable_cannot_be_started(world: World) -> None:
    command = world.place(Act(not_executable=True))
    with pytest.raises(PermissionError):
        subprocess.run([command], check=False)
    assert Path(command).is_file()


def test_a_link_serves_where_hard_links_are_impossible(world: World) -> None:
    disk = Path(tempfile.mkdtemp(prefix="hp-", dir="/var/tmp"))
    try:
        if disk.stat().st_dev == world.root.stat().st_dev:
            pytest.skip("needs two file systems")
        command = world.kit.place(disk, "h1", Act((Answer("ok"),)))
        assert command.is_symlink()
        assert subprocess.run([command], stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout == b"ok"
        assert ledger.read(disk).starts("h1") == 1
    finally:
        shutil.rmtree(disk)


def test_a_kit_that_cannot_be_written_is_our_own_trouble() -> None:
    with pytest.raises(HarnessError, match="cannot write the probes' program"):
        ProbeKit(Path("/proc/no-such-place"))


def test_a_probe_that_cannot_be_laid_down_is_our_own_trouble(world: World) -> None:
    with pytest.raises(HarnessError, match="cannot write the probe h1 into"):
        world.kit.place(world.folder / "gone", "h1", Act())


# ---- ends and waits ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["TERM", "KILL", "INT", "HUP", "SEGV", "ABRT", "PIPE", "USR1"])
def test_a_probe_dies_by_its_signal_after_it_answered(world: World, name: str) -> None:
    done = world.run(Act((Answer("said"),), signal=name, ignore_term=True))
    assert done.returncode == -signal.Signals[f"SIG{name}"]
    assert done.stdout == b"said"
    assert world.lines() == ["start h1.1", "read h1.1", f"dies h1.1 {name}"]


def test_a_signal_that_the_runner_had_ignored_is_replaced_by_kill(world: World) -> None:
    command = world.place(Act(signal="HUP"))
    done = subprocess.run(["/bin/sh", "-c", f"trap '' HUP; exec {command}"], stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL


def test_a_term_for_the_group_does_not_end_a_probe_that_ignores_it(world: World) -> None:
    command = world.place(Act((Answer("still here"),), ignore_term=True, sleep=0.6))
    process = subprocess.Popen([command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    until_noted(world, "read h1.1")
    os.killpg(process.pid, signal.SIGTERM)
    assert process.communicate(timeout=30)[0] == b"still here"
    assert process.returncode == 0
    assert world.lines() == ["start h1.1", "read h1.1", "term h1.1", "end h1.1 0"]


def test_a_term_while_it_reads_does_not_end_a_probe_that_ignores_it(world: World) -> None:
    process = subprocess.Popen([world.place(Act(ignore_term=True))], stdin=subprocess.PIPE, start_new_session=True)
    until_noted(world, "start h1.1")
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(b"late", timeout=30)
    assert process.returncode == 0
    assert world.ledger().stdin("h1") == b"late"
    assert "term h1.1" in world.lines()


def test_a_term_ends_an_ordinary_probe_without_an_end_line(world: World) -> None:
    process = subprocess.Popen([world.place(Act(sleep=20, read="none"))], start_new_session=True)
    until_noted(world, "start h1.1")
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert world.lines() == ["start h1.1"]


def test_two_that_wait_for_each_other_both_go_on(world: World) -> None:
    commands = [world.place(Act(wait_for="h2"), "h1"), world.place(Act(wait_for="h1"), "h2")]
    for process in [subprocess.Popen([c], stdin=subprocess.DEVNULL) for c in commands]:
        assert process.wait(timeout=30) == 0
    seen = world.ledger()
    assert seen.overlap("h1", "h2")
    assert seen.lonely() == []


def test_one_that_waits_alone_is_lonely_and_goes_on(world: World) -> None:
    begun = time.monotonic()
    done = world.run(Act((Answer("alone", exit=1),), wait_for="h2"))
    assert 2 < time.monotonic() - begun < 20
    assert (done.returncode, done.stdout) == (1, b"alone")
    assert world.lines() == ["start h1.1", "read h1.1", "lonely h1.1", "end h1.1 1"]


@pytest.mark.parametrize("died", [None, "TERM"])
def test_one_that_waits_for_an_end_ends_after_it(world: World, died: str | None) -> None:
    first = subprocess.Popen([world.place(Act(wait_for_end="h2"), "h1")], stdin=subprocess.DEVNULL)
    until_noted(world, "start h1.1")
    world.run(Act(signal=died, sleep=0.2), "h2")
    assert first.wait(timeout=30) == 0
    assert world.ledger().facts[-1].probe == "h1"
    assert world.ledger().lonely() == []


@pytest.mark.parametrize("holds", ["stdout", "nothing"])
def test_a_child_holds_stdout_only_if_it_is_told_to(world: World, holds: str) -> None:
    act = Act(child=Child(sleep=0.8, holds=holds))  # type: ignore[arg-type]
    begun = time.monotonic()
    done = world.run(act)
    seconds = time.monotonic() - begun
    assert done.returncode == 0
    assert seconds > 0.75 if holds == "stdout" else seconds < 0.75


# ---- trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["h1", "t1"])
@pytest.mark.parametrize("lost", ["act", "folder"])
def test_a_probe_whose_files_are_gone_ends_with_125(world: World, name: str, lost: str) -> None:
    command = world.place(Act((Answer('{"verdict": "deny"}', exit=2),)), name)
    if lost == "act":
        (world.folder / f"{name}.act").unlink()
    else:
        (world.folder / "journal").mkdir()
    done = subprocess.run([command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("prlimit") is None, reason="needs root and prlimit: root has no such limit")
def test_a_probe_that_may_start_no_process_ends_with_125(world: World) -> None:
    command = world.place(Act((Answer('{"verdict": "deny"}', exit=2),)))
    world.root.chmod(0o755)
    world.folder.chmod(0o777)
    (world.folder / "h1.live").chmod(0o666)
    done = subprocess.run(
        ["prlimit", "--nproc=0", command], stdin=subprocess.DEVNULL, capture_output=True, user=65534, check=False
    )
    assert (done.returncode, done.stdout) == (125, b"")
    assert world.lines() == ["start h1.1"]
