"""Answers that the event, or the tool, does not heed; and reasons that are thrown away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..launch import launches
from ..pattern import pattern
from ..payloads import REQUIRED, tools_matched
from ..rule import rule
from ..script.seen import is_guard, seen
from ..script.traits import UNREADABLE
from ..vocabulary import names_of
from .answers import _answering, _of_events
from .guards import _RUN, _project

_UNHEEDED = frozenset({
    "Notification", "SessionStart", "SessionEnd", "Setup", "SubagentStart", "CwdChanged", "FileChanged", "InstructionsLoaded",
    "PostCompact", "MessageDisplay", "StopFailure", "WorktreeRemove", "DirectoryAdded",
})  # fmt: skip


def _post(answer: str) -> str:
    return '{"hookSpecificOutput":{"hookEventName":"PostToolUse",' + answer + "}}"


def _echo(event: str, text: str) -> str:
    matcher = '"matcher":"Edit",' if event.endswith("ToolUse") else ""
    handler = f'{{"type":"command","command":"echo \'{text}\'","timeout":5}}'
    return f'{{"hooks":{{"{event}":[{{{matcher}"hooks":[{handler}]}}]}}}}'


@rule(
    id="answer-unheeded",
    severity="warning",
    title="The event does not heed this answer",
    consequence="value ignored",
    remedy="Answer at an event that can be held up, or give the words as additionalContext.",
    source="documentation; observed: decision, exit code 2 and continue have no effect at these events",
    bad=(
        _answering('{"decision":"block","reason":"not now"}', event="Notification"),
        _answering(_post('"updatedMCPToolOutput":"hidden"'), event="PostToolUse"),
    ),
    good=(
        _answering('{"decision":"block","reason":"not now"}', event="UserPromptSubmit"),
        _answering(_post('"updatedToolOutput":"hidden"'), event="PostToolUse"),
    ),
)
def check_unheeded(context: Context) -> Iterator[Found]:
    """`decision: block` where nothing can be blocked, and a replacement for MCP tools at other tools."""
    for each in seen(context):
        block = each.traits.first("block")
        place = each.launch.handler.key("command")
        if block is not None and each.event in _UNHEEDED:
            yield context.at(place, f'{each.where(block)} answers "block", and {each.event} cannot be blocked')
        names = names_of(each.launch.handler.matcher or "*")
        if (
            each.event == "PostToolUse"
            and "updatedMCPToolOutput" in each.text
            and "updatedToolOutput" not in each.text
            and names
            and not any(name.startswith("mcp") for name in names)
        ):
            yield context.at(
                place,
                f"{each.name} gives updatedMCPToolOutput, which counts for MCP tools only",
                remedy="Write updatedToolOutput.",
            )


_REMINDS = pattern(r"\b(?:remember|don't forget|do not forget|make sure|please|always|never|must|should|reminder|note:)\b", re.I)
_UNHEARD = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "Notification", "PreCompact"})


@rule(
    id="answer-unheard",
    severity="warning",
    title="The model does not hear what is printed here",
    consequence="value ignored",
    remedy="Print it as hookSpecificOutput.additionalContext, or at UserPromptSubmit or SessionStart, whose text is heard.",
    source="observed on 2.1.178 and 2.1.332: plain text on stdout reaches the model at UserPromptSubmit and SessionStart only",
    bad=_echo("PostToolUse", "Remember to run the tests"),
    good=(_echo("UserPromptSubmit", "Remember to run the tests"), _echo("PostToolUse", "edited")),
)
def check_unheard(context: Context) -> Iterator[Found]:
    """Only a command that does nothing but say something to somebody."""
    for launch in launches(context):
        if launch.handler.event not in _UNHEARD or len(launch.steps) != 1 or launch.steps[0].redirects:
            continue
        step = launch.steps[0]
        said = " ".join(step.arguments)
        if step.name in ("echo", "printf") and "{" not in said and _REMINDS.search(said):
            yield context.at(launch.handler.key("command"), f"what is printed at {launch.handler.event} does not reach the model")


@rule(
    id="answer-partial-input",
    severity="error",
    title="The rewritten input lacks what the tool needs",
    consequence="every call refused",
    remedy="Copy the whole tool_input and change what is to be changed: updatedInput takes its place, it is not merged.",
    source="observed on 2.1.178 and 2.1.332: the call fails, its input does not fit the tool's schema",
    bad=_answering(
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"timeout":5000}}}'
    ),
    good=_answering(
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"date"}}}'
    ),
)
def check_partial(context: Context) -> Iterator[Found]:
    """Literal objects only; one that something is spread into may hold it."""
    for each in _of_events(context, "PreToolUse"):
        if "updatedInput" not in each.text:
            continue
        given = re.search(r"""updatedInput["']?\s*:\s*\{([^{}]*)\}""", each.text.replace('\\"', '"'))
        tools = tools_matched(each.launch.handler.matcher)
        if given is None or not tools or re.search(r"\*\*|\.\.\.|\$|\+", given[1]):
            continue
        keys = re.findall(r"""["']?(\w+)["']?\s*:""", given[1])
        if all(set(REQUIRED.get(tool, ())) - set(keys) for tool in tools) and all(tool in REQUIRED for tool in tools):
            lacking = " and ".join(sorted(set(REQUIRED[tools[0]]) - set(keys)))
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.name} rewrites the input of {tools[0]} without {lacking}",
            )


@rule(
    id="answer-async",
    severity="error",
    title="The guard says that it goes on in the background",
    consequence="every call passes",
    remedy='Do not print {"async": true}; a guard answers while the call waits.',
    source="observed on 2.1.178 and 2.1.332: what comes after it is not heeded, a deny in the same object neither",
    bad=_answering('{"async":true}', before='case $payload in *dd*) echo "no dd" >&2; exit 2 ;; esac\n'),
    good=_answering('{"async":false}', before='case $payload in *dd*) echo "no dd" >&2; exit 2 ;; esac\n'),
)
def check_async(context: Context) -> Iterator[Found]:
    """Only for scripts that refuse."""
    for each in _of_events(context, *profiles.BLOCKING_EVENTS):
        said = re.search(r"""["']async["']\s*:\s*(?:true|True)\b""", each.text.replace('\\"', '"'))
        if said is not None and each.traits.refuses:
            yield context.at(
                each.launch.handler.key("command"), f'{each.name} prints "async": true, and the call does not wait for the rest'
            )


@rule(
    id="answer-reason-discarded",
    severity="warning",
    title="The reason of the refusal is thrown away",
    consequence="value ignored",
    remedy="Leave stderr alone: what the guard writes there is told to the model.",
    source='public report B073; observed: the model is told "No stderr output"',
    bad=(_project(command=_RUN + " 2>/dev/null"), _project(command=_RUN + " >/dev/null 2>&1")),
    good=(_project(), _project(command=_RUN + " >/dev/null")),
)
def check_discarded(context: Context) -> Iterator[Found]:
    """Only where the guard refuses by its exit code."""
    for launch in launches(context):
        if launch.handler.event not in profiles.BLOCKING_EVENTS or not launch.shell or not launch.steps:
            continue
        last = launch.steps[-1]
        away = re.search(r"2>\s*/dev/null|&>\s*/dev/null|>\s*/dev/null\s+2>&1", launch.command)
        if away is None or launch.script is None or launch.step != len(launch.steps) - 1 or not last.redirects:
            continue
        texts = [each for each in seen(context) if each.launch is launch and not each.inline]
        if is_guard(context, launch) and any(trait.text != UNREADABLE for each in texts for trait in each.traits.all("exit-2")):
            yield context.at(launch.handler.key("command"), f'"{away[0]}" throws the reason of a refusal away')


_DENY = (
    '#!/bin/sh\ncase $(cat) in *mkfs*)\n  echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
    '"permissionDecision":"deny","permissionDecisionReason":"no mkfs"}}\' ;;\nesac\n'
)


@rule(
    id="answer-discarded",
    severity="error",
    title="The JSON answer is thrown away",
    consequence="every call passes",
    remedy="Leave stdout alone: the answer of the script is read there.",
    source="observed on 2.1.178 and 2.1.332: an answer is read from stdout and from nowhere else",
    bad=_project(_DENY, command=_RUN + " >/dev/null"),
    good=(_project(_DENY), _project(command=_RUN + " >/dev/null"), _project(_DENY, command=_RUN + " 2>/dev/null")),
)
def check_thrown_away(context: Context) -> Iterator[Found]:
    """Only where the script has no other way to refuse."""
    for each in _of_events(context, *profiles.BLOCKING_EVENTS, "PermissionRequest"):
        launch = each.launch
        if each.inline or not launch.shell or launch.step != len(launch.steps) - 1 or each.traits.ends_with_2:
            continue
        away = re.search(r"(?<![\w&])(?:1|&)?>\s*/dev/null", launch.command)
        if away is not None and each.traits.has("json") and each.traits.has("deny", "ask", "block"):
            yield context.at(launch.handler.key("command"), f'"{away[0]}" throws the answer of {each.name} away')


@rule(
    id="answer-input-place",
    severity="error",
    title="The new input stands at the top level of the answer",
    consequence="value ignored",
    remedy="Put updatedInput into hookSpecificOutput, beside hookEventName.",
    source="observed on 2.1.178 and 2.1.332: unknown keys of an answer are ignored, and the original input runs",
    bad=_project('#!/bin/sh\ncat >/dev/null\necho \'{"updatedInput":{"command":"date"}}\'\n'),
    good=_project(
        "#!/bin/sh\ncat >/dev/null\n"
        'echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"date"}}}\'\n'
    ),
)
def check_input_place(context: Context) -> Iterator[Found]:
    """Only where no part of the script writes hookSpecificOutput."""
    for each in _of_events(context, "PreToolUse"):
        text = each.text.replace('\\"', '"')
        if each.traits.has("json") and "hookSpecificOutput" not in text and re.search(r"""["']updatedInput["']\s*:""", text):
            yield context.at(
                each.launch.handler.key("command"), f"{each.name} gives updatedInput at the top level, where it is not read"
            )
