"""An HTTP server on 127.0.0.1 behind which probes answer: for handlers that are no command.

A request to `/TOKEN/h1` starts the probe `h1` of the world with that token. The body of the request is its
stdin, its stdout the body of the answer: so the ledger, waiting for others and sleeping are as for a command.
At `/TOKEN/model/...` stands a scripted model: see `modelserver.py`.
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from . import modelserver

HOST = "127.0.0.1"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""What a probe behind the server has as environment: its own is not what is tested."""


@dataclass(frozen=True, slots=True)
class Route:
    """What answers at one path."""

    program: str
    """The probe's absolute path."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Place:
    """One world: its routes by name, and the probes that run for it just now."""

    routes: dict[str, Route] = field(default_factory=dict)
    running: set[subprocess.Popen[bytes]] = field(default_factory=set)


class Loopback:
    """The server of a run. It listens from the first `serve` on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[str, _Place] = {}
        self._server: ThreadingHTTPServer | None = None

    def token(self) -> str:
        """A new, empty place for the routes of one world."""
        token = secrets.token_hex(8)
        with self._lock:
            if self._server is None:
                self._server = _Server((HOST, 0), self)
                Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="loopback").start()
            self._places[token] = _Place()
        return token

    def serve(self, token: str, name: str, program: str, status: int = 200, headers: Mapping[str, str] | None = None) -> str:
        """From now on the probe `program` answers at `name`; gives the URL."""
        with self._lock:
            self._places[token].routes[name] = Route(program, status, headers or {})
        return f"{self.base(token)}/{name}"

    def base(self, token: str) -> str:
        """The URL of a world, without a slash at its end."""
        assert self._server is not None
        return f"http://{HOST}:{self._server.server_port}/{token}"

    def forget(self, token: str) -> None:
        """The world is over: its routes go, and probes that still run for it are killed."""
        with self._lock:
            place = self._places.pop(token, None)
            running = list(place.running) if place is not None else []
        for program in running:
            _kill(program)

    def close(self) -> None:
        """Stop listening and end all probes."""
        for token in list(self._places):
            self.forget(token)
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    # ---- for the server's own threads ------------------------------------------------------------

    def route(self, token: str, name: str) -> Route | None:
        """Who answers there."""
        with self._lock:
            place = self._places.get(token)
            return None if place is None else place.routes.get(name)

    def run(self, token: str, program: str, stdin: bytes) -> tuple[int, bytes]:
        """Start a probe, wait for it; gives its exit code and stdout. Raises OSError."""
        with self._lock:
            place = self._places.get(token)
            if place is None:
                raise OSError("the world is gone")
            running = subprocess.Popen(
                [program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                start_new_session=True,
            )
            place.running.add(running)
        try:
            stdout, _ = running.communicate(stdin)
            return running.returncode, stdout
        finally:
            with self._lock:
                place.running.discard(running)


def _kill(program: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        # not reaped before: `communicate` in the server's thread does that once it is dead
        program.kill()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], loopback: Loopback) -> None:
        super().__init__(address, _Requests)
        self.loopback = loopback

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away, as one whose time is up does, is nothing to report."""


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        _, token, name, *_ = [*self.path.split("/"), "", ""]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        of_model = name == modelserver.PATH
        if of_model:
            name = modelserver.asker(body) or ""
        route = self.server.loopback.route(token, name)
        if route is None:
            self._answer(404, b"", {})
            return
        try:
            code, stdout = self.server.loopback.run(token, route.program, body)
        except OSError as error:
            self._answer(599, str(error).encode(), {})
            return
        if code < 0:
            # it died: the connection ends without an answer
            self.close_connection = True
            return
        # a probe that cannot note what it does must not look like an answer
        status = 599 if code else route.status
        headers = route.headers
        if of_model and status < 300:
            kind, stdout = modelserver.message(body, stdout)
            headers = {"Content-Type": kind, **headers}
        elif of_model:
            # what a failure means is to be seen, not how often a client tries again
            stdout, headers = modelserver.failure(status), {"x-should-retry": "false", **headers}
        self._answer(status, stdout, headers)

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""
