"""The reference answers the runner protocol: one request per line on stdin, one answer per line on stdout."""

from __future__ import annotations

import json
import sys

from . import __version__, dialects

TYPE_CHECKING = False  # type checkers take it for true; importing typing would cost milliseconds
if TYPE_CHECKING:
    from typing import Any

PROTOCOL = 1

USAGE = """usage: hookproof-reference    (or: python -m hookproof_reference)

Speaks the runner protocol of hookproof on stdin and stdout, JSON lines:
    {"op": "hello", "protocol": 1}
    {"op": "run", "id": "r1", "dialect": "lecode/1.0", "world": {...}, "settings": [...], "steps": [...]}
To judge it: hookproof check --runner reference

For lecode's settings, FILE or .lecode/config.toml of the working folder:
    hookproof-reference hooks [FILE]         lists the handlers: event, command, time limit
    hookproof-reference hooks-test [FILE]    tries each configured event; exit code 1 when a handler failed
"""


def main() -> int:
    """Answers until stdin ends. The exit code is 0, or 2 for a wrong command line."""
    known = not {"-h", "--help"}.isdisjoint(sys.argv)
    inspects = len(sys.argv) > 1 and sys.argv[1] in ("hooks", "hooks-test") and not known
    if sys.argv[1:] and not inspects:
        print(USAGE, end="", file=sys.stdout if known else sys.stderr)
        return 0 if known else 2
    import signal

    # so that a handler under way is killed when this process is told to end
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else the exit codes of handlers would be lost
    try:
        if inspects:
            from . import inspection

            return inspection.main(sys.argv[1], sys.argv[2:])
        for line in sys.stdin.buffer:
            if line.strip():
                sys.stdout.write(_line(answer(line)))
                sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # nobody reads any more; the interpreter must not try to flush once more
        sys.stdout = None
    return 0


def answer(line: bytes) -> dict[str, Any]:
    """The answer to one line; a line that is no request gets an `error`."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": "", "error": f"the request is no JSON: {error}"}
    if not isinstance(request, dict):
        return {"id": "", "error": "the request is no JSON object"}
    op, ident = request.get("op"), request.get("id")
    if op == "hello":
        return hello()
    if not isinstance(ident, str):
        return {"id": "", "error": 'the request has no "id", which is a string'}
    if op in ("read", "events", "dialects"):
        from . import opinion

        return opinion.OPS[op](request)
    if op != "run":
        return {"id": ident, "error": f"there is no op {json.dumps(op)}; there are hello and run"}
    from . import wire

    return wire.answer_run(request)


def hello() -> dict[str, Any]:
    """What the reference is and can do."""
    features = [feature for dialect in dialects.KNOWN for feature in dialects.features(dialect)]
    return {
        "protocol": PROTOCOL,
        "lasting": True,
        "runner": {"name": "hookproof-reference", "version": __version__, "language": "python"},
        "dialects": dialects.names(),
        "scope": "loop",
        "features": list(dict.fromkeys(features)),
        "posture": None,
    }


def _line(message: dict[str, Any]) -> str:
    """One line of ASCII. Lone surrogates, which handlers may print, are no text for a protocol line."""
    text = json.dumps(message, separators=(",", ":"))
    if "\\ud" in text:
        whole = json.dumps(message, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = json.dumps(json.loads(whole), separators=(",", ":"))
    return text + "\n"


if __name__ == "__main__":
    sys.exit(main())
