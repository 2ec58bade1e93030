"""What happened in a scene, in a few words that can be told of the real program and of a runner alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from ..protocol import RunAnswer, StepAnswer
from . import called, endpoint
from .rows import Row
from .scene import LOG_OF_SERVER, Scene

REPEATS = 40
"""How often the protocol has the last turn taken again; more stops than that are not counted."""

ENDS = {"completed": "done", "hook_stopped": "stopped", "stop_hook_prevented": "stopped at its end", "tool_deferred": "deferred"}
"""The program's word for the end of a run -> ours. None, with a prompt that was not submitted, is "no run"."""

UNTOLD = "not told"
"""The end of a run whose output does not say it."""

PAYLOAD = re.compile(r".*\.jsonl?$")
TOLD = ("hook_event_name", "tool_name", "tool_input")
"""The fields of an envelope that a handler has kept which are compared: they say with what input."""


@dataclass(frozen=True, slots=True)
class Story:
    """What is compared."""

    wrote: tuple[str, ...]
    """What the tool wrote, each time it ran."""
    marks: tuple[str, ...]
    """The marks of the handlers, in the order in which they ended; long ones are cut at the limit of the observation."""
    envelopes: tuple[str, ...]
    """Event, tool and input, as handlers that kept their envelope have seen them; sorted."""
    errors: tuple[bool, ...]
    """For each result that the model has read, whether it was an error."""
    texts: tuple[str, ...]
    """Those results."""
    requests: int
    """How often the model was asked."""
    end: str
    """How the run ended."""
    asked: tuple[str, ...] | None = ()
    """What http handlers were asked, sorted; None: not told."""
    called: tuple[str, ...] | None = ()
    """What handlers have called at MCP servers, sorted: tool and arguments, and that a call was cancelled; None: not told."""

    def results(self) -> list[tuple[bool, str]]:
        """The results with whether they were errors."""
        return list(zip(self.errors, self.texts, strict=True))


def of_row(row: Row, version: str) -> Story:
    """What the real program was seen to do."""
    seen = row.observed[version]
    results = [result for result in seen.get("tool_results", {}).values() if isinstance(result, list)]
    reason = seen.get("terminal_reason")
    requests = int(seen.get("model_requests", 0))
    return Story(
        wrote=tuple(seen.get("tool_wrote", ())),
        marks=tuple(_plain(str(mark), ()) for mark in seen.get("hooks_in_order_of_finish", ())),
        envelopes=_envelopes(seen.get("logs", {}), ()),
        errors=tuple(bool(result[0]) for result in results),
        texts=tuple(_plain(str(result[1]), ()) for result in results),
        requests=requests,
        end=_end_seen(reason, requests, seen),
        asked=_asked_seen(row, seen),
        called=called.of_row(row.fields, str(seen.get("logs", {}).get("mcp", "")), lambda text: _plain(text, ())),
    )


def _asked_seen(row: Row, seen: Mapping[str, Any]) -> tuple[str, ...] | None:
    # rows of the older form do not keep them; in those of the newer form none are kept where there were none
    if "http_requests" not in seen and "group" not in row.fields:
        return None
    return tuple(sorted(endpoint.told(request) for request in seen.get("http_requests", ())))


def _end_seen(reason: str | None, requests: int, seen: Mapping[str, Any]) -> str:
    if seen.get("lab_limit_reached"):
        return "goes on"
    labels = seen.get("request_labels")
    if reason is None and isinstance(labels, list) and not {"turn", "end"} & set(labels):
        return "no run"
    if reason is None:
        # told in one of the output formats only
        return "no run" if requests == 0 else UNTOLD
    return ENDS.get(reason, reason)


def of_run(scene: Scene, answer: RunAnswer) -> Story:
    """What a runner did, from the traces of handlers and tools, and where only the runner can tell, from its answer."""
    names = ((str(scene.project), "@P@"), (str(scene.root), "@W@"))
    requests, end, read = _loop(answer.steps, scene)
    logs = {}
    if scene.log.is_dir():
        logs = {file.name: file.read_text("utf-8", "replace") for file in scene.log.iterdir() if file.is_file()}
    results = [(call.outcome != "ran", str(call.result)) for step in read if step.calls is not UNSET for call in step.calls]
    if scene.model is not None:
        requests += scene.model.requests
        results += scene.model.results.values()
    session = scene.request.session.id if scene.request.session is not None else ""
    server_log = logs.pop(LOG_OF_SERVER, "")
    return Story(
        wrote=tuple(logs.pop("ran", "").split()),
        marks=tuple(_plain(line, names) for line in logs.pop("order", "").split("\n") if line),
        envelopes=_envelopes(logs, names),
        errors=tuple(error for error, _ in results),
        texts=tuple(_plain(text, names) for _, text in results),
        requests=requests,
        end=end,
        asked=tuple(sorted(scene.endpoint.asked)) if scene.endpoint is not None else (),
        called=called.of_scene(scene.row.fields, server_log, session, lambda text: _plain(text, names)),
    )


def _loop(steps: Sequence[StepAnswer], scene: Scene) -> tuple[int, str, list[StepAnswer]]:
    """How often the model was asked, how the run ended, and the steps of which it read the results."""
    requests, end = 0, ""
    taken: list[StepAnswer] = []
    deferred = False
    for asked, done in zip(scene.request.steps, steps, strict=True):
        if done.prompt is not UNSET and not done.prompt.submitted:
            return 0, "no run", []
        if asked.prompt is not UNSET and done.prompt is UNSET:
            return 0, "no run", []
        if done.calls is not UNSET:
            requests += 1
            taken.append(done)
            deferred = any(call.outcome == "deferred" for call in done.calls)
        elif done.end is not UNSET:
            requests += done.end.stop_count
            taken.append(done)
            end = {"hook_stopped": "stopped at its end", "continued": "goes on"}.get(done.end.cause, done.end.cause)
            if end not in ("goes on",):
                break
        elif asked.turn is not UNSET and not end:
            end = "deferred" if deferred else "stopped"
            break
    return requests, end, [step for step in taken[:-1] if step.calls is not UNSET]


def _plain(text: str, names: Sequence[tuple[str, str]]) -> str:
    for path, name in (*names, ("/home/dev/project", "@P@"), ("/home/dev/lab", "@W@"), ("SCRATCH/", "@W@/")):
        text = text.replace(path, name)
    return text


def _envelopes(logs: Mapping[str, str], names: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    found = []
    for name, text in logs.items():
        if not PAYLOAD.match(name):
            continue
        for envelope in _objects(_plain(text, names)):
            if "hook_event_name" in envelope:
                told = {key: envelope[key] for key in TOLD if key in envelope}
                found.append(json.dumps(told, sort_keys=True, ensure_ascii=False))
    return tuple(sorted(found))


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The objects that stand in a text one after the other; one that is cut ends the list."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def contradiction(scene: Scene, answer: RunAnswer) -> str | None:
    """The first call of which the runner says that its tool was started, or was not, and the tool's own note says otherwise."""
    for step in answer.steps:
        for call in step.calls if step.calls is not UNSET else ():
            noted = any(scene.notes.glob(f"{call.id}.*.got"))
            if call.started != noted:
                return f"{call.id} was {'not ' * (not noted)}started, the runner says that it was{' not' * (not call.started)}"
    return None
