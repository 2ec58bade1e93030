"""The messages between the harness and a runner: JSON lines, typed here, their schema made from the types.

A runner reads one request per line on stdin and writes one answer per line on stdout. Lines are
ASCII-escaped JSON. Keys that a reader does not know are ignored, in both directions, so that both
sides can grow. All times are seconds.

    > {"op": "hello", "protocol": 1}
    < {"protocol": 1, "lasting": true, "runner": {"name": "myimpl"}, "dialects": ["lecode/1.0"], ...}
    > {"op": "run", "id": "r17", "dialect": "lecode/1.0", "world": {...}, "settings": [...], "steps": [...]}
    < {"id": "r17", "settings": [...], "steps": [...]}     one answer for each step, in order
    < {"id": "r17", "unsupported": "http"}                  a declared feature that is not there after all
    < {"id": "r17", "error": "..."}                         the adapter itself failed
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

PROTOCOL = 1
"""The protocol's number; a runner that speaks only a newer one is refused with both numbers."""

FEATURES: dict[str, str] = {
    "rewrite": "a handler may replace the arguments of a tool call",
    "result-rewrite": "a handler may replace what the model receives from a tool",
    "context": "a handler may add text for the model",
    "ask": "a handler may send a call to an approver",
    "approver": "the host can be given an approver that answers yes or no",
    "defer": "a handler may leave a call for later",
    "resume": "a deferred call can be taken up again in a fresh process",
    "batch": "one turn may hold several tool calls",
    "stop-loop": "a Stop handler may make the agent go on",
    "session-state": "steps of one request share one session",
    "prompt-events": "submitting a prompt fires handlers and can be blocked",
    "post-events": "handlers fire after a tool has run",
    "failure-events": "a failed tool fires an event of its own",
    "lifecycle-events": "session, compaction, notification and interrupt events can be fired",
    "subagent": "tool calls can be made inside a subagent",
    "matcher": "a handler can be limited to some tools",
    "timeout": "a handler's time limit can be set",
    "http": "handlers may be HTTP endpoints",
    "mcp_tool": "handlers may be tools of an MCP server",
    "prompt": "handlers may be prompts to a model",
    "agent": "handlers may be agents",
    "async": "handlers may run in the background",
    "exec-form": "a handler may be a program with arguments, without a shell",
    "managed-scope": "settings of a policy scope are read",
    "settings-report": "the answer says what became of each settings file",
    "compact": "compaction can be asked for",
    "exact-numbers": "integers beyond 2^53 survive unchanged",
    "plugins": "plugin folders bring handlers of their own",
    "frontmatter": "agents and skills of the project bring handlers of their own",
    "terminal": "the answer says what handlers had written to the terminal",
    "trust": "a project's folder can be one that the user has not trusted",
    "watching": "a file that changes on disk fires an event",
    "background-tools": "a tool call can be told to run on while the turn goes on",
}
"""The closed list of features: name -> what a runner says with it."""

Scope = Literal["loop", "chain"]
Decision = Literal["allow", "ask", "defer", "deny", "none"]
Outcome = Literal["ran", "failed", "blocked", "asked", "deferred", "error"]
Verdict = Literal["allow", "ask", "deny"]
Approval = Literal["allow_once", "allow_always", "deny", "auto"]
OpenClosed = Literal["open", "closed"]


class FailureDirection(Struct, forbid_unknown_fields=True, frozen=True):
    """What a handler's failure on an enforced event means: `open` lets the call pass, `closed` blocks it."""

    exit: OpenClosed
    signal: OpenClosed
    timeout: OpenClosed
    unreadable: OpenClosed
    cannot_start: OpenClosed


class Posture(Struct, forbid_unknown_fields=True, frozen=True):
    """What runners legitimately decide differently, declared as data (D13)."""

    order: Literal["sequential", "parallel"]
    on_veto: Literal["stop", "run-all"]
    failure: FailureDirection
    reason: Literal["first", "last", "most-severe", "last-finished"]
    rewrite: Literal["chained", "first", "last", "most-severe", "last-finished", "none"]
    ask_without_person: Literal["run", "deny"]
    defer: Literal["run", "leave", "none"]
    timeout_unit: Literal["s", "ms", "s-or-ms"]
    """The last: a number below 1000 means seconds, any other milliseconds."""
    timeout_default: float
    """In the declared unit."""
    odd_timeout: Literal["default", "undeclared"] = "undeclared"
    """`default`: a limit that is no number above 0 counts as absent, and one that no clock can hold as a long one."""


# ---- what the harness sends ----------------------------------------------------------------------


class Hello(Struct, tag_field="op", tag="hello"):
    """The first line to every runner; stdin is closed after it."""

    protocol: int = PROTOCOL


class World(Struct):
    """The folders made for this request, absolute; HOME, cwd and env are the request's, in a lasting process too."""

    root: str
    project: str
    home: str
    cwd: str
    env: dict[str, str] = {}


class Settings(Struct):
    """One settings file, already written; a `managed` path is for the runner to map to its own place."""

    scope: Literal["managed", "user", "project", "local"]
    path: str


class Session(Struct, omit_defaults=True):
    """The session that the steps belong to."""

    id: str
    name: str | None = None
    interactive: bool = False
    permission_mode: str = "default"
    agent: str | None = None
    """The subagent in which the steps happen, or null for the main loop."""
    trusted: bool = True
    """Whether the user has said that the project's folder may be trusted."""


class Permission(Struct):
    """The host's own verdict on every tool call before hooks, and what its approver would answer."""

    verdict: Verdict = "allow"
    approver: Approval | None = None
    """null: nobody is there to ask."""


class ToolCall(Struct, omit_defaults=True):
    """A tool call of the model. `program` is started with the effective input as JSON on stdin.

    Exit 0 is success and stdout the result; 1 to 99 an error result; 100 and more, or a signal, means
    that the tool raised, with the first line of stderr as message.
    """

    id: str
    name: str
    input: Any
    program: str | None = None
    input_file: str | None = None
    """Where the input cannot be a protocol line (lone surrogates, megabytes): read it from here."""


class Turn(Struct, omit_defaults=True):
    """One answer of the model: tool calls (a batch), or a text that ends the run and fires Stop."""

    tool_calls: list[ToolCall] | UnsetType = UNSET
    text: str | UnsetType = UNSET


class Step(Struct, omit_defaults=True):
    """Exactly one of: an event with its fields, a prompt, a turn, the resumption of a deferred call."""

    event: str | UnsetType = UNSET
    fields: dict[str, Any] | UnsetType = UNSET
    prompt: str | UnsetType = UNSET
    turn: Turn | UnsetType = UNSET
    resume: ToolCall | UnsetType = UNSET


class Run(Struct, tag_field="op", tag="run", kw_only=True):
    """One request: a world, its settings, and the steps to take in it."""

    id: str
    dialect: str
    world: World
    settings: list[Settings]
    plugins: list[str] | UnsetType = UNSET
    """Folders of plugins to load beside the settings, absolute."""
    session: Session | None = None
    """null: outside a session."""
    permission: Permission = msgspec.field(default_factory=Permission)
    steps: list[Step]


# ---- what a runner answers -----------------------------------------------------------------------


class RunnerInfo(Struct, omit_defaults=True):
    """Who answers."""

    name: Annotated[str, Meta(min_length=1)]
    version: str = ""
    language: str = ""
    source: str = ""
    issues: str = ""


class HelloAnswer(Struct, kw_only=True):
    """What a runner declares; cases for what it does not declare are not applicable."""

    protocol: int
    runner: RunnerInfo
    dialects: Annotated[list[str], Meta(min_length=1)]
    lasting: bool = False
    scope: Scope = "loop"
    features: list[str] = []
    posture: Posture | None = None


class SettingsReport(Struct, omit_defaults=True):
    """What became of one settings file."""

    path: str
    status: Literal["loaded", "partial", "rejected", "missing"]
    dropped: list[str] = []
    """The entries that were left out, as the runner names them."""
    message: str | None = None


class EventAnswer(Struct, omit_defaults=True):
    """After an `event` step: the exception that reached the host, the context that handlers left."""

    raised: str | None = None
    context: dict[str, Any] = {}


class PromptAnswer(Struct, omit_defaults=True):
    """After a `prompt` step."""

    submitted: bool
    reason: str | None = None


class CallAnswer(Struct, omit_defaults=True, kw_only=True):
    """After each tool call.

    `hook` is the merged verdict of the hooks before the permission check, `outcome` what was enforced,
    `started` whether the program was started, `result` what the model receives after post-hooks,
    `feedback` the texts of post-hooks.
    """

    id: str
    hook: Decision
    outcome: Outcome
    started: bool
    reason: str | None = None
    result: Any = None
    feedback: list[str] = []


class EndAnswer(Struct, omit_defaults=True):
    """After a turn without tool calls."""

    cause: str
    """done, continued (a Stop handler made the loop take the next turn), blocked, ..."""
    stop_count: int = 1


class StepAnswer(Struct, omit_defaults=True):
    """One answer per step, of the kind that the step asked for; `skipped` says why a step was not taken."""

    event: EventAnswer | UnsetType = UNSET
    prompt: PromptAnswer | UnsetType = UNSET
    calls: list[CallAnswer] | UnsetType = UNSET
    end: EndAnswer | UnsetType = UNSET
    skipped: str | UnsetType = UNSET


class RunAnswer(Struct, omit_defaults=True, kw_only=True):
    """The answer to a run: either `steps`, or `unsupported`, or `error`."""

    id: str
    settings: list[SettingsReport] = []
    steps: list[StepAnswer] = []
    to_model: list[str] = []
    to_user: list[str] = []
    to_terminal: list[str] = []
    """What was written to the terminal as it is, for handlers that asked for it."""
    unsupported: str | None = None
    error: str | None = None


def encode(message: Struct) -> bytes:
    """One protocol line: ASCII-escaped JSON with its newline."""
    return json.dumps(msgspec.to_builtins(message), separators=(",", ":")).encode("ascii") + b"\n"


def faults_of_hello(answer: HelloAnswer) -> str | None:
    """What in a hello the suite cannot work with; None when all is well."""
    if answer.protocol > PROTOCOL:
        return f"the runner speaks protocol {answer.protocol}, this hookproof speaks {PROTOCOL}: upgrade hookproof"
    if answer.protocol < 1:
        return f"the runner speaks protocol {answer.protocol}, this hookproof speaks {PROTOCOL}"
    unknown = [name for name in answer.features if name not in FEATURES]
    if unknown:
        return f"hello declares {', '.join(map(repr, unknown))}, which is no feature; `hookproof schema features` lists them"
    if answer.posture is None and any(name.partition("/")[0] == "core" for name in answer.dialects):
        return "hello declares the dialect core and no posture, which says what core means for this runner"
    return None


def faults_of_answer(request: Run, answer: RunAnswer) -> str | None:
    """Where an answer does not fit its request; None when it fits.

    Every step is answered once and every requested call id exactly once, in order: an empty list must
    never pass as "did not run".
    """
    if answer.id != request.id:
        return f'the answer has id "{answer.id}", the request "{request.id}"'
    if answer.error is not None or answer.unsupported is not None:
        return None
    if len(answer.steps) != len(request.steps):
        return f"the request has {len(request.steps)} steps, the answer {len(answer.steps)}"
    for number, (step, reply) in enumerate(zip(request.steps, answer.steps, strict=True)):
        fault = _fault_of_step(step, reply)
        if fault:
            return f"steps[{number}]: {fault}"
    return None


def kind_of(step: Step) -> Literal["event", "prompt", "calls", "end"]:
    """The kind of answer that a step asks for."""
    if step.event is not UNSET:
        return "event"
    if step.prompt is not UNSET:
        return "prompt"
    if step.resume is not UNSET or (step.turn is not UNSET and step.turn.tool_calls is not UNSET):
        return "calls"
    return "end"


def _fault_of_step(step: Step, reply: StepAnswer) -> str | None:
    given = [name for name in ("event", "prompt", "calls", "end", "skipped") if getattr(reply, name) is not UNSET]
    wanted = kind_of(step)
    if len(given) != 1 or given[0] not in (wanted, "skipped"):
        return f'wants one answer of kind "{wanted}" (or "skipped"), has {given or "none"}'
    if reply.calls is not UNSET:
        if step.resume is not UNSET:
            asked = [step.resume.id]
        else:
            assert step.turn is not UNSET and step.turn.tool_calls is not UNSET
            asked = [call.id for call in step.turn.tool_calls]
        answered = [call.id for call in reply.calls]
        if asked != answered:
            return f"asked for the calls {asked}, answered {answered}"
    return None


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of all messages, for authors in any language."""
    shapes = [Hello, Run, HelloAnswer, RunAnswer]
    refs, definitions = msgspec.json.schema_components(shapes, ref_template="#/$defs/{name}")
    one_of = {
        "Step": ("event", "prompt", "turn", "resume"),
        "Turn": ("tool_calls", "text"),
        "StepAnswer": ("event", "prompt", "calls", "end", "skipped"),
    }
    for name, keys in one_of.items():
        definitions[name]["oneOf"] = [{"required": [key]} for key in keys]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"hookproof runner protocol {PROTOCOL}",
        "oneOf": list(refs),
        "$defs": definitions,
    }
