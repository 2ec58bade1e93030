"""What settings let an http handler do: to which URLs it may go, and which variables its headers may hold."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from . import urls
from .urls import Url
from .versions import Version

URLS = "allowedHttpHookUrls"
VARIABLES = "httpHookAllowedEnvVars"
LISTS = (URLS, VARIABLES)
"""The settings that hold http handlers back; each is a list of texts."""

CREDENTIALS = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "NPM_TOKEN",
    }
)
"""The variables that a version which keeps them back never sends.

Observed of the API key, AWS_SECRET_ACCESS_KEY and NPM_TOKEN, while GITHUB_TOKEN and OPENAI_API_KEY are sent; the
others stand in the bundle of 2.1.332, whose list is longer.
"""

_VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}|\$([A-Z_][A-Z0-9_]*)")
_NOT_SENT = re.compile(r"[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]")
"""What is left out of the values of headers: line breaks and other controls, and what is none of the first 256 letters."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTHS = ("content-length", "transfer-encoding")

_STAR = "zzstarzz"
"""Stands for `*` while a pattern is read as a URL."""
_ANY_PORT = re.compile(rf":{_STAR}(?=[/?#]|$)")


class Refused(Exception):
    """A handler that may not be asked, or not like this; the message says why."""


def listed(contents: Iterable[Mapping[str, Any]], name: str) -> list[str] | None:
    """What the lists of all files hold together; None: no file has one, and nothing is held back."""
    lists = [content[name] for content in contents if name in content]
    return [each for one in lists for each in one] if lists else None


def check_url(url: str, contents: Iterable[Mapping[str, Any]]) -> None:
    """Raises Refused for a URL that no pattern of the settings allows."""
    patterns = listed(contents, URLS)
    if patterns is not None and not any(allows(pattern, url) for pattern in patterns):
        raise Refused(f"{url} is not sent to: no pattern of {URLS} allows it")


def allows(pattern: str, url: str) -> bool:
    """Whether a pattern covers a URL, part by part; `*` stands for anything, also in the place of a port (observed).

    User, password and fragment are not looked at. A pattern that ends with its host covers all paths there.
    """
    if pattern == "*":
        return True
    target = urls.parsed(url)
    if target is None:
        return False
    starred = pattern.replace("*", _STAR)
    wanted, any_port = urls.parsed(starred), False
    if wanted is None:
        wanted, any_port = urls.parsed(_ANY_PORT.sub(":0", starred)), True
    if wanted is None:
        return _allows_text(pattern, target)
    if wanted.scheme not in (_STAR, target.scheme) or not _fits(wanted.host.removesuffix("."), target.host.removesuffix(".")):
        return False
    any_port = any_port or (wanted.port is None and _STAR in wanted.host)
    if not any_port and wanted.port != target.port:
        return False
    if wanted.path + wanted.query == "/" and not starred.endswith("/"):
        return True
    return _fits(wanted.path + wanted.query, target.path + target.query)


def _fits(starred: str, text: str) -> bool:
    first, *rest = starred.split(_STAR)
    if not rest:
        return text == first
    *between, last = rest
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    # each part as early as it comes: an expression would try all ways to share the text among many stars
    at, end = len(first), len(text) - len(last)
    for part in between:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _allows_text(pattern: str, target: Url) -> bool:
    """A pattern that is no URL is held against the text of one; there, `*` ends at a slash (bundle of 2.1.332)."""
    text = f"{target.scheme}://{target.place}{target.path}{target.query}"
    pieces, given = pattern.split("/"), text.split("/")
    return len(pieces) == len(given) and all(
        _fits(piece.replace("*", _STAR), part) for piece, part in zip(pieces, given, strict=True)
    )


def headers(
    options: Mapping[str, Any], env: Mapping[str, str], contents: Iterable[Mapping[str, Any]], version: Version, url: Url
) -> dict[str, str]:
    """The headers of a request to `url`, with the variables filled in that handler and settings allow; others are empty.

    Raises Refused for a name that no header can have.
    """
    allowed = set(options.get("allowedEnvVars", ()))
    general = listed(contents, VARIABLES)
    if general is not None:
        allowed &= set(general)
    if version.keeps_credentials:
        allowed -= CREDENTIALS

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return env.get(name, "") if name in allowed else ""

    filled = {"Host": url.place, "Content-Type": "application/json"}
    for written, text in options.get("headers", {}).items():
        name = written.strip()
        if not _TOKEN.fullmatch(name):
            raise Refused(f"{name!r} is no name of a header")
        if name.lower() in _LENGTHS:
            continue  # told from the body
        filled = {other: kept for other, kept in filled.items() if other.lower() != name.lower()}
        filled[name] = _NOT_SENT.sub("", _VARIABLE.sub(value, text)).strip(" \t")
    if url.user:
        # as it stands in the URL, and before an Authorization of the settings (observed)
        user = url.user if ":" in url.user else f"{url.user}:"
        filled = {name: kept for name, kept in filled.items() if name.lower() != "authorization"}
        filled["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
    return filled
