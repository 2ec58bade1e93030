"""Scripts are read without being run, and what they would do is told from their text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference.gate.script import traits_of
from hookproof_reference.gate.script.traits import together


def _kinds(text: str, language: str) -> set[str]:
    return {trait.kind for trait in traits_of(text, language).found}


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.exit(1)\n",
        "import sys\nCODE = 1\nsys.exit(CODE)\n",
        "raise SystemExit(3)\n",
        "import sys\n\n\ndef main():\n    return 1\n\n\nsys.exit(main())\n",
        "import sys\nsys.exit(1 if sys.argv else 0)\n",
        "import sys\nsys.exit('blocked')\n",
    ],
)
def test_every_way_to_end_python_with_another_code_is_seen(text: str) -> None:
    kinds = _kinds(text, "python")
    assert "exit-other" in kinds
    assert "exit-2" not in kinds


def test_a_comment_is_no_code() -> None:
    assert "exit-2" not in _kinds("#!/bin/sh\n# exit 2 refuses\nexit 0\n", "sh")
    assert "deny" not in _kinds('# prints "permissionDecision": "deny"\n', "python")
    assert "exit-2" not in _kinds("// process.exit(2)\n", "node")


def test_text_in_another_branch_is_not_beside_the_answer() -> None:
    apart = 'if [ "$1" = v ]; then\n  echo "version 1"\n  exit 0\nfi\nprintf x\n'
    assert not together(apart, 2, 5)
    beside = "echo one\nif true; then\n  printf x\nfi\n"
    assert together(beside, 1, 3)
    branches = "if a:\n    print(1)\nelse:\n    print(2)\n"
    assert not together(branches, 2, 4)


def test_a_function_that_nobody_calls_is_no_guard() -> None:
    assert "no-entry-point" in _kinds("def main():\n    raise SystemExit(2)\n", "python")
    assert "no-entry-point" not in _kinds("def main():\n    raise SystemExit(2)\n\n\nmain()\n", "python")
    assert "no-entry-point" in _kinds("check() {\n  exit 2\n}\n", "sh")
    assert "no-entry-point" not in _kinds("check() {\n  exit 2\n}\ncheck\n", "sh")


def test_python_that_cannot_be_parsed_says_where() -> None:
    trait = traits_of("import sys\nif True\n    pass\n", "python").first("syntax-error")
    assert trait is not None
    assert trait.line == 2


@settings(max_examples=300)
@given(st.text(max_size=300), st.sampled_from(["sh", "bash", "python", "node"]))
def test_no_script_is_too_odd_to_be_read(text: str, language: str) -> None:
    traits_of(text, language)


@pytest.mark.parametrize("piece", ["| while x\n", "cat <<A\n", "jq -n ", "f() {\n", "$("])
def test_a_huge_script_is_read_in_seconds(piece: str) -> None:
    began = time.process_time()
    traits_of(piece * 30000 + "end", "sh")
    assert time.process_time() - began < 15
