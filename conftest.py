"""The tests of one file leave nothing open for the next: benches hold processes, and some tests count those."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _nothing_stays_open() -> Iterator[None]:
    """`hookproof.hooks.fire` keeps its bench until the end of the process."""
    yield
    # looked up, not imported: most files never use it
    if (fixture := sys.modules.get("hookproof.hooks.fixture")) is not None:
        fixture.close()
