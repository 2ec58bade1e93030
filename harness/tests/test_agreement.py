"""Rows of what a program was seen to do are read, told apart by what the protocol can say, asked, and held against a runner."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookproof import cli
from hookproof.agreement import compare, generated, host, rows, scene
from hookproof.agreement.expressible import left_out
from hookproof.agreement.model import Models
from hookproof.agreement.rows import Row
from hookproof.agreement.story import Story
from hookproof.errors import HarnessError, UsageError
from hookproof.mcpserver.host import McpHost

SAMPLE = Path(__file__).with_name("agreement_sample.jsonl")
FAULTS = Path(__file__).parents[2] / "fixtures" / "faulty_runners"
ECHO = {"tool": "Bash", "input": {"command": "echo RAN >> @W@/log/ran"}}
SEEN = {"tool_wrote": ["RAN"], "model_requests": 2, "tool_results": {"t": [False, ""]}, "terminal_reason": "completed"}

Agree = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def agree(capsys: pytest.CaptureFixture[str]) -> Agree:
    """Runs the command with --json: its exit code, and what it printed."""

    def run(file: Path, *words: str) -> tuple[int, dict[str, Any]]:
        code = cli.main(["agree", str(file), "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return run


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n", "utf-8")
    return file


def row(**fields: Any) -> dict[str, Any]:
    return {"case": "x", "group": "g", "settings": {}, "turns": [[ECHO]], "observed": {"2.1.332": SEEN}, **fields}


def hooks(*commands: str, event: str = "PreToolUse", fields: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    entries = [{"type": "command", "command": command, **more, **(fields or {})} for command in commands]
    return {"hooks": {event: [{"hooks": entries}]}}


def asking(*urls: str) -> dict[str, Any]:
    return {"hooks": {"Stop": [{"hooks": [{"type": "http", "url": url} for url in urls]}]}}


def test_the_reference_does_what_was_seen(agree: Agree) -> None:
    code, said = agree(SAMPLE)
    assert (code, said["agrees"]) == (0, True)
    newer = said["versions"]["2.1.332"]
    assert newer["rows"] == 9
    assert newer["statuses"] == {"agrees": 7, "aside": 1}
    assert newer["left_out"] == {"pre": 1}
    assert said["versions"]["2.1.178"]["statuses"] == {"agrees": 4}


def test_a_row_that_depends_on_chance_is_told_and_fails_nothing(agree: Agree) -> None:
    code, said = agree(SAMPLE, "--row", "chance-decides")
    assert code == 0
    (told,) = said["differing"]
    assert (told["status"], told["note"], told["differences"][0]["what"]) == ("aside", "differs between repeats", "handlers")


@pytest.mark.parametrize(
    ("fault", "name", "what"),
    [
        ("exit-2-is-only-an-error", "a-guard-refuses", {"tool ran", "blocked"}),
        ("continue-false-not-heeded", "the-run-is-ended", {"requests", "end"}),
        ("http-answers-unread", "a-server-answers", {"tool ran", "blocked"}),
    ],
)
def test_a_runner_with_a_fault_disagrees(agree: Agree, fault: str, name: str, what: set[str]) -> None:
    code, said = agree(SAMPLE, "--runner", str(FAULTS / f"{fault}.py"), "--row", name, "--version", "2.1.332")
    assert code == 1
    (told,) = said["differing"]
    assert (told["row"], told["status"]) == (name, "disagrees")
    assert {difference["what"] for difference in told["differences"]} == what


def test_what_was_seen_at_one_version_is_not_wanted_of_the_other(agree: Agree, tmp_path: Path) -> None:
    older, newer = (json.loads(SAMPLE.read_text("utf-8").splitlines()[1])["observed"][v] for v in ("2.1.178", "2.1.332"))
    swapped = json.loads(SAMPLE.read_text("utf-8").splitlines()[1]) | {"observed": {"2.1.178": newer, "2.1.332": older}}
    code, said = agree(write(tmp_path, swapped))
    assert code == 1
    assert [told["version"] for told in said["differing"]] == ["2.1.178", "2.1.332"]


def test_words_say_what_was_seen_and_what_is_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = cli.main(["agree", str(write(tmp_path, row(observed={"2.1.332": {**SEEN, "tool_wrote": ["OTHER"]}})))])
    said = capsys.readouterr().out
    assert code == 1
    assert "line 1: x at 2.1.332 disagrees" in said
    assert "tool ran: seen ['OTHER']" in said
    assert "2.1.332: 1 rows, 1 expressible (100.0%): disagrees 1" in said


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, []),
        ({"post": "ls", "mode": "text", "allowed": None, "unstable": "yes", "prompt": "go on"}, []),
        ({"weather": "fine"}, ["weather"]),
        ({"pre": "sleep 1"}, ["pre"]),
        ({"files": {"../plug/a": ["x", 420], "@P@/b": ["x", 420]}}, []),
        ({"files": {"../../a": ["x", 420]}}, ["files: outside of the world"]),
        ({"files": {"a": "x"}}, ["files of another kind"]),
        ({"script": {"api_error": {}, "http": {}}}, ["script: api_error"]),
        ({"script": {"http": {"a": {"status": 200, "body": "x", "headers": {}, "sleep": 0.5, "body_sleep": 1}}}}, []),
        ({"script": {"http": {"a": {"status": 200, "trailers": {}}}}}, ["script: http"]),
        ({"script": {"http": {"a": {"body": "x"}}}}, ["script: http"]),
        ({"args": ["--permission-mode", "dontAsk", "--init"]}, []),
        ({"args": ["--permission-mode", "auto"]}, ["args: --permission-mode auto"]),
        ({"args": ["--plugin-dir", "x"]}, ["args: --plugin-dir"]),
        ({"args": ["--plugin-dir", "@W@/plug", "--init"]}, []),
        ({"prompt": "/review"}, ["prompt: a command of the program"]),
        ({"prompt": None}, ["prompt: none"]),
        ({"turns": [[{"tool": "Task", "input": {}}]]}, ["turns: tool Task"]),
        ({"turns": [[{"tool": "mcp__srv__say", "input": {}}, {"text": "x"}]]}, []),
        ({"turns": [[{"tool": "Bash", "input": {"command": "ls && cd /tmp"}}]]}, ["turns: the shell changes its folder"]),
        ({"turns": [[{"wait_file": "f", "max": 3}]]}, ["turns: wait_file", "turns: max"]),
        ({"settings": asking("http://127.0.0.1:@PORT@/hook/a", "http://u@LOCALHOST/", "https://[::1]:1/", "ftp://x/", "")}, []),
        ({"settings": asking("http://127.0.0.1/", "http://example.com/")}, ["settings: a handler on another machine"]),
        ({"settings": asking("http://127.0.0.1@example.com/")}, ["settings: a handler on another machine"]),
        ({"settings_raw": json.dumps(asking("http://10.0.0.1:80"))}, ["settings: a handler on another machine"]),
        ({"settings": hooks("true", event="FileChanged")}, ["settings: event FileChanged"]),
        ({"settings_gen": "open('/etc/passwd').read()"}, ["settings that cannot be worked out"]),
        ({"settings_b64": "not base64"}, ["settings that cannot be worked out"]),
        ({"settings_gen": "'x' * 3000000"}, ["settings: larger than an option may be"]),
    ],
)
def test_fields_tell_what_the_protocol_cannot_say(fields: dict[str, Any], wanted: list[str]) -> None:
    assert left_out({"settings": {}, "turns": [[ECHO]], **fields}, "2.1.332") == wanted


def test_plan_mode_is_left_out_only_where_a_service_decides_in_it() -> None:
    fields = {"settings": {}, "turns": [[ECHO]], "args": ["--permission-mode", "plan"]}
    assert left_out(fields, "2.1.178") == []
    assert left_out(fields, "2.1.332") == ["args: --permission-mode plan"]


def test_neither_the_name_nor_what_was_seen_is_looked_at(tmp_path: Path) -> None:
    one = rows.read(write(tmp_path, row()))[0]
    other = rows.read(write(tmp_path, row(case="y", observed={"2.1.332": {"anything": 1}})))[0]
    assert one.fields == other.fields


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'a' * 3 + \"b\"", "aaab"),
        ('json.dumps({"a": [1, -2, None]})', '{"a": [1, -2, null]}'),
        ('json.dumps({"a": 1})[:-1] + "["*2', '{"a": 1[['),
    ],
)
def test_generated_settings_are_worked_out(expression: str, text: str) -> None:
    assert generated.text_of(expression) == text


@pytest.mark.parametrize(
    "expression", ["__import__('os').getcwd()", "'a' * 10**9", "(lambda: 'x')()", "1 + 1", "'a' +", "'a'.upper()"]
)
def test_nothing_else_of_an_expression_is_run(expression: str) -> None:
    with pytest.raises(generated.NotWorkedOut):
        generated.text_of(expression)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "has no rows"),
        (["{"], "rows.jsonl:1: no JSON"),
        ([row(), "[1]"], "rows.jsonl:2: case, settings, turns, observed missing"),
        ([row(turns={})], "turns missing or of another kind"),
        ([row(turns=[["x"]])], "turns is no list of lists of blocks"),
        ([row(observed={"2.1.332": {"tool_wrote": "RAN"}})], "tool_wrote of another kind at 2.1.332"),
    ],
)
def test_a_file_that_is_none_is_told_with_its_line(
    lines: list[Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["agree", str(write(tmp_path, *lines))]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--version", "9.9"], "no row was observed at version 9.9\nhint: there are: 2.1.178, 2.1.332"),
        (["--row", "nothing"], 'has no row "nothing"'),
        (["--row", "a-program-runs-before"], "no row can be expressed: nothing was compared"),
        (["--runner", "example:node"], "does not declare claude-code/2.1.178"),
        (["--runner", "./nowhere"], "./nowhere does not exist"),
    ],
)
def test_what_cannot_be_asked_is_told(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    if words == ["--runner", "example:node"]:
        shutil.which("node") or pytest.skip("node is not installed")
    assert cli.main(["agree", str(SAMPLE), *words]) == 2
    assert message in capsys.readouterr().err


BASH, WRITE, READ = (
    ("Bash", {"command": "echo x > /tmp/f"}),
    ("Write", {"file_path": "/p/a"}),
    ("Read", {"file_path": "/etc/hosts"}),
)


@pytest.mark.parametrize(
    ("fields", "calls", "verdict", "rules"),
    [
        ({"group": "g"}, [BASH, WRITE], "allow", ()),
        ({"allowed": None}, [BASH], "ask", None),
        ({"allowed": "Write"}, [BASH, WRITE], "ask", ("Write",)),
        ({"allowed": "mcp__srv"}, [("mcp__srv__say", {})], "allow", ()),
        ({"allowed": None}, [READ], "ask", None),
        ({"allowed": None}, [("Read", {"file_path": "a"}), ("Bash", {"command": "ls -l; echo x"})], "allow", ()),
        ({"allowed": None, "args": ["--permission-mode", "acceptEdits"]}, [WRITE], "allow", ()),
        ({"allowed": None, "args": ["--permission-mode", "acceptEdits"]}, [("Write", {"file_path": "/etc/x"})], "ask", None),
        ({"allowed": None, "args": ["--permission-mode", "dontAsk"]}, [BASH], "deny", ()),
        ({"allowed": None, "args": ["--permission-mode", "bypassPermissions"]}, [BASH], "allow", ()),
        ({}, [BASH], "allow", ()),
        ({"settings": hooks("true", event="PermissionRequest")}, [BASH], "ask", None),
    ],
)
def test_the_host_is_told_from_what_it_was_told_to_allow(
    fields: dict[str, Any], calls: list[tuple[str, Any]], verdict: str, rules: tuple[str, ...] | None
) -> None:
    stands = host.of(Row("x", 1, {"settings": {}, "turns": [], **fields}, {}), calls, "/p")
    assert stands.verdict == verdict
    if rules is not None:
        assert tuple(rule for rule in stands.rules if not rule.startswith("Bash(")) == rules


STORY = Story(("RAN",), ("A", "P"), (), (False,), ("said",), 2, "done")
TWO = {
    **hooks("echo A >> @W@/log/order", "echo B >> @W@/log/order")["hooks"],
    **hooks("echo P >> @W@/log/order", event="Stop")["hooks"],
}
DELAYED = hooks("sleep 1; echo A >> @W@/log/order", "echo B >> @W@/log/order")


@pytest.mark.parametrize(
    ("settings", "seen", "ours", "what"),
    [
        ({"hooks": TWO}, {}, {}, []),
        ({"hooks": TWO}, {}, {"wrote": ()}, ["tool ran"]),
        ({"hooks": TWO}, {}, {"marks": ("A",)}, ["handlers"]),
        ({"hooks": TWO}, {}, {"marks": ("P", "A")}, ["order"]),
        ({"hooks": TWO}, {"marks": ("A", "B")}, {"marks": ("B", "A")}, []),
        (DELAYED, {"marks": ("B", "A")}, {"marks": ("A", "B")}, ["order"]),
        ({"hooks": TWO}, {}, {"requests": 3}, ["requests"]),
        ({"hooks": TWO}, {}, {"end": "stopped"}, ["end"]),
        ({"hooks": TWO}, {"end": "not told"}, {}, []),
        ({"hooks": TWO}, {}, {"errors": (True,)}, ["blocked"]),
        ({"hooks": TWO}, {"envelopes": ("e",)}, {"envelopes": ("f",)}, ["input"]),
        ({"hooks": TWO}, {"requests": 90, "end": "goes on"}, {"requests": 41, "end": "goes on"}, []),
        ({"hooks": TWO}, {"requests": 90, "end": "goes on"}, {"requests": 3}, ["requests", "end"]),
        (hooks("echo NEVER >&2; exit 2"), {"texts": ("so: NEVER",)}, {"texts": ("NEVER",)}, []),
        (hooks("echo NEVER >&2; exit 2"), {"texts": ("so: NEVER",)}, {"texts": ("blocked",)}, ["told"]),
        (hooks("echo A >> @W@/log/order", timeout=0.001), {"marks": ("A",)}, {"marks": ()}, []),
        (hooks("echo A >> @W@/log/order", fields={"async": True}), {"marks": ("A",)}, {"marks": ()}, []),
    ],
)
def test_a_difference_is_named(settings: dict[str, Any], seen: dict[str, Any], ours: dict[str, Any], what: list[str]) -> None:
    told = Row("x", 1, {"settings": settings, "turns": [[ECHO]]}, {})
    found = compare.differences(told, replace(STORY, **seen), replace(STORY, **ours))
    assert [difference.what for difference in found] == what


@pytest.mark.parametrize(
    ("settings", "times"),
    [(hooks("true"), 1), (hooks("true", "false"), compare.IN_A_RACE), (hooks("sleep 1", "false"), compare.WITH_DELAYS)],
)
def test_only_what_chance_can_change_is_tried_again(settings: dict[str, Any], times: int) -> None:
    assert compare.attempts(Row("x", 1, {"settings": settings, "turns": []}, {})) == times


def test_a_runner_that_lies_about_a_start_disagrees(agree: Agree, tmp_path: Path) -> None:
    liar = tmp_path / "liar.py"
    liar.write_text(
        "#!/usr/bin/env python3\nimport sys\n"
        f"sys.path.insert(0, {str(FAULTS)!r})\n"
        "from _reference import main\nfrom hookproof_reference import tools\n"
        "tools.run = lambda program, arguments, place: tools.ToolEnd('ok', '')\nmain()\n"
    )
    liar.chmod(0o755)
    file = write(
        tmp_path,
        row(
            turns=[[{"tool": "Write", "input": {"file_path": "@P@/a", "content": "x"}}]],
            observed={"2.1.332": SEEN | {"tool_wrote": []}},
        ),
    )
    code, said = agree(file, "--runner", str(liar))
    assert code == 1
    assert said["differing"][0]["differences"][0]["here"] == "t1 was not started, the runner says that it was"


def test_what_a_runner_does_not_support_is_told_and_is_no_agreement(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bare = tmp_path / "bare.py"
    bare.write_text(
        "#!/usr/bin/env python3\nimport sys\n"
        f"sys.path.insert(0, {str(FAULTS)!r})\n"
        "from _reference import main\nfrom hookproof_reference.dialects.claude_code import kinds\n"
        "kinds.available = lambda kind: False\nmain()\n"
    )
    bare.chmod(0o755)
    asks = asking("http://127.0.0.1:@PORT@/hook/deny")
    both = write(tmp_path, row(), row(case="y", settings=asks))
    assert cli.main(["agree", str(both), "--runner", str(bare)]) == 0
    assert "unsupported by the runner: http: install hookproof[http] 1" in capsys.readouterr().out
    assert cli.main(["agree", str(both), "--runner", str(bare), "--row", "y"]) == 2
    assert "the runner supports none of the rows: nothing was compared" in capsys.readouterr().err


def test_a_file_of_a_row_stays_in_its_world(tmp_path: Path) -> None:
    scene.place_tool(tmp_path)
    wrong = Row("x", 1, {"settings": {}, "turns": [], "files": {"../../../gone.txt": ["x", 0o644]}}, {})
    with pytest.raises(HarnessError, match="leads out of its world"):
        scene.lay_out(wrong, "2.1.332", "claude-code/2.1.332", tmp_path, 1, Models(), McpHost(tmp_path))


def calling(tool: str, seen: dict[str, Any], log: str, *, server: str = "@L@/mcp_srv.py", **arguments: Any) -> dict[str, Any]:
    """A row whose hook asks a tool of a server that an option names."""
    handler = {"type": "mcp_tool", "server": "srv", "tool": tool, "input": arguments}
    servers = {"srv": {"command": "@PY@", "args": [server, "@W@/log/mcp.jsonl"]}}
    return row(
        settings={"hooks": {"PreToolUse": [{"hooks": [handler]}]}},
        files={"mcp.json": [json.dumps({"mcpServers": servers}), 0o644]},
        args=["--mcp-config", "@P@/mcp.json"],
        observed={"2.1.332": {**SEEN, "logs": {"mcp": log}, **seen}},
    )


DENIED = {"tool_wrote": [], "tool_results": {"t": [True, "PreToolUse:Bash hook error: NO"]}}
DENY = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "NO"}}
)


def test_what_a_server_is_called_with_is_compared(agree: Agree, tmp_path: Path) -> None:
    told = json.dumps({"reply": DENY, "what": "echo RAN >> @W@/log/ran"})
    right = calling("say", DENIED, f"call {told} say\nreply", reply=DENY, what="${tool_input.command}")
    code, said = agree(write(tmp_path, right))
    assert code == 0, said["differing"]
    wrong = calling("say", DENIED, f"call {told} say\nreply", reply=DENY, what="${toolInput.command}")
    code, said = agree(write(tmp_path, wrong))
    assert code == 1
    assert [difference["what"] for difference in said["differing"][0]["differences"]] == ["called"]


@pytest.mark.parametrize("log", ["call {broken} say", "call [] say", "something else", "call {} say\nand then"])
def test_a_log_of_another_form_is_not_compared(agree: Agree, tmp_path: Path, log: str) -> None:
    code, said = agree(write(tmp_path, calling("say", DENIED, log, reply=DENY)))
    assert code == 0, said["differing"]


def test_a_server_that_is_not_known_is_left_out(tmp_path: Path) -> None:
    (known,) = rows.read(write(tmp_path, calling("say", {}, "")))
    assert left_out(known.fields, "2.1.332") == []
    (unknown,) = rows.read(write(tmp_path, calling("say", {}, "", server="@L@/other.py")))
    assert left_out(unknown.fields, "2.1.332") == ["files: an MCP server that is not known"]


def test_a_missing_file_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="No such file"):
        rows.read(Path("/nowhere/rows.jsonl"))
