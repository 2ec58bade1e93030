"""What runners legitimately decide differently: declared data, from which a core case's expectation is resolved (D13)."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from .cases import Case, Expect, Handler
from .protocol import FailureDirection, HelloAnswer, Posture

_CLOSED = FailureDirection(exit="closed", signal="closed", timeout="closed", unreadable="closed", cannot_start="closed")
_OPEN = FailureDirection(exit="open", signal="open", timeout="open", unreadable="open", cannot_start="open")

_LECODE = Posture(
    order="sequential",
    on_veto="run-all",
    failure=_CLOSED,
    reason="first",
    rewrite="most-severe",
    ask_without_person="deny",
    defer="run",
    timeout_unit="s",
    timeout_default=10,
)
_CLAUDE_CODE = Posture(
    order="parallel",
    on_veto="run-all",
    failure=_OPEN,
    reason="last-finished",
    rewrite="last-finished",
    ask_without_person="deny",
    defer="leave",
    timeout_unit="s",
    timeout_default=600,
)
_TEAAGENT = Posture(
    order="sequential",
    on_veto="stop",
    failure=_CLOSED,
    reason="first",
    rewrite="chained",
    ask_without_person="deny",
    defer="none",
    timeout_unit="s",
    timeout_default=30,
)

KNOWN: dict[str, Posture] = {
    "lecode/1.0": _LECODE,
    "claude-code/2.1.178": _CLAUDE_CODE,
    "claude-code/2.1.332": _CLAUDE_CODE,
    "teaagent/1": _TEAAGENT,
}
"""The posture of a known dialect is fixed by its rules; only `core` takes it from hello."""


def of(dialect: str, version: str, hello: HelloAnswer) -> Posture | None:
    """The posture in force for a dialect; None when a core runner declared none."""
    return hello.posture if dialect == "core" else KNOWN.get(f"{dialect}/{version}")


def told(dialect: str, version: str, declared: dict[str, Any] | None) -> Posture | None:
    """Likewise, from the posture as the header of a report has it."""
    if dialect == "core":
        return None if declared is None else msgspec.convert(declared, Posture)
    return KNOWN.get(f"{dialect}/{version}")


def word(posture: Posture, path: str) -> str:
    """The word that stands at a dotted path of a posture: `failure.exit` -> "closed". Raises AttributeError."""
    value: object = posture
    for name in path.split("."):
        value = getattr(value, name)
    return f"{value:g}" if isinstance(value, float) else str(value)


def resolve(case: Case, posture: Posture | None) -> Case | str:
    """The case with the expectation that this posture has; or, in words, why it has none."""
    timed = case.neutral and any(isinstance(handler.timeout, dict) for handler in case.handlers)
    if not (case.by_posture or timed):
        return case
    if posture is None:
        return "the runner declares no posture"
    expect = case.expect
    for choice in case.by_posture:
        decided = word(posture, choice.on)
        if decided not in choice.is_:
            return f"the posture {choice.on} is {decided}: this case asks for {' or '.join(choice.is_)}"
        expect = merged(expect, choice.is_[decided])
    handlers = [_in_unit(handler, posture) for handler in case.handlers]
    return msgspec.structs.replace(case, handlers=handlers, expect=expect, by_posture=[])


def _in_unit(handler: Handler, posture: Posture) -> Handler:
    """`timeout: {seconds: 1.5}` becomes the number that means it in the declared unit."""
    if not (isinstance(handler.timeout, dict) and "seconds" in handler.timeout):
        return handler
    seconds = handler.timeout["seconds"]
    return msgspec.structs.replace(handler, timeout=round(seconds * 1000) if posture.timeout_unit == "ms" else seconds)


def merged(base: Expect, more: Expect) -> Expect:
    """Both expectations in one; where both speak, `more` holds."""
    # by identity: a demanded null is a demand where the field's default is "not written"
    spoken = {name: value for name, unsaid in _defaults() if (value := getattr(more, name)) is not unsaid}
    return msgspec.structs.replace(base, **spoken)


@cache
def _defaults() -> tuple[tuple[str, object], ...]:
    # kept: msgspec reads all annotations anew at every call, and every core case asks
    return tuple((field.name, field.default) for field in msgspec.structs.fields(Expect))
