"""What a script needs to do its work: the input on stdin, and tools that may be missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..launch import Launch, launches
from ..rule import rule
from ..script.seen import is_guard, seen
from .scripts import _SHELLS, _project


@rule(
    id="script-input",
    severity="error",
    title="The script reads its input where there is none",
    consequence="every call passes",
    remedy="Read all of stdin to its end and parse it as JSON; the names are tool_name and tool_input.",
    source="public reports B078, B080 and B123; observed",
    bad=(
        _project(_SHELLS + 'case $TOOL_INPUT in *mkfs*) echo "no mkfs" >&2; exit 2 ;; esac\n'),
        _project(
            '#!/usr/bin/env python3\nimport json\nimport os\nimport sys\n\nif "mkfs" in json.loads(os.read(0, '
            '999))["tool_input"]["command"]:\n    sys.exit(2)\n',
            "refuse.py",
        ),
        _project(
            '#!/usr/bin/env python3\nimport json\nimport sys\n\nif "mkfs" in '
            'json.loads(sys.argv[1])["tool_input"]["command"]:\n    sys.exit(2)\n',
            "refuse.py",
        ),
        _project(
            '#!/usr/bin/env python3\nimport json\nimport sys\n\nif "mkfs" in '
            'json.load(sys.stdin)["toolInput"]["command"]:\n    sys.exit(2)\n',
            "refuse.py",
        ),
        _project(_SHELLS + "cat >> calls.log\npayload=$(cat)\ncase $payload in *mkfs*) exit 2 ;; esac\n"),
        _project(
            "#!/usr/bin/env python3\nimport json\nimport sys\n\nprint(sys.stdin.read(), file=sys.stderr)\n"
            'call = json.load(sys.stdin)\nif "mkfs" in call["tool_input"]["command"]:\n    sys.exit(2)\n',
            "refuse.py",
        ),
        _project(_SHELLS + "PAYLOAD=$(cat)\nexport PAYLOAD\npython3 -m refuse || exit 2\n"),
    ),
    good=_project(
        '#!/usr/bin/env python3\nimport json\nimport sys\n\nif "mkfs" in '
        'json.load(sys.stdin)["tool_input"]["command"]:\n    sys.exit(2)\n',
        "refuse.py",
    ),
)
def _check_input(context: Context) -> Iterator[Found]:
    said = {
        "input-variable": "reads {0}, which nobody sets; the input arrives on stdin",
        "input-argument": "parses {0}, which is empty; the input arrives on stdin",
        "input-twice": "reads stdin a second time, when nothing is left of it",
        "partial-read": "reads the pipe once: of a long payload that is a part only",
        "payload-in-environment": "puts the whole input into the environment, as {0}: with a long one no program starts any more",
        "payload-key": 'looks for "{0}", which the payload does not have (tool_name, tool_input, session_id)',
    }
    for launch in launches(context):
        if re.search(r"(?<![<\d])<\s*/dev/null", launch.command) and launch.shell and is_guard(context, launch):
            yield context.at(launch.handler.key("command"), "the guard is started with an empty stdin (< /dev/null)")
    for each in seen(context):
        for kind, words in said.items():
            trait = each.traits.first(kind)
            if trait is not None and kind == "payload-key" and _has_both(each.text, trait.text):
                continue
            if trait is not None and kind == "input-argument" and _given_arguments(each.launch):
                continue
            if trait is not None and (not each.inline or kind == "payload-key"):
                yield context.at(
                    each.launch.handler.key("command"),
                    f"{each.where(trait)} {words.format(trait.text)}",
                    severity="warning" if kind in ("partial-read", "payload-key", "payload-in-environment") else None,
                    consequence="some calls pass"
                    if kind in ("partial-read", "payload-in-environment")
                    else ("value empty" if not each.traits.refuses else None),
                )
                break


def _has_both(text: str, key: str) -> bool:
    """Whether a script for several agents reads the right key, too: `tool_input`, and `toolInput` where that is not there."""
    right = {"toolName": "tool_name", "toolResponse": "tool_response", "sessionId": "session_id", "hookEvent": "hook_event_name"}
    return re.search(rf"\b{right.get(key, 'tool_input')}\b", text) is not None


def _given_arguments(launch: Launch) -> bool:
    """Whether something stands behind the script that it can read as an argument."""
    words = launch.steps[launch.step].arguments
    step = launch.steps[launch.step]
    return (
        launch.script is not None
        and (step.words[0].value == launch.script or launch.script in words)
        and words[-1:]
        not in (
            [],
            [launch.script],
        )
    )


_GUARDED = profiles.BLOCKING_EVENTS - {"Stop", "SubagentStop"}


@rule(
    id="script-undeclared-tool",
    severity="warning",
    title="A guard needs a tool and does not look whether it is there",
    consequence="every call passes",
    remedy='Begin with: command -v jq >/dev/null || { echo "jq is needed" >&2; exit 2; }',
    source="seed 001, Validation Checklist; public report B022",
    bad=_project(_SHELLS + 'case $(jq -r .tool_input.command) in *mkfs*) echo "no mkfs" >&2; exit 2 ;; esac\n'),
    good=_project(
        _SHELLS
        + 'command -v jq >/dev/null || exit 2\ncase $(jq -r .tool_input.command) in *mkfs*) echo "no mkfs" >&2; exit 2 ;; esac\n'
    ),
)
def _check_tool(context: Context) -> Iterator[Found]:
    for each in seen(context):
        trait = each.traits.first("undeclared-tool", "undeclared-tool-closed")
        if trait is None:
            continue
        closed = trait.kind == "undeclared-tool-closed"
        # at Stop a missing tool only means that the agent is sent back once more, or not at all
        guard = each.event in _GUARDED and is_guard(context, each.launch)
        yield context.at(
            each.launch.handler.key("command"),
            f"{each.where(trait)} needs {trait.text}; where that is missing, "
            + (("every call is refused, without a word" if closed else "every call passes") if guard else "the handler fails"),
            severity=None if guard else "info",
            consequence=("every call refused" if closed else None) if guard else "cannot start",
        )
