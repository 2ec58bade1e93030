"""A row becomes a world: folders, settings files, the program that stands in for the tools, and the request."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import UNSET

from .. import modelserver
from ..errors import HarnessError
from ..mcpserver.host import CONFIGURATION, McpHost
from ..protocol import Permission, Run, Session, Settings, Step, ToolCall, Turn, World
from . import expressible, host
from .endpoint import Endpoint
from .model import Model, Models
from .rows import Row, filled

PROGRAM = "tool"
"""The program that stands in for the tools: one file in the folder of all scenes, to which each call has a link."""

OWN_FILES = (
    ("managed_settings", "managed", "managed", "managed-settings.json"),
    ("user_settings", "user", "home", ".claude/settings.json"),
    ("project_settings", "project", "project", ".claude/settings.json"),
    ("local_settings", "local", "project", ".claude/settings.local.json"),
)
"""Field -> scope, folder and file, the farthest first."""

SURROGATES = "\\ud"

LAB_TOOLS = Path(__file__).with_name("lab_tools.py")
LOG_OF_SERVER = "mcp.jsonl"
"""The file among the traces in which rows have their server note what it is asked."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A row that stands ready to be asked about. `log` is the folder in which its handlers leave their traces."""

    row: Row
    version: str
    root: Path
    project: Path
    log: Path
    request: Run
    notes: Path
    """The folder in which the tools note their inputs."""
    model: Model | None = None
    """Whom its handlers ask, where some ask a model."""
    endpoint: Endpoint | None = None
    """What the row's http handlers ask, where it has some."""


def place_tool(folder: Path) -> None:
    """Write the program of the tools, before any process starts: what is open for writing cannot be started."""
    text = Path(__file__).with_name("tool.py").read_text("utf-8")
    program = folder / PROGRAM
    program.write_text(f"#!{sys.executable} -IS\n{text}", "utf-8")
    program.chmod(0o755)


def lay_out(row: Row, version: str, asked: str, folder: Path, number: int, models: Models, servers: McpHost) -> Scene:
    """Make the world of a row below `folder`, where `place_tool` was; `asked` is the dialect that the request names.

    `number` sets it apart from all others: some commands are nearly as long as one can be, so paths are short.
    Raises HarnessError.
    """
    name = secrets.token_hex(10)
    endpoint = None
    root = Path(f"{folder}/{number:x}")
    places = {
        "project": root / "proj",
        "home": root / "home",
        "log": root / "log",
        "managed": root / "managed",
        "notes": root / "n",
    }
    try:
        for place in places.values():
            place.mkdir(parents=True)
        words = {"@W@": str(root), "@P@": str(places["project"]), "@PY@": sys.executable, "@L@": str(folder)}
        endpoint = _endpoint(row.fields, words)
        if expressible.asks_servers(row.fields):
            servers.starter(LAB_TOOLS, expressible.SERVER_PROGRAM)
        settings = _settings(row.fields, words, places, root)
        settings += _files(row.fields, words, places, {found.path for found in settings})
        _list_servers(row.fields, words, places["project"])
        calls = _calls(row.fields, words)
        stands = host.of(row, calls, str(places["project"]))
        if stands.rules:
            settings.append(_write("local", root / "allowed.json", json.dumps({"permissions": {"allow": stands.rules}})))
        steps = _steps(row.fields, words, places)
    except OSError as error:
        if endpoint is not None:
            endpoint.close()
        raise HarnessError(
            f"the scene of {row.name} cannot be laid out: {error}", f"look at the free space of {folder}"
        ) from None
    model = models.serve(filled(row.fields.get("script") or {}, words)) if expressible.asks_a_model(row.fields) else None
    env = {key: str(value) for key, value in filled(row.fields.get("env") or {}, words).items()}
    if model is not None:
        env = {**modelserver.environment(model.url), **env}
    request = Run(
        id=f"r{name[:8]}",
        dialect=asked,
        world=World(
            root=str(root),
            project=str(places["project"]),
            home=str(places["home"]),
            cwd=str(places["project"]),
            env=env,
        ),
        settings=settings,
        session=Session(id=f"s{name[8:]}", permission_mode=stands.mode),
        permission=Permission(verdict=stands.verdict, approver=_approver(row.fields)),
        plugins=[f"{root}/{folder}" for folder in expressible.plugins(row.fields)] or UNSET,
        steps=steps,
    )
    return Scene(row, version, root, places["project"], places["log"], request, places["notes"], model, endpoint)


def clear_away(scene: Scene, models: Models) -> None:
    """Remove the world."""
    if scene.model is not None:
        models.forget(scene.model)
    if scene.endpoint is not None:
        scene.endpoint.close()
    shutil.rmtree(scene.root, ignore_errors=True)


def _endpoint(fields: Mapping[str, Any], words: dict[str, str]) -> Endpoint | None:
    """The server that a row's handlers ask; its port becomes one of the words."""
    answers = (fields.get("script") or {}).get("http")
    if answers is None and expressible.PORT not in json.dumps(fields):
        return None
    endpoint = Endpoint()
    words[expressible.PORT] = str(endpoint.port)
    endpoint.answers = filled(answers or {}, words)
    return endpoint


def _approver(fields: Mapping[str, Any]) -> Any:
    return expressible.approval_of(fields)[0] if "--permission-prompt-tool" in fields.get("args", ()) else None


def _settings(fields: Mapping[str, Any], words: Mapping[str, str], places: Mapping[str, Path], root: Path) -> list[Settings]:
    """The settings files; the one that an option names is the nearest of all."""
    args = list(fields.get("args", ()))
    sources = args[args.index("--setting-sources") + 1].split(",") if "--setting-sources" in args else None
    listed = []
    for field, scope, place, file in OWN_FILES:
        if fields.get(field) is not None:
            written = _write(scope, places[place] / file, json.dumps(filled(fields[field], words)))
            if sources is None or scope == "managed" or scope in sources:
                listed.append(written)
    option = root / "settings.json"
    whole = next((name for name in expressible.WHOLE_SETTINGS if name in fields), None)
    if whole is not None:
        data = expressible.whole_settings(whole, fields[whole])
        for word, meant in words.items():
            data = data.replace(word.encode(), meant.encode())
        option.write_bytes(data)
        listed.append(Settings(scope="local", path=str(option)))
    elif fields["settings"]:
        listed.append(_write("local", option, json.dumps(filled(fields["settings"], words))))
    return listed


def _write(scope: Any, path: Path, text: str) -> Settings:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return Settings(scope=scope, path=str(path))


def _files(fields: Mapping[str, Any], words: Mapping[str, str], places: Mapping[str, Path], known: set[str]) -> list[Settings]:
    """The other files of a row; those among them that are settings of the program are listed."""
    scopes = {
        str(places["home"] / ".claude/settings.json"): "user",
        str(places["project"] / ".claude/settings.json"): "project",
        str(places["project"] / ".claude/settings.local.json"): "local",
    }
    listed = []
    for name, (text, mode) in (fields.get("files") or {}).items():
        path = os.path.normpath(f"{places['project']}/{filled(name, words)}")
        if not path.startswith(f"{places['project'].parent}/"):
            raise HarnessError(f"a file of the row leads out of its world: {name}", "keep the paths in it below @W@")
        written = _write("project", Path(path), filled(text, words))
        os.chmod(path, mode)
        if path in scopes and path not in known:
            listed.append(Settings(scope=scopes[path], path=written.path))  # type: ignore[arg-type]
    return listed


def _list_servers(fields: Mapping[str, Any], words: Mapping[str, str], project: Path) -> None:
    """The servers that an option names are listed in the project, beside its own: the protocol has no such option."""
    servers: dict[str, Any] = {}
    for name in expressible.server_files(fields):
        try:
            servers |= json.loads(filled(fields["files"][name][0], words))["mcpServers"]
        except (ValueError, TypeError, KeyError):
            continue
    if servers:
        (project / CONFIGURATION).write_text(json.dumps({"mcpServers": servers}), "utf-8")


def _calls(fields: Mapping[str, Any], words: Mapping[str, str]) -> list[tuple[str, Any]]:
    return [(block["tool"], filled(block.get("input"), words)) for turn in fields["turns"] for block in turn if "tool" in block]


def _steps(fields: Mapping[str, Any], words: Mapping[str, str], places: Mapping[str, Path]) -> list[Step]:
    args = fields.get("args", ())
    steps = [Step(event="Setup", fields={"trigger": word[2:]}) for word in ("--init", "--maintenance") if word in args]
    steps.append(Step(event="SessionStart", fields={"source": "startup"}))
    memory = places["project"] / "CLAUDE.md"
    if memory.exists():
        about = {"file_path": str(memory), "memory_type": "Project", "load_reason": "session_start"}
        steps.append(Step(event="InstructionsLoaded", fields=about))
    steps.append(Step(prompt=filled(fields.get("prompt") or "go", words)))
    number = 0
    for turn in fields["turns"]:
        batch = []
        for block in turn:
            if "tool" in block:
                number += 1
                batch.append(_call(f"t{number}", block["tool"], filled(block.get("input"), words), places["notes"]))
        steps.append(Step(turn=Turn(tool_calls=batch) if batch else Turn(text=_text(turn))))
    # when its turns are used up, the model says that it is done
    steps.append(Step(turn=Turn(text="done")))
    return [*steps, Step(event="SessionEnd", fields={"reason": "other"})]


def _text(turn: list[Mapping[str, Any]]) -> str:
    return "".join(str(block.get("text", "")) for block in turn)


def _call(ident: str, tool: str, given: Any, notes: Path) -> ToolCall:
    program = notes / f"{ident}.{tool.rpartition('__')[2] if tool.startswith('mcp__') else tool}"
    os.link(notes.parent.parent / PROGRAM, program)
    text = json.dumps(given)
    if SURROGATES in text or len(text) > 1_000_000:
        path = notes / f"{ident}.input"
        path.write_text(text, "ascii")
        return ToolCall(id=ident, name=tool, input=None, program=str(program), input_file=str(path))
    return ToolCall(id=ident, name=tool, input=given, program=str(program))
