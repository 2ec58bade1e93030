"""What people read, whole: messages, refusals, tables and streams as they were when somebody last read them.

Other tests hold single words; these hold the page. A change that is meant is written with `--snapshot-update`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

import hookproof
import hookproof_reference
from hookproof import casefile, cli, runnerspec, suite
from hookproof.errors import CaseFileError, SubjectError
from hookproof.process import Limits
from hookproof.reaper import Reaper
from hookproof.results import CaseResult, Check, Footer, Header, Moment, Status
from hookproof.subject import Subject
from hookproof.views import terminal

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
CASES = """\
format: 1
dialect: lecode
family: made-up
about: Two cases that are there to be shown.
rules:
  lecode-made-up-deny:
    level: must
    text: A deny keeps the tool from running, whatever else is said.
    source: {document: "none", section: made up, rows: [X-1]}
    disputed: Nobody disputes it; this line is there to be shown.
cases:
  - id: lecode/made-up/denied
    rule: lecode-made-up-deny
    why: A runner that believes nobody passes the other one.
    handlers:
      - {say: {verdict: allow}}
      - {say: {verdict: deny, reason: not on fridays}, sleep: 0.1}
      - {raw: "{", exit: 3, stderr: broken}
    call: {tool: bash, input: {command: ls}}
    expect: {started: [h1, h2, h3], tool_runs: 0, hook: deny, outcome: blocked, reason: {contains: fridays}}
    twin: lecode/made-up/allowed
    killed_by: [deaf]
  - id: lecode/made-up/allowed
    rule: lecode-made-up-deny
    why: It must be seen to run.
    handlers: [{say: {verdict: allow}}]
    call: {tool: bash, input: {command: ls}}
    expect: {started: [h1], tool_runs: 1}
    killed_by: [deaf]
"""
DEAF = f"""#!{sys.executable}
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = {{"protocol": 1, "lasting": True, "runner": {{"name": "deaf", "version": "0.1"}}, "dialects": ["lecode/1.0"]}}
    else:
        calls = [{{"id": "t1", "hook": "none", "outcome": "ran", "started": True}}]
        answer = {{"id": request["id"], "steps": [{{"calls": calls}}]}}
        print("nobody is asked", file=sys.stderr, flush=True)
    print(json.dumps(answer), flush=True)
"""
"""A runner that starts nothing and says that all ran."""
FAULT = """
import sys
sys.path.insert(0, {folder!r})
from _reference import main
from hookproof_reference import merging
TITLE = "The handlers are run and not listened to."
ORIGIN = "public report X001"
DIALECTS = ("lecode",)
merging.merge = lambda answers, *rest, **more: merging.Merged()
if __name__ == "__main__":
    main()
"""
REFUSED = {
    "missing": "./missing",
    "a folder": "./folder",
    "not executable": "./plain",
    "no such interpreter": "#!/no/such/interpreter\n",
    "carriage returns": "#!/bin/sh\r\necho\r\n",
    "ends in silence": "#!/bin/sh\nexit 0\n",
    "dies with words": "#!/bin/sh\necho 'cannot open config' >&2\nexit 3\n",
    "killed": "#!/bin/sh\nkill -KILL $$\n",
    "silent": "#!/bin/sh\nread -r line\nsleep 60\n",
    "no line break": "#!/bin/sh\nprintf '{\"protocol\": 1'\nsleep 60\n",
    "log line": "#!/bin/sh\necho 'starting up'\n",
    "two lines": "#!/bin/sh\nprintf '{}\\n{}\\n'\n",
    "echo": "#!/bin/sh\nexec cat\n",
    "keys are lacking": "#!/bin/sh\necho '{\"protocol\": 1}'\n",
    "a wrong type": '#!/bin/sh\necho \'{"protocol": 1, "runner": {"name": "x"}, "dialects": "lecode/1.0"}\'\n',
    "a newer protocol": '#!/bin/sh\necho \'{"protocol": 2, "runner": {"name": "x"}, "dialects": ["lecode/1.0"]}\'\n',
    "an unknown feature": (
        '#!/bin/sh\necho \'{"protocol": 1, "runner": {"name": "x"}, "dialects": ["lecode/1.0"], "features": ["rewrites"]}\'\n'
    ),
    "floods": "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' x\n",
}
"""Runners that cannot be asked: a path, or the text of a program."""
MISTAKES = {
    "a misspelt field": ("exit: 3", "exti: 3"),
    "an unknown verdict": ("verdict: deny", "verdict: denied"),
    "a key twice": ("killed_by: [deaf]\n  - id", "killed_by: [deaf]\n    why: twice\n  - id"),
    "a wrong type": ("sleep: 0.1", "sleep: soon"),
    "a missing key": ("    killed_by: [deaf]\n  - id", "  - id"),
    "a version that is a number": ("    level: must", "    level: must\n    versions: [1.0]"),
    "another dialect's id": ("lecode/made-up/denied", "claude-code/made-up/denied"),
    "an odd call": ("{tool: bash, input", "{name: bash, input"),
}
"""What is wrong with a case file: what stood there, and what stands there now."""


def normal(text: str, folder: Path) -> str:
    """The text without what differs from machine to machine and from run to run."""
    for path, name in ((folder, "{tmp}"), (suite.root(), "{suite}"), (sys.executable, "{python}")):
        text = text.replace(str(path), name)
    text = re.sub(r'(?<="suite": ")[0-9a-f]+|(?<=hash )[0-9a-f]{12}\b', "{hash}", text)
    text = re.sub(rf"(hookproof(?:-reference)? |\"hookproof\": \"){re.escape(hookproof.__version__)}", r"\1{version}", text)
    text = re.sub(r"\br[0-9a-f]{8}\b", "{id}", text)
    text = re.sub(r"(start [ht]\d+\.\d+) \d+", r"\1 {pid}", text)
    text = re.sub(r'("(?:at|seconds)": )[\d.]+', r"\1{s}", text)
    text = re.sub(r" *\d+ ms(?=  )", " {ms}", text)
    return re.sub(r"\bin [\d.]+ s\b", "{time}", text)


def made(status: Status, **more: object) -> CaseResult:
    return CaseResult(
        id="lecode/veto/second-denies",
        dialect="lecode/1.0",
        family="veto",
        rule="lecode-most-severe-wins",
        level="must",
        sentence="Of several answers the most severe holds, in whatever order they came: deny before ask, defer and allow.",
        source="a document, a section",
        rerun="pytest --runner=./x --case lecode/veto/second-denies",
        status=status,
        **more,  # type: ignore[arg-type]
    )


CHECKS = [
    Check(name="starts h2", ok=True, basis="seen", wanted="h2 starts once", saw="once"),
    Check(name="tool_runs t1", ok=False, basis="seen", wanted="the tool runs never", saw="once"),
    Check(name="reason", ok=False, basis="claimed", wanted="the reason is a text containing 'not on fridays'"),
]
STORY = [Moment("start h1.1 11", 0.0), Moment("read h1.1"), Moment("end h1.1 0", 0.012), Moment("start t1.1 12", 1.5)]


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


@pytest.fixture
def own_cases(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "made-up.yaml").write_text(CASES, "utf-8")
    return folder


# ---- the terminal --------------------------------------------------------------------------------


def test_a_failure(snapshot: SnapshotAssertion) -> None:
    failed = made("fail", checks=CHECKS, timeline=STORY, complained="warning: odd\n", hint="look at merge()")
    assert terminal.failure(failed) == snapshot


def test_an_error_and_a_fault_of_our_own(snapshot: SnapshotAssertion) -> None:
    error = made(
        "error", error_kind="NotProtocol", note="no JSON object on one line", said="Traceback\n  boom", hint="logs go to stderr"
    )
    ours = made(
        "harness-error", note="a probe could not write its ledger: h1.1: cannot note start", hint="see the space of /dev/shm"
    )
    assert "\n\n\n".join(map(terminal.failure, (error, ours))) == snapshot


def test_the_table_the_asides_and_the_head(snapshot: SnapshotAssertion) -> None:
    cases = [
        made("pass"),
        made("fail", checks=CHECKS),
        made("warn", checks=CHECKS[1:2]),
        made("not-tested", note="sleeps 16 s: runs with --slow"),
        made("not-applicable", note="the runner does not declare batch"),
        made("error", note="no answer"),
    ]
    cases[1].family = "ordering"
    cases[4].dialect = "claude-code/2.1.332"
    header = Header(
        hookproof=hookproof.__version__,
        suite="0" * 64,
        cases=6,
        subject=["/x"],
        runner={"name": "myimpl", "version": "2"},
        dialects=["lecode/1.0"],
        certifies=False,
        why_not="-x can change a verdict",
    )
    page = [*terminal.head(header, Path("/suite"), "./x"), "", *terminal.asides(cases), "", *terminal.table(cases)]
    assert normal("\n".join(page), Path("/nowhere")) == snapshot


def test_the_last_lines(snapshot: SnapshotAssertion) -> None:
    footer = Footer(
        counts={"fail": 1}, verdict="not certified: myimpl: lecode-1.0: 80 of 82 required cases pass; 2 of 90 cases failed"
    )
    wired = made("error", note="no answer to hello within 10 s", hint="flush stdout")
    lines = [
        terminal.last_line(footer, [made("fail")], 1),
        terminal.last_line(Footer(counts={}, verdict="0 of 1 cases pass"), [made("not-tested")]),
        terminal.cut_short(3, 90),
        terminal.cut_short(0, None),
        *map(terminal.smoke, ([made("pass")], [made("fail")], [made("fail", timeline=STORY), made("pass")], [wired], [])),
    ]
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize("what", REFUSED)
def test_a_runner_that_cannot_be_asked_is_refused(what: str, tmp_path: Path, reaper: Reaper, snapshot: SnapshotAssertion) -> None:
    value = REFUSED[what]
    home = tmp_path / "home"
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("no program\n")
    if value.startswith("#!"):
        program = tmp_path / "runner"
        program.write_text(value, newline="")
        program.chmod(0o755)
        value = "./runner"
    limits = Limits(hello_s=0.5 if what in ("silent", "no line break") else 20)
    with (
        pytest.raises(SubjectError) as caught,
        closing(Subject(runnerspec.parse(value, tmp_path), limits, reaper, home)) as subject,
    ):
        subject.hello()
    error = caught.value
    page = f"{type(error).__name__}\n{terminal.refusal(error.message, error.hint, error.said[:200], error.complained)}"
    assert normal(page, tmp_path) == snapshot


# ---- case files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", MISTAKES)
def test_a_case_file_with_a_mistake_is_refused(what: str, own_cases: Path, snapshot: SnapshotAssertion) -> None:
    path = own_cases / "made-up.yaml"
    before, after = MISTAKES[what]
    assert before in CASES
    path.write_text(CASES.replace(before, after, 1), "utf-8")
    with pytest.raises(CaseFileError) as caught:
        casefile.read(path)
    assert normal(str(caught.value), own_cases) == snapshot


def test_a_case_is_shown(own_cases: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    assert cli.main(["cases", "show", "--cases", str(own_cases), "lecode/made-up/denied"]) == 0
    assert normal(capsys.readouterr().out, own_cases) == snapshot


# ---- whole runs ----------------------------------------------------------------------------------


def checked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    deaf = folder / "deaf"
    deaf.write_text(DEAF)
    deaf.chmod(0o755)
    command = [sys.executable, "-P", "-m", "hookproof.cli", "check", "--runner=./deaf", "--cases=mine", "--family=made-up"]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [*ROOTS, os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ran = subprocess.run([*command, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran


def test_check_in_words(tmp_path: Path, own_cases: Path, snapshot: SnapshotAssertion) -> None:
    assert normal(checked(tmp_path).stdout, tmp_path) == snapshot


def test_check_as_a_stream(tmp_path: Path, own_cases: Path, snapshot: SnapshotAssertion) -> None:
    lines = [json.loads(line) for line in checked(tmp_path, "--json").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["header", "case", "case", "footer"]
    del lines[-1]["not_scored"]  # the suite's own rules
    assert normal("\n".join(json.dumps(line, indent=1) for line in lines), tmp_path) == snapshot


def test_the_table_of_faults(
    tmp_path: Path, own_cases: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "deaf.py").write_text(FAULT.format(folder=str(suite.fixtures() / "faulty_runners")), "utf-8")
    assert cli.main(["faults", "--folder", str(planted), "--cases", str(own_cases)]) == 1
    assert normal(capsys.readouterr().out, tmp_path) == snapshot
