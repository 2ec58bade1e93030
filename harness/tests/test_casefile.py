"""A case file is read whole or refused with every place that is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof import casefile
from hookproof.cases import Case, CaseFile
from hookproof.errors import CaseFileError

HEAD = """\
format: 1
dialect: lecode
family: veto
rules:
  lecode-deny-blocks:
    level: must
    text: A deny keeps the tool from running.
    source: {document: "002", section: Protocol}
cases:
"""
GOOD = {
    "id": "lecode/veto/x",
    "rule": "lecode-deny-blocks",
    "why": "A runner that believes nobody passes the others.",
    "handlers": [{"say": {"verdict": "deny"}}, {}],
    "call": {"tool": "bash", "input": {"command": "ls"}},
    "expect": {"tool_runs": 0},
    "killed_by": ["always-allow"],
}


def written(tmp_path: Path, **changes: Any) -> Path:
    """A file with one case, one JSON line for each key: line 10 is its id."""
    case = {**GOOD, **changes}
    rows = [
        f"{'- ' if n == 0 else '  '}{key}: {json.dumps(value)}" for n, (key, value) in enumerate(case.items()) if value != "-"
    ]
    path = tmp_path / "veto.yaml"
    path.write_text(HEAD + "".join(f"  {row}\n" for row in rows))
    return path


def said(path: Path) -> str:
    with pytest.raises(CaseFileError) as caught:
        casefile.read(path)
    return caught.value.message.replace(f"{path.parent}/", "")


def test_a_good_file_comes_with_the_places_of_its_cases_and_rules(tmp_path: Path) -> None:
    read = casefile.read(written(tmp_path))
    assert read.file.cases[0].handlers[0].say is not None
    assert read.cases == ((10, 5),)
    assert read.rules == {"lecode-deny-blocks": (5, 3)}
    assert str(read.mistake(("cases", 0, "expect", "tool_runs"), "x")).endswith('veto.yaml:15:14: case "lecode/veto/x": x')


PREFIX = 'case "lecode/veto/x": '


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"handlers": [{"exti": 2}]}, "13:17", '"exti" is no handler field; did you mean "exit"?'),
        ({"handlers": [{"exit": "2"}]}, "13:25", '"exit" must be a whole number from 0 to 255, not the text "2"'),
        ({"handlers": [{"exit": 256}]}, "13:25", '"exit" must be a whole number from 0 to 255, not the number 256'),
        ({"handlers": [{"exit": True}]}, "13:25", '"exit" must be a whole number from 0 to 255, not true'),
        ({"handlers": [{"exit": None}]}, "13:25", '"exit" must be a whole number from 0 to 255, not null'),
        ({"handlers": [{"sleep": -1}]}, "13:26", '"sleep" must be a number, 0 or more, not the number -1'),
        ({"handlers": {}}, "13:15", '"handlers" must be a list, not a mapping'),
        ({"handlers": ["h1"]}, "13:16", 'item 1 of "handlers" must be a mapping, not the text "h1"'),
        ({"handlers": [{"say": []}]}, "13:24", '"say" must not be empty'),
        ({"handlers": [{"say": {"verdict": "dney"}}]}, "13:36",
         '"verdict" must be one of allow, ask, block, defer, deny, not the text "dney"; did you mean "deny"?'),
        ({"handlers": [{"verdict": "deny"}]}, "13:17", '"verdict" is no handler field; it belongs in: answer'),
        ({"zzz": 1}, "17:5", f'"zzz" is no case field; known: {", ".join(Case.__struct_encode_fields__)}'),
        ({"versions": [1.0]}, "17:16", 'item 1 of "versions" must be text, not the number 1.0: write it in quotes: "1.0"'),
        ({"why": "short"}, "12:10", '"why" must say more: at least 10 letters'),
        ({"why": "-"}, "10:5", '"why" is missing; every case needs one'),
        ({"killed_by": []}, "16:16", '"killed_by" must not be empty'),
        ({"killed_by": ["Not_A_Slug"]}, "16:17",
         'item 1 of "killed_by" must be small letters, digits and single hyphens, not the text "Not_A_Slug"'),
        ({"expect": {"starts": {"x1": 1}}}, "15:25",
         'the key "x1" in "starts" must be the name of a probe (h1, h2, ... or t1, t2, ...), not the text "x1"'),
        ({"expect": {"stdin": {"h1": {"subst": {}}}}}, "15:31", '"subst" is no stdin expectation field; did you mean "subset"?'),
        # what the types let through
        ({"expect": {}}, "15:5", "nothing is expected: such a case always passes"),
        ({"expect": {"reason": {}}}, "15:14", "a text expectation without any demand always passes"),
        ({"expect": {"reason": {"matches": "("}}}, "15:25",
         "no regular expression: missing ), unterminated subpattern at position 0"),
        ({"expect": {"started": ["h3"]}}, "15:26", '"h3" is no probe of this case; it has h1, h2, t1'),
        ({"expect": {"tool_runs": {"t2": 1}}}, "15:28", '"t2" is no probe of this case; it has t1'),
        ({"expect": {"started": ["h1"], "not_started": ["h1"]}}, "15:49", '"h1" is expected to start and not to start'),
        ({"handlers": [{"wait_for": "h1"}]}, "13:17", "a handler cannot wait for itself"),
        ({"handlers": [{"wait_for": "h9"}]}, "13:17", '"h9" is no probe of this case; it has h1, t1'),
        ({"handlers": [{"say": {"verdict": "deny"}, "raw": "x"}]}, "13:45",
         "`raw` is stdout to the letter and stands instead of `say`, not beside it"),
        ({"handlers": [{"exit": 2, "signal": "KILL"}]}, "13:28",
         "a handler that dies by a signal has no exit code: leave `exit` or `signal` away"),
        ({"handlers": [{"say": {"native": {}, "verdict": "deny"}}]}, "13:17",
         "`native` stands instead of all other fields of an answer"),
        ({"handlers": [{"kind": "http", "exit": 2}]}, "13:33",
         "nobody sees `exit` of a handler of kind http: a failure is a `status` of 300 or more, or a `signal`"),
        ({"handlers": [{"kind": "http", "stderr": "x"}]}, "13:33",
         "nobody sees `stderr` of a handler of kind http: leave it away"),
        ({"handlers": [{"kind": "http", "read": "none"}]}, "13:33",
         "nobody sees `read` of a handler of kind http: leave it away"),
        ({"handlers": [{"kind": "prompt", "missing": True}]}, "13:35",
         "a handler of kind prompt cannot be missing: that is for command and http"),
        ({"handlers": [{"status": 500}]}, "13:17", "`status` is for handlers of kind http or prompt or agent, not command"),
        ({"handlers": [{"kind": "agent", "head_first": True}]}, "13:34",
         "`head_first` is for handlers of kind http, not agent"),
        ({"handlers": [{"sleep": 3.5}]}, "10:5", 'a probe sleeps 3.5 s: beyond 3 s a case must have the tag "slow"'),
        ({"prompt": "hi"}, "17:5", "a case has exactly one of call, calls, prompt, fire, steps; this one has call and prompt"),
        ({"call": "-"}, "10:5", "a case has exactly one of call, calls, prompt, fire, steps; this one has none"),
        ({"call": "-", "steps": [{"call": {"tool": "x"}, "text": "a"}]}, "16:13",
         "a step has exactly one of call, calls, prompt, text, fire, resume; this one has call and text"),
        ({"call": "-", "steps": [{"resume": "t1"}], "expect": {"hook": "none"}}, "16:14", '"t1" is no call of an earlier step'),
        ({"call": {"tool": "bash", "input": {}, "json": "{}"}}, "14:41",
         "a call has its input from one of input, payload, json; this one has input and json"),
        ({"call": {"tool": "bash", "json": "{"}}, "14:28",
         "json is no JSON: Expecting property name enclosed in double quotes in its line 1, column 2"),
        ({"call": {"tool": "bash", "json": '{"a": 1, "a": 2}'}}, "14:28",
         'json is no JSON for a case: the key "a" stands there twice'),
        ({"call": {"tool": "bash", "json": "[NaN]"}}, "14:28", "json is no JSON for a case: NaN is no JSON number"),
        ({"call": {"tool": "bash", "payload": "../x.json"}}, "14:28",
         'payload "../x.json" must name a file below payloads/: agent/version/Event.json#/tool_input'),
        ({"by_posture": [{"on": "failure.exti", "is": {"open": {"tool_runs": 1}}}]}, "17:19",
         '"failure.exti" is no place in a posture; did you mean "failure.exit"?'),
        ({"by_posture": [{"on": "failure.exit", "is": {"opne": {"tool_runs": 1}}}]}, "17:48",
         '"opne" is no word for failure.exit; did you mean "open"?'),
        ({"by_posture": [{"on": "order", "is": {"parallel": {"overlap": ["h1", "h9"]}}}]}, "17:72",
         '"h9" is no probe of this case; it has h1, h2, t1'),
        ({"by_posture": [{"on": "order", "is": {}}]}, "17:40", '"is" must not be empty'),
        ({"needs": ["rewrit"]}, "17:13", '"rewrit" is no feature; did you mean "rewrite"?'),
        ({"twin": "lecode/veto/x"}, "17:5", "a case cannot be its own twin"),
        ({"files": {"../x": "y"}}, "17:13",
         'the key "../x" in "files" must be a path below a folder: agents/guard.md, not the text "../x"'),
        ({"files": {"guard/a.json": "y"}, "plugins": ["guards"]}, "18:15",
         'there is no file in "guards"; name the files of the plugin in `files`'),
    ],
)  # fmt: skip
def test_every_mistake_is_said_with_place_case_and_remedy(
    changes: dict[str, Any], place: str, words: str, tmp_path: Path
) -> None:
    assert f"veto.yaml:{place}: {PREFIX}{words}" in said(written(tmp_path, **changes)).splitlines()


def test_the_id_must_say_where_the_case_stands(tmp_path: Path) -> None:
    words = said(written(tmp_path, id="lecode/order/x"))
    assert words == 'veto.yaml:10:5: case "lecode/order/x": the id must begin with "lecode/veto/", which its file names'


def test_a_list_at_the_top_is_said(tmp_path: Path) -> None:
    (tmp_path / "veto.yaml").write_text("- a\n")
    assert said(tmp_path / "veto.yaml") == "veto.yaml:1:1: a file must be a mapping with format, ..., not a list"


def test_another_format_is_said(tmp_path: Path) -> None:
    (tmp_path / "veto.yaml").write_text("format: 2\ndialect: lecode\nfamily: veto\n")
    assert said(tmp_path / "veto.yaml") == 'veto.yaml:1:9: "format" must be 1, not the number 2'


def test_a_fault_in_a_rule_names_the_rule(tmp_path: Path) -> None:
    (tmp_path / "veto.yaml").write_text(HEAD.replace("level: must", "level: mist").replace("cases:\n", ""))
    words = '"level" must be one of may, must, should, not the text "mist"; did you mean "must"?'
    assert said(tmp_path / "veto.yaml") == f'veto.yaml:6:12: rule "lecode-deny-blocks": {words}'


def test_all_mistakes_of_a_file_are_said_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, handlers=[{"exti": 1, "exit": "2"}], why="short")
    path.write_text(path.read_text() + "  - {id: lecode/veto/y, rule: lecode-deny-blocks, id: again}\n  - {nothing: 012}\n")
    lines = said(path).splitlines()
    assert len(lines) >= 9
    assert [int(line.split(":")[1]) for line in lines] == sorted(int(line.split(":")[1]) for line in lines)
    assert sum('"exti"' in line for line in lines) == 1
    assert any("stands here twice" in line for line in lines)
    assert any("012 is read as different things" in line for line in lines)


def test_a_name_with_line_ends_and_terminal_codes_stays_on_its_line(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text() + '    "a\\n\\x1b[2J": 1\n')
    assert said(path).startswith(f'veto.yaml:17:5: {PREFIX}"a\\n\\x1b[2J" is no case field; ')


def test_a_missing_file_and_a_folder_are_said(tmp_path: Path) -> None:
    assert said(tmp_path / "no.yaml") == "no.yaml:1:1: cannot be read: No such file or directory"
    with pytest.raises(CaseFileError, match="cannot be read: Is a directory"):
        casefile.read(tmp_path)


def test_json_text_becomes_the_input_even_with_lone_surrogates(tmp_path: Path) -> None:
    read = casefile.read(written(tmp_path, call={"tool": "bash", "json": '{"a": "\\ud83d", "n": 1e3}'}))
    assert read.file.cases[0].call is not None
    assert read.file.cases[0].call.input == {"a": "\ud83d", "n": 1000.0}


def test_a_payload_beside_the_file_is_filled_in_by_its_pointer(tmp_path: Path) -> None:
    (tmp_path / "payloads").mkdir()
    (tmp_path / "payloads" / "p.json").write_text('{"tool_input": [{"a/b": {"~": 7}}]}')
    read = casefile.read(written(tmp_path, call={"tool": "bash", "payload": "p.json#/tool_input/0/a~1b/~0"}))
    assert read.file.cases[0].call is not None
    assert read.file.cases[0].call.input == 7
    words = said(written(tmp_path, call={"tool": "bash", "payload": "p.json#/tool_input/1"}))
    assert words == f'veto.yaml:14:28: {PREFIX}payload "p.json": the pointer "/tool_input/1" leads nowhere at "1"'
    assert 'payload "q.json" is not there; looked in ' in said(written(tmp_path, call={"tool": "bash", "payload": "q.json"}))


def test_a_call_without_input_has_an_empty_one(tmp_path: Path) -> None:
    read = casefile.read(written(tmp_path, call={"tool": "bash"}))
    assert read.file.cases[0].call is not None
    assert read.file.cases[0].call.input == {}


def refusals(path: Path) -> list[str]:
    """What is wrong with a file; no error of another kind may come out of the reading."""
    try:
        casefile.read(path)
    except CaseFileError as error:
        return error.message.split("\n")
    return []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["h1", "t1", "say", "exit", "x", "reason"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(st.dictionaries(st.sampled_from([*Case.__struct_encode_fields__, "zzz"]), VALUES, max_size=4), VALUES)
def test_a_changed_file_is_read_or_refused_and_every_refusal_has_a_place(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], handler: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.yaml"
    body = {"format": 1, "dialect": "lecode", "family": "veto", "cases": [{**GOOD, "handlers": [handler], **changes}]}
    path.write_text(json.dumps(body))
    for line in refusals(path):
        assert re.match(r"[1-9][0-9]*:[1-9][0-9]*: ", line.removeprefix(f"{path}:"))


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(st.data())
def test_a_file_with_bytes_changed_gives_nothing_but_a_case_file_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = written(tmp_path_factory.getbasetemp())
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 12))] = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"\t", b": ", b"- ", b"{", b"\n"])
        )
        if not raw:
            break
    path.write_bytes(bytes(raw))
    for line in refusals(path):
        assert line.startswith(f"{path}:")


def test_whatever_the_types_refuse_the_walk_explains(tmp_path: Path) -> None:
    """msgspec decides, the walk only finds words: where it found none, msgspec's own would be shown."""
    for field in Case.__struct_encode_fields__:
        for value in (7, "?", None, [7], {"?": 7}, True, 1.5):
            path = written(tmp_path, **{field: value})
            try:
                msgspec.convert(json.loads(json.dumps({**GOOD, field: value})), Case)
            except msgspec.ValidationError:
                assert "$" not in said(path), (field, value)


def test_the_format_itself_has_no_field_that_the_reader_forgets() -> None:
    assert set(CaseFile.__struct_encode_fields__) == {"format", "dialect", "family", "about", "rules", "cases"}


def test_two_settings_files_of_one_scope_are_refused(tmp_path: Path) -> None:
    settings = [{"scope": "local", "text": "a"}, {"text": "b"}, {"scope": "local", "text": "c"}]
    assert "a second settings file of scope local: there is one for each scope" in said(written(tmp_path, settings=settings))
