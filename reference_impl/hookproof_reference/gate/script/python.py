"""A Python script is read by its syntax tree."""

from __future__ import annotations

import ast
import json
import re
import warnings

from ..pattern import pattern
from .traits import INPUT_KEYS, REFUSAL, UNREADABLE, Traits, common
from .twice import in_python

_ENVIRONMENT = (
    r"""environ(?:\.get\(|\[)\s*["'](?:(?:CLAUDE_)?TOOL_(?:INPUT|NAME|RESULT|OUTPUT)|CLAUDE_(?:FILE_PATH|HOOK_EVENT|EVENT|PROMPT))\w*["']""",
    r"""getenv\(\s*["'](?:(?:CLAUDE_)?TOOL_(?:INPUT|NAME|RESULT|OUTPUT)|CLAUDE_(?:FILE_PATH|HOOK_EVENT|EVENT|PROMPT))\w*["']""",
)

_EXITS = ("sys.exit", "exit", "quit", "os._exit")


def read(text: str, traits: Traits) -> str:
    """Note what the script does; gives its text without comments and docstrings."""
    source = text.lstrip("\ufeff").replace("\r\n", "\n")
    try:
        with warnings.catch_warnings():
            # what Python thinks of somebody's script is not for the reader of settings
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        traits.add("syntax-error", getattr(error, "lineno", 1) or 1, getattr(error, "msg", None) or "it cannot be read")
        return source
    code = _without_words(tree, source)
    lines = code.split("\n")
    _read_calls(tree, lines, traits)
    _read_entry(tree, traits)
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            _read_try(node, traits)
    _note_unreadable(tree, traits)
    in_python(tree, traits)
    common(code, traits, _ENVIRONMENT)
    return code


def _note_unreadable(tree: ast.Module, traits: Traits) -> None:
    """Mark each exit code 2 that stands where reading the input has failed."""
    lines = {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and any(re.search(r"json\.load|stdin", ast.unparse(inner)) for inner in node.body)
        for handler in node.handlers
        for number in range(handler.lineno, 1 + (handler.end_lineno or handler.lineno))
    }
    traits.mark("exit-2", lines, UNREADABLE)


def _without_words(tree: ast.Module, source: str) -> str:
    """The text with docstrings and comments blanked, line by line as it was."""
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""
    return "\n".join(re.sub(r"(?:^|\s)#(?![^\"']*[\"'][^\"']*$).*", "", line) for line in lines)


def _name(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return ""


def _read_calls(tree: ast.Module, lines: list[str], traits: Traits) -> None:
    constants = _constants(tree)
    traits.functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    _read_results(tree, lines, constants, traits)
    dicts = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    guarded = _caught_lines(tree)
    optional = _option_lines(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc.func) == "SystemExit":
            _read_exit(node.exc, lines, constants, traits)
        if isinstance(node, ast.Raise | ast.Assert) and node.lineno not in guarded:
            said = _name(node.exc) if isinstance(node, ast.Raise) and node.exc is not None else ""
            said = _name(node.msg) if isinstance(node, ast.Assert) and node.msg is not None else said
            if "SystemExit" not in said and REFUSAL.search(said):
                traits.add("exit-other", node.lineno, said)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift) and _name(node.left) == "print":
            traits.add("syntax-error", node.lineno, "print >> stream is of Python 2; here it raises TypeError")
        if not isinstance(node, ast.Call):
            continue
        function = _name(node.func)
        if function in _EXITS:
            if node.lineno not in optional:
                _read_exit(node, lines, constants, traits)
        elif function == "print":
            _read_print(node, dicts, traits)
        elif function in ("sys.stdout.write", "json.dump") and node.args:
            if function == "json.dump":
                stream = _name(node.args[1]) if len(node.args) > 1 else ""
                traits.add("json-on-stderr" if "stderr" in stream else "json", node.lineno)
            else:
                _read_output(node.args[0], node.lineno, dicts, traits)
        elif function == "sys.stderr.write" and node.args:
            traits.add("stderr", node.lineno)
            if REFUSAL.search(_name(node.args[0])):
                traits.add("says-no", node.lineno)
        elif _reads_a_part(function, node.args):
            traits.add("partial-read", node.lineno)
    _read_keys(tree, traits)
    text = "\n".join(lines)
    logs = re.search(r"basicConfig\([^)]*stream\s*=\s*sys\.stdout|StreamHandler\(\s*sys\.stdout", text)
    if logs is not None:
        traits.add("prose", text.count("\n", 0, logs.start()) + 1, "the log")
    if "stdin" not in text and re.search(r"os\.read\(0|open\(0|fileinput|input\(\)", text) is None:
        argument = re.search(r"sys\.argv\[1", text)
        if argument is not None:
            traits.add("input-argument", text.count("\n", 0, argument.start()) + 1, "sys.argv[1]")
    if "stop_hook_active" in text:
        traits.add("stop-hook-active", 1)


def _caught_lines(tree: ast.Module) -> set[int]:
    """The lines from which an exception does not leave the script: in a try, or in a function that one calls."""
    caught: set[int] = set()
    called: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            caught.update(range(node.lineno, node.body[-1].end_lineno or node.lineno))
            caught.add(node.body[-1].end_lineno or node.lineno)
            called |= {_name(inner.func) for body in node.body for inner in ast.walk(body) if isinstance(inner, ast.Call)}
        elif isinstance(node, ast.Assign) and any("excepthook" in _name(target) for target in node.targets):
            return set(range(1, 1 + (tree.body[-1].end_lineno or 0)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in called:
            caught.update(range(node.lineno, 1 + (node.end_lineno or node.lineno)))
    return caught


def _reads_a_part(function: str, arguments: list[ast.expr]) -> bool:
    if function == "os.read":
        return len(arguments) == 2 and _name(arguments[0]) in ("0", "sys.stdin.fileno()")
    return function in ("sys.stdin.read", "sys.stdin.buffer.read") and bool(arguments)


def _option_lines(tree: ast.Module) -> set[int]:
    """The lines that run only with an option in the command line, such as --selftest: no answer to a call."""
    return {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        and re.search(r"""sys\.argv""", _name(node.test))
        and re.search(r"""["']--?\w""", _name(node.test))
        for number in range(node.body[0].lineno, 1 + (node.body[-1].end_lineno or node.body[-1].lineno))
    }


def _read_exit(node: ast.Call, lines: list[str], constants: dict[str, int], traits: Traits) -> None:
    if not node.args:
        traits.add("exit-0", node.lineno)
        return
    value = node.args[0]
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        traits.add("exit-text", node.lineno)
        traits.add("exit-other", node.lineno, _name(value))
        return
    if isinstance(value, ast.IfExp):
        codes = {_number(value.body, constants), _number(value.orelse, constants)}
        for code in codes - {None}:
            # `1 if found else 0`: the one that is not 0 is the refusal
            _note_exit(code, node.lineno, "refused" if 0 in codes else "", traits)
        return
    if isinstance(value, ast.Name) and value.id in traits.functions:
        traits.add("exit-other", node.lineno, f"refused with the function {value.id} itself")
        return
    if _is_truth(value):
        # exit(True) ends with 1
        traits.add("exit-other", node.lineno, "refused when true")
        return
    code = _number(value, constants)
    if code is not None:
        _note_exit(code, node.lineno, _around(lines, node.lineno), traits)


def _is_truth(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return _name(value.func) in ("any", "bool")
    return isinstance(value, ast.Compare)


def _read_keys(tree: ast.Module, traits: Traits) -> None:
    """Keys of the tool's input that are looked for in the payload itself."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
    payloads = {
        name
        for name, values in bound.items()
        if len(values) == 1 and isinstance(values[0], ast.Call) and _PAYLOAD.fullmatch(_name(values[0])) is not None
    }
    for node in ast.walk(tree) if payloads else ():
        holder: ast.expr | None = None
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            holder, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            holder, key = node.func.value, node.args[0]
        if isinstance(holder, ast.Name) and holder.id in payloads and isinstance(key, ast.Constant) and key.value in INPUT_KEYS:
            traits.add("payload-key", holder.lineno, str(key.value))


_PAYLOAD = pattern(r"json\.loads?\((?:sys\.stdin(?:\.buffer)?(?:\.read\(\))?|input\(\))\)")


def _note_exit(code: int | None, line: int, why: str, traits: Traits) -> None:
    if code == 2:
        traits.add("exit-2", line)
    elif code == 0:
        traits.add("exit-0", line)
    else:
        traits.add("exit-other", line, why)


def _number(value: ast.expr, constants: dict[str, int]) -> int | None:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = _number(value.operand, constants)
        return None if inner is None else -inner
    if isinstance(value, ast.Constant) and isinstance(value.value, int):
        return int(value.value)
    return constants.get(value.id) if isinstance(value, ast.Name) else None


def _constants(tree: ast.Module) -> dict[str, int]:
    """Names that the module binds once to a whole number."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and type(node.value.value) is int
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _read_results(tree: ast.Module, lines: list[str], constants: dict[str, int], traits: Traits) -> None:
    """What a function returns that is called inside of sys.exit(...) is an exit code."""
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and _name(node.func) in (*_EXITS, "SystemExit")
            and node.args
            and isinstance(node.args[0], ast.Call)
        ):
            called = functions.get(_name(node.args[0].func))
            for inner in ast.walk(called) if called is not None else ():
                if isinstance(inner, ast.Return) and inner.value is not None:
                    code = _number(inner.value, constants)
                    if code is not None:
                        _note_exit(code, inner.lineno, _around(lines, inner.lineno), traits)


def _around(lines: list[str], number: int) -> str:
    """The lines of the same block just above an exit: they say why."""
    taken = [lines[number - 1]]
    indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[max(0, number - 4) : number - 1]):
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            taken.append(line if re.match(r"\s*except\b", line) else "")
            break
        taken.append(line)
    return " ".join(reversed(taken))


def _read_print(node: ast.Call, dicts: set[str], traits: Traits) -> None:
    stream = next((_name(keyword.value) for keyword in node.keywords if keyword.arg == "file"), "")
    if "stderr" in stream:
        traits.add("stderr", node.lineno)
        if node.args and "json.dumps" in _name(node.args[0]):
            traits.add("json-on-stderr", node.lineno)
        if any(REFUSAL.search(_name(argument)) for argument in node.args):
            traits.add("says-no", node.lineno)
    elif not stream and node.args:
        _read_output(node.args[0], node.lineno, dicts, traits)


def _read_output(value: ast.expr, line: int, dicts: set[str], traits: Traits) -> None:
    """What one print to stdout gives: JSON, a dict that is no JSON, or prose."""
    shown = _name(value)
    while isinstance(value, ast.BinOp):
        value = value.left
    if isinstance(value, ast.Dict) or shown in dicts or (isinstance(value, ast.Call) and shown.startswith(("str({", "repr({"))):
        traits.add("dict-printed", line)
    elif "json.dumps" in shown or "to_json" in shown:
        traits.add("json", line)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        _read_text(value.value, line, traits)
    elif isinstance(value, ast.JoinedStr):
        opening = value.values[0]
        if isinstance(opening, ast.Constant) and isinstance(opening.value, str) and not opening.value.lstrip().startswith("{"):
            traits.add("prose", line, opening.value)


def _read_text(text: str, line: int, traits: Traits) -> None:
    if not text.strip():
        return
    if text.lstrip().startswith("{"):
        try:
            json.loads(text)
        except ValueError:
            traits.add("not-json", line, text[:60])
        else:
            traits.add("json", line)
    else:
        traits.add("prose", line, text)


def _read_entry(tree: ast.Module, traits: Traits) -> None:
    """Whether anything is done at all when the file is run, and whether a result of main is used."""
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    defined = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    if not defined:
        return
    passive = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    acting = [
        statement
        for statement in tree.body
        if not isinstance(statement, passive)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        and not (isinstance(statement, ast.Assign | ast.AnnAssign) and not _calls(statement, functions))
    ]
    if not acting or not any(_acts(statement) for statement in acting):
        traits.add("no-entry-point", defined[-1].lineno, defined[-1].name)
        return
    for statement in acting:
        for node in ast.walk(statement):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = functions.get(_name(node.value.func))
                if called is not None and _returns_refusal(called):
                    traits.add("result-dropped", node.lineno, called.name)
                    traits.add("says-no", node.lineno)


def _calls(node: ast.AST, functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> bool:
    return any(isinstance(n, ast.Call) and _name(n.func) in functions for n in ast.walk(node))


def _acts(node: ast.AST) -> bool:
    if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and _name(node.test.left) == "__name__":
        compared = node.test.comparators[0]
        if isinstance(compared, ast.Constant) and compared.value != "__main__":
            return False
    return any(isinstance(n, ast.Call | ast.Raise) for n in ast.walk(node))


def _returns_refusal(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Return)
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
        and node.value.value != 0
        for node in ast.walk(function)
    )


def _read_try(node: ast.Try, traits: Traits) -> None:
    body = " ".join(_name(n) if isinstance(n, ast.expr) else ast.unparse(n) for n in node.body)
    ending = [n for each in node.finalbody for n in ast.walk(each) if isinstance(n, ast.Call) and _name(n.func) in _EXITS]
    if (
        ending
        and all(not call.args or _name(call.args[0]) == "0" for call in ending)
        and re.search(r"\bexit\(2\)|SystemExit\(2\)", body)
    ):
        traits.add("exit-overruled", ending[0].lineno, "its finally")
    for handler in node.handlers:
        caught = _name(handler.type) if handler.type is not None else "BaseException"
        raises = any(isinstance(n, ast.Raise) for n in ast.walk(handler))
        ends = [n for n in ast.walk(handler) if isinstance(n, ast.Call) and _name(n.func) in ("sys.exit", "exit", "os._exit")]
        opens = not raises and all(not call.args or _name(call.args[0]) == "0" for call in ends)
        if ("BaseException" in caught or "SystemExit" in caught) and opens and re.search(r"\bexit\(2\)|SystemExit\(2\)", body):
            traits.add("exit-swallowed", handler.lineno, caught)
        elif opens and re.search(r"json\.load|stdin", body) and _gives_up(handler):
            traits.add("unreadable-opens", handler.lineno, caught)


def _gives_up(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return (
        isinstance(last, ast.Pass)
        or (isinstance(last, ast.Return) and (last.value is None or _name(last.value) in ("0", "None")))
        or (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and "exit" in _name(last.value.func))
    )
