"""The suite's own scenarios: who compares them with their snapshots, who may write those, and none is stale."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookproof
import hookproof_reference
from hookproof import suite

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "HYPOTHESIS_"))},
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
SAME_PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {ROOTS[1]!r})
from hookproof_reference.__main__ import main
sys.exit(main())
"""
SYRUPY = ("-p", "syrupy")
SECOND_DENIES = "test_scenario[lecode.veto.second-denies].txt"

Prove = Callable[..., "subprocess.CompletedProcess[str]"]


def run(folder: Path, root: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pytest", "-p", "hookproof.plugin", "-q", "--dialect=lecode", *words]
    path = os.pathsep.join([root, ROOTS[1], os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def prove(tmp_path: Path) -> Prove:
    """pytest with the plugin in the test's own folder, on the suite of this checkout."""
    return lambda *words: run(tmp_path, ROOTS[0], *words)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, as far as snapshots need it: its own may be written."""
    place = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ROOTS[0]) / "hookproof", place / "harness" / "hookproof", ignore=ignored)
    shutil.copytree(suite.conformance(), place / "conformance", ignore=ignored)
    shutil.copytree(suite.fixtures() / "payloads", place / "fixtures" / "payloads")
    return place


def test_the_reference_is_compared_and_snapshots_of_other_dialects_are_not_called_unused(prove: Prove) -> None:
    ran = prove(*SYRUPY, "--runner=reference", str(suite.conformance() / "test_snapshots.py"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "snapshots passed." in ran.stdout
    assert "unused" not in ran.stdout
    assert "nothing is proved of the runner" in ran.stdout


def test_a_drift_fails_and_shows_what_changed(copied: Path, tmp_path: Path) -> None:
    snapshot = copied / "conformance" / "__snapshots__" / "test_snapshots" / SECOND_DENIES
    before = snapshot.read_text("utf-8")
    snapshot.write_text(before.replace('"outcome": "blocked"', '"outcome": "ran"'), "utf-8")
    module = str(copied / "conformance" / "test_snapshots.py")
    ran = run(tmp_path, str(copied / "harness"), *SYRUPY, "--runner=reference", module)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "the scenario is not what it was" in ran.stdout
    assert '"outcome": "ran"' in ran.stdout
    assert '"outcome": "blocked"' in ran.stdout
    assert "1 failed" in ran.stdout
    mended = run(tmp_path, str(copied / "harness"), *SYRUPY, "--runner=reference", "--snapshot-update", module)
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert snapshot.read_text("utf-8") == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--runner=example:node"], "they are records of the reference, and example:node is another runner"),
        (["--runner=reference", "--family=veto"], "--family leaves cases out"),
    ],
    ids=["another-runner", "narrowed"],
)
def test_snapshots_are_not_written_of_anything_but_the_whole_suite_and_the_reference(
    prove: Prove, words: list[str], why: str
) -> None:
    if "node" in words[0] and shutil.which("node") is None:
        pytest.skip("node is not installed")
    ran = prove(*SYRUPY, *words, "--snapshot-update")
    assert ran.returncode == 4, ran.stdout
    assert f"the suite's snapshots cannot be written here: {why}" in ran.stderr
    assert "--runner=reference --snapshot-update" in ran.stderr


def test_an_installed_suite_is_not_written_to(copied: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site" / "hookproof"
    shutil.copytree(copied / "harness" / "hookproof", installed)
    for part in ("conformance", "fixtures"):
        shutil.copytree(copied / part, installed / "_suite" / part)
    ran = run(tmp_path, str(tmp_path / "site"), *SYRUPY, "--runner=reference", "--snapshot-update")
    assert ran.returncode == 4, ran.stdout
    assert "is an installed suite and no checkout" in ran.stderr


def test_without_syrupy_or_with_another_runner_the_scenarios_are_no_tests(prove: Prove, tmp_path: Path) -> None:
    collected = prove("--runner=reference", "--collect-only")
    assert "test_cases.py" in collected.stdout
    assert "test_snapshots" not in collected.stdout
    other = tmp_path / "other"
    # the very same program, and yet no reference: its answers are its own
    other.write_text(SAME_PROGRAM)
    other.chmod(0o755)
    collected = prove(*SYRUPY, "--runner=./other", "--collect-only")
    assert "test_cases.py" in collected.stdout
    assert "test_snapshots" not in collected.stdout


def test_each_scenario_is_a_case_and_each_snapshot_one_of_a_scenario() -> None:
    from hookproof import catalog

    spec = importlib.util.spec_from_file_location("scenarios_of_the_suite", suite.conformance() / "test_snapshots.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ids = {entry.id for entry in catalog.load([suite.conformance()]).entries}
    assert ids >= module.SCENARIOS
    names = [path.name for path in (suite.conformance() / "__snapshots__" / "test_snapshots").iterdir()]
    kept = {name.removeprefix("test_scenario[").removesuffix("].txt").partition("@")[0] for name in names}
    assert kept == {case_id.replace("/", ".") for case_id in module.SCENARIOS}
    for dialect in ("lecode", "claude-code", "teaagent"):
        assert sum(case_id.startswith((f"{dialect}/", "core/")) for case_id in module.SCENARIOS) >= 20
