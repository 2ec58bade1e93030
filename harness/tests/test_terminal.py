"""The terminal view: text from results, nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hookproof.results import CaseResult, Check, Footer, Given, Header, Moment, Status
from hookproof.views import junit, terminal


def case(status: Status, **more: Any) -> CaseResult:
    fields: dict[str, Any] = {
        "id": "lecode/veto/second-denies",
        "dialect": "lecode/1.0",
        "family": "veto",
        "rule": "lecode-most-severe-wins",
        "level": "must",
        "sentence": "The most severe verdict wins.",
        "source": "doc, section",
        "rerun": "pytest --runner=./x --case lecode/veto/second-denies",
    }
    return CaseResult(status=status, **(fields | more))


DENIED = Check(name="tool_runs t1", ok=False, basis="seen", wanted="the tool runs never", saw="once")


def test_a_failure_says_rule_wanted_saw_basis_ledger_words_and_command() -> None:
    text = terminal.failure(
        case(
            "fail",
            checks=[DENIED, Check(name="hook t1", ok=True, basis="claimed", wanted="deny", saw="deny")],
            timeline=[Moment("start h1", 0.0), Moment("end h1 0", 0.012), Moment("read h1")],
            complained="warning: odd\n",
            hint="look at merge()",
        )
    )
    for words in (
        "The most severe verdict wins.",
        "must; doc, section",
        "tool_runs t1 (seen in the ledger)",
        "wanted  the tool runs never",
        "saw     once",
        "1 other check",
        "12 ms  end h1 0",
        "| warning: odd",
        "hint: look at merge()",
        "again: pytest --runner=./x",
    ):
        assert words in text
    assert "hook t1" not in text


def test_an_error_shows_what_the_runner_printed_to_the_letter() -> None:
    text = terminal.failure(case("error", error_kind="NotProtocol", note="no JSON", said="Traceback\n  boom"))
    assert "could not be judged (NotProtocol)" in text
    assert "    | Traceback\n    |   boom" in text


def test_a_failure_shows_the_settings_and_the_request() -> None:
    request = {
        "op": "run",
        "id": "r1",
        "world": {"root": "WORLD"},
        "permission": {"verdict": "allow"},
        "steps": [{"prompt": "hi"}],
    }
    toml = '[hooks]\nPreToolUse = ["WORLD/p/h1"]'
    text = terminal.failure(
        case("fail", given=[Given("project settings WORLD/config.toml", toml), Given("request", json.dumps(request, indent=2))])
    )
    assert "    project settings WORLD/config.toml\n      | [hooks]\n      | PreToolUse" in text
    assert '    request\n      | {"permission": {"verdict": "allow"}, "steps": [{"prompt": "hi"}]}\n' in text
    assert "cut;" not in text


def test_what_is_long_is_cut_and_it_is_said_how_to_see_it_whole() -> None:
    text = terminal.failure(case("fail", given=[Given("request", json.dumps({"steps": ["x" * 5000]}))]))
    assert len(text) < 1500
    assert "in words: hookproof cases show lecode/veto/second-denies; whole in the file of --results, under `given`" in text


def test_a_command_to_paste_stands_in_one_line_however_long_it_is() -> None:
    command = f"hookproof replay '/tmp/{'a long folder/' * 12}x.json' --runner './my runner --flag'"
    text = terminal.failure(case("fail", hint=f"to see just this again:\n    {command}"))
    assert f"      {command}\n" in text
    smoke = terminal.smoke([case("error", note="no answer", hint=f"by hand:\n    {command}")])
    assert smoke == f"smoke: wired wrongly: no answer; hint: by hand: {command}"


def test_our_own_fault_is_not_laid_at_the_runners_door() -> None:
    assert "says nothing about the runner" in terminal.failure(case("harness-error", note="disk full"))


def test_a_family_has_one_row_and_the_sum_is_the_last() -> None:
    rows = terminal.table([case("pass"), case("fail"), case("pass", family="ordering"), case("error", family="ordering")])
    assert rows[0].split() == ["family", "pass", "fail", "error", "warn", "not", "tested", "n.a."]
    assert [row.split() for row in rows[1:3]] == [
        ["veto", "1", "1", ".", ".", ".", "."],
        ["ordering", "1", ".", "1", ".", ".", "."],
    ]
    assert rows[-1].split() == ["all", "2", "1", "1", ".", ".", "."]


def test_the_dialect_is_told_where_there_are_several() -> None:
    assert terminal.table([case("pass"), case("pass", dialect="other/1")])[1].startswith("lecode/1.0 veto")


def test_reasons_for_what_was_not_tested_are_counted_together() -> None:
    lines = terminal.asides(
        [case("not-tested", note="slow"), case("not-tested", note="slow"), case("not-applicable", note="no batch")]
    )
    assert lines == ["not tested: 2 cases: slow", "n.a.: 1 case: no batch"]


def test_who_asks_the_reference_without_a_library_is_told_what_to_install() -> None:
    cases = [case("not-applicable", note="not declared: prompt, rewrite"), case("not-applicable", note="not declared: http")]
    said = "n.a.: the reference lacks libraries for these handlers: install hookproof[http,model]"
    assert terminal.asides(cases, "hookproof-reference")[-1] == said
    assert said not in terminal.asides(cases, "another")
    assert len(terminal.asides([case("not-applicable", note="not declared: batch")], "hookproof-reference")) == 1


def test_a_warning_names_its_case_and_level() -> None:
    (line,) = terminal.asides([case("warn", level="should", checks=[DENIED])])
    assert line.startswith("warning: lecode/veto/second-denies: wanted the tool runs never, saw once (should: ")


def test_a_run_that_tested_nothing_says_that_it_proves_nothing() -> None:
    footer = Footer(counts={"not-tested": 1}, verdict="0 of 1 cases pass")
    assert "nothing is proved" in terminal.last_line(footer, [case("not-tested")])
    assert terminal.last_line(footer, [case("fail")], 1) == "0 of 1 cases pass; 1 of the failures is known"


def test_smoke_tells_faults_from_wrong_wiring() -> None:
    seen = [Moment("start t1", 0.0)]
    assert "wired well: the handshake and 1 case pass" in terminal.smoke([case("pass")])
    heard = [Moment("start h1", 0.0), *seen]
    assert "wired well, but it has faults: 1 of 2" in terminal.smoke([case("fail", timeline=heard), case("pass")])
    assert "wired wrongly: tools ran, and no handler" in terminal.smoke([case("fail", timeline=seen), case("pass")])
    assert "wired wrongly: no handler" in terminal.smoke([case("fail"), case("fail")])
    assert "wired wrongly: said {}; hint: read it" in terminal.smoke([case("error", note="said {}", hint="read it")])
    assert "hookproof itself failed: disk full" in terminal.smoke([case("harness-error", note="disk full")])
    assert "nothing was tested" in terminal.smoke([case("not-applicable")])


def test_the_head_names_runner_dialect_suite_and_why_nothing_is_certified() -> None:
    header = Header(
        hookproof="1", suite="f" * 40, cases=1, subject=["/x"], runner={"name": "my", "version": "2"}, dialects=["lecode/1.0"]
    )
    assert terminal.head(header, Path("/s"), "./x") == [
        "hookproof 1: 1 case of /s, hash ffffffffffff",
        "subject: my 2 (./x), lecode/1.0, scope loop",
    ]
    header.certifies, header.why_not = False, "-x can change a verdict"
    assert terminal.head(header, Path("/s"), "./x")[-1] == "this run certifies nothing: -x can change a verdict"


def test_a_refusal_shows_the_runners_own_words_and_the_hint() -> None:
    assert terminal.refusal("no answer", "try -u", "{}", "boom") == (
        "hookproof: no answer\nit printed:\n    | {}\nits stderr:\n    | boom\nhint: try -u"
    )


def test_of_a_long_stderr_the_end_is_shown() -> None:
    long = "\n".join(f"line {number}" for number in range(5000)) + "\n"
    for text in (terminal.refusal("no answer", None, "", long), terminal.failure(case("error", complained=long))):
        assert "(the end of 48889 characters)" in text
        assert "| line 4999" in text and "| line 4960" in text
        assert "line 4959" not in text
    assert len(terminal.refusal("no answer", None, "", "e" * 100_000)) < 3200
    assert "the end of" not in terminal.refusal("no answer", None, "", "boom\n")


def test_junit_properties_leave_out_what_is_empty() -> None:
    properties = dict(junit.properties(case("fail", checks=[DENIED])))
    assert properties["hookproof.status"] == "fail"
    assert properties["hookproof.failed-checks"] == "tool_runs t1"
    assert "hookproof.note" not in properties


def test_what_a_subject_prints_cannot_steer_the_terminal() -> None:
    said = terminal.refusal("no \x1b[2J answer", None, "\x1b[31mred\x07", "\x9b5m")
    assert "\x1b" not in said and "\x07" not in said and "\x9b" not in said
    assert r"\x1b[31mred\x07" in said
