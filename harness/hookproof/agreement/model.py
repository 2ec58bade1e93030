"""The scripted model of a row: a Messages API on loopback that answers as the row's script says.

A route takes the requests whose messages contain its text, and gives its turns one after the other, then its
end. What no route takes and comes without tools gets the script's `toolless_reply`. The requests of the main
loop never come here: they are the steps of the protocol.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock, Thread
from typing import Any

from .. import modelserver
from ..loopback import HOST, QuietServer

IDLE: list[dict[str, Any]] = [{"text": "route done"}]
"""What a route without an end says when its turns are used up."""
SILENT = "ok"
"""What a script without `toolless_reply` says."""
LONGEST_WAIT = 10.0
"""Seconds that a block waits for a file when it does not say how long."""


def expressible(name: str, part: Any) -> bool:
    """Whether a part of a script is one that this model can play, and well formed."""
    if name == "toolless_reply":
        replies = part if isinstance(part, list) and part else [part]
        return all(isinstance(reply, str) for reply in replies)
    return name == "routes" and isinstance(part, list) and all(_is_route(route) for route in part)


def _is_route(route: Any) -> bool:
    if not isinstance(route, dict) or not isinstance(route.get("contains"), str) or route.keys() - _ROUTE:
        return False
    turns = [*route.get("turns", ()), route.get("end", IDLE)]
    return all(isinstance(turn, list) and all(_is_block(block) for block in turn) for turn in turns)


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and any(block.keys() <= form and form & block.keys() >= must for must, form in _BLOCKS)


_ROUTE = {"contains", "not", "first", "turns", "end"}
_BLOCKS: tuple[tuple[set[str], set[str]], ...] = (
    ({"text"}, {"text"}),
    ({"tool", "input"}, {"tool", "input", "id"}),
    ({"sleep"}, {"sleep"}),
    ({"wait_file"}, {"wait_file", "max"}),
)
"""What a block must have, and what it may have."""


@dataclass(slots=True)
class Model:
    """One row's model. `requests` and `results` are what the real program's model was seen to be asked and told, too."""

    url: str
    replies: list[str]
    routes: list[dict[str, Any]]
    requests: int = 0
    """How often it was asked with tools."""
    results: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """The results of its tool calls, by their ids: whether it was an error, and the text."""
    over: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def choose(self, request: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The blocks with which a request is answered."""
        messages = request.get("messages", [])
        everything = json.dumps([messages, request.get("system", "")], ensure_ascii=False)
        first = json.dumps(messages[:1], ensure_ascii=False)
        with self.lock:
            self._note(request, messages)
            for route in self.routes:
                where = first if route.get("first") else everything
                if route["contains"] in where and not (route.get("not") and route["not"] in everything):
                    turn: Sequence[Mapping[str, Any]] = route["turns"].pop(0) if route["turns"] else route.get("end", IDLE)
                    return turn
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            return [{"text": reply if not request.get("tools") else "done"}]

    def _note(self, request: Mapping[str, Any], messages: Sequence[Any]) -> None:
        self.requests += bool(request.get("tools"))
        for message in messages:
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict) and block.get("type") == "tool_result":
                    text = modelserver.text_of(block.get("content"))
                    self.results[str(block.get("tool_use_id"))] = (block.get("is_error") is True, text)

    def content(self, blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Blocks in the words of the API; those that only take time take it."""
        said: list[dict[str, Any]] = []
        for block in blocks:
            if "sleep" in block:
                self.over.wait(block["sleep"])
            elif "wait_file" in block:
                until = time.monotonic() + block.get("max", LONGEST_WAIT)
                while not os.path.exists(block["wait_file"]) and time.monotonic() < until and not self.over.wait(0.02):
                    pass
            elif "tool" in block:
                ident = {"id": block["id"]} if "id" in block else {}
                said.append({"type": "tool_use", "name": block["tool"], "input": block["input"], **ident})
            else:
                said.append({"type": "text", "text": block["text"]})
        return said


class Models:
    """The server of all rows. It listens from the first `serve` on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._models: dict[str, Model] = {}
        self._server: _Server | None = None

    def serve(self, script: Mapping[str, Any]) -> Model:
        """A model that plays this script. `forget` it."""
        token = secrets.token_hex(8)
        replies = script.get("toolless_reply", SILENT)
        with self._lock:
            if self._server is None:
                self._server = _Server((HOST, 0), self)
                Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="models").start()
            url = f"http://{HOST}:{self._server.server_port}/{token}"
            routes = [{**route, "turns": list(route.get("turns", ()))} for route in script.get("routes", ())]
            self._models[token] = Model(url, list(replies) if isinstance(replies, list) else [replies], routes)
            return self._models[token]

    def find(self, token: str) -> Model | None:
        """The model at an address."""
        with self._lock:
            return self._models.get(token)

    def forget(self, model: Model) -> None:
        """Its row is over: who still waits for it is answered at once."""
        model.over.set()
        with self._lock:
            self._models.pop(model.url.rpartition("/")[2], None)

    def close(self) -> None:
        """Stop listening."""
        for model in list(self._models.values()):
            self.forget(model)
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Server(QuietServer):
    def __init__(self, address: tuple[str, int], models: Models) -> None:
        super().__init__(address, _Requests)
        self.models = models


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        model = self.server.models.find(self.path.split("/")[1])
        request: Any = None
        with suppress(ValueError, RecursionError):
            request = json.loads(body)
        if model is None or not isinstance(request, dict):
            self._answer(404, "application/json", modelserver.failure(404))
            return
        kind, data = modelserver.answer(request, model.content(model.choose(request)))
        self._answer(200, kind, data)

    def _answer(self, status: int, kind: str, data: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""
