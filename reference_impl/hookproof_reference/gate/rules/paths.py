"""Where commands point to: paths, placeholders, variables, and scripts that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..context import Context
from ..document import Node
from ..finding import Found
from ..launch import Launch, asks_for, launches
from ..near import nearest
from ..pattern import pattern
from ..rule import Example, rule
from . import tokens as tokens

_PLACEHOLDERS = ("CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA")
_KNOWN = frozenset({
    *_PLACEHOLDERS, "CLAUDE_ENV_FILE", "CLAUDE_EFFORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PID",
    "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_TMPDIR",
})  # fmt: skip
_NEVER_SET = pattern(
    r"\$\{?((?:CLAUDE_)?(?:TOOL_(?:INPUT|NAME|OUTPUT|RESULT|ARGS|RESPONSE|PARAMS|USE_ID)\w*|FILE_PATHS?|HOOK_(?:INPUT|"
    r"EVENT|NAME)\w*"
    r"|PROMPT|USER_PROMPT|NOTIFICATION|EVENT|MESSAGE)|FILE|FILES|FILEPATH|FILE_NAME|ARGUMENTS|ARGS|INPUT|PAYLOAD|SESSION_ID)\b"
)
_PERSONAL = pattern(r"/(?:Users|home)/[^/\s\"']+|/root/|/Volumes/|/mnt/[a-z]/|[A-Za-z]:[\\/]|\\\\\w")
_SYSTEM = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/dev/", "/etc/")


def _command(text: str, more: str = "", event: str = "PreToolUse") -> str:
    handler = f'{{"type":"command","command":"{text}"{more},"timeout":9}}'
    return f'{{"hooks":{{"{event}":[{{"matcher":"Edit|Write","hooks":[{handler}]}}]}}}}'


_RECORDER = {".claude/hooks/record.sh": "#!/bin/sh\ncat >/dev/null\n"}


def _texts(launch: Launch) -> list[tuple[Node, str]]:
    """The command and its arguments with their places."""
    found: list[tuple[Node, str]] = []
    command = launch.handler.get("command")
    args = launch.handler.get("args")
    for node in ([command] if command is not None else []) + (args.items if args is not None else []):
        if node.text:
            found.append((node, node.text))
    return found


@rule(
    id="path-absolute",
    severity="error",
    title="The path exists on one machine only",
    consequence="not portable",
    remedy="Begin the path with ${CLAUDE_PROJECT_DIR} (or ${CLAUDE_PLUGIN_ROOT} in a plugin).",
    source="seed 001, Anti-Patterns and Design Rules 5",
    kinds=("settings", "plugin-hooks"),
    bad=(
        _command("/Users/ada/shop/record.sh"),
        _command("python3", ',"args":["/home/ada/record.py"]'),
        _command("C:\\\\\\\\hooks\\\\\\\\record.exe"),
    ),
    good=(_command("/usr/bin/logger edited"), _command("/bin/date >/dev/null")),
)
def _check_absolute(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        for node, text in _texts(launch):
            personal = _PERSONAL.search(re.sub(r"https?://\S+", "", text))
            script = launch.script if launch.script and launch.script.startswith("/") else None
            if personal is not None:
                yield context.at(node, f'"{personal[0]}" is a place on one machine; elsewhere the handler does not start')
            elif script and script in text and not script.startswith(_SYSTEM) and re.search(r"\.\w+\Z", script):
                yield context.at(
                    node, f'"{script}" is an absolute path; elsewhere the handler does not start', severity="warning"
                )


@rule(
    id="path-relative",
    severity="warning",
    title="The path is relative",
    consequence="cannot start",
    remedy='Begin the path with "$CLAUDE_PROJECT_DIR"/ (in a plugin: "${CLAUDE_PLUGIN_ROOT}"/).',
    source="public report B121; observed: the working directory of hooks follows a cd of the model",
    bad=(
        _command("./record.sh"),
        _command("bash .claude/hooks/record.sh"),
        _command("python3", ',"args":["../tools/record.py"]'),
    ),
    good=(_command("npx prettier --check ."), _command("cat >> ./notes.log")),
)
def _check_relative(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        script = launch.script
        if (
            script is None
            or re.match(r"[/~$%\\]|[A-Za-z]:", script)
            or "\0" in script
            or re.match(r"cd\s+[\"']?\$", launch.command)
        ):
            continue
        if "$" in script or "{" in script:
            continue
        place = "the plugin" if context.kind == "plugin-hooks" else "the project"
        leaves = " and leaves the project" if script.startswith("../") else ""
        yield context.at(
            launch.handler.key("command"),
            f'"{script}" is relative{leaves}: it is looked for in the working directory, which is not always {place}',
            consequence="every call refused" if launch.interpreter and launch.interpreter.startswith("python") else None,
        )


@rule(
    id="placeholder-unquoted",
    severity="warning",
    title="A path with a placeholder is not quoted",
    consequence="cannot start",
    remedy='Write "$CLAUDE_PROJECT_DIR"/..., with the quotes, or use the exec form ("args": []).',
    source="seed 001, Design Rules 5; public report B117; observed with a blank in the project's path",
    bad=(_command("$CLAUDE_PROJECT_DIR/record.sh"), _command("node ${CLAUDE_PROJECT_DIR}/record.js")),
    good=(
        _command('\\"$CLAUDE_PROJECT_DIR\\"/record.sh'),
        _command('\\"${CLAUDE_PROJECT_DIR}/record.sh\\" -v'),
        _command("${CLAUDE_PROJECT_DIR}/record.sh", ',"args":[]'),
    ),
)
def _check_unquoted(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if not launch.shell or launch.handler.text("shell") == "powershell":
            continue
        for step in launch.steps:
            # what is assigned is not split into words
            bare = next(
                (
                    m[1]
                    for w in step.words
                    if not re.match(r"\w+=", w.raw)
                    and (m := re.search(r"\$\{?(CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA))\b", w.bare))
                ),
                None,
            )
            if bare is None:
                continue
            first = launch.interpreter
            refuses = first is not None and first.startswith("python")
            yield context.at(
                launch.handler.key("command"),
                f"${bare} is not quoted: with a blank in that path "
                + (
                    "python ends with 2 for a file that is not there, and every call is refused"
                    if refuses
                    else "the handler does not start"
                ),
                consequence="every call refused" if refuses else None,
                severity="info" if bare != "CLAUDE_PROJECT_DIR" else None,
            )
            break


@rule(
    id="placeholder-literal",
    severity="error",
    title="A placeholder stays as it is written",
    consequence="cannot start",
    remedy="In the exec form write ${CLAUDE_PROJECT_DIR}, with braces; in the shell form use double quotes.",
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        _command("'$CLAUDE_PROJECT_DIR/record.sh'"),
        _command("$CLAUDE_PROJECT_DIR/record.sh", ',"args":[]'),
        _command("~/record.sh", ',"args":[]'),
        _command("python3", ',"args":["$HOME/record.py"]'),
        _command("%CLAUDE_PROJECT_DIR%/record.sh"),
        _command('\\"\\\\$CLAUDE_PROJECT_DIR\\"/record.sh'),
    ),
    good=(_command("jq -r '.x' \\\"$CLAUDE_PROJECT_DIR\\\"/a.json || exit 0"), _command("~/record.sh")),
)
def _check_literal(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        for node, text in _texts(launch):
            percent = re.search(r"%CLAUDE_\w+%|%USERPROFILE%|%HOME%", text)
            if percent is not None and launch.handler.text("shell") != "powershell":
                yield context.at(node, f'"{percent[0]}" is not expanded; hooks are run by sh')
                continue
            if not launch.shell:
                bare = re.search(r"\$(?:CLAUDE_\w+|HOME|PWD|USER)\b|\$\{(?:HOME|PWD|USER)\}", text)
                if bare is not None:
                    yield context.at(
                        node,
                        f'"{bare[0]}" stays literal in the exec form, which starts no shell; only '
                        f"${{CLAUDE_PROJECT_DIR}} and its like are put in",
                    )
                elif text.startswith("~"):
                    yield context.at(node, f'"{text}": a tilde stays literal in the exec form, which starts no shell')
        if launch.shell:
            escaped = re.match(r"[\"']?\\\$\{?CLAUDE_\w+", launch.command)
            if escaped is not None:
                yield context.at(launch.handler.key("command"), "the backslash before $ keeps the placeholder literal")
                continue
            for step in launch.steps:
                quoted = next(
                    (w for w in step.words[:2] if re.search(r"\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\b", w.single)), None
                )
                if (
                    quoted is not None
                    and "${CLAUDE" not in quoted.single
                    and step.name not in ("jq", "awk", "sed", "sh", "bash", "grep", "echo")
                ):
                    yield context.at(
                        launch.handler.key("command"), f"{quoted.raw} stays literal in single quotes; the handler does not start"
                    )
                    break


@rule(
    id="exec-form-shell-syntax",
    severity="error",
    title="The exec form is given shell syntax",
    consequence="cannot start",
    remedy='Leave "args" out to have a shell, or move the pipe into a script.',
    source="observed on 2.1.178 and 2.1.332",
    bad=(
        _command("echo", ',"args":["edited",">>","edits.log"]'),
        _command("record.sh --quiet", ',"args":[]'),
        _command("make", ',"args":["test","&&","touch","ok"]'),
        _command("cat", ',"args":["\\"${CLAUDE_PROJECT_DIR}/NEWS\\""]'),
    ),
    good=(_command("grep", ',"args":["-q","a|b"]'), _command("${CLAUDE_PROJECT_DIR}/my hooks/record.sh", ',"args":[]')),
)
def _check_exec(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.shell:
            continue
        for node, text in _texts(launch)[1:]:
            if text in ("|", "||", "&&", ";", ">", ">>", "2>&1", "<", "&", "2>", "&>") or re.match(r"\d?>>?\S|\d>&\d", text):
                yield context.at(node, f'"{text}" is an argument like any other in the exec form, which starts no shell')
            elif re.fullmatch(r"\"[^\"]*/[^\"]*\"|'[^']*/[^']*'", text):
                yield context.at(node, f"the quotes of {text} are a part of the argument in the exec form, which starts no shell")
        command = launch.handler.get("command")
        if command is not None and re.search(
            r"\s(?:\|\|?|&&|;|>>?)\s|\s-{1,2}[a-z]|\A(?:python3?|node|bash|sh)\s+\S", launch.command
        ):
            yield context.at(command, f'"{launch.command}" is taken as the name of one program in the exec form')


@rule(
    id="placeholder-unknown",
    severity="error",
    title="There is no such placeholder",
    consequence="cannot start",
    remedy="Use ${CLAUDE_PROJECT_DIR}, in a plugin ${CLAUDE_PLUGIN_ROOT} or ${CLAUDE_PLUGIN_DATA}.",
    source="seed 001, Design Rules 5; observed",
    bad=(
        _command("${CLAUDE_PROJECT_PATH}/record.sh", ',"args":[]'),
        _command('\\"$CLAUDE_PROJET_DIR\\"/record.sh'),
        _command('\\"$PROJECT_DIR\\"/.claude/record.sh'),
    ),
    good=(_command('echo \\"$CLAUDE_CODE_SESSION_ID\\" >> sessions'), _command('\\"$MY_TOOLS\\"/record.sh')),
)
def _check_unknown(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        for node, text in _texts(launch):
            small = re.search(r"(?i)\$\{?(CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA))\b", text)
            if small is not None and small[1] != small[1].upper():
                yield context.at(node, f'nobody sets "{small[1]}"; it is spelled {small[1].upper()}')
                continue
            odd = re.search(
                r"\$\((CLAUDE_(?:PROJECT|PLUGIN)_\w+)\)|(?:\$\{|(?<![$\w]))\{\{?\s*(CLAUDE_(?:PROJECT|PLUGIN)_\w+)\s*\}", text
            )
            if odd is not None:
                yield context.at(node, f'"{odd[0]}" is no placeholder; it is written ${{{odd[1] or odd[2]}}}')
                continue
            for match in re.finditer(
                r"\$\{?((?:CLAUDE|PROJECT|WORKSPACE|PLUGIN|REPO)_\w+|workspace(?:Folder|Root))\b(?!=)", text
            ):
                name = match[1]
                if name in _KNOWN or name.startswith(("CLAUDE_PLUGIN_OPTION_", "CLAUDE_CODE_")) or _NEVER_SET.match("$" + name):
                    continue
                if re.search(rf"\b{name}=", text):
                    continue
                if name.startswith("workspace"):
                    yield context.at(node, f'"${{{name}}}" is a placeholder of an editor; here it is ${{CLAUDE_PROJECT_DIR}}')
                    break
                wanted = nearest(name if name.startswith("CLAUDE") else "CLAUDE_" + name, _PLACEHOLDERS)
                if wanted is None and not name.startswith("CLAUDE_"):
                    continue
                hint = f'; did you mean "{wanted}"?' if wanted else ""
                yield context.at(node, f'nobody sets "{name}"{hint}')
                break


@rule(
    id="placeholder-plugin-only",
    severity="error",
    title="A plugin's placeholder stands outside of a plugin",
    consequence="cannot start",
    remedy="Use ${CLAUDE_PROJECT_DIR} in settings, or move the hook into a plugin.",
    source="seed 001, Contract; observed on 2.1.178 and 2.1.332: the handler refuses to start and the call passes",
    kinds=("settings", "local", "managed"),
    bad=(_command('\\"${CLAUDE_PLUGIN_ROOT}\\"/record.sh'), _command("${CLAUDE_PLUGIN_DATA}/record.sh", ',"args":[]')),
    good=_command('\\"${CLAUDE_PROJECT_DIR}\\"/record.sh'),
)
def _check_plugin_only(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        for node, text in _texts(launch):
            match = re.search(r"\$\{?(CLAUDE_PLUGIN_(?:ROOT|DATA))\b", text)
            if match is not None:
                yield context.at(node, f"{match[1]} is known only to hooks of a plugin; here the handler refuses to start")
                break


@rule(
    id="script-missing",
    severity="error",
    title="The script is not there",
    consequence="every call passes",
    remedy="Write the script, or correct the path.",
    source="observed: a missing shell script ends with 127 and lets every call pass, `python3 missing.py` ends with 2 "
    "and refuses every call",
    bad=(
        Example(_command('\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/recrod.sh'), files=_RECORDER),
        Example(_command("python3", ',"args":["${CLAUDE_PROJECT_DIR}/.claude/hooks/record.py"]'), files=_RECORDER),
    ),
    good=(
        Example(_command('\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/record.sh'), files=_RECORDER),
        Example(
            _command('test -x \\"$PWD\\"/own.sh && \\"$PWD\\"/own.sh').replace("PreToolUse", "PostToolUse"),
            files=_RECORDER,
        ),
    ),
)
def _check_missing(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        if launch.path is None or launch.path.is_file() or launch.script is None or launch.script.startswith("/"):
            continue
        python = launch.interpreter is not None and launch.interpreter.startswith("python")
        gate = launch.handler.event in ("PreToolUse", "UserPromptSubmit", "PermissionRequest")
        if not gate and launch.shell and asks_for(launch.command, launch.path.name):
            continue
        if launch.path.is_symlink():
            what = "is a link to nothing"
        elif launch.path.is_dir():
            what = "is a folder"
        else:
            what = "is not there"
            siblings = [p.name for p in launch.path.parent.iterdir()] if launch.path.parent.is_dir() else []
            likely = nearest(launch.path.name, siblings[:200])
            what += f'; did you mean "{likely}"?' if likely else ""
        effect = "python ends with 2, and every call is refused" if python and gate else "the handler fails and the call goes on"
        yield context.at(
            launch.handler.key("args" if launch.script not in launch.command else "command"),
            f"{launch.script} {what}: {effect}",
            consequence="every call refused" if python and gate else ("every call passes" if gate else "cannot start"),
        )


@rule(
    id="variable-never-set",
    severity="error",
    title="The command reads a variable that nobody sets",
    consequence="value empty",
    remedy="Read the JSON object from stdin, for example with jq -r .tool_input.file_path.",
    source="public report B123; observed: empty in command hooks on 2.1.178 and 2.1.332",
    bad=(
        _command('prettier --write \\"$CLAUDE_FILE_PATHS\\"'),
        _command("echo $TOOL_NAME >> tools.log"),
        _command('ruff check \\"$FILE\\"'),
    ),
    good=(_command("FILE=notes.log; cat >> $FILE"), _command("read -r FILE; echo $FILE > last")),
)
def _check_variable(context: Context) -> Iterator[Found]:
    env = context.root.get("env") if context.root is not None else None
    for launch in launches(context):
        for node, text in _texts(launch):
            match = _NEVER_SET.search(text)
            if match is None or re.search(rf"\b{match[1]}=|\b(?:read|for|local)\b[^;]*\b{match[1]}\b", text):
                continue
            if env is not None and env.get(match[1]) is not None:
                continue
            yield context.at(
                node, f"${match[1]} is empty: no such variable is set for a command; the input arrives as JSON on stdin"
            )
            break


@rule(
    id="command-with-nul",
    severity="error",
    title="The command holds a NUL",
    consequence="cannot start",
    remedy="Take the NUL out.",
    source="observed on 2.1.178 and 2.1.332: the handler fails to start, and the call goes on",
    bad=_command("record\\u0000-it"),
    good=_command("record\\u0009-it"),
)
def _check_nul(context: Context) -> Iterator[Found]:
    for launch in launches(context):
        for node, text in _texts(launch):
            if "\0" in text:
                yield context.at(node, "no program can be given a NUL: the handler fails to start")
