"""A request of the runner protocol becomes calls of a Runner, and what they return becomes its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from . import dialects
from .handlers import Unsupported
from .runner import Called, HookRaised, Runner, Session, Submitted, ToolUse, start
from .settings import FileReport

Json = dict[str, Any]
T = TypeVar("T")

BLOCKED = "prompt blocked"
"""Why the turns after a blocked prompt are skipped."""

REPEATS = 40
"""How often the last turn is taken again while handlers make the agent go on."""


class BadRequest(ValueError):
    """A request that does not have the form of the protocol; the message says where."""


def answer_run(request: Json) -> Json:
    """The answer to one run: what became of the settings and of each step, in order."""
    ident = request["id"]
    try:
        dialects.load(_get(request, "dialect", str))
        steps = _get(request, "steps", list)
        answer: Json = {"id": ident, "settings": [], "steps": [], "to_model": [], "to_user": []}
        with _InFolder(_get(request, "world.cwd", str)):
            runner = _runner(request)
            answer["settings"] = [_report(r) for r in runner.loaded.report]
            try:
                answer["steps"] = list(_answers(runner, steps))
            finally:
                runner.close()
            answer["to_model"], answer["to_user"] = runner.to_model, runner.to_user
            if runner.to_terminal:
                answer["to_terminal"] = runner.to_terminal
        return answer
    except Unsupported as what:
        return {"id": ident, "unsupported": str(what)}
    except (BadRequest, dialects.UnknownDialect) as error:
        return {"id": ident, "error": str(error)}
    except Exception as error:  # a lasting process must outlive its own faults, and say them
        return {"id": ident, "error": f"{type(error).__name__}: {error}"}


def _runner(request: Json) -> Runner:
    """The runner that a request describes. Its environment is the process's with the request's laid over it."""
    session = request.get("session")
    if session is not None:
        session = Session(
            _get(request, "session.id", str),
            session.get("name"),
            session.get("interactive") is True,
            session.get("permission_mode") or "default",
            session.get("agent"),
            session.get("trusted") is not False,
        )
    permission = request.get("permission") or {}
    env = {**os.environ, "HOME": _get(request, "world.home", str), **(_get(request, "world", dict).get("env") or {})}
    return start(
        _get(request, "dialect", str),
        [(entry.get("scope") or "project", _get(entry, "path", str)) for entry in _get(request, "settings", list)],
        cwd=_get(request, "world.cwd", str),
        project=_get(request, "world", dict).get("project"),
        env=env,
        session=session,
        host=permission.get("verdict", "allow"),
        approver=permission.get("approver"),
        plugins=[folder for folder in request.get("plugins") or [] if isinstance(folder, str)],
    )


def _answers(runner: Runner, steps: list[Any]) -> Iterator[Json]:
    """One answer for each step. After a blocked prompt the turns are skipped until the next prompt."""
    blocked = False
    for number, step in enumerate(steps):
        if not isinstance(step, dict):
            raise BadRequest(f"steps[{number}] is no object")
        turn = step.get("turn")
        if "event" in step:
            yield _event(runner, _get(step, "event", str), step.get("fields") or {})
        elif "prompt" in step and runner.gone is not None:
            yield {"skipped": runner.gone}
        elif "prompt" in step:
            answer = _prompt(runner, _get(step, "prompt", str))
            blocked = not answer["submitted"]
            yield {"prompt": answer}
        elif "resume" in step:
            use = _use(_get(step, "resume", dict))
            yield {"calls": [_call(use, called) for called in runner.resume(use)]}
        elif not isinstance(turn, dict):
            raise BadRequest(f"steps[{number}] is none of event, prompt, turn and resume")
        elif blocked or runner.over is not None:
            yield {"skipped": BLOCKED if blocked else runner.over}
        elif "tool_calls" in turn:
            uses = [_use(call) for call in _get(step, "turn.tool_calls", list)]
            yield {"calls": [_call(use, called) for use, called in zip(uses, runner.turn(uses), strict=True)]}
        else:
            yield {"end": _end(runner, turn.get("text") or "", steps[number + 1 :])}


def _end(runner: Runner, text: str, following: list[Any]) -> Json:
    """The end of a run. Made to go on, the agent takes the next turn; where there is none, the same one again."""
    more = any(isinstance(step, dict) and "turn" in step for step in following)
    ended, _ = _or_raised(runner.end, text)
    count = 0 if ended is None else ended.stop_count
    while ended is not None and ended.cause == "continued" and not more and count < REPEATS:
        ended, _ = _or_raised(runner.end, text)
        count += 1
    return {"cause": ended.cause, "stop_count": count} if ended else {"cause": "error"}


def _event(runner: Runner, event: str, fields: Json) -> Json:
    try:
        _, raised = _or_raised(runner.fire, event, fields)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return {"event": {"raised": raised, "context": runner.context}}


def _prompt(runner: Runner, text: str) -> Json:
    done, raised = _or_raised(runner.prompt, text)
    if done is None:
        done = Submitted(False, raised or "")
    if not done.submitted:
        runner.to_user.append(runner.blocked_prompt(done.reason))
    return {"submitted": done.submitted, "reason": done.reason or None}


def _use(call: Json) -> ToolUse:
    arguments = call.get("input")
    if call.get("input_file"):
        with open(call["input_file"], encoding="utf-8") as file:
            arguments = json.load(file)
    return ToolUse(_get(call, "id", str), _get(call, "name", str), arguments, call.get("program"))


def _call(use: ToolUse, called: Called) -> Json:
    return {
        "id": use.id,
        "hook": called.hook,
        "outcome": called.outcome,
        "started": called.started,
        "reason": called.reason or None,
        "result": called.result,
        "feedback": called.feedback,
    }


def _or_raised(do: Callable[..., T], *arguments: Any) -> tuple[T | None, str | None]:
    """What was done, or the exception that reached the host: a project folder that is gone is one (observed)."""
    try:
        return do(*arguments), None
    except HookRaised as error:
        return None, str(error)
    except OSError as error:
        return None, f"{type(error).__name__}: {error}"


def _report(report: FileReport) -> Json:
    return {"path": report.path, "status": report.status, "dropped": report.dropped, "message": report.message}


def _get(where: Any, path: str, kind: type) -> Any:
    """The value at a dotted path. Raises BadRequest when it is missing or of another kind."""
    value = where
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, kind):
        raise BadRequest(f"{path} is {'missing' if value is None else 'no ' + _NAMES[kind]}")
    return value


_NAMES: dict[type, str] = {str: "string", list: "list", dict: "object"}


class _InFolder:
    """Works in a folder, which spares each spawn a shell that changes to it; leaves it again, so that it can be removed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        with suppress(OSError):  # the steps will say so
            os.chdir(self.folder)

    def __exit__(self, *exception: object) -> None:
        os.chdir("/")
