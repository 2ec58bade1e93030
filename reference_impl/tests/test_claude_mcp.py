"""mcp_tool handlers: what they send, which servers there are, and real servers that are asked and ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import hookproof_reference
from hookproof_reference.dialects.claude_code import interpolation, mcp_handlers, mcp_servers
from hookproof_reference.dialects.claude_code.mcp_client import Reply, Servers
from hookproof_reference.dialects.claude_code.mcp_servers import Listed
from hookproof_reference.handlers import Place

if TYPE_CHECKING:
    from .conftest import ClaudeProject

SERVER = Path(__file__).with_name("mcp_server.py")
ENV = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
ENVELOPE = {
    "hook_event_name": "PreToolUse",
    "tool_input": {"path": "a b", "n": 5, "x": 1.5, "all": True, "none": None, "o": {"é": [1, "x"]}, "trap": "${cwd}"},
    "cwd": "/w",
}


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("at ${hook_event_name}: ${tool_input.path}!", "at PreToolUse: a b!"),
        ("${tool_input.n}${tool_input.x}${tool_input.all}", "51.5true"),
        ("${tool_input.none}${tool_input.gone}${toolInput.path}${HOME}", ""),
        ("${tool_input.o}", '{"é":[1,"x"]}'),
        ("${tool_input.o.é}", "${tool_input.o.é}"),
        ("${tool_input.path.0}${tool_input.n.real}", ""),
        ("${tool_input.trap}", "${cwd}"),
        ("${} ${ cwd } $cwd ${cwd", "${} ${ cwd } $cwd ${cwd"),
        ("\\${cwd} $${cwd}", "\\/w $/w"),
    ],
)
def test_references_become_what_the_envelope_holds(text: str, becomes: str) -> None:
    assert interpolation.filled(text, ENVELOPE) == becomes


def test_places_in_lists_are_numbers() -> None:
    envelope = {"list": ["a", {"b": "c"}]}
    assert [interpolation.filled(f"${{list.{at}}}", envelope) for at in ("0", "1.b", "2", "x")] == ["a", "c", "", ""]


def test_values_are_walked_and_keys_are_not() -> None:
    given = {"${cwd}": ["${cwd}", {"deep": "${cwd}", "n": 1, "none": None}], "flag": False}
    assert interpolation.filled(given, ENVELOPE) == {"${cwd}": ["/w", {"deep": "/w", "n": 1, "none": None}], "flag": False}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "5",
        '{"mcpServers": 5}',
        '{"mcpServers": []}',
        "{}",
        "[" * 100_000,
        "\udcff",
        '{"mcpServers": null}',
    ],
)
def test_a_file_of_another_form_has_no_servers(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert mcp_servers.listed(str(tmp_path)) == {}


def test_entries_of_another_form_are_left_out(tmp_path: Path) -> None:
    entries: dict[str, Any] = {
        "good": {"command": "a", "args": ["b"], "env": {"C": "d"}},
        "typed": {"type": "stdio", "command": "a"},
        "far": {"type": "http", "url": "http://127.0.0.1/"},
        **{f"bad{n}": bad for n, bad in enumerate([None, 5, {}, {"command": 5}, {"command": "a", "args": "b"}])},
        "worse": {"command": "a", "args": [1]},
        "worst": {"command": "a", "env": {"A": None}},
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
    assert mcp_servers.listed(str(tmp_path)) == {"good": Listed("a", ("b",), {"C": "d"}), "typed": Listed("a")}


def test_a_tool_tells_its_server() -> None:
    listed = {"notes": Listed("a"), "two words": Listed("b")}
    assert mcp_servers.told_of("mcp__notes__write", listed) == {"name": "notes", "source": "project"}
    assert mcp_servers.told_of("mcp__two_words__go", listed) == {"name": "two words", "source": "project"}
    assert mcp_servers.told_of("mcp__other__go__now", listed) == {"name": "other", "source": "dynamic"}


def test_an_error_is_no_answer() -> None:
    assert mcp_handlers.read(Reply("x")).stdout == "x"
    assert mcp_handlers.read(Reply("x")).exit == 0
    failed = mcp_handlers.read(Reply('{"decision": "block"}', is_error=True))
    assert (failed.exit, failed.stdout, failed.error) == (None, "", '{"decision": "block"}')


# ---- real servers ----------------------------------------------------------------------------------


def listed(log: Path, **env: str) -> Listed:
    return Listed(sys.executable, (str(SERVER), str(log)), env)


def raw(text: str) -> Listed:
    """A server that is a few lines of Python without the SDK."""
    return Listed(sys.executable, ("-IS", "-c", text))


HELLO = """
import json, os, signal, sys, time
def answer(line, result):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "raw", "version": "1"}}
answer(sys.stdin.readline(), info)
sys.stdin.readline()
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_in(log: Path) -> int:
    return int(log.read_text().split()[1])


def until(true: Any, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def asked(servers: Servers, tool: str, server: str = "s", given_up: Event | None = None, **arguments: Any) -> Reply:
    servers.wait_for(server)
    return servers.ask(server, tool, arguments, given_up or Event())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def servers(log: Path, tmp_path: Path) -> Iterator[Servers]:
    found = Servers({"s": listed(log, COLOUR="red")}, Place(str(tmp_path), {**ENV, "SHAPE": "round"}), 60)
    yield found
    found.close()


def test_one_connection_serves_all_calls_and_ends_with_the_session(servers: Servers, log: Path) -> None:
    first, second = asked(servers, "pid"), asked(servers, "pid")
    assert first == second == Reply(str(pid_in(log)))
    servers.close()
    assert not alive(pid_in(log))
    assert asked(servers, "pid").is_error


def test_calls_are_under_way_together(servers: Servers) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(asked, servers, "meet") for _ in range(2)]
        assert [each.result(30) for each in both] == [Reply("met"), Reply("met")]


def test_a_server_has_the_session_s_environment_and_its_own(servers: Servers) -> None:
    assert [asked(servers, "variable", name=name).text for name in ("COLOUR", "SHAPE")] == ["red", "round"]


def test_arguments_arrive_as_they_are(servers: Servers) -> None:
    assert asked(servers, "echo", text='ü "\n\u2028').text == 'ü "\n\u2028'


def test_a_server_is_told_of_a_call_that_is_given_up(servers: Servers, log: Path) -> None:
    given_up = Event()

    def give_up() -> None:
        until(lambda: log.exists() and "asleep" in log.read_text())
        given_up.set()

    Thread(target=give_up, daemon=True).start()
    assert asked(servers, "sleep", given_up=given_up).is_error
    assert until(lambda: "told" in log.read_text())
    assert asked(servers, "echo", text="still here") == Reply("still here")


def test_a_session_that_ends_in_a_call_tells_the_server(servers: Servers, log: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(asked, servers, "sleep")
        assert until(lambda: log.exists() and "asleep" in log.read_text())
        servers.close()
        assert call.result(10).is_error
    assert "told" in log.read_text()
    assert not alive(pid_in(log))


def test_a_server_that_dies_is_an_error_for_all_calls_to_come(servers: Servers) -> None:
    assert asked(servers, "die").is_error
    assert asked(servers, "echo", text="x").is_error
    assert asked(servers, "echo", server="other") == Reply("MCP server 'other' not connected", is_error=True)


def test_a_program_that_is_not_there_is_not_connected(tmp_path: Path) -> None:
    servers = Servers({"s": Listed("/nowhere/server"), "e": raw("raise SystemExit(1)")}, Place(str(tmp_path), ENV), 60)
    try:
        assert asked(servers, "x") == Reply("MCP server 's' not connected", is_error=True)
        assert asked(servers, "x", server="e") == Reply("MCP server 'e' not connected", is_error=True)
    finally:
        servers.close()


@pytest.mark.parametrize("result", [{}, {"content": 5}, {"content": [{"type": "text"}]}, {"content": [], "isError": 5}])
def test_a_result_of_another_form_is_an_error(tmp_path: Path, result: Any) -> None:
    server = raw(f"{HELLO}\nanswer(sys.stdin.readline(), {result!r})\nsys.stdin.read()")
    servers = Servers({"s": server}, Place(str(tmp_path), ENV), 60)
    try:
        assert asked(servers, "x").is_error
    finally:
        servers.close()


def test_noise_on_stdout_is_overheard(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = '{"content": [{"type": "text", "text": "heard"}]}'
    server = raw(
        f"print('starting up', flush=True)\n{HELLO}\nline = sys.stdin.readline()\nprint('working', flush=True)\n"
        f"print('and complaining', file=sys.stderr, flush=True)\nanswer(line, {text})\nsys.stdin.read()"
    )
    servers = Servers({"s": server}, Place(str(tmp_path), ENV), 60)
    try:
        assert asked(servers, "x") == Reply("heard")
    finally:
        servers.close()
    assert capfd.readouterr().err == ""


def test_who_does_not_answer_is_waited_for_as_long_as_there_is_patience(tmp_path: Path) -> None:
    began = time.monotonic()
    servers = Servers({"s": raw("import sys; sys.stdin.read()")}, Place(str(tmp_path), ENV), 0.3)
    try:
        assert asked(servers, "x") == Reply("MCP server 's' not connected", is_error=True)
        assert 0.3 <= time.monotonic() - began < 5
        assert asked(servers, "x").is_error
    finally:
        servers.close()


def test_who_stays_at_the_end_is_killed(tmp_path: Path) -> None:
    stubborn = f"{HELLO}\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('pid', 'w').write(f'pid {{os.getpid()}}')\n"
    servers = Servers({"s": raw(f"{stubborn}time.sleep(60)")}, Place(str(tmp_path), ENV), 60)
    assert until((tmp_path / "pid").exists)
    servers.close()
    assert not alive(pid_in(tmp_path / "pid"))


# ---- in a session ----------------------------------------------------------------------------------

DENY = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}
LS = {"command": "ls"}


def handler(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "mcp_tool", "server": "s", "tool": tool, "input": arguments}


def list_server(claude: ClaudeProject, log: Path) -> None:
    server = {"command": sys.executable, "args": [str(SERVER), str(log)]}
    (claude.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"s": server}}))


def test_a_server_denies_and_is_gone_with_the_session(claude: ClaudeProject, log: Path) -> None:
    list_server(claude, log)
    claude.configure(PreToolUse=[handler("echo", text=json.dumps(DENY))], SessionStart=[handler("die")])
    runner = claude.runner("2.1.332")
    try:
        runner.fire("SessionStart", {"source": "startup"})
        called = runner.call("Bash", LS, None)
        assert (called.hook, called.outcome, called.reason) == ("deny", "blocked", "no")
        assert "SessionStart: 's/die': hook failed: mcp_tool handlers are not available at SessionStart" in claude.logged[0]
        assert alive(pid_in(log))
    finally:
        runner.close()
    assert not alive(pid_in(log))


def test_no_server_is_started_that_no_handler_asks(claude: ClaudeProject, log: Path) -> None:
    list_server(claude, log)
    claude.configure(PreToolUse=[claude.handler("h1")])
    runner = claude.runner("2.1.332")
    runner.call("Bash", LS, lambda arguments: "")
    runner.close()
    assert not log.exists()


PACKAGE = str(Path(hookproof_reference.__file__).parents[1])


def request(claude: ClaudeProject, path: str) -> bytes:
    """One call of the shell, put to the reference over the protocol."""
    world = {"root": str(claude.folder), "project": str(claude.folder), "home": str(claude.home), "cwd": str(claude.folder)}
    asked = {
        "op": "run",
        "id": "r1",
        "dialect": "claude-code/2.1.332",
        "world": {**world, "env": {}},
        "settings": [{"scope": "project", "path": path}],
        "steps": [{"turn": {"tool_calls": [{"id": "t1", "name": "Bash", "input": LS, "program": None}]}}],
    }
    return json.dumps(asked).encode() + b"\n"


def test_without_the_sdk_it_says_what_to_install(claude: ClaudeProject, log: Path) -> None:
    list_server(claude, log)
    _, path = claude.configure(PreToolUse=[handler("echo")])
    ended = subprocess.run(
        [sys.executable, "-S", "-m", "hookproof_reference"],
        input=request(claude, path),
        env={**ENV, "PYTHONPATH": PACKAGE},
        capture_output=True,
        check=True,
    )
    assert json.loads(ended.stdout) == {"id": "r1", "unsupported": "mcp_tool: install hookproof[mcp]"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_runner_that_is_told_to_stop_leaves_no_server(claude: ClaudeProject, log: Path, number: int) -> None:
    list_server(claude, log)
    _, path = claude.configure(PreToolUse=[handler("sleep")])
    process = subprocess.Popen(
        [sys.executable, "-m", "hookproof_reference"], stdin=subprocess.PIPE, env={**ENV, "PYTHONPATH": PACKAGE}
    )
    assert process.stdin is not None
    process.stdin.write(request(claude, path))
    process.stdin.flush()
    assert until(lambda: log.exists() and "asleep" in log.read_text(), 60)
    process.send_signal(number)
    process.wait(20)
    process.stdin.close()
    # of a runner that is killed, the server notices that its stdin ends
    assert until(lambda: not alive(pid_in(log)))
