"""Each selected case, one test: the subject is asked, the ledger is read, the verdict is the test's."""

from __future__ import annotations

from collections.abc import Callable


def test_case(hookproof_case: Callable[[], None]) -> None:
    """Fails with the rule's sentence, what was wanted, what was seen, and how to run this case again."""
    hookproof_case()
