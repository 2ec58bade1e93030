"""`hookproof check` puts a runner or a gate to the proof in a clean pytest of its own, and tells what came out in plain words.

The child runs with the suite's own ini, without anybody's plugins, conftests or options; its event stream comes
through a pipe, and what is printed here is a view of that stream.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, TextIO

import msgspec

from .. import known, results, suite
from ..errors import HarnessError, UsageError
from ..process import signal_name
from ..results import BAD, CaseResult, Footer, Header
from ..views import terminal
from ..watchdog import Watchdog

REPEATABLE = ("dialect", "family", "case", "cases")
SINGLE = ("runner", "gate", "examples", "assume", "known", "write_known")
SWITCHES = ("slow", "smoke", "thorough")
INI = "[pytest]\naddopts =\nconsole_output_style = classic\n"
FOREIGN = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_TIMEOUT", "PYTEST_DEBUG", "PYTEST_XDIST_AUTO_NUM_WORKERS")
"""Environment variables by which the caller's pytest habits would reach the child."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command: those of the pytest plugin, by the same names."""
    parser.add_argument("--runner", metavar="RUNNER", help="a file (./myimpl), reference, or example:NAME")
    parser.add_argument("--gate", metavar="GATE", help="a validator of settings files: a file (./validator), or lint")
    parser.add_argument("--dialect", action="append", default=[], metavar="DIALECT", help="only this dialect (repeatable)")
    parser.add_argument("--family", action="append", default=[], metavar="FAMILY", help="only this family (repeatable)")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case (repeatable)")
    parser.add_argument("--cases", action="append", default=[], metavar="DIR", help="a folder with case files of your own")
    parser.add_argument("--slow", action="store_true", help="also the cases that need longer than 3 s")
    parser.add_argument("--smoke", action="store_true", help="three cases: is it wired up at all?")
    parser.add_argument("--thorough", action="store_true", help="look half a minute for failing examples of each property")
    parser.add_argument("--examples", metavar="DIR", help="where failing examples of properties are written")
    parser.add_argument("--assume", metavar="VERSION", help="judge an unknown version as this one; never certifies")
    parser.add_argument("--known", metavar="FILE", help="a file of known failures")
    parser.add_argument("--write-known", metavar="FILE", help="write the failures to a new file of known failures")
    parser.add_argument("--results", metavar="FILE", help="keep the event stream in this file")
    parser.add_argument("--json", action="store_true", help="print the event stream instead of words")
    _hook_arguments(parser)


def _hook_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("hook scripts")
    group.add_argument("--hook", action="append", default=[], metavar="SCRIPT", help="a hook script to prove (repeatable)")
    group.add_argument("--settings", action="append", default=[], metavar="FILE", help="all handlers of a settings file")
    group.add_argument("--event", metavar="EVENT", help="the event of --hook; else guessed from the script")
    group.add_argument("--matcher", metavar="MATCHER", help="the matcher that --hook will have")
    group.add_argument("--refuse", action="append", default=[], metavar="STIMULUS", help="a command that it must refuse")
    group.add_argument("--policy", metavar="FILE", help="samples for the script with what is expected of them")
    group.add_argument("--update", action="store_true", help="write what the script does into --policy, after showing a diff")
    group.add_argument("--portability", action="store_true", help="also what the script's answers mean in other agents, and why")
    group.add_argument("--strict", action="store_true", help="a guard that lets pass what it cannot read fails, too")
    group.add_argument("--accept", action="append", default=[], metavar="STIMULUS", help="a command that it must pass")


def run(options: argparse.Namespace) -> int:
    """Exit code 0: nothing bad, 1: findings, 2: it could not be done, was cut short, or only hookproof itself failed."""
    hooks_named = options.hook or options.settings
    named = [f"--{name}" for name in ("runner", "gate") if getattr(options, name)] + ["--hook"] * bool(hooks_named)
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} are two kinds of proof", "give one of them")
    if hooks_named:
        from ..hooks import command as hooks

        return hooks.run(options)
    if not named:
        raise UsageError("nothing to check was named", "give --runner RUNNER, --gate GATE, --hook SCRIPT or --settings FILE")
    with ExitStack() as stack:
        kept = stack.enter_context(_opened(Path(options.results))) if options.results else None
        watchdog = Watchdog(secrets.token_hex(8))
        stack.callback(watchdog.end)
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-check-", ignore_cleanup_errors=True)))
        watchdog.add_folder(scratch)
        noise = stack.enter_context((scratch / "output").open("w+b"))
        report = _Report(options, kept)
        child, stream = _start(_plugin_options(options), scratch, noise)
        # its own watchdog ends what it has started
        watchdog.watch(child.pid)
        stack.callback(_end, child)
        passed_on = stack.enter_context(_passing_on_signals(child))
        for line in _lines(stream):
            report.take(line)
        code = child.wait()
        return report.end(code, noise, "" if passed_on else _signal_of(code))


def _plugin_options(options: argparse.Namespace) -> list[str]:
    words = []
    for name in (*SINGLE, *REPEATABLE):
        value = getattr(options, name)
        values = value if isinstance(value, list) else [value] if value is not None else []
        words += [f"--hookproof-{name.replace('_', '-')}={one}" for one in values]
    if options.runner and options.results and not options.examples:
        # the child's own results are a pipe, beside which there is no place for files
        words.append(f"--hookproof-examples={Path(options.results).absolute().parent}")
    return words + [f"--hookproof-{name}" for name in SWITCHES if getattr(options, name)]


def _start(words: Sequence[str], scratch: Path, noise: IO[bytes]) -> tuple[subprocess.Popen[bytes], TextIO]:
    ini = scratch / "pytest.ini"
    ini.write_text(INI, "utf-8")
    reading, writing = os.pipe()
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    # -P: a pytest.py in the caller's folder is not the pytest that is meant
    python = [sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin"]
    places = ["-c", str(ini), f"--rootdir={scratch}", f"--hookproof-results=/dev/fd/{writing}"]
    try:
        child = subprocess.Popen(
            [*python, *places, *words],
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=noise,
            env=environment,
            # a group of its own: Ctrl-C reaches it once, from here
            process_group=0,
        )
    except OSError as error:
        os.close(reading)
        raise HarnessError(f"pytest could not be started: {error}") from None
    finally:
        os.close(writing)
    return child, os.fdopen(reading, encoding="utf-8")


def _lines(stream: TextIO) -> Iterator[results.Line]:
    with stream:
        for raw in stream:
            yield msgspec.json.decode(raw, type=Header | CaseResult | Footer)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        child.wait()


@contextmanager
def _passing_on_signals(child: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """What would end this process ends the child, which first ends its subjects; its stream then comes to an end.

    Gives the signals that were passed on.
    """
    passed_on: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        passed_on.append(number)
        if child.poll() is None:
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield passed_on
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Report:
    """The stream as it comes: a line of progress, then failures, table and verdict."""

    def __init__(self, options: argparse.Namespace, kept: TextIO | None) -> None:
        self.options = options
        self.streams = [kept] if kept is not None else []
        if options.json:
            self.streams.append(sys.stdout)
        self.words = not options.json
        self.lively = self.words and sys.stderr.isatty()
        self.header: Header | None = None
        self.cases: list[CaseResult] = []
        self.footer: Footer | None = None
        self.known = known.read(Path(options.known)) if options.known else known.Known()
        self._shown_at = 0.0

    def take(self, line: results.Line) -> None:
        for stream in self.streams:
            results.write(line, stream)
        if isinstance(line, Header):
            self.header = line
            self._print(*terminal.head(line, suite.conformance(), self.options.runner or self.options.gate))
        elif isinstance(line, CaseResult):
            self.cases.append(line)
            self._progress()
        else:
            self.footer = line

    def end(self, code: int, noise: IO[bytes], killed: str) -> int:
        """The exit code. `killed`: the signal by which the run ended, where it did not come through this process."""
        if self.lively and self.cases:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        selects = any((self.options.family, self.options.case, self.options.dialect, self.options.smoke))
        account = self.known.account(self.cases, whole=not selects and self.footer is not None)
        for case in self.cases:
            if case.status in BAD and not account.covers(case):
                self._print("", terminal.failure(_rerun_here(case)))
        if self.cases:
            runner = self.header.runner.get("name") if self.header is not None else None
            self._print("", *terminal.asides(self.cases, runner), *account.lines(), "", *terminal.table(self.cases))
        if self.footer is None:
            return self._without_footer(code, noise, killed)
        if self.options.write_known:
            self._print("", f"known failures written to {self.options.write_known}: put the reason behind each id")
        if self.options.smoke:
            self._print("", terminal.smoke(self.cases))
        else:
            self._print("", terminal.last_line(self.footer, self.cases, len(account.excused)))
        return code if code in (0, 1) else 2

    def _without_footer(self, code: int, noise: IO[bytes], killed: str) -> int:
        if killed:
            print(
                f"hookproof: the process of this run was ended by {killed}: by somebody outside, or by the runner itself, "
                "which may signal only what it has started",
                file=sys.stderr,
            )
        if self.header is not None:
            wanted = self.header.cases
            if code not in (2, 4) and not _signal_of(code):
                noise.seek(0)
                sys.stderr.write(noise.read().decode("utf-8", "replace")[-4000:].removesuffix("\n") + "\n")
            print(f"hookproof: {terminal.cut_short(len(self.cases), wanted)}", file=sys.stderr)
        return 130 if code == 2 and self.header is not None else 2

    def _progress(self) -> None:
        now = time.monotonic()
        if self.lively and now - self._shown_at > 0.1 and self.header is not None:
            self._shown_at = now
            bad = sum(case.status in BAD for case in self.cases)
            print(f"\r\033[K{len(self.cases)} of {self.header.cases} cases, {bad} failed", end="", file=sys.stderr, flush=True)

    def _print(self, *lines: str) -> None:
        if self.words:
            print("\n".join(lines), flush=True)


def _signal_of(code: int) -> str:
    """The signal by which a pytest ended, by its exit code: it says 128 and the number where it could still clean up."""
    number = -code if code < 0 else code - 128
    return signal_name(-number) if number > 0 else ""


def _rerun_here(case: CaseResult) -> CaseResult:
    """The same result with a command of this program to see it again."""
    return msgspec.structs.replace(case, rerun=case.rerun.replace("pytest ", "hookproof check ", 1))


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the results cannot be written: {error.strerror}") from None
