"""The corpus of settings files is read, and each file is laid out as the project in which it would stand.

`conformance/gate/FAMILY/index.yml` lists the files of a family, one fault each; `correct/` lists those without.
The indexes end in `.yml` because every `.yaml` below `conformance/` is a file of cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .errors import HarnessError
from .suite import conformance

CORRECT = "correct"


@dataclass(frozen=True, slots=True)
class Sample:
    """One file of the corpus and what is to be said about it."""

    family: str
    file: str
    fault: str = ""
    """What is wrong, in words; empty for a correct file."""
    expect: str = ""
    """What happens at run time: file-dropped, never-runs, every-call-passes, ..."""
    names: tuple[str, ...] = ()
    """The rules of `hookproof lint` that name this fault rightly."""
    source: str = ""
    twin: str = ""
    """The correct file to compare with: a gate that refuses that too has not seen the fault."""
    why: str = ""
    versions: tuple[str, ...] = ()
    """The versions for which the fault is one; empty for all."""
    profile: str = ""
    level: str = "alarm"
    """`info` where the fault is worth a remark and no alarm."""
    place: str = ".claude/settings.json"
    made: Mapping[str, Any] | None = None
    """What the file's bytes get when it is laid out: bom, encoding, append_hex."""
    beside: Mapping[str, Mapping[str, Any]] | None = None
    """Further files of the project."""

    @property
    def id(self) -> str:
        """Family and file without its ending."""
        return f"{self.family}/{self.file.rpartition('.')[0]}"

    @property
    def correct(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.family == CORRECT


def folder() -> Path:
    """Where the corpus lies."""
    return conformance() / "gate"


def samples(corpus: Path | None = None) -> Iterator[Sample]:
    """All files of the corpus, family by family. HarnessError for an index that cannot be read."""
    corpus = corpus or folder()
    for index in sorted(corpus.glob("*/index.yml")):
        listed = _yaml(index)
        for entry in listed["files"]:
            fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
            try:
                yield Sample(family=listed["family"], **fields)
            except TypeError as error:
                raise HarnessError(f"{index}: {entry.get('file')}: {error}") from None


def lay_out(sample: Sample, project: Path, corpus: Path | None = None) -> Path:
    """Make the project of a sample in an empty folder; gives the settings file in it."""
    corpus = corpus or folder()
    source = corpus / sample.family / sample.file
    files: dict[str, Mapping[str, Any]] = {}
    if source.suffix == ".yml":
        described = _yaml(source)
        settings = str(described["settings"]).encode()
        files = described.get("files") or {}
    else:
        settings = source.read_bytes()
    shared: dict[str, Mapping[str, Any]] = _yaml(corpus / "hooks.yml")["files"]
    text = settings.decode("utf-8", "replace")
    # of the shared scripts only those that the settings name: a project of one guard is a small one
    wanted = {path: file for path, file in shared.items() if path.rpartition("/")[2] in text}
    for path, file in {**wanted, **(sample.beside or {}), **files}.items():
        _write(project / path, {**shared[file["like"]], "mode": file.get("mode", "644")} if "like" in file else file)
    target = project / sample.place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_made(settings, sample.made or {}))
    return target


def _write(path: Path, file: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.get("folder"):
        path.mkdir()
    elif "link" in file:
        path.symlink_to(file["link"])
    else:
        path.write_bytes(_made(str(file["text"]).encode(), file))
        os.chmod(path, int(str(file.get("mode", "644")), 8))


def _made(content: bytes, how: Mapping[str, Any]) -> bytes:
    if how.get("crlf"):
        content = content.replace(b"\n", b"\r\n")
    if "encoding" in how:
        content = content.decode().encode(how["encoding"])
    if how.get("bom"):
        content = b"\xef\xbb\xbf" + content
    return content + bytes.fromhex(str(how.get("append_hex", "")))


_read: dict[Path, Any] = {}


def _yaml(path: Path) -> Any:
    if path not in _read:
        try:
            _read[path] = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (OSError, yaml.YAMLError) as error:
            raise HarnessError(f"{path} cannot be read: {error}") from None
    return _read[path]
