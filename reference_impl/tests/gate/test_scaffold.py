"""What the scaffold writes is accepted by the gate, and its scripts refuse when anything goes wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from hookproof_reference.gate import lint
from hookproof_reference.gate.errors import GateError
from hookproof_reference.gate.profiles import BLOCKING_EVENTS, EVENTS_332, UNMATCHED_EVENTS
from hookproof_reference.gate.scaffold import LANGUAGES, Wanted, added, script, validated, write

_CALL = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which({"python": "python3"}.get(name, name)) is None:
        pytest.skip(f"there is no {name} here")
    return name


def _end(path: Path, payload: bytes) -> int:
    done = subprocess.run([str(path)], input=payload, capture_output=True, timeout=60)
    assert done.stdout == b""
    if done.returncode:
        assert done.stderr
    return done.returncode


@pytest.mark.parametrize("event", EVENTS_332)
def test_a_block_for_every_event_is_accepted(event: str) -> None:
    text = validated(Wanted(event))
    assert list(json.loads(text)["hooks"]) == [event]


def test_a_guard_lets_pass_what_it_should_and_refuses_the_rest(tmp_path: Path, language: str) -> None:
    wanted = Wanted("PreToolUse", matcher="Bash", language=language, refuse=('rm "x"', "push --force", "it's"))
    settings = tmp_path / ".claude" / "settings.json"
    written = write(settings, wanted)
    assert written == [settings, tmp_path / wanted.script]
    guard = written[1]
    assert _end(guard, json.dumps(_CALL).encode()) == 0
    for command in ('rm "x"', "git push --force now", "echo it's"):
        assert _end(guard, json.dumps({**_CALL, "tool_input": {"command": command}}).encode()) == 2
    for broken in (b"", b"{", b"[]", b"null", json.dumps(_CALL).encode()[:-5], b"\xff\xfe"):
        assert _end(guard, broken) == 2, broken
    assert [finding for finding in lint.lint_file(settings) if finding.alarm] == []


def test_where_it_is_called_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert write(Path(".claude/settings.json"), Wanted("PreToolUse", matcher="Bash"))[0] == Path(".claude/settings.json")
    monkeypatch.chdir(settings.parent)
    assert [finding for finding in lint.lint_file(Path("settings.json")) if finding.alarm] == []


@pytest.mark.parametrize("event", ["PostToolUse", "SessionStart", "Notification"])
def test_a_recorder_never_ends_with_two(tmp_path: Path, language: str, event: str) -> None:
    path = tmp_path / "record"
    path.write_text(script(Wanted(event, language=language)))
    path.chmod(0o755)
    for payload in (json.dumps(_CALL).encode(), b"", b"{", b"[]"):
        done = subprocess.run([str(path)], input=payload, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, b"")


_ODD = '{\r\n\t"permissions" :{"deny":[ "Bash(rm *)" ]\r\n},"hooks": {"Stop": [], "PreToolUse": [ {"hooks": []}\r\n\t]}\r\n}\r\n'
_INDENTED = '{\n  "a": 1,\n  "hooks": {\n    "Stop": []\n  }\n}\n'


@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "Notification"])
@pytest.mark.parametrize("text", [_ODD, _INDENTED, "{}", '{"a": 1}', '{"hooks": {}}', "\ufeff{}"])
def test_a_block_is_added_and_every_byte_before_stays(text: str, event: str) -> None:
    after = added(text, Wanted(event))
    old, new = json.loads(text.removeprefix("\ufeff")), json.loads(after.removeprefix("\ufeff"))
    assert new["hooks"][event][:-1] == old.get("hooks", {}).get(event, [])
    assert new["hooks"][event][-1]["hooks"][0]["type"] == "command"
    new["hooks"][event].pop()
    if event not in old.setdefault("hooks", {}):
        del new["hooks"][event]
    assert new == old
    left = iter(after)
    assert all(char in left for char in text)


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": [], "x": 1}', '{"hooks": {"Stop": {}}}', '{"a": 1,}', "// x\n{}"])
def test_nothing_is_added_to_a_file_that_is_not_sound(text: str) -> None:
    with pytest.raises(GateError, match=r"JSON object|is no"):
        added(text, Wanted("Stop"))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("preToolUse"), 'did you mean "PreToolUse"'),
        (Wanted("Stop", type="shell"), "no handler type"),
        (Wanted("Stop", condition="Bash(ls *)"), "never runs at Stop"),
        (Wanted("Stop", matcher="Bash"), "no matcher"),
        (Wanted("Stop", name="../x"), "no name for a script"),
        (Wanted("SessionStart", type="http", fields=(("url", "https://example.com/"),)), "type-not-at-event"),
        (Wanted("PreToolUse", timeout=0), "timeout-not-positive"),
        (Wanted("PreToolUse", type="http"), "field-missing"),
    ],
)
def test_what_the_gate_would_refuse_is_not_written(wanted: Wanted, said: str) -> None:
    with pytest.raises(GateError) as caught:
        validated(wanted)
    assert said in caught.value.message


def test_a_script_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    write(settings, Wanted("Stop"))
    before = settings.read_bytes()
    with pytest.raises(GateError, match="is there already"):
        write(settings, Wanted("PreToolUse"))
    assert settings.read_bytes() == before


def test_the_tables_of_events_agree() -> None:
    assert set(EVENTS_332) >= BLOCKING_EVENTS | UNMATCHED_EVENTS
