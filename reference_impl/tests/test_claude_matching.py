"""Matchers, rules and shell commands: which handler is for which call. Each row was seen on the program itself."""

from __future__ import annotations

import pytest

from hookproof_reference.dialects.claude_code import hooks, rules, shell
from hookproof_reference.dialects.claude_code.matchers import matches
from hookproof_reference.dialects.claude_code.versions import VERSIONS
from hookproof_reference.settings import Configured

OLD, NEW = "2.1.178", "2.1.332"
BOTH = (OLD, NEW)

YES_178_AND_332 = {
    "Bash": (True, True),
    "*": (True, True),
    "": (True, True),
    "Edit|Bash": (True, True),
    "|Bash": (True, True),
    "Edit||Bash": (True, True),
    "Edit | Bash": (False, True),
    "Edit,Bash": (False, True),
    "Edit, Bash": (False, True),
    " Bash ": (False, True),
    "Edit,Write|Bash": (True, True),
    "^Bash$": (True, True),
    "Ba.*": (True, True),
    "as.": (True, True),
    "B*": (True, True),
    "(Edit|Bash)": (True, True),
    "[BC]ash": (True, True),
    "(?=Bash)": (True, True),
    "(?<=B)ash": (True, True),
    "(?<n>Bash)": (True, True),
    r"\bBash\b": (True, True),
    r"\x42ash": (True, True),
    "(Edit|)": (True, True),
    "()": (True, True),
    "bash": (False, False),
    "Bas": (False, False),
    "|": (False, False),
    "|Edit": (False, False),
    "   ": (False, False),
    "Edit Bash": (False, False),
    "Bash-Edit": (False, False),
    "Bash(echo *)": (False, False),
    "Bash:echo": (False, False),
    "\u00a0Bash": (False, False),
    "[^B]ash": (False, False),
    "^(?!Bash)": (False, False),
    r"\p{L}+": (False, False),
    "/Bash/": (False, False),
    "*Bash": (False, False),
    "**": (False, False),
    "Edit|*": (False, False),
    "(?i)bash": (False, False),
    "Ba(sh": (False, False),
    "[Bash": (False, False),
    "Ba**": (False, False),
}


@pytest.mark.parametrize("matcher", YES_178_AND_332)
def test_a_matcher_and_the_tool_bash(matcher: str) -> None:
    assert tuple(matches(matcher, "Bash", VERSIONS[version]) for version in BOTH) == YES_178_AND_332[matcher]


@pytest.mark.parametrize(
    ("matcher", "subject", "fits"),
    [
        ("mcp__srv__say", "mcp__srv__say", True),
        ("mcp__srv__.*", "mcp__srv__say", True),
        (".*__say", "mcp__srv__say", True),
        ("mcp__srv", "mcp__srv__say", False),
        ("mcp__srv__", "mcp__srv__say", False),
        ("Task", "Agent", True),
        ("^Task$", "Agent", True),
        ("Agent", "Task", True),
    ],
)
@pytest.mark.parametrize("version", BOTH)
def test_names_are_compared_whole(version: str, matcher: str, subject: str, fits: bool) -> None:
    assert matches(matcher, subject, VERSIONS[version]) == fits


def test_a_hyphen_makes_a_regular_expression_at_the_older_version() -> None:
    assert matches("code-reviewer", "senior-code-reviewer", VERSIONS[OLD])
    assert not matches("code-reviewer", "senior-code-reviewer", VERSIONS[NEW])


def bash(command: str) -> rules.Call:
    return rules.Call("Bash", {"command": command}, "/p", "/h")


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ("Bash", True),
        ("Bash(echo *)", True),
        ("Bash(echo:*)", True),
        ("Bash(ec*)", True),
        ("Bash(* hello*)", True),
        ("Bash( echo *)", True),
        ("Bash(*)", True),
        ("Bash()", True),
        ("Bash(echo)", False),
        ("Bash(ECHO *)", False),
        ("bash(echo *)", False),
        ("Bash (echo *)", False),
        ("Bash(echo *) ", False),
        ("Bash(echo *)|Bash(ls *)", False),
        ("Bash((((", False),
        ("Edit(*.ts)", False),
        ("*", False),
    ],
)
def test_a_rule_and_echo_hello(rule: str, fits: bool) -> None:
    assert rules.fits(rule, bash("echo hello > /dev/null")) == fits


SEEN = {  # command -> whether `ls *`, `ls`, `git *` fit
    "echo a && ls /tmp": (True, False, False),
    "cat /dev/null | ls": (True, True, False),
    "A=1 B=2 ls": (True, True, False),
    "echo / | xargs ls": (True, True, False),
    "echo a\nls /": (True, False, False),
    "'ls' /": (True, False, False),
    "\\ls /": (True, False, False),
    "sleep 0 & ls /": (True, False, False),
    "for i in 1; do ls /; done": (True, False, False),
    "if true; then ls /; fi": (True, False, False),
    "(ls /)": (True, False, False),
    "> /dev/null ls /": (True, False, False),
    "X=ls; $X /": (True, False, False),
    "echo $(ls /)": (True, True, False),
    "echo `ls /`": (True, True, False),
    'echo "$(ls /)"': (True, True, False),
    "sudo ls": (False, False, False),
    "nohup ls /": (False, False, False),
    "bash -c 'ls /'": (False, False, False),
    "eval 'ls /'": (False, False, False),
    "/bin/ls /": (False, False, False),
    "# ls\necho a": (False, False, False),
    "lsof -v": (False, False, False),
    "echo 'unterminated": (False, False, False),
    "cat <<X\nls\nX": (True, True, True),
    "cat <(ls /)": (True, True, True),
    "f() { ls /; }; f": (True, True, True),
    "case x in x) ls;; esac": (True, True, True),
    "echo " + "x" * 10_000: (True, True, True),
}


@pytest.mark.parametrize("command", SEEN, ids=lambda text: text[:30])
def test_what_a_rule_sees_of_a_compound_command(command: str) -> None:
    assert tuple(rules.fits(f"Bash({pattern})", bash(command)) for pattern in ("ls *", "ls", "git *")) == SEEN[command]


def test_a_compound_command_falls_into_its_commands() -> None:
    assert shell.commands("A=1 git status -s && echo 'a  b' | wc -l > out; # done") == ["git status -s", "echo a  b", "wc -l"]
    assert shell.commands("") == []


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ("Write", True),
        ("Write(*.ts)", True),
        ("Write(a.ts)", True),
        ("Write(src/*)", True),
        ("Write(src/**)", True),
        ("Write(/src/**)", True),
        ("Write(./src/a.ts)", True),
        ("Write(**/*.ts)", True),
        ("Write(//p/**)", True),
        ("Write(/p/src/a.ts)", True),
        ("Write(//p/src/a.ts)", True),
        ("Write(*)", True),
        ("Write(**)", True),
        ("Write(~/**)", False),
        ("Write(*.py)", False),
        ("Edit(src/**)", False),
        ("Write|Edit", False),
    ],
)
def test_a_rule_and_a_written_file(rule: str, fits: bool) -> None:
    assert rules.fits(rule, rules.Call("Write", {"file_path": "/p/src/a.ts"}, "/p", "/h")) == fits


@pytest.mark.parametrize(
    ("rule", "fits"), [("Read", True), ("Read(//etc/**)", True), ("Read(/etc/**)", False), ("Read(*)", True)]
)
def test_a_rule_and_a_file_outside_of_the_project(rule: str, fits: bool) -> None:
    assert rules.fits(rule, rules.Call("Read", {"file_path": "/etc/hostname"}, "/p", "/h")) == fits


def test_permission_rules_deny_for_any_command_and_allow_only_for_all() -> None:
    permissions = [{"allow": ["Bash(echo *)"], "deny": ["Bash(rm *)"], "ask": ["Bash(git *)"]}]
    stances = [rules.stance(permissions, bash(c)) for c in ("echo a", "echo a; ls", "echo a; rm x", "git status", "git rm; rm x")]
    assert [stance and stance[0] for stance in stances] == ["allow", None, "deny", "ask", "deny"]


def test_a_permission_rule_for_edit_is_for_all_edits_and_one_for_a_server_for_all_its_tools() -> None:
    assert rules.permits("Edit(src/**)", rules.Call("Write", {"file_path": "/p/src/a"}, "/p", "/h"), every=False)
    assert rules.permits("mcp__srv", rules.Call("mcp__srv__say", {}, "/p", "/h"), every=False)
    assert not rules.fits("mcp__srv", rules.Call("mcp__srv__say", {}, "/p", "/h"))


def test_identical_handlers_run_once_with_the_later_limit_and_a_condition_makes_another() -> None:
    handlers = [
        Configured("Stop", "a", 1.0),
        Configured("Stop", "b", 2.0),
        Configured("Stop", "a", 6.0),
        Configured("Stop", "a", 3.0, condition="Bash"),
        Configured("Stop", "a", 3.0, arguments=()),
    ]
    assert [(h.command, h.timeout) for h in hooks.distinct(handlers)] == [
        ("a", 6.0),
        ("b", 2.0),
        ("a", 3.0),
        ("a", 3.0),
    ]
