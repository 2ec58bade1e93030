"""Guards whose exit code is lost on its way to the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..launch import Launch, launches
from ..rule import rule
from ..script.seen import is_guard, seen
from .guards import _NO, _RUN, _project


@rule(
    id="guard-exit-swallowed",
    severity="error",
    title="The guard's exit code is lost",
    consequence="every call passes",
    remedy="Let the guard be the last command, with nothing behind it.",
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        _project(command=_RUN + " || true"),
        _project(command=_RUN + "; exit 0"),
        _project(command=_RUN + " | tee -a log"),
        _project(command=_RUN + " &"),
        _project(command="( " + _RUN + " ); true"),
        _project("#!/bin/bash\ncase $(cat) in *mkfs*) echo \"no mkfs\" >&2; return 2 ;; esac\n"),
        _project("#!/bin/sh\ncase $(cat) in *mkfs*) (echo \"no mkfs\" >&2; exit 2) ;; esac\nexit 0\n"),
        _project(command="timeout 5 " + _RUN + " || exit 0"),
        _project(command="bash -c '" + _RUN + "; true'"),
        _project(command="cat | xargs " + _RUN),
        _project(command='echo \\"$(' + _RUN + ')\\"'),
        _project("#!/bin/sh\ntrap 'exit 0' EXIT\n" + _NO[10:]),
        _project("#!/bin/sh\ncat | while read -r line; do\n  case $line in *mkfs*) echo \"no mkfs\" >&2; exit 2 ;; "
                 "esac\ndone\nexit 0\n"),
        _project("#!/bin/sh\ntrap 'rm -f \"$part\"; exit 0' EXIT\n" + _NO[10:]),
        _project("#!/bin/sh\n(\n  case $(cat) in *mkfs*) echo \"no mkfs\" >&2; exit 2 ;; esac\n)\nexit 0\n"),
        _project(
            "#!/usr/bin/env python3\nimport json\nimport sys\n\ntry:\n"
            '    if "mkfs" in json.load(sys.stdin)["tool_input"]["command"]:\n        sys.exit(2)\nfinally:\n    sys.exit(0)\n',
            '\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.py', ".claude/hooks/refuse.py",
        ),
        _project(
            "#!/usr/bin/env node\nconst call = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
            "if (call.tool_input.command.includes('mkfs')) {\n  process.exitCode = 2;\n}\nprocess.exit(0);\n",
            '\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.js', ".claude/hooks/refuse.js",
        ),
    ),
    good=(_project(), _project(command="cd /tmp && " + _RUN), _project("#!/bin/sh\ncat >> /dev/null\n", _RUN + " || true")),
)  # fmt: skip
def _check_swallowed(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.handler.event in profiles.BLOCKING_EVENTS and launch.shell and is_guard(context, launch):
            loss = _loss(launch)
            if loss is not None:
                yield context.at(launch.handler.key("command"), f"{loss}: the guard's refusal is lost")
        elif launch.handler.event in profiles.BLOCKING_EVENTS and launch.shell and launch.script is None:
            nested = _nested(launch.command)
            if nested is not None:
                yield context.at(launch.handler.key("command"), f"{nested}: the guard's refusal is lost")
    said = {
        "trap-exit": "ends with 0 whatever happens, by its trap",
        "exit-in-pipe": "ends only the loop behind the pipe with 2, not the script",
        "return-outside": "returns outside of every function, which bash refuses and passes by",
        "exit-lost": "calls {0} in another process: its exit code 2 ends that one, not the script",
        "exit-swallowed": "catches {0}, and with it its own exit",
        "exit-overruled": "ends with 0 in {0}, whatever was decided before",
        "result-dropped": "calls {0}() and does not end with what it returns",
    }
    for each in seen(context):
        for trait in each.traits.all(*said):
            if each.event in profiles.BLOCKING_EVENTS:
                yield context.at(each.launch.handler.key("command"), f"{each.where(trait)} {said[trait.kind].format(trait.text)}")


_SCRIPT = r"[^;|&)'\n]*(?:\.claude/|CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT))[^;|&)'\n]*"


def _nested(command: str) -> str | None:
    """What is lost where the script stands inside of another command's words."""
    if not re.search(r"guard|protect|block|deny|check|refuse|valid|polic|gate", command, re.I):
        return None
    lost = r"(?:;\s*(?:true|exit 0|echo\b|:)|\|\|\s*(?:true|:|exit 0)|\|\s*\w)"
    if re.search(rf"\b(?:ba|da|z)?sh\s+-c\s+'{_SCRIPT}{lost}", command):
        return "inside of -c the exit code is that of the last command"
    if re.match(rf"\s*(?:echo|printf|test|\[)\b[^$]*\$\({_SCRIPT}\)", command):
        return "the exit code is that of the command whose words it gives"
    return None


def _loss(launch: Launch) -> str | None:
    """What comes behind the script's step and takes its exit code away."""
    parts = launch.steps
    if launch.script is None:
        return None
    step = parts[launch.step]
    if step.name == "xargs":
        return "xargs ends with 123 where the guard ends with 2, and gives it no input"
    if step.words and step.words[0].value == "!" and "if" not in launch.command.split():
        return '"!" turns every refusal into 0'
    if step.then == "&" and len(parts) == launch.step + 1:
        return '"&" starts the guard in the background'
    if re.search(r"set\s+-o\s+pipefail|PIPESTATUS|exit\s+\"?\$(?:\?|\w+)", launch.command):
        return None
    for index in range(launch.step, len(parts) - 1):
        following = parts[index + 1]
        operator = parts[index].then
        if operator in ("|", "|&"):
            return f'the exit code of a pipe is that of "{following.name}"'
        if operator == "||":
            if following.name in ("true", ":", "echo", "printf") or (following.name == "exit" and following.arguments != ["2"]):
                written = " ".join([following.name, *following.arguments[:1]]) if following.name == "exit" else following.name
                return f'"|| {written}" turns every refusal into something else'
            return None
        if operator == ")" and re.search(r"\)\s*(?:;|\|\|)\s*(?:true|:|exit\s+0|echo\b)", launch.command):
            return f'the exit code is that of "{following.name}", which comes behind the guard'
        if operator in (";", "\n"):
            if following.name == "exit" and following.arguments not in (["0"], ["1"]):
                return None
            return f'the exit code is that of "{following.name}", which comes behind the guard'
        if operator == "&":
            return '"&" starts the guard in the background'
    return None
