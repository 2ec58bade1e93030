"""The samples of a policy file are fired at a script, each as a check of its own, and held against what is expected."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import casefile
from ..errors import CaseFileError
from . import stimuli
from .bench import Bench
from .check import Check, Finding, NotApplicable, NotTested, Probe
from .fire import Fired, How
from .meaning import Meaning
from .policy import WORDS, Read, Sample, Wanted, Word, told
from .script import Script
from .search import Shot
from .stimuli import Stimulus
from .wiring import Wiring

FAMILY = "policy"

_MEANT: dict[str, frozenset[str]] = {
    "allow": frozenset({"allow", "none"}),
    "pass": frozenset({"allow", "none"}),
    "approve": frozenset({"allow"}),
    "none": frozenset({"none"}),
}


def checks(found: Read, scripts: Sequence[Script]) -> list[Check]:
    """One check for each sample."""
    return [_check(found, sample, scripts) for sample in found.policy.samples]


def _check(found: Read, sample: Sample, scripts: Sequence[Script]) -> Check:
    return Check(
        id=sample.id,
        family=FAMILY,
        title=f"{sample.id}: {told(sample)}{f' ({sample.why})' if sample.why else ''}",
        consequence="the script does something else than its policy says",
        remedy="mend the script; where the policy is wrong, hookproof check --update writes what the script does into it",
        severity="must",
        kinds=frozenset(),
        events=frozenset(),
        exclusive=False,
        needs=(),
        look=lambda probe: judged(found, sample, probe, scripts),
    )


# ---- the stimulus --------------------------------------------------------------------------------


def stimulus(found: Read, sample: Sample, script: Script) -> Stimulus:
    """What is fired for a sample. Raises CaseFileError for a payload that is not there."""
    policy = found.policy
    dialect = script.dialect
    event = sample.event or policy.event or script.event
    if sample.same_as is not None:
        other = next(one for one in policy.samples if one.id == sample.same_as)
        made = stimulus(found, other, script)
        made = Stimulus(sample.id, sample.event or made.event, copy.deepcopy(made.payload), made.tool)
    elif sample.json is not None or sample.payload is not None:
        payload = _payload(found, sample)
        event = sample.event or str(payload.get("hook_event_name", payload.get("event", event)))
        made = Stimulus(sample.id, event, payload)
    elif sample.command is not None:
        made = stimuli.shell(dialect, event, sample.command)
    elif sample.path is not None:
        made = stimuli.touching(dialect, event, stimuli.WRITE, sample.path)
    elif sample.input is not None:
        tool = sample.tool or stimuli.tool_name(dialect, stimuli.SHELL)
        made = stimuli.call(dialect, event, tool, **copy.deepcopy(sample.input))
    else:
        made = stimuli.base(dialect, event, sample.tool)
    return _changed(made, sample)


def _changed(made: Stimulus, sample: Sample) -> Stimulus:
    payload = copy.deepcopy(made.payload)
    holder, key = ("tool", "args") if isinstance(payload.get("tool"), dict) else ("", "tool_input")
    place = payload[holder] if holder else payload
    if sample.tool is not None:
        place["name" if holder else "tool_name"] = sample.tool
    if sample.same_as is not None and sample.input is not None:
        place[key] = copy.deepcopy(sample.input)
    elif sample.input is not None and sample.path is not None:
        place[key] = {**place.get(key, {}), **sample.input}
    if sample.command is not None and sample.same_as is not None:
        place.setdefault(key, {})["command"] = sample.command
    if sample.path is not None and sample.same_as is not None:
        inner = place.setdefault(key, {})
        inner[next((name for name in ("file_path", "path", "notebook_path") if name in inner), "file_path")] = sample.path
    if sample.prompt is not None:
        payload["prompt"] = sample.prompt
    for name, value in (sample.but or {}).items():
        _lay(payload, name.split(".") if name not in payload else [name], value)
    for name in sample.without or []:
        _take(payload, name.split("."))
    tool = payload.get("tool_name") or (payload["tool"].get("name") if isinstance(payload.get("tool"), dict) else None)
    return Stimulus(sample.id, made.event, payload, tool=tool if isinstance(tool, str) else None)


def _payload(found: Read, sample: Sample) -> dict[str, Any]:
    beside = found.path.parent
    if sample.json is not None:
        payload = casefile.parse_json(sample.json, f'{found.path}: sample "{sample.id}": json')
    elif isinstance(sample.payload, str):
        near_by = beside / sample.payload
        if near_by.is_file():
            payload = casefile.parse_json(casefile.payload_text(near_by), f'payload "{sample.payload}"')
        else:
            payload = casefile.payload(sample.payload, beside)
    else:
        payload = copy.deepcopy(sample.payload)
    if not isinstance(payload, dict):
        raise CaseFileError(f'{found.path}: sample "{sample.id}": a payload is a JSON object')
    return payload


def _lay(payload: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        if not isinstance(payload.get(key), dict):
            payload[key] = {}
        payload = payload[key]
    old = payload.get(keys[-1])
    if isinstance(value, dict) and isinstance(old, dict):
        for name, inner in value.items():
            _lay(old, [name], inner)
    else:
        payload[keys[-1]] = copy.deepcopy(value)


def _take(payload: Any, keys: Sequence[str]) -> None:
    for key in keys[:-1]:
        payload = payload.get(key, {}) if isinstance(payload, dict) else {}
    if isinstance(payload, dict):
        payload.pop(keys[-1], None)


# ---- the judgement -------------------------------------------------------------------------------


def shoot(found: Read, sample: Sample, probe: Probe) -> Shot:
    """Fire a sample at a script."""
    how = How(env=tuple((sample.env or {}).items()), limit_s=probe.script.timeout_s or How().limit_s)
    return probe.shoot(stimulus(found, sample, probe.script), how)


def judged(found: Read, sample: Sample, probe: Probe, scripts: Sequence[Script]) -> Iterable[Finding]:
    """What of the expectations does not hold. Raises NotApplicable for a sample that is not for this script."""
    made = stimulus(found, sample, probe.script)
    _is_meant(sample, made, probe, scripts)
    if sample.expect is None and sample.saw is None:
        raise NotTested(f"{found.path.name}:{found.line(sample)}: nothing is expected yet; --update writes what the script does")
    if probe.wiring is not None and not probe.wiring.reached(made).starts:
        wanted = "it goes on" if _passes(sample) else told(sample)
        if not _passes(sample):
            yield Finding("its settings do not lead this call to the script: nothing holds it", wanted)
        return
    shot = shoot(found, sample, probe)
    meaning = neutral(shot.meaning, probe.bench)
    for saw, wanted in differences(expectation(sample, probe, shot), meaning, shot.fired):
        yield Finding(saw, wanted, shot)


def neutral(meaning: Meaning, bench: Bench) -> Meaning:
    """The same answer with the folders' stable names in place of those of the throw-away world."""
    ours = re.compile(rf"{re.escape(str(bench.root))}/(?:\d+/)?(project|home)(?![\w-])")

    def named(text: str) -> str:
        return ours.sub(lambda found: "/home/dev/project" if found[1] == "project" else "/home/dev", text)

    rewrite = None if meaning.rewrite is None else json.loads(named(json.dumps(dict(meaning.rewrite))))
    return replace(meaning, reason=named(meaning.reason), rewrite=rewrite, context=tuple(map(named, meaning.context)))


def _is_meant(sample: Sample, made: Stimulus, probe: Probe, scripts: Sequence[Script]) -> None:
    script = probe.script
    if sample.hook is not None and sample.hook not in script.command and sample.hook != script.pointer:
        raise NotApplicable(f"meant for {sample.hook}")
    if made.event != script.event and (script.settings is not None or script.event_given):
        raise NotApplicable(f"a stimulus of {made.event}; this script hears {script.event}")
    others = [one for one in scripts if one is not script and one.event == script.event and one.settings == script.settings]
    if sample.hook is None and script.settings is not None and others and probe.wiring is not None:
        reached = probe.wiring.reached(made).starts > 0
        rivals = [one for one in others if Wiring(one, probe.bench, probe.reader).reached(made).starts]
        if not reached and rivals:
            raise NotApplicable(f"this call goes to {rivals[0].origin}")
        if reached and rivals:
            raise NotTested(f"{rivals[0].origin} hears this call too: say with hook: which of them is meant")


def expectation(sample: Sample, probe: Probe, shot: Shot) -> Wanted:
    """What is wanted, in full; for a sample that was only recorded: the same as then."""
    if isinstance(sample.expect, str):
        return Wanted(verdict=sample.expect)
    if sample.expect is not None:
        return sample.expect
    assert sample.saw is not None
    saw = sample.saw
    before = Fired(exit=saw.exit, signal=saw.signal, stdout=saw.stdout.encode(), stderr=saw.stderr.encode())
    return as_wanted(probe.reader.read(before, shot.stimulus.event, probe.dialect), reasons=False)


def as_wanted(meaning: Meaning, *, reasons: bool = True) -> Wanted:
    """An answer as the expectation of just that answer."""
    verdict: dict[str, Word] = {"allow": "approve", "none": "none", "deny": "deny", "ask": "ask", "defer": "defer"}
    return Wanted(
        verdict=verdict[meaning.verdict],
        reason=(meaning.reason.strip() or None) if reasons else None,
        rewrite=dict(meaning.rewrite) if meaning.rewrite is not None else None,
        context=[text.strip() for text in meaning.context] or None,
    )


def differences(wanted: Wanted, meaning: Meaning, fired: Fired) -> Iterator[tuple[str, str]]:
    """Pairs of what was seen and what is wanted."""
    failed = f", for its answer counts as none: {meaning.failed}" if meaning.failed else ""
    if wanted.verdict is not None and not holds(wanted.verdict, meaning):
        yield (
            f"{meaning.verdict}{' (it goes on)' if not meaning.blocks else ''}{failed}",
            f"{wanted.verdict}: {WORDS[wanted.verdict]}",
        )
    if wanted.reason is not None and wanted.reason not in meaning.reason:
        yield f"the reason is {meaning.reason.strip()!r}", f"a reason with {wanted.reason!r}"
    if wanted.rewrite is not None and not _within(wanted.rewrite, meaning.rewrite):
        saw = "no rewrite" if meaning.rewrite is None else f"the input becomes {json.dumps(dict(meaning.rewrite))}"
        yield saw, f"the input becomes {json.dumps(wanted.rewrite)}"
    told_model = "\n".join(meaning.context)
    for words in [wanted.context] if isinstance(wanted.context, str) else wanted.context or []:
        if words not in told_model:
            yield f"the model is told {told_model!r}" if told_model else "the model is told nothing", f"it is told {words!r}"
    if wanted.exit is not None and wanted.exit != fired.exit:
        yield fired.ended, f"exit code {wanted.exit}"


def holds(word: str, meaning: Meaning) -> bool:
    """Whether an answer is what a word of `expect` says."""
    if word == "block":
        return meaning.blocks
    if word in ("allow", "pass") and meaning.blocks:
        return False
    if word == "deny" and meaning.verdict == "none":
        return meaning.blocks
    return meaning.verdict in _MEANT.get(word, frozenset({word}))


def _passes(sample: Sample) -> bool:
    word = sample.expect.verdict if isinstance(sample.expect, Wanted) else sample.expect
    rest = isinstance(sample.expect, Wanted) and (sample.expect.rewrite or sample.expect.context)
    return not rest and (word in ("allow", "pass", "none") or (word is None and sample.expect is None))


def _within(part: Any, whole: Any) -> bool:
    """Whether all values of `part` are in `whole`."""
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(key in whole and _within(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


def canaries(found: Read, script: Script, *, blocked: bool) -> list[Stimulus]:
    """The stimuli of samples that this script must hold, or must let go on."""
    made = []
    for sample in found.policy.samples:
        word = sample.expect.verdict if isinstance(sample.expect, Wanted) else sample.expect
        held = word in ("deny", "block", "ask")
        if word is None or held != blocked or sample.env or (sample.hook and sample.hook not in script.command):
            continue
        one = stimulus(found, sample, script)
        if one.event == script.event:
            made.append(one.but(id=f"given/{sample.id}"))
    return made
