"""A described handler becomes a small program that notes what happens to it, and then acts.

All probes are one fixed `/bin/sh` program, `probe.sh`. A probe is a link to it and a file beside the link
that says how it acts; the link's folder is the ledger. The program is written once per run and before any
process starts, because a file that is open for writing in one thread cannot be started by another
(ETXTBSY), which a runner that fails open would turn into "the tool ran".

Beside `h1` a probe finds `h1.act` and `h1.live` (see `liveness.py`), and writes the lines of `journal`,
`h1.RUN.s` (its time is the start), `h1.RUN.in` (stdin), `h1.RUN.e` (its time is the end) and, where the case
asks for it, `h1.RUN.env`, `h1.RUN.cwd` and `h1.RUN.args`.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from .cases import Child
from .dialects import Answer
from .errors import HarnessError

if TYPE_CHECKING:
    from .loopback import Loopback
    from .mcpserver.host import McpHost

INLINE = 4096
"""Longer texts (in bytes), and those with a NUL, lie in a file of their own."""
TICK = 0.05
"""Seconds of one short sleep of a probe that ignores TERM."""
ROOM = 48 * 1024 * 1024
"""Bytes that must be free where worlds are laid out in memory."""
ROOM_OF_A_CASE = 32 * 1024
"""Bytes that the probes of a case may need for their ledger, ..."""
FILES_OF_A_CASE = 16
"""... and files."""


@dataclass(frozen=True, slots=True)
class Act:
    """What one probe does; times are seconds. The order is that of `cases.Handler`."""

    answers: tuple[Answer, ...] = (Answer(),)
    """One per run; the last repeats."""
    stdout_bytes: int | None = None
    """Stdout is filled up to this length: with blanks, or with "x" where the answer prints nothing."""
    signal: str | None = None
    sleep: float = 0
    read: Literal["all", "half", "none"] = "all"
    child: Child | None = None
    ignore_term: bool = False
    wait_for: str | None = None
    wait_for_end: str | None = None
    record: frozenset[str] = frozenset()
    """What to note at the start: of "env", "cwd" and "args"."""
    missing: bool = False
    not_executable: bool = False


class ProbeKit:
    """The program that all probes of a run are links to. Make it before any process starts.

    `folder` must lie on a file system that allows execution, best the one of the worlds (`find_world_folder`).
    """

    def __init__(self, folder: Path) -> None:
        self._loopback: Loopback | None = None
        self._servers: McpHost | None = None
        self._folder = folder
        self._lock = Lock()
        program = folder.absolute() / "probe"
        self._program = str(program)
        self.folder = folder.absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            program.write_bytes(_program())
            program.chmod(0o755)
        except OSError as error:
            raise HarnessError(
                f"cannot write the probes' program into {folder}: {error.strerror}", "set TMPDIR to a folder that can be written"
            ) from error

    @property
    def loopback(self) -> Loopback:
        """The server behind which the probes of handlers answer that are no command; made when first asked for."""
        from .loopback import Loopback  # most runs have no such handler, and an HTTP server costs time to import

        with self._lock:
            self._loopback = self._loopback or Loopback()
            return self._loopback

    @property
    def servers(self) -> McpHost:
        """The MCP servers whose tools are probes; made when first asked for."""
        from .mcpserver.host import McpHost

        with self._lock:
            self._servers = self._servers or McpHost(self._folder)
            return self._servers

    def close(self) -> None:
        """Stop the servers, where there are any."""
        if self._loopback is not None:
            self._loopback.close()
        if self._servers is not None:
            self._servers.close()

    def place(self, folder: Path, name: str, act: Act) -> Path:
        """Lay a probe down in a world's ledger folder, which exists; gives the path to configure as command.

        Raises HarnessError when it cannot be written.
        """
        path = folder / name
        if act.missing:
            return path
        try:
            if act.not_executable:
                shutil.copyfile(self._program, path)
                path.chmod(0o644)
            else:
                self._write(folder, name, act)
        except OSError as error:
            raise HarnessError(
                f"cannot write the probe {name} into {folder}: {error.strerror}", "set TMPDIR to a folder with more room"
            ) from error
        return path

    def _write(self, folder: Path, name: str, act: Act) -> None:
        path = f"{folder}/{name}"
        _put(f"{path}.act", _script(path, act))
        if name.startswith("h"):
            os.mkfifo(f"{path}.live")
        try:
            os.link(self._program, path)
        except OSError:
            os.symlink(self._program, path)


def _program() -> bytes:
    """`probe.sh` without the lines that are only a comment: each start of a probe reads all of it."""
    first, *lines = Path(__file__).with_name("probe.sh").read_bytes().splitlines(keepends=True)
    return b"".join([first, *(line for line in lines if not line.lstrip().startswith(b"#"))])


def find_world_folder() -> Path:
    """Where worlds are laid out: in memory if /dev/shm is a tmpfs with room that allows execution, else in TMPDIR.

    Raises HarnessError when neither can be written and executed from.
    """
    memory, temporary = Path("/dev/shm"), Path(tempfile.gettempdir())
    if _is_tmpfs(memory) and _serves(memory) and free_bytes(memory) >= ROOM:
        return memory
    if _serves(temporary):
        return temporary
    raise HarnessError(
        f"programs cannot be written to and started from {temporary}", "set TMPDIR to a folder that is not mounted noexec"
    )


def _serves(folder: Path) -> bool:
    try:
        flags = os.statvfs(folder).f_flag
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK) and not flags & getattr(os, "ST_NOEXEC", 0)


def free_bytes(folder: Path) -> int:
    """How much can still be written below a folder."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def has_room(folder: Path) -> bool:
    """Whether the probes of a case can be trusted to have written their ledger there."""
    state = os.statvfs(folder)
    return free_bytes(folder) >= ROOM_OF_A_CASE and (state.f_files == 0 or state.f_favail >= FILES_OF_A_CASE)


def _is_tmpfs(folder: Path) -> bool:
    try:
        mounts = Path("/proc/mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    return any(line.split(" ")[1:3] == [str(folder), "tmpfs"] for line in mounts)


def _put(path: str, data: bytes) -> None:
    # plain calls: hundreds of such files are written in a second, and a Path for each costs more than the file
    with open(path, "wb", buffering=0) as file:
        file.write(data)


def _script(path: str, act: Act) -> bytes:
    """The act of the probe at `path` as the shell text that `probe.sh` reads; long texts go into files beside it."""
    # found again in a child's environment, even if it closed everything that it had open
    lines = [b"export HOOKPROOF_PROBE=" + quote(os.fsencode(path))]
    words: dict[str, str | int | None] = {
        "reads": act.read if act.read != "all" else None,
        "record": " ".join(sorted(act.record)),
        "awaits": act.wait_for,
        "awaits_end": act.wait_for_end,
        "stubborn": "yes" if act.ignore_term else None,
        "ticks": math.ceil(act.sleep / TICK) if act.ignore_term else None,
        "naps": f"{act.sleep:.3f}" if act.sleep and not act.ignore_term else None,
        "dies": act.signal,
    }
    if act.child is not None:
        words |= {"child": f"{act.child.sleep:.3f}", "holds": act.child.holds, "session": act.child.session}
    lines += [f"{word}='{value}'".encode() for word, value in words.items() if value]
    answers = [_answer(path, number, answer, act.stdout_bytes) for number, answer in enumerate(act.answers, 1)]
    *firsts, last = answers or [b":"]
    branches = [b"%d) %s ;;" % (run, commands) for run, commands in enumerate(firsts, 1)] + [b"*) %s ;;" % last]
    lines += [b"answer() {", b"case $n in", *branches, b"esac", b"}", b""]
    return b"\n".join(lines)


def _answer(path: str, number: int, answer: Answer, length: int | None) -> bytes:
    """The commands that print one answer, stderr first, and set the exit code."""
    stdout, stderr = encode(answer.stdout), encode(answer.stderr)
    missing = max(0, (length or 0) - len(stdout))
    filler = " " if stdout else "x"
    if missing and len(stdout) + missing <= INLINE:
        stdout, missing = stdout + filler.encode() * missing, 0
    commands = []
    for data, suffix, target in ((stderr, "err", b" >&2"), (stdout, "out", b"")):
        if len(data) > INLINE or b"\0" in data:
            _put(f"{path}.say{number}.{suffix}", data)
            commands.append(b'cat "$D/$P.say%d.%s"%s' % (number, suffix.encode(), target))
        elif data:
            commands.append(b"printf %s " + quote(data) + target)
    if missing:
        commands.append(f"pad '{filler}' {missing}".encode())
    return b"; ".join([*commands, b"code=%d" % answer.exit])


def encode(text: str) -> bytes:
    """UTF-8; a byte that is none is written `"\\udc80"` to `"\\udcff"`, as Python itself does; other lone surrogates pass."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quote(data: bytes) -> bytes:
    """The bytes as one word of a shell; there must be no NUL among them."""
    return b"'" + data.replace(b"'", b"'\\''") + b"'"
