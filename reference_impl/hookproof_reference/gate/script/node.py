"""A JavaScript or TypeScript script is read by its words."""

from __future__ import annotations

import re

from ..pattern import pattern
from .traits import INPUT_KEYS, REFUSAL, UNREADABLE, Traits, common, line_of

_ENVIRONMENT = (
    r"process\.env\.(?:(?:CLAUDE_)?TOOL_(?:INPUT|NAME|RESULT|OUTPUT)|CLAUDE_(?:FILE_PATH|HOOK_EVENT|EVENT|PROMPT))\w*",
)
_STRING = r"""(["'`])((?:\\.|(?!\1).)*)\1"""


def read(text: str, traits: Traits) -> str:
    """Note what the script does; gives its text without comments."""
    code = _without_comments(text.lstrip("\ufeff").replace("\r\n", "\n"))
    lines = code.split("\n")
    for match in re.finditer(r"process\.exit\(\s*(-?\d*)\s*\)|process\.exitCode\s*=\s*(\d+)", code):
        number = match[1] or match[2] or "0"
        line = line_of(code, match.start())
        if number == "2":
            traits.add("exit-2", line)
        elif number == "0":
            traits.add("exit-0", line)
        else:
            why = " ".join(lines[max(0, line - 3) : line])
            traits.add("exit-other", line, why)
    for match in re.finditer(
        r"(?:console\.(log|info|error|warn)|process\.(stdout|stderr)\.write)\(\s*(?=(.{0,400}))", code, re.S
    ):
        _read_output(match, code, traits)
    _read_overruled(code, traits)
    caught, catching = _try_spans(code)
    for match in re.finditer(r"throw\s+new\s+\w*Error\(\s*" + _STRING, code):
        if not any(start < match.start() < end for start, end in caught) and REFUSAL.search(match[2]):
            traits.add("exit-other", line_of(code, match.start()), match[2])
    lines_caught = {n for start, end in catching for n in range(line_of(code, start), line_of(code, end) + 1)}
    traits.mark("exit-2", lines_caught, UNREADABLE)
    _read_entry(code, traits)
    if "stdin" not in code and not re.search(r"readFileSync\(\s*(?:0|[\"']/dev/stdin)|Bun\.stdin|Deno\.stdin", code):
        argument = re.search(r"process\.argv\[2", code)
        if argument is not None and "JSON.parse" in code:
            traits.add("input-argument", line_of(code, argument.start()), "process.argv[2]")
    payload = re.search(r"(?<![.\w])(\w+)\s*=\s*JSON\.parse\(", code)
    if payload is not None:
        key = re.search(rf"(?<![.\w]){payload[1]}\??\.({'|'.join(INPUT_KEYS)})\b", code)
        if key is not None:
            traits.add("payload-key", line_of(code, key.start()), key[1])
    if "stop_hook_active" in code:
        traits.add("stop-hook-active", 1)
    common(code, traits, _ENVIRONMENT)
    return code


def _read_overruled(code: str, traits: Traits) -> None:
    """process.exit(0) at the outermost level, behind an exitCode of 2."""
    last = re.search(r"^process\.exit\(\s*0\s*\)", code, re.M)
    if last is not None and re.search(r"process\.exitCode\s*=\s*2\b", code[: last.start()]) is not None:
        traits.add("exit-overruled", line_of(code, last.start()), "process.exit(0), which overrules exitCode")


def _try_spans(code: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """From where to where exceptions are caught, and the catch blocks that belong to reading the input."""
    if re.search(r"\.catch\s*\(|uncaughtException|unhandledRejection", code):
        return [(0, len(code))], []
    caught: list[tuple[int, int]] = []
    catching: list[tuple[int, int]] = []
    for match in re.finditer(r"\btry\s*\{", code):
        end = _closing(code, match.end() - 1)
        handler = re.compile(r"\s*catch\s*(?:\([^)]*\)\s*)?\{").match(code, end + 1)
        if handler is None:
            continue
        caught.append((match.start(), end))
        body = code[match.end() : end]
        for name in set(re.findall(r"\b(\w+)\s*\(", body)):
            function = re.search(rf"\bfunction\s+{name}\s*\([^)]*\)\s*\{{|\b(?:const|let)\s+{name}\s*=[^{{;]*=>\s*\{{", code)
            if function is not None:
                caught.append((function.start(), _closing(code, function.end() - 1)))
        if re.search(r"JSON\.parse|readFileSync|stdin", body):
            catching.append((handler.start(), _closing(code, handler.end() - 1)))
    return caught, catching


def _closing(code: str, opening: int) -> int:
    """Where the brace at `opening` is closed; the end of the text where it is not."""
    depth = 0
    for piece in _PIECES.finditer(code, opening):
        if piece[0] == "{":
            depth += 1
        elif piece[0] == "}":
            depth -= 1
            if depth == 0:
                return piece.start()
    return len(code)


_PIECES = pattern(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[{}]")


def _without_comments(text: str) -> str:
    pieces = re.compile(r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(/\*.*?\*/)|(?<![:\\/])(//[^\n]*)", re.S)
    return pieces.sub(lambda m: m[1] or re.sub(r"[^\n]", "", m[0]), text)


def _read_output(match: re.Match[str], code: str, traits: Traits) -> None:
    channel = match[1] or match[2]
    line = line_of(code, match.start())
    argument = match[3]
    if channel in ("error", "warn", "stderr"):
        traits.add("stderr", line)
        if argument.startswith("JSON.stringify"):
            traits.add("json-on-stderr", line)
        text = re.match(_STRING, argument, re.S)
        if text is not None and REFUSAL.search(text[2]):
            traits.add("says-no", line)
        return
    text = re.match(_STRING, argument, re.S)
    if "JSON.stringify" in argument.split(";")[0].split("\n")[0] or argument.startswith("JSON.stringify"):
        traits.add("json", line)
    elif text is not None and text[2].strip():
        traits.add("json" if text[2].lstrip().startswith(("{", "${")) else "prose", line, text[2])
    elif argument.startswith("{"):
        traits.add("dict-printed", line)


def _read_entry(code: str, traits: Traits) -> None:
    """Whether a file that only defines functions calls one of them."""
    names = re.findall(r"^(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)", code, re.M)
    names += re.findall(r"^(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>", code, re.M)
    names += re.findall(
        r"^(?:module\.)?exports(?:\.(\w+))?\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|\{|class\b)", code, re.M
    )
    names += re.findall(r"^export\s+default\s+(?:async\s+)?(?:function\b\s*(\w*)|\([^)]*\)\s*=>|\{)", code, re.M)
    if not names:
        return
    outside = _outside(code)
    if not re.search(r"\w\s*\(|=>", re.sub(r"\brequire\s*\(|\bimport\b[^\n]*|\bexport\b[^\n]*", "", outside)):
        traits.add("no-entry-point", 1, next((name for name in reversed(names) if name), "what it exports"))


def _outside(code: str) -> str:
    """The text at depth 0 of braces, without the heads of functions."""
    kept: list[str] = []
    depth = 0
    for piece in re.finditer(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[{}]|[^{}\"'`]+|.", code, re.S):
        text = piece[0]
        if text == "{":
            depth += 1
        elif text == "}":
            depth = max(0, depth - 1)
        elif depth == 0:
            kept.append(text)
    joined = "".join(kept)
    joined = re.sub(
        r"(?:(?:module\.)?exports(?:\.\w+)?\s*=\s*)?(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*\w*\s*\([^)]*\)[^\n;]*",
        "",
        joined,
    )
    return re.sub(
        r"(?:(?:export\s+)?const\s+\w+|(?:module\.)?exports(?:\.\w+)?|export\s+default)\s*=?\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>[^\n;]*",
        "",
        joined,
    )
