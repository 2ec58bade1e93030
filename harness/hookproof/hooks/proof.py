"""One pytest run that puts hook scripts to the proof: each check is a test, the scripts are fired at beside them."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any, TextIO

import pytest

from .. import results
from ..errors import HookproofError
from ..results import BAD, CaseResult
from ..views import junit
from . import asking, certify, command
from . import report as words
from .portability import words as elsewhere
from .script import Script


def begin(config: pytest.Config) -> None:
    """Join the run. Raises pytest.UsageError for what cannot be meant."""
    try:
        proof = HookProof(config)
    except HookproofError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(proof, "hookproof-hooks")


class Finding(Exception):
    """A broken rule, as a failed test."""


class Item(pytest.Item):
    """One check of one script."""

    def __init__(self, *, proof: HookProof, place: int, check: str, **words: Any) -> None:
        super().__init__(**words)
        self.proof = proof
        self.place = place
        self.check = check
        self.result: CaseResult | None = None

    def runtest(self) -> None:
        """Wait for the result and pass it on as pytest's own outcomes."""
        self.result = result = self.proof.result(self.place, self.check)
        self.user_properties += junit.properties(result)
        if result.status in BAD:
            raise Finding("\n".join(words.finding(result)))
        if result.status in ("not-tested", "not-applicable"):
            pytest.skip(f"{result.status}: {result.note}")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The finding without a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, Finding) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """What pytest shows as the place of the test."""
        return self.proof.scripts[self.place].file or self.path, None, self.name


class HookProof:
    """The hooks of a run with `--hook`. The scripts are fired at in a thread, the tests wait for the results."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        if config.getoption("dist", "no") != "no" or hasattr(config, "workerinput"):
            raise pytest.UsageError("--hook fires its stimuli side by side by itself; leave -n away")
        dialects = option.hookproof_dialect
        self.meant = asking.Asked(
            hooks=tuple(option.hookproof_hook),
            base=config.invocation_params.dir,
            event=option.hookproof_event,
            matcher=option.hookproof_matcher,
            dialect=asking.dialect_named(dialects[0] if dialects else None),
            families=tuple(name.removeprefix("hook-") for name in option.hookproof_family),
            cases=tuple(option.hookproof_case),
            refuse=tuple(option.hookproof_refuse),
            accept=tuple(option.hookproof_accept),
            policy=option.hookproof_policy,
            # pytest's own option of that name, but only where the user wrote it for this run
            strict=option.hookproof_strict_hooks or "--strict" in config.invocation_params.args,
        ).with_policy(dialect_given=bool(dialects))
        self.scripts = self.meant.scripts()
        self.own_checks = self.meant.policy_checks(self.scripts)
        checks = certify.selected(self.meant.families, self.meant.checks, self.own_checks)
        self.portable: bool = option.hookproof_portability
        self.names = [check.name for check in checks] + (elsewhere.names() if self.portable else [])
        self.reports: list[certify.HookReport] = []
        self.cases: dict[tuple[int, str], CaseResult] = {}
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._stack = ExitStack()
        self._stream: TextIO | None = None
        self._bench, self._reader = self._stack.enter_context(command.opened())
        config.add_cleanup(self._stack.close)
        self._reader.events(self.meant.dialect)  # an unknown dialect is told before anything is fired
        asking.must_be_drivable(self.scripts, self._reader)
        if option.hookproof_results:
            path = config.invocation_params.dir / option.hookproof_results
            self._stream = self._stack.enter_context(path.open("w", encoding="utf-8"))
            results.write(certify.header(self.scripts, len(self.scripts) * len(self.names)), self._stream)
        self._thread = threading.Thread(target=self._prove, name="hookproof-hooks", daemon=True)

    def pytest_report_header(self) -> list[str]:
        """What is put to the proof."""
        names = ", ".join(script.where for script in self.scripts[:5])
        more = f" and {len(self.scripts) - 5} more" if len(self.scripts) > 5 else ""
        return [f"hookproof: {len(self.names)} checks of {names}{more}, {self.meant.dialect}", *self.meant.left_out()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """The checks are the tests, whatever files lie about."""
        session.items = list(self._items(session))
        session.testscollected = len(session.items)
        report = pytest.CollectReport("", "passed", None, list(session.items))
        session.config.hook.pytest_collectreport(report=report)
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        session.config.hook.pytest_collection_finish(session=session)
        session.testscollected = len(session.items)
        return True

    def _items(self, session: pytest.Session) -> Iterator[Item]:
        for place, script in enumerate(self.scripts):
            for check in self.names:
                name = check if script.settings is None else f"{check}@{script.pointer}"
                yield Item.from_parent(
                    session, name=name, nodeid=f"{script.origin}::{name}", proof=self, place=place, check=check
                )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """The firing begins with the first test."""
        if not session.config.option.collectonly:
            self._thread.start()
        return (yield)

    def result(self, place: int, check: str) -> CaseResult:
        """The result of a check, by its name, waited for."""
        with self._changed:
            while (place, check) not in self.cases:
                if self._failure is not None:
                    raise self._failure
                self._changed.wait(0.5)
            return self.cases[place, check]

    def _prove(self) -> None:
        try:
            for place, script in enumerate(self.scripts):
                self._prove_one(place, script)
        except BaseException as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _prove_one(self, place: int, script: Script) -> None:
        def tell(result: CaseResult) -> None:
            with self._changed:
                self.cases[place, result.id.partition("@")[0]] = result
                self._changed.notify_all()

        refuse, accept = self.meant.canaries(script)
        made = certify.certify(
            script,
            self._bench,
            self._reader,
            refuse=refuse,
            accept=accept,
            families=self.meant.families,
            ids=self.meant.checks,
            extra=self.own_checks,
            portable=self.portable,
            strict=self.meant.strict,
            tell=tell,
        )
        self.reports.append(made)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What each script is, what it must mend, what it should, and the verdict."""
        self._thread_done()
        for made in self.reports:
            terminalreporter.section(made.script.where)
            # the findings that fail stand above already, as failures of tests
            for line in words.text(made, failures=False):
                terminalreporter.write_line(line)
        if self.reports:
            footer = certify.footer(self.reports)
            terminalreporter.write_line(f"hookproof: {words.last_line(footer)}")
            if self._stream is not None and len(self.reports) == len(self.scripts):
                for made in self.reports:
                    for case in made.cases:
                        results.write(case, self._stream)
                results.write(footer, self._stream)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Our own fault is no finding about the script."""
        if any(case.status == "harness-error" for case in self.cases.values()):
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _thread_done(self) -> None:
        if self._thread.is_alive() and len(self.cases) == len(self.scripts) * len(self.names):
            self._thread.join(5.0)
