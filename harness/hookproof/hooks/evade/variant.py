"""One other way to do the same thing: its words, and how likely somebody comes upon it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Group = Literal["chaining", "wrapping", "spelling", "options"]
Effort = Literal["everyday", "deliberate", "contrived"]

EFFORTS: tuple[Effort, ...] = ("everyday", "deliberate", "contrived")
"""A model writes it without thinking; it takes a wish to get round; it takes skill."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Another text for a command."""

    group: Group
    name: str
    text: str
    effort: Effort
    doubtful: bool = False
    """It may well do something else: that must be seen."""
