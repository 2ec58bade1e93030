"""Guards whose refusal does not arrive: exit codes, where they stand, and what is done with their answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from .. import profiles
from ..context import Context
from ..finding import Found
from ..launch import launches
from ..pattern import pattern
from ..rule import Example, rule
from ..script.seen import Seen, is_guard, seen
from ..script.traits import UNREADABLE
from ..vocabulary import names_of, pattern_of
from . import answers as answers
from . import authority as authority

_IN = "#!/bin/sh\npayload=$(cat)\n"
_NO = _IN + 'case $payload in *mkfs*) echo "no mkfs here" >&2; exit 2 ;; esac\n'
_SCRIPT = ".claude/hooks/refuse.sh"
_RUN = '\\"$CLAUDE_PROJECT_DIR\\"/' + _SCRIPT


def _settings(command: str = _RUN, event: str = "PreToolUse", matcher: str = "Bash", more: str = "") -> str:
    given = f'"matcher":"{matcher}",' if matcher else ""
    return f'{{"hooks":{{"{event}":[{{{given}"hooks":[{{"type":"command","command":"{command}"{more},"timeout":9}}]}}]}}}}'


def _project(text: str = _NO, command: str = _RUN, script: str = _SCRIPT, **more: str) -> Example:
    return Example(_settings(command, **more), files={script: text})


@rule(
    id="guard-exit-code",
    severity="error",
    title="The guard refuses with an exit code that does not refuse",
    consequence="every call passes",
    remedy="End with 2 (and the reason on stderr), or print a deny as JSON and end with 0.",
    source="public report B001; observed: every code but 2 is an error that blocks nothing",
    bad=(
        _project(_IN + 'case $payload in *mkfs*) echo "mkfs is forbidden" >&2; exit 1 ;; esac\n'),
        _project(
            '#!/usr/bin/env python3\nimport json\nimport sys\n\nif "mkfs" in '
            'json.load(sys.stdin)["tool_input"]["command"]:\n    sys.exit("mkfs is forbidden")\n',
            '\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.py', ".claude/hooks/refuse.py",
        ),
        _settings('grep -q mkfs && { echo \\"mkfs is blocked\\" >&2; exit 1; } || exit 0'),
    ),
    good=(
        _project(), _project(_NO + '[ -n "$payload" ] || { echo "usage: a payload on stdin" >&2; exit 64; }\n'),
        _project(
            "#!/usr/bin/env python3\nimport json\nimport sys\n\n\ndef refused(text):\n    return \"mkfs\" in text\n\n\n"
            'if "--selftest" in sys.argv:\n    sys.exit(0 if refused("mkfs") else 1)\n'
            'if refused(json.load(sys.stdin)["tool_input"]["command"]):\n    sys.exit(2)\n',
            '\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.py', ".claude/hooks/refuse.py",
        ),
    ),
)  # fmt: skip
def _check_exit(context: Context) -> Iterator[Found]:
    for each in seen(context):
        if each.event not in profiles.BLOCKING_EVENTS and each.event != "PermissionRequest":
            continue
        traits = each.traits
        only_step = each.launch.steps[0] if each.inline and len(each.launch.steps) == 1 else None
        if only_step is not None and only_step.name in ("grep", "egrep", "rg", "test", "[") and each.event == "PreToolUse":
            yield context.at(each.launch.handler.key("command"), f"{only_step.name} ends with 0 or 1 and never refuses with 2")
            continue
        if each.inline and each.event == "PreToolUse" and each.launch.script is None and _exits_1_on_a_hit(each):
            yield context.at(
                each.launch.handler.key("command"),
                "the command ends with 1 where its test is met: an error, and the call goes on",
            )
            continue
        for trait in traits.all("exit-other"):
            says_no = re.search(_NO_WORDS, trait.text, re.I) is not None
            # without any other way to refuse, an exit code is the refusal
            only = (
                not traits.ends_with_2
                and not traits.has("deny", "block", "result-dropped")
                and traits.has("says-no", "exit-text")
            )
            if says_no or only:
                yield context.at(
                    each.launch.handler.key("command"),
                    f"{each.where(trait)} refuses with an exit code other than 2: that is an error, and the call goes on",
                )
                break
        else:
            told = traits.first("says-no")
            if (
                each.event == "PreToolUse"
                and told is not None
                and not traits.ends_with_2
                and not traits.has(*_WAYS_TO_REFUSE)
                and re.search(_SAID_NO, each.text, re.I)
            ):
                yield context.at(
                    each.launch.handler.key("command"),
                    f"{each.where(told)} says that it refuses, and no way through it ends with 2 or prints a deny",
                )


def _exits_1_on_a_hit(each: Seen) -> bool:
    """`grep -q mkfs && exit 1`, without a word and without any other way to refuse."""
    if each.traits.ends_with_2 or each.traits.has(*_WAYS_TO_REFUSE[1:]):
        return False
    return any(
        test.name in ("grep", "egrep", "fgrep", "rg", "test", "[", "[[") and test.then == "&&"
        and then.name == "exit" and then.arguments not in ([], ["0"], ["2"])
        for test, then in pairwise(each.launch.steps)
    )  # fmt: skip


_WAYS_TO_REFUSE = (
    "exit-other", "deny", "ask", "block", "json", "result-dropped", "decision-word", "continue-false", "foreign-answer",
    "no-entry-point", "exit-in-pipe",
)  # fmt: skip
_SAID_NO = r"\b(?:blocked|denied|refused|rejected|forbidden)\b"
_NO_WORDS = r"block|den(?:y|ied)|refus|forbid|prohibit|reject|not allowed|not permitted|disallow|must not|may not|protected"


@rule(
    id="guard-refuses-everything",
    severity="error",
    title="Everything is refused without a look at it",
    consequence="every call refused",
    remedy="Read the input and refuse what must not be; to tell the model something, print it to stdout and end with 0.",
    source="public report B153; observed: with exit code 2 the prompt is erased, and only the user sees the text",
    bad=(
        _settings('echo \\"remember the tests\\" >&2; exit 2', event="UserPromptSubmit", matcher=""),
        _settings("exit 2", matcher="*"),
    ),
    good=(
        _settings('echo \\"no shell here\\" >&2; exit 2'),
        _settings("test -e .frozen || exit 0; exit 2", event="UserPromptSubmit", matcher=""),
        _settings('echo \\"remember the tests\\"', event="UserPromptSubmit", matcher=""),
    ),
)
def _check_everything(context: Context) -> Iterator[Found]:
    for each in seen(context):
        code = "\n".join(line for line in each.text.splitlines() if not line.lstrip().startswith("#"))
        if (
            each.event == "UserPromptSubmit"
            and not each.inline
            and each.traits.language in ("sh", "bash")
            and re.search(r"^exit 2\s*\Z", code.rstrip(), re.M)
            and not re.search(r"\b(?:if|case|while|grep|test|exit [01]|return)\b|&&|\|\||\[ ", code)
        ):
            yield context.at(each.launch.handler.key("command"), f"{each.name} refuses and erases every prompt")
    for launch in launches(context):
        event, matcher = launch.handler.event, launch.handler.matcher
        everything = event == "UserPromptSubmit" or (event == "PreToolUse" and matcher in (None, "", "*", ".*"))
        if not everything or not launch.shell or launch.handler.get("if") is not None or not launch.steps:
            continue
        *before, last = launch.steps
        if (
            last.name == "exit"
            and last.arguments == ["2"]
            and all(step.name in ("echo", "printf", "cat", ":", "true") and step.then in (";", "&&", "\n") for step in before)
        ):
            yield context.at(
                launch.handler.key("command"),
                "every prompt is refused and erased" if event == "UserPromptSubmit" else "every call of every tool is refused",
            )


@rule(
    id="guard-async",
    severity="error",
    title="The guard runs in the background",
    consequence="every call passes",
    remedy='Take "async" away from a handler that refuses.',
    source="observed on 2.1.178 and 2.1.332: the tool does not wait for it",
    bad=_project(more=',"async":true'),
    good=_project("#!/bin/sh\ncat >> /dev/null\n", more=',"async":true'),
)
def _check_async(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        node = launch.handler.get("async")
        if (
            node is not None
            and node.value is True
            and launch.handler.event in profiles.BLOCKING_EVENTS
            and is_guard(context, launch)
        ):
            yield context.at(launch.handler.key("async"), "an async handler refuses nothing: the tool does not wait for it")


@rule(
    id="guard-too-late",
    severity="error",
    title="The guard stands on an event that cannot be refused",
    consequence="every call passes",
    remedy="Put the guard on PreToolUse (for prompts: UserPromptSubmit); on PermissionRequest answer with JSON.",
    source="documentation; observed: exit code 2 only adds a text, or does nothing",
    bad=(
        _project(event="PostToolUse"),
        _project(event="SessionStart", matcher=""),
        _project(event="Notification", matcher=""),
        _project(event="PermissionRequest"),
    ),
    good=(_project(), _project("#!/bin/sh\ncat >/dev/null\nnpm test >&2 || exit 2\n", event="PostToolUse", matcher="Edit")),
)
def _check_late(context: Context) -> Iterator[Found]:
    for each in seen(context):
        event = each.event
        if (
            event in profiles.BLOCKING_EVENTS
            or event not in profiles.EVENTS_332
            or event == "PermissionDenied"
            or event in profiles.UNDOCUMENTED_EVENTS
        ):
            continue
        trait = next((t for t in each.traits.all("exit-2") if t.text != UNREADABLE), None)
        if event in ("PostToolUse", "PostToolUseFailure"):
            # 2 and block are how one tells the model about a result; only a guard of the input is too late
            denied = each.traits.first("deny")
            matcher = each.launch.handler.matcher or "*"
            calls = matcher == "*" or _matches(matcher, "Bash") or _matches(matcher, "WebFetch")
            if denied is None and not (
                trait is not None and calls and (re.search(_NO_WORDS, each.text, re.I) or matcher == "Bash")
            ):
                continue
            trait = denied or trait
            effect = "the tool has already run"
        elif trait is None:
            continue
        elif event == "PermissionRequest":
            if each.traits.has("json"):
                continue
            effect = "exit code 2 has no effect there; it wants JSON with decision.behavior"
        else:
            effect = "exit code 2 blocks nothing there"
        if trait is not None:
            yield context.at(
                each.launch.handler.group.event,
                f"{each.where(trait)} refuses on {event}: {effect}",
                severity=None if event in ("PostToolUse", "PermissionRequest") else "warning",
                consequence=None if event in ("PostToolUse", "PermissionRequest", "SessionStart") else "value ignored",
            )


@rule(
    id="stop-without-end",
    severity="warning",
    title="The Stop handler never lets go",
    consequence="runs too often",
    remedy="Leave with 0 when the input's stop_hook_active is true.",
    source="public report B132; observed: it runs nine times before it is overridden",
    bad=_project("#!/bin/sh\ncat >/dev/null\nif [ -e TODO ]; "
                 "then\n  echo \"TODO is not done\" >&2\n  exit 2\nfi\n", event="Stop", matcher=""),
    good=(_project("#!/bin/sh\ncase $(cat) in *'\"stop_hook_active\":true'*) exit 0 ;; esac\nif [ -e TODO ]; then\n  "
                   "echo \"TODO is not done\" >&2\n  exit 2\nfi\n", event="Stop", matcher=""),
          _project("#!/bin/sh\ncat >/dev/null\n[ -e .asked ] && exit 0\ntouch .asked\necho \"write the news\" >&2\nexit 2\n",
                   event="Stop", matcher="")),
)  # fmt: skip
def _check_stop(context: Context) -> Iterator[Found]:
    for each in seen(context):
        if (
            each.event in ("Stop", "SubagentStop")
            and (each.traits.ends_with_2 or each.traits.has("block"))
            and not each.traits.has("stop-hook-active")
            and not _OWN_LIMIT.search(each.text)
            and not _marks(each.text)
        ):
            yield context.at(
                each.launch.handler.key("command"), f"{each.name} sends the agent back and never looks at stop_hook_active"
            )


def _marks(text: str) -> bool:
    """Whether the script leaves a file behind and looks for it the next time: then it asks once."""
    names = {re.escape(match[1] or match[2]) for match in islice(_MARKS.finditer(text), 10)}
    return any(re.search(rf"-[defs]\s+{name}|\b{name}\.(?:exists|is_file)\(", text) is not None for name in names)


_MARKS = pattern(r"""(?:\btouch\s+|\bmkdir\s+(?:-p\s+)?|(?:^|[;&\s]):\s*>\s*)(["']?[\w$/.{}-]+["']?)|\b(\w+)\.touch\(""", re.M)
_OWN_LIMIT = pattern(r"(?i)max[_-]?\w*(?:iter|attempt|retr|block|count)|iterations?\b|attempts?\b|retries|counter")


def _matches(matcher: str, tool: str) -> bool:
    names = names_of(matcher)
    if names is not None:
        return tool in names
    pattern = pattern_of(matcher)
    return not isinstance(pattern, str) and pattern.search(tool) is not None
