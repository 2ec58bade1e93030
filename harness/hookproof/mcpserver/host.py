"""The harness's side of its MCP servers: starts the process that has the SDK, and writes what runners start."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import HarnessError
from . import NAME

DESCRIPTION = "mcp.json"
"""The file beside the probes that describes its tools."""
CONFIGURATION = ".mcp.json"
"""The file of a project that lists its servers."""
START_LIMIT = 60.0
"""Seconds that the import of the SDK may take."""
LONGEST = 100
"""Characters of a path that a socket can have."""

_HERE = Path(__file__).parent
PROBES = _HERE / "probes.py"


class McpHost:
    """The MCP servers of a run. The process behind them starts when the first is wanted; close it."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where programs can be written; those who start them must be able to read it."""
        self._folder = folder.absolute()
        self._lock = Lock()
        self._nursery: subprocess.Popen[bytes] | None = None
        self._own: Path | None = None
        """A folder for the socket, where the path of the other would be too long for one."""
        self._starters: set[Path] = set()

    def starter(self, tools: Path = PROBES, name: str = "mcp-server.py") -> Path:
        """The program that a runner starts for a server with these tools. Raises HarnessError."""
        with self._lock:
            if self._nursery is None:
                self._nursery = self._start()
            path = self._folder / name
            if path not in self._starters:
                text = (_HERE / "start.py").read_text("utf-8")
                text = text.replace('SOCKET = ""', f"SOCKET = {str(self._socket())!r}")
                text = text.replace('TOOLS = ""', f"TOOLS = {str(tools)!r}")
                path.write_text(text, "utf-8")
                self._starters.add(path)
            return path

    def serve(self, project: Path, probes: Path, tools: Mapping[str, tuple[str, str]], delay: float = 0) -> dict[str, Any]:
        """Lists a server in a project, and gives the entry for it.

        `tools`: name -> the probe's path and the form of its reply; `delay`: seconds. Raises HarnessError, OSError.
        """
        described = {name: {"program": program, "reply": reply} for name, (program, reply) in tools.items()}
        description = probes / DESCRIPTION
        description.write_text(json.dumps({"tools": described, "delay": delay}), "utf-8")
        server = {"command": sys.executable, "args": ["-IS", str(self.starter()), str(description)]}
        (project / CONFIGURATION).write_text(json.dumps({"mcpServers": {NAME: server}}, indent=2), "utf-8")
        return server

    def close(self) -> None:
        """No server is left."""
        with self._lock:
            nursery, self._nursery = self._nursery, None
        if nursery is not None:
            with suppress(ProcessLookupError):
                os.killpg(nursery.pid, signal.SIGKILL)
            nursery.wait()
            for stream in (nursery.stdin, nursery.stdout):
                assert stream is not None
                stream.close()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)

    def _socket(self) -> Path:
        if self._own is None and len(str(self._folder)) > LONGEST - 10:
            self._own = Path(tempfile.mkdtemp(prefix="hp", dir="/tmp"))
        return (self._own or self._folder) / "mcp"

    def _start(self) -> subprocess.Popen[bytes]:
        if find_spec("mcp") is None:
            raise HarnessError("cases with MCP servers need the MCP SDK", "install hookproof[mcp]")
        with socket.socket(socket.AF_UNIX) as listener:
            try:
                listener.bind(str(self._socket()))
                listener.listen(64)
            except OSError as error:
                raise HarnessError(f"no socket can be made in {self._folder}: {error}", "set TMPDIR to another folder") from None
            nursery = subprocess.Popen(
                [sys.executable, "-P", str(_HERE / "nursery.py"), str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )
        assert nursery.stdout is not None
        ready, _, _ = select.select([nursery.stdout], [], [], START_LIMIT)
        if not ready or not nursery.stdout.read(1):
            nursery.kill()
            nursery.wait()
            raise HarnessError("the process for MCP servers does not start", f"try: {sys.executable} -c 'import mcp'")
        return nursery
