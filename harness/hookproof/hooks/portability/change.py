"""The smallest change of an answer by which it means the same everywhere is found by trying, not by knowing.

Each candidate is the answer itself with one, two or all three of its channels rewritten (exit code, stdout,
stderr); all are read in all dialects, and the first that does is taken, the smallest first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..fire import Fired
from ..meaning import Reader
from ..search import Shot

REFUSED = "refused"
"""The reason, where the script gives none."""


@dataclass(frozen=True, slots=True)
class Change:
    """What to change, and what came of it when it was tried."""

    words: tuple[str, ...]
    """One for each channel that changes, as what to do."""
    becomes: Fired
    agrees: tuple[str, ...]
    """The dialects in which the changed answer means what it should."""
    differs: tuple[str, ...]
    """Those in which it still does not."""
    mute: tuple[str, ...] = ()
    """Those that hold, but do not show the reason."""
    silences: bool = False
    """What the script tells the model by this answer is lost."""

    hardens: bool = False
    """What was asked or put off is refused then."""

    @property
    def everywhere(self) -> bool:
        """Whether it means the same in all dialects."""
        return not self.differs


@dataclass(frozen=True, slots=True)
class Edit:
    """A rewritten channel: what to do, in words, and the answer after it. No words: as it was."""

    words: str
    fields: Mapping[str, Any]


def smallest(shot: Shot, role: str, places: Sequence[tuple[str, str]], own: tuple[str, str], reader: Reader) -> Change | None:
    """The smallest change that works in all `places` (dialect, event), else the one that works in most; None when none helps.

    `own` is the dialect and event for which the script was written.
    """
    reason = _reason(shot)
    best: tuple[tuple[int, int, int, int], Change] | None = None
    candidates = refusals(shot.fired, reason) if role == "refusal" else passes(shot.fired)
    for number, (edits, becomes) in enumerate(candidates):
        meanings = {dialect: reader.read(becomes, event, dialect) for dialect, event in places}
        agrees = tuple(name for name, meaning in meanings.items() if meaning.blocks == (role == "refusal"))
        differs = tuple(name for name in meanings if name not in agrees)
        mute = tuple(name for name in agrees if role == "refusal" and reason not in meanings[name].reason)
        rank = (len(differs), len(edits), len(mute), number)
        if best is None or rank < best[0]:
            best = rank, Change(edits, becomes, agrees, differs, mute)
    if best is None or not best[1].words:
        return None
    dialect, event = own
    before, after = (reader.read(fired, event, dialect) for fired in (shot.fired, best[1].becomes))
    hardens = before.verdict in ("ask", "defer") and after.verdict == "deny"
    return replace(best[1], silences=bool(before.context) and not after.context, hardens=hardens)


def refusals(fired: Fired, reason: str) -> Iterator[tuple[tuple[str, ...], Fired]]:
    """All rewritten refusals."""
    yield from _combined(
        fired,
        _exits(fired, 2, 0),
        [_KEPT, *_texts("stderr", fired.complained, reason)],
        [_KEPT, *_silenced(fired), *_rewritten(fired, reason)],
    )


def passes(fired: Fired) -> Iterator[tuple[tuple[str, ...], Fired]]:
    """All rewritten answers to what passes."""
    silent = [Edit("write nothing to stderr", {"stderr": b""})] if fired.complained.strip() else []
    yield from _combined(fired, _exits(fired, 0), [_KEPT, *silent], [_KEPT, *_silenced(fired)])


_KEPT = Edit("", {})


def _combined(fired: Fired, *channels: list[Edit]) -> Iterator[tuple[tuple[str, ...], Fired]]:
    for edits in product(*channels):
        fields: dict[str, Any] = {}
        for edit in edits:
            fields |= edit.fields
        yield tuple(edit.words for edit in edits if edit.words), replace(fired, **fields)


def _exits(fired: Fired, *codes: int) -> list[Edit]:
    now = f"instead of {fired.exit}" if fired.exit is not None else f"({fired.ended} now)"
    return [
        _KEPT,
        *(
            Edit(
                f"exit with {code} {now}", {"exit": code, "signal": None, "timed_out": False, "cannot_start": None, "flooded": ""}
            )
            for code in codes
            if code != fired.exit
        ),
    ]


def _texts(channel: str, now: str, reason: str) -> Iterator[Edit]:
    if reason not in now or _object(now) is not None:
        yield Edit(f"write the reason to {channel}, as plain text", {channel: f"{reason}\n".encode()})


def _silenced(fired: Fired) -> Iterator[Edit]:
    if fired.said.strip():
        yield Edit("print nothing on stdout", {"stdout": b""})


def _rewritten(fired: Fired, reason: str) -> Iterator[Edit]:
    """Other JSON on stdout: the script's own mended in one respect, then another one in its place."""
    plain = {"decision": "block", "reason": reason}
    body = _object(fired.said)
    inner = _last_object(fired.said) if body is None else None
    if inner is not None:
        yield _printed("print the JSON object alone, no other text on stdout", inner)
    if body is not None:
        yield from _mended(body, reason)
        if "decision" not in body:
            yield _printed('add "decision": "block" and "reason" at the top of the JSON', {**plain, **body})
    if body != plain:
        yield _printed(f"print only {json.dumps({**plain, 'reason': '...'})} on stdout", plain)


def _mended(body: dict[str, Any], reason: str) -> Iterator[Edit]:
    own = body.get("hookSpecificOutput")
    if isinstance(own, dict) and own.get("permissionDecision") == "deny":
        told = {"permissionDecisionReason": reason, **{key: value for key, value in own.items() if value}}
        if told != own:
            yield _printed("give a permissionDecisionReason", {**body, "hookSpecificOutput": told})
    if body.get("decision") in ("deny", "block"):
        if not body.get("reason"):
            yield _printed('give a "reason"', {**body, "reason": reason})
        if body["decision"] != "block":
            yield _printed('write "decision": "block"', {**body, "decision": "block", "reason": body.get("reason") or reason})


def _printed(words: str, body: dict[str, Any]) -> Edit:
    return Edit(words, {"stdout": json.dumps(body).encode() + b"\n"})


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object in a text with other things in it."""
    decoder, at, found = json.JSONDecoder(), text.find("{"), None
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            found = value if isinstance(value, dict) else found
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return found


def _reason(shot: Shot) -> str:
    """What the script itself says: the reason as it is understood, else its stderr, else its own JSON's."""
    body = _object(shot.fired.said) or _last_object(shot.fired.said) or {}
    own = body.get("hookSpecificOutput")
    spoken = [own.get("permissionDecisionReason") if isinstance(own, dict) else None, body.get("reason")]
    texts = [shot.fired.complained, *spoken, shot.fired.said if not body else "", REFUSED]
    return next(text.strip() for text in texts if isinstance(text, str) and text.strip())


# ---- what can be held at all ---------------------------------------------------------------------

_NO = json.dumps({"decision": "block", "reason": REFUSED}).encode()
_VERDICT = json.dumps({"verdict": "deny", "reason": REFUSED}).encode()
_PERMISSION = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": REFUSED}}
LOUDEST: tuple[Fired, ...] = (
    Fired(exit=2, stderr=REFUSED.encode()),
    Fired(exit=0, stdout=_NO),
    Fired(exit=0, stdout=_VERDICT),
    Fired(exit=0, stdout=json.dumps({"hookSpecificOutput": _PERMISSION}).encode()),
)
"""Every way of saying no."""


_HELD: dict[tuple[str, str], bool] = {}
"""What was tried already; the bundled reference gives the same answer each time."""


def can_hold(dialect: str, event: str, reader: Reader) -> bool:
    """Whether any answer holds this event up there; tried."""
    if (dialect, event) not in _HELD:
        _HELD[dialect, event] = any(reader.read(fired, event, dialect).blocks for fired in LOUDEST)
    return _HELD[dialect, event]
