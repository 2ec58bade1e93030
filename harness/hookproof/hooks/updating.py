"""The expectations of a policy file are written anew from what the script does; all else in the file stays as it is."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from yaml.nodes import MappingNode, Node, ScalarNode

from .. import strictyaml
from ..mistakes import shown
from . import samples
from .check import NotApplicable, NotTested, Probe
from .policy import Read, Sample, Wanted
from .script import Script

_PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][\w ./+-]*", re.IGNORECASE)
_STRICTNESS = ("approve", "allow", "pass", "none", "ask", "defer", "block", "deny")


@dataclass(frozen=True, slots=True)
class Change:
    """Another expectation for a sample."""

    sample: Sample
    wanted: Wanted

    @property
    def loosens(self) -> bool:
        """What was held will be allowed to go on."""
        before = self.sample.expect.verdict if isinstance(self.sample.expect, Wanted) else self.sample.expect
        return before in ("deny", "ask", "defer", "block") and self.wanted.verdict in ("none", "approve")


def changes(found: Read, probe: Probe, scripts: Sequence[Script]) -> list[Change]:
    """The samples whose expectations do not hold for this script, or that have none, with what it does."""
    made = []
    for sample in found.policy.samples:
        try:
            wrong = bool(list(samples.judged(found, sample, probe, scripts)))
        except NotApplicable:
            continue
        except NotTested:
            if sample.expect is not None or sample.saw is not None:
                continue
            wrong = True
        if not wrong:
            continue
        shot = samples.shoot(found, sample, probe)
        wanted = samples.as_wanted(samples.neutral(shot.meaning, probe.bench))
        made.append(Change(sample, _as_before(sample, wanted, shot.fired.exit)))
    return made


def _as_before(sample: Sample, wanted: Wanted, code: int | None) -> Wanted:
    """The new expectation, as exact as the old one was."""
    old = sample.expect
    if not isinstance(old, Wanted):
        return Wanted(verdict=wanted.verdict, rewrite=wanted.rewrite, context=wanted.context)
    return Wanted(
        verdict=wanted.verdict if old.verdict is not None else None,
        reason=wanted.reason if old.reason is not None else None,
        rewrite=wanted.rewrite,
        context=wanted.context,
        exit=code if old.exit is not None else None,
    )


def rewritten(found: Read, made: Sequence[Change]) -> str:
    """The text of the file with these expectations."""
    text = strictyaml.read_text(found.path)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    nodes = next(value for key, value in found.document.root.value if key.value == "samples").value
    edits: list[tuple[int, int, str]] = []
    for change in made:
        node = nodes[found.policy.samples.index(change.sample)]
        edits.append(_edit(node, written(change.wanted), starts, text))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edit(sample: MappingNode, value: str, starts: Sequence[int], text: str) -> tuple[int, int, str]:
    """Start, end and text: in place of the value of `expect`, or as a new line behind the id."""
    for key, old in sample.value:
        if key.value == "expect":
            start = _offset(old.start_mark, starts)
            end = _end(old, starts)
            if isinstance(old, MappingNode) and not old.flow_style:
                # a block stands below its key: the new value comes behind the colon
                start = _offset(key.end_mark, starts) + 1
                return start, end, f" {value}"
            return start, end, value
    name, own = next(pair for pair in sample.value if pair[0].value == "id")
    end = _end(own, starts)
    if sample.flow_style:
        return end, end, f", expect: {value}"
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    return line_end, line_end, f"\n{' ' * name.start_mark.column}expect: {value}"


def _end(node: Node, starts: Sequence[int]) -> int:
    """Where a value really ends: that of a block reaches to the next token, past comments."""
    if isinstance(node, ScalarNode) or getattr(node, "flow_style", False):
        return _offset(node.end_mark, starts)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last, starts)


def _offset(mark: Any, starts: Sequence[int]) -> int:
    place: int = starts[mark.line] + mark.column
    return place


def written(wanted: Wanted) -> str:
    """An expectation as it stands in a file: a word where that says all."""
    fields = msgspec.to_builtins(wanted)
    if set(fields) == {"verdict"}:
        return str(fields["verdict"])
    return f"{{{', '.join(f'{name}: {_value(value)}' for name, value in fields.items())}}}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value == value.strip() else _quoted(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_value(name)}: {_value(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_value(inner) for inner in value)}]"
    return json.dumps(value)


def _quoted(value: str) -> str:
    """In double quotes; characters that YAML does not take, as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


def diff(found: Read, new: str) -> list[str]:
    """The change as a unified diff."""
    name = shown(found.path)
    old = strictyaml.read_text(found.path)
    return [
        line.rstrip("\n") for line in difflib.unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (new)", lineterm="")
    ]


def write(path: Path, text: str) -> None:
    """In one step: a reader sees the old file or the new one."""
    target = Path(os.path.realpath(path))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False, newline="") as stream:
        stream.write(text)
    try:
        os.chmod(stream.name, target.stat().st_mode & 0o7777)
        os.replace(stream.name, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(stream.name)


def carry_out(found: Read, made: Sequence[Change]) -> int:
    """Show the diff, ask where somebody can answer, write. Exit code 0; 1 when it is not wanted."""
    if not made:
        print(f"{shown(found.path)}: all expectations hold; nothing to write")
        return 0
    new = rewritten(found, made)
    print("\n".join(diff(found, new)))
    for change in made:
        if change.loosens:
            print(f"look twice: {change.sample.id} was held, and will be allowed to go on ({written(change.wanted)})")
    if sys.stdin.isatty() and sys.stdout.isatty():
        sys.stdout.write(f"write this to {shown(found.path)}? [y/N] ")
        sys.stdout.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            print("nothing was written")
            return 1
    write(found.path, new)
    print(f"{shown(found.path)}: {len(made)} {'expectation' if len(made) == 1 else 'expectations'} written")
    return 0
