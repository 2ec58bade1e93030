"""A hooks block and a handler script are written that the gate accepts and that refuse when they fail.

A block is added to an existing file by inserting text: every byte that was there stays, `permissions` too.
"""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .document import Node, parse
from .errors import GateError
from .finding import Finding
from .lint import lint_text
from .near import suggestion
from .profiles import BLOCKING_EVENTS, EVENTS_332, HANDLER_TYPES, TOOL_EVENTS, UNMATCHED_EVENTS, Profile, profile

LANGUAGES = {"sh": "sh", "python": "py", "node": "js"}
"""Language -> the ending of its files."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to write."""

    event: str
    type: str = "command"
    matcher: str | None = None
    condition: str | None = None
    """The rule for `if`."""
    timeout: float = 10
    """Seconds."""
    language: str = "sh"
    name: str = "guard"
    refuse: tuple[str, ...] = ()
    """Texts that the script refuses, where the event can refuse anything."""
    fields: tuple[tuple[str, str], ...] = ()
    """Further fields of the handler, such as url, prompt, server and tool."""

    @property
    def script(self) -> str:
        """The script's path in the project."""
        return f".claude/hooks/{self.name}.{LANGUAGES[self.language]}"


def block(wanted: Wanted) -> dict[str, Any]:
    """The matcher entry. Raises GateError where it cannot be meant."""
    if wanted.event not in EVENTS_332:
        raise GateError(f'there is no event "{wanted.event}"{suggestion(wanted.event, EVENTS_332)}')
    if wanted.type not in HANDLER_TYPES:
        raise GateError(f'there is no handler type "{wanted.type}"{suggestion(wanted.type, HANDLER_TYPES)}')
    if not wanted.name.replace("-", "").replace("_", "").isalnum() or not wanted.name.isascii():
        raise GateError(f'"{wanted.name}" is no name for a script', "use letters, digits, - and _")
    if wanted.matcher is not None and wanted.event in UNMATCHED_EVENTS:
        raise GateError(f"{wanted.event} has no matcher", "leave --matcher out")
    if wanted.condition is not None and wanted.event not in TOOL_EVENTS:
        raise GateError(f"a handler with if never runs at {wanted.event}", f"if counts at {', '.join(sorted(TOOL_EVENTS))}")
    handler: dict[str, Any] = {"type": wanted.type}
    if wanted.condition is not None:
        handler["if"] = wanted.condition
    if wanted.type == "command":
        handler |= {"command": f"${{CLAUDE_PROJECT_DIR}}/{wanted.script}", "args": []}
    handler |= dict(wanted.fields)
    handler["timeout"] = int(wanted.timeout) if wanted.timeout == int(wanted.timeout) else wanted.timeout
    return {**({"matcher": wanted.matcher} if wanted.matcher is not None else {}), "hooks": [handler]}


def validated(wanted: Wanted, against: Profile | None = None) -> str:
    """The whole `{"hooks": ...}` as text; GateError with the first alarm where the gate refuses it."""
    text = json.dumps({"hooks": {wanted.event: [block(wanted)]}}, indent=2) + "\n"
    alarms = [finding for finding in lint_text(text, against or profile()) if finding.alarm]
    if alarms:
        first: Finding = alarms[0]
        raise GateError(f"the gate refuses the block: {first.rule}: {first.message}", first.remedy)
    return text


def script(wanted: Wanted) -> str:
    """A program that reads the whole payload; at an event that can refuse, whatever goes wrong refuses."""
    template = _TEMPLATES[wanted.language, wanted.event in BLOCKING_EVENTS]
    if wanted.language == "sh":
        # the payload is searched as it comes, so the texts are written as JSON writes them
        patterns = [shlex.quote(json.dumps(text, ensure_ascii=False)[1:-1]) for text in wanted.refuse]
        listed = " | ".join(f"*{pattern}*" for pattern in patterns) or "*'put the text to refuse here'*"
        return template.replace("@REFUSED@", listed)
    return template.replace("@REFUSED@", json.dumps(list(wanted.refuse) or ["put the text to refuse here"]))


def added(text: str, wanted: Wanted) -> str:
    """An existing file's text with the block in it. Raises GateError where the file is not sound enough for that."""
    entry = block(wanted)
    if not text.strip():
        return json.dumps({"hooks": {wanted.event: [entry]}}, indent=2) + "\n"
    document = parse(text)
    root = document.root
    if root is None or root.kind != "object" or {d.harm for d in document.damage} - {"byte-order-mark"}:
        raise GateError("the file is no plain JSON object, so nothing can be added to it", "see what hookproof lint says of it")
    hooks = root.get("hooks")
    event = hooks.get(wanted.event) if hooks is not None else None
    if event is not None:
        return _inserted(text, event, json.dumps(entry, indent=2), "array")
    if hooks is not None:
        return _inserted(text, hooks, f"{json.dumps(wanted.event)}: {json.dumps([entry], indent=2)}", "object")
    return _inserted(text, root, f'"hooks": {json.dumps({wanted.event: [entry]}, indent=2)}', "object")


def _inserted(text: str, holder: Node, piece: str, kind: str) -> str:
    """The text with a piece put in as the last thing that a container holds."""
    if holder.kind != kind:
        raise GateError(f"{holder.pointer} is no {kind}", "see what hookproof lint says of the file")
    line_start = text.rfind("\n", 0, holder.start) + 1
    line = text[line_start : holder.start]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    newline = "\r\n" if "\r\n" in text else "\n"
    inside = newline + indent + "  " + piece.replace("\n", newline + indent + "  ")
    last = [member.node.end for member in holder.members] or [node.end for node in holder.items]
    if last:
        # behind the last value comes a comma; what stood between it and the bracket stays where it was
        tail = text[last[-1] : holder.end - 1]
        closing = "" if "\n" in tail else newline + indent
        return text[: last[-1]] + "," + inside + closing + text[last[-1] :]
    return text[: holder.start + 1] + inside + newline + indent + text[holder.end - 1 :]


def write(settings: Path, wanted: Wanted) -> list[Path]:
    """Add the block to a settings file and lay the script beside it; gives what was written.

    Nothing is written over a script that is there, and the settings are replaced in one step.
    """
    from .fix import replace_file

    folder = Path(os.path.abspath(settings)).parent
    if wanted.type == "command" and folder.name != ".claude":
        raise GateError(f"{settings}: the script's place is told by a folder .claude, and the file is in none")
    try:
        before = settings.read_bytes().decode("utf-8", "surrogateescape") if settings.exists() else ""
        after = added(before, wanted).encode("utf-8", "surrogateescape")
        written = [settings]
        if wanted.type == "command":
            path = folder.parent / wanted.script
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(script(wanted))
            except FileExistsError:
                raise GateError(f"{path} is there already", "choose another --name") from None
            path.chmod(0o755)
            written.append(path)
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(settings.resolve(), after)
    except OSError as error:
        raise GateError(f"{error.filename or settings}: {error.strerror or error}") from None
    return written


_SH_GUARD = """#!/bin/sh
# Refuses what contains one of the texts below. Whatever goes wrong here is a refusal, too (exit 2).
payload=$(cat) || { echo "the guard cannot read its input" >&2; exit 2; }
case $payload in
  "{"*"}") ;;
  *) echo "the guard did not get a JSON object" >&2; exit 2 ;;
esac
case $payload in
  @REFUSED@)
    echo "refused by a rule of this project" >&2
    exit 2 ;;
esac
exit 0
"""
_SH_RECORD = """#!/bin/sh
# Looks at what happened; this event cannot refuse anything, so nothing here ends with 2.
payload=$(cat) || exit 0
: "${#payload} characters of JSON are in $payload"
exit 0
"""
_PYTHON_GUARD = '''#!/usr/bin/env python3
"""Refuses what contains one of the texts below. Whatever goes wrong here is a refusal, too (exit 2)."""
import json
import sys

REFUSED = @REFUSED@


def texts(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def main():
    payload = json.loads(sys.stdin.buffer.read())
    if not isinstance(payload, dict):
        raise ValueError("no JSON object")
    looked_at = payload["tool_input"] if "tool_name" in payload else payload
    for text in texts(looked_at):
        for refused in REFUSED:
            if refused in text:
                print("refused by a rule of this project: " + ascii(refused), file=sys.stderr)
                return 2
    return 0


try:
    code = main()
except BaseException as error:
    print("the guard failed: " + repr(error), file=sys.stderr)
    sys.exit(2)
sys.exit(code)
'''
_PYTHON_RECORD = '''#!/usr/bin/env python3
"""Looks at what happened; this event cannot refuse anything, so nothing here ends with 2."""
import json
import sys

try:
    payload = json.loads(sys.stdin.buffer.read())
except ValueError:
    payload = {}
sys.exit(0)
'''
_NODE_GUARD = """#!/usr/bin/env node
// Refuses what contains one of the texts below. Whatever goes wrong here is a refusal, too (exit 2).
"use strict";

const REFUSED = @REFUSED@;

function contains(value, text) {
  if (typeof value === "string") return value.includes(text);
  return value !== null && typeof value === "object" && Object.values(value).some((inner) => contains(inner, text));
}

try {
  const payload = JSON.parse(require("fs").readFileSync(0, "utf8"));
  if (payload === null || typeof payload !== "object" || Array.isArray(payload)) throw new Error("no JSON object");
  if ("tool_name" in payload && !("tool_input" in payload)) throw new Error("no tool_input");
  const lookedAt = "tool_name" in payload ? payload.tool_input : payload;
  const found = REFUSED.find((text) => contains(lookedAt, text));
  if (found !== undefined) {
    process.stderr.write("refused by a rule of this project: " + JSON.stringify(found) + "\\n");
    process.exitCode = 2;
  }
} catch (error) {
  process.stderr.write("the guard failed: " + error.message + "\\n");
  process.exitCode = 2;
}
"""
_NODE_RECORD = """#!/usr/bin/env node
// Looks at what happened; this event cannot refuse anything, so nothing here ends with 2.
"use strict";

try {
  JSON.parse(require("fs").readFileSync(0, "utf8"));
} catch (error) {
  process.stderr.write("no JSON: " + error.message + "\\n");
}
"""
_TEMPLATES = {
    ("sh", True): _SH_GUARD,
    ("sh", False): _SH_RECORD,
    ("python", True): _PYTHON_GUARD,
    ("python", False): _PYTHON_RECORD,
    ("node", True): _NODE_GUARD,
    ("node", False): _NODE_RECORD,
}
