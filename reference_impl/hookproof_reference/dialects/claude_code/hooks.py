"""The handlers of one event: chosen, run at once, read, and merged in the order in which they end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import envelopes, execution, merging, reading
from ...execution import Finishing, Ran
from ...handlers import Ended, Place, command, process
from ...handlers.inquiry import Question
from ...merging import Merged
from ...reading import Answer
from ...settings import Configured, Loaded
from . import answers, bundles, environment, events, kinds, matchers, mcp_servers, messages, rules, spill, terminal
from .answers import Said
from .bundles import Bundle
from .environment import EnvFiles
from .events import Scene
from .later import Later, is_left_alone, limit_of

if TYPE_CHECKING:
    from . import ClaudeCode
    from .calls import Host
    from .mcp_client import Servers

GRACE = 1.4
"""Seconds between TERM and KILL (observed)."""
CAP = 64 * 1024 * 1024
"""Bytes of a handler's output that are kept; the program has shown no limit."""
SESSION_END_BUDGET = (1.5, 60.0)
"""Seconds that the handlers of SessionEnd have together, and how far a handler's own limit raises that (observed)."""
CONDITIONAL = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})
"""The events at which an `if` can hold; at others such a handler never runs (observed)."""

NEARNESS = ("user", "project", "local")
"""The scopes that a user can write to; the last that says something has it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the handlers of one event have said: together, and each in the order in which they ended."""

    merged: Merged = field(default_factory=Merged)
    answers: tuple[Said, ...] = ()

    def blocks(self) -> list[Said]:
        """Those that block."""
        return [said for said in self.answers if said.verdict == "deny"]

    def stops(self) -> bool:
        """Whether one ends the run."""
        return any(said.stops for said in self.answers)


class Hooks:
    """All handlers of a session, and what they need to run."""

    def __init__(self, dialect: ClaudeCode, loaded: Loaded, place: Place, scene: Scene, project: str, interactive: bool) -> None:
        self.dialect = dialect
        self.handlers = enabled(loaded)
        self.contents = [content for _, content in loaded.rest]
        self.scene = scene
        self.project = project
        self.interactive = interactive
        self.base = {**place.env, **environment.of_settings(self.contents)}
        self.env_files = EnvFiles(scene)
        self.later = Later()
        self.to_terminal: list[str] = []
        self.bundles: dict[str, Bundle] = {}
        self.loaded = loaded
        self.off = False
        """Whether no handler runs at all."""
        self.lost = False
        """Whether the project's folder was gone when handlers were last started."""
        self.listed = mcp_servers.listed(project)
        self._servers: Servers | None = None
        self.granted_mode: str | None = None
        """The mode that a hook has set for the rest of the session."""
        self.host: Host
        """The host's side of the calls of an agent handler; its loop sets it."""

    def ask(
        self, event: str, fields: Mapping[str, Any], *, first_verdict: bool = False, log: Callable[[str], None] | None = None
    ) -> Heard:
        """Runs the handlers of an event. `first_verdict`: the first that gives a verdict ends the others.

        Raises ValueError for an event that this version does not have, Unsupported for a kind of handler.
        """
        if event not in self.dialect.events:
            raise ValueError(f'{self.dialect.name} {self.dialect.version.number} has no event "{event}"')
        envelope = envelopes.build(event, fields, self.common(), self.scene.cwd, self.dialect)
        chosen = self.choose(event, envelope)
        if not chosen:
            return Heard()
        questions = {
            number: kinds.question(kinds.Asked(handler, event, envelope, self))
            for number, handler in enumerate(chosen)
            if handler.kind != "command"
        }

        def go_on(ran: Ran) -> bool:
            return not first_verdict or reading.read(ran, event, self.dialect).verdict is None

        rans = execution.run_all(
            chosen,
            envelopes.write_line(envelope),
            self.place_of(event),
            order=self.dialect.order,
            go_on=go_on,
            start=partial(self._start, event, questions),
        )
        rans.sort(key=lambda ran: ran.finished)
        self.later.add(rans, event, envelope)
        given = [self._signed(ran, reading.read(ran, event, self.dialect)) for ran in rans]
        self._forget([ran.handler for ran in rans if ran.cannot_start is None])
        for ran, answer in zip(rans, given, strict=True):
            if answer.failed is not None and log is not None:
                log(f"{event}: {answers.label(ran)!r}: hook failed: {answer.failed}")
        if event == "PreToolUse" and self.interactive:
            # deferring is for print mode only (003, Operator notes)
            given = [answer for answer in given if answer.verdict != "defer"]
        if self.interactive:  # only there is a terminal (observed)
            said = [answer.terminal for answer in given if isinstance(answer, Said)]
            self.to_terminal += [text for text in said if terminal.passes(text, self.dialect.version)]
        answered = tuple(spill.shortened(answer, self.scene) for answer in given if isinstance(answer, Said))
        return Heard(merging.merge(given, self.dialect), answered)

    def bring(self, handlers: Iterable[Configured], bundle: Bundle | None = None) -> None:
        """More handlers, of a plugin, an agent or a skill; where only some count by policy, these are none of them."""
        if self.off:
            return
        if bundle is not None:
            self.bundles[bundle.root] = bundle
            self.listed |= mcp_servers.bundled(bundle)
        self.handlers += enabled(replace(self.loaded, handlers=tuple(handlers)))

    def _signed(self, ran: Ran, answer: Answer) -> Answer:
        """A refusal by exit code says which plugin it comes from, at versions that do (observed)."""
        bundle = self.bundles.get(ran.handler.home or "")
        if bundle is None or bundle.ident is None or not self.dialect.version.names_plugins:
            return answer
        if not isinstance(answer, Said) or not answer.by_exit:
            return answer
        return replace(answer, reason=messages.of_plugin(answer.reason, bundle.ident))

    def _forget(self, ran: Sequence[Configured]) -> None:
        """Handlers of skills that are to run once have done so; elsewhere `once` is ignored (observed)."""
        done = [h for h in ran if h.scope == "skill" and h.options.get("once") is True]
        self.handlers = tuple(h for h in self.handlers if not any(h is one for one in done))

    def start_servers(self) -> None:
        """The session begins, and servers that handlers may ask begin to start; those that nobody asks are left out here."""
        if any(handler.kind == "mcp_tool" for handler in self.handlers) and kinds.available("mcp_tool"):
            self._servers = self.servers

    @property
    def servers(self) -> Servers:
        """The MCP servers of the session, started when first asked for."""
        if self._servers is None:
            from .mcp_client import Servers

            self._servers = Servers(self.listed, Place(self.project, self.base), self.dialect.version.server_patience)
        return self._servers

    def grant(self, heard: Heard) -> None:
        """What a hook that allows grants beside: only a mode for the session has been seen to have an effect."""
        said = next((said for said in heard.answers if said.verdict == "allow"), None)
        for update in said.updates if said is not None else ():
            if update.get("type") == "setMode" and isinstance(update.get("mode"), str):
                self.granted_mode = update["mode"]
                self.scene = replace(self.scene, mode=update["mode"])

    def common(self) -> dict[str, Any]:
        """What all envelopes of the session are made from, but for the folder."""
        return {name: getattr(self.scene, name) for name in Scene.__slots__ if name != "cwd"}

    def choose(self, event: str, envelope: Mapping[str, Any]) -> list[Configured]:
        """The handlers that an event concerns, each of several identical ones once."""
        subject = events.subject_of(event, envelope)
        call = rules.Call(str(envelope.get("tool_name", "")), envelope.get("tool_input"), self.project, self.scene.home)
        concerned = [
            handler
            for handler in self.handlers
            if handler.event == event
            and event not in kinds.NEVER.get(handler.kind, ())
            and matchers.matches(handler.matcher, subject, self.dialect.version)
            and (handler.condition is None or (event in CONDITIONAL and rules.fits(handler.condition, call)))
        ]
        return sorted(distinct(concerned), key=lambda handler: kinds.ORDER.index(handler.kind))

    def place_of(self, event: str) -> Place:
        """Where the handlers of an event run."""
        where = environment.folder(self.scene.cwd, self.project, self.scene.home)
        if where not in (self.scene.cwd, self.project) and not self.lost and not self.dialect.version.finds_a_folder:
            where = self.scene.cwd  # where nothing can be started (observed)
        self.lost = where != self.project and not os.path.isdir(self.project)
        env = environment.of_handlers(self.base, event, self.scene, self.project, self.interactive, self.dialect.version)
        return Place(where, env)

    def _start(
        self, event: str, questions: Mapping[int, Question], handlers: Sequence[Configured], envelope: bytes, place: Place
    ) -> Finishing:
        """All at once; those in the background are left to themselves."""
        manners = process.Manners(
            session=True,
            grace=GRACE,
            patience=self.dialect.version.patience,
            cap=CAP,
            detach=answers.goes_on_in_background,
        )
        limits = self._limits(event, handlers)
        jobs: dict[int, process.Job | process.Ask] = {}
        gone, place = place, place if os.path.isdir(place.cwd) else Place("/", place.env)
        for number, handler in enumerate(handlers):
            if number in questions:
                jobs[number] = process.Ask(questions[number], limits[number])
                continue
            if gone is not place:
                yield number, Ended(cannot_start=f"there is no folder {gone.cwd}")
                continue
            own = place
            if event in environment.ENV_FILE_EVENTS:
                own = Place(place.cwd, {**place.env, "CLAUDE_ENV_FILE": self.env_files.next(event)})
            bundle = self.bundles.get(handler.home or "")
            try:
                argv = self._argv(bundles.dressed(handler, bundle))
            except bundles.Misplaced as why:
                yield number, Ended(cannot_start=str(why))
                continue
            if bundle is not None:
                own = Place(own.cwd, {**own.env, **bundle.env()})
            jobs[number] = process.Job(argv, envelope, limits[number], own)
        for number, handler in enumerate(handlers):
            if number in jobs and is_left_alone(handler, self.interactive):
                job = jobs.pop(number)
                assert isinstance(job, process.Job)  # only a command can be one of these
                try:
                    yield number, Ended(background=process.start(*job[:2], job.place or place, manners, limit_of(handler)))
                except (OSError, ValueError) as error:
                    yield number, Ended(cannot_start=str(error))
        numbers = list(jobs)
        for place_in_list, ended in process.run_together(list(jobs.values()), place, manners):
            yield numbers[place_in_list], ended

    def _argv(self, handler: Configured) -> list[str]:
        if handler.arguments is not None:
            words = (handler.command, *handler.arguments)
            return [word.replace("${CLAUDE_PROJECT_DIR}", self.project) for word in words]
        text, prefix = handler.command, self.base.get("CLAUDE_CODE_SHELL_PREFIX")
        if prefix:
            text = f"{prefix} '{text.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'"
        return command.shell(text)

    def _limits(self, event: str, handlers: Sequence[Configured]) -> list[float]:
        """Seconds for each handler."""
        limits = [handler.timeout for handler in handlers]
        if event != "SessionEnd":
            return limits
        budget, most = SESSION_END_BUDGET
        own = [handler.timeout for handler in handlers if "timeout" in handler.options]
        together = min(max([budget, *own]), most)
        return [min(limit, together) for limit in limits]

    def overheard(self) -> list[str]:
        """What handlers in the background have ended with since the last time: their texts for the model."""
        return self.later.overheard()

    def close(self) -> None:
        """The session is over, and its servers with it."""
        self.later.close()
        if self._servers is not None:
            self._servers.close()
            self._servers = None


def enabled(loaded: Loaded) -> tuple[Configured, ...]:
    """The handlers that count: `disableAllHooks` and `allowManagedHooksOnly` leave out some or all (003, Policy gates)."""
    managed = [content for scope, content in loaded.rest if scope == "managed"]
    if any(content.get("disableAllHooks") is True for content in managed):
        return ()
    # the file of the nearest scope has the last word
    near = sorted((c for c in loaded.rest if c[0] in NEARNESS), key=lambda c: NEARNESS.index(c[0]))
    said = [content["disableAllHooks"] for _, content in near if isinstance(content.get("disableAllHooks"), bool)]
    only_managed = any(content.get("allowManagedHooksOnly") is True for content in managed) or (bool(said) and said[-1])
    return tuple(h for h in loaded.handlers if h.scope == "managed" or not only_managed)


def distinct(handlers: Iterable[Configured]) -> list[Configured]:
    """Each of several identical handlers once, with the last one's limit and headers; an `if` makes it another (observed)."""
    found: dict[Any, Configured] = {}
    for handler in handlers:
        what: Any = (handler.command, handler.arguments, handler.options.get("shell"))
        if handler.kind == "http":
            what = handler.options["url"]
        elif handler.kind != "command":
            what = repr([handler.options.get(key) for key in ("prompt", "server", "tool", "input")])
        found[handler.kind, what, handler.condition, handler.home] = handler
    return list(found.values())
