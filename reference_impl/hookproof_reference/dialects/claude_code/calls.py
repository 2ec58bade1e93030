"""One tool call, from PreToolUse to PostToolUse: put to the hooks, to the rules, to a person, run, and reported.

Start at `Calling.run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import permissions, tools
from ...handlers import Place
from ...permissions import Enforced, Outcome
from ...runner import Approver, Called, ToolUse
from ...tools import ToolEnd
from . import environment, inputs, mcp_servers, messages, rules
from .answers import NOTHING
from .hooks import Heard, Hooks
from .tasks import Tasks, is_for_background
from .todo import CREATED, Todo

if TYPE_CHECKING:
    from . import ClaudeCode


CLASSIFIED = "auto"
"""The mode in which a classifier judges the calls that no rule names, in the place of a person."""
NAMING = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
"""The events whose envelopes name the MCP server of the tool (observed)."""


@dataclass(frozen=True, slots=True)
class Host:
    """The host's side of a call: what it says by itself, and who can be asked."""

    verdict: str
    mode: str
    interactive: bool
    approver: Approver | None
    log: Callable[[str], None]


@dataclass(slots=True)
class Calling:
    """One call under way, and what it leaves behind beside its answer."""

    dialect: ClaudeCode
    hooks: Hooks
    host: Host
    use: ToolUse
    place: Place
    tasks: Tasks = field(default_factory=Tasks)
    todo: Todo = field(default_factory=Todo)
    to_model: list[str] = field(default_factory=list)
    to_user: list[str] = field(default_factory=list)
    stops: bool = False

    def run(self) -> Called:
        """The call, and its answer."""
        if self._absent():
            return self._refused(Enforced("blocked"), "none", messages.absent(self.use.name))
        wrong = inputs.unfit(self.use.name, self.use.arguments)
        if wrong is not None:  # no hook of the call is asked, neither before nor after it (observed)
            text = messages.bad_input(wrong)
            return Called("none", "error", started=False, reason=text, result=text)
        heard = self._ask("PreToolUse", tool_input=self.use.arguments, tool_use_id=self.use.id)
        merged, hook = heard.merged, heard.merged.verdict or "none"
        if merged.verdict == "deny":
            return self._denied(heard)
        if merged.verdict == "defer":
            return Called(hook, permissions.decide("allow", None, merged, self.dialect).outcome, started=False)
        try:
            # a rewrite replaces the whole input, and it is what the rules are asked about (observed)
            arguments = self.use.arguments if merged.rewrite is None else self._checked("PreToolUse", merged.rewrite)
            enforced, arguments = self._permitted(heard, arguments)
        except inputs.BadInput as bad:
            text = messages.bad_rewrite(bad.event, self.use.name, str(bad), self.dialect.version)
            return Called(hook, "error", started=False, reason=text, result=text)
        if enforced.outcome != "ran":
            return self._refused(enforced, hook, enforced.reason)
        return self._run(hook, arguments)

    def _absent(self) -> bool:
        """Whether a rule denies the whole tool: then there is none, and no hook is asked (observed)."""
        denied = rules.listed(self._rules(), "deny")
        return any(rules.whole_tool(rule, self.use.name) for rule in denied)

    def _rules(self) -> list[Mapping[str, Any]]:
        given = [content.get("permissions") for content in self.hooks.contents]
        return [p for p in given if isinstance(p, dict)]

    def _checked(self, event: str, rewrite: dict[str, Any]) -> dict[str, Any]:
        return inputs.checked(event, self.use.name, rewrite, self.dialect.version)

    def _denied(self, heard: Heard) -> Called:
        """A hook has denied: what it said is what the model reads."""
        reason = heard.merged.reason
        denier = next((said for said in reversed(heard.blocks()) if said.reason == reason), None)
        by_exit = denier is not None and denier.by_exit
        reason = reason or self.dialect.version.no_reason.format(tool=self.use.name)
        text = messages.denied(self.use.name, reason, by_exit, self.dialect.version)
        outcome = permissions.decide("allow", None, heard.merged, self.dialect).outcome
        return Called("deny", outcome, started=False, reason=reason, result=text)

    def _refused(self, enforced: Enforced, hook: str, reason: str) -> Called:
        text = reason or messages.needs_approval(self.use.name)
        return Called(hook, enforced.outcome, started=False, reason=text, result=text)

    def _permitted(self, heard: Heard, arguments: Any) -> tuple[Enforced, Any]:
        """What rules, hooks and mode come to, and the input that may run. Raises inputs.BadInput.

        Rules hold against every hook; a hook that allows lifts only what the mode says (observed).
        """
        merged = heard.merged
        stance = rules.stance(self._rules(), rules.Call(self.use.name, arguments, self.hooks.project, self.hooks.scene.home))
        host = stance[0] if stance is not None else self._unruled()
        if merged.verdict == "allow" and (stance is None or stance[0] == "allow") and self._lifts():
            host = "allow"
        if stance is None and host != "allow" and merged.verdict is None and self.host.mode == CLASSIFIED:
            return self._classified(arguments), arguments
        enforced = permissions.decide(host, None, merged, self.dialect)
        if enforced.outcome == "blocked":
            return Enforced("blocked", messages.rule_denied(self.use.name, arguments) if stance else enforced.reason), arguments
        if enforced.outcome == "asked" and self._requests(merged.verdict == "ask"):
            heard = self._ask(
                "PermissionRequest",
                first_verdict=True,
                tool_input=arguments,
                permission_suggestions=messages.suggestions(self.use.name, arguments),
            )
            asked = heard.merged
            if asked.verdict == "allow":
                self.hooks.grant(heard)
                return Enforced("ran"), arguments if asked.rewrite is None else self._checked("PermissionRequest", asked.rewrite)
            if asked.verdict == "deny":
                return Enforced("blocked", asked.reason or messages.request_denied()), arguments
        if enforced.outcome == "asked" and self.host.approver is not None:
            approver = self.host.approver
            approval = approver if isinstance(approver, str) else approver(self.use.name, arguments)
            enforced = permissions.decide(host, approval, merged, self.dialect)
        return enforced, arguments

    def _classified(self, arguments: Any) -> Enforced:
        """The classifier has refused: nobody is asked, and PermissionDenied tells of it, at no other refusal (observed)."""
        reason = messages.classified(self.use.name)
        self._ask("PermissionDenied", tool_input=arguments, tool_use_id=self.use.id, reason=reason)
        return Enforced("blocked", reason)

    def _unruled(self) -> str:
        """What the host says of a call that no rule names, in the mode that a hook may have set meanwhile."""
        mode = self.hooks.granted_mode
        if mode == "bypassPermissions" or (mode == "acceptEdits" and self.use.name in rules.EDITS):
            return "allow"
        return self.host.verdict

    def _lifts(self) -> bool:
        """Whether a hook that allows is heard in this mode."""
        if self.host.mode == "plan" and self.dialect.version.plan_holds:
            return False
        return self.host.verdict != "deny" or self.host.mode in ("dontAsk", CLASSIFIED)

    def _requests(self, hook_asks: bool) -> bool:
        """Whether PermissionRequest fires for a call that needs an approval."""
        if self.host.mode == "dontAsk":
            return False
        # where a person could be asked after all, a hook that asks is no reason against it (observed)
        asks = not hook_asks or self.host.approver is not None
        return self.host.interactive or (self.dialect.version.print_mode_requests and asks)

    def _run(self, hook: str, arguments: Any) -> Called:
        """Runs an allowed call, and tells the hooks with the input that it really had."""
        began = time.monotonic()
        end = self._tool(arguments)
        told = {"tool_input": arguments, "tool_use_id": self.use.id, "duration_ms": int((time.monotonic() - began) * 1000)}
        if end.kind != "ok":
            text = inputs.failure(self.use.name, end)
            heard = self._ask("PostToolUseFailure", **told, error=text, is_interrupt=False)
            outcome: Outcome = "failed" if end.kind == "failed" else "error"
            return Called(
                hook, outcome, end.started, text if outcome == "error" else "", text, self._feedback(heard, "PostToolUseFailure")
            )
        response = inputs.response(self.use.name, arguments, end)
        heard = self._ask("PostToolUse", **told, tool_response=response)
        output = self._replaced(heard, response)
        if output is not response and inputs.breaks(self.use.name, output, self.dialect.version):
            text = messages.bad_output(self.use.name)
            return Called(hook, "error", True, text, text, self._feedback(heard, "PostToolUse"))
        result = inputs.shown(self.use.name, output, end.text)
        return Called(hook, "ran", True, "", result, self._feedback(heard, "PostToolUse"))

    def _tool(self, arguments: Any) -> ToolEnd:
        place = self.place
        if self.use.name == "Bash":
            place, code = self.hooks.env_files.read_by_shell(place)
            if code != 0:
                return ToolEnd("failed", "", started=False, code=code)
            place = environment.of_shell(place)
            if is_for_background(self.use, arguments):
                return self.tasks.start(str(self.use.program), arguments, place)
        end = tools.run(self.use.program, arguments, place)
        return self._listed(arguments, end) if end.kind == "ok" else end

    def _listed(self, arguments: Any, end: ToolEnd) -> ToolEnd:
        """What becomes of a call that adds to the list of things to do, or ticks one off; a block is its result."""
        found = self.todo.event_of(self.use.name, arguments)
        if found is None:
            return end
        event, fields = found
        blocks = self.hooks.ask(event, fields, log=self.host.log).blocks()
        if not blocks:
            return end
        self.todo.undo(event, fields)
        text = "\n".join(messages.todo_feedback(event, said) for said in blocks)
        return ToolEnd("failed" if event == CREATED else "ok", text, stdout=text, code=1 if event == CREATED else 0)

    def _replaced(self, heard: Heard, response: Any) -> Any:
        """The result after the hooks: the last to end that gives one of the right shape has it (observed)."""
        mcp = inputs.is_mcp(self.use.name)
        for said in reversed(heard.answers):
            output = said.mcp_output if mcp and said.output is NOTHING else said.output
            if output is not NOTHING and inputs.fits_shape(self.use.name, output):
                return output
        return response

    def _feedback(self, heard: Heard, event: str) -> list[str]:
        return [messages.feedback(f"{event}:{self.use.name}", said) for said in heard.blocks()]

    def _ask(self, event: str, *, first_verdict: bool = False, **fields: Any) -> Heard:
        if inputs.is_mcp(self.use.name) and event in NAMING and self.dialect.version.names_server:
            fields["mcp_server"] = mcp_servers.told_of(self.use.name, self.hooks.listed)
        heard = self.hooks.ask(event, {"tool_name": self.use.name, **fields}, first_verdict=first_verdict, log=self.host.log)
        name = f"{event}:{self.use.name}"
        self.stops = self.stops or (heard.stops() and event != "PermissionRequest")
        self.to_model += messages.contexts(name, heard.answers, self.dialect.version)
        if not (event == "PostToolUse" and heard.stops()):
            self.to_user += messages.for_user(name, heard.answers, self.host.interactive, self.dialect.version)
        return heard
