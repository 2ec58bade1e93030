"""Whatever the text is, the linter answers with findings: 5,000 damaged inputs, no traceback."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof_reference.gate.document import DEEPEST, Node, parse
from hookproof_reference.gate.fields import ALL_FIELDS
from hookproof_reference.gate.fix import fix_bytes
from hookproof_reference.gate.lint import Report, lint_text
from hookproof_reference.gate.profiles import EVENTS_332, NAMES, profile
from hookproof_reference.gate.report import FORMATS, render

_MANY = settings(max_examples=1250, deadline=None, suppress_health_check=list(HealthCheck))
_SOUND = json.dumps(
    {
        "permissions": {"deny": ["Bash(rm *)"]},
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "Bash|Edit",
                    "hooks": [{"type": "command", "command": './a.sh "x" \u00e9', "timeout": 0.5, "args": []}],
                },
                {"type": "command", "command": "flat"},
            ],
            "stop": [{"hooks": [{"type": "prompt", "prompt": "ok? $ARGUMENTS", "if": "Bash(git *)"}]}],
        },
    },
    indent=2,
)
_ODD = [
    "",
    ",",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    "//",
    "/*",
    "\\",
    "\\u",
    "\x00",
    "NaN",
    "\ufeff",
    "\ud800",
    "-",
    "1e999",
    "\n",
]
_CUTS = st.lists(
    st.tuples(st.integers(0, len(_SOUND)), st.integers(0, 40), st.sampled_from(_ODD) | st.text(max_size=5)),
    min_size=1,
    max_size=4,
)
_PIECES = st.text(alphabet="{}[]\",:\\/*#'0123456789eE+-.truefalsn \n\t\x00\ufeff\u201c", max_size=200)
_WORDS = st.sampled_from(
    [
        *EVENTS_332[:12],
        *sorted(ALL_FIELDS),
        "hooks",
        "hook",
        "matcher",
        "permissions",
        "disableAllHooks",
        "env",
        "allowedHttpHookUrls",
    ]
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | _WORDS
    | st.sampled_from(
        [
            "command",
            "http",
            "mcp_tool",
            "prompt",
            "agent",
            "Bash",
            "mcp__a__b",
            "(((",
            "Bash(rm *)",
            "${toolInput.x}",
            "/Users/a/b.sh",
        ]
    )
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS | st.text(max_size=8), inner, max_size=5),
    max_leaves=25,
)
_HANDLER = st.dictionaries(_WORDS, _VALUES, max_size=6)
_GROUP = st.fixed_dictionaries({"matcher": _SCALARS, "hooks": st.lists(_HANDLER, max_size=3)})
_NEARLY = st.fixed_dictionaries({"hooks": st.dictionaries(_WORDS, st.lists(_GROUP | _VALUES, max_size=3), max_size=3)})


def _answers(source: str | bytes) -> None:
    for name in ("claude-code", "hook-engineering"):
        findings = lint_text(source, profile(name))
        for finding in findings:
            assert finding.line >= 1 and finding.column >= 1
            assert finding.message and finding.effect
    fix_bytes(source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass"))


@_MANY
@given(_CUTS)
def test_a_damaged_settings_file_gives_findings_and_no_traceback(cuts: list[tuple[int, int, str]]) -> None:
    text = _SOUND
    for at, length, instead in cuts:
        text = text[:at] + instead + text[at + length :]
    _answers(text)


@_MANY
@given(_PIECES)
def test_a_heap_of_json_tokens_gives_findings_and_no_traceback(text: str) -> None:
    _answers(text)


@_MANY
@given(
    st.binary(max_size=300) | st.binary(max_size=40).map(lambda noise: noise.join([_SOUND[:200].encode(), _SOUND[200:].encode()]))
)
def test_any_bytes_give_findings_and_no_traceback(source: bytes) -> None:
    _answers(source)


@_MANY
@given(_NEARLY | _VALUES)
def test_any_value_in_any_place_gives_findings_and_no_traceback(value: object) -> None:
    _answers(json.dumps(value))


@settings(max_examples=300, deadline=None)
@given(_VALUES)
def test_sound_json_is_read_as_the_standard_reader_reads_it(value: object) -> None:
    text = json.dumps(value, indent=1)
    document = parse(text)
    assert document.root is not None
    assert json.dumps(document.root.plain()) == json.dumps(json.loads(text))
    assert not {damage.harm for damage in document.damage} - {"lone-surrogate"}


@settings(max_examples=300, deadline=None)
@given(_PIECES)
def test_what_the_standard_reader_refuses_is_never_without_a_damage(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))
    except (ValueError, RecursionError):
        assert parse(text).damage


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.sampled_from(NAMES))
def test_any_text_in_any_profile_and_format_is_shown(text: str, name: str) -> None:
    against = profile(name)
    kind = "lecode" if name == "lecode" else "settings"
    report = Report(findings=lint_text(text, against, kind=kind), files=["settings.json"])  # type: ignore[arg-type]
    for form in FORMATS:
        render(report, against, form).encode("utf-8")


@pytest.mark.parametrize(
    "text", ["[" * 10_000, '{"a":' * 10_000, "[" * 10_000 + "]" * 10_000, '{"hooks":' * 10_000 + "1" + "}" * 10_000]
)
def test_ten_thousand_levels_are_a_finding_and_no_recursion(text: str) -> None:
    before = sys.getrecursionlimit()
    found = {finding.rule for finding in lint_text(text)}
    assert "json-too-deep" in found
    assert sys.getrecursionlimit() == before
    root = parse(text).root
    assert root is not None and max(_depth(node) for node in root.walk()) <= DEEPEST


def _depth(node: Node) -> int:
    return node.pointer.count("/")


def test_a_megabyte_without_structure_is_read_in_one_go() -> None:
    for text in (
        '"' * 1_000_000,
        "'" * 300_000,
        "/*" * 300_000,
        "[1," * 300_000,
        "\u201c" * 300_000,
        "x " * 300_000,
        "\\" * 500_000,
    ):
        assert parse(text).damage


def test_places_are_told_for_damaged_text_too() -> None:
    text = '{\n  // why\n  "hooks": {\n    "preToolUse": [],\n  }\n}\n'
    found = {finding.rule: (finding.line, finding.column, finding.pointer) for finding in lint_text(text)}
    assert found["json-comment"][:2] == (2, 3)
    assert found["event-case"] == (4, 5, "/hooks/preToolUse")
    assert found["json-trailing-comma"][:2] == (4, 21)


def test_lines_and_columns_count_characters_whatever_the_line_ends() -> None:
    text = '{"\u00e9\U0001f600": 1,\r\n"hooks": {\r"stop": []}}'
    finding = next(f for f in lint_text(text) if f.rule == "event-case")
    assert (finding.line, finding.column) == (3, 1)
    assert lint_text('{"\U0001f600\u00e9": 1, "hooks": {"stop": []}}')[0].column == 21
