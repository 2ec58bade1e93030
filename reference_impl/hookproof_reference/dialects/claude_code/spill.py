"""A text that is too long for the model goes into a file, and a preview takes its place.

The limit is that of the official reference; a context of 12,000 characters was seen to be treated so, the reason of
a refusal was not.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from .answers import Said
from .events import Scene

LONGEST = 10_000
"""Characters that are still passed on whole."""
PREVIEW = 2_048
"""Characters of the preview."""


def shortened(said: Said, scene: Scene) -> Said:
    """An answer without texts that are too long: context, plain text, and the message for the user."""
    if max(len(said.context), len(said.plain), len(said.message)) <= LONGEST:
        return said
    return replace(
        said,
        context=_preview(said.context, scene),
        plain=_preview(said.plain, scene),
        message=_preview(said.message, scene),
    )


def _preview(text: str, scene: Scene) -> str:
    if len(text) <= LONGEST:
        return text
    where = "could not be kept"
    folder = Path(scene.transcript.removesuffix(".jsonl"), "hook-outputs")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{len(list(folder.iterdir())) + 1}.txt"
        file.write_text(text, "utf-8", "replace")
        where = f"lies in {file}"
    head = f"{len(text)} characters are too many; the whole text {where}. It begins:"
    return f"<persisted-output>\n{head}\n{text[:PREVIEW]}\n</persisted-output>"
