"""An http handler: the envelope is posted to its URL, and the body of the answer is read like a command's stdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Event

import httpx

from ... import envelopes
from ...handlers import Ended
from ...handlers.inquiry import Question
from . import addresses, answers, http_policy, urls
from .addresses import Blocked
from .http_policy import Refused
from .kinds import Asked
from .urls import Url

LONGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read; a longer one is none."""
LONGEST_TOLD = 200
"""Characters of an answer that is none which are told."""
SCHEMES = ("http", "https")
"""What is spoken; URLs of other schemes are no mistakes before they are asked (observed)."""
WHITE = " \t\r\n\ufeff"
"""An answer of nothing else is an empty one (observed)."""


def question(asked: Asked) -> Question:
    """Posts the envelope; a status of 200 to 299 with one JSON object or nothing is an answer, all else an error (observed)."""
    body = envelopes.write_line(asked.envelope)

    def put(given_up: Event) -> Ended:
        try:
            return Ended(exit=0, stdout=_answer(asked, body, given_up))
        except httpx.TimeoutException:
            return Ended(timed_out=True)
        except (Refused, Blocked, OSError, httpx.HTTPError, httpx.InvalidURL) as error:
            return Ended(error=str(error) or type(error).__name__)

    return put


def _answer(asked: Asked, body: bytes, given_up: Event) -> str:
    """The text of a good answer. Raises what stands in the way of one."""
    hooks, options = asked.hooks, asked.handler.options
    http_policy.check_url(options["url"], hooks.contents)
    url = urls.parsed(options["url"])
    if url is None or url.scheme not in SCHEMES:
        raise Refused(f"{options['url']} is not sent to: only {' and '.join(SCHEMES)} are spoken")
    headers = http_policy.headers(options, hooks.base, hooks.contents, hooks.dialect.version, url)
    wire = {name.encode("ascii"): value.encode(hooks.dialect.version.header_letters) for name, value in headers.items()}
    places = addresses.reachable(url.host, url.port or urls.PORTS[url.scheme], hooks.dialect.version)
    # certificates are read only where one is checked: that takes longer than an answer
    with httpx.Client(trust_env=False, timeout=asked.handler.timeout, verify=url.scheme == "https") as client:
        while not given_up.is_set():
            try:
                return _asked_at(places.pop(0), url, wire, body, client, given_up)
            except httpx.ConnectError:
                if not places:
                    raise
    raise Refused(f"nobody waits any more for an answer from {url.text}")


def _asked_at(place: str, url: Url, headers: Mapping[bytes, bytes], body: bytes, client: httpx.Client, given_up: Event) -> str:
    """Asks one address of the URL's host: that one which was found reachable, and no other."""
    at = httpx.URL(replace(url, host=place, user="", fragment="").text)
    with client.stream("POST", at, content=body, headers=headers, extensions={"sni_hostname": url.host}) as answer:
        if not answer.is_success:
            raise Refused(f"HTTP {answer.status_code} from {url.text}")
        heard = bytearray()
        for chunk in answer.iter_bytes():
            heard += chunk
            if given_up.is_set() or len(heard) > LONGEST:
                raise Refused(f"the answer from {url.text} is longer than {LONGEST >> 20} MiB, or nobody waits for it any more")
    text = heard.decode("utf-8", "replace")
    if not text.strip(WHITE):
        return ""
    if answers.parsed(text) is None:
        # a broken object is not repeated, other text is (observed)
        what = "broken JSON" if text.strip(WHITE).startswith("{") else f"no JSON object: {text[:LONGEST_TOLD]}"
        raise Refused(f"the answer from {url.text} is {what}")
    return text
