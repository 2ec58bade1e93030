"""A case becomes an item's reports without what only a test with code of its own needs: fixtures, capture, three phases.

pytest spends most of a millisecond on those for each test; a case runs elsewhere, and here it is only waited for.
Where somebody else has a say in how tests are run (reruns, a debugger, `--setup-show`), pytest's own way is gone.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

PYTESTS_OWN = frozenset({"runner", "hookproof-proof"})
"""Who answers `pytest_runtest_protocol` in an ordinary run; all others only wrap it."""


def allowed(config: pytest.Config) -> bool:
    """Whether nothing in this run needs pytest's own way."""
    if any(config.getoption(name, False) for name in ("usepdb", "trace", "setupshow", "setuponly", "setupplan")):
        return False
    answering = [each for each in config.hook.pytest_runtest_protocol.get_hookimpls() if not (each.wrapper or each.hookwrapper)]
    return all(each.plugin_name in PYTESTS_OWN for each in answering)


def run(item: pytest.Item, nextitem: pytest.Item | None, judge: Callable[[], None]) -> None:
    """Judge, and report it as the item's call and its teardown: JUnit closes a test with the latter."""
    hook, nodeid, location = item.ihook, item.nodeid, item.location
    hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    call = pytest.CallInfo.from_call(judge, when="call", reraise=(pytest.exit.Exception, KeyboardInterrupt))
    report = hook.pytest_runtest_makereport(item=item, call=call)
    hook.pytest_runtest_logreport(report=report)
    # what an item before this one has set up ends here, unless the next one needs it
    item.session._setupstate.teardown_exact(nextitem)
    closing = pytest.TestReport(
        nodeid=nodeid,
        location=location,
        keywords=report.keywords,
        outcome="passed",
        longrepr=None,
        when="teardown",
        user_properties=item.user_properties,
    )
    hook.pytest_runtest_logreport(report=closing)
    hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
