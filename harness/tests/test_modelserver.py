"""The scripted model of a case, asked with the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from hookproof import modelserver
from hookproof.cases import Say, Use
from hookproof.dialects import Answer
from hookproof.errors import DialectError
from hookproof.loopback import Route
from hookproof.probe import Act, ProbeKit

TOOL: Any = {"name": "StructuredOutput", "input_schema": {"type": "object"}}


class World:
    """A ledger folder with a probe h1 behind the server."""

    def __init__(self, folder: Path) -> None:
        self.kit = ProbeKit(folder / "kit")
        self.folder = folder / "p"
        self.folder.mkdir()
        self.token = self.kit.loopback.token()
        env = modelserver.environment(self.kit.loopback.base(self.token))
        self.client = anthropic.Anthropic(
            api_key=env["ANTHROPIC_API_KEY"],
            base_url=env["ANTHROPIC_BASE_URL"],
            http_client=anthropic.DefaultHttpxClient(trust_env=False),
        )

    def place(self, *stdout: str, **more: Any) -> None:
        act = Act(answers=tuple(Answer(stdout=text) for text in stdout) or (Answer(),), signal=more.pop("signal", None))
        self.kit.loopback.serve(self.token, "h1", Route(str(self.kit.place(self.folder, "h1", act)), **more))

    def ask(self, prompt: str = "[h1] Fine?", **more: Any) -> Any:
        return self.client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": prompt}], **more)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.kit.close()


def test_the_probe_that_the_prompt_names_is_the_model(world: World) -> None:
    world.place("one thing", "another")
    assert [world.ask().content[0].text for _ in range(2)] == ["one thing", "another"]
    read = json.loads((world.folder / "h1.2.in").read_bytes())
    assert read["messages"] == [{"role": "user", "content": "[h1] Fine?"}]


def test_a_list_of_blocks_is_what_the_model_says(world: World) -> None:
    world.place(modelserver.says(Say(use=Use("Bash", {"command": "ls"})), "agent"))
    answer = world.ask(tools=[TOOL])
    assert answer.stop_reason == "tool_use"
    assert (answer.content[0].name, answer.content[0].input) == ("Bash", {"command": "ls"})
    assert answer.content[0].id.startswith("toolu_")


@pytest.mark.parametrize("text", ["[]", "[5]", '[{"type": "image"}]', "", '{"ok": true}'])
def test_all_else_is_text(world: World, text: str) -> None:
    world.place(text)
    assert [block.text for block in world.ask().content] == [text]


def test_who_wants_a_stream_gets_one(world: World) -> None:
    world.place(
        json.dumps([{"type": "text", "text": "so"}, {"type": "tool_use", "name": "StructuredOutput", "input": {"ok": False}}])
    )
    with world.client.messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "[h1] Fine?"}], tools=[TOOL]
    ) as stream:
        answer: Any = stream.get_final_message()
    assert (answer.content[0].text, answer.content[1].input, answer.stop_reason) == ("so", {"ok": False}, "tool_use")


@pytest.mark.parametrize("prompt", ["Fine?", "[h2] Fine?", "h1"])
def test_a_request_of_nobody_is_not_found(world: World, prompt: str) -> None:
    world.place("yes")
    with pytest.raises(anthropic.NotFoundError):
        world.ask(prompt)


def test_a_failure_is_asked_once(world: World) -> None:
    world.place("yes", status=500)
    with pytest.raises(anthropic.InternalServerError, match="scripted failure 500"):
        world.ask()
    assert not (world.folder / "h1.2.s").exists()


def test_a_probe_that_dies_gives_no_answer(world: World) -> None:
    world.place(signal="KILL")
    with pytest.raises(anthropic.APIConnectionError):
        world.client.with_options(max_retries=0).messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "[h1]"}]
        )


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"messages": 5}', b'{"messages": []}', b'{"messages": [5]}', b"[" * 99_999]
)
def test_what_is_no_request_comes_from_nobody(body: bytes) -> None:
    assert modelserver.asker(body) is None
    assert b'"scripted"' in modelserver.message(body, b"x")[1]


@pytest.mark.parametrize(
    ("say", "kind", "wanted"),
    [
        (Say(verdict="allow"), "prompt", [{"type": "text", "text": '{"ok": true}'}]),
        (Say(verdict="deny", reason="no"), "prompt", [{"type": "text", "text": '{"ok": false, "reason": "no"}'}]),
        (Say(verdict="block"), "agent", [{"type": "tool_use", "name": "StructuredOutput", "input": {"ok": False}}]),
        (Say(native={"ok": 5}), "agent", [{"type": "tool_use", "name": "StructuredOutput", "input": {"ok": 5}}]),
        (Say(text="hm"), "agent", [{"type": "text", "text": "hm"}]),
    ],
)
def test_a_neutral_answer_in_a_models_words(say: Say, kind: str, wanted: list[dict[str, Any]]) -> None:
    assert json.loads(modelserver.says(say, kind)) == wanted


def test_a_model_has_no_words_for_asking() -> None:
    with pytest.raises(DialectError, match="no words for ask"):
        modelserver.says(Say(verdict="ask"), "prompt")
