"""Hooks narrow what the host permits, and nothing more: properties of any runner."""

from __future__ import annotations

from collections.abc import Callable


def test_no_permission_verdict_is_widened(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers answer under a host that denies, or would ask."""
    hookproof_property()


def test_observational_events_never_block(hookproof_property: Callable[[], None]) -> None:
    """Whatever handlers answer after a tool has run."""
    hookproof_property()
