"""A stand-in for a hook script: it hands everything through, and writes what came in and what went out into a policy file.

It is started by an agent in place of the script, so it imports little, and nothing that goes wrong with the
writing may change what the agent gets: payload, answer, complaint and end of the script are handed on as they are.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

KEPT_BYTES = 256 << 10
"""Of a payload or an answer; a larger one is handed on but not recorded."""
SILENCE_S = 0.5
"""How long something that the script has started may hold its output after its end."""
VOLATILE = frozenset({"session_id", "prompt_id", "tool_use_id", "transcript_path", "agent_id", "ts"})
"""What differs between two calls that are the same."""

_HEAD = """\
# What hook scripts were given, and what they answered; written by `hookproof record`.
# Payloads may hold what you would not publish: read this file before you share it.
# A sample without `expect` must be answered as it was; `hookproof check --hook SCRIPT --policy THIS` tells.
format: 1
samples:
"""


def default_place(command: Sequence[str]) -> Path:
    """NAME.policy.yaml in the project's folder, by the name of the script."""
    name = next((word for word in command if re.search(r"\.\w+$", word)), command[0])
    stem = Path(name).name.partition(".")[0] or "hook"
    return Path(os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()) / f"{stem}.policy.yaml"


def record(command: Sequence[str], into: Path) -> int:
    """Run the script in this process's place and note what happened. Gives its exit code; dies of its signal."""
    began = time.monotonic()
    cwd = os.getcwd()
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    except OSError as error:
        # as a shell would say it, so that the agent sees what it would have seen
        missing = isinstance(error, FileNotFoundError)
        sys.stderr.write(f"{command[0]}: {'not found' if missing else error.strerror}\n")
        return 127 if missing else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: _hand_on(child, number))
    payload, stdout, stderr = bytearray(), bytearray(), bytearray()
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    feeding = threading.Thread(target=_pump, args=(0, child.stdin.fileno(), payload, child.stdin), daemon=True)
    hearing = [
        threading.Thread(target=_pump, args=(pipe.fileno(), number, kept, None), daemon=True)
        for pipe, number, kept in ((child.stdout, 1, stdout), (child.stderr, 2, stderr))
    ]
    for thread in (feeding, *hearing):
        thread.start()
    code = child.wait()
    seconds = time.monotonic() - began
    until = time.monotonic() + SILENCE_S
    for thread in hearing:
        thread.join(max(0.0, until - time.monotonic()))
    feeding.join(0.05)
    # whatever is wrong with the file or the payload: the agent gets the script's own end
    with suppress(Exception):
        write(into, sample(bytes(payload), bytes(stdout), bytes(stderr), code, seconds, command, cwd))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _pump(source: int, target: int, kept: bytearray, close: Any) -> None:
    """Hand on what comes, as it comes, and keep a copy."""
    with suppress(OSError):
        while piece := os.read(source, 65536):
            if len(kept) <= KEPT_BYTES:
                kept += piece
            view = memoryview(piece)
            with suppress(OSError):
                while view:
                    view = view[os.write(target, view) :]
    if close is not None:
        with suppress(OSError):
            close.close()


def _hand_on(child: subprocess.Popen[bytes], number: int) -> None:
    with suppress(OSError):
        child.send_signal(number)


# ---- one sample ----------------------------------------------------------------------------------


def sample(
    payload: bytes, stdout: bytes, stderr: bytes, code: int, seconds: float, command: Sequence[str], cwd: str
) -> tuple[str, str]:
    """The id of a sample and its lines in the file."""
    if max(map(len, (payload, stdout, stderr))) > KEPT_BYTES:
        raise ValueError("too large to be kept")
    text = _neutral(payload.decode("utf-8", "surrogateescape"), cwd)
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError("no object")
    said, complained = (_neutral(data.decode("utf-8", "replace"), cwd) for data in (stdout, stderr))
    same = {key: value for key, value in content.items() if key not in VOLATILE}
    digest = hashlib.sha256(json.dumps([same, said, complained, code, list(command)], sort_keys=True).encode()).hexdigest()[:10]
    event = str(content.get("hook_event_name") or content.get("event") or "")
    tool = content.get("tool_name") or (content["tool"].get("name") if isinstance(content.get("tool"), dict) else "")
    words = re.sub(r"[^a-z0-9]+", "-", f"{tool or event or 'payload'}".lower()).strip("-")
    ident = f"{words or 'payload'}-{digest}"
    saw: dict[str, Any] = {"exit": code} if code >= 0 else {"signal": -code}
    saw |= {"stdout": said, "stderr": complained, "seconds": round(seconds, 3)}
    pretty = json.dumps(content, indent=2).replace("\n", "\n      ")
    lines = [f"  - id: {ident}", *([f"    event: {json.dumps(event)}"] if event else [])]
    lines += [f"    saw: {_flow(saw)}", "    json: |", f"      {pretty}", ""]
    return ident, "\n".join(lines)


def _neutral(text: str, cwd: str) -> str:
    """The folders of this machine become those that stand for any; a check puts its own in their place."""
    project = os.environ.get("CLAUDE_PROJECT_DIR") or cwd
    home = os.environ.get("HOME", "")
    for path, name in ((project, "/home/dev/project"), (home, "/home/dev")):
        if len(path) > 1 and path not in ("/home/dev", name):
            text = re.sub(rf"{re.escape(path)}(?![\w.-])", name, text)
    return text


def _flow(values: dict[str, Any]) -> str:
    """A mapping on one line, as YAML reads it."""
    return f"{{{', '.join(f'{key}: {_scalar(value)}' for key, value in values.items() if value != '')}}}"


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return f"{value:.3f}" if isinstance(value, float) else str(value)
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    number = ord(letter)
    # half a pair of surrogates is no character: YAML has no way to write it
    return "\\ufffd" if 0xD800 <= number <= 0xDFFF else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def write(into: Path, made: tuple[str, str]) -> None:
    """Append a sample, unless the same one stands there already. Several may write at once."""
    ident, lines = made
    into.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(into, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        there = stream.read()
        if f"id: {ident}\n".encode() in there:
            return
        head = b"" if there else _HEAD.encode()
        gap = b"\n" if there and not there.endswith(b"\n") else b""
        data = head + gap + lines.encode("utf-8")
        try:
            while data:
                data = data[stream.write(data) or 0 :]
        except OSError:
            # half a sample would spoil the file
            stream.truncate(len(there))
            raise
