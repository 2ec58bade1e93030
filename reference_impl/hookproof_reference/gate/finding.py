"""What a rule found: which rule, where, what will happen at run time, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""error: a guard or a file does not do what it says; warning: it does, but not where or when one thinks; info: worth knowing.

Errors and warnings are alarms, an info is none.
"""

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From mild to severe."""

CONSEQUENCES: dict[str, str] = {
    "file dropped": "the whole file is ignored: every hook in it and its permission rules are off",
    "event dropped": "all handlers of this event are ignored",
    "entry dropped": "this entry is ignored, the rest of the file works",
    "never runs": "the handler never runs",
    "runs for everything": "the handler runs for every call",
    "runs too often": "the handler runs where it was not meant to",
    "runs too rarely": "the handler does not run in some cases where it was meant to",
    "every call refused": "every call is refused",
    "every call passes": "the guard runs and refuses nothing",
    "some calls pass": "the guard misses some of what it is there to refuse",
    "cannot start": "the handler fails to start; the call goes on",
    "limit ignored": "the time limit is not the one that was meant",
    "value ignored": "the setting has no effect",
    "value empty": "the value arrives as an empty string",
    "secret shown": "a secret is readable where it should not be",
    "damage": "a file or a system may be damaged",
    "not portable": "it works on this machine only, or not in every version",
    "gate refuses": "the gate of this profile refuses the file",
    "unclear": "nothing is wrong yet; it is not proved that it works",
}
"""What happens at run time if the finding is ignored: a closed list, so that reports can be sorted by it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule yields; the rule's own words stand in for what is None."""

    start: int
    """Offset in the document's text."""
    end: int
    pointer: str
    message: str
    remedy: str | None = None
    severity: Severity | None = None
    consequence: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, ready to be shown. Line and column count from 1, columns in characters."""

    rule: str
    severity: Severity
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    pointer: str
    message: str
    remedy: str
    consequence: str
    label: str = ""
    """A word that the profile puts before its severest findings, such as HOOKS-CRITICAL."""

    @property
    def effect(self) -> str:
        """The consequence in a sentence."""
        return CONSEQUENCES[self.consequence]

    @property
    def alarm(self) -> bool:
        """Whether somebody should do something."""
        return self.severity != "info"
