"""Where the suite lies: beside the package in an installed wheel, else in the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .errors import HarnessError


@cache
def root() -> Path:
    """The folder that holds `conformance/` and `fixtures/`. Raises HarnessError when there is none."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_suite", package.parent.parent):
        if (candidate / "conformance" / "test_cases.py").is_file():
            return candidate
    raise HarnessError(
        f"the suite is missing: neither {package / '_suite'} nor a checkout around {package}",
        "install hookproof again",
    )


def conformance() -> Path:
    """The folder of the cases and their tests."""
    return root() / "conformance"


def fixtures() -> Path:
    """The folder of runners, faulty runners, payloads and hooks."""
    return root() / "fixtures"
