"""What a command really does is seen by running it in a throw-away system of its own, so that two commands can be compared.

The system is a folder with a project, a home and a remote repository in it, entered with chroot in name
spaces of its own: no network, no processes but its own, the machine's programs read-only, an ordinary user.
Only programs of a short list are real there. All others only note with which words they were called.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from .bench import Bench
from .fire import Fired, How
from .scene import SCENE
from .script import Script

Sameness = Literal["seen", "assumed", "different"]
"""Seen to do the same; not seen, but the same by the rules of the shell or of the program; seen to do something else."""

LIMIT_S = 5.0
"""For one run, on however busy a machine; an ordinary one takes 15 ms."""
LONGEST = 120_000
"""Longer commands are not tried."""
LARGEST = 1 << 20
"""Larger files are told apart by their size."""

PROJECT = "/home/dev/project"
UNPRIVILEGED = 65534

_REAL = """
    sh bash dash env xargs find nohup timeout nice setsid stdbuf sleep git rm rmdir unlink shred
    truncate cp mv ln link install mkdir touch chmod dd tee cat tac nl head tail more less od hexdump
    xxd strings sed awk grep egrep fgrep cut tr rev sort uniq wc paste fold expand cmp comm diff patch
    split base64 printf echo test true false seq yes printenv id whoami date pwd basename dirname
    realpath readlink stat du ls which expr tar gzip gunzip perl python3 mktemp tsort
"""
REAL = frozenset(_REAL.split())
"""The programs that are what they are called."""
PASSING_ON = ("sudo", "doas", "time")
FETCHING = ("curl", "wget")

_IGNORED = re.compile(r"\.git/(index|logs(/|$)|ORIG_HEAD|FETCH_HEAD|COMMIT_EDITMSG|gc\.|objects/)|nohup\.out$|^tmp/alias")
"""What differs from run to run, or follows from the rest."""
_LONE_ROOT = re.compile(r"(?<![\w./~$*-])/(?![\w.*/])")
_SAFE_ROOT = "/var/data"
_WORD = re.compile(r"[A-Za-z_][\w.+-]*")
_SEPARATORS = re.compile(r"\|\||&&|[;|&\n()]")

_NOTING = """#!/bin/sh
printf '%s\\037' "${0##*/}" "$@" >>/calls
printf '\\036' >>/calls
case ${0##*/} in
    curl | wget) echo 'echo the fetched code ran >>/home/dev/fetched' ;;
    sudo | doas | time) while case $1 in -*) true ;; *) false ;; esac; do shift; done; [ $# -gt 0 ] && exec "$@" ;;
esac
exit 0
"""

_ENTER = r"""
template=$1; world=$2; user=$3; command=$4; shift 4
cp -a "$template" "$world" && cd "$world" || exit 125
for place in usr lib lib64 bin nix; do
    [ -d ".host/$place" ] && { mount -o bind,ro "/$place" ".host/$place" || exit 125; }
done
for device in null zero; do mount -o bind "/dev/$device" "dev/$device" || exit 125; done
mount -t proc none proc || exit 125
for name; do ln -sf /noting "usr/bin/$name"; done
[ "$user" = 0 ] || as="--userspec=$user:$user"
exec chroot $as . /usr/bin/env -i PATH=/usr/bin HOME=/home/dev USER=dev LANG=C.UTF-8 AWS_SECRET_ACCESS_KEY=decoy \
    GIT_AUTHOR_DATE=1700000000+0000 GIT_COMMITTER_DATE=1700000000+0000 GIT_TERMINAL_PROMPT=0 \
    CLAUDE_PROJECT_DIR=/home/dev/project /usr/bin/sh -c \
    'cd /home/dev/project; echo inside >&2; exec "$(command -v bash || command -v sh)" -c "$1" </dev/null' sh "$command"
"""


@dataclass(frozen=True, slots=True)
class Effect:
    """What was seen of one run."""

    changes: frozenset[tuple[str, str]] = frozenset()
    """Path -> what lies there now, where that differs from before; `gone` for what is not there any more."""
    said: tuple[str, ...] = ()
    """The lines on stdout."""
    calls: tuple[tuple[str, ...], ...] = ()
    """The calls of programs that are not real there."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.said or self.calls)

    def within(self, other: Effect) -> bool:
        """Whether the other run did all this and changed nothing else; it may say more."""
        left = list(other.said)
        for line in self.said:
            if line not in left:
                return False
            left.remove(line)
        return self.changes == other.changes and all(call in other.calls for call in self.calls)


class Sandbox:
    """One per run. Thread-safe; what it makes lies on the bench and goes with it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._place: Path | None = None
        self._template: Path | None = None
        self._before: dict[str, str] = {}
        self._works: bool | None = None
        self._known: dict[tuple[str, frozenset[str]], Effect | None] = {}

    @property
    def works(self) -> bool:
        """Whether commands can be run here without harm."""
        with self._lock:
            if self._works is None:
                self._works = self._prepared()
            return self._works

    def effect(self, command: str, stubs: frozenset[str] = frozenset()) -> Effect | None:
        """Run a command and see what it does; `stubs` are programs that only note their call. None: that cannot be seen."""
        if not self.works or "\0" in command or len(command) > LONGEST:
            return None
        key = (command, stubs)
        if key not in self._known:
            self._known[key] = self._run(command, stubs)
        return self._known[key]

    def observed(self, command: str) -> tuple[frozenset[str], Effect] | None:
        """With which stubs the effect of a command can be seen, and what it is: what it changes, says, or whom it calls."""
        command = witnessed(command)
        unreal = frozenset(word for word in _WORD.findall(command) if word not in REAL and len(word) < 60)
        for stubs in (unreal, unreal | called_in(command)):
            found = self.effect(command, stubs)
            if found:
                return stubs, found
        return None

    def same(self, command: str, other: str) -> Sameness:
        """Whether another command does what this one does."""
        before = self.observed(command)
        if before is None:
            return "assumed"
        stubs, wanted = before
        after = self.effect(witnessed(other), stubs)
        if after is None:
            return "assumed"
        if wanted.within(after):
            return "seen"
        if not (wanted.changes or wanted.said) and {call[0] for call in wanted.calls} <= {call[0] for call in after.calls}:
            # calls are compared word by word: other words for the same thing cannot be seen to be the same
            return "assumed"
        return "different"

    def touches(self, command: str, path: str) -> Sameness:
        """Whether a command changes this file. Assumed where nothing can be written there at all."""
        where = path.lstrip("/")
        writable = self.effect(f"echo probe >>{shlex.quote(path)}")
        if writable is None or where not in dict(writable.changes):
            return "assumed"
        found = self.effect(command)
        return "assumed" if found is None else "seen" if where in dict(found.changes) else "different"

    # ---- one run ---------------------------------------------------------------------------------

    def _run(self, command: str, stubs: frozenset[str]) -> Effect | None:
        assert self._place is not None
        world = self._place / str(next(self._numbers))
        try:
            fired = self._enter(world, command, sorted(stubs))
            if fired.timed_out or fired.flooded or not fired.complained.startswith("inside\n"):
                return None
            changes = _changes(self._before, _tree(world))
            calls = _calls(world / "calls")
        finally:
            shutil.rmtree(world, ignore_errors=True)
        said = tuple(line.strip() for line in fired.said[:LARGEST].splitlines() if line.strip())
        return Effect(changes, said, calls)

    def _enter(self, world: Path, command: str, names: Sequence[str]) -> Fired:
        user = 0 if os.geteuid() else UNPRIVILEGED
        flags = ["-mpnf", "--kill-child"] if user else ["-rUmpnf", "--kill-child"]
        words = ["unshare", *flags, "/bin/sh", "-c", _ENTER, "sh", str(self._template), str(world), str(user), command, *names]
        return self._bench.fire(Script(shlex.join(words), origin="sandbox"), b"", How(limit_s=LIMIT_S))

    def _prepared(self) -> bool:
        """Lay out the system and try it once."""
        if not all(shutil.which(name) for name in ("unshare", "chroot", "mount", "cp", "git")):
            return False
        self._place = self._bench.folder("system")
        self._template = self._place / "template"
        try:
            _lay_out(self._template)
        except OSError:
            return False
        made = self._place / "first"
        try:
            # the repositories are made inside, so that git finds its own user and paths
            fired = self._enter(made, SCENE, [])
            if not fired.complained.startswith("inside\n") or fired.exit != 0:
                return False
            shutil.rmtree(self._template)
            made.rename(self._template)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        self._before = _tree(self._template)
        return True


def witnessed(command: str) -> str:
    """The command with a folder of the sandbox in place of `/` alone, whose loss no program carries out."""
    return _LONE_ROOT.sub(_SAFE_ROOT, command)


def called_in(command: str) -> frozenset[str]:
    """The programs that a command names first in each of its parts; shells must stay what they are."""
    firsts = [part.split()[0] for part in _SEPARATORS.split(command) if part.split()]
    return frozenset(word for word in firsts if _WORD.fullmatch(word)) - {"sh", "bash", "dash", "env", "xargs"}


# ---- the throw-away system -----------------------------------------------------------------------


def _lay_out(root: Path) -> None:
    for name in ("usr/bin", "usr/local", "etc", "tmp", "proc", "dev", "var/data/sub", "home/dev/project", ".host", "root"):
        (root / name).mkdir(parents=True)
    for name in ("usr", "lib", "lib64", "bin", "nix"):
        host = Path("/") / name
        if host.is_symlink():
            os.symlink(os.readlink(host).replace("usr/", ".host/usr/"), root / name) if name != "bin" else None
        elif host.is_dir():
            (root / ".host" / name).mkdir()
            if name in ("lib", "lib64", "nix"):
                os.symlink(f".host/{name}", root / name)
    for name in ("lib", "lib64", "libexec", "share", "libx32"):
        os.symlink(f"../.host/usr/{name}", root / "usr" / name)
    for name in ("bin", "sbin"):
        os.symlink("usr/bin", root / name)
    os.symlink("bin", root / "usr" / "sbin")
    os.symlink("../bin", root / "usr" / "local" / "bin")
    for name in ("null", "zero"):
        (root / "dev" / name).touch()
    os.symlink("zero", root / "dev" / "urandom")
    for name, number in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{number}", root / "dev" / name)
    (root / "noting").write_text(_NOTING)
    (root / "noting").chmod(0o755)
    for name in REAL:
        found = shutil.which(name, path="/usr/bin:/bin")
        if found:
            os.symlink(f"/.host{os.path.realpath(found)}", root / "usr" / "bin" / name)
    for name in (*PASSING_ON, *FETCHING):
        os.symlink("/noting", root / "usr" / "bin" / name)
    (root / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/sh\ndev:x:65534:65534::/home/dev:/bin/sh\n")
    (root / "calls").touch()
    (root / "calls").chmod(0o666)
    (root / "tmp").chmod(0o777)
    (root / "tmp" / "x").write_text("x\n")
    (root / "var" / "data" / "a").write_text("a\n")
    (root / "var" / "data" / "sub" / "b").write_text("b\n")
    for folder, _, names in os.walk(root):
        if os.path.relpath(folder, root).startswith(("home", "var", "tmp")):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                with suppress(PermissionError):
                    os.chown(path, UNPRIVILEGED, UNPRIVILEGED)


def _tree(root: Path) -> dict[str, str]:
    """What lies in the parts of the system that can be written to."""
    found: dict[str, str] = {}
    ahead = [root / name for name in ("home", "var", "tmp", "etc")]
    while ahead:
        try:
            entries = list(os.scandir(ahead.pop()))
        except OSError:
            continue
        for entry in entries:
            name = os.path.relpath(entry.path, root)
            if _IGNORED.search(name):
                continue
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(state.st_mode):
                    ahead.append(Path(entry.path))
                    found[name] = f"folder {stat.S_IMODE(state.st_mode):o}"
                elif stat.S_ISLNK(state.st_mode):
                    found[name] = f"link {os.readlink(entry.path)}"
                else:
                    found[name] = f"{stat.S_IMODE(state.st_mode):o} {_content(Path(entry.path), state.st_size)}"
    return found


def _content(path: Path, size: int) -> str:
    return str(size) if size > LARGEST else hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def _changes(before: dict[str, str], after: dict[str, str]) -> frozenset[tuple[str, str]]:
    names = before.keys() | after.keys()
    return frozenset((name, after.get(name, "gone")) for name in names if before.get(name) != after.get(name))


def _calls(path: Path) -> tuple[tuple[str, ...], ...]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return ()
    return tuple(tuple(call.split("\x1f")[:-1]) for call in text.split("\x1e")[:-1])
