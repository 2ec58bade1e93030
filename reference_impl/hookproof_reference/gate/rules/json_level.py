"""The text is no JSON, or JSON that two readers read differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..context import Context
from ..document import Damage, Harm
from ..finding import Found
from ..rule import CLAUDE, Check, rule

_ANY = (*CLAUDE, "codex", "gemini-cli", "qwen-code")
_KINDS = ("settings", "local", "managed", "plugin-hooks", "plugin-manifest", "unread", "codex", "gemini", "qwen")
_STRICT = ("settings", "local", "managed", "plugin-hooks", "plugin-manifest", "unread", "codex")
_DROPPED = "observed at 2.1.178 and 2.1.332: the file is ignored, the exit code stays 0, nothing is said"
_GOOD = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date", "timeout": 5}]}]}}'
_STRUCTURE: frozenset[Harm] = frozenset({"torn", "stray", "missing-comma", "second-document"})


def _of(context: Context, *harms: Harm) -> list[Damage]:
    """The damages of these kinds; behind the first one that tears the structure all is guesswork and left out."""
    found: list[Damage] = []
    for damage in context.document.damage:
        if damage.harm in harms:
            found.append(damage)
        if damage.harm in _STRUCTURE:
            break
    return found


def _first(message: Callable[[Damage], str], *harms: Harm) -> Check:
    """A check that reports the first damage of these kinds and counts the rest."""

    def check(context: Context) -> Iterator[Found]:
        if not context.document.damage:
            return
        found = _of(context, *harms)
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            first = found[0]
            yield Found(first.start, first.end, first.pointer, message(first) + more)

    return check


rule(
    id="json-comment",
    severity="error",
    title="JSON has no comments",
    consequence="file dropped",
    remedy='Take the comment out; a key such as "_comment" can hold the text.',
    source=_DROPPED,
    bad=(_GOOD.replace("{", "{ // notify\n", 1), _GOOD + "\n/* end */\n", _GOOD.replace('"Stop"', '/* x */ "Stop"')),
    good=_GOOD.replace("date", "date // no comment"),
    profiles=(*CLAUDE, "codex"),
    kinds=_STRICT,
    torn=True,
)(_first(lambda damage: f"a comment, which JSON does not have: {damage.what}", "comment"))

rule(
    id="json-trailing-comma",
    severity="error",
    title="A comma stands where nothing follows",
    consequence="file dropped",
    remedy="Take the comma out.",
    source=_DROPPED,
    bad=(_GOOD.replace("5}", "5,}"), _GOOD.replace("}]}", "}],}", 1), _GOOD.replace("[{", "[,{", 1)),
    good=_GOOD.replace("date", "date,"),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: "a comma that nothing follows", "trailing-comma", "extra-comma"))

rule(
    id="json-single-quotes",
    severity="error",
    title='Strings are quoted with something else than "',
    consequence="file dropped",
    remedy='Use plain double quotes (").',
    source=_DROPPED,
    bad=(_GOOD.replace('"date"', "'date'"), _GOOD.replace('"', "'"), _GOOD.replace('"date"', "\u201cdate\u201d")),
    good=_GOOD.replace("date", "echo 'it is'"),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f'quoted with {damage.what[:1]} instead of ": {damage.what}', "single-quotes"))

rule(
    id="json-unquoted",
    severity="error",
    title="A key or a string has no quotes",
    consequence="file dropped",
    remedy="Put double quotes around it.",
    source=_DROPPED,
    bad=(_GOOD.replace('"hooks"', "hooks", 1), _GOOD.replace('"date"', "date")),
    good=_GOOD,
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"no quotes around {damage.what}", "unquoted"))

rule(
    id="json-number",
    severity="error",
    title="A number is written in a way that JSON does not have",
    consequence="file dropped",
    remedy="Write plain decimal digits: 5, 0.5, 1e3.",
    source=_DROPPED,
    bad=tuple(_GOOD.replace("5}", f"{number}}}") for number in ("NaN", "Infinity", "05", "+5", ".5", "0x10", "5s")),
    good=_GOOD.replace("5}", "1.5e1}"),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"{damage.what} is no number in JSON", "no-number"))

rule(
    id="json-constant",
    severity="error",
    title="True, False or None instead of true, false or null",
    consequence="file dropped",
    remedy="Write true, false or null.",
    source=_DROPPED,
    bad=_GOOD.replace('{"hooks"', '{"disableAllHooks": False, "hooks"', 1),
    good=_GOOD.replace('{"hooks"', '{"disableAllHooks": false, "hooks"', 1),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"{damage.what} is no word of JSON, which knows true, false and null", "no-constant"))

rule(
    id="json-escape",
    severity="error",
    title="A backslash begins no escape that JSON knows",
    consequence="file dropped",
    remedy="Double the backslash (\\\\) where one is meant.",
    source="RFC 8259; " + _DROPPED,
    bad=_GOOD.replace("date", r"grep \.env"),
    good=_GOOD.replace("date", r"grep \\.env"),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"{damage.what} is no escape of JSON", "bad-escape"))

rule(
    id="json-control-character",
    severity="error",
    title="A raw control character stands in a string",
    consequence="file dropped",
    remedy="Write it as an escape: \\t, \\n, \\u0000.",
    source=_DROPPED,
    bad=(_GOOD.replace("date", "da\x01te"), _GOOD.replace("date", "date\t+%s")),
    good=_GOOD.replace("date", "date\\t+%s"),
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"a raw {damage.what} in a string", "control-character"))

rule(
    id="json-missing-comma",
    severity="error",
    title="A comma is missing between two values",
    consequence="file dropped",
    remedy="Put a comma after the value before.",
    source=_DROPPED,
    bad=_GOOD.replace('"date", ', '"date" '),
    good=_GOOD,
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"a comma is missing before {damage.what}", "missing-comma"))

rule(
    id="json-second-document",
    severity="error",
    title="Something follows the end of the document",
    consequence="file dropped",
    remedy="Keep one JSON object and nothing behind it.",
    source=_DROPPED,
    bad=(_GOOD + "\n{}", _GOOD + "}", _GOOD + ","),
    good=_GOOD + "\n\n",
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: f"the document has ended, and {damage.what} follows", "second-document"))

rule(
    id="json-syntax",
    severity="error",
    title="Brackets, colons or quotes are missing",
    consequence="file dropped",
    remedy="Mend the place named; what follows it could not be judged.",
    source=_DROPPED,
    bad=(
        _GOOD[:-2],
        _GOOD.replace("}]", "]", 1),
        _GOOD.replace('"type":', '"type"'),
        _GOOD.replace('date", ', "date,\n"),
        _GOOD.replace('"date"', ""),
        _GOOD + "\x00",
        "@",
        "{",
    ),
    good=_GOOD,
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(
    _first(
        lambda damage: damage.what if damage.harm == "torn" else f"{ascii(damage.what)[1:-1]} has no place in JSON",
        "torn",
        "stray",
    )
)


@rule(
    id="json-duplicate-key",
    severity="error",
    title="A key is there twice, and the first one is lost",
    consequence="never runs",
    remedy="Make one of the two: put both lists into one array.",
    source="observed: of equal keys the last one counts, at every level, in silence",
    bad=(
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date", "timeout": 5}]}],'
        ' "Stop": [{"hooks": [{"type": "command", "command": "uptime", "timeout": 5}]}]}}',
        '{"hooks": {}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date", "timeout": 5}]}]}}',
        _GOOD.replace('"timeout": 5', '"timeout": 5, "timeout": 6'),
    ),
    good=_GOOD,
    profiles=_ANY,
    kinds=_KINDS,
)
def check_duplicate_keys(context: Context) -> Iterator[Found]:
    """Handlers that are lost are worse than a value that is."""
    for damage in context.document.damage if context.document.damage else ():
        if damage.harm != "duplicate-key":
            continue
        depth = damage.pointer.count("/")
        in_hooks = damage.pointer.startswith("/hooks")
        lost = in_hooks and (depth <= 2 or damage.what == "hooks")
        message = f'"{damage.what}" is there twice; only this last one counts'
        if lost:
            message += ", and the handlers under the first are never run"
        guard = lost or (in_hooks and damage.what in ("matcher", "if", "command", "type"))
        yield Found(
            damage.start,
            damage.end,
            damage.pointer,
            message,
            severity="error" if guard or damage.pointer.startswith("/permissions") else "warning",
            consequence="never runs" if lost else "value ignored",
        )


rule(
    id="json-lone-surrogate",
    severity="warning",
    title="Half of a surrogate pair is no character",
    consequence="value ignored",
    remedy="Write the character itself, or both halves of the pair.",
    source="observed: it becomes U+FFFD; a matcher with it matches nothing",
    bad=_GOOD.replace("date", "echo \\ud83d"),
    good=_GOOD.replace("date", "echo \\ud83d\\ude00"),
    profiles=_ANY,
    kinds=_KINDS,
)(_first(lambda damage: "half of a surrogate pair, which becomes U+FFFD", "lone-surrogate"))

rule(
    id="json-byte-order-mark",
    severity="warning",
    title="The file begins with a byte order mark",
    consequence="not portable",
    remedy="Save it as UTF-8 without a byte order mark.",
    source="observed: Claude Code reads it; JSON forbids it and most other tools refuse it (public report B108)",
    bad="\ufeff" + _GOOD,
    good=_GOOD,
    profiles=_ANY,
    kinds=_KINDS,
)(_first(lambda damage: "a byte order mark, which JSON forbids", "byte-order-mark"))

rule(
    id="json-encoding",
    severity="warning",
    title="The file is not UTF-8",
    consequence="not portable",
    remedy="Save it as UTF-8.",
    source="observed: UTF-16 is read, a byte that is no UTF-8 becomes U+FFFD",
    bad=(_GOOD.encode("utf-16"), _GOOD.replace("date", "echo caf\u00e9").encode("latin-1")),
    good=_GOOD.replace("date", "echo caf\u00e9"),
    profiles=_ANY,
    kinds=_KINDS,
)(_first(lambda damage: f"{damage.what}: not UTF-8", "utf-16", "not-utf-8"))

rule(
    id="json-too-deep",
    severity="error",
    title="Values are nested deeper than programs read",
    consequence="file dropped",
    remedy="Take the nested value out.",
    source="observed: 2.1.332 ignores what is deeper than 64 levels, 2.1.178 ends without doing anything",
    bad='{"x": ' + "[" * 100 + "]" * 100 + "}",
    good='{"x": ' + "[" * 10 + "]" * 10 + "}",
    profiles=_ANY,
    kinds=_KINDS,
    torn=True,
)(_first(lambda damage: "nested deeper than 64 levels", "too-deep"))

rule(
    id="json-empty",
    severity="warning",
    title="The file is empty",
    consequence="value ignored",
    remedy="Write {} if no settings are meant.",
    source="observed: an empty file counts as no settings, without a word",
    bad=("", " \n"),
    good="{}",
    profiles=_ANY,
    kinds=_KINDS,
)(_first(lambda damage: "the file is empty: no settings", "empty"))


_LARGEST = 2 * 1024 * 1024


@rule(
    id="file-too-large",
    severity="error",
    title="The file is larger than the program reads",
    consequence="file dropped",
    remedy="Take out what does not belong into settings.",
    source="observed: 2.1.332 ignores a project file above 2 MiB; 2.1.178 reads it",
    versions="after 2.1.178",
    bad='{"x": "' + "a" * _LARGEST + '"}',
    good=_GOOD,
    profiles=("claude-code",),
)
def check_size(context: Context) -> Iterator[Found]:
    """Counted in bytes."""
    text = context.document.text
    if len(text) * 4 > _LARGEST and not context.profile.drops_file:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > _LARGEST:
            yield Found(0, 0, "", f"the file has {size / 1048576:.1f} MiB; more than 2 MiB is not read")
