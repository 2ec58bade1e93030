"""Which files of the corpus are put to a gate, and which do not apply to it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import dialects, gatecorpus
from ..errors import UsageError
from ..gatecorpus import Sample
from ..mistakes import suggestion

DIALECT = "claude-code"
"""The dialect of the corpus."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file of the corpus, judged at one version."""

    sample: Sample
    twin: Sample | None
    """The valid file beside a faulty one."""
    version: str

    @property
    def id(self) -> str:
        """gate/json/utf-16."""
        return f"gate/{self.sample.id}"

    @property
    def test_id(self) -> str:
        """The id of its test: a run judges at one version, so the file's own id is enough."""
        return self.id

    @property
    def dialect(self) -> str:
        """Name and version."""
        return f"{DIALECT}/{self.version}"

    @property
    def family(self) -> str:
        """The folder, as the family of the results."""
        return f"gate-{self.sample.family}"

    @property
    def why_not(self) -> str:
        """Why it does not apply to a gate at this version, in words; empty when it does."""
        sample = self.sample
        if sample.versions and self.version not in sample.versions:
            return f"no fault at {self.version}, only at {', '.join(sample.versions)}"
        if sample.profile:
            return f"judged differently by different rules; this one is meant for {sample.profile}"
        if sample.level == "info":
            return "worth a remark, and no reason to refuse the file"
        return ""


def version_of(wanted: Sequence[str]) -> str:
    """The version that `--dialect` asks for; the newest when it asks for none. Raises UsageError and DialectError."""
    if len(wanted) > 1:
        raise UsageError("a gate is judged at one version at a time", f"give one --dialect, as in {DIALECT}/VERSION")
    name, version = dialects.resolve(wanted[0] if wanted else DIALECT)
    if name != DIALECT:
        raise UsageError(f"there are no settings files of {name} for gates", f"there are: {DIALECT}")
    return version


def select(corpus: Path, version: str, families: Sequence[str], ids: Sequence[str]) -> list[Job]:
    """The jobs of a run, in the order of the corpus. Raises UsageError for names that none has."""
    samples = list(gatecorpus.samples(corpus))
    by_file = {f"{sample.family}/{sample.file}": sample for sample in samples}
    jobs = [Job(sample, None if sample.correct else by_file[sample.twin], version) for sample in samples]
    known_families = dict.fromkeys(job.family for job in jobs)
    for family in families:
        if family not in known_families and f"gate-{family}" not in known_families:
            raise UsageError(f'no family is called "{family}"', f"families: {', '.join(known_families)}")
    known_ids = [job.id for job in jobs]
    for one in ids:
        if one not in known_ids:
            raise UsageError(f'no settings file has the id "{one}"', suggestion(one, known_ids))
    return [
        job
        for job in jobs
        if (not families or job.family in families or job.sample.family in families) and (not ids or job.id in ids)
    ]


def digest(corpus: Path) -> str:
    """A hash over the whole corpus."""
    total = hashlib.sha256()
    for path in sorted(corpus.rglob("*")):
        if path.is_file():
            total.update(f"{path.relative_to(corpus).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()[:12]
