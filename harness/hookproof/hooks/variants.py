"""One payload becomes many: with other fields, odd values, odd texts, great size, cut short."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any, Literal

from .stimuli import Json, Stimulus

Severity = Literal["must", "should", "may"]

SUBJECT = frozenset({"tool_name", "tool_input", "tool", "prompt", "hook_event_name", "event", "stop_hook_active"})
"""The fields that say what it is about; with another value of these a script may rightly answer otherwise."""

LARGE, HUGE = 600_000, 5_000_000
"""Bytes: what a call that writes a long file has, and what hardly any has."""
DEEP, ABYSMAL = 100, 5_000
"""Levels of nesting."""

ODD_TEXT = "na\u00efve \u4e2d\u6587 \U0001f642 e\u0301 \u202e\u2028\u200d \\ \" ' ` $(x) %s \t"


@dataclass(frozen=True, slots=True)
class Variant:
    """A payload that was changed in one way."""

    name: str
    """The change, so that it can follow "a payload"."""
    data: bytes
    severity: Severity = "must"
    """How much it weighs when a script cannot cope with it."""
    field: str = ""
    """The field at the top that was changed."""


def line(payload: Any, *, ascii: bool = False, separators: tuple[str, str] = (",", ":")) -> bytes:
    """A payload as an agent writes it."""
    return json.dumps(payload, ensure_ascii=ascii, separators=separators).encode("utf-8", "backslashreplace") + b"\n"


# ---- the same thing in other words ---------------------------------------------------------------


def surroundings(stimulus: Stimulus) -> list[Variant]:
    """Changes of what stands around the subject: all other fields left out, null, of another type; new ones."""
    payload = stimulus.payload
    others = [key for key in payload if key not in SUBJECT]
    new = {"schema_version": 3, "turn": {"id": "t1", "tags": ["a", None]}, "is_sandboxed": True}
    found = [
        Variant("with fields of a newer version", line({**payload, **new})),
        Variant("with a new field in the input", line(with_input(payload, annotations={"risk": None, "tags": []}))),
        Variant("with blanks between its words", line(payload, separators=(", ", ": ")), "should"),
        Variant("with its fields in another order", line(dict(reversed(list(payload.items())))), "should"),
    ]
    if others:
        found += [
            Variant("without the fields that have nothing to do with it", line(without(payload, others))),
            Variant(
                "with null in the fields that have nothing to do with it", line({**payload, **dict.fromkeys(others)}), "should"
            ),
            Variant("with odd types in the fields that have nothing to do with it", line({**payload, **_odd(others)}), "should"),
        ]
    return found


def one_by_one(stimulus: Stimulus) -> list[Variant]:
    """Each field that has nothing to do with the subject left out, made null, or of another type, by itself."""
    payload = stimulus.payload
    found = []
    for key in payload:
        if key not in SUBJECT:
            found += [
                Variant(f"without {key}", line(without(payload, [key])), "must", key),
                Variant(f"with {key} null", line({**payload, key: None}), "should", key),
                Variant(f"with {key} of another type", line({**payload, **_odd([key])}), "should", key),
            ]
    return found


def texts(stimulus: Stimulus) -> list[Variant]:
    """Odd characters beside the subject."""
    payload = stimulus.payload
    return [
        Variant("with odd Unicode beside", line(with_input(payload, description=ODD_TEXT))),
        Variant("with odd Unicode beside, written as escapes", line(with_input(payload, description=ODD_TEXT), ascii=True)),
        Variant("with half a surrogate pair", line(with_input(payload, description="\ud83d x"), ascii=True), "should"),
        Variant("with a NUL in a text", line(with_input(payload, description="a\0b"), ascii=True), "should"),
        Variant(
            "with bytes that are no UTF-8",
            line(with_input(payload, description="@@@")).replace(b"@@@", b"\xff\xfe\xc3"),
            "should",
        ),
        Variant("with a byte order mark in front", b"\xef\xbb\xbf" + line(payload), "may"),
    ]


def sizes(stimulus: Stimulus) -> list[Variant]:
    """Much beside the subject."""
    return [
        Variant(f"of {LARGE // 1000} kB", line(with_input(stimulus.payload, description="x" * LARGE))),
        Variant(f"of {HUGE // 1_000_000} MB", line(with_input(stimulus.payload, description="x" * HUGE)), "should"),
    ]


def depths(stimulus: Stimulus) -> list[Variant]:
    """A new field that is nested deeply."""
    found = []
    for levels, severity in ((DEEP, "must"), (ABYSMAL, "should")):
        data = line({**stimulus.payload, "context": "@@@"}).replace(b'"@@@"', b"[" * levels + b"1" + b"]" * levels)
        found.append(Variant(f"nested {levels} levels deep", data, severity))  # type: ignore[arg-type]
    return found


# ---- the subject is lost -------------------------------------------------------------------------


def lacking(stimulus: Stimulus) -> list[Variant]:
    """The fields that a script looks for are not there, or are those of something else."""
    payload = stimulus.payload
    found = [Variant(f"without {key}", line(without(payload, [key])), "must", key) for key in payload if key in SUBJECT]
    found.append(Variant("that is an empty object", b"{}\n"))
    for name in ("hook_event_name", "event"):
        if isinstance(payload.get(name), str):
            found.append(
                Variant("of an event that is newer than the script", line({**payload, name: "BeforeCompute"}), "must", name)
            )
    if input_of(payload) is not None:
        found.append(Variant("with an empty tool input", line(with_input(payload, clear=True))))
        for tool, fields in (
            ("Read", {"file_path": "/home/dev/project/README.md"}),
            ("Grep", {"pattern": "TODO"}),
            ("mcp__server__list", {}),
            ("ToolOfTomorrow", {"steps": [{"run": 1}]}),
        ):
            found.append(Variant(f"of the tool {tool}", line(with_input(payload, clear=True, name=tool, **fields))))
    return found


def odd_values(stimulus: Stimulus) -> list[Variant]:
    """Null and other types where a script looks for its texts."""
    payload, found = stimulus.payload, []
    for key in payload:
        if key in SUBJECT:
            for word, value in (("null", None), ("a number", 7), ("a list", ["x"]), ("a text", "x"), ("an object", {"x": {}})):
                if not isinstance(value, type(payload[key])):
                    found.append(Variant(f"with {word} for {key}", line({**payload, key: value}), "should", key))
    fields = input_of(payload) or {}
    for name, value in list(fields.items())[:3]:
        for word, odd in (("null", None), ("a number", 7), ("a list", ["x", 1]), ("an object", {"x": 1})):
            if not isinstance(odd, type(value)):
                found.append(Variant(f"with {word} for {name}", line(_input_changed(payload, name, odd)), "should", name))
    return found + [
        Variant(f"that is {word}", data, "should")
        for word, data in (("null", b"null\n"), ("a list", b"[]\n"), ("a text", b'"x"\n'), ("a number", b"42\n"))
    ]


def unreadable(stimulus: Stimulus) -> list[Variant]:
    """No JSON at all, or a part of one."""
    data = line(stimulus.payload)
    return [
        Variant("of no bytes", b"", "should"),
        Variant("of an empty line", b"\n", "should"),
        Variant("that was cut in the middle", data[: len(data) // 2], "should"),
        Variant("that lacks its last brace", data.rstrip()[:-1], "should"),
        Variant("that is no JSON", b"this is not JSON\n", "should"),
        Variant("of binary data", bytes(range(256)), "should"),
        Variant("that stands there twice", data + data, "may"),
    ]


# ---- parts of payloads ---------------------------------------------------------------------------


def input_of(payload: Json) -> Json | None:
    """The input of the call that a payload is about."""
    tool = payload.get("tool")
    found = tool.get("args") if isinstance(tool, dict) else payload.get("tool_input")
    return found if isinstance(found, dict) else None


def with_input(payload: Json, *, clear: bool = False, name: str | None = None, **fields: Any) -> Json:
    """The payload with other fields in the call's input, or at its top when it is about no call."""
    changed = copy.deepcopy(payload)
    inner = input_of(changed)
    if inner is None:
        return {**changed, **fields}
    if clear:
        inner.clear()
    inner.update(fields)
    if name is not None:
        if isinstance(changed.get("tool"), dict):
            changed["tool"]["name"] = name
        else:
            changed["tool_name"] = name
    return changed


def _input_changed(payload: Json, name: str, value: Any) -> Json:
    changed = copy.deepcopy(payload)
    fields = input_of(changed)
    assert fields is not None
    fields[name] = value
    return changed


def without(payload: Json, keys: list[str]) -> Json:
    """The payload less some fields."""
    return {key: value for key, value in payload.items() if key not in keys}


def _odd(keys: list[str]) -> Json:
    return {key: [{"x": 1}] if number % 2 else 7 for number, key in enumerate(keys)}
