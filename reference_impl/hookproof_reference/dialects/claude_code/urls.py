"""URLs as the program reads them: by the rules of browsers (WHATWG URL), as far as http handlers need them.

Unlike RFC 3986 these take backslashes for slashes, resolve `..`, read `0x7f.1` as 127.0.0.1, and escape what
stands raw.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
"""The schemes that must have a host, and the port that need not be written."""

LONGEST_PORT = 5
"""Digits, without zeros before them."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HOST_AND_PORT = re.compile(r"(\[[^]]*\]|[^:]*)(?::([0-9]*))?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\0-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]")
_AROUND = "".join(map(chr, range(0x21)))
"""What is left out before and behind a URL."""


@dataclass(frozen=True, slots=True)
class Url:
    """A URL in its parts, each in its one normal form."""

    scheme: str
    host: str
    """In small letters; an IPv6 address without its brackets."""
    port: int | None
    """None: that of the scheme."""
    path: str
    query: str
    """With its question mark, where there is more than that."""
    user: str = ""
    fragment: str = ""

    @property
    def place(self) -> str:
        """Host and port, as they stand in a URL and in the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The whole URL."""
        user = f"{self.user}@" if self.user else ""
        slashes = "//" if self.host else ""
        return f"{self.scheme}:{slashes}{user}{self.place}{self.path}{self.query}{self.fragment}"


def parsed(text: str) -> Url | None:
    """The URL that a text is; None: it is none, as a path alone."""
    text = re.sub(r"[\t\r\n]", "", text.strip(_AROUND))
    found = _SCHEME.match(text)
    if found is None:
        return None
    scheme, rest = found[1].lower(), text[found.end() :]
    rest, mark, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    tail = (f"?{_escaped(query)}" if query else "", f"#{_escaped(fragment)}" if mark else "")
    rest = rest.replace("\\", "/")
    if scheme not in PORTS and not rest.startswith("//"):
        return Url(scheme, "", None, rest, tail[0], "", tail[1])
    authority, slash, path = (rest.lstrip("/") if scheme in PORTS else rest[2:]).partition("/")
    user, _, place = authority.rpartition("@")
    host_and_port = _HOST_AND_PORT.fullmatch(place)
    if host_and_port is None:
        return None
    host = _host(host_and_port[1]) if host_and_port[1] or scheme in PORTS else ""
    if host is None:
        return None
    digits = host_and_port[2] and (host_and_port[2].lstrip("0") or "0")
    port = int(digits) if digits and len(digits) <= LONGEST_PORT else None
    if digits and (port is None or port > 65535):
        return None
    return Url(scheme, host, None if port == PORTS.get(scheme) else port, _resolved(slash + path), tail[0], user, tail[1])


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, in whatever notation (`2130706433`, `0x7f.1`, `::1`); None: it is a name."""
    if ":" in host:
        try:
            return IPv6Address(host.partition("%")[0])
        except ValueError:
            return None
    if not _ends_in_a_number(host):
        return None
    try:
        return IPv4Address(socket.inet_aton(host.removesuffix(".")))
    except OSError:
        return None


def _ends_in_a_number(host: str) -> bool:
    return _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]) is not None


def _host(text: str) -> str | None:
    """The normal form of a host; None: it cannot be one."""
    if text.startswith("["):
        six = literal(text[1:-1]) if ":" in text else None
        return None if six is None else str(six)
    try:
        host = text.encode("idna").decode("ascii").lower() if not text.isascii() else text.lower()
    except UnicodeError:
        return None
    if not host or _FORBIDDEN.search(host):
        return None
    if not _ends_in_a_number(host):
        return host
    four = literal(host)
    return None if four is None else str(four)


def _resolved(path: str) -> str:
    """The path without `.` and `..`."""
    kept: list[str] = []
    steps = path.split("/")[1:] or [""]
    for number, step in enumerate(steps, 1):
        plain = re.sub("%2e", ".", step, flags=re.IGNORECASE)
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(_escaped(step))
        if plain in (".", "..") and number == len(steps):
            kept.append("")
    return "/" + "/".join(kept)


def _escaped(text: str) -> str:
    return quote(text, safe="%!$&'()*+,-./:;=?@[\\]^_|~", errors="replace")
