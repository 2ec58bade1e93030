"""Answers of scripts that the program does not read as they are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .. import profiles
from ..context import Context
from ..finding import Found
from ..rule import Example, rule
from ..script.seen import Seen, seen
from ..script.traits import Trait, together

_HEAD = "#!/bin/sh\npayload=$(cat)\n"
_ANSWER = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no mkfs"}}'


def _answering(answer: str, event: str = "PreToolUse", before: str = "", to: str = "") -> Example:
    matcher = '"matcher":"Bash",' if event.endswith("ToolUse") else ""
    return Example(
        f'{{"hooks":{{"{event}":[{{{matcher}"hooks":[{{"type":"command","command":"\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.sh","timeout":9}}]}}]}}}}',
        files={".claude/hooks/refuse.sh": f"{_HEAD}{before}case $payload in *mkfs*)\n  printf '%s\\n' '{answer}'{to} ;;\nesac\n"},
    )


def _of_events(context: Context, *events: str) -> Iterator[Seen]:
    for each in seen(context):
        if not events or each.event in events:
            yield each


@rule(
    id="answer-with-noise",
    severity="error",
    title="Other text stands before or behind the JSON answer",
    consequence="every call passes",
    remedy="Send what is no answer to stderr.",
    source="observed on 2.1.178 and 2.1.332: such output is plain text, and no answer is read",
    bad=_answering(_ANSWER, before='echo "looking at the command"\n'),
    good=(
        _answering(_ANSWER, before='echo "looking at the command" >&2\n'),
        _answering(_ANSWER, before='exec 3>&1 1>&2\necho "looking at the command"\n', to=" >&3"),
    ),
)
def _check_noise(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        prose = _beside_answer(each)
        answer = each.traits.has("deny", "ask", "block", "decision-word", "event-name", "event-name-computed")
        if prose is not None and answer:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(prose)} prints text beside the JSON answer: then none of it is read as an answer",
                consequence=None if each.event in profiles.BLOCKING_EVENTS else "value ignored",
            )


def _beside_answer(each: Seen) -> Trait | None:
    """The first text that comes out in the same run as an answer."""
    answers = each.traits.all("json")[:20]
    # two objects, one behind the other, are no JSON either
    for first, second in pairwise(answers):
        between = each.text.split("\n")[first.line : second.line - 1]
        if (
            first.line < second.line
            and not any(
                re.match(r"\s*(?:async\s+)?(?:def|function|class)\b|\s*[\w-]+\s*\(\)\s*\{|.*=>\s*\{", line) for line in between
            )
            and together(each.text, first.line, second.line)
        ):
            return first
    return next((p for p in each.traits.all("prose")[:20] if any(together(each.text, p.line, a.line) for a in answers)), None)


@rule(
    id="answer-not-json",
    severity="error",
    title="The answer is no JSON",
    consequence="every call passes",
    remedy="Print json.dumps(answer); in a shell put the JSON in single quotes, with double quotes inside.",
    source="observed on 2.1.178 and 2.1.332: taken as plain text, the call passes",
    bad=(
        Example(_answering("").settings, files={".claude/hooks/refuse.sh": _HEAD +
            "case $payload in *mkfs*) echo "
            "\"{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny'}}\" ;; esac\n"}),
    ),
    good=_answering(_ANSWER),
)  # fmt: skip
def _check_json(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        trait = each.traits.first("dict-printed", "not-json")
        if trait is not None and each.traits.has(
            "decision-word", "event-name", "event-name-computed", "legacy-decision", "continue-false"
        ):
            what = (
                "prints a dict, which has single quotes" if trait.kind == "dict-printed" else "prints an answer that is no JSON"
            )
            yield context.at(each.launch.handler.key("command"), f"{each.where(trait)} {what}: it is taken as plain text")


@rule(
    id="answer-on-stderr",
    severity="error",
    title="The JSON answer goes to stderr",
    consequence="every call passes",
    remedy="Print the answer to stdout; stderr is read only together with exit code 2.",
    source="observed on 2.1.178 and 2.1.332",
    bad=_answering(_ANSWER, to=" >&2"),
    good=_answering(_ANSWER),
)
def _check_stream(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        trait = each.traits.first("json-on-stderr")
        if (
            trait is not None
            and not (each.traits.has("json") or each.traits.ends_with_2)
            and each.traits.has("decision-word", "legacy-decision", "event-name")
        ):
            yield context.at(
                each.launch.handler.key("command"), f"{each.where(trait)} prints its answer to stderr, where nobody reads it"
            )


@rule(
    id="answer-event-name",
    severity="error",
    title="The answer names another event, or none",
    consequence="every call passes",
    remedy="Write hookEventName with the event that the handler is configured for.",
    source="observed on 2.1.178 and 2.1.332: the answer is refused by its schema, and the call passes",
    bad=(
        _answering(_ANSWER.replace("PreToolUse", "PostToolUse")),
        _answering('{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no mkfs"}}'),
    ),
    good=_answering(_ANSWER),
)
def _check_event(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        traits = each.traits
        named = traits.all("event-name")
        missing = traits.first("event-name-missing")
        consequence = None if each.event in profiles.BLOCKING_EVENTS else "value ignored"
        if missing is not None:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(missing)} answers without hookEventName: the answer is refused",
                consequence=consequence,
            )
        elif named and not traits.has("event-name-computed") and each.event not in {trait.text for trait in named}:
            if _told_apart(each, named[0].text):
                continue
            yield context.at(
                each.launch.handler.key("command"),
                f'{each.where(named[0])} answers as "{named[0].text}", and the handler stands on {each.event}: the '
                f"answer is refused",
                consequence=consequence,
            )


def _told_apart(each: Seen, event: str) -> bool:
    """Whether the script looks at the event before it answers: then it serves several."""
    return (
        re.search(rf"hook_event_name[^\n]{{0,60}}{event}|{event}[^\n]{{0,40}}hook_event_name", each.text) is not None
        or "case $event" in each.text
    )


@rule(
    id="answer-word",
    severity="error",
    title="The decision is a word that is not known",
    consequence="every call passes",
    remedy="permissionDecision is allow, deny, ask or defer, in small letters.",
    source="public report B066; observed: the answer is refused by its schema, and the call passes",
    bad=(_answering(_ANSWER.replace('"deny"', '"block"')), _answering(_ANSWER.replace('"deny"', '"Deny"'))),
    good=(_answering(_ANSWER), _answering(_ANSWER.replace('"deny"', '"ask"'))),
)
def _check_word(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        trait = each.traits.first("unknown-word")
        foreign = each.traits.first("foreign-answer") or next(
            (t for t in each.traits.all("legacy-decision") if t.text == "deny" and not each.traits.ends_with_2), None
        )
        if foreign is not None and each.event in profiles.BLOCKING_EVENTS:
            yield context.at(
                each.launch.handler.key("command"),
                f'{each.where(foreign)} answers with "{foreign.text}", a word of another program: nothing is refused',
            )
        if trait is not None and each.event in ("PreToolUse", "PermissionRequest"):
            yield context.at(
                each.launch.handler.key("command"),
                f'{each.where(trait)} says permissionDecision "{trait.text}"; it is allow, deny, ask or defer',
            )


@rule(
    id="answer-place",
    severity="error",
    title="The answer stands in the wrong place",
    consequence="value ignored",
    remedy="Put it inside hookSpecificOutput, beside hookEventName; on Stop and UserPromptSubmit a decision is top-level.",
    source="public reports B066, B068 and B136; observed: the key is ignored",
    bad=(
        _answering('{"permissionDecision":"deny","permissionDecisionReason":"no mkfs"}'),
        _answering('{"additionalContext":"no mkfs"}', event="UserPromptSubmit"),
        _answering(
            _ANSWER.replace("PreToolUse", "Stop"), event="Stop", before="case $payload in *stop_hook_active*) exit 0 ;; esac\n"
        ),
    ),
    good=(
        _answering(_ANSWER),
        _answering(
            '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"no mkfs"}}', event="UserPromptSubmit"
        ),
    ),
)
def _check_place(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        top = each.traits.first("decision-at-top")
        text = each.traits.first("context-at-top")
        word = each.traits.first("decision-word")
        place = each.launch.handler.key("command")
        if top is not None and each.event in ("PreToolUse", "PermissionRequest"):
            yield context.at(
                place,
                f"{each.where(top)} gives permissionDecision at the top level, where it is not read",
                consequence="every call passes",
            )
        elif word is not None and each.event == "PermissionRequest" and "behavior" not in each.text:
            yield context.at(
                place,
                f"{each.where(word)} gives permissionDecision, and PermissionRequest reads decision.behavior",
                remedy='Write "decision": {"behavior": "deny"} inside hookSpecificOutput.',
            )
        elif (
            word is not None
            and each.event in ("Stop", "SubagentStop", "UserPromptSubmit", "PostToolUse")
            and not _told_apart(each, "PreToolUse")
            and (
                each.event in {trait.text for trait in each.traits.all("event-name")}
                or each.traits.has("event-name-computed", "decision-at-top")
            )
        ):
            yield context.at(place, f"{each.where(word)} gives permissionDecision, which {each.event} does not know")
        if text is not None:
            yield context.at(place, f"{each.where(text)} gives additionalContext at the top level, where it is dropped")


@rule(
    id="answer-deprecated",
    severity="warning",
    title="The answer has a form that is deprecated",
    consequence="not portable",
    remedy="On PreToolUse answer with hookSpecificOutput.permissionDecision: deny for block, allow for approve.",
    source="documentation; observed: still honoured on 2.1.178 and 2.1.332",
    bad=(_answering('{"decision":"block","reason":"no mkfs"}'), _answering('{"decision":"approve"}')),
    good=(_answering(_ANSWER), _answering('{"decision":"block","reason":"no mkfs"}', event="UserPromptSubmit")),
)
def _check_deprecated(context: Context) -> Iterator[Found]:
    for each in _of_events(context, "PreToolUse"):
        trait = each.traits.first("legacy-decision")
        if (
            trait is not None
            and trait.text in ("block", "approve")
            and not each.traits.has("decision-word")
            and not _told_apart(each, "Stop")
        ):
            yield context.at(
                each.launch.handler.key("command"),
                f'{each.where(trait)} answers with "decision": "{trait.text}", which is deprecated on PreToolUse',
            )


@rule(
    id="answer-continue",
    severity="error",
    title="continue:false is taken for a refusal",
    consequence="every call passes",
    remedy="Deny the call as well; continue:false ends the loop after the tool has run.",
    source="observed on 2.1.178 and 2.1.332, against seed 003",
    bad=_answering('{"continue":false,"stopReason":"no mkfs"}'),
    good=(_answering(_ANSWER), _answering('{"continue":false,"stopReason":"no mkfs"}', event="UserPromptSubmit")),
)
def _check_continue(context: Context) -> Iterator[Found]:
    for each in _of_events(context, "PreToolUse"):
        trait = each.traits.first("continue-false")
        if trait is not None and not (each.traits.has("deny", "block", "ask") or each.traits.ends_with_2):
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(trait)} says continue:false: the tool still runs, and only then the loop ends",
            )


@rule(
    id="answer-defer",
    severity="warning",
    title="defer is used for no opinion",
    consequence="unclear",
    remedy="Print nothing and end with 0 to have no opinion; defer parks the call until the session is resumed.",
    source="public report B051; observed: in a session without a person the run ends with the call undone",
    bad=_answering(_ANSWER.replace("deny", "defer")),
    good=_answering(_ANSWER),
)
def _check_defer(context: Context) -> Iterator[Found]:
    for each in _of_events(context, "PreToolUse"):
        trait = each.traits.first("defer")
        if trait is not None:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(trait)} defers: the call is parked, and a session without a person ends there",
            )


@rule(
    id="answer-reason-lost",
    severity="warning",
    title="The reason of a refusal is not on stderr",
    consequence="value ignored",
    remedy='Print the reason to stderr: echo "reason" >&2; exit 2.',
    source="public report B073; observed: the model is told \"No stderr output\"",
    bad=Example(_answering("").settings, files={".claude/hooks/refuse.sh": _HEAD +
        'case $payload in *mkfs*) echo "no '
        'mkfs here"; exit 2 ;; esac\n'}),
    good=Example(_answering("").settings, files={".claude/hooks/refuse.sh": _HEAD +
        'case $payload in *mkfs*) echo "no '
        'mkfs here" >&2; exit 2 ;; esac\n'}),
)  # fmt: skip
def _check_reason(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        silent = each.traits.first("block-without-reason")
        if silent is not None and each.event in (*profiles.BLOCKING_EVENTS, "PostToolUse"):
            yield context.at(each.launch.handler.key("command"), f'{each.where(silent)} says "block" and gives no reason')
        if each.event not in profiles.BLOCKING_EVENTS:
            continue
        prose, end = each.traits.first("prose"), each.traits.first("exit-2")
        if (
            prose is not None
            and end is not None
            and not each.traits.has("stderr", "json", "says-no")
            and not re.search(r">&2|/dev/stderr", each.text)
        ):
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(prose)} gives the reason on stdout, which is not read together with exit code 2",
            )


@rule(
    id="answer-with-exit-2",
    severity="warning",
    title="The JSON answer comes with exit code 2, and is not read",
    consequence="value ignored",
    remedy="End with 0 after a JSON answer; with 2 the reason is what stands on stderr.",
    source="public report B011; observed: with exit code 2 stdout is not read, an `ask` becomes a refusal",
    bad=Example(_answering("").settings, files={".claude/hooks/refuse.sh": _HEAD +
        f"case $payload in *mkfs*)\n  echo '{_ANSWER.replace('deny', 'ask')}'\n  exit 2 ;;\nesac\n"}),
    good=(_answering(_ANSWER.replace("deny", "ask")),
          Example(_answering("").settings, files={".claude/hooks/refuse.sh": _HEAD +
              f"case $payload in *mkfs*)\n  echo '{_ANSWER.replace('deny', 'ask')}'\n  exit 0 ;;\nesac\nexit 2\n"})),
)  # fmt: skip
def _check_exit_2(context: Context) -> Iterator[Found]:
    for each in _of_events(context, *profiles.BLOCKING_EVENTS):
        if not each.traits.has("ask", "allow", "deny", "decision-word", "block"):
            continue
        answers, ends = each.traits.all("json")[:20], each.traits.all("exit-2")[:20]
        # on stderr the reason is said all the same
        if each.traits.has("stderr"):
            continue
        answer = next((a for a in answers if any(a.line <= e.line and together(each.text, a.line, e.line) for e in ends)), None)
        if answer is not None:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(answer)} prints a JSON answer and ends with 2: then the answer is not read, and the reason is lost",
            )


@rule(
    id="answer-opens-on-error",
    severity="info",
    title="Input that cannot be read is let pass",
    consequence="some calls pass",
    remedy="End with 2 where a guard cannot read its input.",
    source="public report B012",
    bad=Example(
        _answering("").settings.replace("refuse.sh", "refuse.py"),  # type: ignore[arg-type]
        files={".claude/hooks/refuse.py": '#!/usr/bin/env python3\nimport json\nimport sys\n\ntry:\n    call = '
                                          'json.load(sys.stdin)\nexcept ValueError:\n    sys.exit(0)\nif "mkfs" in '
                                          'call["tool_input"]["command"]:\n    '
                                          'print("no mkfs", file=sys.stderr)\n    sys.exit(2)\n'},
    ),
    good=_answering(_ANSWER),
)  # fmt: skip
def _check_opens(context: Context) -> Iterator[Found]:
    for each in _of_events(context):
        trait = each.traits.first("unreadable-opens")
        if trait is not None and each.event in profiles.BLOCKING_EVENTS and each.traits.refuses:
            yield context.at(
                each.launch.handler.key("command"), f"{each.where(trait)} lets a call pass whose input it cannot read"
            )
