"""What the order of handlers must not change: properties of any runner."""

from __future__ import annotations

from collections.abc import Callable


def test_a_denied_call_stays_denied_under_reordering(hookproof_property: Callable[[], None]) -> None:
    """Handlers of which one denies, in two orders."""
    hookproof_property()


def test_a_silent_handler_changes_nothing(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers there are: one more that prints nothing, wherever it stands."""
    hookproof_property()
