"""An http handler: the envelope is posted to its URL, and the body of the answer is read like a command's stdout."""

from __future__ import annotations

from threading import Event

import httpx

from ... import envelopes
from ...handlers import Ended
from ...handlers.inquiry import Question
from .kinds import Asked


def question(asked: Asked) -> Question:
    """Posts the envelope; a status of 200 to 299 is an answer, every other an error (observed)."""
    url = str(asked.handler.options["url"])
    body = envelopes.write_line(asked.envelope)

    def put(given_up: Event) -> Ended:
        with httpx.Client(trust_env=False, follow_redirects=False, timeout=asked.handler.timeout) as client:
            answer = client.post(url, content=body, headers={"Content-Type": "application/json"})
        if not answer.is_success:
            return Ended(error=f"HTTP {answer.status_code}")
        return Ended(exit=0, stdout=answer.content.decode("utf-8", "replace"))

    return put
