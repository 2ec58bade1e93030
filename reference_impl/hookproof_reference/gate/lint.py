"""One file is read, every rule that concerns it looks at it, and the findings come out in the order of the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from . import discover
from .context import Context, FileKind
from .document import Document, parse
from .finding import Finding, Found
from .profiles import Profile, profile
from .rule import Rule, all_rules


@dataclass(slots=True)
class Report:
    """What was found in all files, and what could not be read."""

    findings: list[Finding] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    """Path and reason."""
    baselined: int = 0
    """Findings that a baseline already knew."""


def lint_text(
    source: str | bytes,
    against: Profile | None = None,
    *,
    path: str = "<text>",
    kind: FileKind = "settings",
    project: Path | None = None,
    plugin: Path | None = None,
) -> list[Finding]:
    """The findings about a text."""
    against = against or profile()
    document = _read(source, kind)
    return check(Context(document, against, path, kind, project, plugin))


def lint_file(path: Path, against: Profile | None = None, shown: str | None = None) -> list[Finding]:
    """The findings about a file; its place says what it is for. OSError where it cannot be read."""
    source = path.read_bytes()
    place = discover.place_of(path)
    against = discover.profile_for(place.kind, against or profile())
    return lint_text(source, against, path=shown or str(path), kind=place.kind, project=place.project, plugin=place.plugin)


def check(context: Context) -> list[Finding]:
    """Ask every rule that concerns this file."""
    found: list[Finding] = []
    torn = context.document.torn
    for rule in _concerned(context.profile.dialect, _asked(context)):
        if not torn or rule.torn:
            for each in rule.check(context):
                found.append(_finding(context, rule, each))
    found.sort(key=lambda finding: (finding.line, finding.column))
    return found


def _asked(context: Context) -> str:
    """Whose rules are asked: a manifest that holds hooks is judged as the hooks of a plugin, too."""
    if context.kind == "plugin-manifest" and context.hooks is not None:
        return "inline"
    if context.kind == "unread" and not context.path.endswith(".json"):
        return "foreign"
    return context.kind


_chosen: dict[tuple[str, str], list[Rule]] = {}


def _concerned(dialect: str, asked: str) -> list[Rule]:
    key = (dialect, asked)
    if key not in _chosen:
        of_dialect = [rule for rule in all_rules().values() if dialect in rule.profiles]
        if asked == "inline":
            # its other keys are those of a manifest
            wanted = [
                r for r in of_dialect if {"plugin-hooks", "plugin-manifest"} & {*r.kinds} and r.id not in _OF_A_FILE_OF_HOOKS
            ]
        elif asked == "foreign":
            wanted = [r for r in of_dialect if r.id == "file-not-read"]
        else:
            wanted = [r for r in of_dialect if asked in r.kinds]
        _chosen[key] = wanted
    return _chosen[key]


_OF_A_FILE_OF_HOOKS = frozenset({"plugin-key-ignored", "file-not-read", "hooks-misplaced", "hooks-missing"})
"""Rules about the other keys and the place of a plugin's hooks.json."""


def _read(source: str | bytes, kind: FileKind) -> Document:
    if kind == "lecode":
        from .toml import parse_toml

        return parse_toml(source)
    return parse(source)


def _finding(context: Context, rule: Rule, found: Found) -> Finding:
    line, column = context.document.place(found.start)
    end_line, end_column = context.document.place(max(found.end, found.start))
    severity = found.severity or rule.severity
    return Finding(
        rule=rule.id,
        severity=severity,
        path=context.path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        pointer=found.pointer,
        message=found.message,
        remedy=found.remedy or rule.remedy,
        consequence=found.consequence or rule.consequence,
        label=context.profile.critical if severity == "error" else "",
    )
