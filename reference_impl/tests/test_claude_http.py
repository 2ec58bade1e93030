"""http handlers are asked over real connections: answers, failures, limits, and what stands beside them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference.dialects.claude_code import addresses, hooks, kinds
from hookproof_reference.settings import Configured

if TYPE_CHECKING:
    from hookproof_reference.runner import Called

    from .conftest import ClaudeProject

pytest.importorskip("httpx", reason="http handlers need hookproof[http]")

OLD, NEW = "2.1.178", "2.1.332"
LS = {"command": "ls", "description": "d"}
WAIT = 20.0
"""Seconds for what must come about."""

pytestmark = pytest.mark.parametrize("version", [OLD, NEW])


def deny(reason: str = "RDENY") -> str:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return json.dumps({"hookSpecificOutput": own})


class Service:
    """Answers every request in one way, and keeps what it was asked."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.status, self.body, self.headers = 200, b"", {}  # type: int, bytes, dict[str, str]
        self.hangs = ""
        """"head" or "body": it is not sent until the end."""
        self.over = Event()
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        service = self

        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.asked.append((self.command, self.path, dict(self.headers.items()), json.loads(body)))
                if service.hangs == "head":
                    service.over.wait(WAIT)
                self.send_response_only(service.status)
                for name, value in {"Content-Length": str(len(service.body)), **service.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if service.hangs == "body":
                    self.wfile.write(service.body[:5])
                    service.over.wait(WAIT)
                self.wfile.write(service.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer((host, 0), Requests)
        self.server.handle_error = lambda request, client: None  # type: ignore[method-assign,assignment]
        self.server.block_on_close = False
        self.server.daemon_threads = True
        self.port = self.server.server_port
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def says(self, body: str | bytes, status: int = 200) -> None:
        self.body, self.status = body.encode() if isinstance(body, str) else body, status

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/guard"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.close()


def ran(
    claude: ClaudeProject, version: str, *handlers: dict[str, Any], more: dict[str, Any] | None = None, **options: Any
) -> Called:
    claude.configure(PreToolUse=list(handlers), more=more)
    return claude.runner(version, **options).call("Bash", LS, lambda arguments: "ran")


def http(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "http", "url": url, **fields}


def test_the_envelope_is_posted_and_a_deny_counts(claude: ClaudeProject, service: Service, version: str) -> None:
    service.says(deny())
    called = ran(claude, version, http(service.url))
    assert (called.outcome, called.started) == ("blocked", False)
    assert "RDENY" in str(called.result)
    ((method, path, headers, envelope),) = service.asked
    assert (method, path, headers["Content-Type"]) == ("POST", "/guard", "application/json")
    assert (envelope["hook_event_name"], envelope["tool_input"], envelope["cwd"]) == ("PreToolUse", LS, str(claude.folder))
    assert claude.logged == []


@pytest.mark.parametrize("status", [201, 202, 205, 206, 226, 299])
def test_every_success_counts(claude: ClaudeProject, service: Service, version: str, status: int) -> None:
    service.says(deny(), status)
    assert ran(claude, version, http(service.url)).outcome == "blocked"


@pytest.mark.parametrize("status", [300, 302, 307, 401, 403, 404, 422, 500, 503, 599])
def test_every_other_status_is_a_failure_that_is_told(claude: ClaudeProject, service: Service, version: str, status: int) -> None:
    service.says(deny(), status)
    service.headers = {"Location": "/elsewhere"}
    assert ran(claude, version, http(service.url)).outcome == "ran"
    assert claude.logged == [f"PreToolUse: {service.url!r}: hook failed: HTTP {status} from {service.url}"]
    assert len(service.asked) == 1


@pytest.mark.parametrize("body", ["", " \n ", "\ufeff", "{}", '{"async": true}'], ids=repr)
def test_silence_is_no_failure(claude: ClaudeProject, service: Service, version: str, body: str) -> None:
    service.says(body)
    assert ran(claude, version, http(service.url, onFailure="block")).outcome == "ran"
    assert claude.logged == []


GOOD = ["\n  " + deny(), "\ufeff\n " + deny(), " \ufeff" + deny(), "\u00a0" + deny(), deny() + "\n\n"]


@pytest.mark.parametrize("body", GOOD, ids=range(len(GOOD)))
def test_blanks_around_the_object_do_no_harm(claude: ClaudeProject, service: Service, version: str, body: str) -> None:
    service.says(body)
    service.headers = {"Content-Type": "text/plain; charset=latin-1"}
    assert ran(claude, version, http(service.url)).outcome == "blocked"


BAD = [
    "PLAIN",
    "[]",
    "5",
    "null",
    '"x"',
    "x " + deny(),
    deny() + " x",
    deny() * 2,
    deny()[:-1],
    deny() + "\0",
    '{"a": NaN}',
    b"\xff\xfe{}",
]


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_all_else_is_a_failure(claude: ClaudeProject, service: Service, version: str, body: str | bytes) -> None:
    service.says(body)
    assert ran(claude, version, http(service.url)).outcome == "ran"
    assert ("is broken JSON" if body[:1] == "{" else "is no JSON object") in claude.logged[0]
    # only the newer version lets a handler say what that means
    assert ran(claude, version, http(service.url, onFailure="block")).outcome == ("blocked" if version == NEW else "ran")


def test_a_failure_that_blocks_says_how_it_failed(claude: ClaudeProject, service: Service, version: str) -> None:
    service.says("", 500)
    called = ran(claude, version, http(service.url, onFailure="block"))
    told = f'[{service.url}]: failed; blocking because onFailure is "block"\nHTTP 500 from {service.url}'
    assert (told in str(called.result)) is (version == NEW)


@pytest.mark.parametrize("part", ["head", "body"])
def test_the_limit_covers_head_and_body(claude: ClaudeProject, service: Service, version: str, part: str) -> None:
    service.says(deny())
    service.hangs = part
    began = time.monotonic()
    assert ran(claude, version, http(service.url, timeout=0.3)).outcome == "ran"
    assert 0.3 <= time.monotonic() - began < WAIT / 2
    assert "timed out after 0.3s" in claude.logged[0]


def test_an_answer_that_drips_is_cut_as_well(claude: ClaudeProject, service: Service, version: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while not service.over.wait(0.05):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        dripping = Thread(target=drip, daemon=True)
        dripping.start()
        assert ran(claude, version, http(f"http://127.0.0.1:{listening.getsockname()[1]}/", timeout=0.4)).outcome == "ran"
        dripping.join(WAIT)
        assert not dripping.is_alive()  # the connection was closed by the one who asked


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", b"nonsense\r\n\r\n", b"\x15\x03\x01\0\x02"]
)
def test_a_broken_connection_is_this_handlers_failure(claude: ClaudeProject, version: str, answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        assert ran(claude, version, http(url), claude.handler("h2")).outcome == "ran"
    assert claude.started() == ["h2"]
    assert len(claude.logged) == 1


@pytest.mark.parametrize("scheme", ["ftp", "ws", "file", "mailto"])
def test_a_scheme_that_is_not_spoken_fails_when_it_is_asked(claude: ClaudeProject, version: str, scheme: str) -> None:
    assert ran(claude, version, http(f"{scheme}://127.0.0.1/x")).outcome == "ran"
    assert "only http and https are spoken" in claude.logged[0]


def test_what_is_no_tls_is_a_failure(claude: ClaudeProject, service: Service, version: str) -> None:
    assert ran(claude, version, http(service.url.replace("http", "https"))).outcome == "ran"
    assert len(claude.logged) == 1


def test_names_are_asked_at_the_address_that_was_looked_at(
    claude: ClaudeProject, service: Service, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks the resolver a second time, when it could say something else; an address at which nobody is, is passed over."""
    times = []

    def resolved(host: str, port: int) -> list[str]:
        times.append((host, port))
        return ["::1", "127.0.0.1"] if len(times) == 1 else pytest.fail("asked again")

    monkeypatch.setattr(addresses, "resolved", resolved)
    service.says(deny())
    assert ran(claude, version, http(f"http://Internal.test:{service.port}/x y")).outcome == "blocked"
    assert times == [("internal.test", service.port)]
    ((_, path, headers, _),) = service.asked
    assert (path, headers["Host"]) == ("/x%20y", f"internal.test:{service.port}")


def test_names_that_lead_into_the_private_network_are_not_asked(
    claude: ClaudeProject, service: Service, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "resolved", lambda host, port: ["127.0.0.1", "10.0.0.1"])
    service.says(deny())
    assert ran(claude, version, http(f"http://internal.test:{service.port}/")).outcome == "ran"
    assert "internal.test leads to 10.0.0.1, which is private" in claude.logged[0]
    assert service.asked == []


@pytest.mark.parametrize("host", ["0.0.0.0", "2130706433", "0x7f.1"])
def test_numbers_are_asked_in_every_notation(claude: ClaudeProject, version: str, host: str) -> None:
    everywhere = Service("0.0.0.0")
    try:
        everywhere.says(deny())
        assert ran(claude, version, http(f"http://{host}:{everywhere.port}/")).outcome == "blocked"
    finally:
        everywhere.close()


def test_lists_and_headers_come_from_the_settings(claude: ClaudeProject, service: Service, version: str) -> None:
    entry = http(service.url, headers={"X-A": "<$A|$B>"}, allowedEnvVars=["A", "B"])
    more = {"env": {"A": "set"}, "httpHookAllowedEnvVars": ["A"], "allowedHttpHookUrls": [f"{service.url[:-1]}*"]}
    ran(claude, version, entry, more=more, env={"B": "b"})
    assert [headers["X-A"] for _, _, headers, _ in service.asked] == ["<set|>"]
    ran(claude, version, entry, more={**more, "allowedHttpHookUrls": ["https://elsewhere.example/*"]})
    assert len(service.asked) == 1
    assert "no pattern of allowedHttpHookUrls allows it" in claude.logged[-1]


def test_letters_beyond_ascii_travel_by_version(claude: ClaudeProject, service: Service, version: str) -> None:
    ran(claude, version, http(service.url, headers={"X-A": "\u00fc"}))
    letters = service.asked[0][2]["X-A"].encode("latin-1")
    assert letters == ("\u00fc".encode() if version == OLD else b"\xfc")


@pytest.mark.parametrize("event", ["SessionStart", "Setup"])
def test_at_the_start_http_handlers_are_passed_over_without_a_word(
    claude: ClaudeProject, service: Service, version: str, event: str
) -> None:
    claude.hooks({event: [http(service.url), claude.handler("h2")]})
    claude.runner(version).fire(event, {"source": "startup"} if event == "SessionStart" else {"trigger": "init"})
    assert (claude.started(), service.asked, claude.logged) == (["h2"], [], [])


def test_a_longer_answer_than_is_read_is_none(
    claude: ClaudeProject, service: Service, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookproof_reference.dialects.claude_code import http_handlers

    service.says(deny("z" * 60_000))
    assert ran(claude, version, http(service.url)).outcome == "blocked"
    monkeypatch.setattr(http_handlers, "LONGEST", 50_000)
    assert ran(claude, version, http(service.url)).outcome == "ran"


def test_a_proxy_of_the_environment_is_not_asked(
    claude: ClaudeProject, service: Service, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    service.says(deny())
    assert ran(claude, version, http(service.url)).outcome == "blocked"


def test_types_start_in_their_order(version: str) -> None:
    words: dict[str, Any] = {"http": {"url": "u"}, "prompt": {"prompt": "p"}, "agent": {"prompt": "p"}, "mcp_tool": {"tool": "t"}}
    mixed = [*words.items(), ("command", {}), *words.items()]
    handlers = [Configured("Stop", "c" if kind == "command" else "", 1.0, kind=kind, options=options) for kind, options in mixed]
    chosen = sorted(hooks.distinct(handlers), key=lambda handler: kinds.ORDER.index(handler.kind))
    assert [handler.kind for handler in chosen] == ["command", "prompt", "agent", "http", "mcp_tool"]


def test_nothing_is_left_of_many_questions(claude: ClaudeProject, service: Service, version: str) -> None:
    claude.configure(PreToolUse=[http(f"{service.url}/{number}") for number in range(10)])
    runner = claude.runner(version)
    runner.call("Bash", LS, lambda arguments: "ran")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        runner.call("Bash", LS, lambda arguments: "ran")
    deadline = time.monotonic() + WAIT
    while len(list(Path("/proc/self/fd").iterdir())) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(service.asked) == 60
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
