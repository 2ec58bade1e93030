"""A case of the right form may still prove nothing, or contradict itself: what is checked beyond its types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from . import cases
from .cases import Case, Expect, TextMatch, given
from .mistakes import suggestion
from .modelserver import KINDS as MODEL_KINDS
from .protocol import FEATURES, Posture

OF_A_PROCESS = ("exit", "stderr", "read", "spawn_child", "ignore_term", "not_executable")
"""Fields that nobody sees of a handler that is asked over a connection."""
OF_A_SERVER = {"status": ("http", *MODEL_KINDS), "headers": ("http", *MODEL_KINDS), "head_first": ("http",)}
"""Fields -> the kinds of handlers that have them."""
PLAIN = cases.Handler()

Keys = tuple[str | int, ...]
Finding = tuple[Keys, str]
"""Below which keys of the case, and what is wrong there."""

STIMULI = ("call", "calls", "prompt", "fire", "steps")
STEPS = ("call", "calls", "prompt", "text", "fire", "resume")
ENVELOPE = ("event", "tool", "input", "prompt", "cwd")
TOOLS = ("shell", "write", "read")
SERVER_TOOL = "mcp__"
"""How the name of a tool begins that is the same in every dialect."""


def findings(case: Case, dialect: str, family: str) -> Iterator[Finding]:
    """What in this case makes no sense."""
    if not case.id.startswith(f"{dialect}/{family}/"):
        yield ("id",), f'the id must begin with "{dialect}/{family}/", which its file names'
    yield from _words(case)
    yield from _stimulus(case)
    yield from _handlers(case)
    yield from _names(case)
    yield from _posture(case)
    yield from _neutral(case)
    everything = list(expectations(case))
    for keys, expect in everything:
        yield from _texts(expect, keys)
    # an empty expectation for one word says "no more than the rest", so only all of them together count
    if not any(_set_fields(expect) for _, expect in everything):
        yield ("expect",), "nothing is expected: such a case always passes"
    if case.twin == case.id:
        yield ("twin",), "a case cannot be its own twin"
    if case.naps() > cases.SLOW and not case.slow:
        yield ("tags",), f'a probe sleeps {case.naps():g} s: beyond {cases.SLOW:g} s a case must have the tag "slow"'


def expectations(case: Case) -> Iterator[tuple[Keys, Expect]]:
    """Every expectation of the case with where it is written: the plain one, then those by posture."""
    yield ("expect",), case.expect
    for number, choice in enumerate(case.by_posture):
        for word, expect in choice.is_.items():
            yield ("by_posture", number, "is", word), expect


def forbids_running(case: Case) -> Keys | None:
    """Where the case says, if at all, that something does not run: such a case needs a twin.

    The last key is `tool_runs` or `not_started`.
    """
    found: dict[str, Keys] = {}
    for keys, expect in expectations(case):
        counts = expect.tool_runs.values() if isinstance(expect.tool_runs, dict) else [expect.tool_runs]
        if any(count == 0 for count in counts):
            found.setdefault("tool_runs", (*keys, "tool_runs"))
        if expect.not_started:
            found.setdefault("not_started", (*keys, "not_started"))
    return found.get("tool_runs") or found.get("not_started")


def lets_run(case: Case) -> bool:
    """Whether a tool is expected to run."""
    counts = [expect.tool_runs for _, expect in expectations(case)]
    return any(any(count.values()) if isinstance(count, dict) else count for count in counts)


@cache
def posture_words() -> dict[str, tuple[str, ...]]:
    """Dotted path into a posture -> the words that may stand there; none where it is a number."""
    import msgspec.inspect as mi  # only for cases that ask for the posture

    def walk(info: mi.Type, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        if isinstance(info, mi.StructType):
            for each in info.fields:
                yield from walk(each.type, f"{path}.{each.encode_name}" if path else each.encode_name)
        else:
            yield path, tuple(str(value) for value in info.values) if isinstance(info, mi.LiteralType) else ()

    return dict(walk(mi.type_info(Posture), ""))


def _posture(case: Case) -> Iterator[Finding]:
    for number, choice in enumerate(case.by_posture):
        keys: Keys = ("by_posture", number)
        known = posture_words()
        if choice.on not in known:
            yield (*keys, "on"), f'"{choice.on}" is no place in a posture; {suggestion(choice.on, list(known))}'
            continue
        for word in choice.is_:
            if known[choice.on] and word not in known[choice.on]:
                yield (*keys, "is", word), f'"{word}" is no word for {choice.on}; {suggestion(word, known[choice.on])}'


def _words(case: Case) -> Iterator[Finding]:
    for number, feature in enumerate(case.needs):
        if feature not in FEATURES:
            yield ("needs", number), f'"{feature}" is no feature; {suggestion(feature, list(FEATURES))}'


def _stimulus(case: Case) -> Iterator[Finding]:
    used = [name for name in STIMULI if getattr(case, name) is not None]
    if len(used) != 1:
        yield (used[1] if used else "id",), f"a case has exactly one of {', '.join(STIMULI)}; this one has {_listed(used)}"
    calls = 0
    for number, step in enumerate(case.steps or []):
        inside = [name for name in STEPS if getattr(step, name) is not None]
        if len(inside) != 1:
            yield ("steps", number), f"a step has exactly one of {', '.join(STEPS)}; this one has {_listed(inside)}"
        if step.resume is not None and step.resume not in {f"t{n}" for n in range(1, calls + 1)}:
            yield ("steps", number, "resume"), f'"{step.resume}" is no call of an earlier step'
        calls += len(step.calls or []) + (step.call is not None)
    for name in ("calls", "steps"):
        if getattr(case, name) == []:
            yield (name,), f'"{name}" must not be empty'
    for keys, call in call_places(case):
        forms = [name for name in ("input", "payload", "json") if given(getattr(call, name)) and getattr(call, name) is not None]
        if len(forms) > 1:
            yield (*keys, forms[1]), f"a call has its input from one of input, payload, json; this one has {_listed(forms)}"


def call_places(case: Case) -> Iterator[tuple[Keys, cases.Call]]:
    """All tool calls, each with where it is written."""
    if case.call is not None:
        yield ("call",), case.call
    for number, call in enumerate(case.calls or []):
        yield ("calls", number), call
    for place, step in enumerate(case.steps or []):
        if step.call is not None:
            yield ("steps", place, "call"), step.call
        for number, call in enumerate(step.calls or []):
            yield ("steps", place, "calls", number), call


def _handlers(case: Case) -> Iterator[Finding]:
    for number, handler in enumerate(case.handlers):
        keys: Keys = ("handlers", number)
        if handler.say is not None and handler.raw is not None:
            yield (*keys, "raw"), "`raw` is stdout to the letter and stands instead of `say`, not beside it"
        yield from _kind(handler, keys)
        if handler.signal is not None and handler.exit != 0:
            yield (*keys, "signal"), "a handler that dies by a signal has no exit code: leave `exit` or `signal` away"
        says = handler.say if isinstance(handler.say, list) else [handler.say] if handler.say else []
        for say in says:
            alone = next((name for name in ("native", "text", "use") if getattr(say, name) is not None), None)
            if alone is not None and len(_set_fields(say)) > 1:
                yield (*keys, "say"), f"`{alone}` stands instead of all other fields of an answer"
            if alone in ("text", "use") and handler.kind not in MODEL_KINDS:
                yield (*keys, "say"), f"`{alone}` is what a model says: for handlers of kind {' or '.join(MODEL_KINDS)}"
        for field, usual in (("reply", "text"), ("start_delay", 0)):
            if getattr(handler, field) != usual and handler.kind != "mcp_tool":
                yield (*keys, field), f"`{field}` is what an MCP server does: for handlers of kind mcp_tool"
        if handler.prompt is not None and handler.kind not in MODEL_KINDS:
            yield (*keys, "prompt"), f"`prompt` is what a model is asked: for handlers of kind {' or '.join(MODEL_KINDS)}"


def _kind(handler: cases.Handler, keys: Keys) -> Iterator[Finding]:
    """Every field means something for a handler of this kind."""
    written = {field for field in (*OF_A_PROCESS, *OF_A_SERVER) if getattr(handler, field) != getattr(PLAIN, field)}
    if handler.kind != "command":
        for field in OF_A_PROCESS:
            if field in written:
                instead = "a failure is a `status` of 300 or more, or a `signal`" if field == "exit" else "leave it away"
                yield (*keys, field), f"nobody sees `{field}` of a handler of kind {handler.kind}: {instead}"
        if handler.missing and handler.kind != "http":
            yield (*keys, "missing"), f"a handler of kind {handler.kind} cannot be missing: that is for command and http"
    for field, kinds in OF_A_SERVER.items():
        if handler.kind not in kinds and field in written:
            yield (*keys, field), f"`{field}` is for handlers of kind {' or '.join(kinds)}, not {handler.kind}"


def _names(case: Case) -> Iterator[Finding]:
    """Every probe that is named is there."""
    handlers = [f"h{number}" for number in range(1, len(case.handlers) + 1)]
    tools = [f"t{number}" for number in range(1, len(case.tool_calls()) + 1)]
    everyone = [*handlers, *tools]
    scopes = [native.scope for native in case.settings or []]
    for number, scope in enumerate(scopes):
        if scope in scopes[:number]:
            yield ("settings", number), f"a second settings file of scope {scope}: there is one for each scope"
    if case.disabled and case.settings is not None:
        yield ("disabled",), "`settings` are written to the letter: the switch stands there, or nowhere"
    for path, name in case.links.items():
        if name not in handlers:
            yield ("links", path), _nobody(name, handlers)
    for number, folder in enumerate(case.plugins):
        if not any(path.startswith(f"{folder}/") for path in case.files):
            yield ("plugins", number), f'there is no file in "{folder}"; name the files of the plugin in `files`'
    for number, handler in enumerate(case.handlers):
        for field in ("wait_for", "wait_for_end"):
            name = getattr(handler, field)
            if name == f"h{number + 1}":
                yield ("handlers", number, field), "a handler cannot wait for itself"
            elif name is not None and name not in everyone:
                yield ("handlers", number, field), _nobody(name, everyone)
    for keys, expect in expectations(case):
        for field in ("started", "started_any_order", "not_started", "overlap", "no_overlap", "alive_after"):
            for number, name in enumerate(getattr(expect, field) or []):
                if name not in everyone:
                    yield (*keys, field, number), _nobody(name, everyone)
        for field in ("starts", "stdin", "envelope", "env", "cwd", "args"):
            for name in getattr(expect, field) or {}:
                if name not in everyone:
                    yield (*keys, field, name), _nobody(name, everyone)
        for field in ("tool_runs", "tool_inputs", "hook", "outcome"):
            value = getattr(expect, field)
            for name in value if isinstance(value, dict) else []:
                if name not in tools:
                    yield (*keys, field, name), _nobody(name, tools)
        for name, wanted in (expect.envelope or {}).items():
            yield from _envelope(wanted, (*keys, "envelope", name))
        for number, name in enumerate(expect.not_started or []):
            if name in [*(expect.started or []), *(expect.started_any_order or [])]:
                yield (*keys, "not_started", number), f'"{name}" is expected to start and not to start'


def _envelope(wanted: dict[str, Any], keys: Keys) -> Iterator[Finding]:
    if not wanted:
        yield keys, "an envelope without any key always passes"
    for key, value in wanted.items():
        if key not in ENVELOPE:
            yield (*keys, key), f'"{key}" is no neutral key of an envelope; {suggestion(key, list(ENVELOPE))}'
        elif key != "input" and not isinstance(value, str):
            yield (*keys, key), f'"{key}" of an envelope is a text'


def _neutral(case: Case) -> Iterator[Finding]:
    """A core case says nothing in the words of one dialect."""
    if not case.neutral:
        return
    own = "a core case has neutral words only"
    for keys, call in call_places(case):
        if call.tool not in TOOLS and not call.tool.startswith(SERVER_TOOL):
            yield (*keys, "tool"), f'{own}: tools are {", ".join(TOOLS)} and {SERVER_TOOL}SERVER__TOOL, not "{call.tool}"'
    if case.settings is not None:
        yield ("settings",), f"{own}: its settings are written from the handlers"
    if case.links:
        yield ("links",), f"{own}: its handlers have no other names"
    for field in ("files", "plugins"):
        if getattr(case, field):
            yield (field,), f"{own}: its handlers stand in the settings only"
    for number, handler in enumerate(case.handlers):
        for field in ("if_", "native"):
            if getattr(handler, field):
                yield ("handlers", number, field.rstrip("_")), f'{own}: "{field.rstrip("_")}" is a field of some dialects'
        says = handler.say if isinstance(handler.say, list) else [handler.say] if handler.say else []
        if any(say.native is not None for say in says):
            yield ("handlers", number, "say"), f"{own}: `native` is an answer to the letter"
    for keys, expect in expectations(case):
        if expect.stdin is not None:
            yield (*keys, "stdin"), f"{own}: `envelope` says what a handler reads, by {', '.join(ENVELOPE)}"


def _texts(value: Any, keys: Keys) -> Iterator[Finding]:
    """Every text expectation demands something, and its expression can be compiled."""
    if isinstance(value, TextMatch):
        if not _set_fields(value):
            yield keys, "a text expectation without any demand always passes"
        if value.matches is not None:
            try:
                re.compile(value.matches)
            except (re.error, OverflowError, RecursionError) as error:
                yield (*keys, "matches"), f"no regular expression: {error}"
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | cases.Strict):
                yield from _texts(item, (*keys, key))
    elif isinstance(value, cases.Strict):
        for name in value.__struct_fields__:
            item = getattr(value, name)
            if isinstance(item, dict | cases.Strict):  # most are not, and a generator for each would cost more than all else
                yield from _texts(item, (*keys, name))


def _set_fields(value: cases.Strict) -> list[str]:
    """The fields that were written with something other than their default."""
    values = {name: getattr(value, name) for name in value.__struct_fields__}
    # by identity: a demanded 0 is a demand, and equals False
    return [name for name, each in values.items() if given(each) and each is not None and each is not False]


def _nobody(name: str, known: list[str]) -> str:
    return f'"{name}" is no probe of this case; it has {", ".join(known) or "none"}'


def _listed(names: list[str]) -> str:
    return " and ".join(names) or "none"
