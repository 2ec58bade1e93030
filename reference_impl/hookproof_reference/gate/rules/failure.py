"""`onFailure`, which says whether a handler that fails blocks: where it is not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..finding import Found
from ..rule import rule

_NOT_LOOKED_AT = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})
"""On Stop observed, on the others according to the program's text."""


def _file(handler: str, event: str = "PreToolUse") -> str:
    return f'{{"hooks":{{"{event}":[{{"hooks":[{{{handler},"timeout":9}}]}}]}}}}'


_COMMAND = '"type":"command","command":"notify-team","onFailure":"block"'


@rule(
    id="on-failure-ignored",
    severity="warning",
    title="`onFailure` is not looked at here",
    consequence="every call passes",
    remedy="Take it out; where a failure is to block, use a command, http or mcp_tool handler that one waits for.",
    source="observed on 2.1.332: not for handlers in the background, on Stop, and for handlers that ask a model; "
    "2.1.178 does not know the key",
    bad=(
        _file(_COMMAND + ',"async":true', "PostToolUse"),
        _file(_COMMAND, "Stop"),
        _file('"type":"prompt","prompt":"Is it tidy? $ARGUMENTS","onFailure":"block"', "PostToolUse"),
    ),
    good=(_file(_COMMAND), _file(_COMMAND.replace("block", "continue"), "Stop")),
    profiles=("claude-code",),
)
def _check_ignored(context: Context) -> Iterator[Found]:
    for handler in context.known_handlers:
        wanted = handler.get("onFailure")
        background = handler.get("async")
        if wanted is None or wanted.value != "block":
            continue
        why = None
        if background is not None and background.value is True:
            why = "nobody waits for an async handler"
        elif handler.type == "prompt":
            why = "a handler that asks a model does not block by its failure"
        elif handler.event in _NOT_LOOKED_AT:
            why = f"{handler.event} does not look at it"
        if why is not None:
            yield context.at(
                handler.key("onFailure"),
                f'"onFailure" has no effect: {why}',
                consequence=None if handler.event == "PreToolUse" else "value ignored",
            )
