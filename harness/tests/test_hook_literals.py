"""Strings and patterns of a script become texts that it would match."""

from __future__ import annotations

import re
import warnings

import pytest

from hookproof.hooks import literals


@pytest.mark.parametrize(
    "pattern",
    [
        r"git\s+push\s+(-f|--force)",
        r"rm +-[rR]f? /",
        r"^(sudo|su)\b",
        r"\.env(\.local)?$",
        r"(?i)drop\s+table",
        r"[0-9]{3}-[a-f]+",
        r"(?=secret)secret.key",
    ],
)
def test_every_sample_of_a_pattern_matches_it(pattern: str) -> None:
    made = literals.samples(pattern)
    assert made
    assert all(re.search(pattern, text) for text in made)


def test_each_alternative_has_its_sample() -> None:
    assert literals.samples(r"rm|shred|dd of=") == ["rm", "shred", "dd of="]


def test_a_text_that_is_no_pattern_gives_none() -> None:
    assert literals.samples("a(b") == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("if echo \"$c\" | grep -qE 'git[[:space:]]+push'; then", "git push"),
        ('[[ "$cmd" =~ rm[[:space:]]+-rf ]] && exit 2', "rm -rf"),
        ('[[ $c =~ ^git[[:space:]]+commit && $branch == "main" ]]', "git commit"),
        ('case "$c" in\n  *"drop table"*) exit 2;;\nesac', "drop table"),
        ('case "$c" in rm\\ -rf*|sudo*) exit 2;; esac', "rm -rf"),
        ("""jq -e '.tool_input.command | test("^vault write")'""", "vault write"),
        ("""jq -e '(.tool_input.url // "") | startswith("http://internal")'""", "http://internal"),
        ("""awk '/shutdown -h/ {exit 2}'""", "shutdown -h"),
        ('if words[0] == "terraform" and words[1] == "apply":', "terraform apply"),
        ('[ "$tool" = WebFetch ] && exit 2', "WebFetch"),
        ('if name.startswith("mcp__postgres__"):', "mcp__postgres__"),
        ("if (/\\.env$/.test(path)) {", ".env"),
        ("if re.search(r'\\bsudo\\b', cmd):", "sudo"),
        ("BLOCKED = ['mkfs', 'dd if=']", "dd if="),
    ],
)
def test_a_script_names_what_it_looks_for(source: str, text: str) -> None:
    assert text in literals.texts(source)


def test_a_blank_at_the_end_of_a_word_is_kept_in_a_text_of_its_own() -> None:
    found = literals.texts("if command.startswith('helm uninstall '):")
    assert found[:2] == ["helm uninstall", "helm uninstall "]


def test_what_decides_comes_before_what_is_only_said() -> None:
    found = literals.texts("echo 'this is only a message'\ngrep -q 'npm publish'\n")
    assert found.index("npm publish") < found.index("this is only a message")


def test_odd_patterns_make_no_noise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        literals.texts("grep '[[x]'\n")
