"""Scripts are put to the proof without a word from their authors: what is broken is named, what is good passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookproof import results
from hookproof.errors import UsageError
from hookproof.hooks import certify, report, stimuli
from hookproof.hooks.asking import Asked
from hookproof.hooks.bench import Bench
from hookproof.hooks.certify import HookReport
from hookproof.hooks.command import opened
from hookproof.hooks.meaning import Reader
from hookproof.hooks.script import from_path, from_settings, guessed_event, why_not_startable

FAMILIES = ("canaries", "answers", "starts", "wiring")
Prove = Callable[..., HookReport]

DENY = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}'
OTHER = DENY.replace("PreToolUse", "PostToolUse")
COMMAND = 'c=$(cat); case $c in *\'"command":"git push --force\'*) '
READ = "c=$(cat); case $c in *'git push --force'*) "


@pytest.fixture(scope="module")
def bench() -> Iterator[tuple[Bench, Reader]]:
    with opened() as both:
        yield both


@pytest.fixture
def prove(bench: tuple[Bench, Reader], tmp_path: Path) -> Prove:
    def proved(text: str, *, name: str = "guard.sh", mode: int = 0o755, **words: Any) -> HookReport:
        path = tmp_path / name
        path.write_bytes(text.encode())
        path.chmod(mode)
        script = from_path(path, **{key: words.pop(key) for key in ("event", "dialect") if key in words})
        return certify.certify(script, *bench, families=FAMILIES, **words)

    return proved


@pytest.fixture
def prove_settings(tmp_path: Path) -> Callable[[dict[str, Any]], list[HookReport]]:
    def proved(hooks: dict[str, Any]) -> list[HookReport]:
        folder = tmp_path / "project" / ".claude"
        folder.mkdir(parents=True)
        guard = folder / "guard.sh"
        guard.write_text(f"#!/bin/sh\n{COMMAND}echo no >&2; exit 2;; esac\n")
        guard.chmod(0o755)
        (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
        scripts = from_settings(folder / "settings.json")
        with opened() as (own, reader):
            return [certify.certify(script, own, reader, families=FAMILIES) for script in scripts]

    return proved


def failed(made: HookReport) -> set[str]:
    assert not [case for case in made.cases if case.status == "harness-error"]
    return {case.rule for case in made.cases if case.status == "fail"}


def of_status(made: HookReport, status: str) -> set[str]:
    return {case.rule for case in made.cases if case.status == status}


def test_a_good_guard_has_no_finding(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\n{READ}echo 'no forced pushes' >&2; exit 2;; esac\n")
    assert made.kind == "guard"
    assert failed(made) == of_status(made, "warn") == set()
    assert made.refused is not None
    assert made.refused.meaning.reason.strip() == "no forced pushes"


def test_a_good_guard_with_json_has_no_finding(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\n{READ}echo '{DENY}';; esac\n")
    assert failed(made) == of_status(made, "warn") == set()


@pytest.mark.parametrize(
    ("refusal", "rule"),
    [
        ("echo blocked >&2; exit 1", "exit-code-refuses"),
        (f"echo checking; echo '{DENY}'", "json-alone"),
        (f"echo '{DENY}'; echo '{DENY}'", "json-alone"),
        (f"echo '{DENY}' | tr -d '}}'", "json-whole"),
        (f"echo '{DENY}' | sed s/PreToolUse/PostToolUse/", "event-named"),
        ("""echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'""", "event-named"),
        ("""echo '{"permissionDecision":"deny"}'""", "fields-in-place"),
        (f"echo '{DENY}' | sed s/deny/Deny/", "decision-word"),
        ("""echo '{"decision":"deny","reason":"no"}'""", "decision-word"),
        ("""echo '{"verdict":"deny","reason":"no"}'""", "own-dialect"),
        (f"echo '{DENY}' >&2", "answer-on-stdout"),
        ("""echo '{"continue":false,"stopReason":"blocked"}'""", "stopping-is-no-refusal"),
        ("echo 'blocked: not allowed'", "refusal-counts"),
        ("""echo '{"async":true}'; echo no >&2; exit 2""", "refusal-counts"),
    ],
)
def test_a_refusal_without_effect_is_found_and_its_cause_named(prove: Prove, refusal: str, rule: str) -> None:
    made = prove(f"#!/bin/sh\n{READ}{refusal};; esac\nexit 0\n")
    assert made.first_line.startswith("this guard refused nothing, though it tried")
    assert failed(made) == {"refuses-something", rule}


def test_ask_with_exit_code_2_is_two_decisions(prove: Prove) -> None:
    asking = DENY.replace("deny", "ask")
    assert failed(prove(f"#!/bin/sh\n{READ}echo '{asking}'; exit 2;; esac\n")) == {"one-decision"}


def test_a_refusal_without_a_reason_is_warned_of(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\n{READ}echo no; exit 2;; esac\n")
    assert (failed(made), of_status(made, "warn")) == (set(), {"reason-given"})


def test_a_guard_that_never_refuses_is_told_of_first(prove: Prove) -> None:
    made = prove('#!/bin/sh\ncheck() { exit 2; }  # "permissionDecision"\n')
    assert report.text(made)[0].startswith("this guard refused nothing")
    assert failed(made) == {"refuses-something"}


def test_a_guard_that_passes_nothing_is_warned_of(prove: Prove) -> None:
    assert of_status(prove("#!/bin/sh\necho no >&2; exit 2\n"), "warn") == {"passes-something"}


def test_a_prompt_that_never_passes_and_a_call_that_waits_for_ever_are_failures(prove: Prove) -> None:
    assert failed(prove("#!/bin/sh\ncat >/dev/null; echo mind the style >&2; exit 2\n", event="UserPromptSubmit")) == {
        "passes-something"
    }
    assert failed(prove(f"#!/bin/sh\ncat >/dev/null\necho '{DENY.replace('deny', 'defer')}'\n")) == {"passes-something"}


def test_an_end_with_2_by_accident_is_a_failure(prove: Prove) -> None:
    text = "#!/usr/bin/env python3\nimport argparse\np = argparse.ArgumentParser(); p.add_argument('file'); p.parse_args()\n"
    assert failed(prove(text, event="PreToolUse")) == {"passes-something"}


def test_a_guard_of_the_turns_end_that_was_not_seen_to_refuse_is_a_remark(prove: Prove) -> None:
    made = prove("#!/bin/sh\ncat >/dev/null; [ -e failed ] || exit 0; echo again >&2; exit 2\n", event="Stop")
    assert made.first_line.startswith("this guard refused nothing")
    assert (failed(made), of_status(made, "warn")) == (set(), {"refuses-something"})


@pytest.mark.parametrize(
    ("refusal", "rules"),
    [
        ("echo no forced pushes >&2; return 2", {"refuses-something"}),
        ("echo no forced pushes >&2", set()),
    ],
)
def test_a_message_that_nobody_hears_is_told_of(prove: Prove, refusal: str, rules: set[str]) -> None:
    made = prove(f"#!/bin/bash\n{READ}{refusal};; esac\nexit 0\n", event="PreToolUse")
    assert (failed(made), of_status(made, "warn")) == (rules, {"heard"})


def test_a_script_that_prints_its_payload_is_told_of(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\n{READ}echo no >&2; exit 2;; esac\nprintf '%s\\n' \"$c\"\n")
    assert (failed(made), of_status(made, "warn")) == (set(), {"payload-kept"})


def test_the_same_script_is_good_in_one_dialect_and_not_in_another(prove: Prove) -> None:
    text = f"#!/bin/sh\n{READ}echo no >&2; exit 1;; esac\n"
    assert failed(prove(text, dialect="lecode/1.0")) == set()
    assert "exit-code-refuses" in failed(prove(text, dialect="claude-code/2.1.178"))


def test_a_stimulus_that_only_the_user_knows_is_given(bench: tuple[Bench, Reader], tmp_path: Path) -> None:
    path = tmp_path / "guard.sh"
    path.write_text("#!/bin/sh\ngrep -q \"$(printf 'm%sgic' a)\" && { echo no >&2; exit 2; }\nexit 0\n")
    path.chmod(0o755)
    asked = Asked((str(path),), tmp_path, refuse=("magic word",), accept=("plain word",))
    script = asked.scripts()[0]
    given, fine = asked.stimuli(asked.refuse, script), asked.stimuli(asked.accept, script)
    made = certify.certify(script, *bench, refuse=given, accept=fine, families=FAMILIES)
    assert made.refused is not None
    assert made.refused.stimulus.id == "given/magic word"


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("#!/bin/sh\nexit 0\n", 0o644, "not executable"),
        ("#!/no/such/interpreter\nexit 0\n", 0o755, "missing"),
        ("#!/bin/sh\r\nexit 0\r\n", 0o755, "carriage return"),
        ("", 0o755, "empty"),
    ],
)
def test_why_a_script_does_not_start_is_said_in_words(prove: Prove, text: str, mode: int, words: str) -> None:
    made = prove(text, mode=mode, event="PreToolUse")
    case = next(case for case in made.cases if case.rule == "starts")
    assert case.status == "fail"
    assert words in case.checks[0].saw
    assert "unguarded" in case.checks[0].saw


def test_a_script_that_only_works_where_it_lies_is_found(prove: Prove) -> None:
    text = "#!/bin/sh\ncd $(dirname $0) && [ -e guard.sh ] || exit 0\n" + READ + "echo no >&2; exit 2;; esac\n"
    assert failed(prove(text)) == {"path-with-blanks"}


def test_a_script_that_needs_its_working_folder_is_found(prove: Prove) -> None:
    text = f'#!/bin/sh\n[ "${{PWD##*/}}" = project ] || exit 0\n{READ}echo no >&2; exit 2;; esac\n'
    assert failed(prove(text)) == {"other-folder"}


def test_kinds_are_told_by_what_a_script_does(prove: Prove) -> None:
    context = """#!/bin/sh\necho '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"hi"}}'\n"""
    assert prove(context).kind == "context"
    assert prove("#!/bin/sh\ncat >/dev/null\n", event="PostToolUse").kind == "observer"
    assert prove("#!/bin/sh\ncat >/dev/null\necho x >formatted\n", event="PostToolUse").kind == "formatter"


def test_a_script_that_only_ever_allows_is_no_guard(prove: Prove) -> None:
    allowing = DENY.replace("deny", "allow")
    assert prove(f"#!/bin/sh\ncat >/dev/null\necho '{allowing}'\n", event="PreToolUse").kind == "observer"


def test_a_word_that_a_script_looks_for_with_its_blank_is_found(prove: Prove) -> None:
    text = """#!/bin/sh
c=$(sed 's/.*"command":"//')
case $c in "helm uninstall "*) echo no >&2; exit 2;; esac
"""
    made = prove(text, event="PreToolUse")
    assert made.refused is not None


def test_half_a_surrogate_pair_is_written_as_an_escape() -> None:
    stimulus = stimuli.shell("claude-code/2.1.332", "PreToolUse", "echo \ud83d \u00e9")
    data = stimulus.data()
    assert b"echo \\ud83d \xc3\xa9" in data
    assert json.loads(data.decode("utf-8")) == stimulus.payload


def test_an_event_is_guessed_from_a_scripts_words() -> None:
    assert guessed_event("jq .tool_input.command") == "PreToolUse"
    assert guessed_event("jq -r .stop_hook_active") == "Stop"
    assert guessed_event("jq .tool_response") == "PostToolUse"
    assert guessed_event("SessionStart") == "SessionStart"
    assert guessed_event("# SubagentStart\ncat") == "SubagentStart"


def test_a_guessed_event_goes_by_the_name_that_the_agent_has_for_it(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\n{READ}echo no >&2; exit 2;; esac\n", dialect="gemini-cli/0.61.0")
    assert made.script.event == "BeforeTool"
    assert failed(made) == set()
    assert made.refused is not None


def test_the_event_that_an_answer_names_is_no_proof_of_the_event() -> None:
    for answer in ('{"hookEventName": "PostToolUse", "permissionDecision": ""}', "{hookEventName: 'Stop', permissionDecision}"):
        assert guessed_event(f"jq -r .tool_input.file_path; echo '{answer}'") == "PreToolUse"
    # where the script looks at nothing of a call, the name is all that there is
    assert guessed_event("""cat; echo '{"hookEventName": "Stop", "permissionDecision": "deny"}'""") == "Stop"


def test_a_wrong_event_name_is_named_as_such(prove: Prove) -> None:
    made = prove(f"#!/bin/sh\nc=$(jq -r .tool_input.command)\ncase $c in 'git push --force') echo '{OTHER}';; esac\n")
    assert failed(made) == {"refuses-something", "event-named"}


GUARD = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/guard.sh'}


def test_a_guard_that_is_wired_well_has_no_finding(prove_settings: Callable[[dict[str, Any]], list[HookReport]]) -> None:
    made = prove_settings({"PreToolUse": [{"matcher": "Bash", "hooks": [{**GUARD, "timeout": 5}]}]})
    assert [failed(one) for one in made] == [set()]
    assert of_status(made[0], "not-tested") == set()


@pytest.mark.parametrize(
    ("hooks", "rules"),
    [
        ({"PreToolUse": [{"matcher": "Write", "hooks": [GUARD]}]}, {"reaches-what-it-refuses"}),
        ({"PreToolUse": [{"matcher": "bash", "hooks": [GUARD]}]}, {"is-reached", "reaches-what-it-refuses"}),
        ({"PreToolUse": [{"matcher": "Bash", "hooks": [{**GUARD, "timeout": 5000}]}]}, {"limit-in-seconds"}),
        ({"PreToolUse": [{"matcher": "Bash", **GUARD}]}, {"settings-load", "is-reached", "reaches-what-it-refuses"}),
        ({"PreTooluse": [{"matcher": "Bash", "hooks": [GUARD]}]}, {"event-exists"}),
        ({"PreToolUse": [{"matcher": "Bash", "hooks": [{**GUARD, "async": True}]}]}, {"answer-awaited"}),
        ({"Stop": [{"hooks": [{"type": "command", "command": "true", "if": "Bash(ls)"}]}]}, {"is-reached"}),
    ],
)
def test_a_wrong_wiring_is_found(
    prove_settings: Callable[[dict[str, Any]], list[HookReport]], hooks: dict[str, Any], rules: set[str]
) -> None:
    made = prove_settings(hooks)
    assert [failed(one) for one in made] == [rules]


@pytest.mark.parametrize(
    ("matcher", "rules"),
    [
        ("Bash", set()),
        ("Bash|Write", set()),
        ("Write", {"reaches-what-it-refuses"}),
        ("bash", {"is-reached", "reaches-what-it-refuses"}),
    ],
)
def test_a_script_is_driven_through_the_matcher_that_it_will_have(
    bench: tuple[Bench, Reader], tmp_path: Path, matcher: str, rules: set[str]
) -> None:
    (tmp_path / "guard.sh").write_text(f"#!/bin/sh\n{COMMAND}echo no >&2; exit 2;; esac\n")
    (tmp_path / "guard.sh").chmod(0o755)
    script = from_path(tmp_path / "guard.sh", event="PreToolUse", matcher=matcher)
    assert failed(certify.certify(script, *bench, families=["wiring"])) == rules


@pytest.mark.parametrize(("words", "status"), [("git push --force", "fail"), ("helm uninstall", "fail"), ("AKIA0123", "pass")])
def test_a_guard_that_looks_at_all_that_it_is_given_is_judged_by_what_it_looks_for(
    bench: tuple[Bench, Reader], tmp_path: Path, words: str, status: str
) -> None:
    # a command belongs to the shell; a secret may well be looked for in what is written
    (tmp_path / "guard.sh").write_text(f"#!/bin/sh\nif grep -q '{words}'; then echo no >&2; exit 2; fi\nexit 0\n")
    (tmp_path / "guard.sh").chmod(0o755)
    script = from_path(tmp_path / "guard.sh", event="PreToolUse", matcher="Write|Edit")
    made = certify.certify(script, *bench, families=["wiring"])
    found = next(case for case in made.cases if case.rule == "reaches-what-it-refuses")
    assert (found.status if found.status == "fail" else "pass") == status


def test_a_handler_of_a_plugin_is_driven_as_the_plugins(tmp_path: Path) -> None:
    for name in ("hooks", ".claude-plugin"):
        (tmp_path / "plugin" / name).mkdir(parents=True)
    hooks = tmp_path / "plugin" / "hooks"
    (hooks / "guard.sh").write_text(f"#!/bin/sh\n{READ}echo no >&2; exit 2;; esac\n")
    (hooks / "guard.sh").chmod(0o755)
    (tmp_path / "plugin" / ".claude-plugin" / "plugin.json").write_text('{"name": "mine"}')
    shell = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}"/hooks/guard.sh', "timeout": 5}
    program = {"type": "command", "command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"]}
    wired = {"PreToolUse": [{"matcher": "Bash", "hooks": [shell, program]}, {"matcher": "Read", "hooks": [shell]}]}
    (hooks / "hooks.json").write_text(json.dumps({"description": "guards", "hooks": wired}))
    scripts = from_settings(hooks / "hooks.json")
    with opened() as (own, reader):
        made = [certify.certify(script, own, reader, families=FAMILIES) for script in scripts]
    assert [failed(one) for one in made] == [set(), set(), {"reaches-what-it-refuses"}]
    assert [script.file for script in scripts] == [hooks / "guard.sh"] * 3


def test_each_settings_file_has_its_own_project(tmp_path: Path) -> None:
    scripts = []
    for name in ("one", "two"):
        folder = tmp_path / name / ".claude"
        folder.mkdir(parents=True)
        (folder / f"{name}.sh").write_text(f"#!/bin/sh\n{READ}echo no >&2; exit 2;; esac\n")
        hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f'sh "$CLAUDE_PROJECT_DIR"/.claude/{name}.sh'}]}]}
        (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
        scripts += from_settings(folder / "settings.json")
    with opened() as (own, reader):
        assert [failed(certify.certify(script, own, reader, families=FAMILIES)) for script in scripts] == [set(), set()]


def test_handlers_that_start_no_program_are_named(tmp_path: Path) -> None:
    handlers = [{"type": "prompt", "prompt": "safe?"}, {"type": "command"}, {"type": "command", "command": "true"}]
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": handlers}]}}))
    [line] = Asked((str(path),), tmp_path).left_out()
    assert line.endswith("prompt at /hooks/Stop/0/hooks/0; no command at /hooks/Stop/0/hooks/1")


def test_a_switch_that_turns_all_hooks_off_is_named(tmp_path: Path) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    (tmp_path / "settings.json").write_text(json.dumps({"disableAllHooks": True, "hooks": hooks}))
    with opened() as (own, reader):
        made = certify.certify(from_settings(tmp_path / "settings.json")[0], own, reader, families=["wiring"])
    assert failed(made) == {"is-reached"}
    assert "disableAllHooks is true" in next(case for case in made.cases if case.rule == "is-reached").checks[0].saw


LISTED = 'note = 1\nat = 2026-12-01T12:00:00Z\n[hooks]\nPreToolUse = ["true", "sh ./guard.sh"]\n'


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (LISTED, set()),
        (LISTED.replace("[hooks]", "[hook]"), None),
        ('[hooks]\nPreToolUse = "sh ./guard.sh"\n', {"settings-load", "is-reached", "reaches-what-it-refuses"}),
        ('[hooks]\nPreToolUse = [{command = "sh ./guard.sh"}]\n', {"settings-load", "is-reached", "reaches-what-it-refuses"}),
        ('[hooks]\nPreTool = ["sh ./guard.sh"]\n', {"event-exists"}),
    ],
)
def test_a_file_of_lecode_is_driven_as_it_stands(tmp_path: Path, text: str, rules: set[str] | None) -> None:
    (tmp_path / "guard.sh").write_text(f'#!/bin/sh\n{READ}echo \'{{"verdict":"deny","reason":"no"}}\';; esac\n')
    (tmp_path / "hooks.toml").write_text(text)
    if rules is None:
        with pytest.raises(UsageError, match="no command handler"):
            from_settings(tmp_path / "hooks.toml", "lecode/1.0")
        return
    script = from_settings(tmp_path / "hooks.toml", "lecode/1.0")[-1]
    with opened() as (own, reader):
        made = certify.certify(script, own, reader, families=["wiring"])
    assert failed(made) == rules


@pytest.mark.parametrize(("name", "status"), [("project", "warn"), ("my project", "fail")])
def test_a_path_without_quotes_fails_where_the_project_has_a_blank_in_its_name(tmp_path: Path, name: str, status: str) -> None:
    folder = tmp_path / name / ".claude"
    folder.mkdir(parents=True)
    (folder / "guard.sh").write_text(f"#!/bin/sh\n{READ}echo no >&2; exit 2;; esac\n")
    (folder / "guard.sh").chmod(0o755)
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "$CLAUDE_PROJECT_DIR/.claude/guard.sh"}]}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
    scripts = from_settings(folder / "settings.json")
    with opened() as (own, reader):
        made = certify.certify(scripts[0], own, reader, families=["starts"])
    assert of_status(made, status) == {"path-with-blanks"}


def test_the_users_own_files_are_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    handler = {"type": "command", "command": 'echo x >>"$CLAUDE_PROJECT_DIR"/log; rm -f "$CLAUDE_PROJECT_DIR"/kept'}
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    (folder / "kept").write_text("kept")
    scripts = from_settings(folder / ".claude" / "settings.json")
    with opened() as (own, reader):
        made = certify.certify(scripts[0], own, reader, families=FAMILIES)
    assert made.starts > 0
    assert sorted(path.name for path in folder.iterdir()) == [".claude", "kept"]


def test_a_report_is_a_whole_stream(prove: Prove, tmp_path: Path) -> None:
    made = prove("#!/bin/sh\nexit 0\n")
    path = tmp_path / "results.jsonl"
    with path.open("w") as stream:
        lines: list[results.Line] = [certify.header([made.script], len(made.cases)), *made.cases, certify.footer([made])]
        for line in lines:
            results.write(line, stream)
    assert len(results.read(path).cases) == len(made.cases)


def test_wrong_names_are_told_with_the_right_ones(prove: Prove, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        prove("#!/bin/sh\n", ids=("hook/answers/json-alon",))
    with pytest.raises(UsageError, match="does not exist"):
        from_path(tmp_path / "nothing.sh")
    with pytest.raises(UsageError, match="nobody"):
        prove("#!/bin/sh\n", dialect="nobody/1")


def test_nothing_speaks_against_a_startable_script(tmp_path: Path) -> None:
    path = tmp_path / "x.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    assert why_not_startable(from_path(path)) is None


def test_a_script_that_hangs_is_found_and_not_waited_for_again(prove: Prove) -> None:
    made = prove("#!/bin/sh\nsleep 86394\n", event="PreToolUse")
    assert failed(made) == {"comes-to-an-end"}
    assert made.starts == 1
