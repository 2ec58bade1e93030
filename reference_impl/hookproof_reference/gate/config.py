"""What a project has decided about its rules: in pyproject.toml or in a file of its own, and a baseline of what it knows."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from .errors import GateError
from .finding import Finding, Severity
from .near import suggestion
from .rule import all_rules

FILE = ".hookproof-lint.toml"
_TABLE = b"tool.hookproof.lint"
_KEYS = ("profile", "compat", "fail-on", "exclude", "baseline", "rules", "paths")
_LEVELS = (*get_args(Severity), "off")
Level = Severity | Literal["off"]
FAIL_ON = ("error", "warning", "info", "never")


@dataclass(frozen=True, slots=True)
class Override:
    """Other severities for some paths."""

    pattern: str
    rules: dict[str, Level]


@dataclass(frozen=True, slots=True)
class Config:
    """The decisions; paths in it are relative to `folder`."""

    folder: Path = field(default_factory=Path)
    profile: str | None = None
    compat: str | None = None
    fail_on: str = "warning"
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None
    rules: dict[str, Level] = field(default_factory=dict)
    """Rule -> error, warning, info or off."""
    paths: tuple[Override, ...] = ()

    def excludes(self, path: Path) -> bool:
        """Whether the file is not to be looked at."""
        return bool(self.exclude) and any(_matches(path, pattern, self.folder) for pattern in self.exclude)

    def apply(self, findings: Iterable[Finding], path: Path) -> list[Finding]:
        """The findings of one file with the severities that are wanted; those of rules that are off are left out."""
        levels = dict(self.rules)
        for override in self.paths:
            if _matches(path, override.pattern, self.folder):
                levels.update(override.rules)
        if not levels:
            return list(findings)
        kept = []
        for finding in findings:
            level = levels.get(finding.rule)
            if level is None:
                kept.append(finding)
            elif level != "off":
                kept.append(replace(finding, severity=level, label=finding.label if level == "error" else ""))
        return kept


def _matches(path: Path, pattern: str, folder: Path) -> bool:
    """Shell patterns on the path relative to the configuration; `*` crosses folders."""
    from fnmatch import fnmatchcase

    try:
        relative = Path(os.path.abspath(path)).relative_to(os.path.abspath(folder)).as_posix()
    except ValueError:
        relative = path.as_posix()
    return fnmatchcase(relative, pattern.replace("**/", "*")) or fnmatchcase(relative, f"{pattern.rstrip('/')}/*")


def find(start: Path) -> Config:
    """The nearest configuration at `start` or above, up to the root of the repository; the defaults where there is none."""
    here = Path(os.path.abspath(start))
    for folder in (here, *here.parents):
        own = folder / FILE
        if own.is_file():
            return read(own)
        project = folder / "pyproject.toml"
        # most projects have the file and not the table: no TOML reader is loaded for those
        if project.is_file() and _TABLE in project.read_bytes():
            return read(project)
        if (folder / ".git").exists():
            break
    return Config()


def read(path: Path) -> Config:
    """One file. Raises GateError with the key that cannot be meant."""
    import tomllib

    try:
        data: Any = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise GateError(f"{path}: {error.strerror or error}", "name an existing file with --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GateError(f"{path}: no TOML: {error}") from None
    if path.name == "pyproject.toml":
        # a table in between may be anything, since other people's tools write the file, too
        for key in ("tool", "hookproof", "lint"):
            data = data.get(key, {})
            if not isinstance(data, dict):
                raise GateError(f"{path}: {key} is no table", "write [tool.hookproof.lint] and key = value under it")
    return _config(data, path)


def _config(data: dict[str, Any], path: Path) -> Config:
    for key in data:
        if key not in _KEYS:
            raise GateError(f'{path}: there is no setting "{key}"{suggestion(key, _KEYS)}', f"there are {', '.join(_KEYS)}")
    for key in ("profile", "compat", "baseline"):
        if not isinstance(data.get(key, ""), str):
            raise GateError(f"{path}: {key} is no string")
    fail_on = data.get("fail-on", "warning")
    if fail_on not in FAIL_ON:
        raise GateError(f"{path}: fail-on is {fail_on!r}", f"write one of {', '.join(FAIL_ON)}")
    exclude = data.get("exclude", [])
    if not isinstance(exclude, list) or not all(isinstance(each, str) for each in exclude):
        raise GateError(f"{path}: exclude is no list of patterns", 'write exclude = ["examples/*"]')
    paths = data.get("paths", {})
    if not isinstance(paths, dict):
        raise GateError(f"{path}: paths is no table", '[paths."examples/*"] and RULE = "off" under it')
    return Config(
        folder=path.parent,
        profile=data.get("profile"),
        compat=data.get("compat"),
        fail_on=fail_on,
        exclude=tuple(exclude),
        baseline=path.parent / data["baseline"] if "baseline" in data else None,
        rules=_levels(data.get("rules", {}), path, "rules"),
        paths=tuple(Override(pattern, _levels(rules, path, f'paths."{pattern}"')) for pattern, rules in paths.items()),
    )


def _levels(table: Any, path: Path, where: str) -> dict[str, Level]:
    if not isinstance(table, dict):
        raise GateError(f"{path}: {where} is no table", 'write RULE = "off" and the like under it')
    known = all_rules()
    for rule, level in table.items():
        if rule not in known:
            raise GateError(
                f'{path}: {where}: there is no rule "{rule}"{suggestion(rule, known)}', "see hookproof lint --list-rules"
            )
        if level not in _LEVELS:
            raise GateError(f"{path}: {where}: {rule} is {level!r}", f"write one of {', '.join(_LEVELS)}")
    return dict(table)


Key = tuple[str, str, str]


def _key(finding: Finding, folder: Path) -> Key:
    """Without line and column, which change with every edit above."""
    return Path(os.path.relpath(finding.path, folder)).as_posix(), finding.rule, finding.pointer


def write_baseline(findings: Iterable[Finding], path: Path) -> int:
    """Note all alarms as known. Gives their number."""
    tally = Counter(_key(finding, path.parent) for finding in findings if finding.alarm)
    rows = [{"path": p, "rule": r, "pointer": at, "count": count} for (p, r, at), count in sorted(tally.items())]
    path.write_text(json.dumps({"format": 1, "known": rows}, indent=1) + "\n", "utf-8")
    return sum(tally.values())


def without_known(findings: Iterable[Finding], path: Path) -> tuple[list[Finding], int]:
    """The findings that the baseline does not know, and how many it knew."""
    try:
        data = json.loads(path.read_text("utf-8"))
        known = Counter({(row["path"], row["rule"], row["pointer"]): int(row["count"]) for row in data["known"]})
    except OSError as error:
        raise GateError(f"{path}: {error.strerror or error}", "write one with --write-baseline") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise GateError(f"{path}: no baseline of ours", "write it again with --write-baseline") from None
    left: list[Finding] = []
    met = 0
    for finding in findings:
        key = _key(finding, path.parent)
        if finding.alarm and known[key] > 0:
            known[key] -= 1
            met += 1
        else:
            left.append(finding)
    return left, met
