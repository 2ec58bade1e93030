"""The loop of Claude Code: prompts, turns with batches of calls, and a Stop that handlers may refuse.

A single call is calls.py, the handlers of a single event hooks.py.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from ...handlers import Place, process
from ...merging import Merged
from ...runner import Called, Ended, Runner, Submitted, ToolUse
from ...settings import Configured, Loaded, Source
from ...tools import Tool
from . import ClaudeCode, environment, frontmatter, inputs, messages, plugins
from .bundles import Bundle
from .calls import Calling, Host
from .events import TITLED, Scene, subject_of
from .hooks import Heard, Hooks
from .tasks import Tasks
from .todo import Todo
from .watching import Watch

STOPPED = "stopped by hook"
DEFERRED = "deferred"
ENDED = "run ended"
"""Why turns are skipped until the next prompt."""

CAP = 8
"""How many blocked stops in a row are obeyed (observed)."""
CAP_VARIABLE = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

PLAIN_FOR_MODEL = frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion"})
"""The events at which plain stdout is for the model."""
NO_MESSAGES = frozenset({"SessionStart", "SessionEnd"})
"""The events at which a systemMessage shows nowhere (observed)."""
RESUMED = {
    "seconds_since_last_response": 0,
    "context_tokens": 0,
    "prompt_cache_likely_expired": False,
    "estimated_cache_write_usd": 0,
}
"""What SessionStart says more of a resumed session, at versions that name the prompt."""


class Loop(Runner):
    """The runner of one session of Claude Code."""

    def __init__(self, dialect: str, settings: Iterable[Source] = (), **options: Any) -> None:
        """As `Runner`."""
        super().__init__(dialect, settings, **options)
        self.rules = cast(ClaudeCode, self.dialect)
        session, home = self.session, self.place.env.get("HOME", "/")
        self.interactive = session is not None and session.interactive
        self.mode = session.permission_mode if session else "default"
        agent = session.agent if session else None
        scene = Scene(
            session_id=session.id if session else str(uuid.uuid4()),
            cwd=self.place.cwd,
            home=home,
            prompt_id=str(uuid.uuid4()),
            mode=self.mode,
            agent_id=None if agent is None else f"a{uuid.uuid4().hex[:16]}",
            agent_type=agent,
            title=session.name if session else None,
        )
        if self.loaded.fatal is not None:
            # it does not start, and says nothing (observed)
            self.gone = self.over = self.loaded.fatal
            self.loaded = Loaded(report=self.loaded.report)
        self.hooks = Hooks(self.rules, self.loaded, self.place, scene, self.project, self.interactive)
        self.hooks.host = Host(self.host, self.mode, self.interactive, self.approver, self.log)
        self.commands = self.skills = frontmatter.skills(self.project)
        self._bring_more(home, agent, session.trusted if session else True)
        self.hooks.start_servers()
        self.tasks = Tasks()
        self.todo = Todo()
        self.watch = Watch(self.project, self.hooks.handlers)
        self.refused_stops = 0
        self.stop_active = False
        self.prompt_words: Callable[[str], str] = messages.prompt_stopped

    def _bring_more(self, home: str, agent: str | None, trusted: bool) -> None:
        """The handlers of plugins and of the agent. In a folder that is not trusted a dialogue has no handlers at all."""
        events, version = self.rules.events, self.rules.version
        if self.interactive and not trusted:
            self.hooks.off, self.hooks.handlers = True, ()
        for folder in self.plugins:
            try:
                bundle, handlers = plugins.load(folder, home, self.hooks.contents, events, version)
            except plugins.Damaged as why:
                self.log(f"{folder}: the plugin is not loaded: {why}")
            else:
                self.hooks.bring(handlers, bundle)
        if agent is not None and (trusted or not version.agents_need_trust):
            self.hooks.bring(frontmatter.agent(self.project, agent, events, version))

    def prompt(self, text: str) -> Submitted:
        """A prompt begins a run, unless a hook blocks it; the first to end that does gives the reason (observed)."""
        self.over, self.refused_stops, self.stop_active = None, 0, False
        self.hooks.scene = replace(self.hooks.scene, prompt_id=str(uuid.uuid4()))
        named, _, rest = text.removeprefix("/").partition(" ")
        invoked = self._skill(named) if text.startswith("/") and named in self.commands else None
        asked: list[tuple[str, dict[str, Any]]] = [("UserPromptSubmit", {"prompt": text})]
        if invoked is not None:
            expansion = {"expansion_type": "slash_command", "command_name": named, "command_args": rest, "prompt": text}
            place = 0 if self.rules.version.expands_first else 1
            asked.insert(place, ("UserPromptExpansion", {**expansion, "command_source": "projectSettings"}))
        for event, fields in asked:
            refused = self._refused_by(event, fields)
            if refused is not None:
                return refused
        if invoked is not None:
            self.hooks.bring(*invoked)
        self._look_round()
        return Submitted(True)

    def _refused_by(self, event: str, fields: Mapping[str, Any]) -> Submitted | None:
        """The refusal of a prompt by the handlers of one event; None if there is none."""
        heard = self._ask(event, fields)
        self._titled(heard)
        blocks = heard.blocks()
        if blocks:
            repeated = "" if blocks[0].quiet_prompt else str(fields["prompt"])
            self.prompt_words = partial(messages.prompt_kept_back, event, repeated)
            return Submitted(False, messages.prompt_blocked(blocks[0]))
        if heard.stops():
            self.prompt_words = messages.prompt_stopped
            return Submitted(False, next(said.stop_reason for said in heard.answers if said.stops) or STOPPED)
        self._tell_model(event, event, heard)
        return None

    def _invoke(self, name: str) -> None:
        """A skill is invoked by the tool for it."""
        invoked = self._skill(name) if name in self.skills else None
        if invoked is not None:
            self.hooks.bring(*invoked)

    def _skill(self, name: str) -> tuple[list[Configured], Bundle] | None:
        """The handlers that a skill brings for the rest of the session, and where they come from; None without such a skill."""
        found = frontmatter.skill(self.project, name, self.rules.events, self.rules.version)
        return None if found is None else (found, Bundle(f"{self.project}/.claude/skills/{name}"))

    def _look_round(self) -> None:
        """What has happened meanwhile: handlers in the background have ended, watched files have changed."""
        self.to_model += self.hooks.overheard()
        for path, kind in self.watch.changes():
            self.fire("FileChanged", {"file_path": path, "event": kind})

    def blocked_prompt(self, reason: str) -> str:
        """What the user reads."""
        return self.prompt_words(reason)

    def call(self, tool: str, arguments: Any, program: Tool | None) -> Called:
        """A turn with a single call."""
        return self.turn([ToolUse(f"toolu_{uuid.uuid4().hex[:20]}", tool, arguments, program)])[0]

    def turn(self, uses: Sequence[ToolUse]) -> list[Called]:
        """A batch of calls; those that change no files run together, and PostToolBatch comes once, after all (003, Events)."""
        self._look_round()
        self.refused_stops = 0  # work between two stops (observed)
        host = Host(self.host, self.mode, self.interactive, self.approver, self.log)
        callings = [Calling(self.rules, self.hooks, host, use, self._place_of_tools(), self.tasks, self.todo) for use in uses]
        done: dict[int, Called] = {}
        for group in _together(uses):
            done |= _run_together({number: callings[number] for number in group})
        for calling in callings:
            self.to_model += calling.to_model
            self.to_user += calling.to_user
        called = [done[number] for number in range(len(uses))]
        for use, each in zip(uses, called, strict=True):
            if use.name == "Skill" and each.outcome == "ran" and isinstance(use.arguments, dict):
                self._invoke(str(use.arguments.get("skill")))
        if any(calling.stops for calling in callings):
            self.over = STOPPED
        if any(c.outcome == "deferred" for c in called):
            # whatever the others of the batch came to, the process ends here (observed)
            self.over = self.gone = DEFERRED
        else:
            self._batch_is_done(uses, called)
        self._look_round()
        return called

    def _batch_is_done(self, uses: Sequence[ToolUse], called: Sequence[Called]) -> None:
        calls = [
            {"tool_name": use.name, "tool_input": use.arguments, "tool_use_id": use.id, "tool_response": done.result}
            for use, done in zip(uses, called, strict=True)
        ]
        heard = self._ask("PostToolBatch", {"tool_calls": calls})
        self._tell_model("PostToolBatch", "PostToolBatch", heard)
        if heard.blocks() or heard.stops():
            self.over = STOPPED

    def resume(self, use: ToolUse) -> list[Called]:
        """A deferred call is put to the hooks once more, in the same session (observed)."""
        self.over = self.gone = None
        more = RESUMED if self.rules.version.prompt_id else {}
        self.fire("SessionStart", {"source": "resume", **more})
        return self.turn([use])

    def end(self, text: str) -> Ended:
        """The model has answered without a call. A handler that blocks, or gives context, makes it go on, up to the cap."""
        event = "Stop" if self.hooks.scene.agent_id is None else "SubagentStop"
        self._look_round()
        fields: dict[str, Any] = {"stop_hook_active": self.stop_active, "last_assistant_message": text}
        fields["background_tasks"] = self.tasks.running()
        if event == "SubagentStop":
            scene = self.hooks.scene
            fields["agent_transcript_path"] = f"{scene.transcript.removesuffix('.jsonl')}/subagents/agent-{scene.agent_id}.jsonl"
        heard = self._ask(event, fields)
        if heard.stops():
            self.over = STOPPED
            return Ended("hook_stopped")
        blocks = heard.blocks()
        goes_on = bool(blocks) or any(said.context for said in heard.answers)
        self.refused_stops += goes_on
        if not goes_on or 0 < self._cap() < self.refused_stops:
            self.refused_stops, self.stop_active = 0, False
            if self.tasks.running() and not self.interactive:  # it waits, and the model is told (observed)
                self.to_model += self.tasks.over()
                self.hooks.scene = replace(self.hooks.scene, prompt_id=str(uuid.uuid4()))
                return Ended("continued")
            self.over = ENDED
            return Ended("done")
        self.to_model += [messages.stop(event, said, self.rules.version) for said in blocks]
        self._tell_model(event, event, heard)
        self.stop_active = True
        return Ended("continued")

    def _cap(self) -> int:
        """How many refused stops are obeyed; 0 and below: any number (observed)."""
        text = self.hooks.base.get(CAP_VARIABLE, "").strip()
        try:
            return int(float(text)) if self.rules.version.whole_numbers else int(_leading_digits(text))
        except (ValueError, OverflowError):
            return CAP

    def fire(self, event: str, fields: Mapping[str, Any] | None = None, *, subject: str | None = None) -> Merged:
        """An event that the host reports. Raises ValueError for one that this version does not have."""
        heard = self._ask(event, fields or {})
        if event in TITLED:
            self._titled(heard)
        what = subject_of(event, self.dialect.envelope(event, fields or {}, self.hooks.common(), self.place.cwd))
        self._tell_model(event, f"{event}:{what}" if what else event, heard)
        if event == "SessionStart":
            self._opening(heard)
        return heard.merged

    def _titled(self, heard: Heard) -> None:
        """The last handler to end that gives a title has it (observed)."""
        title = _last_text(heard, "sessionTitle")
        if title:
            self.hooks.scene = replace(self.hooks.scene, title=title)

    def _opening(self, heard: Heard) -> None:
        """A handler's first message is a prompt of its own, before that of the user (observed)."""
        for said in heard.answers:
            self.watch.add(said.own.get("watchPaths") or ())
            if said.own.get("reloadSkills") is True:  # for the tool; as a prompt the new name means nothing (observed)
                self.skills = frontmatter.skills(self.project)
        message = _last_text(heard, "initialUserMessage")
        if message:
            submitted = self.prompt(message)
            if not submitted.submitted:
                self.to_user.append(self.blocked_prompt(submitted.reason))

    def close(self) -> None:
        """What runs in the background ends with the session."""
        self.to_terminal = self.hooks.to_terminal
        self.hooks.close()
        self.tasks.close()

    def _ask(self, event: str, fields: Mapping[str, Any]) -> Heard:
        heard = self.hooks.ask(event, fields, log=self.log)
        if event not in NO_MESSAGES:
            self.to_user += messages.for_user(event, heard.answers, self.interactive, self.rules.version)
        return heard

    def _tell_model(self, event: str, name: str, heard: Heard) -> None:
        if event in PLAIN_FOR_MODEL:
            self.to_model += messages.plain(name, heard.answers)
        self.to_model += messages.contexts(name, heard.answers, self.rules.version)

    def _place_of_tools(self) -> Place:
        return Place(environment.folder(self.place.cwd, self.project, self.hooks.scene.home), self.hooks.base)


def _last_text(heard: Heard, key: str) -> str:
    """What the last handler to end has put under a key that only its event has; "" if none has."""
    given = [said.own[key] for said in heard.answers if isinstance(said.own.get(key), str)]
    return given[-1] if given else ""


def _together(uses: Sequence[ToolUse]) -> list[list[int]]:
    """The numbers of the calls that run at the same time, group after group."""
    groups: list[list[int]] = []
    for number, use in enumerate(uses):
        alone = use.name in inputs.SERIAL
        if groups and not alone and uses[groups[-1][-1]].name not in inputs.SERIAL:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _run_together(callings: Mapping[int, Calling]) -> dict[int, Called]:
    """Runs calls at the same time. What one of them raises is raised when all have ended."""
    first, *others = callings
    done: dict[int, Called] = {}
    raised: list[Exception] = []

    def run(number: int) -> None:
        try:
            done[number] = callings[number].run()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in others]
    for thread in threads:
        thread.start()
    try:
        run(first)
        for thread in threads:
            thread.join()
    except BaseException:
        process.kill_all()  # this process is told to end, and the threads with it
        raise
    if raised:
        raise raised[0]
    return done


def _leading_digits(text: str) -> str:
    """The whole number that a text begins with."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return sign + digits[: len(digits) - len(digits.lstrip("0123456789"))]
