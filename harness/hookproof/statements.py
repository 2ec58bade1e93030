"""The sentences of the source documents, each a row with an id: listed beside the cases of a dialect.

Rules name the rows that they cover; the list is there so that one which no rule names shows up.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from . import casefile, strictyaml
from .cases import Slug, Strict
from .mistakes import Mistake, suggestion
from .strictyaml import Document

if TYPE_CHECKING:
    from .catalog import Catalog

FILE = "statements.yaml"
"""The file beside the cases of a dialect."""

RowId = Annotated[str, Meta(pattern=r"^[A-Z]+-F?[0-9]+$")]


class StatementFile(Strict, kw_only=True):
    """The rows of one document, by its sections, each in a few words of our own."""

    format: Literal[1]
    dialect: Slug
    document: str
    sections: dict[str, dict[RowId, Annotated[str, Meta(min_length=10)]]]

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Section, id and words of each row."""
        for section, rows in self.sections.items():
            for row, words in rows.items():
                yield section, row, words


def read(path: Path) -> tuple[StatementFile, Document]:
    """The rows in a file. Raises CaseFileError."""
    document = strictyaml.load(path)
    return casefile.convert(document, StatementFile), document


def mistakes(files: list[tuple[StatementFile, Document]], catalog: Catalog) -> Iterator[Mistake]:
    """Rows that stand there twice, and rules that name a row which a listed document does not have."""
    homes: dict[str, str] = {}
    for made, document in files:
        for section, row, _ in made.rows():
            if row in homes:
                line, column = strictyaml.at(document.root, ("sections", section, row))
                yield Mistake(document.path, line, column, f"the row {row} stands under {homes[row]} already")
            homes[row] = f"{made.dialect}, {section}"
    letters = {row.partition("-")[0] for row in homes}
    for name, (rule, _) in catalog.rules.items():
        for row in rule.source.rows:
            if row.partition("-")[0] in letters and row not in homes:
                text = f'the rule "{name}" names the row {row}, which no {FILE} lists; {suggestion(row, list(homes))}'
                path = next((entry.path for entry in catalog.entries if entry.case.rule == name), Path(FILE))
                yield Mistake(path, 1, 1, text)
