"""A skill package of the form that hook-engineering describes is checked against what it says of itself.

Seven folders stand, `assets/manifest.json` and `assets/README.md` name the same files and those exist, and the
policy agrees with the compatibility matrix. (001: Capability, Current Official Surface, Packet)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .document import Document, Member, Node, parse
from .finding import Finding, Severity
from .pattern import pattern
from .profiles import MODEL_EVENTS_13, TOOL_EVENTS

FOLDERS = ("references", "knowledge", "prompts", "examples", "agents", "templates", "assets")
MANIFEST = "assets/manifest.json"
README = "assets/README.md"
POLICY = "assets/hook-engineering-policy.json"
MATRIX = "references/hook-compatibility-matrix.md"
NEEDED = (MANIFEST, README, POLICY, MATRIX, "knowledge/body-of-knowledge.md")
RULES: dict[str, str] = {
    "package-folder-missing": "One of the seven layer folders is missing",
    "package-file-missing": "A file that the package speaks of is missing",
    "package-unreadable": "A file of the package is no JSON object",
    "package-inventory-differs": "assets/manifest.json and assets/README.md name different files",
    "package-policy-incomplete": "The policy lacks a list that the document names, or lists other events there",
    "package-matrix-differs": "The compatibility matrix does not say what the policy says",
}
"""What an audit may find; the ids are for life, like those of the other rules."""

_NAME = pattern(r"[\w][\w./-]*\.[A-Za-z][A-Za-z0-9]{0,7}")
_EVENT = pattern(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b(?:Stop|Setup|Elicitation|Notification)\b")


class _Audit:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def finding(
        self,
        rule: str,
        file: str,
        message: str,
        remedy: str,
        place: tuple[Document, Node | Member] | None = None,
        severity: Severity = "error",
    ) -> Finding:
        line = column = end_line = end_column = 1
        pointer = ""
        if place is not None:
            document, node = place
            pointer = node.pointer
            line, column = document.place(node.start)
            end_line, end_column = document.place(node.end)
        path = str(self.folder / file)
        return Finding(rule, severity, path, line, column, end_line, end_column, pointer, message, remedy, "gate refuses")

    def text(self, file: str) -> str | None:
        try:
            return (self.folder / file).read_text("utf-8", "replace")
        except OSError:
            return None


def audit(folder: Path) -> list[Finding]:
    """All that is wrong with a package. NotADirectoryError where there is none."""
    if not folder.is_dir():
        raise NotADirectoryError(20, "there is no such folder", str(folder))
    audited = _Audit(folder)
    found = [
        audited.finding("package-folder-missing", name, f"there is no folder {name}", "Make it; a package has seven layers.")
        for name in FOLDERS
        if not (folder / name).is_dir()
    ]
    for file in NEEDED:
        if (folder / file).parent.is_dir() and not (folder / file).is_file():
            found.append(audited.finding("package-file-missing", file, f"there is no {file}", "Add it."))
    found.extend(_inventory(audited))
    found.extend(_policy(audited))
    return found


def _object(audited: _Audit, file: str) -> tuple[Document, Node] | Finding | None:
    text = audited.text(file)
    if text is None:
        return None
    document = parse(text)
    if document.root is None or document.root.kind != "object" or document.damage:
        return audited.finding("package-unreadable", file, f"{file} is no plain JSON object", f"See hookproof lint {file}.")
    return document, document.root


def _inventory(audited: _Audit) -> Iterator[Finding]:
    read = _object(audited, MANIFEST)
    if not isinstance(read, tuple):
        if read is not None:
            yield read
        return
    document, root = read
    listed: dict[str, Node] = {}
    for node in root.walk():
        # a manifest lists its files as strings, in whatever shape: what looks like a file's name is one
        if node.text and node.key not in ("description", "version", "$schema", "name") and _NAME.fullmatch(node.text):
            listed.setdefault(_plain(node.text), node)
    for name, node in listed.items():
        if not (audited.folder / "assets" / name).is_file() and not (audited.folder / name).is_file():
            message = f"{MANIFEST} lists {name}, which does not exist"
            yield audited.finding(
                "package-file-missing", MANIFEST, message, "Add the file or take the entry out.", (document, node)
            )
    readme = audited.text(README)
    if readme is None:
        return
    named = {_plain(name) for name in _NAME.findall(readme)} - {"manifest.json", "README.md"}
    for name, node in listed.items():
        if name not in named and name not in ("manifest.json", "README.md"):
            message = f"{MANIFEST} lists {name}, and {README} does not name it"
            yield audited.finding("package-inventory-differs", MANIFEST, message, f"Name it in {README}.", (document, node))
    for name in sorted(named - set(listed)):
        if (audited.folder / "assets" / name).is_file():
            message = f"{README} names {name}, and {MANIFEST} does not list it"
            yield audited.finding("package-inventory-differs", README, message, f"List it in {MANIFEST}.")


def _plain(name: str) -> str:
    return name.removeprefix("./").removeprefix("assets/")


def _policy(audited: _Audit) -> Iterator[Finding]:
    read = _object(audited, POLICY)
    if not isinstance(read, tuple):
        if read is not None:
            yield read
        return
    document, root = read
    groups = root.get("handler_event_compatibility")
    lists = {
        "handler_event_compatibility.all_five_types": (
            groups.get("all_five_types") if groups is not None else None,
            MODEL_EVENTS_13,
        ),
        "tool_filtered_events_for_if": (root.get("tool_filtered_events_for_if"), TOOL_EVENTS),
    }
    for name, (node, wanted) in lists.items():
        if node is None or node.kind != "array":
            message = f"the policy has no list {name}"
            yield audited.finding("package-policy-incomplete", POLICY, message, "Add it.", (document, root))
            continue
        said = {item.text for item in node.items if item.text}
        if said != wanted:
            extra, lacking = ", ".join(sorted(said - wanted)), ", ".join(sorted(wanted - said))
            message = f"{name} differs from the document's list" + (f"; too many: {extra}" if extra else "")
            message += f"; missing: {lacking}" if lacking else ""
            yield audited.finding("package-policy-incomplete", POLICY, message, "Make the two agree.", (document, node))
    matrix = audited.text(MATRIX)
    if matrix is not None:
        named = set(_EVENT.findall(matrix))
        events = [each for listed, _ in lists.values() if listed is not None for each in listed.items]
        for node in events:
            if node.text and node.text not in named:
                message = f"the policy has {node.text}, and {MATRIX} does not name it"
                yield audited.finding("package-matrix-differs", POLICY, message, "Make the two agree.", (document, node))
