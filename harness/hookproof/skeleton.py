"""A new case is written behind what its family's file holds already: as text, so that comments stay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, SequenceNode

from . import casefile, strictyaml
from .cases import CaseFile, Source
from .errors import UsageError


@dataclass(frozen=True, slots=True)
class NewCase:
    """What an author must know before writing a case."""

    dialect: str
    family: str
    slug: str
    rule: str
    twin: str | None
    """None: this case is a control itself, its tool runs."""
    killed_by: tuple[str, ...]

    @property
    def id(self) -> str:
        """The case's id."""
        return f"{self.dialect}/{self.family}/{self.slug}"


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule that the file does not have yet."""

    text: str
    source: Source


def with_case(text: str | None, new: NewCase, rule: NewRule | None, path: Path) -> str:
    """The text of the family's file (None: there is none yet) with the new case at its end.

    Raises UsageError where the file is written in a way that cannot be continued.
    """
    if text is None:
        head = [
            "format: 1",
            f"dialect: {new.dialect}",
            f"family: {new.family}",
            "about: Say here in one sentence what the cases of this family have in common.",
            "",
        ]
        rules = ["rules:", *_rule_lines(new.rule, rule, 2), ""] if rule else []
        return "\n".join([*head, *rules, "cases:", *_case_lines(new, 2)]) + "\n"
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(end)
    while lines and not lines[-1].strip():
        lines.pop()
    root = _root(text, path)
    keys = [str(key.value) for key, _ in root.value]
    parts = {str(key.value): value for key, value in root.value}
    if "cases" in keys and (keys[-1] != "cases" or not isinstance(parts["cases"], SequenceNode) or parts["cases"].flow_style):
        raise _cannot(path, "`cases` must come last and be written as a list with one dash for each case")
    lines += (
        ["", *_case_lines(new, parts["cases"].start_mark.column)] if "cases" in keys else ["", "cases:", *_case_lines(new, 2)]
    )
    if rule:
        if "rules" not in keys:
            raise _cannot(path, "it has no `rules`: add the rule by hand first")
        if not isinstance(parts["rules"], MappingNode) or parts["rules"].flow_style or not parts["rules"].value:
            raise _cannot(path, "`rules` must be written with one line or block for each rule")
        first = parts["rules"].value[0][0].start_mark
        lines[first.line : first.line] = _rule_lines(new.rule, rule, first.column)
    return end.join(lines) + end


def proved(text: str, new: NewCase, before: int, path: Path) -> str:
    """The text itself, once it was seen to load with all old cases and the new one. Raises UsageError."""
    made = casefile.convert(strictyaml.parse(text, path), CaseFile)
    if len(made.cases) != before + 1 or made.cases[-1].id != new.id:
        raise _cannot(path, "the new case does not come out as its last one")
    return text


def count(text: str, path: Path) -> int:
    """How many cases a file's text holds. Raises CaseFileError."""
    return len(casefile.convert(strictyaml.parse(text, path), CaseFile).cases)


def _case_lines(new: NewCase, indent: int) -> list[str]:
    say = "{say: {verdict: deny, reason: not on fridays}}" if new.twin else "{say: {verdict: allow}}"
    expect = "{started: [h1], tool_runs: 0}" if new.twin else "{started: [h1], tool_runs: 1}"
    rows = [
        f"- id: {new.id}",
        f"  rule: {new.rule}",
        "  why: Say here which wrong runner passes all other cases and fails this one.",
        "  handlers:",
        f"    - {say}",
        "  call: {tool: bash, input: {command: ls}}",
        f"  expect: {expect}",
        *([f"  twin: {new.twin}"] if new.twin else []),
        f"  killed_by: [{', '.join(new.killed_by)}]",
    ]
    return [" " * indent + row for row in rows]


def _rule_lines(name: str, rule: NewRule | None, indent: int) -> list[str]:
    if rule is None:
        return []
    rows = [
        f"{name}:",
        "  level: must",
        f"  text: {_quoted(rule.text)}",
        f"  source: {{document: {_quoted(rule.source.document)}, section: {_quoted(rule.source.section)}}}",
    ]
    return [" " * indent + row for row in rows]


def _quoted(text: str) -> str:
    """The text in double quotes, on one line, whatever is in it."""
    dumped: str = yaml.dump(text, default_style='"', width=10**9, allow_unicode=True)
    return dumped.strip()


def _root(text: str, path: Path) -> MappingNode:
    root = strictyaml.parse(text, path).root
    if not isinstance(root, MappingNode) or root.flow_style:
        raise _cannot(path, "it must be a mapping with one line for each key")
    return root


def _cannot(path: Path, why: str) -> UsageError:
    return UsageError(f"{path}: a case cannot be added to this file: {why}")
