"""The MCP servers of cases: what their tools answer, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from hookproof.errors import HarnessError
from hookproof.mcpserver import host
from hookproof.mcpserver.host import McpHost

Talk = Callable[[ClientSession], Awaitable[Any]]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpHost]:
    found = McpHost(tmp_path_factory.mktemp("host"))
    yield found
    found.close()


class World:
    """A project with probes that are a line of shell each, and their server."""

    def __init__(self, folder: Path, servers: McpHost) -> None:
        self.folder, self.servers = folder, servers
        self.tools: dict[str, tuple[str, str]] = {}

    def probe(self, name: str, text: str, reply: str = "text") -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\ncd {self.folder}\n{text}\n")
        path.chmod(0o755)
        self.tools[name] = (str(path), reply)

    def parameters(self, delay: float = 0) -> StdioServerParameters:
        self.servers.serve(self.folder, self.folder, self.tools, delay)
        listed = json.loads((self.folder / ".mcp.json").read_text())["mcpServers"]["probes"]
        return StdioServerParameters(**listed)

    def talk(self, say: Talk, delay: float = 0) -> Any:
        """What a client comes to that says this."""

        async def connect() -> Any:
            async with stdio_client(self.parameters(delay)) as (reading, writing), ClientSession(reading, writing) as session:
                await session.initialize()
                return await say(session)

        return anyio.run(connect)

    def call(self, name: str, **arguments: Any) -> types.CallToolResult:
        result: types.CallToolResult = self.talk(lambda session: call(session, name, **arguments))
        return result

    def error(self, name: str) -> str:
        async def say(session: ClientSession) -> str:
            with pytest.raises(MCPError) as caught:
                await call(session, name)
            return str(caught.value)

        return str(self.talk(say))


async def call(session: ClientSession, name: str, **arguments: Any) -> types.CallToolResult:
    parameters = types.CallToolRequestParams(name=name, arguments=arguments)
    return await session.send_request(types.CallToolRequest(params=parameters), types.CallToolResult)


@pytest.fixture
def world(tmp_path: Path, servers: McpHost) -> World:
    return World(tmp_path, servers)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(true: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def texts(result: types.CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, types.TextContent)]


def test_a_tool_is_a_probe_and_its_arguments_are_stdin(world: World) -> None:
    world.probe("h1", "cat")
    result = world.call("h1", a=[1, None, "\u00fc"])
    assert texts(result) == ['{"a": [1, null, "\u00fc"]}']
    assert result.is_error is False


def test_tools_are_listed_and_others_are_not_there(world: World) -> None:
    world.probe("h1", "true")
    world.probe("h2", "echo hello")

    async def say(session: ClientSession) -> list[str]:
        names = [tool.name for tool in (await session.list_tools()).tools]
        with pytest.raises(MCPError, match="there is no tool h3"):
            await call(session, "h3")
        return [*names, *texts(await call(session, "mcp__probes__h2"))]

    assert world.talk(say) == ["h1", "h2", "hello\n"]


@pytest.mark.parametrize(
    ("reply", "content", "structured", "is_error"),
    [
        ("text", ['{"a": 1}\n{"b": 2}\n'], None, False),
        ("blocks", ['{"a": 1}', '{"b": 2}'], None, False),
        ("empty", [], None, False),
        ("image", [], None, False),
        ("error", ['{"a": 1}\n{"b": 2}\n'], None, True),
    ],
)
def test_what_a_probe_prints_has_several_forms(
    world: World, reply: str, content: list[str], structured: Any, is_error: bool
) -> None:
    world.probe("h1", """echo '{"a": 1}'; echo '{"b": 2}'""", reply)
    result = world.call("h1")
    assert (texts(result), result.structured_content, result.is_error) == (content, structured, is_error)
    assert [block.type for block in result.content] == (["image"] if reply == "image" else ["text"] * len(content))


def test_an_object_may_stand_beside_the_content(world: World) -> None:
    world.probe("h1", """echo '{"a": 1}'""", "structured")
    result = world.call("h1")
    assert (result.content, result.structured_content) == ([], {"a": 1})


def test_a_probe_that_dies_takes_its_server_along(world: World) -> None:
    world.probe("h1", "kill -9 $$")
    assert world.error("h1") == "Connection closed"


def test_a_probe_that_cannot_note_what_it_does_is_no_answer(world: World) -> None:
    world.probe("h1", "echo fine; exit 126")
    assert world.error("h1") == "the probe ended with 126"


def test_a_call_that_is_cancelled_ends_its_probe(world: World) -> None:
    world.probe("h1", "echo $$ >pid; sleep 30")

    async def say(session: ClientSession) -> bool:
        with anyio.move_on_after(1):
            await call(session, "h1")
        return await anyio.to_thread.run_sync(until, lambda: not alive(int((world.folder / "pid").read_text())))

    assert world.talk(say)


def test_a_probe_outlives_its_server_as_long_as_its_world_stands(world: World) -> None:
    world.probe("h1", "echo $$ >pid; sleep 30")
    pid = world.folder / "pid"

    async def say(session: ClientSession) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call, session, "h1")
            await anyio.to_thread.run_sync(until, lambda: pid.exists() and pid.read_text().strip() != "")
            raise EOFError

    with pytest.raises(BaseExceptionGroup):
        world.talk(say)
    probe = int(pid.read_text())
    # a client of the SDK says on its way out that the call is cancelled, if it gets that far
    if alive(probe):
        (world.folder / host.DESCRIPTION).unlink()
    assert until(lambda: not alive(probe))


def test_whoever_kills_the_program_has_killed_the_server(world: World) -> None:
    world.probe("h1", "echo $PPID >server; cat")
    parameters = world.parameters()

    async def say() -> int:
        async with await anyio.open_process([parameters.command, *parameters.args]) as program:
            assert program.stdin is not None
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            for number, (method, given) in enumerate([("initialize", hello), ("tools/call", {"name": "h1"})], 1):
                line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
                await program.stdin.send(line.encode() + b"\n")
            await anyio.to_thread.run_sync(until, (world.folder / "server").exists)
            server = int((world.folder / "server").read_text())
            program.send_signal(signal.SIGKILL)
            return server

    server = anyio.run(say)
    assert until(lambda: not alive(server))


def test_a_slow_server_answers_late_and_leaves_early(world: World) -> None:
    world.probe("h1", "echo hello")
    began = time.monotonic()
    assert texts(world.talk(lambda session: call(session, "h1"), delay=0.5)) == ["hello\n"]
    assert time.monotonic() - began >= 0.5

    async def give_up() -> None:
        async with stdio_client(world.parameters(delay=60)):
            pass

    began = time.monotonic()
    anyio.run(give_up)
    # the transport would wait 2 s, and then use force
    assert time.monotonic() - began < 30


def test_nothing_is_left_of_a_host_that_is_closed(tmp_path: Path) -> None:
    servers = McpHost(tmp_path)
    program = servers.starter()
    assert servers._nursery is not None
    pid = servers._nursery.pid
    servers.close()
    servers.close()
    assert not alive(pid)
    # whoever starts the program then is told, without a traceback
    ended = subprocess.run([sys.executable, "-IS", str(program), "x"], capture_output=True, text=True, input="")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("the server of the harness is gone: ")


def test_a_long_path_is_no_hindrance(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    servers = McpHost(deep)
    try:
        world = World(tmp_path, servers)
        world.probe("h1", "echo hello")
        assert texts(world.call("h1")) == ["hello\n"]
    finally:
        servers.close()


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "find_spec", lambda name: None)
    with pytest.raises(HarnessError, match="need the MCP SDK") as caught:
        McpHost(tmp_path).starter()
    assert caught.value.hint == "install hookproof[mcp]"
