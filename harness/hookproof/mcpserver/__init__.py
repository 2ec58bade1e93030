"""A real MCP server over stdio, built with the official SDK, whose tools are programs of the harness.

The runner starts it from the project's `.mcp.json`, as it would start any other. Importing the SDK costs
more than a whole case; so one process of the run, the nursery, has it imported, and what the runner starts
hands over its stdin, stdout and stderr and has them served by a fork of the nursery.

    host.py      the harness's side: starts the nursery, writes the program that a runner starts
    start.py     that program: hands over its streams, and lives as long as the server does
    nursery.py   has the SDK, and forks a server for each that asks
    serving.py   one server: the SDK's own, over its own stdio transport
    probes.py    what its tools do: a tool `h1` is the probe h1 of the case
"""

NAME = "probes"
"""The name under which the project lists the server of a case."""
