"""A command is written otherwise by the rules of its program: options split, joined, long or short, moved; or other words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from .variant import Effort, Variant
from .words import Simple, is_plain, simple

LONG: dict[str, dict[str, str]] = {
    "rm": {"r": "recursive", "R": "recursive", "f": "force"},
    "chmod": {"R": "recursive"},
    "chown": {"R": "recursive"},
    "cp": {"r": "recursive", "f": "force"},
    "mv": {"f": "force"},
    "ls": {"a": "all"},
    "grep": {"r": "recursive", "i": "ignore-case"},
    "curl": {"s": "silent", "L": "location", "f": "fail", "X": "request", "d": "data"},
    "git push": {"f": "force", "d": "delete", "u": "set-upstream", "n": "dry-run"},
    "git commit": {"n": "no-verify", "a": "all", "m": "message"},
    "git clean": {"f": "force"},
    "git checkout": {"f": "force"},
    "git add": {"A": "all", "f": "force"},
    "git branch": {"d": "delete", "f": "force"},
    "docker rm": {"f": "force", "v": "volumes"},
    "docker system": {"a": "all", "f": "force"},
}
"""Program, with its subcommand where it has such -> short option -> its long name."""

READS = ("head -n 999", "tail -n +1", "sed ''", "awk 1", "nl", "grep ''", "cut -c1-", "sort", "xargs -n1 <", "cat <", "tee <")
"""Programs that show a file as cat does."""


def variants(command: str) -> list[Variant]:
    """All of them; not all do the same for every command, which is for the sandbox to say."""
    found = list(_fetching(command))
    one = simple(command)
    if one is not None:
        found += [*_options(one), *_BY_PROGRAM.get(one.program, _none)(one)]
    return found


def _none(one: Simple) -> Iterator[Variant]:
    return iter(())


def _made(name: str, text: str, effort: Effort = "everyday", doubtful: bool = False) -> Variant:
    return Variant("options", name, text, effort, doubtful)


# ---- options -------------------------------------------------------------------------------------


def _options(one: Simple) -> Iterator[Variant]:
    words, raw = one.words, one.raw
    long = LONG.get(one.program) or LONG.get(" ".join([one.program, *_subcommand(one)]), {})
    short = {name: letter for letter, name in reversed(long.items())}
    for place in one.options:
        word = words[place]
        if re.fullmatch(r"-[A-Za-z]{2,5}", word):
            letters = word[1:]
            yield _made(f"{word} split", one.but(place, *(f"-{letter}" for letter in letters)))
            yield _made(f"{word} in another order", one.but(place, f"-{letters[::-1]}"))
            if all(letter in long for letter in letters):
                names = [f"--{long[letter]}" for letter in letters]
                yield _made(f"{word} long", one.but(place, *names))
                yield _made(f"{word} half long", one.but(place, names[0], f"-{letters[1:]}"))
            if one.program == "rm":
                yield _made(f"{word} with v", one.but(place, f"{word}v"))
                yield _made(f"{word} with R", one.but(place, word.replace("r", "R")))
        elif re.fullmatch(r"-[A-Za-z]", word) and word[1] in long:
            yield _made(f"{word} long", one.but(place, f"--{long[word[1]]}"))
        elif word[2:] in short:
            yield _made(f"{word} short", one.but(place, f"-{short[word[2:]]}"))
            yield _made(f"{word} cut", one.but(place, word[:-1]), "deliberate", True)
            yield _made(f"{word} cut more", one.but(place, word[:-2]), "contrived", True)
    yield from _joined(one)
    if one.options and one.operands:
        flags = [raw[place] for place in one.options]
        start = 1 + len(_subcommand(one))
        others = [raw[place] for place in range(start, len(raw)) if place not in one.options]
        yield _made("options last", " ".join([*raw[:start], *others, *flags]))
        yield _made("options first", " ".join([*raw[:start], *flags, *others]))
        yield _made("-- in front of the operands", " ".join([*raw[:start], *flags, "--", *others]), "deliberate")


def _joined(one: Simple) -> Iterator[Variant]:
    for place in range(1, len(one.words) - 1):
        first, second = one.words[place : place + 2]
        if re.fullmatch(r"-[A-Za-z]", first) and re.fullmatch(r"-[A-Za-z]", second):
            text = " ".join((*one.raw[:place], first + second[1:], *one.raw[place + 2 :]))
            yield _made(f"{first} and {second} joined", text)


def _subcommand(one: Simple) -> list[str]:
    """The words between the program and its first operand that belong to its name."""
    return [one.words[1]] if one.program in ("git", "docker", "kubectl", "npm", "terraform", "gh") and len(one.words) > 1 else []


# ---- git -----------------------------------------------------------------------------------------


def _git(one: Simple) -> Iterator[Variant]:
    if len(one.words) < 2 or one.words[1].startswith("-"):
        return
    sub = one.words[1]
    for name, option, effort in (
        ("git -C", "-C .", "everyday"),
        ("git --no-pager", "--no-pager", "everyday"),
        ("git -c", "-c user.name=dev", "everyday"),
        ("git --git-dir", "--git-dir=.git", "deliberate"),
        ("git --git-dir and --work-tree", "--git-dir=.git --work-tree=.", "deliberate"),
        ("git -P", "-P", "deliberate"),
        ("git --exec-path", "--exec-path=/usr/lib/git-core", "contrived"),
    ):
        yield _made(name, one.but(0, one.raw[0], option), effort)  # type: ignore[arg-type]
    yield _made("git alias", f"git -c alias.p={shlex.quote(one.rest)} p", "deliberate")
    yield _made("git alias that is a shell", f"git -c alias.p={shlex.quote('!git ' + one.rest)} p", "contrived")
    yield _made("git-SUBCOMMAND", f'"$(git --exec-path)/git" {one.rest}', "contrived")
    if sub == "push":
        yield from _push(one)
    if sub == "commit" and "--no-verify" in one.words:
        place = one.words.index("--no-verify")
        yield _made(
            "other hooks path", one.but(place).replace("git commit", "git -c core.hooksPath=/dev/null commit", 1), "deliberate"
        )


def _push(one: Simple) -> Iterator[Variant]:
    forced = [place for place in one.options if one.words[place] in ("-f", "--force") or one.words[place].startswith("--force")]
    names = [place for place in one.operands if place > 1]
    remote = one.words[names[0]] if names else "origin"
    branches = [one.words[place] for place in names[1:]] or ["main"]
    bare = [one.raw[place] for place in range(2, len(one.raw)) if place not in forced and place not in names]
    plain = branches[0].lstrip("+").rpartition(":")[2].removeprefix("refs/heads/")
    start = " ".join([one.raw[0], "push", *bare])
    force = one.words[forced[0]] if forced else ""
    if forced:
        yield _made("+refspec", f"{start} {remote} +{plain}")
        yield _made("+HEAD:branch", f"{start} {remote} +HEAD:{plain}")
        yield _made("--force-with-lease", f"{start} --force-with-lease {remote} {plain}")
        yield _made("--force at the end", f"{start} {remote} {plain} --force")
        yield _made("-f at the end", f"{start} {remote} {plain} -f")
        yield _made("-f among others", f"{start} -qf {remote} {plain}")
        yield _made("--force with --force-if-includes", f"{start} --force --force-if-includes {remote} {plain}", "deliberate")
        yield _made("push default by -c", f"git -c remote.{remote}.push=+HEAD:refs/heads/{plain} push {remote}", "contrived")
    yield _made("HEAD:branch", f"{start} {force} {remote} HEAD:{plain}".replace("  ", " "))
    yield _made("branch:branch", f"{start} {force} {remote} {plain}:{plain}".replace("  ", " "))
    yield _made("refs/heads/", f"{start} {force} {remote} refs/heads/{plain}".replace("  ", " "), "deliberate")
    yield _made(
        "the remote by its address", f'{start} {force} "$(git remote get-url {remote})" {plain}'.replace("  ", " "), "deliberate"
    )
    if "--delete" in one.words or "-d" in one.words:
        yield _made(":branch", f"git push {remote} :{plain}")


# ---- other words for the same --------------------------------------------------------------------


def _rm(one: Simple) -> Iterator[Variant]:
    operands = [one.raw[place] for place in one.operands if one.words[place] != "--"]
    if not operands:
        return
    what = " ".join(operands)
    yield _made("find -delete", f"find {what} -delete")
    yield _made("find -exec rm", f"find {what} -depth -exec rm -d {{}} +", "deliberate")
    yield _made("find | xargs rm", f"find {what} -depth | xargs rm -d", "deliberate")
    yield _made("unlink", f"unlink {operands[0]}")
    plain = [word for word in operands if is_plain(word)]
    if plain and len(plain) == len(operands):
        listed = ", ".join(repr(word) for word in plain)
        yield _made("python rmtree", f'python3 -c "import shutil; [shutil.rmtree(p) for p in [{listed}]]"', "deliberate")
        yield _made("python remove", f'python3 -c "import os; [os.remove(p) for p in [{listed}]]"', "deliberate")
        yield _made("perl unlink", f"perl -e 'unlink @ARGV' {what}", "deliberate")


def _cat(one: Simple) -> Iterator[Variant]:
    files = [one.raw[place] for place in one.operands]
    if len(files) != 1:
        return
    for words in READS:
        yield _made(f"{words.split()[0]} {'<' if words.endswith('<') else ''}".strip(), f"{words} {files[0]}")
    yield _made("$(<FILE)", f'echo "$(<{files[0]})"', "deliberate")
    yield _made("read", f'while read -r line; do echo "$line"; done <{files[0]}', "deliberate")
    yield _made("cp to stdout", f"cp {files[0]} /dev/stdout", "deliberate")
    yield _made("dd", f"dd if={files[0]} status=none", "deliberate")
    yield _made("python", f'python3 -c "print(open({files[0]!r}).read())"', "deliberate")
    yield _made("git diff", f"git diff --no-index --no-prefix -U0 /dev/null {files[0]} | sed -n 's/^+//p'", "contrived")


def _chmod(one: Simple) -> Iterator[Variant]:
    for place in one.operands[:1]:
        if one.words[place] in ("777", "0777"):
            for mode in ("0777", "777", "a+rwx", "ugo+rwx", "a=rwx", "+777"):
                if mode != one.words[place]:
                    yield _made(f"mode {mode}", one.but(place, mode))


def _npm(one: Simple) -> Iterator[Variant]:
    if len(one.words) > 1 and one.words[1] == "install":
        for word in ("i", "add", "in", "isntall"):
            yield _made(f"npm {word}", one.but(1, word))
        yield _made("npm --prefix", one.but(0, one.raw[0], "--prefix ."))


def _pip(one: Simple) -> Iterator[Variant]:
    yield _made("python -m pip", f"python3 -m pip {one.rest}")
    yield _made("pip3", f"pip3 {one.rest}")


def _sudo(one: Simple) -> Iterator[Variant]:
    yield _made("sudo -E", one.but(0, one.raw[0], "-E"))
    yield _made("sudo -n", one.but(0, one.raw[0], "-n"))
    yield _made("sudo --", one.but(0, one.raw[0], "--"), "deliberate")


def _fetching(command: str) -> Iterator[Variant]:
    """What is fetched and run, in one breath."""
    found = re.fullmatch(r"\s*((?:curl|wget)\b[^|;&]*?)\s*\|\s*(?:sudo\s+)?(sh|bash)\b.*", command)
    if not found:
        return
    fetch, shell = found[1], found[2]
    other = "bash" if shell == "sh" else "sh"
    yield _made(f"| {other}", f"{fetch} | {other}")
    yield _made("without blanks", f"{fetch}|{shell}")
    yield _made("by its path", f"{fetch} | /bin/{shell}")
    yield _made("sh -s", f"{fetch} | {shell} -s --")
    yield _made("through tee", f"{fetch} | tee /tmp/alias | {shell}", "deliberate")
    yield _made("env", f"{fetch} | env {shell}", "deliberate")
    yield _made("$( )", f'{shell} -c "$({fetch})"')
    yield _made("<( )", f"bash <({fetch})")
    yield _made("eval", f'eval "$({fetch})"', "deliberate")
    yield _made("by a file", f"{fetch} >/tmp/alias.sh; {shell} /tmp/alias.sh")
    yield _made("source", f"source <({fetch})", "deliberate")


_BY_PROGRAM = {
    "git": _git,
    "rm": _rm,
    "cat": _cat,
    "chmod": _chmod,
    "npm": _npm,
    "pip": _pip,
    "sudo": _sudo,
}
