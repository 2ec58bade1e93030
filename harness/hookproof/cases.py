"""What a case is: a rule, described handlers, a stimulus, and what must be seen.

These types are the format of the case files; the JSON Schema is made from them. Reading the files is
`casefile.py`, choosing among them `catalog.py`. All times are seconds.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from .protocol import Approval, Decision, Outcome, Verdict

Level = Literal["must", "should", "may"]
Slug = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
ProbeName = Annotated[str, Meta(pattern=r"^(h[1-9][0-9]*|t[1-9][0-9]*)$")]
HandlerKind = Literal["command", "http", "mcp_tool", "prompt", "agent"]
FileName = Annotated[str, Meta(pattern=r"^\.?[A-Za-z0-9][A-Za-z0-9 ._-]*(/\.?[A-Za-z0-9][A-Za-z0-9 ._-]*)*$")]
"""A path within a folder that cannot lead out of it."""
ReplyForm = Literal["text", "blocks", "structured", "image", "empty", "error"]
"""One text, a text for each line, structuredContent beside no text, an image, nothing, a text that is marked as an error."""
Signal = Literal["TERM", "KILL", "INT", "HUP", "SEGV", "ABRT", "PIPE", "USR1"]

SLEEPY = 0.5
"""A case whose probes sleep this long or longer waits in the wide lane."""
SLOW = 3.0
"""A case that needs longer than this must be tagged `slow`."""


class Strict(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a case file: an unknown key is an error."""


# ---- rules ---------------------------------------------------------------------------------------


class Source(Strict):
    """Where a rule comes from: a document and the section in it, and the statement rows it covers."""

    document: str
    section: str
    rows: list[str] = []


class Exclusion(Strict):
    """Why a rule has no case. The reasons are a closed list."""

    reason: Literal["unobservable", "undefined-by-the-source", "documentation-only"]
    note: Annotated[str, Meta(min_length=10)]


class Rule(Strict, kw_only=True):
    """One normative sentence in our own words."""

    level: Level
    text: Annotated[str, Meta(min_length=10)]
    source: Source
    versions: list[str] = []
    """The dialect versions for which it holds; empty: all."""
    disputed: str | None = None
    """Where sources differ: who says what."""
    excluded: Exclusion | None = None


# ---- handlers ------------------------------------------------------------------------------------


class Use(Strict):
    """A tool call of the model that an agent handler lets work."""

    tool: str
    input: dict[str, Any] = {}


class Say(Strict):
    """An answer in neutral words; each dialect writes it in its own. For prompt and agent: what the model says."""

    verdict: Literal["allow", "deny", "ask", "defer", "block"] | None = None
    reason: str | None = None
    input: Any = UNSET
    """The rewritten arguments of the tool call."""
    output: Any = UNSET
    """The rewritten result of the tool call."""
    context: str | None = None
    """Text added for the model."""
    native: dict[str, Any] | None = None
    """Instead of all others: the dialect's own JSON object, as it stands."""
    text: str | None = None
    """prompt and agent, instead of all others: the model says this, in plain text."""
    use: Use | None = None
    """agent, instead of all others: the model calls this tool."""


class Child(Strict):
    """A process that outlives its handler."""

    sleep: float
    holds: Literal["stdout", "nothing"] = "stdout"
    session: Literal["same", "new"] = "same"


class Handler(Strict):
    """A described handler. Empty: reads stdin, prints nothing, exits 0.

    What happens, in this order: its start is noted, stdin is read, the child is spawned, it waits for
    others, it sleeps, stderr and stdout are written, its end is noted, it exits or dies by the signal.
    """

    event: str | None = None
    """The event that it is configured for; absent: the one that the stimulus fires first."""
    kind: HandlerKind = "command"
    """What stands in the settings. With another kind than command, the probe runs behind a server of the harness."""
    status: Annotated[int, Meta(ge=200, le=599)] = 200
    """http, prompt, agent: the status of the answer; `signal` ends the connection without one."""
    headers: dict[str, str] = {}
    """http: further headers of the answer."""
    prompt: str | None = None
    """prompt and agent: what the model is asked. The name of the probe stands before it in the settings: `[h1] ...`."""
    head_first: bool = False
    """http: status and headers are sent at once, the body when the probe has ended."""
    reply: ReplyForm = "text"
    """mcp_tool: what stdout is in the tool's result; `signal` ends the server without one."""
    start_delay: Annotated[float, Meta(ge=0)] = 0
    """mcp_tool: for so many seconds the server answers nothing at all."""
    say: Say | Annotated[list[Say], Meta(min_length=1)] | None = None
    """One answer, or one per run of this probe: the last repeats."""
    raw: str | None = None
    """Stdout to the letter, instead of `say`."""
    stdout_bytes: int | None = None
    """Stdout is made this long: after `say` with blanks (still the same JSON), alone with the letter x."""
    stderr: str | None = None
    exit: Annotated[int, Meta(ge=0, le=255)] = 0
    signal: Signal | None = None
    """Dies by this signal instead of exiting."""
    sleep: Annotated[float, Meta(ge=0)] = 0
    read: Literal["all", "half", "none"] = "all"
    """half: the first 64 bytes, then stdin is closed."""
    spawn_child: Child | None = None
    ignore_term: bool = False
    missing: bool = False
    """Configured, but no file is there; http: nobody listens."""
    not_executable: bool = False
    wait_for: ProbeName | None = None
    """Waits until that probe has started (at most 3 s): proves that the two overlap."""
    wait_for_end: ProbeName | None = None
    """Waits until that probe has ended: fixes the order of completion without sleeping."""
    matcher: str | None = None
    timeout: Any = UNSET
    """As it stands in the settings; in core cases also `{seconds: 1.5}`, in whatever unit the posture says."""
    if_: str | None = msgspec.field(default=None, name="if")
    native: dict[str, Any] = {}
    """Further fields of the settings entry, as they stand."""


class Tool(Strict):
    """What the tool's program does; absent: prints "ok" and exits 0."""

    stdout: str = "ok"
    stderr: str | None = None
    exit: Annotated[int, Meta(ge=0, le=255)] = 0
    signal: Signal | None = None
    sleep: Annotated[float, Meta(ge=0)] = 0


# ---- stimulus ------------------------------------------------------------------------------------


class Call(Strict, kw_only=True):
    """A tool call. `tool` is a tool's name in the dialect; in core cases one of the neutral names."""

    tool: str
    input: Any = UNSET
    payload: str | None = None
    """The input from a payload: `claude-code/2.1.178/PreToolUse.Bash.json#/tool_input`."""
    json: str | None = None
    """The input as JSON text, read by json and not by YAML."""
    program: Tool = msgspec.field(default_factory=Tool)


class Fire(Strict):
    """An event of the session, with its fields."""

    event: str
    fields: dict[str, Any] = {}


class CaseStep(Strict):
    """Exactly one of the stimuli; calls are numbered t1, t2, ... through the whole case."""

    call: Call | None = None
    calls: list[Call] | None = None
    prompt: str | None = None
    text: str | None = None
    fire: Fire | None = None
    resume: ProbeName | None = None


class CaseSession(Strict):
    """The session; in a case file `session: null` means outside a session."""

    id: str = "s-7f3a"
    name: str | None = "main"
    interactive: bool = False
    permission_mode: str = "default"
    agent: str | None = None
    trusted: bool = True


class CasePermission(Strict):
    """The host's own verdict before hooks, and what its approver answers (null: nobody there)."""

    verdict: Verdict = "allow"
    approver: Approval | None = None


class NativeSettings(Strict, kw_only=True):
    """A settings file to the letter. `{h1}` in `text` becomes the probe's path; http: its URL, of which `{h1:port}` and
    `{h1:path}` are parts."""

    scope: Literal["managed", "user", "project", "local"] = "project"
    text: str
    encoding: Literal["utf-8", "utf-16", "latin-1"] = "utf-8"
    """How the text is written; utf-16 begins with its mark."""
    length: Annotated[int, Meta(ge=1)] | None = None
    """The file is made this many bytes long, by blanks at its end."""
    deep: Annotated[int, Meta(ge=1)] | None = None
    """`{deep}` in `text` becomes lists in lists, so many levels down."""


# ---- expectations --------------------------------------------------------------------------------


class TextMatch(Strict):
    """A text, or each text of a list, is compared as one joined by newlines."""

    equals: str | None = None
    contains: str | list[str] | None = None
    lacks: str | list[str] | None = None
    matches: str | None = None
    """A Python regular expression, searched."""
    absent: bool = False
    """No text at all."""


class StdinMatch(Strict):
    """What a probe read. `run` counts its starts from 1."""

    subset: dict[str, Any] | None = None
    """These keys with these values; objects inside are subsets too. `{project}` and `{home}` stand for the folders."""
    keys: list[str] | None = None
    """Exactly these keys at the top."""
    keys_of: dict[str, list[str]] | None = None
    """Dotted key -> exactly these keys in the object that stands there."""
    lacks: list[str] | None = None
    equals: Any = UNSET
    each: dict[str, dict[str, Any]] | None = None
    """Dotted key -> a subset of each object in the list that stands there; there must be one at least."""
    one_line: bool = False
    """One line, which a line end closes; no more and no less."""
    types: dict[str, str] | None = None
    """Dotted key -> string, integer, number, boolean, object, array, null or iso-time."""
    texts: dict[str, TextMatch] | None = None
    """Dotted key -> the text there; a number is a place in a list (-1: the last), and content blocks are their texts."""
    run: int = 1


class PromptExpect(Strict):
    """The first prompt step."""

    submitted: bool
    reason: TextMatch | None = None


class EndExpect(Strict):
    """The last turn that was to end the run."""

    cause: str | None = None
    stop_count: int | None = None


class SettingsExpect(Strict):
    """What the runner reports of its first settings file (feature settings-report)."""

    status: list[Literal["loaded", "partial", "rejected"]]
    dropped: TextMatch | None = None


class Expect(Strict):
    """What must be seen. For a single call the value stands alone; for several, by id: {t1: ..., t2: ...}."""

    started: list[ProbeName] | None = None
    """The handlers that start, in exactly this order, each start once."""
    started_any_order: list[ProbeName] | None = None
    not_started: list[ProbeName] | None = None
    starts: dict[ProbeName, int] | None = None
    overlap: list[ProbeName] | None = None
    """Each of these started before any of them ended."""
    no_overlap: list[ProbeName] | None = None
    """Each of these ended before the next in the list started."""
    tool_runs: int | dict[ProbeName, int] | None = None
    tool_input: Any = UNSET
    tool_inputs: dict[ProbeName, Any] | None = None
    hook: Decision | list[Decision] | dict[ProbeName, Decision] | None = None
    outcome: Outcome | list[Outcome] | dict[ProbeName, Outcome] | None = None
    reason: TextMatch | None = None
    result: TextMatch | None = None
    feedback: TextMatch | None = None
    stdin: dict[ProbeName, StdinMatch] | None = None
    envelope: dict[ProbeName, dict[str, Any]] | None = None
    """What a probe read, by neutral key (event, tool, input, prompt, cwd); input is a subset, `{project}` in cwd the folder."""
    env: dict[ProbeName, dict[str, TextMatch]] | None = None
    cwd: dict[ProbeName, str] | None = None
    """project, home, root, or a path below one of them: project/sub."""
    args: dict[ProbeName, list[str]] | None = None
    within: float | None = None
    """From the first handler's start to the tool's start, or to the answer; scaled on slow machines."""
    not_before: float | None = None
    alive_after: list[ProbeName] | None = None
    """Exactly these handlers' process trees are alive after the answer and the dialect's kill grace."""
    to_model: TextMatch | None = None
    to_user: TextMatch | None = None
    to_terminal: TextMatch | None = None
    prompt: PromptExpect | None = None
    raised: TextMatch | None = None
    context: dict[str, Any] | None = None
    end: EndExpect | None = None
    settings: SettingsExpect | None = None


class PostureChoice(Strict, kw_only=True):
    """What is expected beyond `expect`, by what the posture says at `on`: failure.exit, order, on_veto, ..."""

    on: str
    is_: Annotated[dict[str, Expect], Meta(min_length=1)] = msgspec.field(name="is")
    """Word -> expectation; with another word the case does not apply."""


# ---- the case and its file -----------------------------------------------------------------------


class Case(Strict, kw_only=True):
    """One case. Its id is for life: dialect/family/what-it-shows."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9-]+/[a-z0-9-]+/[a-z0-9]+(-[a-z0-9]+)*$")]
    rule: Slug
    why: Annotated[str, Meta(min_length=10)]
    versions: list[str] = []
    """The dialect versions in which it is asked; empty: those of its rule."""
    needs: list[str] = []
    """Features that a runner must have declared, beyond those that the case's form implies."""
    scope: Literal["loop", "chain"] = "chain"
    """loop: judged only for runners that enforce (scope loop)."""
    tags: list[Literal["slow", "smoke"]] = []
    handlers: list[Handler] = []
    settings: list[NativeSettings] | None = None
    """Instead of the settings that the dialect writes for the handlers."""
    disabled: bool = False
    """The settings file that the dialect writes has its switch off for all handlers."""
    links: dict[Annotated[str, Meta(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*\.(sh|py)$")], ProbeName] = {}
    """Files of the project that are a handler as well: `ci/guard.sh` is it, `ci/guard.py` becomes it when Python runs it."""
    files: dict[FileName, str] = {}
    """Files of the project, by their paths in it; `{h1}` in a text is the probe's path, `{server}` its MCP server's entry."""
    plugins: list[FileName] = []
    """Folders of the project, made by `files`, that are loaded as plugins."""
    call: Call | None = None
    calls: list[Call] | None = None
    prompt: str | None = None
    fire: Fire | None = None
    steps: list[CaseStep] | None = None
    session: CaseSession | None = msgspec.field(default_factory=CaseSession)
    permission: CasePermission = msgspec.field(default_factory=CasePermission)
    env: dict[str, str] = {}
    expect: Expect
    by_posture: list[PostureChoice] = []
    """In core cases: expectations that depend on the posture; all that apply hold together."""
    twin: str | None = None
    """The case with the same tool that does run: proves that this one is not vacuous."""
    killed_by: Annotated[list[Slug], Meta(min_length=1)]

    def stimuli(self) -> list[CaseStep]:
        """The stimulus in its general form, whatever short form the file used."""
        if self.steps is not None:
            return self.steps
        return [CaseStep(call=self.call, calls=self.calls, prompt=self.prompt, fire=self.fire)]

    def tool_calls(self) -> list[Call]:
        """All tool calls of the case in order: t1, t2, ..."""
        return [call for step in self.stimuli() for call in (step.calls or ([step.call] if step.call else []))]

    def naps(self) -> float:
        """The longest that any one of its probes, or a server of theirs, sleeps, in seconds."""
        sleeps = [max(h.sleep, h.start_delay) for h in self.handlers] + [
            h.spawn_child.sleep for h in self.handlers if h.spawn_child
        ]
        return max([*sleeps, *(call.program.sleep for call in self.tool_calls())], default=0.0)

    @property
    def neutral(self) -> bool:
        """Written in neutral words, for every dialect: a core case."""
        return self.id.startswith("core/")

    @property
    def sleepy(self) -> bool:
        """Mostly waits: belongs into the wide lane."""
        return self.naps() >= SLEEPY

    @property
    def slow(self) -> bool:
        """Needs --slow."""
        return "slow" in self.tags


class CaseFile(Strict, kw_only=True):
    """One file: one family of one dialect."""

    format: Literal[1]
    dialect: Slug
    family: Slug
    about: str = ""
    rules: dict[Slug, Rule] = {}
    cases: list[Case] = []


def given(value: Any) -> bool:
    """Whether a field that may hold null was written at all."""
    return value is not UNSET and not isinstance(value, UnsetType)
