"""What must hold between two runs of any runner, or of one run, whatever its dialect decides: no oracle is needed.

A relation describes a first case, varies it into a second, and says what is wrong in what was observed
of the two. Nothing here runs anything; drawing and asking is `search.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from . import applicability
from .cases import Call, Case, CasePermission, CaseStep, Expect, Handler, given
from .ground import AFTER_CALL, INPUT, Ground, Observation, fails, means_block, rewrites, verdict_of
from .matching import same, show
from .protocol import Verdict

FAMILY = "properties"
CUT_AT = 0.5
SLEEPS = 3.0
"""Seconds: the time limit of a handler that is to be cut, and how long it would sleep."""


class Claimed(str):
    """A finding that rests on the runner's word alone; any other was seen in the ledger."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """How the second case differs: where something is inserted, what, and in which order the handlers stand."""

    at: int = 0
    extra: Handler | None = None
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What came out of both cases; of a bound on one run there is only the first."""

    case: Case
    first: Observation
    other: Case | None = None
    second: Observation | None = None


# ---- the relations -------------------------------------------------------------------------------


class Relation:
    """One property. `name` is the sentence as a slug; its test in the suite is named after it."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    reorders: ClassVar[bool] = False
    enforces: ClassVar[bool] = False
    """Whether only tool runs count: a runner of scope chain has none."""
    together: ClassVar[int] = 1
    """How many pairs are asked side by side: several where they mostly sleep."""
    fewest: ClassVar[int] = 0
    """How many handlers the first case has at least."""
    bound: ClassVar[bool] = False
    """Whether it looks at one run only."""

    def why_not(self, ground: Ground) -> str | None:
        """Why it cannot be asked here, in words; None when it can."""
        if self.enforces and ground.scope == "chain":
            return applicability.CHAIN
        return "the runner declares no posture" if ground.posture is None else None

    def hosts(self, ground: Ground) -> Sequence[Verdict]:
        """The host's own verdicts under which it is asked."""
        return ("allow",)

    def pools(self, ground: Ground) -> Sequence[Sequence[Handler]]:
        """What the handlers of the first case are chosen from: all from one of these."""
        return (ground.before,)

    def demanded(self, ground: Ground) -> Sequence[Handler]:
        """One of these is among the handlers; empty: none need be."""
        return ()

    def inserted(self, ground: Ground) -> Sequence[Handler]:
        """What the second case may have beyond the first."""
        return ()

    def case(self, ground: Ground, handlers: Sequence[Handler], host: Verdict) -> Case:
        """The first case."""
        call = Call(tool="shell", input=INPUT)
        return described(self, ground, handlers, CasePermission(verdict=host), call=call)

    def vary(self, case: Case, choice: Choice) -> Case | None:
        """The second case; None where the relation is a bound on one run."""
        if self.bound:
            return None
        handlers = [case.handlers[number] for number in choice.order] if self.reorders else list(case.handlers)
        if choice.extra is not None:
            handlers.insert(choice.at, choice.extra)
        return msgspec.structs.replace(case, handlers=handlers)

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """What is wrong in what was observed, in words; None when the relation holds."""
        raise NotImplementedError


class AddingAnAllow(Relation):
    """One more allow, anywhere."""

    name = "adding-an-allow-never-loosens"
    sentence = "One more handler that says allow, wherever it stands, lets nothing run that did not run without it."

    def hosts(self, ground: Ground) -> Sequence[Verdict]:
        """Not ask, where an allow is the approval that the host wants."""
        return ("allow", "deny") if ground.lifts_ask() else ("allow", "ask", "deny")

    def inserted(self, ground: Ground) -> Sequence[Handler]:
        """An allow, with a reason and without."""
        return [h for h in ground.before if verdict_of(h) == "allow" and not rewrites(h)]

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """Fewer runs are no loosening; a verdict that held must hold on."""
        first, second = _both(seen)
        if sum(second.runs) > sum(first.runs):
            return f"without the allow the tool ran {_times(first)}, with it {_times(second)}"
        if first.hook not in (None, "none", "allow") and second.hook != first.hook:
            return Claimed(f"the answer claims the merged verdict {first.hook}, and with one more allow {second.hook}")
        return None


class ASilentHandler(Relation):
    """One more handler without an opinion, anywhere."""

    name = "a-silent-handler-changes-nothing"
    sentence = "One more handler that prints nothing and exits 0, wherever it stands, changes neither verdict nor tool call."

    def hosts(self, ground: Ground) -> Sequence[Verdict]:
        """Whatever the host says."""
        return ("allow", "ask", "deny")

    def pools(self, ground: Ground) -> Sequence[Sequence[Handler]]:
        """All, and those that let the tool run: only then can its arguments differ."""
        return ground.before, ground.permissive

    def inserted(self, ground: Ground) -> Sequence[Handler]:
        """Silent ones: reading stdin, and not."""
        return [Handler(), Handler(read="none")]

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """Runs, arguments and the claimed verdict are the same."""
        return _difference(*_both(seen), "one more silent handler")


class AFailingHandler(Relation):
    """One more handler that fails, anywhere."""

    name = "a-failing-handler-never-loosens"
    sentence = (
        "One more handler that fails, wherever it stands, lets nothing run that did not run without it, "
        "and lets nothing run at all where such a failure means block."
    )

    def pools(self, ground: Ground) -> Sequence[Sequence[Handler]]:
        """All, and those that let the tool run: only then is a failure what blocks it."""
        return ground.before, ground.permissive

    def inserted(self, ground: Ground) -> Sequence[Handler]:
        """All ways to fail."""
        return [h for h in ground.before if fails(h)]

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """No more runs; a deny stays one; a failure that is closed blocks."""
        first, second = _both(seen)
        if sum(second.runs) > sum(first.runs):
            return f"without the failing handler the tool ran {_times(first)}, with it {_times(second)}"
        if first.hook == "deny" != second.hook:
            return Claimed(f"the answer claims the merged verdict deny, and with one more failing handler {second.hook}")
        assert seen.other is not None and ground.posture is not None
        for number, handler in enumerate(seen.other.handlers, 1):
            if sum(second.runs) and means_block(handler, ground.posture):
                return f"h{number} fails, which means block, and the tool ran {_times(second)}"
        return None


class NothingIsWidened(Relation):
    """A bound on one run: what the host does not let run does not run, whatever hooks say."""

    name = "no-permission-verdict-is-widened"
    sentence = "Nothing that handlers answer lets a call run that the host denies, or that it would ask about with nobody there."
    enforces = True
    bound = True

    def hosts(self, ground: Ground) -> Sequence[Verdict]:
        """Those that stop a call."""
        asks = ground.posture is not None and ground.posture.ask_without_person == "deny"
        return ("deny", "ask") if asks else ("deny",)

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """It does not run, except by an allow where that is the approval which the host wants."""
        host = seen.case.permission.verdict
        approved = host == "ask" and ground.lifts_ask() and any(verdict_of(h) == "allow" for h in seen.case.handlers)
        if sum(seen.first.runs) and not approved:
            nobody = ", nobody is there to ask" if host == "ask" else ""
            return f"the host says {host}{nobody}, and the tool ran {_times(seen.first)}"
        return None


class Reordering(Relation):
    """The same handlers in another order."""

    name = "a-denied-call-stays-denied-under-reordering"
    sentence = "A call that a handler denies does not run, in whatever order the handlers stand."
    reorders = True

    def why_not(self, ground: Ground) -> str | None:
        """Only where all handlers run."""
        reason = super().why_not(ground)
        if reason is None and ground.posture is not None and ground.posture.on_veto != "run-all":
            return f"the posture on_veto is {ground.posture.on_veto}: not all handlers run, so their order matters"
        return reason

    def demanded(self, ground: Ground) -> Sequence[Handler]:
        """A deny; one with a rewrite could be taken out again, see `settled`."""
        return [h for h in ground.before if verdict_of(h) == "deny" and not rewrites(h)]

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """Neither of the two runs."""
        first, second = _both(seen)
        for words, each in (("in the first order", first), ("in the second order", second)):
            if sum(each.runs):
                return f"a handler denies, and {words} the tool ran {_times(each)}"
            if each.hook != "deny":
                return Claimed(f"a handler denies, and {words} the answer claims the merged verdict {each.hook}")
        return None


class ATimedOutHandler(Relation):
    """One more handler that is cut at its time limit."""

    name = "a-timed-out-handler-costs-only-itself"
    sentence = "A handler that is cut at its time limit is cut in time, and all others start and count as they would without it."
    together = 6
    fewest = 1

    def why_not(self, ground: Ground) -> str | None:
        """Only where a limit can be set."""
        reason = super().why_not(ground)
        if reason is None and "timeout" not in ground.features:
            return f"{applicability.NOT_DECLARED}timeout"
        if reason is None and not self.inserted(ground):
            return f"{ground.dialect.name} has no words for the time limit of one handler"
        return reason

    def inserted(self, ground: Ground) -> Sequence[Handler]:
        """Sleepers whose answer comes too late."""
        assert ground.posture is not None
        limit = CUT_AT * 1000 if ground.posture.timeout_unit == "ms" else CUT_AT
        late = [h for h in ground.before if verdict_of(h) in (None, "allow", "deny")]
        plain = [h for h in late if not (fails(h) or rewrites(h) or h.read != "all")]
        sleepers = [msgspec.structs.replace(h, sleep=SLEEPS, timeout=limit) for h in plain]
        return [h for h in sleepers if ground.can_say(h)]

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """It is cut; the others start; what holds is the verdict of the others, or the block that its failure means."""
        assert ground.posture is not None and seen.other is not None
        first, second = _both(seen)
        cut = next((f"h{n}" for n, h in enumerate(seen.other.handlers, 1) if given(h.timeout)), "")
        if cut in second.ended:
            return f"{cut} was not cut after {CUT_AT:g} s: it came to its end, {SLEEPS:g} s after its start"
        others = len(second.started) - second.started.count(cut)
        if ground.posture.on_veto == "run-all" and others != len(first.started):
            return f"beside {cut}, which is cut, {others} handlers started; without it, {len(first.started)}"
        if ground.posture.failure.timeout == "closed":
            return f"{cut} was cut, which means block, and the tool ran {_times(second)}" if sum(second.runs) else None
        return _difference(first, second, f"{cut}, which is cut,")


class Observers(Relation):
    """A bound on one run: handlers after a call cannot undo it, or stop the next."""

    name = "observational-events-never-block"
    sentence = "Whatever a handler answers after a tool has run, and however it fails, that call has run and the next one runs."
    enforces = True
    bound = True
    fewest = 1

    def why_not(self, ground: Ground) -> str | None:
        """Only where something fires after a call."""
        reason = super().why_not(ground)
        if reason is None and (feature := ground.dialect.event_features.get(AFTER_CALL)) not in ground.features:
            return f"{applicability.NOT_DECLARED}{feature}"
        return reason

    def pools(self, ground: Ground) -> Sequence[Sequence[Handler]]:
        """Those after a call."""
        return (ground.after,)

    def case(self, ground: Ground, handlers: Sequence[Handler], host: Verdict) -> Case:
        """Two calls, one after the other."""
        step = CaseStep(call=Call(tool="shell", input=INPUT))
        return described(self, ground, handlers, CasePermission(verdict=host), steps=[step, step])

    def wrong(self, ground: Ground, seen: Seen) -> str | None:
        """Both calls run, as they were asked for, and the answer says so."""
        if any(runs != 1 for runs in seen.first.runs):
            return f"the first call, the second and so on ran {', '.join(map(_many, seen.first.runs))}"
        if not same(seen.first.input, INPUT):
            return f"the first call ran with {show(seen.first.input)}, not {show(INPUT)}"
        if any(outcome != "ran" for outcome in seen.first.outcomes):
            return Claimed(f"all calls ran, and the answer claims the outcomes {', '.join(seen.first.outcomes)}")
        return None


ALL = (
    AddingAnAllow(),
    ASilentHandler(),
    AFailingHandler(),
    NothingIsWidened(),
    Reordering(),
    ATimedOutHandler(),
    Observers(),
)
RELATIONS: dict[str, Relation] = {relation.name: relation for relation in ALL}
"""The properties by name, in the order in which they are listed."""


# ---- their words ---------------------------------------------------------------------------------


def described(
    relation: Relation,
    ground: Ground,
    handlers: Sequence[Handler],
    permission: CasePermission,
    *,
    call: Call | None = None,
    steps: list[CaseStep] | None = None,
) -> Case:
    """A case that is asked and not judged: it expects nothing by itself."""
    return Case(
        id=f"{ground.dialect.name}/{FAMILY}/{relation.name}",
        rule=relation.name,
        why=relation.sentence,
        handlers=list(handlers),
        permission=permission,
        call=call,
        steps=steps,
        expect=Expect(),
        killed_by=[],
    )


def _both(seen: Seen) -> tuple[Observation, Observation]:
    assert seen.second is not None
    return seen.first, seen.second


def _difference(first: Observation, second: Observation, with_: str) -> str | None:
    if first.runs != second.runs:
        return f"the tool ran {_times(first)}, and with {with_} {_times(second)}"
    if not same(first.input, second.input):
        return f"the tool ran with {show(first.input)}, and with {with_} its arguments are {show(second.input)}"
    if first.hook != second.hook:
        return Claimed(f"the answer claims the merged verdict {first.hook}, and with {with_} {second.hook}")
    return None


def _times(seen: Observation) -> str:
    return _many(sum(seen.runs))


def _many(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{number} times")
