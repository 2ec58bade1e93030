"""Text becomes nodes, token by token, with a stack of its own: depth costs memory, never a recursion."""

from __future__ import annotations

import re
from typing import Any

from .document import DEEPEST, Damage, Harm, Kind, Member, Node

_TOKEN = re.compile(
    r'[ \t\r\n]*(?:"([^"\\\x00-\x1f]*)"|([{}\[\],:])'
    r"|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])|(true|false|null)(?![\w$]))",
    re.ASCII,
)
_BLANK = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"[\r\n]|\Z")
_COMMENT = re.compile(r"(?://|#)[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_CONTROL = re.compile(r"[\x00-\x1f]")
_SINGLE = re.compile(
    r"'(?:[^'\\\r\n]|\\.)*'"
    "|[\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]"
    "[^\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}\r\n]*"
    "[\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]"
    "|[\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]"
    "[^\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\r\n]*"
    "[\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}]"
)
_WORD = re.compile(r"[+-]?[.\w$][\w$.+-]*")
_STRAY = re.compile(r"[^{}\[\],:\"'\s]+|.", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NO_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity"})
_NAN = float("nan")
_NO_CONSTANTS = {"True": True, "TRUE": True, "False": False, "FALSE": False, "None": None, "undefined": None, "NULL": None}
_CLOSER = {"object": "}", "array": "]"}
_MOST_DAMAGES = 50
Token = tuple[str, Any, int, int]
"""What it is (a bracket, `,`, `:`, string, number, constant, word, end), its value, start and end."""


class Reader:
    """Reads one text; the damage is added to the list that it was given."""

    def __init__(self, text: str, damage: list[Damage]) -> None:
        self._text = text
        self._damage = damage
        self._at = 0
        self._stack: list[Node] = []
        self._root: Node | None = None
        self._key: tuple[str, int, int] = ("", 0, 0)
        self._comma = 0  # where the last comma stood, in case it turns out to trail

    def read(self) -> Node | None:
        """The outermost value; None where there is none."""
        if self._text.startswith("\ufeff"):
            self._harm("byte-order-mark", 0, 1, "U+FEFF")
            self._at = 1
        if not self._text[self._at :].strip(" \t\r\n"):
            self._harm("empty", self._at, self._at)
            return None
        state = "value"
        again: Token | None = None
        while True:
            token = again or self._token()
            again = None
            what, _, start, end = token
            if what == "end":
                if self._stack or self._root is None:
                    self._harm("torn", start, start, "the text ends too early")
                while self._stack:
                    self._stack.pop().end = start
                return self._root
            if state == "value" or state == "item":
                state, again = self._value(token, state)
            elif state == "key" or state == "first-key":
                state, again = self._take_key(token, state)
            elif state == "colon":
                state = "value"
                if what != ":":
                    self._harm("torn", start, end, f"a colon is missing before {self._text[start:end][:20]}")
                    again = token
            elif not self._stack:
                self._harm("second-document", start, end)
                return self._root
            else:
                state, again = self._after(token)

    def _value(self, token: Token, state: str) -> tuple[str, Token | None]:
        what, value, start, end = token
        if what == "{" or what == "[":
            node = Node("object", {}, start, end) if what == "{" else Node("array", [], start, end)
            self._attach(node)
            self._stack.append(node)
            return ("first-key" if what == "{" else "item"), None
        if what in ("}", "]", ",", ":"):
            in_array = bool(self._stack) and self._stack[-1].kind == "array"
            if what == "]" and in_array:
                if state == "value":
                    self._harm("trailing-comma", self._comma, self._comma + 1)
                return self._after(token)
            if what == "," and in_array:
                self._harm("extra-comma", start, end)
                self._comma = start
                return "value", None
            self._harm("torn", start, end, f"a value is missing before {what}")
            return (state, None) if what == ":" or not self._stack else self._after(token)
        if what == "word":
            self._harm("unquoted", start, end)
        kind: Kind = "null"
        if isinstance(value, str):
            kind = "string"
        elif isinstance(value, bool):
            kind = "boolean"
        elif value is not None:
            kind = "number"
        self._attach(Node(kind, value, start, end))
        return "after", None

    def _take_key(self, token: Token, state: str) -> tuple[str, Token | None]:
        what, value, start, end = token
        if what == "string":
            self._key = (value, start, end)
            return "colon", None
        if what == "}":
            if state == "key":
                self._harm("trailing-comma", self._comma, self._comma + 1)
            return self._after(token)
        if what == ",":
            self._harm("extra-comma", start, end)
            self._comma = start
            return "key", None
        if what in ("word", "number", "constant"):
            self._harm("unquoted", start, end)
            self._key = (self._text[start:end], start, end)
            return "colon", None
        if what == "]":
            return self._after(token)
        self._harm("torn", start, end, f"a key is missing before {what}")
        self._key = ("", start, start)
        return "value", None if what == ":" else token

    def _after(self, token: Token) -> tuple[str, Token | None]:
        """What may follow a value: a comma, the end of its container, or what tells that a comma was forgotten."""
        what, _, start, end = token
        holder = self._stack[-1]
        if what == ",":
            self._comma = start
            return ("key" if holder.kind == "object" else "value"), None
        if what == "}" or what == "]":
            if what != _CLOSER[holder.kind]:
                self._harm("torn", start, end, f"{what} stands where {_CLOSER[holder.kind]} would have to close first")
                if all(_CLOSER[node.kind] != what for node in self._stack):
                    return "after", None
                while _CLOSER[self._stack[-1].kind] != what:
                    self._stack.pop().end = start
            self._stack.pop().end = end
            return "after", None
        self._harm("missing-comma", start, end)
        return ("key" if holder.kind == "object" else "value"), token

    def _attach(self, node: Node) -> None:
        if not self._stack:
            self._root = node
            return
        holder = self._stack[-1]
        node.parent = holder
        if holder.kind == "array":
            node.key = len(holder.value)
        else:
            node.key = self._key[0]
        if len(self._stack) >= DEEPEST:
            if len(self._stack) == DEEPEST:
                self._harm("too-deep", node.start, node.end)
        elif holder.kind == "array":
            holder.value.append(node)
        else:
            key, start, end = self._key
            if key in holder.value:
                self._harm("duplicate-key", start, end, key, node.pointer)
            holder.value[key] = node
            holder.members.append(Member(key, start, end, node))

    def _harm(self, harm: Harm, start: int, end: int, what: str | None = None, pointer: str | None = None) -> None:
        if len(self._damage) < _MOST_DAMAGES:
            if pointer is None:
                pointer = self._stack[-1].pointer if self._stack and len(self._stack) <= DEEPEST else ""
            self._damage.append(Damage(harm, start, end, self._text[start:end][:60] if what is None else what, pointer))

    def _token(self) -> Token:
        text = self._text
        while True:
            match = _TOKEN.match(text, self._at)
            if match is None:
                odd = self._odd()
                if odd is not None:
                    return odd
                continue
            self._at = end = match.end()
            group = match.lastindex or 0
            value = match[group]
            start = match.start(group)
            if group == 2:
                return value, value, start, end
            if group == 1:
                return "string", value, start - 1, end
            if group == 3:
                return "number", _number(value), start, end
            return "constant", _CONSTANTS[value], start, end

    def _odd(self) -> Token | None:
        """A token that is not plainly JSON; None when something was only skipped."""
        text = self._text
        blank = _BLANK.match(text, self._at)
        start = self._at = blank.end() if blank else self._at
        if start >= len(text):
            return "end", None, start, start
        char = text[start]
        if char in "/#" and (match := _COMMENT.match(text, start)):
            self._at = match.end()
            self._harm("comment", start, match.end())
            return None
        if char == '"':
            return self._string(start)
        if match := _SINGLE.match(text, start):
            self._at = match.end()
            self._harm("single-quotes", start, match.end())
            return "string", match[0][1:-1], start, match.end()
        if match := _WORD.match(text, start):
            self._at = match.end()
            return self._word(match[0], start, match.end())
        match = _STRAY.match(text, start)
        self._at = match.end() if match else start + 1
        self._harm("stray", start, self._at)
        return None

    def _word(self, word: str, start: int, end: int) -> Token:
        if word in _NO_CONSTANTS:
            self._harm("no-constant", start, end)
            return "constant", _NO_CONSTANTS[word], start, end
        if word in _NO_NUMBERS or word[0] in "+-.0123456789":
            self._harm("no-number", start, end)
            return "number", _NAN, start, end
        return "word", word, start, end

    def _string(self, start: int) -> Token:
        text = self._text
        match = _STRING.match(text, start)
        if match is None:
            found = _LINE_END.search(text, start)
            self._at = end = found.start() if found else len(text)
            self._harm("torn", start, end, "a string does not end on its line")
            return "string", text[start + 1 : end], start, end
        self._at = end = match.end()
        raw = text[start + 1 : end - 1]
        if control := _CONTROL.search(raw):
            self._harm("control-character", start, end, ascii(control[0])[1:-1])
        wrong: list[str] = []
        halves: list[str] = []

        def unescape(escape: re.Match[str]) -> str:
            code = escape[1]
            if len(code) == 5:
                char = chr(int(code[1:], 16))
                if "\ud800" <= char <= "\udfff":
                    halves.append(char)
                return char
            if code not in _SIMPLE:
                wrong.append(escape[0])
            return _SIMPLE.get(code, code)

        value = _ESCAPE.sub(unescape, raw)
        if halves:
            value = _PAIR.sub(lambda pair: chr(0x10000 + ((ord(pair[1]) - 0xD800) << 10) + ord(pair[2]) - 0xDC00), value)
            # undecodable bytes are lone surrogates, too; only what was written as an escape is meant here
            if any(half in value for half in halves):
                self._harm("lone-surrogate", start, end)
        if wrong:
            self._harm("bad-escape", start, end, wrong[0])
        return "string", value, start, end


def _number(text: str) -> int | float:
    # int() refuses more than a few thousand digits; a double is what the programs make of it anyway
    return int(text) if len(text) < 300 and not set(text) & set(".eE") else float(text)
