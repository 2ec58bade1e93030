"""A project decides about its rules; what it cannot have meant is said with the next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookproof_reference.gate import config
from hookproof_reference.gate.errors import GateError
from hookproof_reference.gate.session import Options, explain, listing, run

_BAD = '{"hooks": {"stop": []}}'
_WARNED = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "date", "timeout": 5000}]}]}}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".claude").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(project: Path, text: str, name: str = ".claude/settings.json") -> Path:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Path(name)


def test_a_rule_can_be_off_or_milder(project: Path) -> None:
    _write(project, _BAD)
    assert run(Options((Path("."),)))[1] == 1
    (project / "pyproject.toml").write_text('[tool.hookproof.lint.rules]\nevent-case = "off"\n')
    assert run(Options((Path("."),)))[1] == 0
    (project / "pyproject.toml").write_text('[tool.hookproof.lint.rules]\nevent-case = "info"\n')
    printed, code = run(Options((Path("."),)))
    assert code == 0
    assert "info event-case" in printed


def test_the_file_of_its_own_comes_before_pyproject(project: Path) -> None:
    _write(project, _BAD)
    (project / "pyproject.toml").write_text('[tool.hookproof.lint.rules]\nevent-case = "off"\n')
    (project / config.FILE).write_text("")
    assert run(Options((Path("."),)))[1] == 1


def test_a_path_can_have_other_severities_and_another_be_left_out(project: Path) -> None:
    _write(project, _BAD, "plugins/a/hooks/hooks.json")
    _write(project, _BAD, "examples/.claude/settings.json")
    (project / config.FILE).write_text('exclude = ["examples"]\n[paths."plugins/*"]\nevent-case = "warning"\n')
    printed, code = run(Options((Path("."), Path("plugins"))))
    assert code == 1
    assert "examples" not in printed
    assert printed.count("warning event-case") == 1


def test_the_profile_of_the_project_holds_unless_another_is_asked_for(project: Path) -> None:
    path = _write(project, '{"hooks": {"DirectoryAdded": []}}')
    (project / config.FILE).write_text('profile = "claude-code@2.1.178"\nfail-on = "error"\n')
    assert run(Options((path,)))[1] == 1
    assert run(Options((path,), profile="claude-code"))[1] == 0


def test_fail_on_draws_the_line(project: Path) -> None:
    path = _write(project, _WARNED)
    assert [run(Options((path,), fail_on=level))[1] for level in ("error", "warning", "info", "never")] == [0, 1, 1, 0]


def test_a_baseline_knows_the_old_and_tells_the_new(project: Path) -> None:
    path = _write(project, _BAD)
    known = project / "known.json"
    assert run(Options((path,), write_baseline=known))[1] == 0
    printed, code = run(Options((path,), baseline=known))
    assert code == 0
    assert "1 in the baseline" in printed
    _write(project, '\n\n{"hooks": {"stop": [], "setup": []}}')
    printed, code = run(Options((path,), baseline=known))
    assert code == 1
    assert "setup" in printed
    assert '"stop"' not in printed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('profil = "x"', 'did you mean "profile"'),
        ('[rules]\nevent-cas = "off"', 'did you mean "event-case"'),
        ('[rules]\nevent-case = "loud"', "write one of"),
        ("exclude = 5", "no list"),
        ("fail-on = 1", "write one of"),
        ("rules = 5", "no table"),
        ("paths = []", "no table"),
        ("profile = 5", "no string"),
        ("= broken", "no TOML"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_told(project: Path, text: str, said: str) -> None:
    (project / config.FILE).write_text(text + "\n")
    path = _write(project, _BAD)
    with pytest.raises(GateError) as caught:
        run(Options((path,)))
    assert said in f"{caught.value.message} {caught.value.hint}"
    assert run(Options((path,), isolated=True))[1] == 1


@pytest.mark.parametrize("content", [None, "", "[]", '{"known": 5}', "\x00"])
def test_a_baseline_that_is_none_is_told(project: Path, content: str | None) -> None:
    path = _write(project, _BAD)
    if content is not None:
        (project / "known.json").write_text(content)
    with pytest.raises(GateError, match="known"):
        run(Options((path,), baseline=project / "known.json"))


def test_what_cannot_be_read_is_two_and_the_rest_is_judged_all_the_same(project: Path) -> None:
    path = _write(project, _BAD)
    printed, code = run(Options((path, Path("missing.json"))))
    assert code == 2
    assert "event-case" in printed
    assert "missing.json: could not be read" in printed


def test_a_folder_without_settings_is_no_success(project: Path) -> None:
    with pytest.raises(GateError, match="no settings files"):
        run(Options((project,)))


def test_a_project_is_all_its_settings_and_each_file_once(project: Path) -> None:
    names = [".claude/settings.json", ".claude/settings.local.json", "plug/hooks/hooks.json", "plug/.claude-plugin/plugin.json"]
    for name in names:
        _write(project, "{}", name)
    _write(project, "{}", "node_modules/x/.claude/settings.json")
    _write(project, "{}", "package.json")
    printed, _ = run(Options((Path("."), Path(".claude/settings.json")), form="json"))
    assert [f'"{name}"' in printed for name in names] == [True] * 4
    assert "node_modules" not in printed
    assert '"package.json"' not in printed


def test_settings_of_another_program_are_not_mended(project: Path) -> None:
    path = _write(project, _BAD, ".gemini/settings.json")
    run(Options((path,), fix=True))
    assert path.read_text() == _BAD
    own = _write(project, _BAD)
    assert run(Options((own,), fix=True))[1] == 0
    assert own.read_text() == _BAD.replace("stop", "Stop")


def test_every_rule_is_listed_and_explained() -> None:
    lines = listing().splitlines()
    assert len(lines) > 60
    for line in lines:
        name = line.split()[0]
        assert explain(name).startswith(f"{name} (")
    with pytest.raises(GateError, match='did you mean "event-case"'):
        explain("event-cas")
