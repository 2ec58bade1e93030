"""Scripts that read stdin to its end and then read it again, when nothing is left."""

from __future__ import annotations

import ast
import re

from ..pattern import pattern
from .traits import Traits

_IN_SHELL = pattern(
    r"""\w+="?\$\(\s*(?:cat(?:\s+-)?|jq\s+(?:-[a-mo-zA-Z]+\s+)*(?:'[^'\n]*'|"[^"\n]*"|\.[\w.]*))\s*(?:2>\s*\S+)?\s*\)"?\s*(?:\|\|.*)?\Z"""
    r"""|(?:cat|tee(?:\s+-a)?)\s*(?:>>?\s*|(?<=-a)\s+|(?<=tee)\s+)[^\s<|;&]+(?:\s*>\s*/dev/null)?\s*\Z"""
)
"""A line that reads stdin to its end: `payload=$(cat)`, `name=$(jq -r .tool_name)`, `cat >> log`."""


def in_shell(lines: list[str], traits: Traits) -> None:
    """What is read again, after stdin has been read to its end by a line that no test stands before."""
    whole = [
        number
        for number, line in enumerate(lines, 1)
        if _IN_SHELL.match(line) and not (number > 1 and lines[number - 2].rstrip().endswith(("|", "\\")))
    ]
    if len(whole) > 1 and not re.search(r"^\s*exec\b[^\n]*<", "\n".join(lines), re.M):
        traits.add("input-twice", whole[1])


def in_python(tree: ast.Module, traits: Traits) -> None:
    """Two statements of one block that read stdin to its end: the second finds nothing."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(body, list):
            continue
        reads = [
            each
            for each in body
            if isinstance(each, ast.Assign | ast.AnnAssign | ast.Expr) and _IN_PYTHON.search(ast.unparse(each)) is not None
        ]
        if len(reads) > 1 and not any("seek" in ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Attribute)):
            traits.add("input-twice", reads[1].lineno)


_IN_PYTHON = pattern(r"\bsys\.stdin(?:\.buffer)?\.read(?:lines)?\(\)|\bjson\.load\(sys\.stdin(?:\.buffer)?\)")
