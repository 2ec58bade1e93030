"""Each settings file of `gate/`, one test: a faulty one must be refused and its valid twin accepted."""

from __future__ import annotations

from collections.abc import Callable


def test_settings_file(hookproof_gate: Callable[[], None]) -> None:
    """Fails with the fault, what the gate did, and how to run this file again."""
    hookproof_gate()
