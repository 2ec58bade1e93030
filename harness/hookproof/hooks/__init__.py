"""One hook script is fired at, read in its dialect, and put to the proof.

from hookproof.hooks import fire

def test_the_guard_refuses_a_forced_push():
    assert fire("./guard.sh", "git push --force").blocks
"""

from __future__ import annotations

from .fixture import Hook, Result, fire

__all__ = ["Hook", "Result", "fire"]
