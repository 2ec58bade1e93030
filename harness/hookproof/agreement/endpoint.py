"""The server that a row's http handlers ask: it answers as the row's script says, and keeps what was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from typing import Any

from ..loopback import HOST, QuietServer

FOLDER = "/hook/"
"""Below this path stand the script's answers, by name."""
KEPT = ("authorization", "content-type")
"""The headers of a request that are compared; those that begin with `x-` beside them."""


class Endpoint:
    """Listens on a port of its own until it is closed."""

    def __init__(self) -> None:
        """`answers` is filled in once the port is known: name -> status, body, headers, sleep and body_sleep (seconds)."""
        self.answers: Mapping[str, Mapping[str, Any]] = {}
        self.asked: list[str] = []
        """The requests in the order in which they came, each as `told` writes it."""
        self.closing = Event()
        self._server = _Server((HOST, 0), self)
        self.port: int = self._server.server_port
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="endpoint").start()

    def close(self) -> None:
        """Stop listening; answers that are still waiting are given up."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


def told(request: Mapping[str, Any]) -> str:
    """One request as a text that can be compared: path, method, the headers that count, and the event in its body."""
    headers = {str(name).lower(): str(value).strip() for name, value in request.get("headers", {}).items()}
    counted = {name: value for name, value in headers.items() if name in KEPT or name.startswith("x-")}
    kept = {"path": request.get("path"), "method": request.get("method"), "headers": counted, "event": request.get("event")}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


class _Server(QuietServer):
    def __init__(self, address: tuple[str, int], endpoint: Endpoint) -> None:
        super().__init__(address, _Requests)
        self.endpoint = endpoint


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._serve(body)

    def do_GET(self) -> None:
        self._serve(b"")

    def _serve(self, body: bytes) -> None:
        name = self.path.partition("?")[0].removeprefix(FOLDER)
        if not self.path.startswith(FOLDER):
            self._answer({"status": 200, "body": "{}"})
            return
        request = {"path": self.path, "method": self.command, "headers": dict(self.headers.items()), "event": _event(body)}
        self.server.endpoint.asked.append(told(request))
        self._answer(self.server.endpoint.answers.get(name, {"status": 404}))

    def _answer(self, answer: Mapping[str, Any]) -> None:
        self.close_connection = True
        if self.server.endpoint.closing.wait(answer.get("sleep", 0)):
            return
        body = str(answer.get("body", "")).encode("utf-8", "surrogatepass")
        headers = {name.lower(): value for name, value in answer.get("headers", {}).items()}
        kind = "application/json" if body[:1] == b"{" else "text/plain"
        self.send_response_only(answer["status"])
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        beginning = 5 if "body_sleep" in answer else len(body)
        self.wfile.write(body[:beginning])
        if not self.server.endpoint.closing.wait(answer.get("body_sleep", 0)):
            self.wfile.write(body[beginning:])

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def _event(body: bytes) -> str | None:
    try:
        envelope = json.loads(body)
    except ValueError:
        return None
    return envelope.get("hook_event_name") if isinstance(envelope, dict) else None
