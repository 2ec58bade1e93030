"""Across files: ids are unique for life, rules and twins exist, names that name nothing are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookproof import catalog, requirements
from hookproof.errors import CaseFileError, UsageError

HEAD = """\
format: 1
dialect: lecode
family: {family}
rules:
  {rule}:
    level: must
    text: A deny keeps the tool from running.
    source: {{document: "002", section: Protocol}}
cases:
"""
CASE = """\
  - id: lecode/{family}/{slug}
    rule: {rule}
    why: A runner that believes nobody passes the others.
    handlers: [{{say: {{verdict: deny}}}}]
    call: {{tool: {tool}, input: {{command: ls}}}}
    expect: {expect}
    killed_by: [always-allow]
"""


def case(slug: str, family: str = "veto", rule: str = "lecode-deny", expect: str = "{tool_runs: 1}", tool: str = "bash") -> str:
    return CASE.format(slug=slug, family=family, rule=rule, expect=expect, tool=tool)


def family(folder: Path, *cases: str, name: str = "veto", rule: str = "lecode-deny") -> Path:
    path = folder / "lecode" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    head = HEAD.format(family=name, rule=rule)
    path.write_text(head + "".join(cases) if cases else head.replace("cases:", "cases: []"))
    return path


def said(folder: Path) -> list[str]:
    with pytest.raises(CaseFileError) as caught:
        catalog.load([folder])
    return caught.value.message.replace(f"{folder}/", "").splitlines()


CONTROL = case("runs")
REFUSED = case("refused", expect="{tool_runs: 0}") + "    twin: lecode/veto/runs\n"


def test_files_become_entries_in_order_with_rule_and_place(tmp_path: Path) -> None:
    path = family(tmp_path, CONTROL, REFUSED)
    loaded = catalog.load([tmp_path])
    assert [entry.id for entry in loaded.entries] == ["lecode/veto/runs", "lecode/veto/refused"]
    second = loaded.entry("lecode/veto/refused")
    assert (second.path, second.line, second.dialect, second.family, second.rule.level) == (path, 17, "lecode", "veto", "must")
    assert loaded.rule("lecode-deny") == (second.rule, "lecode")


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = family(tmp_path, CONTROL)
    assert len(catalog.load([tmp_path, path, tmp_path]).entries) == 1


def test_an_id_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    family(tmp_path, CONTROL, CONTROL)
    words = "this id stands in lecode/veto.yaml:10 already; ids are unique for life"
    assert said(tmp_path) == [f'lecode/veto.yaml:17:5: case "lecode/veto/runs": {words}']


def test_a_rule_that_stands_in_two_files_is_refused(tmp_path: Path) -> None:
    family(tmp_path, CONTROL)
    family(tmp_path, name="wider")
    assert said(tmp_path) == [
        'lecode/wider.yaml:5:3: rule "lecode-deny": this rule stands in lecode/veto.yaml:5:3 already',
    ]


def test_a_rule_must_begin_with_its_dialect_and_exist(tmp_path: Path) -> None:
    family(tmp_path, case("a", rule="lecode-dney"), rule="lecode-deny")
    assert said(tmp_path) == [
        'lecode/veto.yaml:11:5: case "lecode/veto/a": there is no rule "lecode-dney"; did you mean "lecode-deny"?'
    ]
    family(tmp_path, rule="deny")
    assert said(tmp_path) == ['lecode/veto.yaml:5:3: rule "deny": the id of a rule begins with its dialect: "lecode-..."']


@pytest.mark.parametrize("expect", ["{tool_runs: 0}", "{not_started: [h1]}"])
def test_what_does_not_run_needs_a_twin(expect: str, tmp_path: Path) -> None:
    family(tmp_path, case("refused", expect=expect))
    (line,) = said(tmp_path)
    assert line.endswith(
        "says that something does not run: name in `twin` a case in which it does run, which proves that this one is not vacuous"
    )
    assert line.startswith("lecode/veto.yaml:15:14: ")


def test_what_does_not_run_under_one_posture_needs_a_twin_too(tmp_path: Path) -> None:
    closed = "    by_posture: [{on: failure.exit, is: {closed: {tool_runs: 0}, open: {tool_runs: 1}}}]\n"
    family(tmp_path, case("refused", expect="{started: [h1]}") + closed)
    assert said(tmp_path)[0].startswith("lecode/veto.yaml:17:51: ")
    family(tmp_path, CONTROL, case("refused", expect="{started: [h1]}") + closed + "    twin: lecode/veto/runs\n")
    assert len(catalog.load([tmp_path]).entries) == 2


def test_a_twin_must_exist_run_the_tool_and_run_the_same_one(tmp_path: Path) -> None:
    family(tmp_path, CONTROL, REFUSED.replace("twin: lecode/veto/runs", "twin: lecode/veto/run"))
    assert said(tmp_path)[0].endswith('there is no case "lecode/veto/run"; did you mean "lecode/veto/runs"?')
    family(tmp_path, case("runs", expect="{hook: none}"), REFUSED)
    assert said(tmp_path)[0].endswith('in the twin "lecode/veto/runs" no tool is expected to run (tool_runs: 1)')
    family(tmp_path, case("runs", tool="read"), REFUSED)
    assert said(tmp_path)[0].endswith('the twin "lecode/veto/runs" calls other tools than this case')


def test_a_twin_in_a_file_with_mistakes_is_not_called_missing(tmp_path: Path) -> None:
    family(tmp_path, REFUSED)
    family(tmp_path, "  - {}\n", name="wider", rule="lecode-wide")
    assert all(line.startswith("lecode/wider.yaml") for line in said(tmp_path))


def test_unknown_versions_are_refused_in_cases_and_rules(tmp_path: Path) -> None:
    path = family(tmp_path, CONTROL + '    versions: ["9.9"]\n')
    path.write_text(path.read_text().replace("    level: must", '    level: must\n    versions: ["8"]'))
    lines = said(tmp_path)
    assert 'lecode/veto.yaml:7:16: rule "lecode-deny": the suite does not know version "8" of lecode; known: 1.0' in lines
    assert any('the suite does not know version "9.9" of lecode; known: 1.0' in line for line in lines)


def test_retired_ids_do_not_come_back_but_are_remembered(tmp_path: Path) -> None:
    family(tmp_path, CONTROL)
    (tmp_path / "retired.yaml").write_text("format: 1\nretired:\n  lecode/veto/runs: it proved nothing\n")
    assert said(tmp_path) == [
        'lecode/veto.yaml:10:5: case "lecode/veto/runs": this id was retired and may not come back: it proved nothing'
    ]
    (tmp_path / "retired.yaml").write_text("format: 1\nretired: {lecode/veto/gone: it proved nothing}\n")
    with pytest.raises(UsageError, match="was retired"):
        catalog.load([tmp_path]).entry("lecode/veto/gone")


def test_an_unknown_id_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    family(tmp_path, CONTROL)
    loaded = catalog.load([tmp_path])
    with pytest.raises(UsageError, match='did you mean "lecode/veto/runs"') as caught:
        loaded.entry("lecode/vetoes/run")
    assert caught.value.message == 'there is no case "lecode/vetoes/run"'
    with pytest.raises(UsageError, match="`hookproof cases list` lists all"):
        loaded.entry("zzz")


def test_selection_joins_filters_and_refuses_names_of_nothing(tmp_path: Path) -> None:
    family(tmp_path, CONTROL + "    tags: [smoke]\n", REFUSED)
    family(tmp_path, case("first", family="order", rule="lecode-order"), name="order", rule="lecode-order")
    loaded = catalog.load([tmp_path])
    assert [entry.id for entry in loaded.select(families=["lecode/order"])] == ["lecode/order/first"]
    assert len(loaded.select(["lecode"], ["veto"])) == 2
    assert [entry.id for entry in loaded.select(smoke=True)] == ["lecode/veto/runs"]
    assert loaded.select(["lecode"], ["veto"], ["lecode/order/first"]) == ()
    with pytest.raises(UsageError, match='no family "vetoes"'):
        loaded.select(families=["vetoes"])
    with pytest.raises(UsageError, match='no dialect "lecod"'):
        loaded.select(["lecod"])


def test_a_folder_without_cases_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case file"):
        catalog.load([tmp_path])
    with pytest.raises(UsageError, match="no such folder"):
        catalog.load([tmp_path / "x"])


def test_the_hash_names_the_demands_and_not_the_order_or_the_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    family(one, CONTROL, REFUSED)
    family(two, REFUSED, "\n# a comment\n", CONTROL)
    first, second = catalog.load([one]).digest, catalog.load([two]).digest
    assert first == second
    assert len(first) == 12
    family(two, REFUSED.replace("command: ls", "command: la"), CONTROL)
    assert catalog.load([two]).digest != first


def test_the_export_holds_resolved_cases_as_plain_ascii_json(tmp_path: Path) -> None:
    text = REFUSED.replace("input: {command: ls}", 'json: \'{"a": "\\ud83d"}\'')
    family(tmp_path, CONTROL, text)
    exported = json.loads(json.dumps(catalog.load([tmp_path]).export()))
    assert exported["cases"][1]["call"] == {"tool": "bash", "input": {"a": "\ud83d"}, "program": {}}
    assert exported["rules"]["lecode-deny"]["dialect"] == "lecode"
    assert exported["suite"] == catalog.load([tmp_path]).digest


REQUIREMENTS = """\
format: 1
name: lecode-1.0
dialect: lecode
version: "1.0"
frozen: "2026-12-01"
features: [rewrite]
rules: [lecode-deny]
"""


def requirement_file(folder: Path, text: str = REQUIREMENTS) -> Path:
    path = folder / "requirements" / "lecode-1.0.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_a_requirement_set_demands_the_cases_of_its_rules_and_leaves_later_rules_unscored(tmp_path: Path) -> None:
    family(tmp_path, CONTROL, REFUSED + "    tags: [slow]\n")
    family(tmp_path, case("first", family="order", rule="lecode-order"), name="order", rule="lecode-order")
    requirement_file(tmp_path)
    loaded = catalog.load([tmp_path])
    wanted = requirements.named(loaded.requirements, "lecode-1.0")
    demanded = requirements.required(loaded, wanted)
    assert (demanded.ordinary, demanded.slow) == (("lecode/veto/runs",), ("lecode/veto/refused",))
    assert demanded.all == {"lecode/veto/runs", "lecode/veto/refused"}
    assert requirements.not_scored(loaded, wanted) == ("lecode-order",)
    assert requirements.for_version(loaded.requirements, "lecode", "1.0") == (wanted,)
    assert wanted.subject == "lecode/1.0"
    with pytest.raises(UsageError, match=r'did you mean "lecode-1\.0"'):
        requirements.named(loaded.requirements, "lecode-1.1")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[lecode-deny]", "[lecode-dney]", '7:9: there is no rule "lecode-dney"; did you mean "lecode-deny"?'),
        ("[lecode-deny]", "[lecode-deny, lecode-deny]", '7:22: the rule "lecode-deny" stands here twice'),
        ("[lecode-deny]", "[lecode-order]", '7:9: no case tests the rule "lecode-order" in version 1.0: it cannot be required'),
        ("[lecode-deny]", "[]", '7:8: "rules" must not be empty'),
        ("[rewrite]", "[rewrit]", '6:12: "rewrit" is no feature; did you mean "rewrite"?'),
        ('"1.0"', '"1.1"', '4:1: the suite does not know version "1.1" of lecode; known: 1.0'),
        ('"1.0"', "1.0", '4:10: "version" must be text, not the number 1.0: write it in quotes: "1.0"'),
        ("2026-12-01", "soon", '5:1: "frozen" must be a day such as 2026-12-01, not "soon"'),
        ("name: lecode-1.0", "name: lecode-1", '2:1: the file of the set "lecode-1" must be called lecode-1.yaml'),
        ("dialect: lecode", "dialect: lecod", '3:1: "lecod" is no dialect of this suite; did you mean "lecode"?'),
        ("features:", "feature:", '6:1: "feature" is no requirement set field; did you mean "features"?'),
    ],
)
def test_a_requirement_set_is_read_strictly(old: str, new: str, words: str, tmp_path: Path) -> None:
    family(tmp_path, CONTROL)
    family(tmp_path, name="order", rule="lecode-order")
    requirement_file(tmp_path, REQUIREMENTS.replace(old, new, 1))
    assert f"requirements/lecode-1.0.yaml:{words}" in said(tmp_path)
