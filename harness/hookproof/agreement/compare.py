"""Two stories of one scene are held against each other; each difference is named by what differs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .expressible import asks_a_model, asks_servers, settings_texts
from .rows import Row
from .story import REPEATS, UNTOLD, Story

WHAT = ("tool ran", "input", "handlers", "order", "blocked", "told", "requests", "asked", "called", "end", "answer")
"""What two stories can differ in."""

_MARK = re.compile(r"echo\s+([^\s;|&<>'\"$`\\]+)\s*>>\s*\S*/log/order")
_DELAYS = re.compile(r"\b(?:sleep|while|until|wait|for)\b")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,}")
_BACKGROUND = re.compile(r'async\\*"\s*:\s*true')
LONGEST_TOLD = 2000
"""Characters of a text that is compared word by word; longer ones are cut differently."""
CUT = 120
IN_A_RACE, WITH_DELAYS = 8, 2
"""How often such rows are tried."""
SHORTEST = 0.1
OVERFLOW = 2_147_483
"""Seconds: limits below and above may be over at once."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was seen."""

    what: str
    wanted: str
    saw: str


def differences(row: Row, seen: Story, ours: Story) -> list[Difference]:
    """How a runner's story differs from what was seen."""
    return list(_differences(row, seen, ours))


def _differences(row: Row, seen: Story, ours: Story) -> Iterator[Difference]:
    handlers = _Handlers(row.fields)
    together = any(sum("tool" in block for block in turn) > 1 for turn in row.fields["turns"])
    wrote = (sorted(seen.wrote), sorted(ours.wrote)) if together else (list(seen.wrote), list(ours.wrote))
    endless = seen.end == "goes on"
    if wrote[0] != wrote[1]:
        yield _difference("tool ran", *wrote)
    if missing := _only(seen.envelopes, ours.envelopes):
        yield _difference("input", missing, _only(ours.envelopes, seen.envelopes))
    if not endless:
        yield from _marks(handlers, seen.marks, ours.marks, together)
        if seen.requests != ours.requests:
            yield _difference("requests", seen.requests, ours.requests)
        if seen.asked is not None and ours.asked is not None and seen.asked != ours.asked:
            yield _difference("asked", _only(seen.asked, ours.asked), _only(ours.asked, seen.asked))
    elif ours.requests < REPEATS:
        yield _difference("requests", f"{REPEATS} or more", ours.requests)
    if seen.called is not None and ours.called is not None and seen.called != ours.called and asks_servers(row.fields):
        yield _difference("called", _only(seen.called, ours.called), _only(ours.called, seen.called))
    if seen.end not in (ours.end, UNTOLD):
        yield _difference("end", seen.end, ours.end)
    if asks_a_model(row.fields):
        yield from _results_in_any_order(seen, ours, handlers.words())
    elif seen.requests > 1 and seen.errors != ours.errors:
        yield _difference("blocked", seen.results(), ours.results())
    elif seen.requests > 1 and not handlers.race() and not handlers.approver:
        words = handlers.words()
        for wanted, saw in zip(seen.texts, ours.texts, strict=True):
            if len(wanted) <= LONGEST_TOLD and (told := _own(wanted, words)) != (ours_told := _own(saw, words)):
                yield _difference("told", sorted(told - ours_told), sorted(ours_told - told))


def _results_in_any_order(seen: Story, ours: Story, words: frozenset[str]) -> Iterator[Difference]:
    """The results of an agent's calls come between those of the loop; when exactly, a row does not tell."""
    if Counter(seen.errors) != Counter(ours.errors):
        yield _difference("blocked", seen.results(), ours.results())
        return
    told, ours_told = (_own("\n".join(story.texts), words) for story in (seen, ours))
    if told != ours_told:
        yield _difference("told", sorted(told - ours_told), sorted(ours_told - told))


def _only(some: Sequence[str], others: Sequence[str]) -> list[str]:
    return list((Counter(some) - Counter(others)).elements())


def _own(text: str, words: frozenset[str]) -> set[str]:
    return set(_WORD.findall(text)) & words


def _marks(handlers: _Handlers, seen: Sequence[str], ours: Sequence[str], together: bool) -> Iterator[Difference]:
    # where the first to answer decides, whether the others still leave their mark is a race
    requests = handlers.marks_of("PermissionRequest")
    optional = handlers.cut | (requests if len(requests) > 1 else set())
    seen, ours = ([mark for mark in marks if mark not in optional] for marks in (seen, ours))
    if Counter(seen) != Counter(ours):
        yield _difference("handlers", list(seen), list(ours))
    elif not together and handlers.in_order(seen) != handlers.in_order(ours):
        yield _difference("order", list(seen), list(ours))


def attempts(row: Row) -> int:
    """How often a row is tried until it agrees: where the outcome is a race, or hangs on times, more than once."""
    handlers = _Handlers(row.fields)
    return IN_A_RACE if handlers.race() else WITH_DELAYS if handlers.delayed or handlers.cut else 1


class _Handlers:
    """The handlers of a row, as far as its settings tell: their events, marks and delays."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.texts = list(settings_texts(fields))
        self.script = json.dumps(fields.get("script")) if asks_a_model(fields) else ""
        self.answers = [str(answer.get("body", "")) for answer in (fields.get("script") or {}).get("http", {}).values()]
        self.events: dict[str, set[str]] = {}
        """Mark -> the events whose handlers leave it."""
        self.counts: Counter[str] = Counter()
        """Event -> how many handlers it has."""
        self.cut: set[str] = set()
        """The marks of handlers that may be over before they have left one: cut at once, or in the background."""
        self.delayed = any(_DELAYS.search(text) for text in self.texts)
        self.approver = "--permission-prompt-tool" in fields.get("args", ())
        for text in self.texts:
            self._note(text)

    def _note(self, text: str) -> None:
        try:
            settings = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            return
        hooks = settings.get("hooks") if isinstance(settings, dict) else None
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for entry in _entries(groups):
                written = json.dumps(entry)
                self.counts[event] += 1
                for mark in _MARK.findall(written):
                    self.events.setdefault(mark, set()).add(event)
                    if _cut_at_once(entry.get("timeout")) or _BACKGROUND.search(written):
                        self.cut.add(mark)

    def marks_of(self, event: str) -> set[str]:
        """The marks that handlers of this event leave."""
        return {mark for mark, events in self.events.items() if event in events}

    def race(self) -> bool:
        """Whether several handlers of one event run without anything that makes one of them wait."""
        return not self.delayed and max(self.counts.values(), default=0) > 1

    def in_order(self, marks: Sequence[str]) -> list[Any]:
        """The marks in their order, as far as it was forced: those of one moment without delays have none among them."""
        if self.approver:
            marks = [mark for mark in marks if mark not in self.marks_of("PermissionRequest")]
        if self.delayed:
            return list(marks)
        if not self.events.keys() >= set(marks):
            return []  # some have a mark that is not told from the settings, nor is its moment
        moments: list[tuple[set[str], list[str]]] = []
        for mark in marks:
            events = self.events[mark]
            if moments and moments[-1][0] & events:
                moments[-1][1].append(mark)
            else:
                moments.append((events, [mark]))
        return [sorted(names) for _, names in moments]

    def words(self) -> frozenset[str]:
        """The words of the handlers: what of a text is theirs, whatever the program says around it."""
        texts = (*self.texts, self.script, *self.answers)
        return frozenset(word for text in texts for word in _WORD.findall(text) if word[:2].isupper())


def _entries(groups: Any) -> Iterator[Mapping[str, Any]]:
    for group in groups if isinstance(groups, list) else ():
        entries = group.get("hooks") if isinstance(group, dict) else None
        yield from (entry for entry in entries or () if isinstance(entry, dict)) if isinstance(entries, list) else ()


def _cut_at_once(limit: Any) -> bool:
    return isinstance(limit, int | float) and (limit < SHORTEST or limit > OVERFLOW)


def _difference(what: str, wanted: Any, saw: Any) -> Difference:
    return Difference(what, _short(wanted), _short(saw))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 4 * CUT else f"{text[: 4 * CUT]}..."
