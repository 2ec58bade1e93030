"""One MCP server over stdio: the SDK's, with tools that a file of the harness describes.

That file has `Tools(arguments, env)` with `names`, `delay` (seconds until it answers at all), `begin(name,
arguments)`, which gives a call under way with `result()` and `cancel()` or raises KeyError, and `linger()`, which returns when
nothing that it has started is left to be looked after. `result()` raises EOFError where the server is to die,
RuntimeError where there is no result.
"""

from __future__ import annotations

import os
import runpy
import select
import socket
from threading import Thread
from typing import Any, NoReturn

import anyio
import anyio.lowlevel
import anyio.to_thread
import mcp_types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

DIED = 3
"""The exit code of a server that dies in a call."""
HIGHEST = 256
"""The number below which all streams of a server lie."""
ANYTHING = {"type": "object", "additionalProperties": True}
"""The schema of every tool's input."""


anyio.run(anyio.lowlevel.checkpoint)  # what the first event loop of a process loads is loaded before any fork


def serve(wire: socket.socket, file: str, arguments: list[str], env: dict[str, str]) -> NoReturn:
    """Serves stdin and stdout of this process until stdin ends; never returns. `wire` leads to the program that asked."""
    tools = runpy.run_path(file)["Tools"](arguments, env)
    end = _End(wire, tools)
    try:
        Thread(target=end.when_the_other_is_gone, daemon=True).start()
        if _awaits(tools.delay):
            anyio.run(_serve, tools, end)
    except BaseException:
        end.now(1)
    end.now(0)


class _End:
    """How this server ends: its streams are let go first, so that nobody waits for what is only looked after."""

    def __init__(self, wire: socket.socket, tools: Any) -> None:
        self.wire, self.tools = wire, tools

    def now(self, code: int) -> NoReturn:
        """Ends this process, without the interpreter's clean-up: threads may still wait for programs."""
        own = self.wire.fileno()
        os.closerange(0, own)
        os.closerange(own + 1, HIGHEST)
        try:
            self.wire.send(bytes([code]))
        except OSError:
            pass
        self.wire.close()
        try:
            self.tools.linger()
        finally:
            os._exit(code)

    def when_the_other_is_gone(self) -> None:
        """Whoever kills the program that it started has killed this server."""
        self.wire.recv(1)
        self.now(DIED)


def _awaits(delay: float) -> bool:
    """Waits, but no longer than there is somebody at the other end; whether there is."""
    hang_up = select.poll()
    hang_up.register(0, 0)
    return not delay or not hang_up.poll(delay * 1000)


async def _serve(tools: Any, end: _End) -> None:
    calls: dict[Any, Any] = {}

    async def list_tools(context: Any, parameters: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name=name, input_schema=ANYTHING) for name in tools.names])

    async def call_tool(context: Any, parameters: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        try:
            call = calls[context.request_id] = tools.begin(parameters.name, parameters.arguments or {})
        except KeyError:
            raise MCPError(mcp_types.INVALID_PARAMS, f"there is no tool {parameters.name}") from None
        try:
            result = await anyio.to_thread.run_sync(call.result, abandon_on_cancel=True)
        except EOFError:
            end.now(DIED)
        except RuntimeError as error:
            raise MCPError(mcp_types.INTERNAL_ERROR, str(error)) from None
        return mcp_types.CallToolResult.model_validate(result)

    async def cancelled(context: Any, parameters: mcp_types.CancelledNotificationParams) -> None:
        # the SDK has dropped the request already; only who says so ends the program: not who just goes away
        if (call := calls.get(parameters.request_id)) is not None:
            call.cancel()

    server = Server("hookproof", on_list_tools=list_tools, on_call_tool=call_tool)
    server.add_notification_handler("notifications/cancelled", mcp_types.CancelledNotificationParams, cancelled)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
