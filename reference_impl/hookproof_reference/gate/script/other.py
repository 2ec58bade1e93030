"""Ruby, Perl and PHP scripts are read for how they end: with 2, or with an error where they refuse."""

from __future__ import annotations

import re

from ..pattern import pattern
from .traits import REFUSAL, Traits, common, line_of

_EXIT = pattern(r"(?<![\w.$@])(?:exit!?|Kernel\.exit|exit_code)\s*\(?\s*(\d+|true|false)\b")
_DIES = pattern(r"(?<![\w.$@>])(?:abort|die|croak|raise)\b[ (]*([^\n;]*)")
_SAYS = pattern(
    r"(?<![\w.$@>])(?:warn|\$?stderr\.(?:puts|print|write)|print\s+STDERR|fwrite\(\s*STDERR\s*,)\s*\(?([^\n;]*)", re.I
)


def read(text: str, traits: Traits) -> str:
    """Note what the script does; gives its text without comments."""
    source = text.lstrip("\ufeff").replace("\r\n", "\n")
    code = "\n".join("" if re.match(r"\s*(?:#(?!!)|//)", line) else line for line in source.split("\n"))
    lines = code.split("\n")
    for match in _SAYS.finditer(code):
        line = line_of(code, match.start())
        traits.add("stderr", line)
        if REFUSAL.search(match[1]):
            traits.add("says-no", line)
    for match in _EXIT.finditer(code):
        line = line_of(code, match.start())
        if match[1] == "2":
            traits.add("exit-2", line)
        elif match[1] in ("0", "true"):
            traits.add("exit-0", line)
        else:
            traits.add("exit-other", line, " ".join(lines[max(0, line - 3) : line]))
    caught = re.search(r"\brescue\b|\beval\s*\{|\bcatch\b", code) is not None
    for match in _DIES.finditer(code):
        if not caught and REFUSAL.search(match[1]):
            traits.add("exit-other", line_of(code, match.start()), match[1])
    if "stop_hook_active" in code:
        traits.add("stop-hook-active", 1)
    common(code, traits, (r"ENV(?:\[|\{|\.fetch\()\s*[\"']?(?:CLAUDE_)?TOOL_(?:INPUT|NAME)\w*",))
    return code
