"""The commands cases, rules, schema and new, as a person types them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import msgspec
import pytest

from hookproof import casefile, casewords, catalog, cli, results, statements, strictyaml, suite
from hookproof.cases import Child, Handler, Say

KNOWN = "lecode/veto/second-denies"


def typed(*words: str | Path) -> int:
    return cli.main([str(word) for word in words])


def test_list_show_and_export_know_the_same_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("cases", "list", "--json", "--dialect", "lecode/1.0") == 0
    assert {row["dialect"] for row in json.loads(capsys.readouterr().out)} == {"lecode"}
    assert typed("cases", "list", "--json") == 0
    listed = {row["id"] for row in json.loads(capsys.readouterr().out)}
    assert KNOWN in listed
    assert typed("cases", "export", "--output", tmp_path / "cases.json") == 0
    exported = json.loads((tmp_path / "cases.json").read_text("ascii"))
    assert {case["id"] for case in exported["cases"]} == listed
    capsys.readouterr()
    assert typed("cases", "list", "--family", "veto") == 0
    assert KNOWN in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["cases.json"]


def test_show_tells_rule_source_handlers_and_twin(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("cases", "show", KNOWN) == 0
    told = capsys.readouterr().out
    entry = catalog.load([suite.conformance()]).entry(KNOWN)
    for part in (entry.rule.text, entry.rule.source.section, entry.case.why, "h2 reads stdin, says deny", *entry.case.killed_by):
        assert part in told
    assert f"twin       {entry.case.twin}" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cases", "show", "lecode/veto/second-denise"), f'did you mean "{KNOWN}"?'),
        (("cases", "list", "--family", "vetoo"), 'there is no family "vetoo" among the cases'),
        (("cases", "list", "--dialect", "lecode/7"), 'the suite does not know version "7" of lecode'),
        (("rules", "show", "lecode-most-severe-win"), 'did you mean "lecode-most-severe-wins"?'),
        (("rules", "list", "--dialect", "lecod"), 'there is no dialect "lecod" among the rules'),
        (("rules", "coverage", "--results", "/nowhere"), "/nowhere: cannot be read"),
        (("cases", "export", "--output", "/nowhere/x.json"), "/nowhere/x.json: cannot be written: No such file or directory"),
    ],
)
def test_names_of_nothing_end_with_2_and_a_next_step(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(*words) == 2
    assert said in capsys.readouterr().err


def test_check_says_what_is_wrong_in_the_named_file_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("format: 1\ndialect: lecode\nfamily: veto\nrule: {}\n")
    assert typed("cases", "check", bad) == 1
    assert capsys.readouterr().out == f'{bad}:4:1: "rule" is no case file field; did you mean "rules"?\n'
    assert typed("cases", "check", suite.conformance() / "lecode" / "veto.yaml") == 0


def test_coverage_is_strict_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(
        "format: 1\ndialect: lecode\nfamily: own\nrules:\n  lecode-own-untested:\n    level: may\n"
        "    text: Nobody wrote a case for it.\n    source: {document: ours, section: one}\n"
    )
    assert typed("rules", "coverage", "--cases", tmp_path, "--json") == 0
    covered = json.loads(capsys.readouterr().out)
    ours = next(section for section in covered["sections"] if section["document"] == "ours")
    assert ours["untested"] == 1
    assert typed("rules", "coverage", "--cases", tmp_path, "--strict") == 1


def test_every_rule_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = catalog.load([suite.conformance()])
    assert typed("rules", "show", *loaded.rules) == 0
    told = capsys.readouterr().out
    assert all(rule.text in told for rule, _ in loaded.rules.values())


def test_every_case_can_be_told() -> None:
    for entry in catalog.load([suite.conformance()]).entries:
        assert entry.rule.text in casewords.told(entry)


def test_handlers_are_told_in_the_order_of_their_deeds() -> None:
    busy = Handler(
        say=[Say(verdict="allow"), Say(verdict="deny", reason="no", input={"a": 1})],
        spawn_child=Child(sleep=2),
        sleep=1.5,
        stderr="oh",
        read="half",
        ignore_term=True,
        wait_for="h2",
        signal="KILL",
        timeout=5,
        event="Stop",
    )
    assert casewords.handler(busy) == (
        "reads 64 bytes of stdin and closes it, ignores TERM, leaves a child behind that lives 2 s and holds stdout, "
        'waits until h2 has started, sleeps 1.5 s, complains "oh", '
        'says allow, then deny with reason "no" and input {"a": 1}, dies by KILL on Stop (timeout: 5)'
    )
    assert casewords.handler(Handler()) == "reads stdin, prints nothing, exits 0"
    assert casewords.handler(Handler(missing=True)) == "is configured, but no file is there"


def test_the_schemas_are_valid_and_describe_what_we_read_and_write(capsys: pytest.CaptureFixture[str]) -> None:
    schemas = {}
    for name in ("protocol", "cases", "results", "features", "statements"):
        assert typed("schema", name) == 0
        schemas[name] = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator.check_schema(schemas[name])
    cases = jsonschema.Draft202012Validator(schemas["cases"])
    rows = jsonschema.Draft202012Validator(schemas["statements"])
    for path in (suite.conformance() / "lecode").glob("*.yaml"):
        (rows if path.name == statements.FILE else cases).validate(strictyaml.load(path).data)
    assert not cases.is_valid({"format": 1, "dialect": "lecode", "family": "x", "casses": []})
    header = results.Header(hookproof="0", suite="0", cases=0, subject=["x"])
    line = json.loads(json.dumps(msgspec.to_builtins(header)))
    jsonschema.Draft202012Validator(schemas["results"]).validate(line)
    jsonschema.Draft202012Validator(schemas["features"]).validate("rewrite")


CASE = ("new", "case", "--dialect", "lecode", "--killed-by", "my-fault")
RULE = ("--text", 'Say "no": it is # kept.', "--document", "ours", "--section", "1: one")


def new(folder: Path, slug: str, twin: str, *more: str, family: str = "own", rule: str = "lecode-own") -> int:
    return typed(*CASE, "--family", family, "--id", slug, "--rule", rule, "--twin", twin, "--folder", folder, *more)


def test_a_new_case_and_its_twin_load_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new(tmp_path, "runs", "none", *RULE) == 0
    assert new(tmp_path, "refused", "lecode/own/runs") == 0
    path = tmp_path / "lecode" / "own.yaml"
    assert f"{path}:22: lecode/own/refused" in capsys.readouterr().out
    read = casefile.read(path)
    assert [case.id for case in read.file.cases] == ["lecode/own/runs", "lecode/own/refused"]
    assert read.file.rules["lecode-own"].text == 'Say "no": it is # kept.'
    assert typed("cases", "check", path) == 0


def test_a_new_case_keeps_comments_order_and_mode_of_the_file(tmp_path: Path) -> None:
    assert new(tmp_path, "runs", "none", *RULE) == 0
    path = tmp_path / "lecode" / "own.yaml"
    path.write_text("# mine\n" + path.read_text().replace("cases:\n", "cases:  # kept\n") + "  # the end\n\n")
    path.chmod(0o640)
    before = path.read_text().rstrip("\n")
    assert new(tmp_path, "again", "lecode/own/runs", "--text", "A second sentence.", *RULE[2:], rule="lecode-own-two") == 0
    after = path.read_text()
    assert [line for line in before.split("\n") if line not in after.split("\n")] == []
    assert path.stat().st_mode & 0o777 == 0o640
    assert set(casefile.read(path).file.rules) == {"lecode-own", "lecode-own-two"}
    assert [name for name in os.listdir(path.parent) if name != "own.yaml"] == []


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    assert new(tmp_path, "runs", "none", *RULE) == 0
    path = tmp_path / "lecode" / "own.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert new(tmp_path, "again", "lecode/own/runs") == 0
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    assert len(casefile.read(path).file.cases) == 2


def test_a_case_without_rule_twin_or_fault_is_refused_with_the_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("new", "case", "--dialect", "lecode", "--family", "own", "--id", "x") == 2
    said = capsys.readouterr().err
    assert "a case cannot be begun without:" in said
    for part in ("--rule ", "a case without a rule is an opinion", "--twin ", "--killed-by ", "proves nothing"):
        assert part in said
    assert "--family" not in said


def test_nothing_is_written_into_the_suite_unless_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in suite.conformance().rglob("*.yaml")}
    words = (*CASE, "--family", "veto", "--id", "x", "--rule", "lecode-deny-blocks-the-tool", "--twin", "none")
    assert typed(*words) == 2
    assert f"--folder DIR is for cases of your own, run with --cases DIR; --into-suite writes into {suite.conformance()}" in (
        capsys.readouterr().err
    )
    # with it the suite is the place: here is such a case already
    there = [*words[:-6], "--id", "deny-blocks", *words[-4:]]
    assert typed(*there, "--into-suite") == 2
    assert 'the case "lecode/veto/deny-blocks" exists already' in capsys.readouterr().err
    assert before == {path: path.stat().st_mtime_ns for path in suite.conformance().rglob("*.yaml")}


def test_an_id_a_rule_and_a_twin_are_refused_where_they_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new(tmp_path, "runs", "none", *RULE) == 0
    text = (tmp_path / "lecode" / "own.yaml").read_text()
    capsys.readouterr()
    for words, said in [
        (("runs", "none"), 'the case "lecode/own/runs" exists already'),
        (("more", "lecode/own/run"), 'there is no case "lecode/own/run"\nhint: did you mean "lecode/own/runs"?'),
        (("More", "none"), '--id "More" must be small letters, digits and single hyphens'),
        (("more", "none", *RULE), 'the rule "lecode-own" exists already'),
    ]:
        assert new(tmp_path, *words) == 2
        assert said in capsys.readouterr().err
    assert new(tmp_path, "more", "none", rule="lecode-ownn") == 2
    assert 'there is no rule "lecode-ownn"; did you mean "lecode-own"?' in capsys.readouterr().err
    assert (tmp_path / "lecode" / "own.yaml").read_text() == text


def test_a_file_that_cannot_be_continued_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lecode" / "own.yaml"
    path.parent.mkdir()
    assert new(tmp_path / "a", "runs", "none", *RULE) == 0
    path.write_text((tmp_path / "a/lecode/own.yaml").read_text() + "# the end\nabout: last\n")
    path.write_text(
        path.read_text().replace("about: Say here in one sentence what the cases of this family have in common.\n", "")
    )
    before = path.read_text()
    assert new(tmp_path / "lecode", "again", "lecode/own/runs") == 2
    assert "a case cannot be added to this file: `cases` must come last" in capsys.readouterr().err
    assert path.read_text() == before


def test_a_new_runner_is_an_executable_copy_and_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "mine.mjs"
    assert typed("new", "runner", "--language", "node", "--output", target) == 0
    assert target.read_bytes() == (suite.fixtures() / "runners" / "node.mjs").read_bytes()
    assert os.access(target, os.X_OK)
    assert f"hookproof check --runner {target}" in capsys.readouterr().out
    assert typed("new", "runner", "--language", "node", "--output", target) == 2
    assert "exists already" in capsys.readouterr().err
