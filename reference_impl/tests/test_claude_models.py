"""Prompt and agent handlers ask a real server on loopback, with the official client."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookproof_reference.dialects.claude_code import kinds, placeholders, verdicts
from hookproof_reference.dialects.claude_code.events import EVENTS
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.handlers import Unsupported
from hookproof_reference.runner import Called, Runner, ToolUse

if TYPE_CHECKING:
    from .conftest import ClaudeProject

OLDER, NEWER = VERSIONS
YES, NO = '{"ok": true}', '{"ok": false, "reason": "not here"}'
Reply = str | list[dict[str, Any]] | tuple[int, bytes]


class Model:
    """A Messages API that gives its replies one after the other: a text, content blocks, or a status with a body."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.delay = 0.0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._requests())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def _requests(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Requests(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append(request)
                model.headers.append({name.lower(): value for name, value in self.headers.items()})
                model.paths.append(self.path)
                time.sleep(model.delay)
                reply = model.replies.pop(0) if len(model.replies) > 1 else model.replies[0]
                status, body = reply if isinstance(reply, tuple) else (200, _message(reply))
                self.send_response_only(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(OSError):  # whoever asked may have gone
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Requests

    def key(self) -> str:
        """The key of the first request: versions of the client put it into one header or the other."""
        return (self.headers[0].get("authorization") or self.headers[0]["x-api-key"]).removeprefix("Bearer ")

    def told(self, number: int = -1) -> str:
        """The last message of a request, as text."""
        return json.dumps(self.requests[number]["messages"][-1], ensure_ascii=False)


def _message(reply: str | list[dict[str, Any]]) -> bytes:
    content = [{"type": "text", "text": reply}] if isinstance(reply, str) else reply
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()


def use(tool: str, ident: str = "toolu_1", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": tool, "input": given}


def verdict(ok: Any, **more: Any) -> list[dict[str, Any]]:
    return [use("StructuredOutput", "toolu_v", ok=ok, **more)]


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.server.shutdown()
    made.server.server_close()


Start = Callable[..., Runner]


@pytest.fixture
def start(claude: ClaudeProject, model: Model) -> Start:
    """A runner whose handlers ask the model."""

    def made(version: str = NEWER, **options: Any) -> Runner:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "dummy", **options.pop("env", {})}
        return claude.runner(version, env=env, **options)

    return made


def call(runner: Runner, tool: str = "Bash", **given: Any) -> Called:
    arguments = given or {"command": "ls"}
    return runner.turn([ToolUse("t1", tool, arguments, lambda arguments: "tool ran")])[0]


def asks(prompt: str = "Fine? $ARGUMENTS", **fields: Any) -> dict[str, Any]:
    return {"type": "prompt", "prompt": prompt, **fields}


def works(prompt: str = "Fine? $ARGUMENTS", **fields: Any) -> dict[str, Any]:
    return {"type": "agent", "prompt": prompt, **fields}


# ---- the request ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_one_request_with_the_key_of_the_run_and_no_tools(
    claude: ClaudeProject, model: Model, start: Start, version: str
) -> None:
    claude.configure(PreToolUse=[asks()])
    model.replies = [YES]
    assert call(start(version)).outcome == "ran"
    (request,) = model.requests
    assert model.paths == ["/v1/messages"]
    assert model.key() == "dummy"
    assert request["model"] == VERSIONS[version].model
    assert "tools" not in request
    assert "stream" not in request
    assert request["output_config"] == {"format": {"type": "json_schema", "schema": verdicts.SCHEMA}}
    (message,) = request["messages"]
    (block,) = message["content"]
    envelope = json.loads(block["text"].removeprefix("Fine? "))
    assert (envelope["hook_event_name"], envelope["tool_input"]) == ("PreToolUse", {"command": "ls"})


def test_the_settings_can_say_where_the_model_is(claude: ClaudeProject, model: Model) -> None:
    claude.configure(PreToolUse=[asks()], more={"env": {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "of-the-file"}})
    model.replies = [NO]
    assert call(claude.runner(NEWER)).outcome == "blocked"
    assert model.key() == "of-the-file"


def test_without_a_key_nobody_is_asked(claude: ClaudeProject, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    # the process that the reference runs in may have one: that is not the run's
    monkeypatch.setenv("ANTHROPIC_API_KEY", "somebody's")
    claude.configure(PreToolUse=[asks()])
    assert call(claude.runner(NEWER, env={"ANTHROPIC_BASE_URL": model.url})).outcome == "ran"
    assert model.requests == []
    assert any("ANTHROPIC_API_KEY is not set" in line for line in claude.logged)


def test_a_proxy_in_the_environment_is_not_asked(
    claude: ClaudeProject, model: Model, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    claude.configure(PreToolUse=[asks()])
    model.replies = [NO]
    assert call(start()).outcome == "blocked"


def test_without_the_library_the_extra_is_named(claude: ClaudeProject, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    for handler in (asks(), works()):
        claude.configure(PreToolUse=[handler])
        with pytest.raises(Unsupported, match=r"install hookproof\[model\]"):
            call(start())


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("handler", [asks(), works()], ids=["prompt", "agent"])
@pytest.mark.parametrize(
    "reply",
    [
        (500, b'{"type": "error", "error": {"type": "api_error", "message": "broken"}}'),
        (429, b"{}"),
        (401, b"who are you?"),
        (200, b"not json"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"type": "message", "content": null}'),
        (200, b'{"type": "message", "content": "text"}'),
        (200, b'{"type": "message", "content": [{"type": "text"}]}'),
        (200, b'{"type": "message", "content": [5]}'),
        (200, b'{"type": "message", "content": [{"type": "tool_use", "id": 1, "name": "Bash", "input": "x"}]}'),
    ],
)
def test_whatever_a_service_does_the_action_passes(
    claude: ClaudeProject, model: Model, start: Start, reply: Reply, handler: dict[str, Any]
) -> None:
    claude.configure(PreToolUse=[handler | {"timeout": 5}])
    model.replies = [reply, "no verdict"]
    assert call(start()).outcome == "ran"
    assert any("hook failed" in line for line in claude.logged)


def test_a_service_that_is_not_there_is_told(claude: ClaudeProject, start: Start) -> None:
    claude.configure(PreToolUse=[asks()])
    assert call(start(env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})).outcome == "ran"
    assert any("the model gave no answer: APIConnectionError" in line for line in claude.logged)


def test_async_is_nothing_that_a_prompt_has(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[asks() | {"async": True}])
    model.replies = [NO]
    assert call(start()).outcome == "blocked"


# ---- the verdict ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (YES, {"ok": True}),
        (f"\n  {NO}\n", {"ok": False, "reason": "not here"}),
        ('{"ok": false, "x": 1}', {"ok": False, "x": 1}),
        ('{"ok": false, "impossible": true}', {"ok": False, "impossible": True}),
        (f"```json\n{YES}\n```", {"ok": True}),
        (f"```\n{YES}\n```\n", {"ok": True}),
        (f"```json\n{YES}\n```\nSo.", None),
        (f"Sure: {YES}", None),
        (f"{YES} {YES}", None),
        ('{"ok": "false"}', None),
        ('{"ok": 0}', None),
        ('{"ok": null}', None),
        ('{"ok": false, "reason": 5}', None),
        ('{"ok": false, "impossible": "no"}', None),
        ('{"reason": "x"}', None),
        ("[]", None),
        ("", None),
        ("true", None),
        ("[" * 100_000, None),
    ],
)
def test_a_verdict_is_one_whole_object(text: str, read: dict[str, Any] | None) -> None:
    assert verdicts.parsed(text) == read


def test_text_in_several_blocks_is_one_text(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[asks()])
    model.replies = [[{"type": "text", "text": NO[:9]}, {"type": "text", "text": NO[9:]}]]
    assert call(start()).outcome == "blocked"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_reason_names_the_prompt(claude: ClaudeProject, model: Model, start: Start, version: str) -> None:
    claude.configure(PreToolUse=[asks(continueOnBlock=True)])
    model.replies = [NO, '{"ok": false}']
    runner = start(version)
    assert call(runner).result == "PreToolUse:Bash hook error: [Fine? $ARGUMENTS]: not here"
    assert call(runner).result == "PreToolUse:Bash hook error: [Fine? $ARGUMENTS]: undefined"


def test_thirteen_events_happen_in_a_conversation() -> None:
    assert {event for event in EVENTS if verdicts.unsupported("prompt", event) is None} == verdicts.EVENTS
    assert len(verdicts.EVENTS) == 13
    assert "PermissionRequest" in str(verdicts.unsupported("agent", "PermissionRequest"))


@pytest.mark.parametrize("event", sorted(verdicts.EVENTS - {"PermissionRequest"}))
@pytest.mark.parametrize("handler", [asks(), works()], ids=["prompt", "agent"])
def test_on_each_of_them_a_model_is_asked(
    claude: ClaudeProject, model: Model, start: Start, event: str, handler: dict[str, Any]
) -> None:
    claude.hooks({event: [handler]})
    model.replies = [NO if handler["type"] == "prompt" else verdict(False, reason="not here")]
    start().fire(event, {})
    assert f'"hook_event_name\\":\\"{event}\\"' in model.told()


def test_a_task_that_is_refused_is_not_there(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.hooks({"TaskCreated": [asks()], "TaskCompleted": [asks()]})
    model.replies = [NO, YES, NO]
    runner = start()
    new = {"subject": "s", "description": "d"}
    refused, created = call(runner, "TaskCreate", **new), call(runner, "TaskCreate", **new)
    assert (refused.outcome, refused.result) == ("failed", "TaskCreated hook feedback:\n[Fine? $ARGUMENTS]: not here")
    assert created.outcome == "ran"
    for change in ({"taskId": "9", "status": "completed"}, {"taskId": "1", "status": "pending"}, {"status": "completed"}):
        assert call(runner, "TaskUpdate", **change).result == "tool ran"
    done = call(runner, "TaskUpdate", taskId="1", status="completed")
    assert (done.outcome, done.result) == ("ran", "TaskCompleted hook feedback:\n[Fine? $ARGUMENTS]: not here")
    assert len(model.requests) == 3


# ---- placeholders --------------------------------------------------------------------------------


JSON = '{"a":"b c","d":{"e":"f"},"g":"h"}'


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("p", f"p\n\nARGUMENTS: {JSON}"),
        ("", f"\n\nARGUMENTS: {JSON}"),
        ("<$ARGUMENTS> <$ARGUMENTS>", f"<{JSON}> <{JSON}>"),
        ("$ARGUMENTS!", f"{JSON}!"),
        (r"\$ARGUMENTS", f"$ARGUMENTS\n\nARGUMENTS: {JSON}"),
        (r"\$1.00 $ARGUMENTS", f"$1.00 {JSON}"),
        ("${ARGUMENTS} $TOOL_INPUT $arguments", f"${{ARGUMENTS}} $TOOL_INPUT $arguments\n\nARGUMENTS: {JSON}"),
        ("<$0> <$ARGUMENTS[0]>", '<{"a":"b> <{"a":"b>'),
        ("<$7> <$ARGUMENTS[99]>", "<> <>"),
        ("$0x", f"$0x\n\nARGUMENTS: {JSON}"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_prompt_is_filled(prompt: str, text: str, version: str) -> None:
    assert placeholders.filled(prompt, JSON, VERSIONS[version]) == text


def test_what_is_put_in_is_not_filled_again() -> None:
    assert placeholders.filled("$ARGUMENTS", '{"a":"$0 $ARGUMENTS"}', VERSIONS[NEWER]) == '{"a":"$0 $ARGUMENTS"}'


def test_words_lose_their_quotes_at_one_version_only() -> None:
    text = '{"a":"b","c":{"d":"e"},"f":"g","h":{"i":"j k"}}'
    assert placeholders.words(text, VERSIONS[OLDER])[0] == '{"a":"b","c":{"d":"e"},"f":"g","h":{"i":"j'
    assert placeholders.words(text, VERSIONS[NEWER])[0] == '{"a":"b","c":{"d":"e"},f:g,h:{"i":"j'


# ---- agents --------------------------------------------------------------------------------------


def test_an_agent_works_with_files_and_the_shell(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works()])
    model.replies = [
        [use("Write", file_path="new/a.txt", content="one two")],
        [use("Edit", file_path="new/a.txt", old_string="two", new_string="three")],
        [use("Read", file_path=str(claude.folder / "new/a.txt"))],
        [use("Bash", command="cat new/a.txt; echo oops >&2; exit 3")],
        verdict(False, reason="seen"),
    ]
    called = call(start())
    assert (called.outcome, called.reason) == ("blocked", "Agent hook condition was not met: seen")
    assert (claude.folder / "new/a.txt").read_text() == "one three"
    assert '"content": "one three", "is_error": false' in model.told(3)
    assert "Exit code 3" in model.told(4)
    assert "oops" in model.told(4)
    assert '"is_error": true' in model.told(4)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (use("Grep", pattern="x"), "No such tool available: Grep"),
        (use("Bash"), "The required parameter `command` is missing"),
        (use("Bash", command="true", bogus=1), "An unexpected parameter `bogus`"),
        (use("Read", file_path="nowhere"), "No such file"),
        (use("Read", file_path="a\0b"), "null"),
        (use("Edit", file_path="it", old_string="x", new_string="y"), "2 times"),
        (use("Edit", file_path="it", old_string="", new_string="y"), "0 times"),
        (use("StructuredOutput", ok="no"), "`ok` must be true or false"),
        (use("StructuredOutput", reason="x"), "`ok` must be true or false"),
        (use("StructuredOutput", ok=False, reason=3), "`reason` must be a string"),
    ],
)
def test_a_wrong_call_is_told_to_the_agent(
    claude: ClaudeProject, model: Model, start: Start, wrong: dict[str, Any], told: str
) -> None:
    claude.configure(PreToolUse=[works()])
    (claude.folder / "it").write_text("xx")
    model.replies = [[wrong], verdict(True)]
    assert call(start()).outcome == "ran"
    assert told in model.told()
    assert '"is_error": true' in model.told()


def test_the_verdict_of_several_calls_in_one_turn_counts(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works()])
    model.replies = [[use("Bash", command="touch made"), *verdict(False, reason="both")]]
    assert call(start()).outcome == "blocked"
    assert (claude.folder / "made").exists()


def test_a_rule_that_denies_holds_for_an_agent(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works()], more={"permissions": {"deny": ["Bash(touch *)"]}})
    model.replies = [[use("Bash", command="touch made")], verdict(True)]
    assert call(start()).outcome == "ran"
    assert not (claude.folder / "made").exists()
    assert "denied" in model.told()


def test_nobody_is_asked_for_a_permission_but_the_verdict_needs_none(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works()])
    model.replies = [[use("Bash", command="touch made")], verdict(False, reason="still heard")]
    called = call(start(host="ask", approver="allow_once"))
    assert called.reason == "Agent hook condition was not met: still heard"
    assert not (claude.folder / "made").exists()


def test_a_hook_may_rewrite_and_comment_what_an_agent_does(claude: ClaudeProject, model: Model, start: Start) -> None:
    own = {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo rewritten"}, "additionalContext": "mind the gap"}
    rewriting = claude.prints("r", {"hookSpecificOutput": own})
    claude.write({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [works()]}, {"matcher": "Bash", "hooks": [rewriting]}]}})
    model.replies = [[use("Bash", command="echo asked")], verdict(True)]
    assert call(start(), "Write", file_path="a", content="b").outcome == "ran"
    assert '"rewritten"' in model.told()
    assert "mind the gap" in model.told()


def test_a_hook_that_ends_the_run_ends_only_the_agent(claude: ClaudeProject, model: Model, start: Start) -> None:
    stopping = claude.prints("s", {"continue": False})
    claude.write({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [works()]}, {"matcher": "Bash", "hooks": [stopping]}]}})
    model.replies = [[use("Bash", command="true")], verdict(False)]
    runner = start()
    assert call(runner, "Write", file_path="a", content="b").outcome == "ran"
    assert runner.over is None
    assert len(model.requests) == 1


def test_an_agent_that_never_gives_a_verdict_is_given_up(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works()])
    model.replies = [[use("Grep")]]
    assert call(start()).outcome == "ran"
    assert len(model.requests) == 50


@pytest.mark.parametrize(("version", "asked"), [(OLDER, 1), (NEWER, 2)])
def test_words_are_no_verdict(claude: ClaudeProject, model: Model, start: Start, version: str, asked: int) -> None:
    claude.configure(PreToolUse=[works()])
    model.replies = ["I say no", NO]
    assert call(start(version)).outcome == "ran"
    assert len(model.requests) == asked


def test_what_an_agent_has_started_ends_with_its_time(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[works(timeout=0.6)])
    model.replies = [[use("Bash", command="echo $$ >pid; exec sleep 30")], verdict(False)]
    began = time.monotonic()
    assert call(start()).outcome == "ran"
    assert time.monotonic() - began < 5
    number = int((claude.folder / "pid").read_text())
    deadline = time.monotonic() + 5
    while _runs(number) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(number)


def test_a_late_answer_is_not_waited_for(claude: ClaudeProject, model: Model, start: Start) -> None:
    claude.configure(PreToolUse=[asks(timeout=0.5)])
    model.replies, model.delay = [NO], 3
    began = time.monotonic()
    assert call(start()).outcome == "ran"
    assert time.monotonic() - began < 2.5
    assert any("timed out after 0.5s" in line for line in claude.logged)


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
