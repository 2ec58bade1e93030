"""Http handlers that are not sent, are sent empty, or show a secret; and secrets that stand in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context, Handler
from ..document import Node
from ..finding import Found
from ..pattern import pattern
from ..rule import rule

_URL = "https://audit.example.com/hook"


def _http(url: str = _URL, more: str = "", top: str = "", event: str = "PostToolUse") -> str:
    return f'{{{top}"hooks":{{"{event}":[{{"matcher":"Edit","hooks":[{{"type":"http","url":"{url}","timeout":5{more}}}]}}]}}}}'


def _handlers(context: Context) -> Iterator[tuple[Handler, Node, str]]:
    for handler in context.handlers:
        url = handler.get("url")
        if handler.type == "http" and url is not None and url.text:
            yield handler, url, url.text


def _host(url: str) -> str:
    """The host of a url, in small letters, without port and brackets; "" where there is none."""
    match = re.match(r"[A-Za-z][\w+.-]*://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", url)
    return match[1].strip("[]").lower() if match is not None else ""


def _local(host: str) -> bool:
    return (
        host in ("localhost", "::1", "0.0.0.0")
        or host.startswith("127.")
        or host.endswith((".localhost", ".local", ".internal", ".test"))
    )


@rule(
    id="http-outside-list",
    severity="error",
    title="The url is not in allowedHttpHookUrls",
    consequence="every call passes",
    remedy="Add the whole url to the list, with * where it varies.",
    source="seed 001, Design Rules 7; observed: the request is not sent and the call passes; whole urls are compared",
    bad=(
        _http(top='"allowedHttpHookUrls":["https://other.example.com/*"],'),
        _http(top='"allowedHttpHookUrls":[],'),
        _http(top='"allowedHttpHookUrls":["https://audit.example.com/"],'),
    ),
    good=(_http(top='"allowedHttpHookUrls":["https://audit.example.com/*"],'), _http()),
)
def _check_list(context: Context) -> Iterator[Found]:
    listed = context.root.get("allowedHttpHookUrls") if context.root is not None else None
    if listed is None or listed.kind != "array":
        return
    patterns = [node.text for node in listed.items if node.text is not None]
    for handler, url, text in _handlers(context):
        bare = text.split("#", 1)[0]
        if not any(
            re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), bare, re.I | re.S) for pattern in patterns
        ):
            close = next((p for p in patterns if bare.startswith(p)), None)
            hint = f'; "{close}" is compared whole, it is no beginning' if close else ""
            gate = handler.event in ("PreToolUse", "PermissionRequest", "UserPromptSubmit")
            yield context.at(
                url,
                f'"{text}" matches nothing in allowedHttpHookUrls{hint}: it is not sent, and the action goes on',
                consequence=None if gate else "never runs",
            )


@rule(
    id="http-list-type",
    severity="error",
    title="A list of the http policy is no list of texts",
    consequence="file dropped",
    remedy="Write an array of strings.",
    source="observed: allowedHttpHookUrls that is no array drops the file",
    bad=(_http(top='"allowedHttpHookUrls":"*",'), _http(top='"httpHookAllowedEnvVars":"TEAM",')),
    good=_http(top='"httpHookAllowedEnvVars":["TEAM"],'),
)
def _check_type(context: Context) -> Iterator[Found]:
    for key in ("allowedHttpHookUrls", "httpHookAllowedEnvVars"):
        member = context.root.member(key) if context.root is not None and context.root.kind == "object" else None
        if member is not None and (member.node.kind != "array" or any(node.text is None for node in member.node.items)):
            yield context.at(member, f'"{key}" is to be an array of strings: the whole file is dropped')


@rule(
    id="http-header-empty",
    severity="error",
    title="A variable of a header is sent empty",
    consequence="value empty",
    remedy='List the variable in "allowedEnvVars" of the handler (and in httpHookAllowedEnvVars where that is there).',
    source="observed: the header is sent with nothing in place of the variable",
    bad=(
        _http(more=',"headers":{"Authorization":"Bearer $TEAM_TOKEN"}'),
        _http(more=',"headers":{"X-Team":"${TEAM}"},"allowedEnvVars":["TEAMS"]'),
        _http(more=',"headers":{"X-Team":"$TEAM"},"allowedEnvVars":["TEAM"]', top='"httpHookAllowedEnvVars":[],'),
        _http(more=',"headers":{"X-Team":"$team"},"allowedEnvVars":["team"]'),
        _http(more=',"headers":{"X-Team":"{{TEAM}}"},"allowedEnvVars":["TEAM"]'),
    ),
    good=(_http(more=',"headers":{"X-Team":"$TEAM"},"allowedEnvVars":["TEAM"]'), _http(more=',"headers":{"X-Price":"5$"}')),
)
def _check_header(context: Context) -> Iterator[Found]:
    policy = context.root.get("httpHookAllowedEnvVars") if context.root is not None else None
    allowed_above = {node.text for node in policy.items} if policy is not None and policy.kind == "array" else None
    for handler, _, _ in _handlers(context):
        headers, listed = handler.get("headers"), handler.get("allowedEnvVars")
        allowed = {node.text for node in listed.items} if listed is not None else set()
        for member in headers.members if headers is not None else ():
            braces = re.search(r"\{\{\s*\w+\s*\}\}|%[A-Z_]{3,}%|\$\([A-Z_]+\)|<[A-Z_]{3,}>", member.node.text or "")
            if braces is not None:
                yield context.at(
                    member.node, f'"{braces[0]}" stays as it is: a variable is written $NAME', consequence="value ignored"
                )
            for match in re.finditer(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?", member.node.text or ""):
                name = match[1]
                if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
                    yield context.at(
                        member.node,
                        f'"{match[0]}" stays as it is: variables of headers have capital letters',
                        consequence="value ignored",
                    )
                elif name not in allowed:
                    yield context.at(
                        member.node, f'{name} is not in "allowedEnvVars": the header is sent with nothing in its place'
                    )
                elif allowed_above is not None and name not in allowed_above:
                    yield context.at(
                        member.node, f"{name} is cut by httpHookAllowedEnvVars: the header is sent with nothing in its place"
                    )


@rule(
    id="http-header-name",
    severity="error",
    title="The name of a header is none",
    consequence="cannot start",
    remedy="Write a name of letters, digits and hyphens.",
    source="observed on 2.1.178 and 2.1.332: the handler ends with an error, and the action goes on",
    bad=(_http(more=',"headers":{"X Team":"core"}'), _http(more=',"headers":{"X-Team:":"core"}')),
    good=_http(more=',"headers":{"X-Team_1.a":"core"}'),
)
def _check_name(context: Context) -> Iterator[Found]:
    for handler, _, _ in _handlers(context):
        headers = handler.get("headers")
        for member in headers.members if headers is not None else ():
            if re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", member.key) is None:
                yield context.at(member, f'"{member.key}" cannot be the name of a header: the request is never sent')


@rule(
    id="http-url-variable",
    severity="error",
    title="The url holds a variable",
    consequence="never runs",
    remedy="Write the url out; variables are replaced in headers only.",
    source="documentation; observed: only headers are interpolated",
    bad=(_http("https://${AUDIT_HOST}/hook"), _http("https://audit.example.com/$TEAM")),
    good=_http("https://audit.example.com/a$"),
)
def _check_variable(context: Context) -> Iterator[Found]:
    for _, url, text in _handlers(context):
        match = re.search(r"\$\{?[A-Za-z_]\w*\}?", text)
        if match is not None:
            yield context.at(url, f'"{match[0]}" stays as it is in a url; variables are replaced in headers only')


@rule(
    id="http-insecure",
    severity="warning",
    title="The payload is sent where others can read it",
    consequence="secret shown",
    remedy="Use https, and a host of your own.",
    source="seed 001, Design Rules 7; observed: literal private addresses are reached",
    bad=(_http("http://audit.example.com/hook"), _http("http://169.254.169.254/latest")),
    good=(_http(), _http("http://127.0.0.1:8080/hook"), _http("http://localhost/hook")),
)
def _check_insecure(context: Context) -> Iterator[Found]:
    for _, url, text in _handlers(context):
        host = _host(text)
        if host.startswith("169.254.") or host in ("metadata.google.internal", "fd00:ec2::254"):
            yield context.at(url, f"{host} is the metadata service of a cloud machine", severity="error")
        elif (
            text.lower().startswith("http://")
            and not _local(host)
            and not re.match(r"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.", host)
        ):
            yield context.at(url, f"plain http to {host}: prompts and commands travel readable for all")


_TOKENS = pattern(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-(?:ant-|proj-|live-|test-|"
    r"or-)?[A-Za-z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_\w{10,}"
    r"|xox[abprs]-[\w-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|"
    r"hf_[A-Za-z0-9]{20,}|dop_v1_\w{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|hooks\.slack\.com/services/T\w+/B\w+/\w+|"
    r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_MAYBE = (
    "key", "token", "secret", "passw", "bearer", "basic ", "@", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat",
    "sk-", "sk_", "pk_", "rk_", "xox", "akia", "asia", "aiza", "private", "slack.com", "discord", "npm_", "hf_", "pypi-",
    "dop_v1", "sg.", "eyj", "credential", "curl",
)  # fmt: skip
"""What every secret that is known here has in it or before it, in small letters: looked for first, because it costs little."""
_NAMED = pattern(
    r"(?i)(?:^|[^A-Za-z])((?:[A-Za-z0-9]+[_-])*(?:api[_-]?key|apikey|secret(?:[_-]?key)?|token|passw(?:or)?d|"
    r"access[_-]?key|auth[_-]?key|private[_-]?key))\s*[=:]\s*[\"']?([^\s\"'&$<{}()|;]{8,})"
)
_FLAG = pattern(r"\s--(?:password|passwd|pass|token|secret|api-?key)(?:=|\s+)[\"']?([^\s\"'$&;|<>-][^\s\"'$&;|<>]{7,})")
_KEY_NAME = pattern(r"(?i)(?:api[_-]?key|apikey|secret|token|passw(?:or)?d|access[_-]?key|private[_-]?key|credentials?)\Z")
_HARMLESS = pattern(
    r"(?i)\$|<|\.\.\.|x{4}|\*{3}|your[_-]|example|changeme|placeholder|redacted|dummy|/run/|/etc/|^~?/|^\./|^true$|"
    r"^false$|^\d{1,6}$"
)


@rule(
    id="http-own-key",
    severity="error",
    title="The program's own key is to be sent along",
    consequence="secret shown",
    remedy="Give the service a key of its own, in a variable of its own.",
    source="observed: 2.1.178 sends the key to the service, 2.1.332 puts nothing in its place",
    bad=_http(more=',"headers":{"X-Key":"$ANTHROPIC_API_KEY"},"allowedEnvVars":["ANTHROPIC_API_KEY"]'),
    good=_http(more=',"headers":{"X-Key":"$AUDIT_KEY"},"allowedEnvVars":["AUDIT_KEY"]'),
)
def _check_own_key(context: Context) -> Iterator[Found]:
    for handler, _, _ in _handlers(context):
        listed = handler.get("allowedEnvVars")
        for node in listed.items if listed is not None else []:
            if node.text in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
                newer = context.profile.at_least(2, 1, 332)
                yield context.at(
                    node,
                    f"{node.text} is the program's own key: "
                    + ("2.1.332 sends nothing in its place, earlier versions give it away" if newer else "it is given away"),
                )


@rule(
    id="secret-in-settings",
    severity="error",
    title="A secret stands in the file",
    consequence="secret shown",
    remedy='Keep the secret in the environment and name it ("Bearer $AUDIT_TOKEN" with "allowedEnvVars"); the one that '
    "stood here is known now, so replace it.",
    source="public lists of secrets; every hook and everybody with the repository can read it",
    kinds=("settings", "local", "managed", "plugin-hooks", "unread"),
    bad=(
        _http(more=',"headers":{"Authorization":"Bearer ghp_%s"}' % ("aB3" * 12)),
        _http("https://audit.example.com/hook?token=8c1f0e9d7b6a5948"),
        _http("https://ada:h4rdT0Guess@audit.example.com/hook"),
        '{"env":{"DEPLOY_API_KEY":"9d8f7e6c5b4a39281706f5e4"}}',
    ),
    good=(
        _http(more=',"headers":{"Authorization":"Bearer $AUDIT_TOKEN"},"allowedEnvVars":["AUDIT_TOKEN"]'),
        '{"env":{"AUDIT_TOKEN_FILE":"/run/secrets/audit","MAX_OUTPUT_TOKENS":"64000"}}',
        _http("https://audit.example.com/hook?token_type=short"),
    ),
)
def _check_secret(context: Context) -> Iterator[Found]:
    if context.root is None or not _maybe(context.document.text):
        return
    for node in context.root.walk():
        value = node.text
        # most strings are no secret at a first look; a key counts as much as its value
        if not value or len(value) < 6:
            continue
        if not _maybe(value) and not (isinstance(node.key, str) and _KEY_NAME.search(node.key)):
            continue
        found = _secret_in(value, node)
        if found is not None:
            yield context.at(node, found)


def _maybe(text: str) -> bool:
    small = text.lower()
    return any(word in small for word in _MAYBE)


def _secret_in(value: str, node: Node) -> str | None:
    token = _TOKENS.search(value)
    if token is not None and not re.search(r"(?i)x{6}|example|your", token[0]):
        return f'this looks like a secret ("{token[0][:6]}..."), readable for everybody who has the file'
    userinfo = re.search(r"://[^/\s:@\"']+:([^/\s@\"'$]+)@", value)
    if userinfo is not None and not _HARMLESS.search(userinfo[1]):
        return "a password stands in this url"
    basic = re.search(r"\bcurl\b.*\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]+:([^\s\"'$]{4,})", value)
    if basic is not None and not _HARMLESS.search(basic[1]):
        return "a password stands in this command"
    flag = _FLAG.search(value)
    if flag is not None and not _HARMLESS.search(flag[1]) and re.search(r"\d", flag[1]) and re.search(r"[A-Za-z]", flag[1]):
        return "a password stands in this command"
    named = _NAMED.search(value)
    if named is not None and not _HARMLESS.search(named[2]) and re.search(r"\d", named[2]):
        return f'the value of "{named[1]}" stands in the file'
    bearer = re.search(r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9+/_.=-]{12,})", value)
    if bearer is not None and not _HARMLESS.search(bearer[1]) and re.search(r"\d", bearer[1]):
        return "the credentials of this header stand in the file"
    key = node.key if isinstance(node.key, str) else ""
    if (
        _KEY_NAME.search(key)
        and not _HARMLESS.search(value)
        and " " not in value
        and re.search(r"\d", value)
        and len(value) >= 12
    ):
        return f'the value of "{key}" stands in the file'
    return None
