"""A case becomes a world: folders, probes, settings files, and the request that asks the runner about it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from . import modelserver
from .applicability import event_of, says
from .cases import Call, Case, Handler, NativeSettings, Tool, given
from .dialects import Answer, Dialect, Placed
from .errors import DialectError, HarnessError
from .probe import Act, ProbeKit
from .protocol import Permission, Run, Session, Settings, Step, ToolCall, Turn
from .protocol import World as RequestWorld

LARGEST_INLINE = 1_000_000
"""An input with more characters than this goes into a file."""
ASKED_BY_HTTP = frozenset({"http", "prompt", "agent"})
"""The kinds of handlers that answer behind the harness's HTTP server."""


@dataclass(frozen=True, slots=True)
class World:
    """A world that stands ready. `probes` is the folder of the ledger."""

    root: Path
    project: Path
    home: Path
    probes: Path
    request: Run
    handlers: tuple[str, ...]
    token: str | None = None
    """Its place behind the server of the harness, where it has handlers that are no command."""


def lay_out(case: Case, dialect: Dialect, version: str, asked: str, kit: ProbeKit, folder: Path) -> World:
    """Make the world of a case below `folder`. `asked` is the dialect name that the request carries.

    Names in it are opaque: a runner must not be able to switch on what is being tested.
    Raises HarnessError when the folders cannot be made, DialectError for what the dialect cannot say.
    """
    name = secrets.token_hex(10)
    token = kit.loopback.token() if any(handler.kind in ASKED_BY_HTTP for handler in case.handlers) else None
    root = Path(f"{folder}/w{name[:12]}")
    project, home, probes = Path(f"{root}/project"), Path(f"{root}/home"), Path(f"{root}/p")
    try:
        for made in (root, project, home, probes):
            os.mkdir(made)
        commands = _place_handlers(case, dialect, version, kit, probes, token)
        server = _list_server(commands, kit, project, probes)
        settings = _write_settings(case, dialect, version, commands, project, home)
        _link(case.links, commands, project)
        _write_files(case.files, commands, project, server)
        steps = _steps(case, kit, probes, dialect)
    except OSError as error:
        raise HarnessError(f"the world of {case.id} cannot be laid out: {error}", f"look at the free space of {folder}") from None
    session, env = case.session, dict(case.env)
    if token is not None and any(handler.kind in modelserver.KINDS for handler in case.handlers):
        env = {**modelserver.environment(kit.loopback.base(token)), **env}
    request = Run(
        id=f"r{name[12:]}",
        dialect=asked,
        world=RequestWorld(root=str(root), project=str(project), home=str(home), cwd=str(project), env=env),
        settings=settings,
        plugins=[f"{project}/{folder}" for folder in case.plugins] or UNSET,
        session=None
        if session is None
        else Session(
            id=session.id,
            name=session.name,
            interactive=session.interactive,
            permission_mode=session.permission_mode,
            agent=session.agent,
            trusted=session.trusted,
        ),
        permission=Permission(verdict=case.permission.verdict, approver=case.permission.approver),
        steps=steps,
    )
    return World(root, project, home, probes, request, tuple(commands), token)


def _place_handlers(
    case: Case, dialect: Dialect, version: str, kit: ProbeKit, probes: Path, token: str | None
) -> dict[str, Placed]:
    default = event_of(case.stimuli()[0], dialect)
    placed = {}
    for number, handler in enumerate(case.handlers, 1):
        name = f"h{number}"
        event = handler.event or default
        act = _act_of_handler(handler, case, name, event, dialect, version)
        named = _with_its_tool(handler, dialect) if case.neutral else handler
        address = str(kit.place(probes, name, act))
        if handler.kind in ASKED_BY_HTTP and token is not None:
            address = _behind_the_server(handler, name, address, kit, token)
        placed[name] = Placed(named, name, event, address)
    return placed


def _behind_the_server(handler: Handler, name: str, program: str, kit: ProbeKit, token: str) -> str:
    from .loopback import Route  # as in `ProbeKit`: only for those who have such a handler

    if handler.kind == "http" and handler.missing:
        return kit.loopback.nowhere(token, name)
    url = kit.loopback.serve(token, name, Route(program, handler.status, handler.headers, handler.head_first))
    return modelserver.marker(name) if handler.kind in modelserver.KINDS else url


def _list_server(handlers: dict[str, Placed], kit: ProbeKit, project: Path, probes: Path) -> str:
    """The project's MCP server, where handlers are its tools; gives its entry, for other files that list servers."""
    tools = {name: placed for name, placed in handlers.items() if placed.handler.kind == "mcp_tool"}
    if not tools:
        return ""
    delay = max(placed.handler.start_delay for placed in tools.values())
    replies = {name: (placed.command, placed.handler.reply) for name, placed in tools.items()}
    return json.dumps(kit.servers.serve(project, probes, replies, delay))


def _with_its_tool(handler: Handler, dialect: Dialect) -> Handler:
    """A neutral tool name as matcher becomes the dialect's own."""
    if handler.matcher is None:
        return handler
    return msgspec.structs.replace(handler, matcher=dialect.tools.get(handler.matcher, handler.matcher))


def _act_of_handler(handler: Handler, case: Case, name: str, event: str, dialect: Dialect, version: str) -> Act:
    if handler.kind in modelserver.KINDS:
        answers = [Answer(stdout=modelserver.says(say, handler.kind)) for say in says(handler)] or [Answer()]
    else:
        answers = [dialect.answer(say, event, version) for say in says(handler)] or [Answer()]
    if handler.raw is not None:
        answers = [Answer(stdout=handler.raw)]
    answers = [
        Answer(
            stdout=a.stdout,
            stderr=a.stderr if handler.stderr is None else handler.stderr,
            exit=handler.exit or a.exit,
        )
        for a in answers
    ]
    return Act(
        answers=tuple(answers),
        stdout_bytes=handler.stdout_bytes,
        signal=handler.signal,
        sleep=handler.sleep,
        read=handler.read,
        child=handler.spawn_child,
        ignore_term=handler.ignore_term,
        wait_for=handler.wait_for,
        wait_for_end=handler.wait_for_end,
        record=_recorded(case, name),
        missing=handler.missing,
        not_executable=handler.not_executable,
    )


def _act_of_tool(tool: Tool, record: frozenset[str]) -> Act:
    answer = Answer(stdout=tool.stdout, stderr=tool.stderr or "", exit=tool.exit)
    return Act(answers=(answer,), signal=tool.signal, sleep=tool.sleep, record=record)


def _recorded(case: Case, name: str) -> frozenset[str]:
    """What a probe is to note at its start, because the case asks for it."""
    return frozenset(what for what in ("env", "cwd", "args") if name in (getattr(case.expect, what) or {}))


def _write_settings(
    case: Case, dialect: Dialect, version: str, handlers: dict[str, Placed], project: Path, home: Path
) -> list[Settings]:
    if case.settings is None:
        text = dialect.settings(list(handlers.values()), version)
        written = [("project", (_switched_off(text, dialect) if case.disabled else text).encode("utf-8", "surrogateescape"))]
    else:
        written = [(native.scope, _content(native, handlers)) for native in case.settings]
    places = {"user": f"{home}", "managed": f"{project.parent}/managed"}
    listed = []
    for scope, content in written:
        if scope not in dialect.settings_files:
            raise DialectError(
                f"{dialect.name} has no settings file of scope {scope}", f"it has {', '.join(dialect.settings_files)}"
            )
        path = f"{places.get(scope, f'{project}')}/{dialect.settings_files[scope]}"
        with suppress(FileExistsError):
            os.mkdir(os.path.dirname(path))
        with open(path, "wb", buffering=0) as file:
            file.write(content)
        listed.append(Settings(scope=scope, path=path))  # type: ignore[arg-type]
    return listed


def _content(native: NativeSettings, handlers: dict[str, Placed]) -> bytes:
    text = _with_probes(native.text, handlers)
    if native.deep is not None:
        text = text.replace("{deep}", "[" * native.deep + "]" * native.deep)
    content = text.encode(native.encoding, "surrogateescape")
    return content if native.length is None else content.ljust(native.length)


def _switched_off(text: str, dialect: Dialect) -> str:
    if dialect.off is None:
        raise DialectError(f"{dialect.name} has no switch for all handlers")
    return json.dumps({**json.loads(text), **dialect.off}, indent=2)


def _link(links: dict[str, str], handlers: dict[str, Placed], project: Path) -> None:
    for name, handler in links.items():
        path, command = project / name, handlers[handler].command
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            path.write_text(f"import os, sys\nos.execv({command!r}, [{command!r}, *sys.argv[1:]])\n", "ascii")
        else:
            path.symlink_to(command)


def _write_files(files: dict[str, str], handlers: dict[str, Placed], project: Path, server: str) -> None:
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_with_probes(text, handlers).replace("{server}", server), "utf-8")


def _with_probes(text: str, handlers: dict[str, Placed]) -> str:
    for name, placed in handlers.items():
        text = text.replace("{" + name + "}", placed.command)
        if placed.handler.kind == "http":
            url = urlsplit(placed.command)
            text = text.replace("{" + name + ":port}", str(url.port)).replace("{" + name + ":path}", url.path)
    return text


def _steps(case: Case, kit: ProbeKit, probes: Path, dialect: Dialect) -> list[Step]:
    steps: list[Step] = []
    calls: dict[str, ToolCall] = {}
    for stimulus in case.stimuli():
        if stimulus.fire is not None:
            steps.append(Step(event=stimulus.fire.event, fields=stimulus.fire.fields))
        elif stimulus.prompt is not None:
            steps.append(Step(prompt=stimulus.prompt))
        elif stimulus.text is not None:
            steps.append(Step(turn=Turn(text=stimulus.text)))
        elif stimulus.resume is not None:
            if stimulus.resume not in calls:
                raise DialectError(f"{case.id}: resume names {stimulus.resume}, which is no earlier call")
            steps.append(Step(resume=calls[stimulus.resume]))
        else:
            batch = []
            for call in stimulus.calls or ([stimulus.call] if stimulus.call else []):
                name = f"t{len(calls) + 1}"
                program = kit.place(probes, name, _act_of_tool(call.program, _recorded(case, name)))
                calls[name] = _tool_call(call, name, str(program), probes, dialect)
                batch.append(calls[name])
            steps.append(Step(turn=Turn(tool_calls=batch)))
    return steps


def _tool_call(call: Call, name: str, program: str, probes: Path, dialect: Dialect) -> ToolCall:
    value: Any = call.input if given(call.input) else {}
    tool = dialect.tools.get(call.tool, call.tool)
    text = json.dumps(value)
    if len(text) > LARGEST_INLINE or ("\\ud" in text and _has_lone_surrogate(value)):
        path = f"{probes}/{name}.input.json"
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return ToolCall(id=name, name=tool, input=None, program=program, input_file=path)
    return ToolCall(id=name, name=tool, input=value, program=program)


def _has_lone_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def clear_away(world: World, kit: ProbeKit) -> None:
    """Remove a world. Most hold only what we wrote and what the probes did: that needs no walk through a tree."""
    if world.token is not None:
        kit.loopback.forget(world.token)
    settings = dict.fromkeys(os.path.dirname(settings.path) for settings in world.request.settings)
    try:
        for place in (*settings, f"{world.probes}", f"{world.home}", f"{world.project}"):
            for name in os.listdir(place):
                os.unlink(f"{place}/{name}")
            os.rmdir(place)
        os.rmdir(world.root)
    except OSError:
        shutil.rmtree(world.root, ignore_errors=True)
