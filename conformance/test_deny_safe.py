"""A handler that fails opens nothing: properties of any runner."""

from __future__ import annotations

from collections.abc import Callable


def test_a_failing_handler_never_loosens(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers there are: one more that fails, wherever it stands."""
    hookproof_property()
