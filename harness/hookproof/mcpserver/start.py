"""What a runner starts as MCP server: hands its streams over to a server with the SDK in it, and ends as that does."""

import json
import os
import socket
import sys

SOCKET = ""
"""Where the nursery listens, and ..."""
TOOLS = ""
"""... the file that says what the tools do; host.py writes both."""


def main() -> int:
    """The arguments are for the tools; the exit code is the server's, and 1 when there is none."""
    with socket.socket(socket.AF_UNIX) as wire:
        try:
            wire.connect(SOCKET)
            asked = json.dumps({"tools": TOOLS, "arguments": sys.argv[1:], "env": dict(os.environ)})
            socket.send_fds(wire, [b"+"], [0, 1, 2])
            wire.sendall(asked.encode("ascii") + b"\n")
            # held here as well, they would stay open when the server is gone
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1):
                os.dup2(silence, stream)
            return (wire.recv(1) or b"\1")[0]
        except OSError as error:
            print(f"the server of the harness is gone: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
