"""The scripted model of a case: probes answer behind the Messages API, for handlers that ask a model.

All handlers of a world ask at one address. Which of them a request comes from is told by its prompt, which
begins with the probe's name in brackets: `[h1] May this run?`. What the probe prints is what the model says:
text, or a JSON list of content blocks.
"""

from __future__ import annotations

import itertools
import json
import re
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
    try:
        first = json.loads(body)["messages"][0]
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        return None
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


def message(body: bytes, stdout: bytes) -> bytes:
    """What a probe has printed, as the answer to a request."""
    try:
        model = json.loads(body).get("model")
    except (ValueError, RecursionError, AttributeError):
        model = None
    content = [{"id": f"toolu_{next(_numbers):08}", **block} if block["type"] == "tool_use" else block for block in _blocks(stdout)]
    uses = any(block["type"] == "tool_use" for block in content)
    answer = {
        "id": f"msg_{next(_numbers):08}",
        "type": "message",
        "role": "assistant",
        "model": model or "scripted",
        "content": content,
        "stop_reason": "tool_use" if uses else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    return json.dumps(answer).encode()


def failure(status: int) -> bytes:
    """The body of an answer that is no success."""
    return json.dumps({"type": "error", "error": {"type": "api_error", "message": f"scripted failure {status}"}}).encode()


def _blocks(stdout: bytes) -> list[dict[str, Any]]:
    text = stdout.decode("utf-8", "replace")
    try:
        blocks = json.loads(text)
    except (ValueError, RecursionError):
        blocks = None
    well = isinstance(blocks, list) and blocks and all(isinstance(b, dict) and b.get("type") in ("text", "tool_use") for b in blocks)
    return blocks if well else [{"type": "text", "text": text}]
