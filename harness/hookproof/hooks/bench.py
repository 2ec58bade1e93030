"""Where scripts are fired: throw-away homes and projects, a scrubbed environment with decoy secrets, several lanes at once."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import stat
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType

from ..probe import find_world_folder
from ..reaper import Reaper
from . import repository
from .fire import Fired, How
from .lanes import Keeper, Lanes
from .script import Script
from .talk import HELD_BEFORE_S, HOLD_S, run

HOME, PROJECT = b"/home/dev", b"/home/dev/project"
"""What captured payloads call the home and the project; fired, they become the world's own."""

LANES = 4
COPIED_FILES, COPIED_BYTES = 3000, 50 << 20
"""A project up to this size is copied whole; of a larger one the folders that the handlers lie in."""
NOT_COPIED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "target", "dist"})
WATCHED_ENTRIES = 2000
"""Per folder that is looked at for changes outside the worlds."""

_MOUNT = """
w=$1; what=$2; shift 2
if [ "$what" = full ]; then
    [ ! -d "$w/project/.git" ] || cp -a "$w/project/.git" "$w/.git" || exit 125
    for d in home tmp project; do
        mount -t tmpfs -o size=256k none "$w/$d" || exit 125
        [ "$d" != project ] || [ ! -d "$w/.git" ] || cp -a "$w/.git" "$w/project/.git" || exit 125
        head -c 1048576 /dev/zero >"$w/$d/.full" 2>/dev/null
    done
else
    mount --bind "$w" "$w" && mount -o remount,bind,ro "$w" || exit 125
fi
cd "$w/project" && exec "$@"
"""


class Bench:
    """One per run. Thread-safe.

    The project that a handler's settings belong to is copied once, and the copy stands for it at every start.
    Without `confine` no process namespaces are used, as where the system has none.
    """

    def __init__(self, *, lanes: int = LANES, reaper: Reaper | None = None, confine: bool = True) -> None:
        self.reaper = reaper or Reaper()
        self._own_reaper = reaper is None
        self.root = Path(os.path.realpath(find_world_folder())) / f"hookproof-{secrets.token_hex(6)}"
        self.root.mkdir(mode=0o700)
        self.reaper.add_folder(self.root)
        self._numbers = count(1)
        self._lanes = Lanes(self.reaper, lanes, confine=confine)
        self._paths: dict[tuple[str, ...], str] = {}
        self._holding: set[str] = set()
        self._lock = threading.Lock()
        self.path = os.environ.get("PATH", os.defpath)
        self.decoys = _decoys()
        self._copies: dict[Path, Path] = {}
        self._before: dict[Path, dict[str, tuple[int, int]]] = {}

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End all lanes and remove all worlds. May be called again."""
        self._lanes.close()
        if self._own_reaper:
            self.reaper.close()
        else:
            shutil.rmtree(self.root, ignore_errors=True)

    # ---- firing ----------------------------------------------------------------------------------

    def fire(self, script: Script, payload: bytes, how: How = How()) -> Fired:  # noqa: B008  (frozen)
        """Start the script once and wait for what comes of it."""
        return self.submit(script, payload, how).result()

    def submit(self, script: Script, payload: bytes, how: How = How()) -> Future[Fired]:  # noqa: B008
        """Have it started in a lane."""
        return self._lanes.submit(partial(self._fire, script, payload, how))

    def fire_all(self, shots: Iterable[tuple[Script, bytes, How]], at_once: int | None = None) -> list[Fired]:
        """Start many side by side, `at_once` of them if that is given; the results in the given order."""
        if at_once is not None:
            self._lanes.widen(at_once)
        futures = [self.submit(*shot) for shot in shots]
        return [future.result() for future in futures]

    def widen(self, lanes: int) -> None:
        """Have at least this many lanes at work."""
        self._lanes.widen(lanes)

    @property
    def confines(self) -> bool:
        """Whether scripts run in process namespaces here, so that nothing of theirs can get away."""
        return self._lanes.namespaces

    def _fire(self, script: Script, payload: bytes, how: How, keeper: Keeper) -> Fired:
        world = self.root / str(next(self._numbers))
        home, project, tmp = (world / name for name in ("home", "project", "tmp"))
        for path in (world, home, project, tmp):
            path.mkdir(mode=0o700)
        copied = self.project_of(script)
        place = copied or project
        env = self.environment(script, home, place, tmp, how)
        env |= keeper.marks()
        if not how.home:
            env.pop("HOME", None)
        argv = script.argv(str(place), how.command, str(self.bundle_of(script) or ""))
        if how.read_only or how.full:
            argv = ["unshare", "-m", "/bin/sh", "-c", _MOUNT, "sh", str(world), "full" if how.full else "read-only", *argv]
        payload = payload.replace(PROJECT, os.fsencode(place)).replace(HOME, os.fsencode(home))
        known = self._laid_out(script, payload, home, project if copied is None else None)
        try:
            hold_s = HELD_BEFORE_S if script.command in self._holding else HOLD_S
            fired = run(argv, payload, env, how.cwd or place, keeper, limit_s=how.limit_s, stdin=how.stdin, hold_s=hold_s)
            if fired.held:
                self._holding.add(script.command)
            keeper.settle()
            wrote = _found(world, known)
        finally:
            _remove(world)
        return replace(fired, wrote=wrote) if wrote else fired

    def environment(self, script: Script, home: Path, project: Path, tmp: Path, how: How) -> dict[str, str]:
        """All that a script sees: nothing of the caller's but PATH and language; secrets that are none."""
        env = {
            "PATH": self.path if how.path is None else how.path,
            "HOME": str(home),
            "TMPDIR": str(tmp),
            "LANG": "C.UTF-8",
            "USER": "dev",
            "SHELL": "/bin/sh",
            **self.decoys,
        }
        if script.dialect.startswith("claude-code"):
            env |= {"CLAUDE_PROJECT_DIR": str(project), "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
        if (bundle := self.bundle_of(script)) is not None:
            env |= {
                "CLAUDE_PLUGIN_ROOT": str(bundle),
                "CLAUDE_PLUGIN_DATA": str(home / ".claude" / "plugins" / "data" / bundle.name),
            }
        if how.path == "":
            del env["PATH"]
        for name, value in how.env:
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def _laid_out(self, script: Script, payload: bytes, home: Path, project: Path | None) -> frozenset[str]:
        """What some scripts look into: the folder of the transcript, a repository. The names of it below the world."""
        made = set()
        source = script.source
        if b'"transcript_path"' in payload and "transcript" in source:
            (home / ".claude" / "projects" / "project").mkdir(parents=True)
            made.add("home/.claude")
        if project is not None and repository.asks(source):
            repository.write(project)
            made.add("project/.git")
        return frozenset(made)

    # ---- places ----------------------------------------------------------------------------------

    def path_without(self, *programs: str) -> str:
        """A PATH that has all programs but these."""
        with self._lock:
            if programs not in self._paths:
                folder = self.root / f"path{len(self._paths)}"
                folder.mkdir()
                hidden = set(programs)
                for place in self.path.split(os.pathsep):
                    with suppress(OSError):
                        for found in os.scandir(place):
                            if not any(found.name == name or _versioned(found.name, name) for name in hidden):
                                with suppress(OSError):
                                    os.symlink(found.path, folder / found.name)
                self._paths[programs] = str(folder)
            return self._paths[programs]

    def folder(self, name: str) -> Path:
        """A new folder, empty, whose name begins like this."""
        path = self.root / f"{name}{next(self._numbers)}"
        path.mkdir()
        return path

    def copy_of(self, script: Script, name: str, *, data: bytes | None = None, mode: int | None = None) -> str:
        """A command line for the script with its file under another name or with other contents, beside its neighbours."""
        assert script.file is not None
        folder = self.root / f"copy{next(self._numbers)}" / Path(name).parent
        folder.mkdir(parents=True)
        for found in list(script.file.parent.iterdir())[:200]:
            if found != script.file:
                with suppress(OSError):
                    os.symlink(found, folder / found.name)
        path = folder / Path(name).name
        path.unlink(missing_ok=True)
        path.write_bytes(script.file.read_bytes() if data is None else data)
        path.chmod(stat.S_IMODE(script.file.stat().st_mode) if mode is None else mode)
        return shlex.quote(str(path))

    def project_of(self, script: Script) -> Path | None:
        """The copy of the project that a handler's settings belong to; None: it gets a new one at each start."""
        return None if script.project is None else self._copy(script.project)

    def bundle_of(self, script: Script) -> Path | None:
        """The copy of the plugin that a handler belongs to."""
        return None if script.bundle is None else self._copy(script.bundle)

    def _copy(self, folder: Path) -> Path:
        with self._lock:
            if folder not in self._copies:
                self._copies[folder] = self._copied(folder, self.root / f"copied{len(self._copies)}" / "project")
            return self._copies[folder]

    def _copied(self, project: Path, target: Path) -> Path:
        files, size = 0, 0
        for folder, names, found in os.walk(project):
            names[:] = [name for name in names if name not in NOT_COPIED]
            files += len(found)
            with suppress(OSError):
                size += sum(os.lstat(os.path.join(folder, name)).st_size for name in found)
            if files > COPIED_FILES or size > COPIED_BYTES:
                break
        whole = files <= COPIED_FILES and size <= COPIED_BYTES
        ignore = shutil.ignore_patterns(*NOT_COPIED)
        if whole:
            shutil.copytree(project, target, symlinks=True, ignore=ignore, ignore_dangling_symlinks=True)
        else:
            target.mkdir(parents=True)
            for name in (".claude", ".claude-plugin", ".codex", ".gemini", ".lecode", "hooks", "scripts"):
                if (project / name).is_dir():
                    shutil.copytree(project / name, target / name, symlinks=True, ignore=ignore, ignore_dangling_symlinks=True)
        if (project / ".git").exists():
            repository.write(target)  # its history is not copied: guards ask for the branch, and refuse on main
        return target

    # ---- what happens elsewhere ------------------------------------------------------------------

    def watch(self, *folders: Path) -> None:
        """Look at these folders now, to tell later what was changed in them."""
        for folder in folders:
            self._before[folder] = _state(folder)

    def watched(self) -> tuple[str, ...]:
        """The paths that are new or changed, gone ones too, in the watched folders, since `watch`."""
        changed = []
        for folder, before in self._before.items():
            now = _state(folder)
            changed += [str(folder / name) for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
        return tuple(changed)


def _decoys() -> dict[str, str]:
    """Secrets that open nothing, by the names under which people have theirs."""
    token = secrets.token_hex
    return {
        "AWS_SECRET_ACCESS_KEY": f"decoy{token(18)}",
        "GITHUB_TOKEN": f"ghp_decoy{token(15)}",
        "ANTHROPIC_API_KEY": f"sk-ant-decoy{token(18)}",
        "DATABASE_PASSWORD": f"decoy{token(8)}",
    }


def _versioned(found: str, name: str) -> bool:
    """python3.11 is python3, too, and python3 is python."""
    rest = found.removeprefix(name)
    return rest != found and rest.replace(".", "").isdigit()


def _found(world: Path, known: frozenset[str]) -> tuple[str, ...]:
    """What is in a world that was not put there."""
    found: list[str] = []
    ahead: list[Path] = [world / "home", world / "project", world / "tmp"]
    while ahead and len(found) < 200:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    name = os.path.relpath(entry.path, world)
                    if entry.is_dir(follow_symlinks=False):
                        if name not in known:
                            found.append(name)
                            ahead.append(Path(entry.path))
                    else:
                        found.append(name)
        except OSError:
            continue
    return tuple(sorted(found))


def _remove(world: Path) -> None:
    try:
        for name in ("home", "project", "tmp", ""):
            os.rmdir(world / name)
    except OSError:
        shutil.rmtree(world, ignore_errors=True)


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """The time and size of what lies in a folder, one level deep."""
    state: dict[str, tuple[int, int]] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if len(state) >= WATCHED_ENTRIES:
                break
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                state[entry.name] = (found.st_mtime_ns, 0 if stat.S_ISDIR(found.st_mode) else found.st_size)
    return state
