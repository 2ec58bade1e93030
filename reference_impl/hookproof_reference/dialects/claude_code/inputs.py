"""The tools of the program: what their input must be, and what their results look like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...tools import ToolEnd
from .versions import Version

SERIAL = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
"""Tools of which one call waits for the other; the calls of all others in a batch run together (observed)."""

Kinds = Mapping[str, tuple[str, bool]]

INPUTS: dict[str, Kinds] = {
    "Bash": {
        "command": ("string", True),
        "description": ("string", False),
        "timeout": ("number", False),
        "run_in_background": ("boolean", False),
        "dangerouslyDisableSandbox": ("boolean", False),
    },
    "Write": {"file_path": ("string", True), "content": ("string", True)},
    "Read": {"file_path": ("string", True), "offset": ("number", False), "limit": ("number", False)},
    "Edit": {
        "file_path": ("string", True),
        "old_string": ("string", True),
        "new_string": ("string", True),
        "replace_all": ("boolean", False),
    },
}
"""Tool -> field -> its kind, and whether it must be there."""


class BadInput(ValueError):
    """A hook's input that does not fit the tool's schema; the message says where, `event` which hook's it was."""

    def __init__(self, message: str, event: str) -> None:
        super().__init__(message)
        self.event = event


def kind_of(value: Any) -> str:
    """The name of a JSON value's kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (str, "string"),
        ((int, float), "number"),
        (list, "array"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def unfit(tool: str, arguments: Any) -> str | None:
    """Why the model's own input is none of the tool's; None: it is, or nothing is known of the tool."""
    fields = INPUTS.get(tool)
    if fields is None or not isinstance(arguments, dict):
        return None
    missing = [
        f"The required parameter `{name}` is missing" for name, (_, must) in fields.items() if must and name not in arguments
    ]
    unknown = [f"An unexpected parameter `{name}` was provided" for name in arguments if name not in fields]
    wrong = [*missing, *unknown]
    return f"{tool} failed due to the following issue{'s' * (len(wrong) > 1)}:\n" + "\n".join(wrong) if wrong else None


def checked(event: str, tool: str, rewrite: dict[str, Any], version: Version) -> dict[str, Any]:
    """A rewritten input as the tool takes it. Raises BadInput.

    The newer version drops unknown keys and reads texts as the numbers and booleans that they should be;
    the older one passes on both as they are (observed).
    """
    fields = INPUTS.get(tool)
    if fields is None:
        return rewrite
    taken = {}
    for name, (kind, must) in fields.items():
        if name not in rewrite:
            if must:
                raise BadInput(f"The required parameter `{name}` is missing", event)
            continue
        value = _read_as(kind, rewrite[name]) if version.checks_types else rewrite[name]
        if kind_of(value) != kind and (version.checks_types or kind == "string" or kind_of(value) != "string"):
            why = f"The parameter `{name}` type is expected as `{kind}` but provided as `{kind_of(value)}`"
            raise BadInput(why, event)
        taken[name] = value
    return taken if version.checks_types else rewrite


def _read_as(kind: str, value: Any) -> Any:
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    if kind == "number" and isinstance(value, str):
        try:
            return float(value) if "." in value else int(value)
        except ValueError:
            return value
    return value


def is_mcp(tool: str) -> bool:
    """Whether a tool is one of an MCP server."""
    return tool.startswith("mcp__")


def response(tool: str, arguments: Any, end: ToolEnd) -> Any:
    """What PostToolUse handlers see of a result: its shape is the tool's."""
    text, given = end.text, arguments if isinstance(arguments, dict) else {}
    if tool == "Bash":
        return {
            "stdout": text.rstrip("\n"),
            "stderr": end.stderr.rstrip("\n"),
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
        }
    if tool == "Read":
        lines = text.count("\n") + 1
        file = {"filePath": given.get("file_path", ""), "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}
        return {"type": "text", "file": file}
    if tool == "Write":
        path, content = given.get("file_path", ""), given.get("content", "")
        return {"type": "create", "filePath": path, "content": content, "structuredPatch": [], "originalFile": None}
    if is_mcp(tool):
        return [{"type": "text", "text": text}]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def breaks(tool: str, output: Any, version: Version) -> bool:
    """Whether a replaced output of an MCP tool is of a kind on which the program itself fails (observed)."""
    return version.mcp_output_is_read_as_text and is_mcp(tool) and not isinstance(output, str | list | None)


def fits_shape(tool: str, output: Any) -> bool:
    """Whether a replaced output has the shape of the tool's own; else it is ignored (observed)."""
    if tool == "Bash":
        kinds = {"stdout": "string", "stderr": "string", "interrupted": "boolean"}
        return isinstance(output, dict) and all(kind_of(output.get(key)) == kind for key, kind in kinds.items())
    if tool in ("Read", "Write"):
        return isinstance(output, dict) and isinstance(output.get("type"), str)
    return True


def shown(tool: str, output: Any, text: str) -> Any:
    """What the model receives of a response; `text` is what the tool itself said."""
    if tool == "Bash" and isinstance(output, dict):
        parts = [str(output.get(key, "")) for key in ("stdout", "stderr")]
        return "\n".join(part for part in parts if part) or "(Bash completed with no output)"
    if tool == "Read" and isinstance(output, dict) and isinstance(output.get("file"), dict):
        return output["file"].get("content", text)
    if isinstance(output, list) and all(isinstance(block, dict) and block.get("type") == "text" for block in output):
        return "\n".join(str(block.get("text", "")) for block in output)
    if is_mcp(tool) and not isinstance(output, str | list):
        return f"({tool} completed with no output)" if output is None else json.dumps(output, separators=(",", ":"))
    return text if tool == "Write" and isinstance(output, dict) and output.get("type") == "create" else output


def failure(tool: str, end: ToolEnd) -> str:
    """What the model and PostToolUseFailure handlers read of a failed call."""
    if tool != "Bash" or end.kind == "raised":
        return end.text
    parts = [f"Exit code {end.code}", end.stderr.rstrip("\n"), end.stdout.rstrip("\n")]
    return "\n".join(part for part in parts if part)
