"""One pytest run that puts a subject to the proof: engine -> tests -> event stream -> summary and exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import msgspec
import pytest

from . import asked, foreign, known, reporting, results, scenarios, suite
from .engine import Engine, Job
from .errors import HarnessError, HookproofError, SubjectError, UsageError
from .gates.jobs import Job as GateJob
from .plugin import PROOF, SuiteModule
from .properties import RELATIONS
from .proving import PropertyJob
from .results import BAD, CaseResult
from .views import junit, terminal

RESULT = pytest.StashKey[CaseResult]()
MODULES = ("cases", "deny_safe", "first_veto", "gate", "narrowing", "ordering", "timeout_units")
TESTS = tuple(f"conformance/test_{module}.py::" for module in MODULES)
"""How the node ids of the tests begin that have a result: each case, each property, each settings file."""
SCENARIO_TESTS = f"conformance/{scenarios.MODULE}::"
FIXTURES = ("hookproof_case", "hookproof_property", "hookproof_gate")
ONE_PER_JOB = {"hookproof_case": "test_case", "hookproof_gate": "test_settings_file"}
"""Fixture -> the test of the suite that there is once per job."""


def begin(config: pytest.Config) -> int | None:
    """Shake hands with the subject and join the run; an exit code when there can be no run."""
    try:
        proof = Proof(config)
    except (SubjectError, HarnessError) as error:
        said, complained = getattr(error, "said", ""), getattr(error, "complained", "")
        print(terminal.refusal(error.message, error.hint, said, complained), file=sys.stderr)
        if config.option.hookproof_smoke and isinstance(error, SubjectError):
            print("smoke: wired wrongly: the handshake failed", file=sys.stderr)
        return 2
    except HookproofError as error:
        raise pytest.UsageError(str(error)) from None
    except (KeyboardInterrupt, pytest.exit.Exception) as stopped:
        # pytest itself catches these only later, in its session
        print(f"hookproof: {str(stopped) or 'interrupted'} before the first case: this run proves nothing", file=sys.stderr)
        return getattr(stopped, "returncode", None) or pytest.ExitCode.INTERRUPTED
    config.stash[PROOF] = proof
    config.pluginmanager.register(proof, "hookproof-proof")
    return None


class Proof:
    """The hooks of a run that has a subject. In a run with xdist the workers judge, the controller reports."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.spread = self.is_worker or config.getoption("dist", "no") != "no"
        here = config.invocation_params.dir
        self.known = known.read(here / option.hookproof_known) if option.hookproof_known else known.Known()
        self.write_known = here / option.hookproof_write_known if option.hookproof_write_known else None
        if self.write_known is not None and self.write_known.exists():
            raise UsageError(f"{self.write_known} is there already", "--write-known makes the first file; edit this one by hand")
        if self.write_known is not None and not self.write_known.parent.is_dir():
            raise UsageError(f"{self.write_known.parent} is no folder: the known failures cannot be written there")
        self._ended: Exception | None = None
        """Raised by a signal; kept, because an exception that is raised in the midst of a callback can get lost."""
        self._catch_signals(config)
        self.engine = asked.engine(config)
        config.add_cleanup(self.engine.close)
        self.selects = bool(self.engine.options.narrowed or option.hookproof_dialect)
        self.fixture, self.no_scenarios = "hookproof_gate", "a gate has none"
        if isinstance(self.engine, Engine):
            self.fixture, self.no_scenarios = "hookproof_case", scenarios.why_not(config, self.engine)
        scenarios.refuse_to_write(config, self.no_scenarios)
        self.jobs: dict[str, Job | GateJob] = {job.test_id: job for job in self.engine.jobs}
        self.began = time.monotonic()
        self.expected: list[str] | None = None
        """The node ids of the tests that were collected, in order; None before the collection has ended."""
        self.compared = 0
        """How many scenarios were collected, to be compared with their snapshots: they are no results."""
        self.plainly = False
        """Whether cases are reported without the phases that only tests with code of their own need."""
        self.reported: dict[str, CaseResult | None] = {}
        """Node id -> its result; None for a test that ended without one."""
        self.account = known.Account()
        self.footer: results.Footer | None = None
        self._written = 0
        self._stream: TextIO | None = None
        if option.hookproof_results and not self.is_worker:
            self._stream = _opened(here / option.hookproof_results)
            config.add_cleanup(self._stream.close)
        self._keep_out_of_the_users_folder(config)

    # ---- before the first test -------------------------------------------------------------------

    def _catch_signals(self, config: pytest.Config) -> None:
        """SIGTERM and a closed terminal end the run as Ctrl-C does: with everything cleaned up."""
        if self.is_worker or threading.current_thread() is not threading.main_thread():
            return

        def stop(number: int, frame: FrameType | None) -> None:
            signal.signal(number, signal.SIG_DFL)
            self._ended = pytest.exit.Exception(f"ended by {signal.Signals(number).name}", returncode=128 + number)
            raise self._ended

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, stop)
                config.add_cleanup(partial(_let_go_of, number))

    def _keep_out_of_the_users_folder(self, config: pytest.Config) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="hookproof-cache-"))
        self.engine.remove_at_end(self._scratch)
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(self._scratch / "hypothesis"))

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """pytest's cache goes where the run's own scratch lies."""
        cache = getattr(config, "cache", None)
        if cache is not None:
            cache._cachedir = self._scratch / "cache"

    def pytest_report_header(self) -> list[str]:
        """Suite, subject, and every setting of the user's pytest that is in force."""
        lines = terminal.head(self.engine.header, suite.conformance(), self.engine.spec.shown)
        if settings := foreign.harmless(self.config):
            lines.append(f"settings of this pytest in force: {', '.join(settings)}")
        return lines

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """The stream begins."""
        if self._stream is not None:
            results.write(self.engine.header, self._stream)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test per job, in the engine's order."""
        if self.fixture in metafunc.fixturenames:
            metafunc.parametrize(self.fixture, list(self.jobs.values()), ids=list(self.jobs), indirect=True)
        elif "hookproof_record" in metafunc.fixturenames and isinstance(self.engine, Engine):
            put = (job for job in self.jobs.values() if isinstance(job, Job) and self.engine.asks(job))
            chosen = [job for job in put if job.id in metafunc.module.SCENARIOS]
            metafunc.parametrize("hookproof_record", chosen, ids=[scenarios.name(job) for job in chosen], indirect=True)
        elif "hookproof_property" in metafunc.fixturenames:
            jobs = self._properties(metafunc.function.__name__)
            metafunc.parametrize("hookproof_property", jobs, ids=[job.test_id for job in jobs], indirect=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Where there is nothing to compare, the scenarios are no tests, and no skips either."""
        return True if self.no_scenarios and collection_path == suite.conformance() / scenarios.MODULE else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
        """A test of the suite for which nothing was chosen is no test, and no skip either."""
        if not isinstance(collector, SuiteModule):
            return None
        if name == "test_scenario" and self.no_scenarios:
            return []  # its module was named by the user
        if name in ONE_PER_JOB.values():
            return None if name == ONE_PER_JOB[self.fixture] and self.jobs else []
        return [] if _property_of(name) in RELATIONS and not self._properties(name) else None

    def _properties(self, test: str) -> list[PropertyJob]:
        return [job for job in self.engine.properties if job.relation.name == _property_of(test)]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """A run that names a subject and has no case is a mistake."""
        self.plainly = reporting.allowed(session.config)
        # cases and tests stay to the end: no collection need walk through them again
        gc.freeze()
        chosen = {item.nodeid: job for item in session.items if (job := _job(item)) is not None}
        self.engine.narrow([job for job in chosen.values() if not isinstance(job, PropertyJob)])
        if self.spread:
            return
        self.expected = list(chosen)
        self.compared = sum(item.nodeid.startswith(SCENARIO_TESTS) for item in session.items)
        if not self.expected and not self.compared:
            self._refuse_empty_run()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """What the first worker has collected, all have."""
        if self.expected is None:
            self.expected = [nodeid for nodeid in ids if nodeid.startswith(TESTS)]
            self.compared = sum(nodeid.startswith(SCENARIO_TESTS) for nodeid in ids)

    def _refuse_empty_run(self) -> None:
        raise pytest.UsageError(
            "a subject was given, but no conformance case was collected: nothing would be proved\n"
            "hint: name no paths, or the suite's own; choose cases with --family and --case"
        )

    # ---- each test -------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Cases run ahead of the tests that report them."""
        job = _job(item)
        if not isinstance(job, Job | GateJob):
            return None
        self.engine.ahead(job)
        if self.spread and isinstance(following := _job(nextitem) if nextitem is not None else None, Job):
            # a worker knows one test more: its request shows what followed the answer to this one
            self.engine.ahead(following)
        if not self.plainly:
            return None
        reporting.run(item, nextitem, lambda: self.judge(item, job))
        return True

    def record(self, job: Job) -> str:
        """What the test of a scenario compares with its snapshot."""
        __tracebackhide__ = True
        assert isinstance(self.engine, Engine)
        try:
            return self.engine.record(job)
        except HookproofError as error:
            pytest.fail(str(error), pytrace=False)

    def judge(self, item: pytest.Item, job: Job | GateJob | PropertyJob) -> None:
        """The body of a test of the suite: its result as an outcome of pytest."""
        __tracebackhide__ = True
        try:
            if isinstance(job, PropertyJob):
                assert isinstance(self.engine, Engine)
                result = self.engine.prove(job)
            else:
                result = self.engine.result(job)
            if self._ended is not None:
                raise self._ended
        except HookproofError as error:
            pytest.fail(str(error), pytrace=False)
        item.stash[RESULT] = result
        item.user_properties.extend(junit.properties(result))
        opinion = self.known.of(result)
        if opinion.stale:
            lines = [f"{e.where}: {e.shown} is known to fail, and does not: remove the line" for e in opinion.stale]
            pytest.fail("\n".join(lines), pytrace=False)
        if result.status in BAD:
            if opinion.excused is not None:
                pytest.xfail(opinion.excused)
            pytest.fail(terminal.failure(result), pytrace=False)
        if result.status in ("not-tested", "not-applicable"):
            pytest.skip(f"{result.status}: {result.note}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """The result travels with the report, as builtins: xdist carries those from worker to controller."""
        report = yield
        if call.when == "call" and RESULT in item.stash:
            report.hookproof = msgspec.to_builtins(item.stash[RESULT])
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        """pytest's own counts tell our words apart."""
        status = getattr(report, "hookproof", {}).get("status")
        if report.when != "call" or status is None or report.outcome not in ("passed", "skipped"):
            return None  # failed, or run again by another plugin
        if status in BAD:
            return "known failures", "k", ("KNOWN FAILURE", {"yellow": True})
        shown: dict[str, tuple[str, str, Any]] = {
            "warn": ("warned", "w", ("WARN", {"yellow": True})),
            "not-tested": ("not tested", "t", ("NOT TESTED", {"yellow": True})),
            "not-applicable": ("not applicable", "-", "NOT APPLICABLE"),
        }
        return shown.get(status)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result, and write the stream in the order of the collection."""
        if self.is_worker or not report.nodeid.startswith(TESTS):
            return
        raw = getattr(report, "hookproof", None)
        if raw is not None and self.reported.get(report.nodeid) is None:
            self.reported[report.nodeid] = msgspec.convert(raw, CaseResult)
        elif report.when == "teardown":
            self.reported.setdefault(report.nodeid, None)
        self._write_what_is_next()

    def _write_what_is_next(self) -> None:
        expected = self.expected or []
        while self._written < len(expected) and expected[self._written] in self.reported:
            result = self.reported[expected[self._written]]
            self._written += 1
            if result is not None and self._stream is not None:
                results.write(result, self._stream)

    # ---- the end ---------------------------------------------------------------------------------

    @property
    def cases(self) -> list[CaseResult]:
        """The results so far, in the order of the collection."""
        found = (self.reported.get(nodeid) for nodeid in self.expected or [])
        return [result for result in found if result is not None]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Footer and exit code before pytest's own summary, the verdict after it."""
        if self.is_worker or self.config.option.collectonly:
            return (yield)
        self._spare_hypothesis()
        status = int(session.exitstatus)
        empty = status == pytest.ExitCode.NO_TESTS_COLLECTED
        if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = self._finish(status, session.testsfailed)
        result = yield
        if empty:
            self._refuse_empty_run()
        self._say_last(session)
        return result

    def _spare_hypothesis(self) -> None:
        """Its plugin would import all of hypothesis, a fifth of a second, only to find that it has nothing to tell."""
        plugins = self.config.pluginmanager
        if "hypothesis" not in sys.modules and plugins.hasplugin("hypothesispytest"):
            plugins.unregister(name="hypothesispytest")

    def _finish(self, status: int, failed: int) -> int:
        """The exit code of a run that came to its end; `failed` counts all its failed tests."""
        cases = self.cases
        if self.compared and not self.expected:
            return status
        if self.expected is None or len(cases) < len(self.expected):
            return pytest.ExitCode.TESTS_FAILED
        self.footer = self.engine.footer(cases, time.monotonic() - self.began)
        if self._stream is not None:
            results.write(self.footer, self._stream)
        if self.write_known is not None:
            pairs = zip(self.expected, cases, strict=True)
            failures = [(nodeid.partition("[")[2][:-1], case) for nodeid, case in pairs if case.status in BAD]
            known.write(self.write_known, failures)
        # a selection leaves cases out on purpose: an entry for one of those is not wrong
        self.account = self.known.account(cases, whole=not self.selects and len(cases) == self.engine.header.cases)
        unexcused = [case.status for case in cases if case.status in BAD and not self.account.covers(case)]
        if unexcused.count("harness-error") == max(failed, len(unexcused), 1) and not self.account.wrong():
            # our own fault is no finding about the subject
            return pytest.ExitCode.INTERNAL_ERROR
        tested = any(case.status not in ("not-tested", "not-applicable") for case in cases)
        if status or unexcused or self.account.wrong() or not tested:
            return pytest.ExitCode.TESTS_FAILED
        return pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Warnings, what was not tested and why, what is known, and the table of families."""
        if self.config.option.collectonly or not self.cases:
            return
        terminalreporter.write_sep("=", "hookproof")
        for line in [*terminal.asides(self.cases, self.engine.header.runner.get("name")), *self.account.lines()]:
            terminalreporter.write_line(line)
        if self.write_known is not None and self.footer is not None:
            terminalreporter.write_line(f"known failures written to {self.write_known}: put the reason behind each id")
        terminalreporter.write_line("")
        for line in terminal.table(self.cases):
            terminalreporter.write_line(line)

    def _say_last(self, session: pytest.Session) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or int(session.exitstatus) == pytest.ExitCode.USAGE_ERROR:
            return
        if self.compared and not self.expected:
            words = "scenarios were compared with their snapshots; no case was asked, so nothing is proved of the runner"
        elif self.footer is None:
            words = terminal.cut_short(len(self.cases), None if self.expected is None else len(self.expected))
        elif self.config.option.hookproof_smoke:
            words = terminal.smoke(self.cases)
        else:
            words = terminal.last_line(self.footer, self.cases, len(self.account.excused))
        good = int(session.exitstatus) == pytest.ExitCode.OK
        reporter.write_line(words, green=good, red=not good, bold=True)


def _let_go_of(number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_DFL)


def _job(item: pytest.Item) -> Job | GateJob | PropertyJob | None:
    params = getattr(getattr(item, "callspec", None), "params", {})
    job = next((params[name] for name in FIXTURES if name in params), None)
    return job if isinstance(job, Job | GateJob | PropertyJob) else None


def _property_of(test: str) -> str:
    """The property after which a test is named."""
    return test.removeprefix("test_").replace("_", "-")


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the results cannot be written: {error.strerror}") from None
