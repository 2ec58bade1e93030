"""Settings files become handlers, and a report says what became of each file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .dialects.base import Dialect


Source = str | tuple[str, str]
"""The path of a settings file, or its scope (managed, user, project, local) and its path."""


class SettingsError(Exception):
    """A settings file that cannot be used at all; the message says why and, where it is known, in which line."""

    def __init__(self, message: str, kept: Mapping[str, Any] | None = None, *, fatal: bool = False) -> None:
        """`kept` is what of the file still counts where it is a policy; with a `fatal` file the program does not start."""
        super().__init__(message)
        self.kept = kept
        self.fatal = fatal


@dataclass(frozen=True, slots=True)
class Configured:
    """One handler as configured."""

    event: str
    command: str
    timeout: float
    """Seconds."""
    matcher: str | None = None
    """The subjects that it is for: one name, or several separated by `|`; None: all."""
    kind: str = "command"
    """How it runs: command, http, ..."""
    arguments: tuple[str, ...] | None = None
    """Of a program that is started without a shell; None: `command` is a shell's."""
    condition: str | None = None
    """A rule on the tool call that must hold as well."""
    background: bool = False
    """Nobody waits for it."""
    on_failure: str | None = None
    """What its failure means, where that is its own affair."""
    scope: str = "project"
    home: str | None = None
    """The folder of the plugin or skill that has brought it, where one has."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The fields of its kind, as they stand."""
    line: int | None = field(default=None, compare=False)
    """Where it stands in its file, as far as that is known."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one settings file."""

    path: str
    status: Literal["loaded", "partial", "rejected", "missing"]
    dropped: list[str] = field(default_factory=list)
    """The entries that were left out: `pretooluse`, `Stop[1]`."""
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """All handlers in the order of files and entries, and one report for each file."""

    handlers: tuple[Configured, ...] = ()
    report: tuple[FileReport, ...] = ()
    rest: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Scope and whole content of each file that counts, for dialects whose settings say more than handlers."""
    fatal: str | None = None
    """Why the program does not even start with these files."""


def load(files: Iterable[Source], dialect: Dialect) -> Loaded:
    """Reads the files in order. A file that is not there, or not to be used, adds no handlers; nothing is raised."""
    handlers: list[Configured] = []
    report: list[FileReport] = []
    rest: list[tuple[str, Mapping[str, Any]]] = []
    fatal: str | None = None
    for source in files:
        scope, path = ("project", source) if isinstance(source, str) else source
        try:
            with open(path, "rb") as file:
                text = dialect.decode(file.read())
            found, dropped, *content = dialect.configured(text)
        except FileNotFoundError:
            report.append(FileReport(path, "missing", message=f"{path}: there is no such file"))
        except UnicodeDecodeError as error:
            report.append(FileReport(path, "rejected", message=f"{path}: not UTF-8 at byte {error.start}"))
        except OSError as error:
            report.append(FileReport(path, "rejected", message=f"{path}: {error.strerror}"))
        except SettingsError as error:
            report.append(FileReport(path, "rejected", message=f"{path}: {error}"))
            fatal = str(error) if error.fatal else fatal
            if scope == "managed" and error.kept is not None:
                rest.append((scope, error.kept))
        else:
            handlers += found if scope == "project" else [replace(handler, scope=scope) for handler in found]
            rest += [(scope, mapping) for mapping in content]
            message = f"{path}: {'; '.join(why for _, why in dropped)}" if dropped else None
            report.append(FileReport(path, "partial" if dropped else "loaded", [name for name, _ in dropped], message))
    return Loaded(tuple(handlers), tuple(report), tuple(rest), fatal)
