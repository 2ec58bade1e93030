"""Scripts that do not start, do not run to their end, or do not read what they are given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from .. import profiles
from ..context import Context
from ..finding import Found
from ..launch import INTERPRETERS, Launch, launches, written_in
from ..near import nearest
from ..rule import Example, rule
from ..script.seen import Seen, seen
from ..script.shell_syntax import fault

_SHELLS = "#!/bin/sh\n"
_REFUSE = 'case $(cat) in *mkfs*) echo "no mkfs here" >&2; exit 2 ;; esac\n'
_COMMON = frozenset({
    *INTERPRETERS, "env", "awk", "gawk", "sed", "make", "lua", "tclsh", "Rscript", "fish", "nu", "elvish", "osascript", "uv",
    "uvx", "npx", "go", "java", "swift", "elixir", "guile", "ts-node", "python2", "python",
})  # fmt: skip


def _settings(script: str, *, exec_form: bool = True, command: str = "") -> str:
    text = command or "${CLAUDE_PROJECT_DIR}/.claude/hooks/" + script
    args = ',"args":[]' if exec_form and not command else ""
    return (
        f'{{"hooks":{{"PreToolUse":[{{"matcher":"Bash","hooks":[{{"type":"command","command":"{text}"{args},"timeout":9}}]}}]}}}}'
    )


def _project(text: str, script: str = "refuse.sh", mode: int | None = None, command: str = "") -> Example:
    path = f".claude/hooks/{script}"
    return Example(_settings(script, command=command), files={path: text}, modes={path: mode} if mode is not None else {})


def _files(context: Context) -> Iterator[tuple[Launch, str, str]]:
    """Scripts that are there: how they are started, their text, their name."""
    for launch in launches(context):
        if launch.path is not None and launch.path.is_file():
            text = context.read(launch.path)
            if text is not None and "\0" not in text[:512]:
                yield launch, text, launch.path.name


def _opens(launch: Launch) -> str:
    return "every call passes" if launch.handler.event in profiles.BLOCKING_EVENTS else "cannot start"


@rule(
    id="script-not-executable",
    severity="error",
    title="The script may not be executed",
    consequence="every call passes",
    remedy="chmod +x the script, and commit the mode (git update-index --chmod=+x).",
    source="observed: ends with 126, or EACCES in the exec form, and the call passes",
    bad=_project(_SHELLS + _REFUSE, mode=0o644),
    good=(
        _project(_SHELLS + _REFUSE),
        _project(_SHELLS + _REFUSE, mode=0o644, command='sh \\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.sh'),
    ),
)
def _check_mode(context: Context) -> Iterator[Found]:
    for launch, _, name in _files(context):
        if launch.interpreter is None and launch.path is not None and not launch.path.stat().st_mode & 0o111:
            yield context.at(
                launch.handler.key("command"),
                f"{name} is not executable: it never starts, and the call goes on",
                consequence=_opens(launch),
            )


@rule(
    id="script-line-ends",
    severity="error",
    title="The script has the line ends of Windows",
    consequence="every call passes",
    remedy="Store the script with LF (and `*.sh text eol=lf` in .gitattributes).",
    source="public report B125; observed: the interpreter is not found, and the call passes",
    bad=(_project("#!/bin/sh\r\n" + _REFUSE.replace("\n", "\r\n")),),
    good=_project(_SHELLS + _REFUSE),
)
def _check_crlf(context: Context) -> Iterator[Found]:
    for launch, text, name in _files(context):
        first = text.split("\n", 1)[0]
        language = launch.language(text) or written_in(name, text)
        direct = launch.interpreter is None and first.startswith("#!")
        if first.endswith("\r") and (direct or language in ("sh", "bash")):
            yield context.at(
                launch.handler.key("command"),
                f"{name} has CRLF line ends: the interpreter's name ends in a carriage return and is not found",
                consequence=_opens(launch),
            )


@rule(
    id="script-interpreter",
    severity="error",
    title="The script's first line leads to no interpreter",
    consequence="every call passes",
    remedy="Begin the script with #!/bin/sh, #!/usr/bin/env bash or #!/usr/bin/env python3, at its very first byte.",
    source="observed: ENOENT or ENOEXEC, and the call passes",
    bad=(
        _project("#!/usr/bin/env pyhton3\nimport sys\n\nsys.exit(2)\n", "refuse.py"),
        _project("#!/usr/bin/env python3 -I\nimport sys\n\nsys.exit(2)\n", "refuse.py"),
        _project("#!/opt/none/of/this/zsh5\n" + _REFUSE),
        _project(_REFUSE, mode=0o755),
        _project("\n" + _SHELLS + _REFUSE, mode=0o755),
    ),
    good=(
        _project(_SHELLS + _REFUSE),
        _project("#!/usr/bin/env -S python3 -I\nimport sys\n\nsys.exit(2)\n", "refuse.py"),
        _project("#!/bin/dash\n" + _REFUSE),
    ),
)
def _check_interpreter(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        program = launch.steps[0].name if launch.steps else ""
        if launch.handler.text("shell") == "powershell" or len(program) < 4 or "=" in program or "$" in program:
            continue
        likely = _BY_LETTERS.get("".join(sorted(program)))
        if likely is not None and likely != program and program not in _COMMON and not _on_path(program):
            yield context.at(
                launch.handler.key("command"),
                f'the command asks for "{program}", which is not there; did you mean "{likely}"?',
                consequence=_opens(launch),
            )
    for launch, text, name in _files(context):
        if launch.interpreter is not None or not text.strip():
            continue
        wrong = _wrong_first_line(text, shell=launch.shell, name=name)
        if wrong is not None:
            yield context.at(launch.handler.key("command"), f"{name} {wrong}", consequence=_opens(launch))


def _on_path(program: str) -> bool:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return bool(program) and any(os.access(os.path.join(folder, program), os.X_OK) for folder in folders)


_BY_LETTERS = {"".join(sorted(name)): name for name in INTERPRETERS}
"""The letters of an interpreter, sorted -> its name: `pyhton3` has those of python3."""


def _wrong_first_line(text: str, *, shell: bool, name: str) -> str | None:
    if text.startswith("\ufeff"):
        return "begins with a byte order mark: its interpreter line is not seen" if "#!" in text[:4] else None
    first = text.split("\n", 1)[0].rstrip("\r")
    if not first.startswith("#!"):
        later = re.match(r"(?:\s*(?:#[^!].*)?\n){1,3}\s*#!", text)
        if later is not None:
            return "has its interpreter line not at the first byte: it is a mere comment there"
        if not shell:
            return "has no interpreter line, which the exec form needs (ENOEXEC)"
        language = written_in(name, None)
        if language not in (None, "sh", "bash") and name.endswith((".py", ".js", ".mjs", ".rb")):
            return f"has no interpreter line: sh reads it as a shell script, and it is {language}"
        return None
    words = first[2:].split()
    if not words:
        return "has an empty interpreter line"
    program = words[0]
    if program.rpartition("/")[2] == "env":
        if "-S" in words[1:2] or (len(words) > 1 and words[1].startswith("-S")):
            return None
        if len(words) > 2:
            return f'asks env for a program called "{" ".join(words[1:])}", arguments and all; write #!/usr/bin/env -S'
        wanted = words[1] if len(words) > 1 else ""
        plain = re.sub(r"[\d.]+\Z", "", wanted)
        if wanted in _COMMON or plain in _COMMON or _on_path(wanted):
            return None
        likely = nearest(wanted, _COMMON)
        return f'asks for "{wanted}", which is not there' + (f'; did you mean "{likely}"?' if likely else "")
    if os.path.exists(program):
        return None
    base = re.sub(r"(?<=python3)\.\d+\Z", "", program.rpartition("/")[2])
    if base in _COMMON and program.rpartition("/")[0] in ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"):
        return None
    return f"asks for {program}, which is not there"


@rule(
    id="script-wrong-runner",
    severity="error",
    title="The script is run by another language's interpreter",
    consequence="every call passes",
    remedy="Start the script itself, or name the interpreter that its first line names.",
    source="observed: the interpreter ends with an error, and the call passes",
    bad=(
        _project(
            "#!/usr/bin/env python3\nimport sys\n\nsys.exit(2)\n",
            "refuse.py",
            command='bash \\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.py',
        ),
        _project(_SHELLS + _REFUSE, command='node \\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.sh'),
        Example(
            _settings("refuse.sh", exec_form=False).replace('"timeout"', '"shell":"powershell","timeout"'),
            files={".claude/hooks/refuse.sh": _SHELLS + _REFUSE},
        ),
    ),
    good=_project(_SHELLS + _REFUSE, command='bash \\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/refuse.sh'),
)
def _check_runner(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.handler.text("shell") == "powershell" and launch.shell:
            if launch.interpreter is None and (launch.script or "").endswith((".sh", ".bash")):
                name = (launch.script or "").rpartition("/")[2]
                yield context.at(
                    launch.handler.key("shell"),
                    f"{name} is a script of sh, and powershell is asked to run it",
                    consequence=_opens(launch),
                )
            continue
        if launch.interpreter is None or launch.script is None:
            continue
        text = context.read(launch.path) if launch.path is not None and launch.path.is_file() else None
        written, run = written_in(launch.script, text), INTERPRETERS.get(launch.interpreter)
        if written is None or run is None or written == run or {written, run} == {"sh", "bash"}:
            continue
        yield context.at(
            launch.handler.key("command"),
            f"{launch.script.rpartition('/')[2]} is a script of {written}, and {launch.interpreter} runs it",
            consequence=_opens(launch),
        )


@rule(
    id="script-bashism",
    severity="error",
    title="The script uses bash where sh runs it",
    consequence="every call passes",
    remedy="Begin the script with #!/bin/bash (or run it with bash), or write what sh knows.",
    source="observed: hooks and #!/bin/sh are run by dash on Debian and Ubuntu, where [[ is no command",
    bad=(
        _project(_SHELLS + 'if [[ $(cat) == *mkfs* ]]; then\n  echo "no mkfs" >&2\n  exit 2\nfi\n'),
        _settings("", command="[[ -e .frozen ]] && exit 2; exit 0"),
        _project("#!/bin/sh\nset -euo pipefail\n" + _REFUSE),
        _settings("", command="grep -q mkfs &>/dev/null && exit 2; exit 0"),
    ),
    good=(
        _project("#!/bin/bash\n" + 'if [[ $(cat) == *mkfs* ]]; then\n  echo "no mkfs" >&2\n  exit 2\nfi\n'),
        _settings("", command="[ ! -e .frozen ] || exit 2"),
    ),
)
def _check_bashism(context: Context) -> Iterator[Found]:
    for each in seen(context):
        trait = each.traits.first("bash")
        if trait is None or not _by_sh(each):
            continue
        what, _, consequence = trait.text.partition("\0")
        yield context.at(
            each.launch.handler.key("command"),
            f"{each.where(trait)} uses {what}, which sh does not know"
            + (
                ""
                if consequence == "every call passes"
                else ": an error ends it with 2"
                if what == "pipefail"
                else ": a syntax error ends it with 2"
            ),
            consequence=consequence if each.event in profiles.BLOCKING_EVENTS else "cannot start",
        )


def _by_sh(each: Seen) -> bool:
    if each.inline:
        return True
    if each.launch.interpreter is not None:
        return each.launch.interpreter in ("sh", "dash", "ash")
    first = each.text.split("\n", 1)[0]
    return re.match(r"#!\s*(?:/usr)?/bin/(?:sh|dash)\b|#!\s*/usr/bin/env\s+(?:sh|dash)\b", first) is not None


@rule(
    id="script-syntax-error",
    severity="error",
    title="The script cannot be read by its interpreter",
    consequence="every call passes",
    remedy="Run the script once by hand.",
    source="observed: Python ends with 1, and the call passes; sh ends with 2, and every call is refused",
    bad=(
        _project("#!/usr/bin/env python3\nimport sys\n\nif True\n    sys.exit(2)\n", "refuse.py"),
        _project(_SHELLS + 'case $(cat) in *mkfs*) echo "no mkfs" >&2; exit 2 ;;\n'),
        _settings("", command="if grep -q mkfs; then echo no >&2; exit 2"),
    ),
    good=(
        _project("#!/usr/bin/env python3\nimport sys\n\nsys.exit(2)\n", "refuse.py"),
        _project(_SHELLS + _REFUSE),
        _settings("", command="if grep -q mkfs; then echo no >&2; exit 2; fi"),
    ),
)
def _check_syntax(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.shell and launch.simple and launch.handler.text("shell") != "powershell":
            broken = fault(launch.command)
            if broken is not None:
                refused = launch.handler.event in profiles.BLOCKING_EVENTS
                yield context.at(
                    launch.handler.key("command"),
                    f"{broken[1]}; the shell ends with 2 there" + (" and refuses every call" if refused else ""),
                    consequence="every call refused" if refused else "cannot start",
                )
    for each in seen(context):
        trait = each.traits.first("syntax-error")
        if trait is None:
            continue
        shell = each.traits.language in ("sh", "bash")
        run_by = INTERPRETERS.get(each.launch.interpreter or "")
        # a script that another language's interpreter runs is told elsewhere, and so is python -c
        if shell and (each.inline or run_by in (None, "sh", "bash")):
            refused = each.event in profiles.BLOCKING_EVENTS
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(trait)}: {trait.text}; a shell ends with 2 there" + (" and refuses every call" if refused else ""),
                consequence="every call refused" if refused else "cannot start",
            )
        elif not shell and not each.inline and run_by in (None, "python"):
            yield context.at(
                each.launch.handler.key("command"), f"{each.where(trait)}: {trait.text}", consequence=_opens(each.launch)
            )


@rule(
    id="script-does-nothing",
    severity="error",
    title="The script does nothing when it is run",
    consequence="every call passes",
    remedy="Call the function at the end of the file: sys.exit(main()).",
    source="public report B025; observed: ends with 0, and the call passes",
    bad=(
        _project("#!/usr/bin/env python3\nimport sys\n\n\ndef main():\n    sys.exit(2)\n", "refuse.py"),
        _project("#!/bin/sh\nrefuse() {\n  exit 2\n}\n"),
        _project("", mode=0o755),
    ),
    good=_project("#!/usr/bin/env python3\nimport sys\n\n\ndef main():\n    return 2\n\n\nsys.exit(main())\n", "refuse.py"),
)
def _check_nothing(context: Context) -> Iterator[Found]:
    for each in seen(context):
        trait = each.traits.first("no-entry-point")
        if trait is not None and not each.inline:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.name} defines {trait.text} and calls nothing: it ends with 0",
                consequence=_opens(each.launch),
            )
    for launch, text, name in _files(context):
        code = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "//"))]
        if not code:
            yield context.at(launch.handler.key("command"), f"{name} is empty: it ends with 0", consequence=_opens(launch))


@rule(
    id="script-errexit",
    severity="warning",
    title="The script ends before it has answered",
    consequence="cannot start",
    remedy="Write `|| true` behind the grep, or test it with `if`.",
    source="public report B072: under set -e a grep without a match ends the script with 1",
    bad=_project('#!/bin/bash\nset -e\nhit=$(grep -o mkfs)\nif [ -n "$hit" ]; then\n  echo "no mkfs" >&2\n  exit 2\nfi\n'),
    good=_project(
        '#!/bin/bash\nset -e\nhit=$(grep -o mkfs || true)\nif [ -n "$hit" ]; then\n  echo "no mkfs" >&2\n  exit 2\nfi\n'
    ),
)
def _check_errexit(context: Context) -> Iterator[Found]:
    for each in seen(context):
        trait = each.traits.first("errexit-grep")
        if trait is not None:
            yield context.at(
                each.launch.handler.key("command"),
                f"{each.where(trait)}: under set -e a grep without a match ends the script with 1",
            )
