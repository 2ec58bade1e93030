"""URLs as the program reads them, the patterns that cover them, and the addresses to which they may lead."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from hookproof_reference.dialects.claude_code import addresses, configuration, events, http_policy, urls
from hookproof_reference.dialects.claude_code.addresses import Blocked
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.settings import SettingsError

OLD, NEW = VERSIONS["2.1.178"], VERSIONS["2.1.332"]
BOTH = pytest.mark.parametrize("version", [OLD, NEW], ids=lambda version: version.number)
HERE = "http://127.0.0.1:8123"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("http://a.example/x?y=1#z", "http://a.example/x?y=1#z"),
        (" HTTP://A.Example:80 ", "http://a.example/"),
        ("https://a.example:443/", "https://a.example/"),
        ("https://a.example:80/", "https://a.example:80/"),
        ("http:a.example/x", "http://a.example/x"),
        ("http:////a.example\\x\\y", "http://a.example/x/y"),
        ("http://a.example/x/../y/./z/..", "http://a.example/y/"),
        ("http://a.example/../../x/%2e%2E/.", "http://a.example/"),
        ("http://a.example/a b/\u00fc?\u00fc b", "http://a.example/a%20b/%C3%BC?%C3%BC%20b"),
        ("http://a.exa\nmple/\t", "http://a.example/"),
        ("http://u:p@a.example@b.example/", "http://u:p@a.example@b.example/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.1:8/", "http://127.0.0.1:8/"),
        ("http://[::FFFF:10.0.0.1]:8/", "http://[::ffff:a00:1]:8/"),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
        ("ftp://a.example/x", "ftp://a.example/x"),
        ("file:///etc/passwd", "file:/etc/passwd"),
        ("localhost:80/x", "localhost:80/x"),
        ("mailto:x", "mailto:x"),
        ("http://a.example/x?", "http://a.example/x"),
    ],
)
def test_a_url_has_one_normal_form(text: str, normal: str) -> None:
    url = urls.parsed(text)
    assert url is not None
    assert url.text == normal


NO_URLS = (
    *("", "x", "/x", "//x", ":x", "127.0.0.1:80/x", "1http://a/"),
    *("http://", "http:///", "http://a b/", "http://a%b/", "http://a<b/", "http://a:99999/", "http://a:8x/"),
    *("http://[::1/", "http://[1.2.3.4]/", "http://1.2.3.4.5/", "http://256.1.1.1/"),
)
ODD = (
    *("http://" + "a" * 100_000, "http://a/" + "../" * 50_000, "http://a:" + "9" * 5000, "http://a:" + "0" * 5000 + "80"),
    *("\ud800://a", "http://\ud800/", "http://a/\ud800?\ud800"),
)


@pytest.mark.parametrize("text", NO_URLS)
def test_other_texts_are_none(text: str) -> None:
    assert urls.parsed(text) is None


@pytest.mark.parametrize(
    "text", [*ODD, "\ud800://a", "http://\ud800/", "http://a/\ud800?\ud800"], ids=lambda text: ascii(text)[:20]
)
def test_odd_texts_are_no_trouble(text: str) -> None:
    found = urls.parsed(text)
    assert found is None or found.text.isascii()


ASKED = (
    "/hook/none",
    "/hook/x/../none",
    "/hook/none?a=1",
    "/hook/NONE",
    "/hook/sp ace",
    "http://u:p@127.0.0.1:8123/hook/h2",
    "HTTP://127.0.0.1:8123/hook/h1",
    "http://LOCALHOST:8123/hook/h3",
)
"""What was asked of both versions with each of these patterns in the list."""


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("*", {0, 1, 2, 3, 4, 5, 6, 7}),
        (HERE, {0, 1, 2, 3, 4, 5, 6}),
        (f"{HERE}/", set()),
        (f"{HERE}/hook/none", {0, 1}),
        (f"{HERE}/hook/*", {0, 1, 2, 3, 4, 5, 6}),
        (f"{HERE}/hook/x/*", set()),
        (f"{HERE}*", set()),
        ("http://127.0.0.1*", {0, 1, 2, 3, 4, 5, 6}),
        ("http://127.0.0.1", set()),
        ("http://127.0.0.1/*", set()),
        ("http://localhost:*", {7}),
        ("http://LocalHost*", {7}),
        ("*://127.0.0.1:*", {0, 1, 2, 3, 4, 5, 6}),
        ("*127.0.0.1*", set()),
        (f"{HERE}/hook/none?*", {2}),
        (f"{HERE}/hook/none*", {0, 1, 2}),
        ("http://u:p@127.0.0.1:*", {0, 1, 2, 3, 4, 5, 6}),
        ("http://*:8123/hook/h*", {5, 6, 7}),
        (f"{HERE}/hook/n*e", {0, 1}),
        (f"{HERE}/HOOK/none", set()),
        (f"{HERE}/hook/sp ace", {4}),
        (f"{HERE}/hook/sp%20ace", {4}),
        (f"{HERE}/hook/none#f", {0, 1}),
        ("https://127.0.0.1:*", set()),
        ("HTTP://127.0.0.1:8123/hook/none", {0, 1}),
        ("http://127.0.0.1:.*", set()),
        (f"{HERE}/hook/non?", set()),
        ("", set()),
    ],
)
def test_patterns_cover_what_was_seen_to_be_asked(pattern: str, covered: set[int]) -> None:
    asked = [url if "://" in url else HERE + url for url in ASKED]
    assert {number for number, url in enumerate(asked) if http_policy.allows(pattern, url)} == covered


@pytest.mark.parametrize(
    ("pattern", "url", "covered"),
    [
        ("http://a.example:*/x", "http://a.example:1/x", True),
        ("http://a.example:*/x", "http://a.example/x", True),
        ("http://a.example:*/x", "http://a.example/y", False),
        ("http://a.example.:80/", "http://a.example/", True),
        ("http://*.example/", "http://b.a.example/", True),
        ("http://*.example/", "http://example/", False),
        ("http://*.example/", "http://evil.test/.example/", False),
        ("http://a.example/*", "http://a.example@b.example/", False),
        ("http://0x7f.1/*", "http://127.0.0.1/x", True),
        ("*//a.example/*", "http://a.example/x", True),
        ("*//a.example/*", "http://a.example/x/y", False),
        ("http://a.example/*", "no url", False),
        ("http://a.example/(x)+", "http://a.example/(x)+", True),
    ],
)
def test_patterns_are_read_part_by_part(pattern: str, url: str, covered: bool) -> None:
    assert http_policy.allows(pattern, url) is covered


def test_many_stars_cost_no_time() -> None:
    assert not http_policy.allows("http://a/" + "*a" * 12 + "b", "http://a/" + "a" * 60)


@BOTH
@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "fd00::1",
        "fe80::1",
        "::",
        "::ffff:10.0.0.1",
    ],
)
def test_a_name_must_not_lead_into_the_private_network(address: str, version: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "resolved", lambda host, port: ["8.8.8.8", address])
    with pytest.raises(Blocked, match=f"internal.test leads to {address}, which is private"):
        addresses.reachable("internal.test", 80, version)


@BOTH
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1"])
def test_a_name_may_lead_to_loopback_and_to_public_addresses(address: str, version: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "resolved", lambda host, port: [address])
    assert addresses.reachable("internal.test", 80, version) == [address]


NUMBERS = [
    "127.0.0.2",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "0.0.0.0",
    "100.64.0.1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "2130706433",
    "0x0a000001",
]


@BOTH
@pytest.mark.parametrize("host", NUMBERS)
def test_a_number_is_asked_wherever_it_leads(host: str, version: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "resolved", lambda host, port: pytest.fail("a number is no name"))
    plain = {"2130706433": "127.0.0.1", "0x0a000001": "10.0.0.1", "::ffff:10.0.0.1": "::ffff:a00:1"}
    assert addresses.reachable(host, 80, version) == [plain.get(host, host)]


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "169.254.1.1", "100.100.100.200", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254"]
)
def test_only_the_newer_version_keeps_away_from_the_services_of_a_cloud(host: str) -> None:
    assert len(addresses.reachable(host, 80, OLD)) == 1
    with pytest.raises(Blocked, match="is an address of the link or of a cloud's own services"):
        addresses.reachable(host, 80, NEW)


def test_a_name_without_an_address_is_an_error_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*given: Any, **named: Any) -> Any:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(OSError, match="not known"):
        addresses.reachable("nowhere.test", 80, NEW)


def fill(text: str, env: dict[str, str], allowed: list[str], version: Any = NEW, *contents: dict[str, Any]) -> str:
    options = {"headers": {"X-A": text}, "allowedEnvVars": allowed}
    url = urls.parsed("http://a.example/")
    assert url is not None
    return http_policy.headers(options, env, contents, version, url)["X-A"]


@BOTH
@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("v $MYVAR", "v secret-1"),
        ("v ${MYVAR}", "v secret-1"),
        ("$NOTALLOWED", ""),
        ("Bearer $NOTALLOWED", "Bearer"),
        ("$UNSET_BUT_ALLOWED|", "|"),
        ("$$MYVAR", "$secret-1"),
        ("$myvar $MYVAR2x ${MYVAR", "$myvar twox ${MYVAR"),
        ("\\$MYVAR", "\\secret-1"),
        ("$A$MYVAR $1MYVAR ${ MYVAR} $", "secret-1 $1MYVAR ${ MYVAR} $"),
        ("a\r\nX-Inj: 1\0b", "aX-Inj: 1b"),
        ("<$CRLF>", "<aX-Inj: 1>"),
        ("<$REF>", "<$MYVAR>"),
        ("a\tb\x01\x7fc\u20ac\u00fc", "a\tbc\u00fc"),
    ],
)
def test_variables_are_filled_in_as_was_seen(text: str, filled: str, version: Any) -> None:
    env = {"MYVAR": "secret-1", "NOTALLOWED": "leak", "MYVAR2": "two", "CRLF": "a\r\nX-Inj: 1", "myvar": "low", "REF": "$MYVAR"}
    assert fill(text, env, ["MYVAR", "UNSET_BUT_ALLOWED", "MYVAR2", "myvar", "CRLF", "REF"], version) == filled


@pytest.mark.parametrize(
    ("lists", "filled"),
    [([], "12"), ([["A"]], "1"), ([["A"], ["B", "C"]], "12"), ([[]], ""), ([[], ["B"]], "2"), ([["C"]], "")],
)
def test_general_lists_add_up_and_only_narrow(lists: list[list[str]], filled: str) -> None:
    contents = [{http_policy.VARIABLES: each} for each in lists]
    assert fill("$A$B$C", {"A": "1", "B": "2", "C": "3"}, ["A", "B"], NEW, {}, *contents) == filled


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN"])
def test_credentials_are_kept_by_the_newer_version_only(name: str) -> None:
    assert fill(f"<${name}>", {name: "dummy"}, [name], OLD) == "<dummy>"
    assert fill(f"<${name}>", {name: "dummy"}, [name], NEW) == "<>"
    assert fill("<$GITHUB_TOKEN>", {"GITHUB_TOKEN": "t"}, ["GITHUB_TOKEN"], NEW) == "<t>"


def headers(given: dict[str, str], url: str = "http://a.example:81/") -> dict[str, str]:
    parsed = urls.parsed(url)
    assert parsed is not None
    return http_policy.headers({"headers": given}, {}, (), NEW, parsed)


def test_own_headers_take_the_place_of_the_usual_ones() -> None:
    assert headers({}) == {"Host": "a.example:81", "Content-Type": "application/json"}
    assert headers({"content-type": "a/b", "HOST": "other"}) == {"content-type": "a/b", "HOST": "other"}
    assert headers({" X-B ": "1", "x-b": "2", "Content-Length": "3", "transfer-encoding": "chunked"})["x-b"] == "2"
    assert len(headers({" X-B ": "1", "x-b": "2", "Content-Length": "3", "transfer-encoding": "chunked"})) == 3


@pytest.mark.parametrize("name", ["Bad Name", "", " ", "X:Y", "X\u00fc", "X\r\nY"])
def test_a_name_that_no_header_can_have_is_refused(name: str) -> None:
    with pytest.raises(http_policy.Refused, match="is no name of a header"):
        headers({name: "x"})


def test_a_user_in_the_url_is_authorization_to_the_letter() -> None:
    assert headers({"authorization": "Bearer x"}, "http://us:pa%20ss@a.example/")["Authorization"] == "Basic dXM6cGElMjBzcw=="
    assert headers({}, "http://us@a.example/")["Authorization"] == "Basic dXM6"


def handlers(entry: dict[str, Any], version: Any, **more: Any) -> list[Any]:
    content = {"hooks": {"PreToolUse": [{"hooks": [{"type": "http", **entry}]}]}, **more}
    return configuration.configured(json.dumps(content), events.EVENTS, version)[0]


BAD: list[dict[str, Any]] = [{}]
BAD += [{"url": url} for url in ("", "/x", "//x", "x", 5, None, "http://", "http://a b/")]
OTHER_HEADERS: list[Any] = [[], None, {"X": 5}, {"X": None}, "x"]
BAD += [{"url": HERE, "headers": headers} for headers in OTHER_HEADERS]
BAD += [{"url": HERE, "allowedEnvVars": names} for names in ("X", [5], None)]


@BOTH
@pytest.mark.parametrize("entry", BAD, ids=repr)
def test_an_entry_that_cannot_be_used_takes_the_file_along(entry: dict[str, Any], version: Any) -> None:
    with pytest.raises(SettingsError, match=r"PreToolUse\[0\].hooks\[0\]"):
        handlers(entry, version)


@BOTH
@pytest.mark.parametrize("name", http_policy.LISTS)
@pytest.mark.parametrize("value", ["*", [5], ["*", 5], None, {}, True], ids=repr)
def test_a_list_of_another_form_takes_the_file_along(value: Any, name: str, version: Any) -> None:
    with pytest.raises(SettingsError, match=f"{name} is no list of texts"):
        handlers({"url": HERE}, version, **{name: value})


@BOTH
def test_fields_of_commands_are_left_alone(version: Any) -> None:
    (handler,) = handlers({"url": HERE, "async": True, "asyncRewake": "x", "command": 5, "shell": "zsh"}, version)
    assert (handler.kind, handler.background, handler.timeout, handler.command) == ("http", False, 600.0, "")


def test_the_older_version_knows_a_url_by_its_normal_form() -> None:
    written = " HTTP://127.0.0.1:8123/x/../y "
    assert handlers({"url": written}, OLD)[0].options["url"] == f"{HERE}/y"
    assert handlers({"url": written}, NEW)[0].options["url"] == written.strip()
