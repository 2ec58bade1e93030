"""`hookproof check --hook` puts each script to the proof, and tells what came out in words or as a stream."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

from .. import results
from ..errors import UsageError
from ..reaper import Reaper
from . import asking, certify, report
from .bench import Bench
from .check import Probe
from .meaning import Reader
from .portability import words
from .script import Script


def asked(options: argparse.Namespace) -> asking.Asked:
    """What the options mean. Raises UsageError."""
    if len(options.dialect) > 1:
        raise UsageError("a hook script is proved in one dialect at a time", "give one --dialect")
    return asking.Asked(
        hooks=(*options.hook, *options.settings),
        base=Path.cwd(),
        event=options.event,
        matcher=options.matcher,
        dialect=asking.dialect_named(options.dialect[0] if options.dialect else None),
        families=tuple(name.removeprefix("hook-") for name in options.family),
        cases=tuple(options.case),
        refuse=tuple(options.refuse),
        accept=tuple(options.accept),
        policy=options.policy,
        strict=options.strict,
    ).with_policy(dialect_given=bool(options.dialect))


def run(options: argparse.Namespace) -> int:
    """Exit code 0: proved, 1: findings, 2: it could not be done."""
    meant = asked(options)
    scripts = meant.scripts()
    if options.update:
        return update(meant, scripts)
    checks = certify.selected(meant.families, meant.checks, meant.policy_checks(scripts))
    agents = len(words.NAMES) if options.portability else 0
    with ExitStack() as stack:
        streams: list[TextIO] = []
        if options.results:
            streams.append(stack.enter_context(_opened(Path(options.results))))
        if options.json:
            streams.append(sys.stdout)
        for stream in streams:
            results.write(certify.header(scripts, len(scripts) * (len(checks) + agents)), stream)
        stack.enter_context(_ending_on_signals())
        reports = []
        for made in proved(meant, scripts, portable=options.portability):
            reports.append(made)
            for stream in streams:
                for case in made.cases:
                    results.write(case, stream)
            if not options.json:
                print("\n".join([*([""] if len(reports) > 1 else []), *report.text(made)]), flush=True)
        footer = certify.footer(reports)
        for stream in streams:
            results.write(footer, stream)
        if not options.json:
            if meant.left_out():
                print("\n" + "\n".join(meant.left_out()))
            print(f"\n{report.last_line(footer)}")
    return exit_code(reports)


def proved(meant: asking.Asked, scripts: list[Script], *, portable: bool = False) -> Iterator[certify.HookReport]:
    """One report for each script, as it is done."""
    with opened() as (bench, reader):
        asking.must_be_drivable(scripts, reader)
        for script in scripts:
            refuse, accept = meant.canaries(script)
            yield certify.certify(
                script,
                bench,
                reader,
                refuse=refuse,
                accept=accept,
                families=meant.families,
                ids=meant.checks,
                extra=meant.policy_checks(scripts),
                portable=portable,
                strict=meant.strict,
            )


def update(meant: asking.Asked, scripts: list[Script]) -> int:
    """Show what the policy file should say instead, and write it. Exit code 0; 1 when the user does not want it."""
    from . import policy, updating

    found = policy.given(meant.policy, meant.base)
    if found is None:
        raise UsageError("--update needs a policy file", "name it: --policy guard.yaml")
    made: dict[str, updating.Change] = {}
    with opened() as (bench, reader):
        for script in scripts:
            probe = Probe(script, bench, reader)
            for change in updating.changes(found, probe, scripts):
                if change.sample.id in made:
                    remedy = "say with hook: which of them is meant"
                    raise UsageError(f'several handlers answer the sample "{change.sample.id}" otherwise than expected', remedy)
                made[change.sample.id] = change
    return updating.carry_out(found, list(made.values()))


@contextmanager
def opened() -> Iterator[tuple[Bench, Reader]]:
    """A bench and a reader of answers; all is cleaned up behind."""
    reaper = Reaper()
    try:
        with Bench(reaper=reaper) as bench, Reader(reaper, bench.folder("reader")) as reader:
            yield bench, reader
    finally:
        reaper.close()


def exit_code(reports: list[certify.HookReport]) -> int:
    """0: proved, 1: findings, 2: our own fault."""
    statuses = {case.status for made in reports for case in made.cases}
    if "harness-error" in statuses:
        return 2
    return 1 if statuses & results.BAD else 0


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the run as Ctrl-C does: with everything cleaned up."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the results cannot be written: {error.strerror}") from None
