"""The settings of the surrounding pytest that are in force, and whether they can change a verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

NARROWING = {
    "keyword": "-k",
    "markexpr": "-m",
    "deselect": "--deselect",
    "ignore": "--ignore",
    "ignore_glob": "--ignore-glob",
    "lf": "--last-failed",
    "stepwise": "--stepwise",
    "reruns": "--reruns",
    "runxfail": "--runxfail",
}
"""Options that leave tests out or change what their outcome means: attribute -> how it is written."""
HARMLESS_BLOCKS = frozenset({"cacheprovider", "terminal", "randomly", "xdist", "pytest_cov", "doctest", "hypothesispytest"})
"""Plugins without which the same verdicts come out: name after `-p no:`."""


def changing(config: pytest.Config) -> list[str]:
    """The settings in force that can change a verdict: with one of them nothing is certified."""
    return list(_changing(config))


def harmless(config: pytest.Config) -> list[str]:
    """The settings in force that change only how the run goes, not what comes out."""
    found = [f"-p no:{name}" for name in _blocked(config) if name in HARMLESS_BLOCKS]
    if config.getoption("dist", "no") != "no":
        found.append(f"xdist (-n {config.getoption('numprocesses', None)})")
    if config.pluginmanager.hasplugin("randomly"):
        found.append("random order")
    return found


def _changing(config: pytest.Config) -> Iterator[str]:
    maxfail = config.getoption("maxfail", 0)
    if maxfail:
        yield "-x" if maxfail == 1 else f"--maxfail={maxfail}"
    for name, shown in NARROWING.items():
        value = config.getoption(name, None)
        if value:
            yield f"{shown} {value}" if isinstance(value, str) else shown
    if fixtures := config.getini("usefixtures"):
        yield f"usefixtures = {' '.join(fixtures)}"
    timeout = config.getoption("timeout", None) or _ini(config, "timeout") or os.environ.get("PYTEST_TIMEOUT")
    if timeout:
        yield f"timeout = {timeout}"
    filters = [*config.getini("filterwarnings"), *(config.getoption("pythonwarnings", None) or [])]
    if any(line.strip().partition(":")[0] == "error" for line in filters):
        yield "filterwarnings = error"
    for name in _blocked(config):
        if name not in HARMLESS_BLOCKS:
            yield f"-p no:{name}"


def _blocked(config: pytest.Config) -> list[str]:
    plugins = [str(name).strip() for name in config.getoption("plugins", None) or []]
    return [name.removeprefix("no:") for name in plugins if name.startswith("no:")]


def _ini(config: pytest.Config, name: str) -> Any:
    try:
        return config.getini(name)
    except (KeyError, ValueError):
        return None
