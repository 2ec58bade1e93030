"""Stands in for a tool of the program: notes its input, then does what the tool would, as far as rows need it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

TYPE_CHECKING = False  # type checkers take it for true; importing typing would cost milliseconds
if TYPE_CHECKING:
    from typing import Any


def main() -> int:
    """The input is JSON on stdin; the file name is the call's id and the tool's name."""
    given = json.load(sys.stdin)
    with open(f"{sys.argv[0]}.got", "a", encoding="ascii") as file:
        file.write(json.dumps(given) + "\n")
    tool = os.path.basename(sys.argv[0]).partition(".")[2]
    given = given if isinstance(given, dict) else {}
    return TOOLS.get(tool, mcp)(given, tool)


def bash(given: dict[str, Any], tool: str) -> int:
    """Runs a command of a shell; its limit is in milliseconds."""
    command = re.sub("[\ud800-\udfff]", "\ufffd", str(given.get("command", "")))
    try:
        limit = float(given.get("timeout") or 120_000) / 1000
    except (TypeError, ValueError):
        limit = 120.0
    with subprocess.Popen(
        ["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            stdout, stderr = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            child.kill()
            print(f"Command timed out after {limit:.0f}s", file=sys.stderr)
            return 99
    sys.stdout.buffer.write(stdout)
    sys.stderr.buffer.write(stderr)
    return child.returncode if 0 <= child.returncode < 100 else 99


def write(given: dict[str, Any], tool: str) -> int:
    """Writes a file."""
    path = given["file_path"]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(given["content"])
    print(f"File created successfully at: {path}")
    return 0


def edit(given: dict[str, Any], tool: str) -> int:
    """Replaces a text in a file."""
    with open(given["file_path"], encoding="utf-8") as file:
        text = file.read()
    with open(given["file_path"], "w", encoding="utf-8") as file:
        file.write(text.replace(given["old_string"], given["new_string"]))
    print(f"The file {given['file_path']} has been updated.")
    return 0


def read(given: dict[str, Any], tool: str) -> int:
    """Shows a file."""
    try:
        with open(given["file_path"], encoding="utf-8", errors="replace") as file:
            sys.stdout.write(file.read())
    except OSError as error:
        print(f"File does not exist: {error}", file=sys.stderr)
        return 1
    return 0


def create_task(given: dict[str, Any], tool: str) -> int:
    """Adds to the list of things to do; its number is that of the calls so far."""
    notes = os.path.dirname(sys.argv[0])
    number = sum(name.endswith(".TaskCreate.got") for name in os.listdir(notes))
    print(f"Task #{number} created successfully: {given.get('subject', '')}")
    return 0


def update_task(given: dict[str, Any], tool: str) -> int:
    """Changes something in it."""
    print(f"Updated task #{given.get('taskId')}")
    return 0


def mcp(given: dict[str, Any], tool: str) -> int:
    """A tool of a server that says what it is told to say; the one named fail does so as an error."""
    text = given.get("reply", "FAILTEXT" if tool == "fail" else "MCPOUT")
    print(text, end="", file=sys.stderr if tool == "fail" else sys.stdout)
    return 1 if tool == "fail" else 0


TOOLS = {"Bash": bash, "Write": write, "Edit": edit, "Read": read, "TaskCreate": create_task, "TaskUpdate": update_task}

if __name__ == "__main__":
    sys.exit(main())
