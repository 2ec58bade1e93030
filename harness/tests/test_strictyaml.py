"""What YAML would guess is refused, or stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hookproof import strictyaml
from hookproof.errors import CaseFileError


def data(text: str | bytes, tmp_path: Path) -> Any:
    path = tmp_path / "a.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    document = strictyaml.load(path)
    assert not document.mistakes
    return document.data


def said(text: str | bytes, tmp_path: Path) -> str:
    """What is wrong with a file, without its folder: `3:9: ...`."""
    path = tmp_path / "a.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        document = strictyaml.load(path)
        words = "\n".join(map(str, document.mistakes))
    except CaseFileError as error:
        words = error.message
    return words.replace(f"{path}:", "")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("2026-12-01", "2026-12-01"),
        ("2.1.178", "2.1.178"),
        ("1:30", "1:30"),
        ("=", "="),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
        ("'1e3'", "1e3"),
        ('"012"', "012"),
        ('""', ""),
        ('"\\u00e9"', "é"),
        ('"\\N"', "\x85"),
    ],
)
def test_only_numbers_truths_and_null_are_special(written: str, read: object, tmp_path: Path) -> None:
    value = data(f"a: {written}\n", tmp_path)["a"]
    assert (value, type(value)) == (read, type(read))


@pytest.mark.parametrize(
    "word", ["1e3", "012", "1_000", "0x1f", "0o17", ".5", "5.", "+5", ".inf", "-.inf", ".nan", "True", "NULL", "~"]
)
def test_what_others_take_for_a_number_or_a_truth_is_refused(word: str, tmp_path: Path) -> None:
    assert said(f"a: {word}\n", tmp_path) == (
        f'1:4: {word} is read as different things: write a plain number, true, false, null, or "{word}"'
    )


def test_a_number_beyond_all_floats_is_refused_and_not_infinite(tmp_path: Path) -> None:
    assert "is read as different things" in said(f"a: {'9' * 5000}\n", tmp_path)
    assert "is read as different things" in said(f"a: {'9' * 5000}.0\n", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "1:1: the file is empty"),
        ("# nothing\n", "1:1: the file is empty"),
        ("a: 1\nb: 2\na: 3\n", '3:1: the key "a" stands here twice, first in line 1'),
        ("x:\n  a: 1\n  'a': 3\n", '3:3: the key "a" stands here twice, first in line 2'),
        ("a:\nb: 1\n", '1:3: a value is missing: write null, "", [] or {}'),
        ("a: {b: }\n", '1:8: a value is missing: write null, "", [] or {}'),
        ("1: a\n", '1:1: a key must be text: write "1" in quotes'),
        ("true: a\n", '1:1: a key must be text: write "true" in quotes'),
        ("? [a]\n: b\n", "1:3: a key must be text, not a list or a mapping"),
        ("a:\n  <<: {b: 1}\n", "2:3: merge keys (<<) are not read here: write the keys out"),
        ("a: &x 1\n", f"1:4: {strictyaml.NO_ANCHORS}"),
        ("a: *x\n", f"1:4: {strictyaml.NO_ANCHORS}"),
        ("a: [&x 1, *x]\n", f"1:5: {strictyaml.NO_ANCHORS}"),
        ("a: !!str 5\n", f"1:4: {strictyaml.NO_TAGS}"),
        ("a: !thing {}\n", f"1:4: {strictyaml.NO_TAGS}"),
        ("a: ! 5\n", f"1:4: {strictyaml.NO_TAGS}"),
        ("!!python/object:os.system a\n", f"1:1: {strictyaml.NO_TAGS}"),
        ("%YAML 1.1\n---\na: 1\n", "1:1: directives (%YAML, %TAG) are not read here: leave the line away"),
        ("a: 1\n---\nb: 1\n", "2:1: a file holds one document: take the second --- away"),
        ("a:\n\t- b\n", "2:1: not YAML: a tab cannot indent: use blanks"),
        ("a: b: c\n", "1:5: not YAML: mapping values are not allowed in this context: "
                       'a text with ": " in it must stand in quotes'),
        ("a: @b\n", "1:4: not YAML: found character that cannot start any token: a text that begins with one of "
                    "@ ` % ! & * must stand in quotes"),
        ('a: "\\ud83d\\ude00"\n', None),
        ("a: b\x85c\n", "1:5: the character U+0085 does not survive YAML: write it as an escape in double quotes"),
        ("a: b\n\u2028c\n", "2:1: the character U+2028 does not survive YAML: write it as an escape in double quotes"),
        ("a: \x00\n", "1:4: the character U+0000 does not survive YAML: write it as an escape in double quotes"),
        (b"a: 1\nb: \xff\n", "2:4: not UTF-8: byte 0xff"),
        ("a: 1\n".encode("utf-16"), "1:1: not UTF-8: byte 0xff"),
    ],
)  # fmt: skip
def test_every_trap_is_said_with_its_place(text: str | bytes, words: str | None, tmp_path: Path) -> None:
    if words is None:
        assert said(text, tmp_path).endswith(strictyaml.NO_SURROGATES)
    else:
        assert said(text, tmp_path) == words


def test_a_block_text_may_hold_surrogate_escapes_because_json_reads_them(tmp_path: Path) -> None:
    assert data('a: |\n  {"x": "\\ud83d\\ude00"}\n', tmp_path) == {"a": '{"x": "\\ud83d\\ude00"}\n'}


def test_ampersands_and_exclamation_marks_inside_texts_are_no_anchors_or_tags(tmp_path: Path) -> None:
    assert data("a: x && y\nb: 'run! &now'\nc: a *b\n", tmp_path) == {"a": "x && y", "b": "run! &now", "c": "a *b"}


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert data(b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n", tmp_path) == {"a": 1, "b": ["x"]}


@pytest.mark.parametrize(
    "text", ["[" * 10_000, "{a: " * 10_000, "- " * 10_000 + "x", "a: " + "[" * 100 + "]" * 100, "? " * 10_000]
)
def test_ten_thousand_levels_are_a_message(text: str, tmp_path: Path) -> None:
    assert said(text, tmp_path).endswith("nested deeper than 60 levels: no case needs that")


def test_the_place_of_a_byte_that_is_no_utf8_counts_characters(tmp_path: Path) -> None:
    assert said("a: é".encode() + b"\xff", tmp_path) == "1:5: not UTF-8: byte 0xff"


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(
    st.one_of(st.text(max_size=60), st.binary(max_size=60), st.text(alphabet=":-[]{}&*!|>'\"#%@`,? \n\tab1.~<=\\ux", max_size=40))
)
def test_any_text_gives_data_or_a_case_file_error(text: str | bytes) -> None:
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        decoded = raw.decode("utf-8")
        document = strictyaml.parse(decoded, Path("x.yaml"))
    except (UnicodeDecodeError, CaseFileError):
        return
    assert document.root is not None


def test_without_the_c_loader_the_same_is_read(tmp_path: Path) -> None:
    """The pure Python loader is used where PyYAML was built without libyaml."""

    class Slow(yaml.SafeLoader):
        resolve = strictyaml.StrictLoader.resolve

    text = 'a: [1, 1.5, true, no, "x", null]\nb: |\n  é\n'
    root = Slow(text).get_single_node()
    assert root is not None
    slow = strictyaml.Document(tmp_path, root, None)
    assert strictyaml._build(slow.root, slow, 0) == data(text, tmp_path)
