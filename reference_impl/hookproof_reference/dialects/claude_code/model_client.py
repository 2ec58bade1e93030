"""A model is asked over the Messages API, with the official client.

Where it is asked, and with which key, stands in the run's environment: ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anthropic
from anthropic.types import Message

MOST_TOKENS = 4096
"""How long an answer may be: the program's own number is not known."""
PUBLIC = "https://api.anthropic.com"

CONNECTIONS = anthropic.DefaultHttpxClient(trust_env=False)
"""One pool for all requests of the process: setting it up takes longer than a request on loopback."""


class NoAnswer(Exception):
    """The model could not be asked, or gave no message; the text says why."""


def ask(env: Mapping[str, str], limit: float, **request: Any) -> Message:
    """One request, answered within `limit` seconds. Raises NoAnswer."""
    key = env.get("ANTHROPIC_API_KEY")
    if not key:
        raise NoAnswer("no model can be asked: ANTHROPIC_API_KEY is not set")
    client = anthropic.Anthropic(
        api_key=key,
        base_url=env.get("ANTHROPIC_BASE_URL") or PUBLIC,
        # whoever configures the handler has the time limit in his hands; trying again would use it up unseen
        max_retries=0,
        http_client=CONNECTIONS,
    )
    try:
        answer = client.messages.create(max_tokens=MOST_TOKENS, timeout=max(limit, 0.001), **request)
    except anthropic.APIError as error:
        raise NoAnswer(f"the model gave no answer: {type(error).__name__}: {error}") from None
    except ValueError as error:
        raise NoAnswer(f"the model's answer is no message: {error}") from None
    if not isinstance(answer, Message) or not isinstance(answer.content, list):
        raise NoAnswer("the model's answer is no message")
    return answer


def text_of(answer: Message) -> str:
    """What a model has said, without its tool calls."""
    return "".join(block.text for block in answer.content if block.type == "text")
