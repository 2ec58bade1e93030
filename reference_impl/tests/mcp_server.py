"""An MCP server for tests, built with the SDK: its tools say who they are, wait for one another, and note what they hear."""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main(log: str) -> None:
    """Serves until stdin ends."""
    met = anyio.Event()
    waiting: list[str] = []

    def note(text: str) -> None:
        with open(log, "a") as file:
            file.write(f"{text}\n")

    async def call(context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = given.arguments or {}
        if given.name == "pid":
            text = str(os.getpid())
        elif given.name == "variable":
            text = os.environ.get(arguments["name"], "")
        elif given.name == "meet":  # answers only when two have come
            waiting.append(given.name)
            if len(waiting) == 2:
                met.set()
            await met.wait()
            text = "met"
        elif given.name == "sleep":
            note("asleep")
            try:
                await anyio.sleep(60)
            except anyio.get_cancelled_exc_class():
                note("cancelled")
                raise
            text = ""
        elif given.name == "die":
            os._exit(3)
        else:
            text = arguments.get("text", "")
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    async def cancelled(context: Any, given: types.CancelledNotificationParams) -> None:
        note("told")

    server = Server("for-tests", on_call_tool=call)
    server.add_notification_handler("notifications/cancelled", types.CancelledNotificationParams, cancelled)
    note(f"pid {os.getpid()}")
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
