"""People are told in which line of a settings file a key stands; the readers of the standard library do not say."""

from __future__ import annotations

LONGEST = 200_000
"""Characters of a text in which lines are looked for: in a longer one no person looks for one either."""


def line_of(text: str, key: str) -> int | None:
    """The first line that gives this key a value, in JSON or TOML, counted from 1; comments do not count."""
    found = text.find(key) if key and len(text) <= LONGEST else -1
    while found >= 0:
        start = text.rfind("\n", 0, found) + 1
        if _is_key(text, start, found, found + len(key)):
            return text.count("\n", 0, start) + 1
        found = text.find(key, found + len(key))
    return None


def at_line(text: str, key: str, why: str) -> str:
    """`line 3: why`, or only why where the line cannot be found."""
    line = line_of(text, key)
    return why if line is None else f"line {line}: {why}"


def _is_key(text: str, line: int, start: int, end: int) -> bool:
    first = text[line : line + 100].lstrip()[:1]
    before = text[max(line, start - 2) : start].rstrip("\"'")[-1:]
    after = text[end : end + 100].lstrip("\"'").lstrip()[:1]
    if first == "#" or before not in ("", " ", "\t", "{", ",", ".", "["):
        return False
    # the header of a TOML table, or a name with its value
    return first == "[" if after == "]" else after in ("=", ":")
