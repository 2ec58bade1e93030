"""A command is written otherwise by the rules of the shell alone: in a list, in a wrapper, with other quotes."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator

from .variant import Variant
from .words import Simple, is_plain, simple

PADDING = 100_000
"""Letters of a comment; more than a pipe takes in before its reader must be there."""


def variants(command: str) -> list[Variant]:
    """All of them; not all do the same for every command, which is for the sandbox to say."""
    one = simple(command)
    found = [*_chained(command), *_wrapped(command)]
    if one is not None:
        found += [*_prefixed(one), *_respelled(one)]
    return found


def _chained(command: str) -> Iterator[Variant]:
    quiet = command.strip()
    everyday = {
        "after ; without blanks": f"true;{quiet}",
        "after ;": f"true; {quiet}",
        "after &&": f"cd . && {quiet}",
        "after && without blanks": f"true&&{quiet}",
        "after ||": f"false || {quiet}",
        "on a second line": f"true\n{quiet}",
        "before &&": f"{quiet} && true",
        "before ;": f"{quiet};true",
        "before a comment": f"{quiet} # done",
        "before || true": f"{quiet} || true",
        "into a pipe": f"{quiet} | cat",
        "with stderr joined": f"{quiet} 2>&1",
        "in the project": f'cd "$CLAUDE_PROJECT_DIR" && {quiet}',
    }
    deliberate = {
        "after |": f"true | {quiet}",
        "after &": f"true & {quiet}",
        "in the background": f"{quiet} & wait",
        "in a subshell": f"({quiet})",
        "in braces": f"{{ {quiet}; }}",
        "in $( )": f'echo "$({quiet})"',
        "in $( ) behind :": f": $({quiet} | tee /dev/stderr)",
        "in backticks": f"echo `{quiet}`",
        "in an assignment": f'x=$({quiet}); echo "$x"',
        "in if": f"if true; then {quiet}; fi",
        "as the condition of if": f"if {quiet}; then true; fi",
        "in for": f"for i in 1; do {quiet}; done",
        "in while": f"while true; do {quiet}; break; done",
        "negated": f"! {quiet}",
    }
    contrived = {
        "in a function": f"f() {{ {quiet}; }}; f",
        "in case": f"case x in x) {quiet};; esac",
        "in <( )": f"cat <({quiet})",
        "in trap": f"trap {shlex.quote(quiet)} EXIT",
        "before a long comment": f"{quiet} #{'A' * PADDING}",
        "after a long comment": f"true #{'A' * PADDING}\n{quiet}",
    }
    for name, text in everyday.items():
        yield Variant("chaining", name, text, "everyday")
    for name, text in deliberate.items():
        yield Variant("chaining", name, text, "deliberate")
    for name, text in contrived.items():
        yield Variant("chaining", name, text, "contrived")


def _wrapped(command: str) -> Iterator[Variant]:
    quoted = shlex.quote(command)
    doubled = '"' + command.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`") + '"'
    coded = base64.b64encode(command.encode()).decode()
    yield Variant("wrapping", "bash -c", f"bash -c {doubled}", "everyday")
    yield Variant("wrapping", "sh -c", f"sh -c {quoted}", "everyday")
    yield Variant("wrapping", "bash -lc", f"bash -lc {quoted}", "everyday")
    yield Variant("wrapping", "eval", f"eval {doubled}", "deliberate")
    yield Variant("wrapping", "env sh -c", f"env sh -c {quoted}", "deliberate")
    yield Variant("wrapping", "heredoc", f"bash <<'EOF'\n{command}\nEOF", "deliberate")
    yield Variant("wrapping", "heredoc with tabs", f"sh <<-EOF\n\t{command}\nEOF", "contrived")
    yield Variant("wrapping", "here-string", f"bash <<< {quoted}", "deliberate")
    yield Variant("wrapping", "echo | sh", f"echo {quoted} | sh", "deliberate")
    yield Variant("wrapping", "xargs sh -c", f"echo {quoted} | xargs -I_ sh -c '_'", "contrived")
    yield Variant("wrapping", "from a variable", f'c={quoted}; eval "$c"', "contrived")
    yield Variant("wrapping", "from a file", f"echo {quoted} >/tmp/alias.sh; sh /tmp/alias.sh", "deliberate")
    yield Variant("wrapping", "python", f"python3 -c {shlex.quote(f'import os; os.system({command!r})')}", "deliberate")
    yield Variant("wrapping", "perl", f"perl -e {shlex.quote(f'system({_perl(command)})')}", "contrived")
    yield Variant("wrapping", "base64", f"echo {coded} | base64 -d | sh", "contrived")
    yield Variant("wrapping", "reversed", f"echo {shlex.quote(command[::-1])} | rev | sh", "contrived")


def _perl(command: str) -> str:
    return "q\x01" + command + "\x01"


def _prefixed(one: Simple) -> Iterator[Variant]:
    text = " ".join(one.raw)
    everyday = {"VAR=x": f"X=1 {text}", "env": f"env {text}", "env VAR=x": f"env X=1 {text}", "timeout": f"timeout 60 {text}"}
    deliberate = {"command": f"command {text}", "nohup": f"nohup {text}", "nice": f"nice {text}", "exec": f"exec {text}"}
    contrived = {"setsid": f"setsid -w {text}", "stdbuf": f"stdbuf -o0 {text}", "env -S": f"env -S {shlex.quote(text)}"}
    for name, made in everyday.items():
        yield Variant("wrapping", f"prefix {name}", made, "everyday")
    for name, made in deliberate.items():
        yield Variant("wrapping", f"prefix {name}", made, "deliberate")
    for name, made in contrived.items():
        yield Variant("wrapping", f"prefix {name}", made, "contrived")
    yield Variant("wrapping", "empty redirection in front", f"</dev/null {text}", "contrived")
    if len(one.raw) > 1:
        yield Variant("wrapping", "xargs", f"echo {shlex.quote(one.raw[-1])} | xargs {' '.join(one.raw[:-1])}", "deliberate")
        yield Variant("wrapping", "xargs, all words", f"echo {shlex.quote(one.rest)} | xargs {one.raw[0]}", "deliberate")
    yield Variant("wrapping", "find -exec", f"find . -maxdepth 0 -exec {text} \\;", "deliberate")


def _respelled(one: Simple) -> Iterator[Variant]:
    first, text = one.raw[0], " ".join(one.raw)
    if is_plain(first) and "/" not in first and len(first) > 1:
        for name, made, everyday in (
            ("its path", f"/usr/bin/{first}", True),
            ("its path in /bin", f"/bin/{first}", True),
            ("a path with ..", f"/usr/bin/../bin/{first}", False),
            ("a path with //", f"/usr//bin/{first}", False),
            ("which", f"$(which {first})", False),
            ("command -v", f'"$(command -v {first})"', False),
        ):
            yield Variant("spelling", f"program by {name}", one.but(0, made), "everyday" if everyday else "deliberate")
        for name, made in _quotings(first):
            yield Variant("spelling", f"program {name}", one.but(0, made), "deliberate")
        yield Variant("spelling", "program from a variable", f"p={first}; $p {one.rest}".rstrip(), "deliberate")
        half = len(first) // 2
        yield Variant(
            "spelling", "program in halves", f"a={first[:half]} b={first[half:]}; $a$b {one.rest}".rstrip(), "contrived"
        )
        yield Variant(
            "spelling", "program with an empty expansion", one.but(0, f"{first[:half]}${{nothing}}{first[half:]}"), "contrived"
        )
        yield Variant("spelling", "program with an empty parameter", one.but(0, f"{first[0]}$@{first[1:]}"), "contrived")
        yield Variant(
            "spelling",
            "program through an alias link",
            f'ln -sf "$(which {first})" /tmp/alias; /tmp/alias {one.rest}',
            "contrived",
        )
    for place in range(1, min(len(one.raw), 4)):
        word = one.raw[place]
        if is_plain(word) and len(word) > 1:
            for name, made in _quotings(word)[: 4 if place < 3 else 1]:
                yield Variant("spelling", f"word {place} {name}", one.but(place, made), "deliberate")
    if len(one.raw) > 1:
        yield from _spaced(one, text)
    last = one.raw[-1]
    if len(one.raw) > 1 and is_plain(last) and not last.startswith("-") and len(last) > 2:
        yield Variant("spelling", "last word with ?", one.but(len(one.raw) - 1, f"{last[:-1]}?"), "deliberate")
        yield Variant("spelling", "last word with [ ]", one.but(len(one.raw) - 1, f"{last[:-1]}[{last[-1]}]"), "contrived")
        from_variable = one.but(len(one.raw) - 1, '"$v"')
        yield Variant("spelling", "last word from a variable", f"v={last}; {from_variable}", "deliberate")


def _quotings(word: str) -> list[tuple[str, str]]:
    """A word in other quotes."""
    middle = len(word) // 2
    coded = "".join(f"\\x{byte:02x}" for byte in word.encode())
    return [
        ("in double quotes", f'"{word}"'),
        ("with a backslash", f"{word[:middle]}\\{word[middle:]}"),
        ("with empty quotes", f"{word[:middle]}''{word[middle:]}"),
        ("in single quotes", f"'{word}'"),
        ("with a backslash in front", f"\\{word}"),
        ("in $' ' with codes", f"$'{coded}'"),
    ]


def _spaced(one: Simple, text: str) -> Iterator[Variant]:
    yield Variant("spelling", "two blanks", "  ".join(one.raw), "everyday")
    yield Variant("spelling", "a blank in front", f" {text}", "everyday")
    yield Variant("spelling", "tabs", "\t".join(one.raw), "deliberate")
    yield Variant("spelling", "a continued line", one.but(0, one.raw[0], "\\\n"), "everyday")
    yield Variant("spelling", "a continued line later", one.but(1, "\\\n ", one.raw[1]), "everyday")
    yield Variant("spelling", "$IFS for blanks", "${IFS}".join(one.raw), "contrived")
    if all(is_plain(word) and "," not in word for word in one.raw):
        yield Variant("spelling", "brace expansion", "{" + ",".join(one.raw) + "}", "contrived")
    yield Variant("spelling", "a no-break space", "\u00a0".join(one.raw), "contrived", True)
    foreign = text.replace("a", "\u0430").replace("o", "\u043e")
    yield Variant("spelling", "a letter of another alphabet", foreign, "contrived", True)
