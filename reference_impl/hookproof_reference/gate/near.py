"""A misspelt word is matched with the word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def folded(word: str) -> str:
    """The word without what people vary: case, hyphens, underscores, blanks, dots."""
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "").replace(".", "")


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant; None where nothing is near."""
    known = tuple(words)
    same = folded(word)
    for each in known:
        if folded(each) == same:
            return each
    if not 3 <= len(word) <= 40:
        return None
    from difflib import get_close_matches

    by_folded = {folded(each): each for each in known}
    close = get_close_matches(same, by_folded, n=1, cutoff=0.75)
    return by_folded[close[0]] if close else None


def suggestion(word: str, words: Iterable[str]) -> str:
    """`; did you mean "X"?`, or nothing."""
    near = nearest(word, words)
    return f'; did you mean "{near}"?' if near else ""
