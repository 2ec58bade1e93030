"""A guard must not open when something is other than usual: what it refuses stays refused, and a crash lets nothing through."""

# ruff: noqa: D103  (each check says its sentence in its decorator)

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .. import variants
from ..check import Finding, NotApplicable, NotTested, Probe, Severity, check
from ..fire import How
from ..search import Shot
from ..stimuli import Stimulus, command_of
from ..variants import Variant
from .starts import canaries

FAMILY = "fail-safe"

BEFORE = ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "BeforeTool")
"""The events at which a guard that opens lets something happen."""
HELPERS = ("jq", "python3", "python", "node", "perl", "ruby", "yq", "php", "deno", "bun", "gawk")
SLOW_S = 0.5
"""A script that takes this long is started less often."""
LONG_COMMENT = 75_000
"""Lines; together more than a pipe holds, and more than one argument may have."""

_BROKEN = re.compile(
    r"jq: error|parse error|Traceback \(most recent|Exception\b|\bpanic\b|Argument list too long|[Ss]yntax ?[Ee]rror"
)


def killed(shot: Shot) -> bool:
    """Whether the harness had to end it."""
    return shot.fired.timed_out or bool(shot.fired.flooded)


def lively(probe: Probe) -> None:
    """Raises NotTested for a script that hardly ever ends by itself."""
    ended = [shot for shot in probe.canaries.shots if killed(shot)]
    if len(ended) * 2 > len(probe.canaries.shots):
        raise NotTested("most starts of it had to be ended; see the families time and conduct")


def fewer(probe: Probe, number: int) -> int:
    """A number of starts that takes no ages with a slow script."""
    ended = sorted(shot.fired.seconds for shot in probe.canaries.shots)
    return number if not ended or ended[len(ended) // 2] < SLOW_S else max(3, number // 4)


def broke(shot: Shot) -> bool:
    """Whether it ended by a fault of its own, told from its end and from what it complained of."""
    return shot.crashed or killed(shot) or (shot.fired.exit not in (0, None) and bool(_BROKEN.search(shot.fired.complained)))


def fired(probe: Probe, made: Sequence[Variant], how: How = How()) -> list[tuple[Variant, Shot]]:  # noqa: B008  (frozen)
    """Each variant with what came of it."""
    return list(zip(made, probe.raw_all([(f"a payload {one.name}", one.data, how) for one in made]), strict=True))


def _let_through(probe: Probe, made: Sequence[Variant]) -> Iterable[Finding]:
    """The variants of the refused stimulus that are not refused."""
    lively(probe)
    for variant, shot in fired(probe, made):
        if not shot.refuses:
            yield Finding(
                f"what it refuses passes in a payload {variant.name}",
                "it is refused",
                shot,
                severity=_weighed(probe, variant, shot),
            )


def _weighed(probe: Probe, variant: Variant, shot: Shot) -> Severity:
    # a field that the script itself reads may rightly change its mind, as long as it does not break over it
    reads = bool(variant.field) and variant.field in probe.source
    return "should" if reads and not broke(shot) else variant.severity


def _opens(probe: Probe, made: Sequence[Variant]) -> Iterable[Finding]:
    """The variants at which the guard breaks, or says no, and the call passes."""
    lively(probe)
    effective = probe.canaries.refused is not None
    if broke(probe.shoot(canaries(probe)[0])):
        raise NotTested("it breaks over any payload; see starts")
    # a no that never has an effect is told of elsewhere, and is no failure over this payload
    usual = {shot.fired.exit for shot in (probe.canaries.passed, *probe.canaries.all_tried) if shot} | {0, None}
    for variant, shot in fired(probe, made):
        if shot.refuses:
            continue
        if broke(shot):
            yield Finding(
                f"it breaks over a payload {variant.name}, and the call passes", "a refusal", shot, severity=variant.severity
            )
        elif effective and shot.tries:
            yield Finding(f"it says no to a payload {variant.name}, and the call passes", "a refusal", shot, severity="must")
        elif not shot.tries and shot.fired.exit not in usual:
            yield Finding(f"it fails over a payload {variant.name}, and the call passes", "a refusal", shot, severity="should")


@check(
    "refuses-in-any-payload",
    family=FAMILY,
    title="What the guard refuses it refuses whatever else the payload says.",
    consequence="with another version of the agent, or in another mode, {dialect} lets through what the guard is there for",
    remedy="read only the fields that the decision needs; take a missing or odd field for unknown; when in doubt, refuse",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def refuses_in_any_payload(probe: Probe) -> Iterable[Finding]:
    refused = probe.refused
    together = list(_let_through(probe, variants.surroundings(refused)))
    if any(" nothing to do with it" in finding.saw for finding in together):
        # which field it is says more than that it is one of them
        single = list(_let_through(probe, variants.one_by_one(refused)))
        if single:
            together = [finding for finding in together if " nothing to do with it" not in finding.saw] + single
    yield from together


@check(
    "crash-opens",
    family=FAMILY,
    title="A field that is missing does not make the guard crash.",
    consequence="a crash is no refusal: {dialect} shows an error, if that, and the call passes",
    remedy="take fields with a default (.get, // empty, ?.), and end with exit code 2 on whatever cannot be understood",
    kinds=("guard",),
    events=BEFORE,
)
def crash_opens(probe: Probe) -> Iterable[Finding]:
    yield from _opens(probe, variants.lacking(canaries(probe)[0]))


@check(
    "odd-values",
    family=FAMILY,
    title="Null, or a value of another type, does not make the guard crash.",
    consequence="a crash is no refusal: {dialect} shows an error, if that, and the call passes",
    remedy="look at the type before the value is used, and end with exit code 2 on what cannot be understood",
    severity="should",
    kinds=("guard",),
    events=BEFORE,
)
def odd_values(probe: Probe) -> Iterable[Finding]:
    yield from _opens(probe, variants.odd_values(canaries(probe)[0]))


@check(
    "unreadable-payload",
    family=FAMILY,
    title="A payload that cannot be read is refused.",
    consequence="{dialect} lets the call pass that the guard could not judge",
    remedy="end with exit code 2 when the payload is no JSON: jq -e . >/dev/null || exit 2; except ValueError: sys.exit(2)",
    severity="should",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def unreadable_payload(probe: Probe) -> Iterable[Finding]:
    made = variants.unreadable(probe.refused)
    broken = list(_opens(probe, made))
    yield from broken
    named = {finding.shot.stimulus.id for finding in broken if finding.shot is not None}
    for variant, shot in fired(probe, made):
        if not shot.refuses and shot.stimulus.id not in named:
            yield Finding(f"it passes a payload {variant.name}", "a refusal", shot, severity=variant.severity)


@check(
    "odd-text",
    family=FAMILY,
    title="Odd characters beside it do not hide what the guard refuses.",
    consequence="a call with such a text in it passes in {dialect}",
    remedy="read stdin as UTF-8 with errors replaced, and let a JSON parser take it apart",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def odd_text(probe: Probe) -> Iterable[Finding]:
    yield from _let_through(probe, variants.texts(probe.refused))


@check(
    "large-payload",
    family=FAMILY,
    title="Great size does not hide what the guard refuses.",
    consequence="a long file, or some padding, and {dialect} lets the call pass",
    remedy="hand the payload on by a pipe or a file, not as an argument; no grep -q behind a pipe with pipefail",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def large_payload(probe: Probe) -> Iterable[Finding]:
    yield from _let_through(probe, variants.sizes(probe.refused))
    command = command_of(probe.refused)
    if command is not None:
        short, long = (
            probe.refused.with_input(command=f"{command}\n{'# and so on' * 3}\n{comment}")
            for comment in ("#\n", "#\n" * LONG_COMMENT)
        )
        before, after = probe.shoot_all([short, long])
        if before.refuses and not after.refuses:
            yield Finding("what it refuses passes with a long comment behind it", "it is refused", after, severity="should")


@check(
    "deep-nesting",
    family=FAMILY,
    title="A deeply nested field does not hide what the guard refuses.",
    consequence="a parser that gives up makes the guard crash, and {dialect} lets the call pass",
    remedy="end with exit code 2 on whatever goes wrong: a trap, or except BaseException",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def deep_nesting(probe: Probe) -> Iterable[Finding]:
    yield from _let_through(probe, variants.depths(probe.refused))


@check(
    "payload-in-pieces",
    family=FAMILY,
    title="The guard reads its input to the end, in however many pieces it comes.",
    consequence="a long payload comes in pieces; the guard judges the first one, and {dialect} lets the call pass",
    remedy="read until the end of stdin: cat, sys.stdin.read(), for await (const chunk of process.stdin)",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def payload_in_pieces(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    shot = probe.shoot(probe.refused, How(stdin="pieces"))
    if not shot.refuses:
        yield Finding("what it refuses passes when the payload comes in pieces", "it is refused", shot)


def interpreter(probe: Probe) -> str:
    """The first line and the command line: what is named there must be there, or nothing starts at all."""
    first = probe.source.partition("\n")[0]
    return f"{first if first.startswith('#!') else ''} {probe.script.command if probe.script.settings else ''}"


@check(
    "missing-helper",
    family=FAMILY,
    title="Without a program that it needs, the guard refuses.",
    consequence="where the program is not installed the guard is silent, and {dialect} lets everything pass",
    remedy="look first: command -v jq >/dev/null || { echo 'jq is missing' >&2; exit 2; }",
    severity="should",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def missing_helper(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    given = interpreter(probe)
    code = "\n".join(text for text in probe.source.splitlines()[1:] if not text.lstrip().startswith(("#", "//")))
    used = [name for name in HELPERS if re.search(rf"\b{name}\b", code) and not re.search(rf"\b{name}\b", given)]
    if not used:
        raise NotApplicable("it calls no program that may be missing")
    shots = probe.shoot_all([(probe.refused, How(path=probe.bench.path_without(name))) for name in used])
    for name, shot in zip(used, shots, strict=True):
        if not shot.refuses:
            yield Finding(f"without {name} what it refuses passes", "a refusal", shot)


@check(
    "no-room-to-write",
    family=FAMILY,
    title="The guard refuses also where nothing can be written.",
    consequence="on a full or read-only disk the guard fails before it has decided, and {dialect} lets everything pass",
    remedy="decide first, log afterwards, and let nothing that goes wrong with the log change the exit code",
    kinds=("guard",),
    events=BEFORE,
    needs=("refused",),
)
def no_room_to_write(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    ways = (("read-only", How(read_only=True)), ("full", How(full=True)))
    shots = probe.shoot_all([(probe.refused, how) for _, how in ways])
    if all(shot.fired.exit in (1, 125) and re.search("unshare|mount", shot.fired.complained) for shot in shots):
        raise NotTested("no file system can be mounted here")
    for (word, _), shot in zip(ways, shots, strict=True):
        if not shot.refuses:
            yield Finding(f"on a disk that is {word} what it refuses passes", "a refusal", shot)


# ---- those that guard nothing --------------------------------------------------------------------


def _all_odd(stimulus: Stimulus) -> list[Variant]:
    return [
        *(*variants.surroundings(stimulus), *variants.texts(stimulus), *variants.lacking(stimulus)),
        *(*variants.odd_values(stimulus), *variants.unreadable(stimulus), variants.sizes(stimulus)[0]),
    ]


@check(
    "observer-never-blocks",
    family="observers",
    title="A script that is no guard never holds anything.",
    consequence="a payload that it does not understand, and {dialect} holds what the script was only to look at",
    remedy="end with exit code 0 whatever happens; mind that argparse, grep and python3 with a missing file end with 2",
    kinds=("observer", "context", "formatter"),
)
def observer_never_blocks(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    for variant, shot in fired(probe, _all_odd(canaries(probe)[0])):
        if shot.refuses:
            yield Finding(f"a payload {variant.name} is held", "it passes", shot)


@check(
    "observer-survives",
    family="observers",
    title="A script that is no guard copes with payloads that lack what it looks for.",
    consequence="{dialect} shows an error on each such call, and what the script was to note is lost",
    remedy="take fields with a default (.get, // empty, ?.)",
    severity="should",
    kinds=("observer", "context", "formatter"),
)
def observer_survives(probe: Probe) -> Iterable[Finding]:
    lively(probe)
    for variant, shot in fired(probe, variants.lacking(canaries(probe)[0])):
        if broke(shot) and not shot.refuses:
            yield Finding(f"it breaks over a payload {variant.name}", "exit code 0", shot)
