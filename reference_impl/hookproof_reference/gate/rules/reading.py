"""What scripts look for in their input, compared with what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..near import nearest
from ..pattern import pattern
from ..payloads import has_parameter, tools_matched
from ..rule import rule
from ..script.seen import Seen, seen
from ..vocabulary import FOREIGN, RETIRED, TOOLS
from .scripts import _SHELLS, _project

_PYTHON = "#!/usr/bin/env python3\nimport json\nimport sys\n\ncall = json.load(sys.stdin)\n"


def _refusing(test: str) -> str:
    return f'{_PYTHON}if {test}:\n    print("no mkfs", file=sys.stderr)\n    sys.exit(2)\n'


@rule(
    id="script-tool-name",
    severity="error",
    title="The script compares the tool's name with one that no tool has",
    consequence="every call passes",
    remedy="Compare with the name as the program spells it: Bash, Edit, Write.",
    source="observed: tool_name is the tool's own name, case and all",
    bad=(
        _project(_refusing('call["tool_name"] == "bash" and "mkfs" in call["tool_input"]["command"]'), "refuse.py"),
        _project(
            _SHELLS
            + 'payload=$(cat)\ncase $payload in\n  *\'"tool_name":"run_shell_command"\'*) echo "no shell" >&2; exit 2 ;;\nesac\n'
        ),
    ),
    good=_project(_refusing('call["tool_name"] == "Bash" and "mkfs" in call["tool_input"]["command"]'), "refuse.py"),
)
def check_name(context: Context) -> Iterator[Found]:
    """Only names that are plainly a tool's, in other letters or in another agent's words."""
    for each in seen(context):
        if each.event not in profiles.TOOL_EVENTS:
            continue
        compared = [(m.start(), m[2]) for m in _COMPARED.finditer(each.text)][:20]
        if any(name in TOOLS or name.startswith("mcp__") for _, name in compared):
            # a script that serves several agents names them all
            continue
        for at, name in compared:
            right = FOREIGN.get(name) or RETIRED.get(name) or (nearest(name, TOOLS) if name.lower() == name else None)
            if right is not None and name not in TOOLS:
                where = each.name if each.inline else f"{each.name} line {each.text.count(chr(10), 0, at) + 1}"
                yield context.at(
                    each.launch.handler.key("command"),
                    f'{where} compares the tool\'s name with "{name}", which none has; here it is {right}',
                )
                break


_COMPARED = pattern(
    r"""(?:tool_name|toolName|\btool)["'\])}]*(?:\s*,\s*["']["']\))?\s*(?:===?|!==?|=|:|\bin\b\s*[(\[{]?)\s*(["'])([A-Za-z_]\w{2,30})\1"""
)


@rule(
    id="script-tool-input",
    severity="error",
    title="The script looks for a parameter that the tool does not have",
    consequence="every call passes",
    remedy="Bash has command; Read, Edit and Write have file_path; NotebookEdit has notebook_path.",
    source="documentation of the tools; observed",
    bad=(
        _project(_refusing('"mkfs" in call["tool_input"].get("cmd", "")'), "refuse.py"),
        _project(
            _SHELLS + "command -v jq >/dev/null || exit 2\ncase $(jq -r .tool_input.cmd) in *mkfs*) echo no >&2; exit 2 ;; esac\n"
        ),
    ),
    good=(
        _project(_refusing('"mkfs" in call["tool_input"].get("command", "")'), "refuse.py"),
        _project(_refusing('"mkfs" in (call["tool_input"].get("command") or call["tool_input"].get("cmd", ""))'), "refuse.py"),
    ),
)
def check_input(context: Context) -> Iterator[Found]:
    """Only where none of the parameters that it reads is one of any known tool that the matcher lets through."""
    for each in seen(context):
        if each.event not in profiles.TOOL_EVENTS:
            continue
        tools = tools_matched(each.launch.handler.matcher)
        read = _parameters(each)
        if tools and read and not any(has_parameter(tools, name) for name in read):
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.name} reads tool_input.{read[0]}, which {'|'.join(tools)} does not have",
                consequence=None if each.event == "PreToolUse" and each.traits.refuses else "value empty",
            )


def _parameters(each: Seen) -> list[str]:
    """The names that stand behind tool_input, also by way of a variable that holds it."""
    text = each.text
    if "tool_input" not in text:
        return []
    held = re.findall(
        r"""^\s*(?:const|let|var)?\s*(\w+)\s*=\s*[^\n=]*tool_input["']?[\])]?(?:\s*(?:\?\?|\|\||or)\s*\{\}|,\s*\{\}\))?\)?;?\s*$""",
        text,
        re.M,
    )
    names = "|".join(["tool_input", *map(re.escape, held)])
    found = re.findall(
        rf"""(?<![\w])(?:{names})["']?\]?(?:,\s*\{{\}}\))?\)?(?:\s*(?:\|\||\?\?)\s*\{{\}}\))?(?:\??\.get\(\s*["'](\w+)|\[\s*["'](\w+)|\??\.(?!get\b)([a-z]\w+))""",
        text,
    )
    return [
        name
        for name in dict.fromkeys(a or b or c for a, b, c in found)
        if name not in ("items", "keys", "values", "toString", "copy")
    ]
