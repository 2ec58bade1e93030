"""The loop of TeaAgent asks one chain of hooks: before and after each tool call, and at the events of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ... import permissions, tools
from ...merging import Merged
from ...runner import Called, Ended, HookRaised, Runner, Submitted
from ...settings import Configured, Source
from ...teaagent import HookConfig, HookEvent, HookRunner, ToolRaised, calls, permission_check_hook, shell_command_hook
from ...teaagent.hooks import described
from ...tools import Tool
from . import configuration, programs


class Loop(Runner):
    """The runner of one session of TeaAgent."""

    def __init__(self, dialect: str, settings: Iterable[Source] = (), **options: Any) -> None:
        """As `Runner`. The programs are registered in the order of the settings, the permission hooks after them.

        So a permission hook sees the arguments that would really be used.
        """
        super().__init__(dialect, settings, **options)
        contents = [content for _, content in self.loaded.rest]
        config = HookConfig(enabled=all(content["enabled"] for content in contents))
        self.hooks = HookRunner(config, log=self.log)
        for handler in self.loaded.handlers:
            self.hooks.register(handler.event, self._function(handler))
        for guard in [content["guard"] for content in contents if content["guard"] is not None]:
            check = permission_check_hook(
                guard.mode,
                destructive_tools=guard.destructive_tools,
                deny_patterns=guard.deny_patterns,
                allow_patterns=guard.allow_patterns,
            )
            self.hooks.register(HookEvent.PRE_TOOL_USE, check)

    def _function(self, handler: Configured) -> Callable[..., Any]:
        if handler.kind == configuration.SHELL_COMMAND:
            return shell_command_hook(handler.command, cwd=self.place.cwd, timeout=handler.timeout)
        return programs.function(handler, self.place)

    def call(self, tool: str, arguments: Any, program: Tool | None) -> Called:
        """A tool call of the model. What the host denies is put to no hook, and no hook lifts what the host says."""
        denied = permissions.decide(self.host, None, None, self.dialect)
        if denied.outcome == "blocked":
            return Called("none", "blocked", started=False, reason=denied.reason)

        def run(effective: dict[str, Any]) -> dict[str, Any]:
            end = tools.run(program, effective, self.place)
            if end.kind == "raised":
                raise ToolRaised(end.text, started=end.started)
            return {"content": end.text, "is_error": end.kind == "failed"}

        def permitted(tool: str, effective: dict[str, Any]) -> Any:
            return self._enforce(self.host, None, tool, effective)

        return calls.call_tool(self.hooks, tool, arguments, run, permitted=permitted)

    def prompt(self, text: str) -> Submitted:
        """A prompt is submitted. No hook can veto that, but the exception of one goes on to whoever submits it."""
        try:
            self.fire("UserPromptSubmit", {"prompt": text})
        except HookRaised as raised:
            return Submitted(False, str(raised))
        return Submitted(True)

    def end(self, text: str) -> Ended:
        """The model has answered without a call: the run, or the subagent, ends."""
        subagent = self.session is not None and self.session.agent is not None
        self.fire("SubagentStop" if subagent else "Stop", {"text": text})
        return Ended("done")

    def fire(self, event: str, fields: Mapping[str, Any] | None = None, *, subject: str | None = None) -> Merged:
        """An event that the host reports, with the fields as context; `context` is that as the hooks have left it.

        Raises ValueError for an event that there is not, HookRaised for the exception of a hook.
        """
        if event not in self.dialect.events:
            raise ValueError(f'{self.dialect.name} has no event "{event}"; it has {", ".join(self.dialect.events)}')
        self.context = dict(fields or {})
        try:
            changed = self._ask(HookEvent(event), self.context)
        except Exception as error:  # a hook is foreign code, and the exceptions of most events are the host's (000, Contract 3)
            raise HookRaised(described(error)) from error
        if isinstance(changed, dict):
            self.context = changed
        return Merged()

    def _ask(self, event: HookEvent, context: dict[str, Any]) -> dict[str, Any] | None:
        if event is HookEvent.PRE_TOOL_USE:
            return self.hooks.run_pre_tool_use(context.get("tool", ""), context.get("arguments", {}))
        if event is HookEvent.POST_TOOL_USE:
            return self.hooks.run_post_tool_use(context.get("tool", ""), context.get("arguments", {}), context.get("result", {}))
        if event is HookEvent.PRE_COMPACT:
            return self.hooks.run_pre_compact(context)
        session_id = self.session.id if self.session else ""
        self.hooks.run_session_event(event, session_id, context)
        return None
