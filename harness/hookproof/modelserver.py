"""The scripted model of a case: probes answer behind the Messages API, for handlers that ask a model.

All handlers of a world ask at one address. Which of them a request comes from is told by its prompt, which
begins with the probe's name in brackets: `[h1] May this run?`. What the probe prints is what the model says:
text, or a JSON list of content blocks.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .cases import Say
from .errors import DialectError

KINDS = ("prompt", "agent")
"""The kinds of handlers that ask a model."""
PATH = "model"
"""What stands behind a world's URL in the base URL of its model."""
VERDICT_TOOL = "StructuredOutput"
"""The tool by which an agent handler gives its verdict (Claude Code, the one dialect with such handlers)."""
QUESTION = "May this go on? $ARGUMENTS"
"""The prompt of a handler that has none of its own."""

_NAME = re.compile(r"\[(h[1-9][0-9]*)\]")
_numbers = itertools.count(1)


def environment(base: str) -> dict[str, str]:
    """What a runner finds in its environment, for the world with this URL: where the model is, and a key for it."""
    return {"ANTHROPIC_BASE_URL": f"{base}/{PATH}", "ANTHROPIC_API_KEY": "no-key-is-needed-here"}


def marker(probe: str) -> str:
    """What stands at the beginning of a probe's prompt."""
    return f"[{probe}]"


def says(say: Say, kind: str) -> str:
    """What a probe prints so that its model gives this answer. Raises DialectError for what a model cannot say."""
    if say.text is not None:
        return json.dumps([{"type": "text", "text": say.text}])
    if say.use is not None:
        return json.dumps([{"type": "tool_use", "name": say.use.tool, "input": say.use.input}])
    if say.native is not None:
        verdict: dict[str, Any] = say.native
    elif say.verdict in ("allow", "deny", "block"):
        verdict = {"ok": say.verdict == "allow"} | ({} if say.reason is None else {"reason": say.reason})
    else:
        raise DialectError(f"a model that is asked whether something may go on has no words for {say.verdict}")
    if kind == "agent":
        return json.dumps([{"type": "tool_use", "name": VERDICT_TOOL, "input": verdict}])
    return json.dumps([{"type": "text", "text": json.dumps(verdict)}])


def asker(body: bytes) -> str | None:
    """The name of the probe that is to answer a request; None: its first message has no such name."""
    messages = _parsed(body).get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    found = _NAME.search(text_of(first))
    return found[1] if found else None


def text_of(value: Any) -> str:
    """The texts in a message, a list of content blocks or a tool result, joined by newlines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text for text in map(text_of, value) if text)
    if isinstance(value, dict):
        return text_of(value.get("text", value.get("content")))
    return ""


def message(body: bytes, stdout: bytes) -> tuple[str, bytes]:
    """What a probe has printed, as the answer to a request: its content type and the bytes."""
    return answer(_parsed(body), _blocks(stdout))


def answer(request: Mapping[str, Any], content: Sequence[Mapping[str, Any]]) -> tuple[str, bytes]:
    """Content blocks as the answer to a request, as a stream of events where it asks for one; tool calls get an id."""
    blocks = [{"id": f"toolu_{next(_numbers):08}", **block} if block["type"] == "tool_use" else dict(block) for block in content]
    whole = {
        "id": f"msg_{next(_numbers):08}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model") or "scripted",
        "content": blocks,
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    if request.get("stream") is not True:
        return "application/json", json.dumps(whole).encode()
    return "text/event-stream", b"".join(_event(event) for event in _events(whole, blocks))


def _events(whole: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            begun: dict[str, Any] = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block.get("input", {}))}
        else:
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block.get("text", "")}
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _event(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return request if isinstance(request, dict) else {}


def failure(status: int) -> bytes:
    """The body of an answer that is no success."""
    return json.dumps({"type": "error", "error": {"type": "api_error", "message": f"scripted failure {status}"}}).encode()


def _blocks(stdout: bytes) -> list[dict[str, Any]]:
    text = stdout.decode("utf-8", "replace")
    try:
        blocks = json.loads(text)
    except (ValueError, RecursionError):
        blocks = None
    kinds = [block.get("type") if isinstance(block, dict) else None for block in blocks] if isinstance(blocks, list) else []
    well = kinds and all(kind in ("text", "tool_use") for kind in kinds)
    return blocks if well else [{"type": "text", "text": text}]
