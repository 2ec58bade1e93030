"""The JSON answers in a script's text are compared with what the program accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..pattern import pattern
from .traits import Traits, line_of

_EVENT = pattern(r"""["']?hookEventName["']?\s*[:=]\s*(?:["'](\w+)["']|([\w$.\[({]))""")
_DECISION = pattern(r"""["']?permissionDecision["']?\s*[:=]\s*["']([^"'$\s{}]*)["']""")
_ANY_DECISION = pattern(r"""["']?permissionDecision["']?\s*[:=]|["']permissionDecision["']\]""")
_COMPUTED = pattern(r"""["']?permissionDecision["']?\s*[:=]\s*(?!["']\w)["'\\]*(?:\$\{?)?([A-Za-z_]\w*)\b(?![(.])([^\n]*)""")
_LEGACY = pattern(r"""(?<![A-Za-z])["']?decision["']?\s*[:=]\s*["'](\w+)["']""")
_CONTINUE = pattern(r"""["']?continue["']?\s*:\s*(?:false|False)\b""")
_CONTEXT = pattern(r"""["']?additionalContext["']?\s*[:=]""")
_FOREIGN = pattern(
    r"""["'](approved?|allow(?:ed)?|permitted|ok|blocked?|den(?:y|ied))["']\s*:\s*(?:true|false|True|False)\b"""
    r"""|["'](permission|verdict|action|status|behavior)["']\s*:\s*["'](?:deny|denied|block(?:ed)?|reject(?:ed)?|refuse)["']"""
)
"""Answers in the words of other programs."""
_WORDS = frozenset({"allow", "deny", "ask", "defer"})


def read_answers(code: str, traits: Traits) -> None:
    """Note every answer whose words stand in the text; what is computed is passed over."""
    foreign = _FOREIGN.search(code.replace('\\"', '"'))
    if foreign is not None and "hookSpecificOutput" not in code and not _LEGACY.search(code):
        traits.add("foreign-answer", line_of(code, foreign.start()), foreign[1] or foreign[2])
        traits.add("says-no", line_of(code, foreign.start()))
    if "ecision" not in code and "hookEventName" not in code and "ontinue" not in code and "additionalContext" not in code:
        return
    # in a shell's double quotes the answer's own quotes are escaped
    code = code.replace('\\"', '"').replace("\\'", "'")
    output = "hookSpecificOutput" in code
    events = list(_EVENT.finditer(code))
    for match in events:
        traits.add("event-name" if match[1] else "event-name-computed", line_of(code, match.start()), match[1] or "")
    for at, word in (*((m.start(), m[1]) for m in _DECISION.finditer(code)), *_chosen(code)):
        line = line_of(code, at)
        traits.add("decision-word", line, word)
        if word == "deny":
            traits.add("deny", line)
        if word in ("allow", "defer"):
            traits.add(word, line)
        if word not in _WORDS and not re.search(r"[%{(<]", word):
            traits.add("unknown-word", line, word)
            traits.add("says-no", line)
    used = _ANY_DECISION.search(code)
    if used is not None:
        line = line_of(code, used.start())
        if not output:
            traits.add("decision-at-top", line)
        elif not events and "hookEventName" not in code:
            traits.add("event-name-missing", line)
    for match in _LEGACY.finditer(code):
        if "permissionDecision" in code and re.match(r"decision\s*=", match[0]):
            # a variable that holds the other decision
            continue
        traits.add("legacy-decision", line_of(code, match.start()), match[1])
        if match[1] in ("block", "deny"):
            traits.add("block", line_of(code, match.start()))
            if "reason" not in code:
                traits.add("block-without-reason", line_of(code, match.start()))
    for match in _CONTINUE.finditer(code):
        traits.add("continue-false", line_of(code, match.start()), "stop")
    context = _CONTEXT.search(code)
    if context is not None and not output:
        traits.add("context-at-top", line_of(code, context.start()))


def _chosen(code: str) -> Iterator[tuple[int, str]]:
    """The words that a decision is chosen from: `"deny" if bad else "defer"`, or what a variable is given."""
    for match in islice(re.finditer(r"""permissionDecision["']?\s*[:=]\s*([^\n,}]*(?:\bif\b|\?)[^\n,}]*)""", code), 10):
        # the first word is read as any other decision
        for word in re.findall(r"""(?:\belse|:)\s*["']([a-z]+)["']""", match[1]):
            yield match.start(), word
    for match in islice(_COMPUTED.finditer(code), 10):
        name = match[1]
        for given in islice(re.finditer(rf"(?:^|[\s;(]){name}\s*=\s*([^\n=][^\n]*)", code), 20):
            words = re.findall(r"""(?:^|\belse|[?:])\s*["']([A-Za-z]+)["']\s*(?=$|[;,)]|\bif\b|\belse\b|:)""", given[1])
            words += re.findall(r"^([a-z]+)\s*(?:;|$)", given[1]) if f"${name}" in code or f"${{{name}" in code else []
            for word in words:
                yield given.start() + 1, word
