"""One runner under test: started, greeted, asked, timed out, started again.

A runner that is not lasting is started once for each request. A lasting one is kept; whatever goes
wrong with it costs the request at hand, its process tree is killed, and the next request starts anew.
What it does between two requests belongs to the one that it has answered (`fair`).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from . import foreignjson, protocol, runnerspec
from .errors import BadAnswer, Died, Flooded, NotProtocol, SubjectError, TimedOut
from .process import Child, Heard, Limits, signal_name
from .protocol import Hello, HelloAnswer, Run, RunAnswer
from .reaper import Reaper
from .runnerspec import RunnerSpec

SHOWN_CHARS = 2000
"""How much of what a runner printed is kept for a report."""
GOODBYE_S = 0.5
"""How long a lasting runner may take to end after the end of its input."""
SETTLE_S = 0.25
"""How long a runner may take to end after its only answer."""

CLOSED = "closed its stdout"
_README = 'a runner answers the hello line on stdin with one line on stdout, see README "Write a runner"'
_LOGS = "print only protocol lines on stdout, logs on stderr"
_FLUSH = "end each answer with a line break and flush stdout"

A = TypeVar("A", HelloAnswer, RunAnswer)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A proper answer."""

    answer: RunAnswer
    answered_at: float
    """When its line was there, in seconds since the epoch."""
    complained: str
    """The end of what the runner wrote to stderr meanwhile."""


class Subject:
    """A runner. One thread asks; `kill` may come from another.

    `lasting` is what its hello said; without it, the first `ask` says hello first. With `fair`, what followed
    the answer to the request before is no error of an `ask`: it is told by `trailed`.
    """

    def __init__(
        self, spec: RunnerSpec, limits: Limits, reaper: Reaper, home: Path, *, lasting: bool | None = None, fair: bool = False
    ) -> None:
        self.spec = spec
        self.lasting = lasting
        self._fair = fair
        self._answered = ""
        """What the process at hand has answered last."""
        self._answered_at = 0.0
        self._trailed: SubjectError | None = None
        self._limits = limits
        self._reaper = reaper
        self._home = home
        self._child: Child | None = None
        self._stopped = False
        self._lock = threading.Lock()

    def hello(self) -> HelloAnswer:
        """Start it, say hello, close its stdin, read one line, end it. Raises a kind of SubjectError."""
        self._end()
        child = self._start()
        line = protocol.encode(Hello())
        try:
            child.send(line, last=True)
            heard = child.line(self._limits.hello_s)
            complained = child.complained()
            answer = self._read(child, heard, line, HelloAnswer, "hello", self._limits.hello_s, complained)
            if fault := protocol.faults_of_hello(answer):
                raise BadAnswer(fault, said=_shown(heard.line), complained=complained)
        finally:
            self._end()
        self.lasting = answer.lasting
        return answer

    def ask(self, request: Run, limit_s: float) -> Reply:
        """Send one request and wait for its answer. Raises a kind of SubjectError.

        What the runner leaves running goes on until `settle`, the next `ask` or `close`, so that it can be seen.
        """
        if self.lasting is None:
            self.hello()
        if not self.lasting:
            self.settle()
        what = f"request {request.id}"
        line = protocol.encode(request)
        self._look_back(what)
        child = self._child or self._start()
        heard: Heard | None = None
        try:
            child.send(line, last=not self.lasting)
            heard = child.line(limit_s)
            complained = child.complained()
            answer = self._read(child, heard, line, RunAnswer, what, limit_s, complained)
            if fault := protocol.faults_of_answer(request, answer):
                raise BadAnswer(
                    f"the answer to {what} breaks the protocol: {fault}", said=_shown(heard.line), complained=complained
                )
        except SubjectError as error:
            error.unprompted = heard is not None and _unprompted(heard, request.id) and not self._stopped
            if error.unprompted and heard is not None and self._answered:
                error.earlier = self._earlier(child, heard)
            self._end()
            raise
        except BaseException:
            self._end()
            raise
        self._answered, self._answered_at = what, time.monotonic()
        self._reaper.sweep()
        return Reply(answer, heard.at, complained)

    def settle(self) -> None:
        """End what the last request left: a runner that is not lasting, and all that it started.

        Raises NotProtocol where such a runner wrote more behind its answer.
        """
        child = self._child
        if child is not None and not self.lasting:
            orderly = child.ends_within(SETTLE_S)
            surplus = child.stale()
            complained = child.complained()
            self._end(thorough=not orderly)
            if surplus and surplus.strip():
                raise self._surplus(surplus, complained)

    # ---- what follows an answer ------------------------------------------------------------------

    def fairly(self, attempt: Callable[[], T]) -> T:
        """What comes of an attempt to ask: a second one where the first failed and the request before may be to blame.

        A line or an end between two answers may be late for the one or early for the other. A fresh process tells:
        if it does the same, the request at hand is blamed, else the one before. Raises a kind of SubjectError.
        """
        try:
            return attempt()
        except SubjectError as error:
            if error.earlier is None or not self._fair:
                raise
            trailed = error.earlier
        try:
            result = attempt()
        except SubjectError as again:
            self._trailed = None if again.unprompted else trailed
            raise
        self._trailed = trailed
        return result

    def linger(self, patience_s: float) -> None:
        """Wait, so long after the last answer, for what may follow it; `trailed` tells it. For what no other request follows."""
        if self._child is not None and self._answered:
            self._child.ends_within(patience_s - (time.monotonic() - self._answered_at))
            self._look_back("another request")

    def trailed(self) -> SubjectError | None:
        """What followed the answer to the request before the last one; told once. Only for who is `fair`."""
        found, self._trailed = self._trailed, None
        return found

    @property
    def may_trail(self) -> bool:
        """Whether something can still follow the last answer."""
        return bool(self.lasting and self._answered and self._child is not None)

    def _look_back(self, what: str) -> None:
        """A lasting runner must still be there, and silent, when the next request comes."""
        child = self._child
        if child is None:
            return
        stale, complained = child.stale(), child.complained()
        if stale and stale.strip():
            trouble: SubjectError = self._surplus(stale, complained)
        elif stale is None or child.ended:
            trouble = self._gone(_ending(child.end()) if child.ends_within(SETTLE_S) else CLOSED, complained)
        else:
            return
        self._end()
        if not self._fair:
            trouble.message = f"before {what} was sent: {trouble.message}"
            raise trouble
        self._trailed = trouble

    def _earlier(self, child: Child, heard: Heard) -> SubjectError:
        """What came unprompted, if it belongs to the request before."""
        if heard.line.strip():
            return self._surplus(heard.line, child.complained())
        return self._gone(_ending(child.end()) if child.ended else CLOSED, child.complained())

    def _surplus(self, surplus: bytes, complained: str) -> NotProtocol:
        words = f"more than one line came for {self._answered}"
        return NotProtocol(words, f"one request, one line; {_LOGS}", said=_shown(surplus), complained=complained)

    def _gone(self, how: str, complained: str) -> Died:
        hint = 'its hello says "lasting": true, then it must go on reading lines until the end of its input'
        return Died(f"the runner {how} after its answer to {self._answered}", hint, complained=complained)

    # ---- processes -------------------------------------------------------------------------------

    def close(self) -> None:
        """End it: a lasting runner by the end of its input, else, and after half a second, by force."""
        child = self._child
        if child is not None and self.lasting and not self._stopped:
            child.close_stdin()
            child.ends_within(GOODBYE_S)
        self._end()

    def kill(self) -> None:
        """End it at once and for good, from any thread; an `ask` under way raises Died."""
        with self._lock:
            self._stopped = True
            if self._child is not None:
                self._child.kill()

    def _start(self) -> Child:
        with self._lock:
            if self._stopped:
                raise Died(f"{self.spec.shown} is not started any more: the run is ending")
            try:
                self._child = Child(self.spec.argv, self._home, self._limits, self._reaper)
                self._answered = ""
            except OSError as error:
                raise runnerspec.explain(self.spec.argv, error) from None
            return self._child

    def _end(self, *, thorough: bool = True) -> None:
        child = self._child
        if child is not None:
            child.end(thorough=thorough)
            with self._lock:
                self._child = None

    def _read(self, child: Child, heard: Heard, sent: bytes, kind: type[A], what: str, limit_s: float, complained: str) -> A:
        """The answer in a line. Every way in which there is none raises its kind of SubjectError."""
        if heard.how == "late":
            raise TimedOut(
                f"no answer to {what} within {limit_s:g} s",
                _why_late(heard, len(sent)),
                said=_shown(heard.line),
                complained=complained,
            )
        if heard.how == "flooded":
            raise Flooded(f"{what}: {heard.flood}", _LOGS, said=_shown(heard.line), complained=complained)
        if heard.how == "ended" and not heard.line.strip():
            self._raise_died(child, what, complained)
        said = _shown(heard.line)
        if heard.line.strip() == sent.strip():
            raise BadAnswer(
                f"the answer to {what} is the request: it sent the request back", _README, said=said, complained=complained
            )
        try:
            found = _object(heard.line)
        except ValueError as error:
            raise self._unreadable(child, heard, str(error), what) from None
        if heard.more.strip():
            raise NotProtocol(
                f"more than one line came for {what}",
                f"one request, one line; {_LOGS}",
                said=_shown(heard.more),
                complained=complained,
            )
        if lacking := [name for name in _required(kind) if name not in found]:
            keys = ", ".join(f'"{name}"' for name in lacking)
            raise BadAnswer(f"the answer to {what} lacks {keys}", _README, said=said, complained=complained)
        try:
            answer = msgspec.convert(found, kind)
        except msgspec.ValidationError as error:
            raise BadAnswer(
                f"the answer to {what}: {error}",
                "`hookproof schema protocol` prints the form of all messages",
                said=said,
                complained=complained,
            ) from None
        if heard.unsent and self.lasting and kind is RunAnswer:
            raise BadAnswer(f"it answered {what} before it had read the request to its end", said=said, complained=complained)
        return answer

    def _unreadable(self, child: Child, heard: Heard, why: str, what: str) -> SubjectError:
        """A line that is no JSON object; where the runner ended in the midst of it, it is cut, and how it ended comes first."""
        said = _shown(heard.line)
        gone = heard.how == "ended" and child.ends_within(SETTLE_S)
        complained = child.complained()
        last = _last_line(complained)
        more = f" (stderr: {last!r})" if last else ""
        if gone and heard.line.lstrip().startswith(b"{"):
            how = _ending(child.end())
            words = f"the runner {how} in the midst of its answer to {what}: the line is cut after {len(heard.line)} bytes"
            return Died(f"{words}{more}", f"the answer {why}", said=said, complained=complained)
        if gone:
            more = f"; the runner {_ending(child.end())}{more}"
        return NotProtocol(f"the answer to {what} {why}{more}", _LOGS, said=said, complained=complained)

    def _raise_died(self, child: Child, what: str, complained: str) -> NoReturn:
        if not child.ends_within(SETTLE_S):
            raise Died(f"the runner {CLOSED} without an answer to {what}", _README, complained=complained)
        complained = child.complained() or complained
        code = child.end()
        if self._stopped:
            raise Died(f"the runner was ended during {what}: the run is ending", complained=complained)
        last = _last_line(complained)
        if last:
            raise Died(
                f"the runner {_ending(code)} without an answer to {what}; its last line on stderr: {last!r}",
                f"""try it by hand:\n    echo '{{"op":"hello","protocol":1}}' | {self.spec.shown}""",
                complained=complained,
            )
        silent = "it ended with 0 and said nothing; " if code == 0 else "it said nothing on stderr either; "
        raise Died(f"the runner {_ending(code)} without an answer to {what}", silent + _README, complained=complained)


def _unprompted(heard: Heard, request_id: str) -> bool:
    if heard.line.strip():
        # an id is random: who writes it has read the request
        return heard.how != "late" and request_id.encode() not in heard.line
    return heard.how == "ended"


@cache
def _required(kind: type[HelloAnswer | RunAnswer]) -> tuple[str, ...]:
    # kept: msgspec reads the annotations anew at every call, a third of a millisecond
    return tuple(field.name for field in msgspec.structs.fields(kind) if field.required)


def _object(line: bytes) -> dict[str, Any]:
    """The JSON object in a line, read tolerantly; lone surrogates become U+FFFD. Raises ValueError with words for it."""
    text = line.decode("utf-8", "replace").lstrip("\ufeff")
    if not text.lstrip().startswith(("{", "[")):
        raise ValueError(f"is no JSON object on one line: {text[:200]!r}")
    found = foreignjson.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"is a JSON list, where an object is wanted: {text[:200]!r}")
    return _without_surrogates(found) if re.search(r"\\u[dD][89a-fA-F]", text) else found


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _shown(data: bytes) -> str:
    text = data[: SHOWN_CHARS * 4].decode("utf-8", "replace")
    return text if len(text) <= SHOWN_CHARS and len(data) <= SHOWN_CHARS * 4 else text[:SHOWN_CHARS] + "..."


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _ending(code: int) -> str:
    return f"was ended by {signal_name(code)}" if code < 0 else f"ended with exit code {code}"


def _why_late(heard: Heard, sent: int) -> str:
    if heard.unsent:
        return f"it read only {sent - heard.unsent} of the {sent} bytes of the request"
    if heard.line:
        return f"it wrote {len(heard.line)} bytes and no line break; {_FLUSH}"
    return f"it wrote {'only blank lines' if heard.blank else 'nothing'}; {_FLUSH}"
