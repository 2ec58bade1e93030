"""The wheel carries the whole suite, and works in an environment that knows no checkout."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PLACES = {
    "harness/hookproof/": "hookproof/",
    "reference_impl/hookproof_reference/": "hookproof_reference/",
    "conformance/": "hookproof/_suite/conformance/",
    "fixtures/": "hookproof/_suite/fixtures/",
}
"""Where a folder of the checkout lies in the wheel."""
VIEWS_MAY_READ = {"hookproof.results", "hookproof.errors", "hookproof.views"}

in_git = pytest.mark.skipif(
    not (CHECKOUT / ".git").exists() or shutil.which("git") is None, reason="not a git checkout: there is no list to compare with"
)


def run(*words: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_", "PYTEST", "VIRTUAL_ENV"))}
    done = subprocess.run([str(w) for w in words], cwd=cwd, env={**kept, **env}, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    pytest.importorskip("hatchling", reason="hatchling is not installed: the wheel cannot be built")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
    [built] = folder.glob("hookproof-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment with the wheel; third-party packages are those of this one."""
    pytest.importorskip("pip", reason="pip is not installed: the wheel cannot be installed")
    place = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    run(sys.executable, "-m", "pip", f"--python={place}/bin/python", "install", "-q", "--no-deps", "--no-index", wheel, cwd=place)
    [site] = place.glob("lib/python*/site-packages")
    # a .pth file met through another one is not read: an editable hookproof of this environment stays out
    site.joinpath("third-party.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    return place / "bin"


@in_git
def test_the_wheel_holds_exactly_the_tracked_files_of_both_packages_suite_and_fixtures(wheel: Path) -> None:
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PLACES, cwd=CHECKOUT).stdout
    tracked = [name for name in listed.split("\0") if name and (CHECKOUT / name).is_file()]
    wanted = {PLACES[top] + name.removeprefix(top) for name in tracked for top in PLACES if name.startswith(top)}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == wanted
    assert "hookproof/_suite/conformance/test_cases.py" in held


def test_the_installed_commands_run_far_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    version = run(installed / "hookproof", "--version", cwd=tmp_path).stdout
    assert re.fullmatch(r"hookproof \d+\.\d+\S*\n", version)
    cases = run(installed / "hookproof", "cases", "list", cwd=tmp_path).stdout
    assert "lecode/veto/" in cases
    assert list(tmp_path.iterdir()) == []


def test_the_installed_package_finds_the_suite_beside_itself(installed: Path, tmp_path: Path) -> None:
    found = run(installed / "python", "-c", "from hookproof import suite; print(suite.root())", cwd=tmp_path).stdout
    assert Path(found.strip()) == next(installed.parent.glob("lib/python*/site-packages")) / "hookproof" / "_suite"


def test_the_installed_examples_are_still_executable(installed: Path) -> None:
    [runners] = installed.parent.glob("lib/python*/site-packages/hookproof/_suite/fixtures/runners")
    names = {path.name for path in runners.iterdir() if os.access(path, os.X_OK)}
    assert {"node.mjs", "chain.py"} <= names


def test_both_console_scripts_and_the_pytest_plugin_are_declared(installed: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.metadata import distribution as d; print(sorted((e.group, e.name) for e in d('hookproof').entry_points))"
    )
    declared = ast.literal_eval(run(installed / "python", "-c", code, cwd=tmp_path).stdout)
    assert declared == [("console_scripts", "hookproof"), ("console_scripts", "hookproof-reference"), ("pytest11", "hookproof")]


def test_the_import_contract_of_the_views_names_every_other_module() -> None:
    config = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    [contract] = [c for c in config["tool"]["importlinter"]["contracts"] if c["id"] == "views"]
    package = CHECKOUT / "harness" / "hookproof"
    parts = {p.stem for p in package.glob("*.py")} | {p.parent.name for p in package.glob("*/__init__.py")}
    modules = {f"hookproof.{name}" for name in parts if name not in ("__init__", "__main__")}
    assert set(contract["forbidden_modules"]) == modules - VIEWS_MAY_READ, "bring the list in pyproject.toml up to date"


def test_loading_the_plugin_imports_nothing_of_the_engine(tmp_path: Path) -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import hookproof.plugin; "
        "print(' '.join(m for m in set(sys.modules) - before if m.split('.')[0] not in sys.stdlib_module_names))"
    )
    added = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(CHECKOUT / "harness")).stdout.split()
    assert [name for name in added if not name.startswith("hookproof")] == []
    assert set(added) <= {"hookproof", "hookproof.plugin", "hookproof.errors"}
