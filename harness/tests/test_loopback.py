"""Probes behind the server: what they learn of a request, what becomes of their output, and that none outlives its world."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hookproof import ledger
from hookproof.dialects import Answer
from hookproof.loopback import Loopback, Route
from hookproof.probe import Act, ProbeKit

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are told by /proc")
WAIT = 20.0
"""Seconds for what must come about; a machine under load takes its time."""


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    yield server
    server.close()


class World:
    """A folder of probes, and the place of its own behind the server."""

    def __init__(self, folder: Path, loopback: Loopback) -> None:
        self.kit, self.loopback = ProbeKit(folder / "kit"), loopback
        self.probes = folder / "p"
        self.probes.mkdir()
        self.token = loopback.token()

    def serve(self, name: str, act: Act, **route: object) -> str:
        program = str(self.kit.place(self.probes, name, act))
        return self.loopback.serve(self.token, name, Route(program, **route))  # type: ignore[arg-type]

    def ledger(self) -> ledger.Ledger:
        return ledger.read(self.probes)


@pytest.fixture
def world(tmp_path: Path, loopback: Loopback) -> World:
    return World(tmp_path, loopback)


def ask(url: str, body: bytes = b"{}", method: str = "POST", **headers: str) -> tuple[int, dict[str, str], bytes]:
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=WAIT)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, body, named)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def says(text: str, **more: object) -> Act:
    return Act(answers=(Answer(stdout=text),), **more)  # type: ignore[arg-type]


def test_the_body_is_stdin_and_stdout_is_the_answer(world: World) -> None:
    url = world.serve("h1", says("fine"), status=203, headers={"X-Guard": "on"})
    status, headers, body = ask(url, b'{"a": 1}')
    assert (status, body, headers["X-Guard"], headers["Content-Type"]) == (203, b"fine", "on", "application/json")
    assert world.ledger().stdin_json("h1") == {"a": 1}
    assert world.ledger().started() == ["h1"]


def test_the_request_stands_in_the_environment(world: World) -> None:
    url = world.serve("h1", Act(record=frozenset({"env"})))
    ask(f"{url}?a=1&b", X_Token="t", Content_Type="text/plain")
    env = world.ledger().env("h1")
    assert env is not None
    wanted = {"HTTP_X_TOKEN": "t", "CONTENT_TYPE": "text/plain", "REQUEST_METHOD": "POST", "QUERY_STRING": "a=1&b"}
    assert {name: env.get(name) for name in wanted} == wanted
    assert env["PATH"] == "/usr/bin:/bin"


def test_a_header_cannot_take_the_place_of_the_path(world: World) -> None:
    url = world.serve("h1", says("fine"))
    assert ask(url, Path="/nowhere")[2] == b"fine"


def test_a_client_that_changes_the_method_is_seen(world: World) -> None:
    url = world.serve("h1", says("fine"))
    assert ask(url, b"", "GET")[0] == 200
    assert world.ledger().starts("h1") == 1


@pytest.mark.parametrize("path", ["", "/", "/h2", "/h1/more/../../x"])
def test_who_is_not_there_is_not_found(world: World, path: str) -> None:
    world.serve("h1", says("fine"))
    assert ask(world.loopback.base("no-such-token") + path)[0] == 404
    assert ask(world.loopback.base(world.token) + "/h2")[0] == 404


def test_a_status_without_a_body_has_none(world: World) -> None:
    assert ask(world.serve("h1", says("left out"), status=204))[::2] == (204, b"")


def test_a_probe_that_dies_ends_the_connection_without_an_answer(world: World) -> None:
    url = world.serve("h1", Act(signal="KILL"))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        ask(url)
    assert world.ledger().started() == ["h1"]


def test_a_probe_that_cannot_note_what_it_does_is_no_answer(world: World) -> None:
    url = world.serve("h1", says("fine"))
    (world.probes / "h1.act").unlink()
    assert ask(url)[0] == 599


def test_the_head_may_come_before_the_body(world: World) -> None:
    url = world.serve("h1", says("fine", wait_for="h2"), head_first=True)
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=WAIT) as connection:
        connection.sendall(f"POST {parts.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        head = connection.recv(4096)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert b"fine" not in head
        ask(world.serve("h2", says("")))
        rest = b""
        while piece := connection.recv(4096):
            rest += piece
    assert (head + rest).endswith(b"\r\n\r\nfine")


def test_nobody_listens_where_nobody_is_to_listen(world: World) -> None:
    with pytest.raises(ConnectionRefusedError):
        ask(world.loopback.nowhere(world.token, "h1"))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def sleepers_of(leader: int) -> list[int]:
    """The processes of the session that a probe leads."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def pid_of(world: World, probe: str) -> int:
    lines = (world.probes / "journal").read_text().splitlines()
    return next(int(line.split()[3]) for line in lines if line.startswith(f"start {probe} "))


def hang_up_after_asking(url: str, world: World, probe: str) -> int:
    """Asks, goes away once the probe runs, and gives the probe's process id."""
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=WAIT) as connection:
        connection.sendall(f"POST {parts.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        assert until(lambda: (world.probes / "journal").exists() and f"read {probe} 1" in (world.probes / "journal").read_text())
    return pid_of(world, probe)


def test_a_client_that_goes_away_does_no_harm(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    url = world.serve("h1", says("x" * 3_000_000, wait_for="h2"))
    hang_up_after_asking(url, world, "h1")
    assert ask(world.serve("h2", says("fine")))[2] == b"fine"
    assert until((world.probes / "h1.1.e").exists)
    assert ask(world.serve("h3", says("still here")))[2] == b"still here"
    assert capfd.readouterr() == ("", "")


@needs_proc
def test_what_sleeps_for_a_world_is_killed_with_it(world: World) -> None:
    pid = hang_up_after_asking(world.serve("h1", Act(sleep=60)), world, "h1")
    assert until(lambda: len(sleepers_of(pid)) == 2)  # the probe, and the sleep that it waits for
    world.loopback.forget(world.token)
    assert until(lambda: not sleepers_of(pid))
    assert not alive(pid)
    assert ask(world.loopback.base(world.token) + "/h1")[0] == 404


@needs_proc
def test_other_worlds_go_on_when_one_is_over(world: World, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", world.loopback)
    pid = hang_up_after_asking(other.serve("h1", Act(sleep=60)), other, "h1")
    world.loopback.forget(world.token)
    assert alive(pid)
    other.loopback.forget(other.token)
    assert until(lambda: not alive(pid))


@needs_proc
def test_closing_ends_all_and_may_be_done_twice(world: World) -> None:
    url = world.serve("h1", Act(sleep=60))
    world.loopback.nowhere(world.token, "h9")
    pid = hang_up_after_asking(url, world, "h1")
    world.loopback.close()
    world.loopback.close()
    assert until(lambda: not sleepers_of(pid))
    with pytest.raises(OSError, match=r"refused|reset"):
        ask(url)


def test_fifty_are_answered_side_by_side(world: World) -> None:
    """Each waits for the next, and the last for the first: served one after the other, they would wait in vain."""
    many = 50
    urls = [world.serve(f"h{n}", says(f"answer {n}", wait_for=f"h{n % many + 1}")) for n in range(1, many + 1)]
    with ThreadPoolExecutor(many) as pool:
        answers = list(pool.map(ask, urls))
    assert [body for _, _, body in answers] == [f"answer {n}".encode() for n in range(1, many + 1)]
    assert world.ledger().lonely() == []
