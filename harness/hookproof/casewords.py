"""A case is told in words: what each handler does, what happens, and what must be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from .cases import Call, Case, CaseSession, CaseStep, Handler, Say, given
from .catalog import Entry


def told(entry: Entry) -> str:
    """The whole case for a person who wants to know why their runner fails it."""
    case, rule = entry.case, entry.rule
    versions = ", ".join(entry.versions) or "all"
    rows = [
        case.id + (f"  [{', '.join(case.tags)}]" if case.tags else ""),
        f"  rule       {case.rule} ({rule.level}): {rule.text}",
        f"  source     {rule.source.document}, {rule.source.section}",
        *([f"  disputed   {rule.disputed}"] if rule.disputed else []),
        f"  why        {case.why}",
        f"  dialect    {entry.dialect}, versions: {versions}" + ("; for runners of scope loop" if case.scope == "loop" else ""),
        *([f"  needs      {', '.join(case.needs)}"] if case.needs else []),
        "  given",
        *(f"    {line}" for line in _given(case)),
        "  when",
        *(f"    {line}" for line in _when(case)),
        "  then",
        *(f"    {name}: {_json(value)}" for name, value in msgspec.to_builtins(case.expect).items()),
        *(f"    {line}" for line in _by_posture(case)),
        *([f"  twin       {case.twin}"] if case.twin else []),
        f"  killed by  {', '.join(case.killed_by)}",
        f"  file       {entry.path}:{entry.line}",
    ]
    return "\n".join(rows)


def handler(each: Handler) -> str:
    """What one handler does, in the order in which it does it."""
    if each.missing:
        return "is configured, but no file is there"
    deeds = list(_deeds(each))
    words = ", ".join(deeds)
    extras = {name: getattr(each, name) for name in ("prompt", "matcher", "timeout") if given(getattr(each, name))}
    extras |= {"if": each.if_, **each.native}
    kinds = {"kind": "command", "reply": "text", "start_delay": 0}
    extras = {name: getattr(each, name) for name, usual in kinds.items() if getattr(each, name) != usual} | extras
    configured = ", ".join(f"{name}: {_json(value)}" for name, value in extras.items() if value is not None)
    about = f" on {each.event}" if each.event else ""
    return (
        f"{words}{about}"
        + (f" ({configured})" if configured else "")
        + (" (its file may not be executed)" if each.not_executable else "")
    )


def _deeds(each: Handler) -> Iterator[str]:
    yield {"all": "reads stdin", "half": "reads 64 bytes of stdin and closes it", "none": "does not read stdin"}[each.read]
    if each.ignore_term:
        yield "ignores TERM"
    if each.spawn_child:
        child = each.spawn_child
        holding = "holds stdout" if child.holds == "stdout" else "holds nothing"
        yield f"leaves a child behind that lives {child.sleep:g} s and {holding}"
    if each.wait_for:
        yield f"waits until {each.wait_for} has started"
    if each.wait_for_end:
        yield f"waits until {each.wait_for_end} has ended"
    if each.sleep:
        yield f"sleeps {each.sleep:g} s"
    if each.stderr is not None:
        yield f"complains {_json(each.stderr)}"
    if each.raw is not None:
        yield f"prints {_json(each.raw)}"
    says = each.say if isinstance(each.say, list) else [each.say] if each.say else []
    if says:
        yield "says " + ", then ".join(_say(say) for say in says)
    elif each.raw is None and each.stdout_bytes is None:
        yield "prints nothing"
    if each.stdout_bytes is not None:
        yield f"prints {each.stdout_bytes} bytes in all"
    yield f"dies by {each.signal}" if each.signal else f"exits {each.exit}"


def _say(say: Say) -> str:
    if say.text is not None:
        return f"in plain text {_json(say.text)}"
    if say.use is not None:
        return f"that {say.use.tool} is to be called with {_json(say.use.input)}"
    if say.native is not None:
        return f"to the letter {_json(say.native)}"
    parts: list[str] = [say.verdict] if say.verdict else []
    for name in ("reason", "input", "output", "context"):
        value = getattr(say, name)
        if given(value) and value is not None:
            parts.append(f"{name} {_json(value)}")
    return " with ".join([parts[0], " and ".join(parts[1:])]) if len(parts) > 1 else parts[0] if parts else "nothing"


def _by_posture(case: Case) -> Iterator[str]:
    for choice in case.by_posture:
        for word, expect in choice.is_.items():
            yield f"where the posture's {choice.on} is {word}: {_json(msgspec.to_builtins(expect))}"


def _given(case: Case) -> Iterator[str]:
    for native in case.settings or []:
        yield f"{native.scope} settings to the letter:"
        yield from (f"  {line}" for line in native.text.splitlines())
    for path, text in case.files.items():
        yield f"{path}:"
        yield from (f"  {line}" for line in text.splitlines())
    for folder in case.plugins:
        yield f"{folder} is loaded as a plugin"
    if not case.handlers:
        yield "no handlers"
    for number, each in enumerate(case.handlers, 1):
        yield f"h{number} {handler(each)}"
    if case.session is None:
        yield "outside a session"
    elif case.session != CaseSession():
        yield f"session {_json(msgspec.to_builtins(case.session))}"
    verdict, approver = case.permission.verdict, case.permission.approver
    if verdict != "allow" or approver is not None:
        yield f"the host's own verdict is {verdict}; " + (
            f"its approver answers {approver}" if approver else "nobody is there to ask"
        )
    for name, value in case.env.items():
        yield f"{name}={value}"


def _when(case: Case) -> Iterator[str]:
    number = 0
    for step in case.stimuli():
        calls = step.calls or ([step.call] if step.call else [])
        if calls:
            yield "; ".join(_call(call, number + place) for place, call in enumerate(calls, 1))
            number += len(calls)
        else:
            yield _step(step)


def _step(step: CaseStep) -> str:
    if step.prompt is not None:
        return f"the prompt {_json(step.prompt)} is submitted"
    if step.fire is not None:
        return f"{step.fire.event} is fired" + (f" with {_json(step.fire.fields)}" if step.fire.fields else "")
    if step.resume is not None:
        return f"{step.resume} is taken up again"
    return f"the model says {_json(step.text)}, and the turn ends"


def _call(call: Call, number: int) -> str:
    program = {name: value for name, value in msgspec.to_builtins(call.program).items() if value is not None}
    return f"t{number}: {call.tool} is called with {_json(call.input)}" + (
        f", whose program does {_json(program)}" if program else ""
    )


def _json(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:280]}... ({len(text)} letters)"
