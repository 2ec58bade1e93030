"""An HTTP server on 127.0.0.1 behind which probes answer: for handlers that are no command.

A request to `/TOKEN/h1` starts the probe `h1` of the world with that token. The body of the request is its
stdin, its stdout the body of the answer: so the ledger, waiting for others and sleeping are as for a command.
The headers of the request stand in the environment of the probe, as CGI has it (RFC 3875, 4.1): `X-Token`
as HTTP_X_TOKEN, the type of the body as CONTENT_TYPE.
At `/TOKEN/model/...` stands a scripted model: see `modelserver.py`.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from . import modelserver

HOST = "127.0.0.1"
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""What a probe behind the server has as environment beside the request: its own is not what is tested."""
BODILESS = (204, 304)
"""Statuses whose answers have no body (RFC 9110, 6.4.1)."""


@dataclass(frozen=True, slots=True)
class Route:
    """What answers at one path."""

    program: str
    """The probe's absolute path."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    head_first: bool = False
    """Status and headers are sent before the probe starts; the body follows, and its end is that of the connection."""


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
        self._closed_port: socket.socket | None = None

    def token(self) -> str:
        """A new, empty place for the routes of one world."""
        token = secrets.token_hex(8)
        with self._lock:
            if self._server is None:
                self._server = _Server((HOST, 0), self)
                Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="loopback").start()
            self._places[token] = _Place()
        return token

    def serve(self, token: str, name: str, route: Route) -> str:
        """From now on the route's probe answers at `name`; gives the URL."""
        with self._lock:
            self._places[token].routes[name] = route
        return f"{self.base(token)}/{name}"

    def nowhere(self, token: str, name: str) -> str:
        """A URL at which nobody listens, as long as this server lives: connections are refused."""
        with self._lock:
            if self._closed_port is None:
                # bound and never listening: nobody else can have the port
                self._closed_port = socket.socket()
                self._closed_port.bind((HOST, 0))
            return f"http://{HOST}:{self._closed_port.getsockname()[1]}/{token}/{name}"

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
        if self._closed_port is not None:
            self._closed_port.close()
            self._closed_port = None

    # ---- for the server's own threads ------------------------------------------------------------

    def route(self, token: str, name: str) -> Route | None:
        """Who answers there."""
        with self._lock:
            place = self._places.get(token)
            return None if place is None else place.routes.get(name)

    def run(self, token: str, program: str, stdin: bytes, request: Mapping[str, str]) -> tuple[int, bytes]:
        """Start a probe, wait for it; gives its exit code and stdout. `request` is for its environment. Raises OSError."""
        with self._lock:
            place = self._places.get(token)
            if place is None:
                raise OSError("the world is gone")
            running = subprocess.Popen(
                [program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**request, **ENVIRONMENT},
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
    if program.returncode is None:
        with suppress(ProcessLookupError):
            # a session of its own, with what it sleeps in; `communicate` in the server's thread reaps it
            os.killpg(program.pid, signal.SIGKILL)


class QuietServer(ThreadingHTTPServer):
    """A thread for each connection, and not a word about those that break."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away, as one whose time is up does, is nothing to report."""


class _Server(QuietServer):
    def __init__(self, address: tuple[str, int], loopback: Loopback) -> None:
        super().__init__(address, _Requests)
        self.loopback = loopback


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answered as well, so that a client which changes the method is seen to have asked."""
        self.do_POST()

    def do_POST(self) -> None:
        _, token, name, *_ = [*self.path.partition("?")[0].split("/"), "", ""]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        of_model = name == modelserver.PATH
        if of_model:
            name = modelserver.asker(body) or ""
        route = self.server.loopback.route(token, name)
        if route is None:
            self._answer(Route("", 404), b"")
            return
        if route.head_first:
            self.close_connection = True
            self._head(route, {})
        try:
            code, stdout = self.server.loopback.run(token, route.program, body, self._told())
        except OSError as error:
            code, stdout = 599, str(error).encode()
        if code < 0 or (code and route.head_first):
            # it died: the connection ends without an answer
            self.close_connection = True
            return
        # a probe that cannot note what it does must not look like an answer
        answer = replace(route, status=599 if code else route.status)
        if of_model and answer.status < 300:
            kind, stdout = modelserver.message(body, stdout)
            answer = replace(answer, headers={"Content-Type": kind, **route.headers})
        elif of_model:
            # what a failure means is to be seen, not how often a client tries again
            stdout = modelserver.failure(answer.status)
            answer = replace(answer, headers={"x-should-retry": "false", **route.headers})
        if route.head_first:
            self.wfile.write(stdout)
        else:
            self._answer(answer, stdout)

    def _told(self) -> dict[str, str]:
        """The request as CGI variables."""
        told = {"REQUEST_METHOD": self.command, "QUERY_STRING": self.path.partition("?")[2]}
        for name, value in self.headers.items():
            variable = name.upper().replace("-", "_")
            told[variable if variable in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{variable}"] = value
        return told

    def _answer(self, route: Route, body: bytes) -> None:
        if route.status in BODILESS:
            self._head(route, {})
            return
        self._head(route, {"Content-Length": str(len(body))})
        self.wfile.write(body)

    def _head(self, route: Route, more: Mapping[str, str]) -> None:
        self.send_response_only(route.status)
        if self.close_connection:
            more = {**more, "Connection": "close"}
        for name, value in {"Content-Type": "application/json", **more, **route.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""
