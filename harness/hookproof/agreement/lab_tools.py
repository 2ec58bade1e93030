"""The tools of the MCP server that stands in the scenes of rows, with its log: what they answer is told by the call itself."""

from __future__ import annotations

import json
import time
from threading import Lock
from typing import Any

NAMES = ("say", "fail", "slow", "image", "empty", "two-texts", "die", "under_score", "ptool")
PICTURE = "AAAA"
"""Base64 that nobody looks at."""


class Tools:
    """The argument is the log file; `MCP_INIT_SLEEP` holds the seconds until the server answers."""

    def __init__(self, arguments: list[str], env: dict[str, str]) -> None:
        self.file = arguments[0]
        self.delay = float(env.get("MCP_INIT_SLEEP", "0"))
        self.env = env
        self.names = NAMES
        self.lock = Lock()

    def begin(self, name: str, arguments: dict[str, Any]) -> Call:
        """A call of any tool: one that is not listed says what it is told to, as `say` does."""
        self.note({"call": name, "arguments": arguments})
        return Call(self, name, arguments)

    def linger(self) -> None:
        """Nothing is left behind."""

    def note(self, what: dict[str, Any]) -> None:
        """A line for the log."""
        with self.lock, open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps(what) + "\n")


class Call:
    """A call under way."""

    def __init__(self, tools: Tools, name: str, arguments: dict[str, Any]) -> None:
        self.tools, self.name, self.arguments = tools, name, arguments

    def result(self) -> dict[str, Any]:
        """What the tool answers, after as many seconds as it is told to wait. Raises EOFError where it dies."""
        wait = self.arguments.get("sleep")
        if isinstance(wait, int | float):
            time.sleep(wait)
        if self.name == "die":
            raise EOFError
        answer: dict[str, Any] = {"content": [{"type": "text", "text": text} for text in self._texts()]}
        if self.name == "image":
            answer["content"] = [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]
        if self.name == "fail":
            answer["isError"] = True
        if self.arguments.get("structured"):
            answer["structuredContent"] = self.arguments["structured"]
        return answer

    def _texts(self) -> list[str]:
        if self.name == "empty":
            return []
        if self.name == "two-texts":
            return [self.arguments.get("a", ""), self.arguments.get("b", "")]
        if self.name == "ptool":
            return [self.tools.env.get("PT_REPLY", "{}")]
        return [self.arguments.get("reply", "FAILTEXT" if self.name == "fail" else "MCPOUT")]

    def cancel(self) -> None:
        """Nobody wants the answer any more."""
        self.tools.note({"cancelled": self.name})
