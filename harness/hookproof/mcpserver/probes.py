"""The tools of a case's MCP server: `h1` starts the probe h1 with the call's arguments on stdin, and its stdout is the answer."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import time
from typing import Any

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""What a probe has as environment: its own is not what is tested."""
GLANCE = 0.05
"""Seconds between two looks at whether the world still stands."""


class Tools:
    """The probes of one world; the argument is the file that describes them."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        self.file = arguments[0]
        with open(self.file, encoding="utf-8") as file:
            described = json.load(file)
        self.delay: float = described["delay"]
        self.tools: dict[str, dict[str, str]] = described["tools"]
        """Name -> program, and form of the reply."""
        self.names = list(self.tools)
        self.running: set[subprocess.Popen[bytes]] = set()

    def begin(self, name: str, arguments: dict[str, Any]) -> Call:
        """A call of a tool; one that is listed as `h1` is also there as `anything__h1`. Raises KeyError, OSError."""
        tool = self.tools[name.rpartition("__")[2]]
        program = subprocess.Popen(
            [tool["program"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        self.running.add(program)
        return Call(self, program, json.dumps(arguments, ensure_ascii=False), tool["reply"])

    def linger(self) -> None:
        """What still runs is killed as soon as its world is cleared away."""
        while self.running:
            for program in tuple(self.running):
                if program.poll() is not None:
                    self.running.discard(program)
                elif not os.path.exists(self.file):
                    kill(program)
            time.sleep(GLANCE)


class Call:
    """A probe under way."""

    def __init__(self, tools: Tools, program: subprocess.Popen[bytes], stdin: str, reply: str) -> None:
        self.tools, self.program, self.stdin, self.reply = tools, program, stdin, reply

    def result(self) -> dict[str, Any]:
        """Waits for the probe. Raises EOFError where it dies, RuntimeError where it cannot note what it does."""
        stdout, _ = self.program.communicate(self.stdin.encode("utf-8", "surrogatepass"))
        self.tools.running.discard(self.program)
        if self.program.returncode < 0:
            raise EOFError
        if self.program.returncode > 0:
            raise RuntimeError(f"the probe ended with {self.program.returncode}")
        return FORMS[self.reply](stdout.decode("utf-8", "replace"))

    def cancel(self) -> None:
        """Nobody wants the answer any more."""
        kill(self.program)


def kill(program: subprocess.Popen[bytes]) -> None:
    """Kills a probe with all that it has started."""
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def text(said: str) -> dict[str, Any]:
    """One block of text."""
    return {"content": [{"type": "text", "text": said}]}


def blocks(said: str) -> dict[str, Any]:
    """A block of text for each line."""
    return {"content": [{"type": "text", "text": line} for line in said.splitlines()]}


def structured(said: str) -> dict[str, Any]:
    """An object beside the content, which is empty."""
    return {"content": [], "structuredContent": json.loads(said)}


def image(said: str) -> dict[str, Any]:
    """A block that is no text."""
    return {"content": [{"type": "image", "data": base64.b64encode(said.encode()).decode(), "mimeType": "image/png"}]}


def empty(said: str) -> dict[str, Any]:
    """No block at all."""
    return {"content": []}


def error(said: str) -> dict[str, Any]:
    """A text that is marked as an error."""
    return {**text(said), "isError": True}


FORMS = {"text": text, "blocks": blocks, "structured": structured, "image": image, "empty": empty, "error": error}
"""Form of a reply -> what becomes of stdout."""
