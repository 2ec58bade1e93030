"""What a script says must be what its agent understands."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..check import Finding, NotApplicable, NotTested, Probe, check
from ..search import Shot

FAMILY = "answers"

DECISION_KEYS = frozenset(
    {
        "hookSpecificOutput",
        "permissionDecision",
        "decision",
        "continue",
        "verdict",
        "permission",
        "approve",
        "action",
        "block",
        "allow",
    }
)
"""Keys that only an answer has."""
OWN_WORDS = ("allow", "deny", "ask", "defer")
_ONLY_OF_PAYLOADS = frozenset(
    {"tool_input", "tool_name", "tool_response", "session_id", "transcript_path", "cwd", "tool", "session"}
)
HELD = ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "BeforeTool", "Stop", "SubagentStop")
"""Events at which a script may hold something."""
NESTED = ("claude-code", "codex", "qwen")
"""Dialects whose answers have hookSpecificOutput."""
TOO_LATE = ("PostToolUse", "PostToolUseFailure", "AfterTool", "SessionEnd", "Notification")


def distinct(shots: Iterable[Shot]) -> Iterator[Shot]:
    """One shot for each way in which the script answers."""
    seen = set()
    for shot in shots:
        key = (shot.shape, _keys(shot.answer))
        if key not in seen:
            seen.add(key)
            yield shot


def _keys(value: Any) -> object:
    if not isinstance(value, dict):
        return type(value).__name__
    return tuple(sorted((str(key), _keys(item) if isinstance(item, dict) else "") for key, item in value.items()))


def spoken(probe: Probe) -> list[Shot]:
    """All the ways in which the script has answered stimuli; raises NotTested when none came."""
    if not probe.canaries.shots:
        raise NotTested("nothing was fired")
    return list(distinct(probe.canaries.shots))


def objects_in(text: str) -> list[dict[str, Any]]:
    """All JSON objects that stand somewhere in a text."""
    found: list[dict[str, Any]] = []
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0 and len(found) < 10:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                found.append(value)
        at = text.find("{", end)
    return found


def is_answer(value: Any) -> bool:
    """Whether a JSON value is meant as an answer."""
    return isinstance(value, dict) and bool(DECISION_KEYS & value.keys())


def own_output(shot: Shot) -> dict[str, Any] | None:
    """The hookSpecificOutput of an answer."""
    answer = shot.answer
    own = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    return own if isinstance(own, dict) else None


def nested(probe: Probe) -> None:
    """Raises NotApplicable for dialects whose answers are flat."""
    if not probe.dialect.startswith(NESTED):
        raise NotApplicable("answers of this dialect have no hookSpecificOutput")


@check(
    "exit-code-refuses",
    family=FAMILY,
    title="The exit code with which the script refuses is one that blocks.",
    consequence="only exit code 2 blocks in {dialect}; with any other the call goes on, and nobody is told",
    remedy="end with exit code 2 and the reason on stderr, or print a deny as JSON and end with 0",
)
def exit_code_refuses(probe: Probe) -> Iterable[Finding]:
    for shot in distinct(probe.canaries.all_tried):
        # exit code 2 that holds nothing has another cause: see refusal-counts
        if shot.fired.exit not in (0, 2, None) and not shot.refuses and not is_answer(shot.answer):
            yield Finding(f"it refuses with exit code {shot.fired.exit}, and the call passes", "exit code 2", shot)


@check(
    "json-alone",
    family=FAMILY,
    title="An answer is one JSON object and nothing else on stdout.",
    consequence="{dialect} takes stdout with anything beside the object for plain text: the decision does not count",
    remedy="print nothing but the answer on stdout; logs go to stderr or a file",
)
def json_alone(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        text = shot.fired.said.strip().removeprefix("\ufeff")
        if isinstance(shot.answer, dict) or not text:
            continue
        found = [value for value in objects_in(text) if is_answer(value)]
        if len(found) > 1 and text.startswith("{") and text.endswith("}"):
            yield Finding(f"{len(found)} JSON objects one after the other", "one", shot)
        elif found:
            yield Finding("text beside the JSON object", "the object alone", shot)


@check(
    "json-whole",
    family=FAMILY,
    title="What looks like JSON is JSON.",
    consequence="{dialect} cannot read it and takes it for plain text: the decision does not count",
    remedy="build the answer with jq -n --arg, json.dumps or JSON.stringify, which quote what must be quoted",
)
def json_whole(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        text = shot.fired.said.strip()
        broken = text.startswith("{") and shot.answer is None and not any(is_answer(value) for value in objects_in(text))
        if broken and any(f"{key}" in text for key in ("hookSpecificOutput", "decision", "verdict", "continue")):
            yield Finding("its stdout begins like a JSON object and is none", "JSON", shot)


@check(
    "event-named",
    family=FAMILY,
    title="hookSpecificOutput names the event that it answers.",
    consequence="{dialect} refuses the whole answer, and the call passes",
    remedy='add "hookEventName" with the name of the event, to the letter',
)
def event_named(probe: Probe) -> Iterable[Finding]:
    nested(probe)
    for shot in spoken(probe):
        own = own_output(shot)
        if own is None or own.get("hookEventName") == shot.stimulus.event:
            continue
        named = own.get("hookEventName")
        saw = "hookEventName is missing" if named is None else f'hookEventName is "{named}"'
        yield Finding(saw, f'"{shot.stimulus.event}"', shot)


@check(
    "fields-in-place",
    family=FAMILY,
    title="Each field of an answer stands at the level where the agent looks for it.",
    consequence="{dialect} does not see it: a decision at the wrong level decides nothing",
    remedy='a decision before a call: {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
    '"permissionDecisionReason": "..."}}; after it, and on Stop: {"decision": "block", "reason": "..."}',
)
def fields_in_place(probe: Probe) -> Iterable[Finding]:
    nested(probe)
    inner = ("permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "updatedToolOutput")
    outer = ("continue", "stopReason", "systemMessage", "decision", "suppressOutput")
    for shot in spoken(probe):
        answer, own = shot.answer, own_output(shot)
        if not isinstance(answer, dict):
            continue
        for key in inner:
            if key in answer:
                yield Finding(f'"{key}" stands at the top', "inside hookSpecificOutput", shot)
                break
        for key in outer:
            if own is not None and key in own and not (key == "decision" and shot.stimulus.event == "PermissionRequest"):
                yield Finding(f'"{key}" stands inside hookSpecificOutput', "at the top", shot)
                break
        if own is not None and "permissionDecision" in own and shot.stimulus.event != "PreToolUse":
            yield Finding(
                f'"permissionDecision" on {shot.stimulus.event}', '{"decision": "block", "reason": "..."} at the top', shot
            )


@check(
    "decision-word",
    family=FAMILY,
    title="A decision is one of the agent's own words, in its own case.",
    consequence="{dialect} does not know the word: it refuses the whole answer, or ignores it, and the call passes",
    remedy="write permissionDecision allow, deny, ask or defer; at the top decision block",
)
def decision_word(probe: Probe) -> Iterable[Finding]:
    nested(probe)
    for shot in spoken(probe):
        answer, own = shot.answer, own_output(shot)
        if not isinstance(answer, dict):
            continue
        word = (own or {}).get("permissionDecision", answer.get("permissionDecision"))
        if word is not None and word not in OWN_WORDS:
            yield Finding(f"permissionDecision is {json.dumps(word)}", "allow, deny, ask or defer", shot)
        top = answer.get("decision")
        if top is not None and top not in ("block", "approve") and isinstance(top, str | bool | int | list):
            yield Finding(f"decision is {json.dumps(top)}", "block", shot)
        if isinstance(answer.get("continue"), str | int) and not isinstance(answer.get("continue"), bool):
            yield Finding(f"continue is {json.dumps(answer['continue'])}", "true or false", shot)


@check(
    "own-dialect",
    family=FAMILY,
    title="The script speaks the language of the agent that asks it.",
    consequence="those are another agent's words; {dialect} does not know them, and the call passes",
    remedy="answer in this agent's form, see the matrix of the portability family",
)
def own_dialect(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        answer = shot.answer
        if not isinstance(answer, dict) or shot.refuses or not shot.tries:
            continue
        foreign = {
            "verdict",
            "permission",
            "approve",
            "approved",
            "allow",
            "allowed",
            "block",
            "blocked",
            "action",
            "result",
            "ok",
        }
        if probe.dialect.startswith("lecode"):
            foreign = {"hookSpecificOutput", "permissionDecision", "decision", "permission", "continue"}
        found = sorted(foreign & answer.keys())
        if found:
            yield Finding(f'it answers with "{found[0]}", and the call passes', "a decision that this agent reads", shot)


@check(
    "answer-on-stdout",
    family=FAMILY,
    title="The answer goes to stdout.",
    consequence="{dialect} reads decisions from stdout only; on stderr it is a log line, or raw text for the model",
    remedy="print the JSON on stdout; stderr is for the reason with exit code 2",
)
def answer_on_stdout(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        if any(is_answer(value) for value in objects_in(shot.fired.complained)) and not is_answer(shot.answer):
            yield Finding("the JSON stands on stderr", "on stdout", shot, severity="should" if shot.refuses else None)


@check(
    "payload-kept",
    family=FAMILY,
    title="The script does not print its payload.",
    consequence="{dialect} takes stdout for the answer: fields of the payload are none, and a long one is broken JSON",
    remedy="print nothing where there is nothing to say; only filters hand their input on",
    severity="should",
)
def payload_kept(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        answer = shot.answer
        if isinstance(answer, dict) and len(_ONLY_OF_PAYLOADS & answer.keys() & shot.stimulus.payload.keys()) > 1:
            yield Finding("it prints what it was given", "nothing, or an answer", shot)
            return


@check(
    "heard",
    family=FAMILY,
    title="What the script has to say is said where somebody hears it.",
    consequence="with exit code 0 {dialect} shows stderr to nobody, and goes on: if it was meant as a refusal, it is none",
    remedy="to refuse, end with exit code 2 behind the message; to tell the model something, print additionalContext",
    severity="should",
    events=HELD,
)
def heard(probe: Probe) -> Iterable[Finding]:
    if not probe.dialect.startswith("claude-code"):
        raise NotApplicable("other agents show stderr, or nothing is known of it")
    ended = [shot for shot in probe.canaries.shots if shot.fired.exit == 0 and not shot.refuses and not shot.fired.said.strip()]
    speaking = [shot for shot in ended if shot.fired.complained.strip()]
    # a log line at each start is a matter of taste
    if speaking and len(speaking) * 2 < len(ended):
        yield Finding("on some stimuli it has something to say, on stderr, with exit code 0", "exit code 2, or JSON", speaking[0])


@check(
    "reason-given",
    family=FAMILY,
    title="A refusal says why.",
    consequence="the model learns only that it was refused, and tries the same in other words",
    remedy='with exit code 2 write it to stderr (>&2); in JSON give "permissionDecisionReason", or "reason" beside "decision"',
    severity="should",
)
def reason_given(probe: Probe) -> Iterable[Finding]:
    for shot in distinct(probe.canaries.all_refused):
        if shot.fired.exit == 2 and not shot.fired.complained.strip() and not isinstance(shot.answer, dict):
            where = "its reason is on stdout, where nobody reads it" if shot.fired.said.strip() else "nothing on stderr"
            yield Finding(f"exit code 2 and {where}", "a reason on stderr", shot)
        elif isinstance(shot.answer, dict) and not shot.meaning.reason.strip() and shot.meaning.verdict in ("deny", "ask"):
            yield Finding(f"{shot.meaning.verdict} without a reason", "a reason", shot)


@check(
    "one-decision",
    family=FAMILY,
    title="Exit code and JSON say the same.",
    consequence="exit code 2 wins in {dialect}: who should have been asked is not asked, what should be allowed is refused",
    remedy="end with exit code 0 when a decision is printed",
)
def one_decision(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        own, answer = own_output(shot), shot.answer
        word = (own or {}).get("permissionDecision")
        if word is None and isinstance(answer, dict):
            word = answer.get("decision", answer.get("verdict"))
        if shot.fired.exit == 2 and word in ("ask", "allow", "approve", "defer"):
            yield Finding(f'it prints "{word}" and ends with 2', "exit code 0", shot)


@check(
    "no-opinion-is-silence",
    family=FAMILY,
    title="A script without an opinion says nothing.",
    consequence="defer parks the call for ever where nobody is there to take it up; allow lifts questions that the user wants",
    remedy="print nothing and end with 0 where there is nothing to say",
    severity="should",
    kinds=("guard", "observer", "context"),
)
def no_opinion_is_silence(probe: Probe) -> Iterable[Finding]:
    shots = [shot for shot in probe.canaries.shots if shot.meaning.verdict == "defer"]
    if shots:
        yield Finding("it defers", "nothing on stdout", shots[0])
    allowed = [shot for shot in probe.canaries.shots if shot.meaning.verdict == "allow"]
    if probe.kind == "guard" and probe.script.event == "PreToolUse" and len(allowed) > 3:
        said = f"it allows all that it does not refuse ({len(allowed)} stimuli): no question is asked any more"
        yield Finding(said, "nothing on stdout", allowed[0], severity="may")


@check(
    "stopping-is-no-refusal",
    family=FAMILY,
    title="Before a call, a script refuses by a deny, not by ending the run.",
    consequence="in {dialect} `continue: false` lets the call run, and ends the run after it",
    remedy='add "permissionDecision": "deny" in hookSpecificOutput, or end with exit code 2',
    events=("PreToolUse",),
)
def stopping_is_no_refusal(probe: Probe) -> Iterable[Finding]:
    for shot in spoken(probe):
        if isinstance(shot.answer, dict) and shot.answer.get("continue") is False and not shot.refuses:
            yield Finding("continue: false without a deny", "a deny", shot)


@check(
    "not-too-late",
    family=FAMILY,
    title="A guard stands before what it guards against.",
    consequence="at this event it has already happened; {dialect} can only be told of it",
    remedy="put the guard on PreToolUse",
    severity="should",
    events=TOO_LATE,
)
def not_too_late(probe: Probe) -> Iterable[Finding]:
    tried = probe.canaries.refused or probe.canaries.tried
    if tried is not None:
        yield Finding(f"it refuses on {probe.script.event}", "PreToolUse", tried)


@check(
    "passes-quietly",
    family=FAMILY,
    title="What passes ends with exit code 0.",
    consequence="{dialect} takes another code for a failure: an error is shown on each call, or the call is held",
    remedy="end with exit 0; mind that grep without a match ends with 1, under set -e too",
    severity="should",
)
def passes_quietly(probe: Probe) -> Iterable[Finding]:
    tried = {id(shot) for shot in probe.canaries.all_tried}
    for shot in spoken(probe):
        if not shot.refuses and id(shot) not in tried and shot.fired.exit not in (0, None) and not shot.tries:
            yield Finding(f"exit code {shot.fired.exit} on what it does not refuse", "exit code 0", shot)
            return


@check(
    "refusal-counts",
    family=FAMILY,
    title="When the script says that it refuses, the agent refuses.",
    consequence="the script believes that it refused; in {dialect} the call passes",
    remedy="answer in one of the agent's own ways: exit code 2 with a reason on stderr, or a deny as JSON",
    events=("PreToolUse", "UserPromptSubmit", "PermissionRequest", "BeforeTool"),
)
def refusal_counts(probe: Probe) -> Iterable[Finding]:
    explained = {id(finding.shot) for look in _EXPLAIN for finding in _findings(look, probe)}
    shapes = {shot.shape for shot in probe.canaries.shots if id(shot) in explained}
    for shot in distinct(probe.canaries.all_tried):
        if shot.shape not in shapes:
            why = shot.meaning.failed or shot.meaning.why
            if any(value.get("async") is True for value in objects_in(shot.fired.said)):
                why = 'it prints "async": true, so nobody waits for its answer'
            yield Finding(f"it says that it refuses, and the call passes: {why}", "the call is held", shot)
            return


_EXPLAIN = (
    *(exit_code_refuses, json_alone, json_whole, event_named, fields_in_place, decision_word),
    *(own_dialect, answer_on_stdout, stopping_is_no_refusal),
)
"""The checks that say why a refusal has no effect; only one that none of them explains is told of as such."""


def _findings(look: Callable[[Probe], Iterable[Finding]], probe: Probe) -> list[Finding]:
    try:
        return list(look(probe))
    except NotApplicable:
        return []
