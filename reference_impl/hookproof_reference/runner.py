"""Top to bottom: settings, selection, execution, reading, merging, enforcement.

Start at `Runner.call`: it is what a hook runner is for. Each step is a module of its own, called
through the module, so that one step can be replaced without touching the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import dialects, envelopes, execution, merging, permissions, reading, selection, settings, tools
from .execution import Ran
from .handlers import Place, Unsupported
from .merging import Merged
from .permissions import Enforced, Outcome
from .settings import Source
from .tools import Tool

if TYPE_CHECKING:
    from .dialects.base import PlainDialect

Approver = str | Callable[[str, Any], str]
"""allow_once, allow_always, deny or auto; or a function of the tool's name and arguments that says one of them."""


HOST_VERDICTS = ("allow", "ask", "deny")


class HookRaised(Exception):
    """The exception of a hook that goes on to the host, in a dialect where it does; its text is `Type: text`."""


@dataclass(frozen=True, slots=True)
class Session:
    """The session in which events happen."""

    id: str
    name: str | None = None
    interactive: bool = False
    permission_mode: str = "default"
    agent: str | None = None
    """The kind of subagent in which all happens; None: the main loop."""
    trusted: bool = True
    """Whether the user has said that the project's folder may be trusted."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call of the model, as it stands in a turn."""

    id: str
    name: str
    arguments: Any
    program: Tool | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a prompt; a reason is there when it was blocked."""

    submitted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """What became of a tool call: what the hooks said, what was done, and what the model gets."""

    hook: str
    outcome: Outcome
    started: bool
    reason: str = ""
    result: Any = None
    feedback: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    cause: str
    stop_count: int = 1


class Runner:
    """A hook runner for one session in one project.

    `dialect` is a name with a version (`lecode/1.0`), `settings` are paths of settings files, `host` is
    the host's own verdict on every call (allow, ask, deny), `log` gets what people should know of.
    A dialect with a loop of its own is run by a subclass: `start` picks it.
    """

    def __init__(
        self,
        dialect: str,
        settings: Iterable[Source] = (),
        *,
        cwd: str | None = None,
        project: str | None = None,
        env: Mapping[str, str] | None = None,
        session: Session | None = None,
        host: str = "allow",
        approver: Approver | None = None,
        plugins: Iterable[str] = (),
        log: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
    ) -> None:
        """Reads the settings.

        Raises dialects.UnknownDialect, and ValueError for a host's verdict that there is not and for a
        dialect with a loop of its own.
        """
        if host not in HOST_VERDICTS:
            raise ValueError(f'the host says "{host}"; it can say {", ".join(HOST_VERDICTS)}')
        self.dialect: PlainDialect = dialects.load(dialect)  # type: ignore[assignment]  # by loop() it is one
        if not isinstance(self, self.dialect.loop()):
            raise ValueError(f"{dialect} has a loop of its own: use start({dialect!r}, ...)")
        self.place = Place(os.path.abspath(cwd or os.getcwd()), dict(os.environ if env is None else env))
        self.session = session
        self.host = host
        self.approver = approver
        self.plugins = tuple(plugins)
        """Folders of plugins, for a dialect that has such."""
        self.log = log
        self.project = os.path.abspath(project or self.place.cwd)
        self.to_model: list[str] = []
        self.to_user: list[str] = []
        self.to_terminal: list[str] = []
        """What handlers had written to the terminal, in a dialect where they may."""
        self.context: dict[str, Any] = {}
        """What the handlers of the last event have left of its context, in a dialect where they may change it."""
        self.over: str | None = None
        """Why no further turn is taken until the next prompt; None: nothing stands against it."""
        self.gone: str | None = None
        """Why not even a prompt is taken, until a call is resumed."""
        self.loaded = _load(settings, self)

    def turn(self, uses: Sequence[ToolUse]) -> list[Called]:
        """A turn of the model with tool calls, one after the other. An OSError becomes the answer to its call."""
        return [self._called(use) for use in uses]

    def _called(self, use: ToolUse) -> Called:
        try:
            return self.call(use.name, use.arguments, use.program)
        except OSError as error:
            return Called("none", "error", started=False, reason=f"{type(error).__name__}: {error}")

    def resume(self, use: ToolUse) -> list[Called]:
        """A call that was deferred is taken up again. Raises Unsupported: most agents have no such thing."""
        raise Unsupported("resume")

    def close(self) -> None:
        """The session is over, and nothing of it is left running."""

    def call(self, tool: str, arguments: Any, program: Tool | None) -> Called:
        """A tool call of the model: checked, put to the hooks, enforced, run, and reported to the hooks again.

        Raises OSError when the project's folder is not there.
        """
        host = self.host
        if self.dialect.permission_first:
            # the hooks come after the permission check, and a host that denies never asks them (002, Events)
            enforced = self._enforce(host, None, tool, arguments)
            if enforced.outcome != "ran":
                return Called("none", enforced.outcome, started=False, reason=enforced.reason)
            host = "allow"
        event, fields = self.dialect.before_tool(tool, arguments)
        merged = self.fire(event, fields, subject=tool)
        if merged.rewrite is not None:
            # the rewrite is what an approver sees and what runs, as a whole (002, The verdict protocol)
            arguments = merged.rewrite
        hook = merged.verdict or "none"
        enforced = self._enforce(host, merged, tool, arguments)
        if enforced.outcome != "ran":
            return Called(hook, enforced.outcome, started=False, reason=enforced.reason)
        return self._run(hook, enforced, tool, arguments, program)

    def _enforce(self, host: str, merged: Merged | None, tool: str, arguments: Any) -> Enforced:
        """Decides; where the decision is an open question, puts it to the approver."""
        enforced = permissions.decide(host, None, merged, self.dialect)
        if enforced.outcome != "asked" or self.approver is None:
            return enforced
        if self.approver != "auto":
            self._tell(self.dialect.approval_asked(tool, arguments), tool)
        approval = self.approver if isinstance(self.approver, str) else self.approver(tool, arguments)
        enforced = permissions.decide(host, approval, merged, self.dialect)
        self._tell(self.dialect.approval_given(tool, arguments, approval), tool)
        return enforced

    def _run(self, hook: str, enforced: Enforced, tool: str, arguments: Any, program: Tool | None) -> Called:
        """Runs an allowed call, and tells the hooks with the arguments that it really had."""
        end = tools.run(program, arguments, self.place)
        try:
            self._tell(self.dialect.after_tool(tool, arguments, end), tool)
        except OSError as error:  # the tool has removed the project's folder; that it ran must still be told
            return Called(hook, "error", started=end.started, reason=f"{type(error).__name__}: {error}")
        if end.kind == "raised":
            return Called(hook, "error", started=end.started, reason=end.text)
        return Called(hook, "failed" if end.kind == "failed" else "ran", True, enforced.reason, end.text)

    def prompt(self, text: str) -> Submitted:
        """A prompt is submitted, unless a hook denies it; any other verdict lets it pass (002, Events)."""
        event, fields = self.dialect.before_prompt(text)
        merged = self.fire(event, fields)
        if merged.verdict == "deny":
            return Submitted(False, merged.reason)
        return Submitted(True)

    def blocked_prompt(self, reason: str) -> str:
        """What the user is told of a prompt that was not submitted."""
        return f"prompt blocked by hook: {reason or 'UserPromptSubmit hook'}"

    def end(self, text: str) -> Ended:
        """The model has answered without a tool call: the run ends."""
        event, fields, cause = self.dialect.at_end(text)
        self.fire(event, fields)
        return Ended(cause)

    def fire(self, event: str, fields: Mapping[str, Any] | None = None, *, subject: str | None = None) -> Merged:
        """Runs the handlers of an event and merges what they say; for an observational event, that is only for the record.

        Raises ValueError for an event that the dialect does not have, OSError when the project's folder
        is not there.
        """
        if event not in self.dialect.events:
            raise ValueError(f'{self.dialect.name} has no event "{event}"; it has {", ".join(self.dialect.events)}')
        chosen = selection.select(self.loaded.handlers, event, subject)
        if not chosen:
            return Merged()
        session = None if self.session is None else {"id": self.session.id, "name": self.session.name}
        envelope = envelopes.build(event, fields or {}, session, self.place.cwd, self.dialect)

        def go_on(ran: Ran) -> bool:
            return self.dialect.on_veto == "run-all" or reading.read(ran, event, self.dialect).verdict != "deny"

        rans = execution.run_all(chosen, envelopes.write(envelope), self.place, order=self.dialect.order, go_on=go_on)
        answers = [reading.read(ran, event, self.dialect) for ran in rans]
        for ran, answer in zip(rans, answers, strict=True):
            if answer.failed is not None:
                self.complain(ran.handler, f"hook failed: {answer.failed}")
        return merging.merge(answers, self.dialect)

    def complain(self, handler: settings.Configured, what: str) -> None:
        """Logs what is wrong with a handler."""
        self.log(f"{handler.event}: {handler.command!r}: {what}")

    def _tell(self, told: tuple[str, Mapping[str, Any]] | None, tool: str) -> None:
        """Fires an observational event: its verdict is ignored (002, Events)."""
        if told is not None:
            self.fire(told[0], told[1], subject=tool)


def start(dialect: str, settings: Iterable[Source] = (), **options: Any) -> Runner:
    """The runner with the loop of this dialect; all else is as for `Runner`. Raises dialects.UnknownDialect."""
    return dialects.load(dialect).loop()(dialect, settings, **options)


def _load(files: Iterable[Source], runner: Runner) -> settings.Loaded:
    loaded = settings.load(files, runner.dialect)
    for report in loaded.report:
        if report.message is not None:
            runner.log(report.message)
    return loaded
