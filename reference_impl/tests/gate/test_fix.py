"""--fix mends what it means to mend and leaves every other byte alone."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof_reference.gate.errors import GateError
from hookproof_reference.gate.fix import fix_bytes, fix_file, fixed
from hookproof_reference.gate.lint import lint_text

_FLAT = """{
  "permissions": { "deny":["Bash(rm *)"],   "allow": [ ] },
  "hooks": {
    "PreToolUse": [
      {
        "type": "command",
        "command": "./guard.sh",
        "matcher": "Bash"
      }
    ]
  }
}
"""


def _alarms(text: str) -> set[str]:
    return {finding.rule for finding in lint_text(text) if finding.alarm}


def test_a_flat_handler_is_nested_with_its_matcher_outside() -> None:
    assert fixed(_FLAT) == """{
  "permissions": { "deny":["Bash(rm *)"],   "allow": [ ] },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "./guard.sh"
          }
        ]
      }
    ]
  }
}
"""  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"hooks":{"stop":[]}}', '{"hooks":{"Stop":[]}}'),
        (
            '{"hooks":{"Stop":[{"type":"command","command":"a"}]}}',
            '{"hooks":{"Stop":[{"hooks": [{"type":"command","command":"a"}]}]}}',
        ),
        (
            '{"hooks":{"pre_tool_use":[{"matcher":"Bash","type":"command","command":"a"}]}}',
            '{"hooks":{"PreToolUse":[{"matcher":"Bash", "hooks": [{"type":"command","command":"a"}]}]}}',
        ),
        (
            '{"hooks":{"Stop":[{"type":"command","matcher":"" ,"command":"a"}]}}',
            '{"hooks":{"Stop":[{"matcher":"", "hooks": [{"type":"command","command":"a"}]}]}}',
        ),
    ],
)
def test_one_line_files_stay_on_one_line(before: str, after: str) -> None:
    assert fixed(before) == after


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks":{"stop":[],"Stop":[]}}',  # two keys would become one
        '{"hooks":{"stop":[],"STOP":[]}',  # torn
        '{"hooks":{"Stop":[{"type":"command","type":"http","command":"a"}]}}',  # which type is meant?
        '{"hooks":{"Stop":[{"type":"command","matcher":["Bash"],"command":"a"}]}}',
        '{"hooks":{"Stopp":[]}}',  # a guess is not safe
        '{"hooks":[{"type":"command","command":"a"}]}',
    ],
)
def test_what_is_not_safe_is_left_alone(text: str) -> None:
    assert fixed(text) == text


def test_comments_line_ends_and_byte_order_mark_stay() -> None:
    source = b'\xef\xbb\xbf{\r\n\t// first\r\n\t"hooks": {\r\n\t\t"stop": [ /* none */ ]\r\n\t}\r\n}'
    assert fix_bytes(source) == source.replace(b'"stop"', b'"Stop"')


def test_bytes_that_are_no_utf_8_stay() -> None:
    source = b'{"x": "caf\xe9", "hooks": {"stop": []}}'
    assert fix_bytes(source) == source.replace(b'"stop"', b'"Stop"')
    utf_16 = source.decode("latin-1").encode("utf-16")
    assert fix_bytes(utf_16) == utf_16


_KEYS = st.sampled_from(["type", "command", "timeout", "statusMessage", "url"])
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@settings(max_examples=400, deadline=None)
@given(
    event=st.sampled_from(["PreToolUse", "preToolUse", "STOP", "post-tool-use", "Nonsense"]),
    handlers=st.lists(
        st.dictionaries(_KEYS, st.text(max_size=6) | st.integers(), min_size=1, max_size=4), min_size=1, max_size=3
    ),
    matcher=st.none() | st.text(max_size=6),
    last=st.booleans(),
    indent=st.none() | st.integers(0, 4),
    extra=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "hooks"), st.text(max_size=6), max_size=3),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_a_fix_loses_nothing_and_is_done_after_one_time(
    event: str,
    handlers: list[dict[str, object]],
    matcher: str | None,
    last: bool,
    indent: int | None,
    extra: dict[str, str],
    newline: str,
) -> None:
    entries = (
        [{**h, "matcher": matcher} if last else {"matcher": matcher, **h} for h in handlers] if matcher is not None else handlers
    )
    before = json.dumps({**extra, "hooks": {event: entries}, "permissions": {"deny": ["Bash"]}}, indent=indent).replace(
        "\n", newline
    )
    after = fixed(before)
    assert fixed(after) == after
    old, new = json.loads(before), json.loads(after)
    assert list(new) == list(old)
    assert {key: value for key, value in new.items() if key != "hooks"} == {
        key: value for key, value in old.items() if key != "hooks"
    }
    assert set(Counter(_STRING.findall(before)) - Counter(_STRING.findall(after))) <= {json.dumps(event)}
    [(_, found)] = new["hooks"].items()
    flattened = [
        {**({"matcher": entry["matcher"]} if "matcher" in entry else {}), **inner}
        for entry in found
        for inner in entry.get("hooks", [{key: value for key, value in entry.items() if key != "matcher"}])
    ]
    assert flattened == entries
    assert "flat-handler" not in _alarms(after)
    assert ("\r\n" in after) == ("\r\n" in before)


def test_a_file_is_replaced_whole_with_its_mode_and_behind_its_link(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text(_FLAT)
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    difference = fix_file(link, write=True)
    assert '+        "hooks": [' in difference
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.json", "settings.json"]
    assert fix_file(link, write=True) == ""


def test_the_difference_alone_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(_FLAT)
    before = path.stat().st_mtime_ns
    assert fix_file(path, write=False)
    assert path.read_text() == _FLAT
    assert path.stat().st_mtime_ns == before


def test_a_file_that_cannot_be_written_is_told_and_stays(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        with pytest.raises(GateError, match=r"missing\.json"):
            fix_file(tmp_path / "missing.json", write=True)
        return
    path = tmp_path / "settings.json"
    path.write_text(_FLAT)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(GateError, match=r"settings\.json"):
            fix_file(path, write=True)
    finally:
        tmp_path.chmod(0o700)
    assert path.read_text() == _FLAT


def test_permissions_keep_their_bytes() -> None:
    odd = '"permissions" :{"deny":[ "Bash(rm *)" ,\t"Read(./.env)"]\n}'
    after = fixed('{"hooks": {"stop": []}, ' + odd + "}")
    assert '"Stop"' in after
    assert odd in after
