"""A chain of functions runs at each of eight events, in the order in which they were registered."""

from __future__ import annotations

import copy
import difflib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar

Json = dict[str, Any]


class HookEvent(Enum):
    """The eight events (000, 8 Hook Events)."""

    SESSION_START = "SessionStart"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    PRE_COMPACT = "PreCompact"
    STOP = "Stop"
    SUBAGENT_STOP = "SubagentStop"
    SESSION_END = "SessionEnd"


class HookError(Exception):
    """A hook at PreToolUse raises it to veto the call; its text is the reason."""


class PreToolUseHookFn(Protocol):
    """Gets a tool call before the tool runs."""

    def __call__(self, tool: str, arguments: Json, /) -> Json | None:
        """Returns the arguments that hold from here on, or None to change nothing. Raises HookError to veto."""
        ...


class PostToolUseHookFn(Protocol):
    """Gets a tool call after the tool has run."""

    def __call__(self, tool: str, arguments: Json, result: Json, /) -> Json | None:
        """Returns the result that holds from here on, or None to change nothing."""
        ...


class PreCompactHookFn(Protocol):
    """Gets the context before it is compacted."""

    def __call__(self, context: Json, /) -> Json | None:
        """Returns the context that holds from here on, or None to change nothing."""
        ...


class SessionHookFn(Protocol):
    """Gets one of the five events of a session."""

    def __call__(self, session_id: str, context: Json, /) -> object:
        """What it returns has no effect."""
        ...


HookFn = PreToolUseHookFn | PostToolUseHookFn | PreCompactHookFn | SessionHookFn
Fn = TypeVar("Fn", bound=HookFn)

SESSION_EVENTS = frozenset(
    {
        HookEvent.SESSION_START,
        HookEvent.SESSION_END,
        HookEvent.USER_PROMPT_SUBMIT,
        HookEvent.STOP,
        HookEvent.SUBAGENT_STOP,
    }
)
"""The events of a `SessionHookFn`."""

MAY_CHANGE_CONTEXT = frozenset({HookEvent.SESSION_START, HookEvent.USER_PROMPT_SUBMIT})
"""The session events at which a hook may change the caller's context, which it can do only in place (000, 8 Hook Events)."""


@dataclass(slots=True)
class HookConfig:
    """What can be set for a whole chain."""

    enabled: bool = True
    """False: no hook runs, and every `run_*` returns None at once (000, Behavior Contract 6)."""


class HookRunner:
    """The hooks of all events.

    Register all of them before the agent loop starts: registration is not thread-safe (000, Invariants).
    `log` gets what people should know of.
    """

    def __init__(
        self, config: HookConfig | None = None, *, log: Callable[[str], None] = lambda text: print(text, file=sys.stderr)
    ) -> None:
        self.config = config or HookConfig()
        self.log = log
        self._hooks: dict[HookEvent, list[Any]] = {event: [] for event in HookEvent}

    def register(self, event: HookEvent | str, hook: Fn) -> Fn:
        """Adds a hook at the end of an event's chain, and returns it. Raises ValueError for an event that there is not."""
        self._hooks[_event(event)].append(hook)
        return hook

    def registered(self, event: HookEvent | str) -> tuple[Any, ...]:
        """The hooks of an event, in the order in which they run."""
        return tuple(self._hooks[_event(event)])

    def run_pre_tool_use(self, tool: str, arguments: Json) -> Json | None:
        """The arguments as the hooks leave them; each sees what those before it have changed.

        The first that raises ends the chain, and its exception is the caller's to catch: HookError is a
        veto (000, Behavior Contract 1 and 5). `{}` is a change; what is no dict is passed on as it is.
        """
        if not self.config.enabled:
            return None
        for hook in self._hooks[HookEvent.PRE_TOOL_USE]:
            changed = hook(tool, arguments)
            if changed is not None:
                arguments = changed
        return arguments

    def run_post_tool_use(
        self, tool: str, arguments: Json, result: Json, *, raised: Callable[[Exception], None] | None = None
    ) -> Json | None:
        """The result as the hooks leave it; each sees what those before it have changed.

        The tool has run and nobody can veto that any more (000, 8 Hook Events): a hook that raises changes
        nothing, the others still run, and `raised` gets the exception (without it, the log).
        """
        if not self.config.enabled:
            return None
        for hook in self._hooks[HookEvent.POST_TOOL_USE]:
            try:
                changed = hook(tool, arguments, result)
            except Exception as error:  # a hook is foreign code: whatever it raises is its own affair
                (raised or self._note)(error)
            else:
                result = result if changed is None else changed
        return result

    def run_pre_compact(self, context: Json) -> Json | None:
        """The context as the hooks leave it; each sees what those before it have changed. Exceptions propagate."""
        if not self.config.enabled:
            return None
        for hook in self._hooks[HookEvent.PRE_COMPACT]:
            changed = hook(context)
            if changed is not None:
                context = changed
        return context

    def run_session_event(self, event: HookEvent | str, session_id: str, context: Json) -> None:
        """Runs the hooks of one of the five events of a session. What they return has no effect.

        The first exception ends the chain and propagates (000, Behavior Contract 3). Raises ValueError for
        an event of another kind.
        """
        event = _event(event)
        if event not in SESSION_EVENTS:
            raise ValueError(f"{event.value} is no event of a session")
        if not self.config.enabled:
            return
        for hook in self._hooks[event]:
            hook(session_id, context if event in MAY_CHANGE_CONTEXT else own_copy(context))

    def run_session_start(self, session_id: str, context: Json) -> None:
        """A session begins; hooks may change the context in place."""
        self.run_session_event(HookEvent.SESSION_START, session_id, context)

    def run_session_end(self, session_id: str, context: Json) -> None:
        """A session is over."""
        self.run_session_event(HookEvent.SESSION_END, session_id, context)

    def run_user_prompt_submit(self, session_id: str, context: Json) -> None:
        """A prompt is submitted; hooks may change the context in place."""
        self.run_session_event(HookEvent.USER_PROMPT_SUBMIT, session_id, context)

    def run_stop(self, session_id: str, context: Json) -> None:
        """A run has ended."""
        self.run_session_event(HookEvent.STOP, session_id, context)

    def run_subagent_stop(self, session_id: str, context: Json) -> None:
        """A subagent has ended."""
        self.run_session_event(HookEvent.SUBAGENT_STOP, session_id, context)

    def _note(self, error: Exception) -> None:
        self.log(f"PostToolUse: {described(error)}")


def own_copy(context: Json) -> Json:
    """What a hook gets that may change nothing: the caller and the next hook do not see what it does to it."""
    return copy.deepcopy(context)


def described(error: Exception) -> str:
    """An exception in words: `HookError: no`."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _event(event: HookEvent | str) -> HookEvent:
    if isinstance(event, HookEvent):
        return event
    try:
        return HookEvent(event)
    except ValueError:
        raise ValueError(f'there is no hook event "{event}"{suggestion(str(event))}') from None


def suggestion(name: str) -> str:
    """`; did you mean "Stop"?` for a name that is nearly one of an event, else what there is."""
    names = {event.value.lower(): event.value for event in HookEvent}
    near = difflib.get_close_matches(name.lower(), names, n=1)
    return f'; did you mean "{names[near[0]]}"?' if near else f"; there are {', '.join(names.values())}"
