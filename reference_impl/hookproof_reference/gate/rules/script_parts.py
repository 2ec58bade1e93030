"""Scripts that end before they have looked, or need a part that does not lie beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .. import profiles
from ..context import Context
from ..finding import Found
from ..rule import Example, rule
from ..script.seen import Seen, seen
from .scripts import _SHELLS, _opens, _project, _settings

_NODE = "#!/usr/bin/env node\nlet text = '';\nprocess.stdin.on('data', (part) => { text += part; });\n"
_AT_END = (
    "process.stdin.on('end', () => {\n  if (JSON.parse(text).tool_input.command.includes('mkfs')) {\n"
    "    console.error('no mkfs');\n    process.exit(2);\n  }\n});\n"
)


@rule(
    id="script-part-missing",
    severity="error",
    title="The script needs a file that is not there",
    consequence="every call passes",
    remedy="Commit the file, or correct the path that leads to it.",
    source="observed: node ends with 1, and the call passes; sh ends with 2 where a file that it reads in is missing, and "
    "refuses every call",
    bad=(
        _project(_SHELLS + '. "$(dirname "$0")/lib/common.sh"\ncase $(cat) in *mkfs*) echo "no mkfs" >&2; exit 2 ;; esac\n'),
        _project("#!/usr/bin/env node\nconst rules = require('./rules.js');\nrules.run(process.stdin);\n", "refuse.js"),
    ),
    good=(
        Example(
            _settings("refuse.sh"),
            files={
                ".claude/hooks/refuse.sh": _SHELLS + '. "$(dirname "$0")/common.sh"\nrefuse\n',
                ".claude/hooks/common.sh": 'refuse() {\n  case $(cat) in *mkfs*) echo "no mkfs" >&2; exit 2 ;; esac\n}\n',
            },
        ),
        _project("#!/usr/bin/env node\nconst rules = require('some-package');\nrules.run(process.stdin);\n", "refuse.js"),
    ),
)
def check_parts(context: Context) -> Iterator[Found]:
    """Only paths that are written relative to the script."""
    for each in seen(context):
        if each.inline or each.launch.path is None:
            continue
        missing = next((part for part in _parts(each) if not _there(each.launch.path.parent, part)), None)
        if missing is None:
            continue
        shell = each.traits.language in ("sh", "bash")
        blocking = each.event in profiles.BLOCKING_EVENTS
        yield context.at(
            each.launch.handler.key("command"),
            f"{each.name} needs {missing}, which is not there",
            consequence="every call refused" if shell and blocking and "/bin/sh" in each.text[:12] else _opens(each.launch),
        )


def _parts(each: Seen) -> Iterator[str]:
    if each.traits.language in ("sh", "bash"):
        here = r"(?:\$\(dirname\s+[\"']?\$(?:0|\{?BASH_SOURCE[^)]*)[\"']?\)|\$\{0%/\*\}|\$\{BASH_SOURCE%/\*\})"
        for match in re.finditer(rf"^\s*(?:\.|source)\s+[\"']?{here}[\"']?/([\w./-]+)", each.text, re.M):
            yield match[1]
    elif each.traits.language == "node":
        for match in re.finditer(r"""(?:\brequire\(\s*|\bfrom\s+|^\s*import\s+)["'](\.{1,2}/[^"'$`]+)["']""", each.text, re.M):
            yield match[1]


def _there(folder: Path, part: str) -> bool:
    if len(part) > 500 or "\0" in part:
        return True
    whole = folder / part
    endings = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts")
    # TypeScript names the file that it will be compiled to
    return any(Path(f"{whole}{ending}").exists() for ending in endings) or whole.with_suffix(".ts").exists()


@rule(
    id="script-ends-early",
    severity="error",
    title="The script ends before its input has arrived",
    consequence="every call passes",
    remedy="Take the exit at the end away, or put it into the handler that has read all.",
    source="the way node works: what is to be done at the end of the input is done later than the last line of the file",
    bad=_project(_NODE + _AT_END + "process.exit(0);\n", "refuse.js"),
    good=_project(_NODE + _AT_END, "refuse.js"),
)
def check_early(context: Context) -> Iterator[Found]:
    """An exit outside of every function, with stdin read by events."""
    for each in seen(context):
        if each.traits.language != "node" or each.inline:
            continue
        if re.search(r"stdin\s*\.\s*(?:on|once|addListener)\(", each.text) is None:
            continue
        last = re.search(r"^process\.exit\(\s*\d*\s*\);?\s*\Z", each.text.rstrip(), re.M)
        if last is not None:
            line = each.text.count("\n", 0, last.start()) + 1
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.name} line {line} ends it before any input has arrived",
                consequence=_opens(each.launch),
            )


@rule(
    id="script-module-kind",
    severity="error",
    title="The script calls require where there is none",
    consequence="every call passes",
    remedy="Write import, or call the file .cjs.",
    source="the way node works: an .mjs file is a module, in which require is not defined, and the script ends with 1",
    bad=_project("#!/usr/bin/env node\nconst fs = require('fs');\nif (fs.readFileSync(0, 'utf8').includes('mkfs')) {\n"
                 "  console.error('no mkfs');\n  process.exit(2);\n}\n", "refuse.mjs"),
    good=_project("#!/usr/bin/env node\nimport fs from 'node:fs';\nif (fs.readFileSync(0, 'utf8').includes('mkfs')) {\n"
                  "  console.error('no mkfs');\n  process.exit(2);\n}\n", "refuse.mjs"),
)  # fmt: skip
def check_module(context: Context) -> Iterator[Found]:
    """`createRequire` makes one."""
    for each in seen(context):
        if (
            not each.inline
            and (each.launch.script or "").endswith(".mjs")
            and (use := re.search(r"(?<![.\w])require\(\s*[\"']", each.text)) is not None
            and "createRequire" not in each.text
        ):
            line = each.text.count("\n", 0, use.start()) + 1
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.name} line {line} calls require, which a module does not have",
                consequence=_opens(each.launch),
            )


@rule(
    id="answer-with-raw-text",
    severity="warning",
    title="Text from the call is put into the JSON answer as it is",
    consequence="some calls pass",
    remedy='Build the answer with jq -n --arg reason "$text" or with json.dumps.',
    source="public report B070: a quote or a line end in the text, and the answer is no JSON any more",
    bad=_project(
        "#!/bin/bash\ncommand -v jq >/dev/null || exit 2\ncmd=$(jq -r .tool_input.command) || exit 2\n"
        'if [[ $cmd == *mkfs* ]]; then\n  echo "{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"PreToolUse\\",'
        '\\"permissionDecision\\":\\"deny\\",\\"permissionDecisionReason\\":\\"no: $cmd\\"}}"\nfi\n'
    ),
    good=_project(
        '#!/bin/bash\nreason="no mkfs"\nif [[ $(cat) == *mkfs* ]]; then\n  echo "{\\"hookSpecificOutput\\":{\\"hookEventName\\":'
        '\\"PreToolUse\\",\\"permissionDecision\\":\\"deny\\",\\"permissionDecisionReason\\":\\"$reason\\"}}"\nfi\n'
    ),
)
def check_raw(context: Context) -> Iterator[Found]:
    """A shell variable that holds a part of the payload, inside of an answer's quotes."""
    for each in seen(context):
        if each.traits.language not in ("sh", "bash") or "ecision" not in each.text:
            continue
        held = re.findall(
            r"^\s*(?:local\s+)?(\w+)=[\"']?\$\((?:[^\n]*\bjq\b[^\n]*tool_input|cat\b|<\s*/dev/stdin)", each.text, re.M
        )
        for name in held:
            use = re.search(rf'\\"[^"\n]*\$\{{?{name}\b\}}?[^"\n]*\\"', each.text)
            if use is not None:
                line = each.text.count("\n", 0, use.start()) + 1
                yield context.at(
                    each.launch.handler.key("command"),
                    f"{each.name}{'' if each.inline else f' line {line}'} puts ${name} into JSON as it is: with a quote in it "
                    "the answer is not read",
                )
                break
