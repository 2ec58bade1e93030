"""Settings that a row gives as an expression are worked out: texts, repeats and `json.dumps`, nothing else of Python."""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from typing import Any

LARGEST = 32 * 1024 * 1024
"""Characters of a text that an expression may come to."""

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.Add: operator.add, ast.Mult: operator.mul}


class NotWorkedOut(ValueError):
    """An expression with more in it than these few forms."""


def text_of(expression: str) -> str:
    """The text that an expression comes to. Raises NotWorkedOut."""
    try:
        value = _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, TypeError, IndexError, RecursionError) as error:
        raise NotWorkedOut(str(error)) from None
    if not isinstance(value, str):
        raise NotWorkedOut("it is no text")
    return value


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return [_value(item) for item in node.elts]
        case ast.Dict():
            return {_value(key): _value(item) for key, item in zip(node.keys, node.values, strict=True) if key is not None}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _value(node.left), _value(node.right)
            if isinstance(node.op, ast.Mult):
                _check_size(left, right)
            return _OPERATORS[type(node.op)](left, right)
        case ast.Subscript(slice=ast.Slice(step=None) as part):
            begin, end = (None if edge is None else _value(edge) for edge in (part.lower, part.upper))
            return _value(node.value)[begin:end]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="json"), attr="dumps"), args=[inner], keywords=[]):
            return json.dumps(_value(inner))
        case _:
            raise NotWorkedOut(f"{ast.unparse(node)[:80]} is none of the forms that are worked out")


def _check_size(left: Any, right: Any) -> None:
    for many, count in ((left, right), (right, left)):
        if isinstance(many, str | list) and isinstance(count, int) and len(many) * count > LARGEST:
            raise NotWorkedOut("it comes to too long a text")
