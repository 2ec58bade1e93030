"""The MCP servers of a session are started with it, asked over one connection each, and ended with it.

The official SDK is the client. It lives in an event loop of its own thread; whoever asks waits in theirs.
This module is imported when a session has handlers that need it: the SDK takes most of a second.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event
from typing import Any

import anyio
import mcp_types
from anyio.from_thread import start_blocking_portal
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ... import __version__
from ...handlers import Place
from .mcp_servers import Listed

for _name in ("mcp", "client"):
    # what a server says beside the protocol is its own affair, and no news for whoever runs this
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False

GLANCE = 0.02
"""Seconds between two looks at whether an answer is still wanted."""
LAST_WORDS = 1.0
"""Seconds in which servers are told, at the end, that calls are cancelled."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a call: the texts of its result as one, and whether that is an error."""

    text: str
    is_error: bool = False


class Servers:
    """The servers of one session, on their way from the start. Close them."""

    def __init__(self, servers: Mapping[str, Listed], place: Place, patience: float) -> None:
        """`place` is where they run; `patience`: seconds from now on for which `wait_for` waits."""
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._latest = time.monotonic() + patience
        self._calls: set[anyio.CancelScope] = set()
        self._connections = {name: _Connection(listed, place) for name, listed in servers.items()}
        self._kept = [self._portal.start_task_soon(connection.keep) for connection in self._connections.values()]

    def wait_for(self, server: str) -> None:
        """Waits until a server is connected or will never be, as long as there is patience with it."""
        connection = self._connections.get(server)
        if connection is not None:
            connection.settled.wait(max(0.0, self._latest - time.monotonic()))

    def ask(self, server: str, tool: str, arguments: Mapping[str, Any], given_up: Event) -> Reply:
        """Calls a tool of a server that is there, and waits; when it is given up, the server is told that the call is cancelled.

        The tool is not looked up before: the server knows what it has (observed).
        """
        connection = self._connections.get(server)
        session = None if connection is None else connection.session
        if session is None:
            return Reply(f"MCP server '{server}' not connected", is_error=True)
        reply: Reply = self._portal.call(self._ask, session, tool, dict(arguments), given_up)
        return reply

    async def _ask(self, session: ClientSession, tool: str, arguments: dict[str, Any], given_up: Event) -> Reply:
        asked = mcp_types.CallToolRequest(params=mcp_types.CallToolRequestParams(name=tool, arguments=arguments))
        reply = Reply("cancelled", is_error=True)
        async with anyio.create_task_group() as group:
            self._calls.add(group.cancel_scope)
            group.start_soon(_watch, given_up, group.cancel_scope)
            try:
                # not call_tool: that looks up the tool first, and holds its answer against the schema
                result = await session.send_request(asked, mcp_types.CallToolResult)
                reply = Reply(text_of(result), is_error=result.is_error is True)
            except MCPError as error:  # it has died, or knows no such tool
                reply = Reply(str(error), is_error=True)
            except ValidationError:
                reply = Reply("the server's answer is no result of a tool", is_error=True)
            finally:
                self._calls.discard(group.cancel_scope)
            group.cancel_scope.cancel()
        return reply

    def close(self) -> None:
        """Ends all servers: their stdin is closed, and whoever stays is killed. May be called twice."""
        with self._stack:
            kept, self._kept = self._kept, []
            if kept:
                self._portal.call(self._end)
            for connection in kept:
                connection.result()

    async def _end(self) -> None:
        with anyio.move_on_after(LAST_WORDS):
            while self._calls:
                for scope in tuple(self._calls):
                    scope.cancel()
                await anyio.sleep(GLANCE / 4)
        for connection in self._connections.values():
            connection.end()


def text_of(result: mcp_types.CallToolResult) -> str:
    """The text blocks of a result as one text; blocks of other kinds and structuredContent are not read (observed)."""
    return "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))


class _Connection:
    """One server, from its start to its end."""

    def __init__(self, listed: Listed, place: Place) -> None:
        self.session: ClientSession | None = None
        self.settled = Event()
        """Set once it is connected, or will never be."""
        self._scope: anyio.CancelScope | None = None
        """Made in the event loop."""
        env = {**place.env, **listed.env}
        self._parameters = StdioServerParameters(command=listed.command, args=list(listed.arguments), env=env, cwd=place.cwd)

    async def keep(self) -> None:
        """Connects, and holds the connection until `end` is called."""
        me = mcp_types.Implementation(name="hookproof-reference", version=__version__)
        try:
            self._scope = anyio.CancelScope()
            with self._scope, open(os.devnull, "w") as silence:
                async with (
                    stdio_client(self._parameters, errlog=silence) as (reading, writing),
                    ClientSession(reading, writing, client_info=me) as session,
                ):
                    await session.initialize()
                    self.session = session
                    self.settled.set()
                    await anyio.sleep_forever()
        except Exception:  # whatever goes wrong with somebody else's program: it is not connected
            pass
        finally:
            self.session = None
            self.settled.set()

    def end(self) -> None:
        """Ends the connection, and the server with it."""
        if self._scope is not None:
            self._scope.cancel()


async def _watch(given_up: Event, scope: anyio.CancelScope) -> None:
    while not given_up.is_set():
        await anyio.sleep(GLANCE)
    scope.cancel()
