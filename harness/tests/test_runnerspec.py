"""A value of `--runner` means one program, or says why it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof import runnerspec, suite
from hookproof.errors import CannotStart, HookproofError, UsageError


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_a_file_is_seen_from_the_base_folder(tmp_path: Path) -> None:
    path = program(tmp_path / "myimpl")
    spec = runnerspec.parse("./myimpl", tmp_path)
    assert (spec.argv, spec.shown, spec.kind) == ((str(path),), "./myimpl", "file")


def test_arguments_are_split_as_a_shell_splits_them(tmp_path: Path) -> None:
    path = program(tmp_path / "myimpl")
    assert runnerspec.parse("./myimpl --a 'b c' \"d\"", tmp_path).argv == (str(path), "--a", "b c", "d")


def test_a_path_with_blanks_is_found_first(tmp_path: Path) -> None:
    program(tmp_path / "my")
    path = program(tmp_path / "my impl")
    assert runnerspec.parse("./my impl", tmp_path).argv == (str(path),)
    assert runnerspec.parse("'./my impl' x", tmp_path).argv == (str(path), "x")


def test_paths_among_the_arguments_are_made_absolute_where_they_exist(tmp_path: Path) -> None:
    program(tmp_path / "sub" / "a.mjs")
    found = runnerspec.parse("/bin/sh ./sub/a.mjs --file=sub/a.mjs ./none sub", tmp_path).argv
    script = str(tmp_path / "sub" / "a.mjs")
    assert found == ("/bin/sh", script, f"--file={script}", "./none", "sub")


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("", UsageError, "empty"),
        ("./implx", CannotStart, "did you mean ./impl?"),
        ("./none/impl", CannotStart, "there is no folder"),
        ("./folder", CannotStart, "is a folder\nhint: name the program in it, perhaps ./folder/run"),
        ("./plain", CannotStart, "chmod +x ./plain"),
        ("./dangling", CannotStart, "is a link to nowhere"),
        ("./pipe", CannotStart, "no ordinary file"),
        ("./impl 'open", UsageError, "No closing quotation"),
        ("impl", UsageError, 'write "./impl"'),
        ("sh x.sh", UsageError, 'sh x.sh"'),
        ("referense", UsageError, 'did you mean "reference"'),
        ("no-such-word", UsageError, "a file has a slash in it"),
        ("agent:claude@2", UsageError, "not in this version"),
        ("example:none", UsageError, "there are: "),
    ],
)
def test_what_cannot_be_meant_says_so(tmp_path: Path, value: str, kind: type[HookproofError], words: str) -> None:
    program(tmp_path / "impl")
    program(tmp_path / "folder" / "run")
    program(tmp_path / "plain", 0o644)
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HookproofError) as caught:
        runnerspec.parse(value, tmp_path)
    assert type(caught.value) is kind
    assert words in str(caught.value)


def test_the_reference_starts_from_any_folder_without_an_environment(tmp_path: Path) -> None:
    spec = runnerspec.parse("reference", tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit(77)")
    request, bare = b'{"op":"hello","protocol":1}\n', {"PATH": os.defpath}
    hello = subprocess.run(spec.argv, input=request, capture_output=True, cwd=tmp_path, env=bare, check=False)
    assert spec.kind == "reference"
    assert hello.stdout.startswith(b"{"), hello.stderr


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_an_example_is_started_with_its_interpreter(tmp_path: Path) -> None:
    spec = runnerspec.parse("example:node", tmp_path)
    assert spec.kind == "example"
    assert Path(spec.argv[0]).name == "node"
    assert Path(spec.argv[1]) == suite.fixtures() / "runners" / "node.mjs"


def test_an_example_in_python_runs_with_our_own_python(tmp_path: Path) -> None:
    assert runnerspec.parse("example:chain", tmp_path).argv[0] == sys.executable
