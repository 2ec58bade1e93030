"""A deny is final: properties of any runner, looked for in examples and held against no oracle."""

from __future__ import annotations

from collections.abc import Callable


def test_adding_an_allow_never_loosens(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers there are: one more allow, wherever it stands."""
    hookproof_property()
