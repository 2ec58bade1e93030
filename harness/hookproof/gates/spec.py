"""What `--gate` may say, and which program is meant by it.

./validator --strict        a file with arguments; the settings file follows as the last argument
lint                        our own `hookproof lint`
"""

from __future__ import annotations

import site
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .. import runnerspec
from ..errors import CannotStart, UsageError
from ..runnerspec import Option

LINT = "lint"
GRAMMAR = "a file has a slash in it (./validator), else it is `lint`"
_OPTION = Option("--gate", "gate", GRAMMAR, lambda: [LINT])

# started without `site`, as the reference is: what a virtual environment gives is handed over as a list
_START_LINT = (
    "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); from hookproof.cli import main; sys.argv[0] = 'hookproof'; "
    "sys.exit(main())"
)


@dataclass(frozen=True, slots=True)
class GateSpec:
    """A gate that can be started; all paths in `argv` are absolute, because it is started in the project it judges."""

    argv: tuple[str, ...]
    shown: str
    """As the user wrote it."""

    @property
    def name(self) -> str:
        """A short name for reports."""
        return "hookproof lint" if self.shown == LINT else Path(self.argv[0]).name


def parse(value: str, base: Path, dialect: str) -> GateSpec:
    """The program that `value` means; `dialect` (name/version) is what our own lint is told to judge by.

    Raises UsageError for what the grammar does not know, CannotStart for a file that cannot be started.
    """
    value = value.strip()
    if not value:
        raise UsageError("--gate is empty", GRAMMAR)
    if value == LINT:
        return GateSpec(_lint(dialect), value)
    return GateSpec(runnerspec.program(value, base, _OPTION), value)


def _lint(dialect: str) -> tuple[str, ...]:
    places = []
    for package in ("hookproof", "hookproof_reference"):
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise CannotStart(f"{package} is not installed", "install hookproof again")
        places.append(str(Path(next(iter(spec.submodule_search_locations))).resolve().parent))
    path = ":".join(dict.fromkeys([*places, *site.getsitepackages()]))
    words = ("lint", "--no-config", f"--profile={dialect.replace('/', '@')}")
    return (sys.executable, "-I", "-S", "-c", _START_LINT, path, *words)
