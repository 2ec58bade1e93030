"""A time limit is kept, and costs one handler: properties of any runner."""

from __future__ import annotations

from collections.abc import Callable


def test_a_timed_out_handler_costs_only_itself(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers there are: one more that is cut, wherever it stands."""
    hookproof_property()
