"""The prompt of a handler and the envelope of an event become the text that a model is asked.

All of it was observed on the program itself.
"""

from __future__ import annotations

import re

from .versions import Version

_PLACEHOLDER = re.compile(r"\\\$|\$ARGUMENTS\[(\d+)\]|\$ARGUMENTS|\$(\d+)(?!\w)")
"""A backslash takes the meaning from the dollar behind it; one pass, so that what is put in is not looked at again."""


def filled(prompt: str, arguments: str, version: Version) -> str:
    """The prompt with the envelope's JSON at its placeholders, or behind it where it has none.

    `$ARGUMENTS` is all of it, `$ARGUMENTS[0]` and `$0` its first word as a shell would cut it, which is of
    little use, as nobody quotes JSON for a shell. `${ARGUMENTS}` and any other name stay as they are.
    """
    places = 0

    def meant(found: re.Match[str]) -> str:
        nonlocal places
        if found[0] == "\\$":
            return "$"
        places += 1
        number = found[1] or found[2]
        if number is None:
            return arguments
        cut = words(arguments, version)
        return cut[int(number)] if int(number) < len(cut) else ""

    text = _PLACEHOLDER.sub(meant, prompt)
    return text if places else f"{text}\n\nARGUMENTS: {arguments}"


def words(text: str, version: Version) -> list[str]:
    """The words of a text. At one version, quotes count for nothing; at the other, they go, except within braces."""
    if not version.words_lose_quotes:
        return text.split()
    found, braces = [""], False
    for character in text:
        if character.isspace():
            found.append("")
            braces = False
            continue
        braces = character != "}" and (braces or character == "{")
        if braces or character not in "\"'":
            found[-1] += character
    return [word for word in found if word]
