"""A shell text is told from one that no shell would read, and whatever cannot be followed is let pass."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference.gate.script.shell_syntax import fault

CLOSED = [
    "",
    "case $(cat) in\n  (*mkfs*) echo no >&2; exit 2 ;;\n  a|b) ;;\nesac\n",
    'if [ -n "$1" ]; then :; elif x; then y; else z; fi\n',
    "for word do echo $word; done\nfor a in b c; do echo; done\nwhile read -r a; do :; done < <(cat)\nuntil x\ndo y\ndone\n",
    "f() {\n  (cd / && ls)\n}\nfunction g { :; }\n",
    "cat <<'EOF' && cat <<-B\nif it's open (\nEOF\n\tdone\n\tB\n",
    'x="$(echo "$(cat)" | sed "s/(//")"; y=${x#\\}}; z=${x:-"}"}\n',
    "(( a = (1 + 2) * 3 )); echo $(( (1) )); [[ $x =~ (a|b)$ ]] && echo \\( # if (\n",
    "a=(if then fi)\necho if then done esac\n",
    "case x\nin a) ;;\nesac\n",
]
OPEN = [
    ("if grep -q x; then\n  exit 2\n", 1, "fi"),
    ("a\nfor b in c; do\n  d\n", 2, "done"),
    ("case $x in a) ;;\n", 1, "esac"),
    ("f() {\n  a\n", 1, "}"),
    ("(a\n", 1, ")"),
    ("echo 'a\nb\n", 1, "quote"),
    ('a\necho "b\n', 2, "quote"),
    ("if a\n  b\nfi\n", 1, "then"),
    ("while a; b; done\n", 1, "do"),
    ("a\nfi\n", 2, "fi"),
    ("a)\n", 1, ")"),
    ("a\n;;\n", 2, ";;"),
    ("then b\n", 1, "then"),
]


@pytest.mark.parametrize("text", CLOSED)
def test_what_a_shell_reads_has_no_fault(text: str) -> None:
    assert fault(text) is None


@pytest.mark.parametrize(("text", "line", "word"), OPEN)
def test_what_is_open_is_told_with_its_line(text: str, line: int, word: str) -> None:
    found = fault(text)
    assert found is not None
    assert found[0] == line
    assert word in found[1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is the judge")
@pytest.mark.parametrize("text", [*CLOSED, *(text for text, _, _ in OPEN)])
def test_bash_is_of_the_same_opinion(text: str) -> None:
    refused = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True).returncode != 0
    assert refused == (fault(text) is not None)


@pytest.mark.parametrize("piece", ['"$(', "${", "$(", "`", "if a; then\n", "(", "<<A\n", '"$(echo "'])
def test_no_depth_is_too_much(piece: str) -> None:
    fault(piece * 20000)


_TOKENS = st.lists(
    st.sampled_from(
        [*"\"'`(){}#;&|\n \\", "if ", "then ", "fi\n", "case x in ", "esac\n", "do ", "done\n", "$(", "${", "<<E\n", "E\n", "[[ "]
    ),
    max_size=60,
).map("".join)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(_TOKENS | st.text(max_size=200))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    fault(text)
