"""An mcp_tool handler: a tool of an MCP server of the session is called, and its text is read like a command's stdout."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING

from ...handlers import Ended
from ...handlers.inquiry import Question
from . import interpolation
from .kinds import Asked

if TYPE_CHECKING:
    from .mcp_client import Reply

NO_SERVERS: Mapping[str, str] = {
    **dict.fromkeys(("SessionStart", "Setup"), "mcp_tool handlers are not available at {event}: there are no servers yet"),
    "SessionEnd": "MCP server '{server}' is not connected any more",
}
"""The events at which no server can be asked, and why (observed)."""


def question(asked: Asked) -> Question:
    """Calls the tool with the handler's input, in which references to the envelope are replaced.

    The call is nobody's tool call: no permission rule is asked, and no hook fires for it (observed).
    """
    options = asked.handler.options
    server, tool = str(options["server"]), str(options["tool"])
    if asked.event in NO_SERVERS:
        refusal = Ended(error=NO_SERVERS[asked.event].format(event=asked.event, server=server))
        return lambda given_up: refusal
    arguments = interpolation.filled(options.get("input", {}), asked.envelope)
    servers = asked.hooks.servers
    servers.wait_for(server)  # before anything starts, as it would before the first turn: the limit is for the call

    def put(given_up: Event) -> Ended:
        return read(servers.ask(server, tool, arguments, given_up))

    return put


def read(reply: Reply) -> Ended:
    """A reply as the end of a handler: an error is a failure whatever it says, all else is an answer (observed)."""
    return Ended(error=reply.text) if reply.is_error else Ended(exit=0, stdout=reply.text)
