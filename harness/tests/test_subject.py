"""A runner that answers is asked again and again; one that does not is told why, in words."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookproof import runnerspec, tree
from hookproof.errors import BadAnswer, CannotStart, Died, Flooded, NotProtocol, SubjectError, TimedOut
from hookproof.process import Limits
from hookproof.protocol import Run, Step, World
from hookproof.reaper import Reaper
from hookproof.subject import Subject

NAP = f"61.{os.getpid()}"
"""A sleep that no test in another process has."""
HELLO = {"protocol": 1, "runner": {"name": "fake"}, "dialects": ["lecode/1.0"], "lasting": True}

RUNNER = """#!/usr/bin/env python3
import json, os, subprocess, sys, time
HELLO = json.loads({hello!r})
ANSWERED = 0
def answer(request, **more):
    global ANSWERED
    ANSWERED += 1
    steps = [{{"event": {{"context": {{"nth": ANSWERED, "env": dict(os.environ), "cwd": os.getcwd()}}}}}}]
    return json.dumps({{"id": request["id"], "steps": steps, **more}})
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        print(json.dumps(HELLO), flush=True)
        continue
    act = request["steps"][0]["fields"].get("act", "")
    {act}
    print(answer(request), flush=True)
"""


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    found = Reaper()
    yield found
    found.close()


@pytest.fixture
def made(tmp_path: Path, reaper: Reaper) -> Iterator[Callable[..., Subject]]:
    """Makes a subject from the text of a program."""
    subjects: list[Subject] = []

    def make(text: str, **limits: float) -> Subject:
        path = tmp_path / "runner"
        path.write_text(text)
        path.chmod(0o755)
        return start(str(path), **limits)

    def start(value: str, **limits: float) -> Subject:
        spec = runnerspec.parse(value, tmp_path)
        subject = Subject(spec, Limits(**{"hello_s": 5.0, **limits}), reaper, tmp_path / "home")  # type: ignore[arg-type]
        subjects.append(subject)
        return subject

    make.start = start  # type: ignore[attr-defined]
    yield make
    for subject in subjects:
        subject.close()


def python_runner(act: str = "pass", **hello: object) -> str:
    return RUNNER.format(hello=json.dumps({**HELLO, **hello}), act=act)


def request(act: str = "", id: str = "r1", **fields: object) -> Run:
    world = World("/w", "/w/p", "/w/h", "/w/p")
    return Run(id=id, dialect="lecode/1.0", world=world, settings=[], steps=[Step(event="Stop", fields={"act": act, **fields})])


def context(subject: Subject, ask: Run) -> dict[str, object]:
    reply = subject.ask(ask, 5)
    return reply.answer.steps[0].event.context  # type: ignore[union-attr]


def refusal(subject: Subject, kind: type[SubjectError]) -> str:
    with pytest.raises(SubjectError) as caught:
        subject.hello()
    assert type(caught.value) is kind, caught.value
    return str(caught.value)


def running(seconds: str) -> bool:
    return subprocess.run(["pgrep", "-xf", f"sleep {seconds}"], capture_output=True, check=False).returncode == 0


# ---- runners that answer -------------------------------------------------------------------------


def test_a_lasting_runner_is_kept_from_request_to_request(made: Callable[..., Subject]) -> None:
    subject = made(python_runner())
    assert subject.hello().runner.name == "fake"
    assert [context(subject, request())["nth"] for _ in range(3)] == [1, 2, 3]


def test_another_runner_is_started_for_each_request(made: Callable[..., Subject]) -> None:
    subject = made(python_runner(lasting=False))
    assert [context(subject, request())["nth"] for _ in range(3)] == [1, 1, 1]


def test_an_answer_without_a_line_break_counts_when_the_runner_ends(made: Callable[..., Subject]) -> None:
    subject = made(f"#!/bin/sh\nread -r line\nprintf '%s' '{json.dumps(HELLO)}'\n")
    assert subject.hello().runner.name == "fake"


def test_a_large_request_and_a_runner_that_talks_first_do_not_block_each_other(made: Callable[..., Subject]) -> None:
    subject = made(python_runner().replace("for line", "print('x' * 300_000, file=sys.stderr, flush=True)\nfor line"))
    assert context(subject, request(padding="x" * 5_000_000))["nth"] == 1


def test_the_reply_says_when_it_came_and_what_was_complained(made: Callable[..., Subject]) -> None:
    subject = made(python_runner("print('a word', file=sys.stderr, flush=True)"))
    before = time.time()
    reply = subject.ask(request(), 5)
    assert before <= reply.answered_at <= time.time()
    assert reply.complained == "a word\n"


def test_the_callers_secrets_are_not_visible_and_home_is_a_temporary_one(
    made: Callable[..., Subject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "hush")
    found = context(made(python_runner()), request())
    assert "MY_API_KEY" not in found["env"]  # type: ignore[operator]
    assert "hush" not in json.dumps(found)
    assert found["env"]["HOME"] == found["cwd"] == str(tmp_path / "home")  # type: ignore[index]


def test_lone_surrogates_in_an_answer_are_replaced(made: Callable[..., Subject]) -> None:
    subject = made(python_runner("print(answer(request, to_user=[chr(0xd800) + 'x']), flush=True); continue"))
    assert subject.ask(request(), 5).answer.to_user == ["\ufffdx"]


# ---- runners that are none -----------------------------------------------------------------------


def test_true_ended_and_said_nothing(made: Callable[..., Subject]) -> None:
    assert "it ended with 0 and said nothing" in refusal(made.start("/bin/true"), Died)  # type: ignore[attr-defined]


def test_cat_sends_the_request_back(made: Callable[..., Subject]) -> None:
    assert "it sent the request back" in refusal(made.start("/bin/cat"), BadAnswer)  # type: ignore[attr-defined]


def test_yes_prints_no_protocol(made: Callable[..., Subject]) -> None:
    assert "'y'" in refusal(made.start("/usr/bin/yes"), NotProtocol)  # type: ignore[attr-defined]


def test_a_sleeper_is_not_waited_for_beyond_the_limit(made: Callable[..., Subject]) -> None:
    subject = made(f"#!/bin/sh\nsleep {NAP}\n", hello_s=0.5)
    begin = time.monotonic()
    assert "within 0.5 s" in refusal(subject, TimedOut)
    assert time.monotonic() - begin < 5
    assert not running(NAP)


def test_a_traceback_is_quoted_by_its_last_line(made: Callable[..., Subject]) -> None:
    assert "ZeroDivisionError: division by zero" in refusal(made("#!/usr/bin/env python3\n1 / 0\n"), Died)


def test_an_empty_object_is_told_what_hello_lacks(made: Callable[..., Subject]) -> None:
    assert 'lacks "protocol", "runner", "dialects"' in refusal(made("#!/bin/sh\necho '{}'\n"), BadAnswer)


def test_a_wrong_type_is_named_with_its_path(made: Callable[..., Subject]) -> None:
    assert "$.lasting" in refusal(made(python_runner(lasting="yes")), BadAnswer)


def test_a_newer_protocol_is_refused_with_both_numbers(made: Callable[..., Subject]) -> None:
    assert "protocol 7, this hookproof speaks 1" in refusal(made(python_runner(protocol=7)), BadAnswer)


def test_a_child_that_holds_stdout_does_not_hold_us(made: Callable[..., Subject]) -> None:
    begin = time.monotonic()
    assert "exit code 3" in refusal(made(f"#!/bin/sh\nsleep {NAP} &\nexit 3\n", hello_s=20), Died)
    assert time.monotonic() - begin < 10
    assert not running(NAP)


def test_a_gigabyte_without_a_line_break_is_cut_off_in_flat_memory(made: Callable[..., Subject]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "16 MiB on stdout" in refusal(made("#!/bin/sh\nexec head -c 1000000000 /dev/zero\n"), Flooded)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_flood_on_stderr_is_read_and_only_its_end_is_kept(made: Callable[..., Subject]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    subject = made("#!/bin/sh\nhead -c 300000000 /dev/zero >&2\nprintf '\\nat last\\n' >&2\nexit 1\n", hello_s=30)
    assert "'at last'" in refusal(subject, Died)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_tree_that_takes_too_much_memory_is_ended(made: Callable[..., Subject]) -> None:
    text = "#!/usr/bin/env python3\nimport time\nkept = b'x' * (100 << 20)\ntime.sleep(63)\n"
    assert "MiB of memory" in refusal(made(text, hello_s=20, memory_bytes=50 << 20), Flooded)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo no first line\n", "#!/bin/sh"),
        ("#!/no/such/interpreter\n", "interpreter /no/such/interpreter is missing"),
        ("#!/bin/sh\r\necho\r\n", "carriage return"),
    ],
)
def test_a_script_that_the_system_refuses_is_explained(made: Callable[..., Subject], text: str, words: str) -> None:
    assert words in refusal(made(text), CannotStart)


# ---- requests that go wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        ("print('half a word', flush=True); continue", NotProtocol, "half a word"),
        ("print(answer(request) + '\\n' + answer(request), flush=True); continue", NotProtocol, "more than one line"),
        ("print(json.dumps({'id': 'other', 'steps': []}), flush=True); continue", BadAnswer, 'id "other"'),
        ("print(json.dumps({'id': request['id']}), flush=True); continue", BadAnswer, "1 steps, the answer 0"),
        ("os.kill(os.getpid(), 11)", Died, "SIGSEGV"),
        ("sys.exit(5)", Died, "exit code 5"),
        ("time.sleep(64)", TimedOut, "within 1 s"),
        ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(64)", TimedOut, "1 bytes and no line break"),
        ("sys.stdout.write('{'); sys.stdout.flush(); os.kill(os.getpid(), 9)", Died, "SIGKILL in the midst .* cut after 1 bytes"),
        ("sys.stdout.write('{'); sys.stdout.flush(); os._exit(3)", Died, "exit code 3 in the midst"),
        ("sys.stdout.write('oh'); sys.stdout.flush(); os._exit(3)", NotProtocol, "'oh'; the runner ended with exit code 3"),
        ("print('{\"id\": ' + '[' * 100_000 + ']' * 100_000 + '}', flush=True)", NotProtocol, "is nested deeper than 200 levels"),
        ("print('{\"id\": ' + '7' * 100_000 + '}', flush=True)", NotProtocol, "holds an integer of 100000 digits"),
        ("print('{\"id\": tru}', flush=True)", NotProtocol, "is no JSON at character 8 .expecting value.: .*tru"),
        ("print('{} {}', flush=True)", NotProtocol, "has more behind its first JSON value"),
        ("print('[]', flush=True)", NotProtocol, "is a JSON list, where an object is wanted"),
    ],
)
def test_what_goes_wrong_costs_one_request_and_the_next_one_works(
    made: Callable[..., Subject], act: str, kind: type[SubjectError], words: str
) -> None:
    subject = made(python_runner(f"exec({act.replace('continue', '')!r}) if act else None\n    if act: continue"))
    subject.hello()
    for _ in range(2):
        with pytest.raises(kind, match=words):
            subject.ask(request("yes"), 1)
        assert context(subject, request())["nth"] == 1


def test_a_runner_that_does_not_read_a_large_request_is_said_to(made: Callable[..., Subject]) -> None:
    subject = made("#!/bin/sh\nexec sleep 65\n")
    subject.lasting = True
    with pytest.raises(TimedOut, match=r"it read only \d+ of the 50\d+ bytes"):
        subject.ask(request(padding="x" * 5_000_000), 1)


def test_an_answer_to_what_was_not_read_is_none(made: Callable[..., Subject]) -> None:
    answer = json.dumps({"id": "r1", "steps": [{"event": {}}]})
    subject = made(f"#!/bin/sh\necho '{answer}'\nexec sleep 65\n")
    subject.lasting = True
    with pytest.raises(BadAnswer, match="before it had read the request"):
        subject.ask(request(padding="x" * 5_000_000), 5)


def test_a_lasting_runner_that_ended_while_idle_is_reported_once(made: Callable[..., Subject]) -> None:
    subject = made(python_runner("print(answer(request), flush=True); sys.exit(0)"))
    subject.ask(request(), 5)
    time.sleep(0.3)
    with pytest.raises(Died, match='"lasting": true'):
        subject.ask(request(id="r2"), 5)
    assert context(subject, request())["nth"] == 1


def test_a_late_second_line_is_noticed_before_the_next_request(made: Callable[..., Subject]) -> None:
    act = "print(answer(request), flush=True); time.sleep(0.05); print('more', flush=True); continue"
    subject = made(python_runner(act))
    subject.ask(request(), 5)
    time.sleep(0.4)
    with pytest.raises(NotProtocol, match="before request r1 was sent: more than one line came for request r1"):
        subject.ask(request(), 5)


@pytest.fixture
def fair(made: Callable[..., Subject], reaper: Reaper, tmp_path: Path) -> Iterator[Callable[[str], Subject]]:
    """Makes a lasting subject that blames the request before where it is to blame."""
    subjects: list[Subject] = []

    def make(act: str) -> Subject:
        spec = made(python_runner(act)).spec
        subjects.append(Subject(spec, Limits(hello_s=5.0), reaper, tmp_path / "home", lasting=True, fair=True))
        return subjects[-1]

    yield make
    for subject in subjects:
        subject.close()


SECOND = "if request['id'] == 'second' and"


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (f"{SECOND} ANSWERED: print('a word', flush=True)", NotProtocol, "more than one line came for request first"),
        (f"{SECOND} ANSWERED: sys.exit(3)", Died, "ended with exit code 3 after its answer to request first"),
    ],
)
def test_what_only_happens_behind_another_answer_is_blamed_on_that_one(
    fair: Callable[[str], Subject], act: str, kind: type[SubjectError], words: str
) -> None:
    subject = fair(act)
    subject.ask(request(id="first"), 5)
    reply = subject.fairly(lambda: subject.ask(request(id="second"), 5))
    assert reply.answer.id == "second"
    trailed = subject.trailed()
    assert type(trailed) is kind
    assert words in str(trailed)
    assert subject.trailed() is None


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (f"{SECOND} True: print('a word', flush=True)", NotProtocol, "no JSON object on one line: 'a word'"),
        (f"{SECOND} True: sys.exit(3)", Died, "without an answer to request second"),
        (f"{SECOND} ANSWERED: print(json.dumps({{'id': 'second'}}), flush=True); continue", BadAnswer, "1 steps, the answer 0"),
    ],
)
def test_what_a_request_does_by_itself_is_its_own(
    fair: Callable[[str], Subject], act: str, kind: type[SubjectError], words: str
) -> None:
    subject = fair(act)
    subject.ask(request(id="first"), 5)
    with pytest.raises(kind, match=words):
        subject.fairly(lambda: subject.ask(request(id="second"), 5))
    assert subject.trailed() is None


def test_what_a_request_left_running_can_be_seen_until_it_is_settled(made: Callable[..., Subject]) -> None:
    subject = made(python_runner(f"subprocess.Popen(['sleep', '{NAP}'], start_new_session=True)", lasting=False))
    subject.ask(request(), 5)
    assert running(NAP)
    subject.close()
    assert not running(NAP)


def test_a_killed_subject_raises_at_once_and_stays_ended(made: Callable[..., Subject]) -> None:
    subject = made(python_runner("time.sleep(67)"))
    subject.hello()
    timer = threading.Timer(0.5, subject.kill)
    timer.start()
    with pytest.raises(Died, match="the run is ending"):
        subject.ask(request(), 30)
    with pytest.raises(Died, match="not started any more"):
        subject.ask(request(), 30)
    assert not tree.strays(tree.table())
