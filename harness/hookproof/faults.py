"""Each planted fault is put to the proof, and the cases that name it must fail: so no case is vacuous.

A fault is a small program in `fixtures/faulty_runners`: the reference with one decision changed. It says
what it is in three constants (TITLE, ORIGIN, DIALECTS), which are read without running it.
"""

from __future__ import annotations

import ast
import random
import shlex
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Literal, get_args

from . import catalog, dialects, suite
from .cases import Case, HandlerKind
from .catalog import Catalog, Entry
from .engine import Engine, Options
from .errors import SubjectError, UsageError
from .mistakes import Mistake, failure, suggestion
from .results import CaseResult

WIDEST = 0.25
"""A fault that fails a larger share of the cases than this changes more than one decision."""
LONGEST = 20
"""Lines that a fault may need for its change, imports and constants not counted."""
AT_ONCE = 6
"""So many faults are tried side by side: most of the time their cases wait for one another, or for a limit."""
SAMPLE = 15
"""So many of the cases that do not name a fault are asked to tell how wide it is; all of them where it looks too wide."""

WITH_LIBRARIES = frozenset(get_args(HandlerKind)) - {"command"}
"""Kinds of handlers that need more than a shell."""

CONSTANTS = ("TITLE", "ORIGIN", "DIALECTS")
SEEN_ELSEWHERE = ("public report", "observed deviation")
"""How the ORIGIN of a fault begins that somebody has met outside this suite."""

Verdict = Literal["caught", "survived", "too wide", "broken", "not tried"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted fault, as it describes itself."""

    id: str
    title: str
    origin: str
    dialects: tuple[str, ...]
    path: Path

    @property
    def seen_elsewhere(self) -> bool:
        """Whether a real program was reported or observed to have it."""
        return self.origin.startswith(SEEN_ELSEWHERE)


@dataclass(frozen=True, slots=True)
class Proof:
    """What became of a fault. `named` are the cases that name it and were asked, each with whether it failed."""

    fault: Fault
    named: dict[str, bool] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    """Cases that failed without naming it."""
    untried: tuple[str, ...] = ()
    """Cases that name it and are slow."""
    broken: tuple[str, ...] = ()
    """Where it did not answer as a runner must: a crash is no fault of the kind that cases can prove anything by."""
    sampled: int = 0
    """How many cases that do not name it were asked, ..."""
    touched: int = 0
    """... and how many there are."""

    @property
    def failed(self) -> tuple[str, ...]:
        """All cases that it fails."""
        return (*(case for case, failed in self.named.items() if failed), *self.others)

    @property
    def share(self) -> float:
        """Which part of all the cases that it could touch it fails, as far as the sample tells."""
        elsewhere = len(self.others) / self.sampled * self.touched if self.sampled else 0.0
        everything = len(self.named) + self.touched
        return (sum(self.named.values()) + elsewhere) / everything if everything else 0.0

    @property
    def verdict(self) -> Verdict:
        """One word for it; only `caught` and `not tried` are well."""
        if self.broken:
            return "broken"
        if not all(self.named.values()):
            return "survived"
        if self.share > WIDEST:
            return "too wide"
        return "caught" if self.named else "not tried"


# ---- the files -----------------------------------------------------------------------------------


def load(folder: Path) -> tuple[Fault, ...]:
    """The faults of a folder, by id; a file that begins with _ is none. Raises CaseFileError with all that is wrong."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of faults")
    found: list[Fault] = []
    mistakes: list[Mistake] = []
    for path in sorted(folder.glob("[!_]*.py")):
        read = _read(path)
        if isinstance(read, Fault):
            found.append(read)
        else:
            mistakes += read
    if mistakes:
        raise failure(mistakes)
    if not found:
        raise UsageError(f"{folder}: no fault (*.py) is in this folder")
    return tuple(found)


def _read(path: Path) -> Fault | list[Mistake]:
    try:
        module = ast.parse(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        return [Mistake(path, getattr(error, "lineno", None) or 1, 1, f"this is no Python: {error}")]
    mistakes: list[Mistake] = []
    values: dict[str, object] = {}
    for name in CONSTANTS:
        node = next((n for n in module.body if _assigns(n, name)), None)
        try:
            values[name] = None if node is None else ast.literal_eval(node.value)  # type: ignore[attr-defined]
        except ValueError:
            values[name] = None
        wrong = _wrong(name, values[name])
        if wrong:
            mistakes.append(Mistake(path, getattr(node, "lineno", 1), 1, wrong))
    change = [node for node in module.body if _is_change(node)]
    lines = sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in change)
    if lines > LONGEST:
        text = f"the change takes {lines} lines; a fault changes one decision in at most {LONGEST}"
        mistakes.append(Mistake(path, change[0].lineno, 1, text))
    if mistakes:
        return mistakes
    return Fault(path.stem, str(values["TITLE"]), str(values["ORIGIN"]), tuple(values["DIALECTS"]), path)  # type: ignore[arg-type]


def _assigns(node: ast.stmt, *names: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in names for target in targets)


def _is_change(node: ast.stmt) -> bool:
    # `if` at the top is the start of the program; a lone expression is the docstring
    return not isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr, ast.If)) and not _assigns(node, *CONSTANTS)


def _wrong(name: str, value: object) -> str | None:
    if name != "DIALECTS":
        return None if isinstance(value, str) and value.strip() else f"{name} must be a text, which says {_MEANS[name]}"
    if not isinstance(value, tuple) or not value or not all(isinstance(word, str) for word in value):
        return 'DIALECTS must be a tuple of dialects: ("lecode",)'
    unknown = next((word for word in value if word not in dialects.KNOWN), None)
    return f'"{unknown}" is no dialect of this suite; {suggestion(unknown, list(dialects.KNOWN))}' if unknown else None


_MEANS = {"TITLE": "in one sentence what the runner does wrong", "ORIGIN": "who was seen to do it, or which rule it breaks"}


def disagreements(faults: Sequence[Fault], entries: Sequence[Entry]) -> list[str]:
    """Where the faults and the cases that name them do not fit together, in words."""
    known = {fault.id: fault for fault in faults}
    wrong = []
    for entry in entries:
        for name in entry.case.killed_by:
            if name not in known:
                wrong.append(f'{entry.id} names the fault "{name}", and there is none; {suggestion(name, list(known))}')
            elif entry.dialect not in (*known[name].dialects, "core"):
                wrong.append(f'{entry.id} names the fault "{name}", which is none of {entry.dialect}')
    named = {name for entry in entries for name in entry.case.killed_by}
    for fault in faults:
        if fault.id not in named:
            wrong.append(f"{fault.id}: no case names this fault in killed_by")
        text = fault.path.read_text("utf-8")
        for entry in entries:
            if entry.id in text:
                wrong.append(f"{fault.id}: it names the case {entry.id}; a fault must not know the cases")
    return wrong


# ---- the proof -----------------------------------------------------------------------------------


def prove_all(
    faults: Sequence[Fault], entries: Sequence[Entry], folders: Sequence[Path], *, slow: bool, wide: bool = False
) -> Iterator[Proof]:
    """The proof of each fault, in their order, some under way ahead."""
    stop = Event()
    known = catalog.load([suite.conformance(), *folders])
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="hookproof-fault") as pool:
        try:
            yield from pool.map(lambda fault: prove(fault, entries, known, slow=slow, wide=wide, stop=stop), faults)
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def prove(
    fault: Fault, entries: Sequence[Entry], known: Catalog, *, slow: bool, wide: bool = False, stop: Event | None = None
) -> Proof:
    """Ask a fault the cases that name it, and of the others that it could touch a sample (`wide`: all).

    One that looks too wide by its sample is asked all of them: a sample may be unlucky.
    Cases that sleep are asked only where they name it: sleeping through all of them would take most of the time.
    """
    proof = _asked(fault, entries, known, slow=slow, wide=wide, stop=stop)
    if proof.verdict == "too wide" and not wide:
        proof = _asked(fault, entries, known, slow=slow, wide=True, stop=stop)
    return proof


def _asked(fault: Fault, entries: Sequence[Entry], known: Catalog, *, slow: bool, wide: bool, stop: Event | None) -> Proof:
    named = [e for e in entries if fault.id in e.case.killed_by]
    untried = tuple(e.id for e in named if e.case.slow and not slow)
    untold = [e for e in entries if fault.id not in e.case.killed_by and _touches(e, fault)]
    others, touched = [e.id for e in untold], len(untold)
    libraries = frozenset().union(*(_libraries(e.case) for e in named))
    if not wide and touched > SAMPLE:
        # loading a library costs more than all these cases together
        cheap = [e.id for e in untold if _libraries(e.case) <= libraries]
        # the same sample each time: a fault that is too wide is so in every run
        others = random.Random(fault.id).sample(cheap, min(SAMPLE, len(cheap)))
    elif wide:
        libraries |= frozenset().union(*(_libraries(e.case) for e in entries))
    wanted = [*(e.id for e in named if e.id not in untried), *others]
    if len(wanted) == len(others):
        return Proof(fault, untried=untried)
    # -S: a start is dear, and it finds the reference by itself; -B: nothing is left beside the fixtures
    runner = shlex.join([sys.executable, "-B", *([] if libraries else ["-S"]), str(fault.path.absolute())])
    try:
        results = ask(runner, wanted, known, fault.dialects, slow=slow, stop=stop)
    except SubjectError as error:
        return Proof(fault, untried=untried, broken=(str(error),))
    failed = {r.id for r in results if r.status in ("fail", "warn")}
    names = {e.id for e in named}
    return Proof(
        fault,
        named={e.id: e.id in failed for e in named if e.id not in untried},
        others=tuple(dict.fromkeys(r.id for r in results if r.id in failed and r.id not in names)),
        untried=untried,
        broken=tuple(f"{r.id}: {r.note}" for r in results if r.status in ("error", "harness-error")),
        sampled=len({r.id for r in results if r.id not in names and r.status not in ("not-tested", "not-applicable")}),
        touched=touched,
    )


def ask(
    runner: str,
    case_ids: Sequence[str],
    known: Catalog | None = None,
    dialects: Sequence[str] = (),
    *,
    slow: bool = False,
    stop: Event | None = None,
) -> list[CaseResult]:
    """The results of one runner, for these cases. Raises SubjectError when it does not even say hello."""
    options = Options(
        runner=runner,
        base=Path.cwd(),
        dialects=tuple(dialects),
        case_ids=tuple(case_ids),
        slow=slow,
        workers=2,
    )
    engine = Engine(options, known)
    try:
        results = []
        for job in engine.jobs:
            if stop is not None and stop.is_set():
                break
            results.append(engine.result(job))
        return results
    finally:
        engine.close()


def _libraries(case: Case) -> frozenset[str]:
    """The kinds of its handlers for which a runner may have to load a library."""
    return frozenset({*case.needs, *(handler.kind for handler in case.handlers)} & WITH_LIBRARIES)


def _touches(entry: Entry, fault: Fault) -> bool:
    awake = not entry.case.sleepy and not entry.case.slow
    return awake and (entry.dialect in fault.dialects or entry.dialect == "core")
