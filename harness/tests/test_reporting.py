"""How cases become pytest's reports: others see complete tests, and whoever has a say in running tests gets pytest's own way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import hookproof
import hookproof_reference

ROOTS = [str(Path(module.__file__ or "").parents[1]) for module in (hookproof, hookproof_reference)]
COMMAND = [
    sys.executable,
    "-P",
    "-m",
    "pytest",
    "-p",
    "hookproof.plugin",
    "--runner=reference",
    "--case=lecode/veto/second-denies",
]
SPY = """
import pytest

class Spy:
    def pytest_runtest_setup(self, item):
        print("phase: setup")
    def pytest_runtest_logreport(self, report):
        print("report:", report.when, report.outcome)

class Again:
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_protocol(self, item, nextitem):
        return None

def pytest_configure(config):
    config.pluginmanager.register(Spy())
    if config.getoption("again"):
        config.pluginmanager.register(Again())

def pytest_addoption(parser):
    parser.addoption("--again", action="store_true")
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "spy.py").write_text(SPY)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env = kept | {"PYTHONPATH": os.pathsep.join([*ROOTS, str(folder)]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [*COMMAND, "-p", "spy", "-s", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_a_case_is_reported_once_and_closed_without_the_phases_of_a_test(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "phase: setup" not in ran.stdout
    assert ran.stdout.count("report: ") == 2
    assert "report: call passed" in ran.stdout
    assert "report: teardown passed" in ran.stdout
    assert "1 passed" in ran.stdout


def test_junit_gets_the_case_with_its_properties(tmp_path: Path) -> None:
    ran = run(tmp_path, "--junit-xml=out.xml")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    [case] = ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase")
    assert case.get("name") == "test_case[lecode/veto/second-denies]"
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert properties["hookproof.status"] == "pass"


def test_whoever_has_a_say_in_how_tests_are_run_gets_pytests_own_way(tmp_path: Path) -> None:
    for word in ("--again", "--setup-show"):
        ran = run(tmp_path, word)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stdout.count("phase: setup") == 1, word
        assert "report: setup passed" in ran.stdout
        assert "1 passed" in ran.stdout
