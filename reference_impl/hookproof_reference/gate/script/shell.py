"""A shell script is read line by line."""

from __future__ import annotations

import re
from itertools import islice

from ..pattern import pattern
from .shell_syntax import fault
from .traits import REFUSAL, UNREADABLE, Traits, common, is_json, line_of
from .twice import in_shell

_ENVIRONMENT = (r"\$\{?(?:(?:CLAUDE_)?TOOL_(?:INPUT|NAME|RESULT|OUTPUT)|CLAUDE_(?:FILE_PATH|HOOK_EVENT|EVENT|PROMPT))\w*",)
_BASH = (
    (pattern(r"(?:^|[;&|(!]|\bif|\bwhile|\bthen|\bdo)\s*\[\[\s"), "[[", "every call passes"),
    (pattern(r"(?:^|[;&|!]|\bif|\bwhile)\s*\(\(\s*[^)]"), "((...))", "every call passes"),
    (pattern(r"\[\s[^\]]*\s==\s[^\]]*\]"), "== in [ ]", "every call passes"),
    (pattern(r"^\s*source\s"), "source", "every call passes"),
    (pattern(r"<<<"), "<<<", "every call refused"),
    (pattern(r"[<>]\([^)\s]"), "<(...)", "every call refused"),
    (pattern(r"^\s*\w+\+?=\((?!\()|\bdeclare\s+-|\bmapfile\b|\breadarray\b"), "an array", "every call refused"),
    (pattern(r"\$\{\w+(?:,,?|\^\^?|//?[^}]|:\d)[^}]*\}"), "${x,,} or ${x//}", "every call refused"),
    (pattern(r"^set\s+(?:-\w+\s+)*-\w*o\s+pipefail"), "pipefail", "every call refused"),
    (pattern(r"(?:^|\s)&>>?\s*[\w/\"$]"), "&>", "every call passes"),
    (pattern(r"^\s*function\s+\w+\s*(?:\(\))?\s*\{"), "function", "every call passes"),
)
"""What bash knows and a plain sh does not. [[ is a missing command there (127, false), the rest a syntax error (2)."""


def read(text: str, traits: Traits) -> str:
    """Note what the script does; gives its text without comments."""
    code = _without_comments(text.lstrip("\ufeff").replace("\r\n", "\n"))
    lines = code.split("\n")
    outer = code
    for bashism, what, consequence in _BASH:
        for number, line in enumerate(lines, 1):
            if bashism.search(re.sub(r"'[^']*'", "''", line)):
                traits.add("bash", number, f"{what}\0{consequence}")
                break
    broken = fault(text) if not re.match(r"#![^\n]*\b(?:[zk]sh|fish)\b", text) else None
    if broken is not None:
        traits.add("syntax-error", *broken)
    _read_exits(lines, traits)
    traits.mark("exit-2", _unreadable_lines(lines), UNREADABLE)
    _read_payload(code, traits)
    _lost_functions(code, lines, traits)
    _read_output(lines, traits)
    _read_functions(lines, traits)
    in_shell(lines, traits)
    trap = _TRAP.search(outer)
    if trap is not None:
        traits.add("trap-exit", line_of(code, trap.start()))
    loop = re.search(r"\|\s*while\b(?:(?!\bdone\b).){0,2000}?\bexit\s+2\b", outer, re.S)
    if loop is not None:
        after = outer[loop.end() :]
        if not re.search(r"\bdone\b[^\n]*(?:\|\||\bexit\s+\$\?)|\bPIPESTATUS|\bdone\s*\Z", after):
            traits.add("exit-in-pipe", line_of(code, outer.find("exit 2", loop.start())))
    for tool in ("jq", "yq", "dasel", "gron"):
        use = re.search(rf"(?:^|[|;&(`]|\$\()\s*(?:if\s+)?(?:!\s*)?{tool}\s+", outer, re.M)
        if use is not None and not re.search(rf"(?:command\s+-v|which|type|hash)\s+(?:-\w+\s+)?{tool}\b|{tool}\s*\|\|", outer):
            closed = _FAILS_CLOSED.search(outer[use.start() : use.start() + 600].lstrip("\n").partition("\n")[0])
            if closed is None or closed[1]:
                traits.add("undeclared-tool" if closed is None else "undeclared-tool-closed", line_of(code, use.start()), tool)
    errexit = re.search(r"^\s*set\s+-\w*e|^\s*set\s+.*\berrexit|^#!.*\s-\w*e\b", text, re.M)
    if errexit is not None:
        for match in re.finditer(r"^\s*\w+=\"?\$\(([^()\n]*\bgrep\b[^()\n]*)\)\"?\s*$", code, re.M):
            if "||" not in match[1]:
                traits.add("errexit-grep", line_of(code, match.start()))
    if "stop_hook_active" in code:
        traits.add("stop-hook-active", 1)
    part = re.search(r"\$\(\s*head\s+-c\s*\d+\s*\)|\$\(\s*dd\s+[^)]*count=|^\s*read\s+(?:-r\s+)?-[nN]\s*\d+", code, re.M)
    if part is not None:
        traits.add("partial-read", line_of(code, part.start()))
    inner = re.search(
        r"-exec(?:dir)?\s+(?:ba|da|z)?sh\s+-c\s+'[^']*\bexit\s+2\b|\bxargs\b[^\n|;]*\s(?:ba|da)?sh\s+-c\s+'[^']*\bexit\s+2\b",
        code,
    )
    if inner is not None and not re.search(r"\bPIPESTATUS|\bexit\s+\$\?", code):
        traits.add("exit-lost", line_of(code, inner.start()), "sh -c")
    unquoted = re.sub(r"'[^'\n]*'", "''", code)
    shut = _SHUT_IN.search(unquoted)
    opened = line_of(unquoted, shut.start(1)) if shut is not None else _shut_in_lines(lines)
    if opened is not None:
        traits.add("exit-lost", opened, "( exit 2 )")
    if re.match(r"#!\s*\S*\bbash\b|#!\s*\S*env\s+bash\b", text):
        for line in _outside(lines):
            if re.search(r"(?:^|[;&|]|\bthen)\s*return\s+[1-9]", line) and "BASH_SOURCE" not in code:
                traits.add("return-outside", next(n for n, each in enumerate(lines, 1) if each == line), "return")
                break
    argument = re.search(r"\$\{?1\b", "\n".join(_outside(lines)))
    if argument is not None and not _READS_INPUT.search(code):
        traits.add("input-argument", next(n for n, line in enumerate(lines, 1) if argument[0] in line), "$1")
    if re.search(r"(?:^|\s)eval\s", outer, re.M):
        traits.add("eval", line_of(code, re.search(r"(?:^|\s)eval\s", outer, re.M).start()))  # type: ignore[union-attr]
    common(code, traits, _ENVIRONMENT)
    return code


def _without_comments(text: str) -> str:
    return "\n".join("" if re.match(r"\s*#", line) else re.sub(r"\s#[^'\"]*$", "", line) for line in text.split("\n"))


def _read_exits(lines: list[str], traits: Traits) -> None:
    constants = dict(re.findall(r"^\s*(?:readonly\s+|local\s+)?(\w+)=[\"']?(\d+)[\"']?\s*$", "\n".join(lines), re.M))
    for number, line in enumerate(lines, 1):
        for match in re.finditer(r"(?:^|[;&|{(]|\bthen|\belse|\bdo|\))\s*(?:exit|return)\s+(?:(-?\d+)\b|\"?\$\{?(\w+))", line):
            code = match[1] or constants.get(match[2], "")
            if not code:
                continue
            if code == "2" and "return" in match[0] and _drops_results(lines):
                traits.add("result-dropped", number, "the function")
                traits.add("says-no", number)
            elif code == "2":
                traits.add("exit-2", number)
            elif code == "0":
                traits.add("exit-0", number)
            elif "return" not in match[0]:
                traits.add("exit-other", number, f"{_reason(lines, number)} {_said_to(lines, number)}")


_NO_INPUT = pattern(
    r"(?:(?:\$\(\s*(?:cat\b|<\s*/dev/stdin|jq\b|python3?\b|node\b)[^\n]*|command\s+-v\s[^|&;]*|\bwhich\s[^|&;]*"
    r"|\[\s+-n\s+[^\]]*\]|\bread\s[^|&;]*|\bjq\s+(?:-\w+\s+)*(?:empty|\.|type)\b[^|&;]*)\s*\|\|[^|]*"
    r"|\[\s+-z\s+[^\]]*\]\s*(?:&&|;\s*then\b)[^\n]*"
    r"|\bif\s+!\s*[^\n]*(?:command\s+-v|\bjq\b|\bcat\b|\bwhich\b|python3?\b)[^\n]*|\bif\s+\[\s+-z\s[^\n]*"
    r")\Z"
)
"""What stands before an exit that answers to input that is not there or cannot be read."""


def _unreadable_lines(lines: list[str]) -> set[int]:
    """The lines whose exit belongs to such a test: on the same line, or in the branch that it opens."""
    found: set[int] = set()
    for number, line in enumerate(lines, 1):
        end = re.search(r"\bexit\s+2\b", line)
        if end is None:
            continue
        before = line[: end.start()]
        for above in reversed(lines[max(0, number - 4) : number - 1]):
            if re.search(r"\bthen\s*$|\{\s*$", above):
                before = f"{above.strip()} {before}"
                break
            if not re.match(r"\s*(?:echo|printf|logger|log)\b", above):
                break
        if _NO_INPUT.search(before) is not None and not re.search(r";;|\besac\b", before):
            found.add(number)
    return found


def _read_payload(code: str, traits: Traits) -> None:
    """What is done with the variable that holds the whole payload: a program's environment and arguments are too small for it."""
    for held in islice(
        re.finditer(r"^\s*(?:(export|declare\s+-x|readonly)\s+)?(\w+)=\"?\$\((?:cat|</dev/stdin)(?:\s+-)?\)", code, re.M), 5
    ):
        name = held[2]
        given = re.search(
            rf"^\s*export\s+(?:\w+\s+)*{name}\b|^\s*\w+=\"?\$\{{?{name}\}}?\"?\s+[\w./\"$]|(?:^|[;&|]\s*)\w+=\"?\$\{{?{name}\}}?\"?\s+(?:python3?|node|jq|perl|ruby)\b",
            code,
            re.M,
        )
        if held[1] is not None and held[1].startswith(("export", "declare")):
            traits.add("payload-in-environment", line_of(code, held.start(2)), name)
        elif given is not None:
            traits.add("payload-in-environment", line_of(code, given.start() + len(given[0]) - len(given[0].lstrip())), name)
        if re.search(r"^\s*set\s+-\w*a\b|^\s*set\s+-o\s+allexport", code[: held.start()], re.M):
            traits.add("payload-in-environment", line_of(code, held.start(2)), name)


def _lost_functions(code: str, lines: list[str], traits: Traits) -> None:
    """Functions that end the script with 2, and are called where that ends another process only."""
    whole = "\n".join(_outside(lines))
    for match in islice(
        re.finditer(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{(.*?)(?:^\}|\}\s*$)", code, re.M | re.S), 20
    ):
        if not re.search(r"\bexit\s+2\b", match[2]):
            continue
        name = re.escape(match[1])
        lost = re.search(rf"^\s*{name}\b[^\n|&;]*&\s*(?!&)(?:$|\n)|^\s*{name}\b[^\n|&;]*\|(?!\|)", whole, re.M) or re.search(
            rf"^\s*(?:local\s+)?\w+=\"?\$\(\s*{name}\b[^\n)]*\)\"?\s*$", whole, re.M
        )
        if lost is None or re.search(r"\bwait\b|pipefail|\bset\s+-\w*e|exit\s+\"?\$\?", code):
            continue
        traits.add("exit-lost", next((n for n, line in enumerate(lines, 1) if line.strip() == lost[0].strip()), 1), match[1])


def _shut_in_lines(lines: list[str]) -> int | None:
    """The line with a parenthesis that holds an `exit 2` in lines of its own, and whose result nobody looks at."""
    opened = None
    for number, line in enumerate(lines, 1):
        if line.strip() == "(":
            opened = number
        elif opened is not None and line.lstrip().startswith(")"):
            following = [each for each in lines[number:] if each.strip()]
            if (
                line.strip() == ")"
                and following
                and any(re.search(r"\bexit\s+2\b", each) for each in lines[opened : number - 1])
                and "$?" not in following[0]
                and not re.search(r"^\s*set\s+-\w*e", "\n".join(lines[:opened]), re.M)
            ):
                return opened
            opened = None
    return None


def _drops_results(lines: list[str]) -> bool:
    """Whether the script hands on no result of its functions: it ends with something else, such as `exit 0`."""
    written = [line.strip() for line in lines if line.strip()]
    whole = "\n".join(_outside(lines))
    if not written or re.search(r"\|\|\s*(?:exit|return)|exit\s+\"?\$|\bset\s+-\w*e|\bif\s+!?\s*\w+\s*;", whole):
        return False
    if written[-1] == "exit 0":
        return True
    names = {match[1] or match[2] for line in lines if (match := _FUNCTION.match(line))}
    first = written[-1].split()[0]
    return first in ("echo", "printf", "true", ":", "date", "logger") and any(line.split()[0] in names for line in written)


_TRAP = pattern(
    r"""\btrap\s+(?:'[^'\n]*\bexit\s+0\b[^'\n]*'|"(?:\\.|[^"\\\n])*\bexit\s+0\b(?:\\.|[^"\\\n])*"|["'](?:true|:)["'])\s+(?:EXIT|0|ERR)\b"""
)
_FUNCTION = pattern(r"\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?|\s*function\s+([\w-]+)\s*\{?")
_SHUT_IN = pattern(r"(?<![\w$(])(\()(?!\()[^()\n]*\bexit\s+2\s*\)(?!\s*(?:\|\||&&|;?\s*exit\s+\$\?))(?=[^\n]*\n[\s\S]*\S)")
"""`( echo no >&2; exit 2 )`: ends the brackets and nothing else, with something behind it."""
_FAILS_CLOSED = pattern(r"\|\|\s*(?:(exit\s+2\b)|\{[^}]*\b(?:echo|printf)\b[^}]*\bexit\s+2\b)")
"""A command after which its failure is a refusal; group 1: without a word."""
_READS_INPUT = pattern(
    r"\b(?:cat|read|jq|tee|grep|sed|awk|xargs|mapfile|readarray|python3?|node|perl|ruby)\b|/dev/(?:stdin|fd/0)|<&0|\$\(<"
)
"""What takes the input of a shell script."""


def _said_to(lines: list[str], number: int) -> str:
    """What the function that this line belongs to is called with: `die "pushing is forbidden"`."""
    for above in range(number - 1, max(-1, number - 12), -1):
        head = _FUNCTION.match(lines[above])
        if head is not None:
            name = re.escape(head[1] or head[2])
            calls = (
                line for index, line in enumerate(lines) if index != above and re.search(rf"(?<![\w-]){name}\s+[\"'$]", line)
            )
            return " ".join(islice(calls, 20))
        if re.match(r"\}", lines[above]) and above != number - 1:
            return ""
    return ""


def _outside(lines: list[str]) -> list[str]:
    """The lines that are in no function."""
    kept: list[str] = []
    inside = False
    for line in lines:
        if not inside and _FUNCTION.match(line) is not None:
            inside = not re.search(r"\}\s*$", line)
        elif inside:
            inside = not re.match(r"\}", line)
        else:
            kept.append(line)
    return kept


def _reason(lines: list[str], number: int) -> str:
    """The words that stand with an exit, on its line and on those just above it in the same branch."""
    taken = [lines[number - 1]]
    for line in reversed(lines[max(0, number - 4) : number - 1]):
        if re.match(r"\s*(?:fi|esac|done|else|elif|\})\b|.*;;\s*$", line):
            break
        taken.append(line)
        if re.search(r"\bthen\b|\bdo\b|\{\s*$", line):
            break
    words = " ".join(reversed(taken))
    # a variable named BLOCKED is no word said to anybody
    said = re.findall(r"(?:echo|printf|cat|log|fail|die|error)\b[^;&]*", words)
    return " ".join(said)


_PRINT = pattern(r"(?:^|[;&{(]|\bthen|\belse|\bdo|\)|&&|\|\|)\s*(echo|printf)\s+(.*?)(?=;;|;\s|\s&&|\s\|\||$)")


def _read_output(lines: list[str], traits: Traits) -> None:
    whole = "\n".join(lines)
    payloads = set(re.findall(r"^\s*(\w+)=\"?\$\((?:cat|</dev/stdin)\)", whole, re.M))
    to_stderr = re.search(r"^\s*exec\s(?:[^\n#;]*\s)?1?>&2", whole, re.M) is not None
    to_file = re.search(r"^\s*exec\s(?:[^\n#;]*\s)?1?>>?\s*[^&\s>(]", whole, re.M) is not None
    # `exec 3>&1 1>&2` keeps stdout in another descriptor
    kept = re.search(r"^\s*exec\s(?:[^\n#;]*\s)?([3-9])>&1\b", whole, re.M)
    for number, line in enumerate(lines, 1):
        for match in _PRINT.finditer(line):
            rest = match[2]
            if match[1] == "printf":
                # `printf '%s\n' 'TEXT'`: the text is what counts
                rest = re.sub(r"""^(["'])%[sb](?:\\n)?\1\s+""", "", rest)
            text = re.sub(r"^-[neE]+\s+", "", rest).lstrip()
            unquoted = re.sub(r"\"(?:\\.|[^\"\\])*\"|'[^']*'", "", text)
            if "|" in unquoted or re.search(r"(?<![&\d])1?>>?\s*[^&\s]", unquoted):
                continue
            body = text.lstrip("\"'$")
            answer = body.startswith("{")
            put_back = kept is not None and re.search(rf">&\s*{kept[1]}", unquoted) is not None
            if to_file and not put_back and not re.search(r">&\s*2", unquoted):
                continue
            if re.search(r">&\s*2|>\s*/dev/stderr|>>\s*/dev/stderr", unquoted) or (to_stderr and not put_back):
                traits.add("json-on-stderr" if answer else "stderr", number)
                if REFUSAL.search(text):
                    traits.add("says-no", number)
            elif answer:
                # without quotes around it the shell takes the answer's own quotes away
                broken = re.match(r"""^"?\{\s*'|^\{|^"\{\s*"\w""", text) is not None
                traits.add("not-json" if broken else "json", number, text[:60])
            elif (shown := re.match(r"""["']?\$\{?(\w+)\}?["']?\s*$""", text)) is not None:
                if shown[1] in payloads:
                    traits.add("prose", number, "the payload")
            elif re.match(r"""["']?\$\(""", text):
                continue
            elif text:
                traits.add("prose", number, text)
    _read_documents(whole, traits)


def _read_documents(whole: str, traits: Traits) -> None:
    """What `cat <<TAG` and jq print. The first twenty of each are enough, whatever the script."""
    for head in islice(re.finditer(r"\bcat\b[^\n<]{0,80}<<-?\s*['\"]?(\w+)['\"]?([^\n]*)\n", whole), 20):
        end = re.compile(rf"^\s*{head[1]}\s*$", re.M).search(whole, head.end())
        if end is None:
            continue
        body = whole[head.end() : end.start()]
        at = line_of(whole, head.start())
        if ">&2" in head[0]:
            traits.add("stderr", at)
        elif not re.search(r"(?<!<)>\s*[\w\"$/.]", head[0]):
            kind = "json" if body.lstrip().startswith("{") else "prose"
            if kind == "json" and not re.search(r"[$`]", body) and not is_json(body):
                kind = "not-json"
            traits.add(kind, at, body[:60])
    for match in islice(re.finditer(r"\bjq\b(?:[^\n|']|\\\n){0,400}'\s*\{", whole), 20):
        traits.add("json", line_of(whole, match.start()))


def _read_functions(lines: list[str], traits: Traits) -> None:
    """Whether a file that only defines functions calls one of them."""
    names = [match[1] or match[2] for line in lines if (match := _FUNCTION.match(line))]
    if not names:
        return
    rest = [
        line
        for line in _outside(lines)
        if line.strip() and not re.match(r"#|\s*(?:set|export|readonly|local)\s|\s*[A-Za-z_]\w*=\S*\s*$", line)
    ]
    if not rest:
        traits.add("no-entry-point", 1, names[-1])
