"""Every error that hookproof raises on purpose.

HookproofError                      the base; its text is written for a person, with a next step
├── UsageError                      an option, a file name or an id that cannot be meant (exit 2)
├── CaseFileError                   a case file that is not as the format says: file:line:column
├── DialectError                    a dialect or version that the suite does not know
├── ResultsError                    a results file that is truncated or not ours
├── HarnessError                    our own machinery failed: never a verdict about the subject
└── SubjectError                    the runner under test, by how it failed
    ├── CannotStart                 the file is missing, a folder, not executable, ...
    ├── NotProtocol                 it wrote something that is no protocol line (kept verbatim)
    ├── BadAnswer                   a protocol line that breaks the protocol (wrong id, missing calls)
    ├── TimedOut                    no answer within the limit
    ├── Died                        it ended without an answer
    ├── Flooded                     more output than any answer can have, or more memory than allowed
    └── Wrecked                     while it was asked, its world or the probes' notes were removed or changed
"""

from __future__ import annotations


class HookproofError(Exception):
    """The base of all errors raised on purpose.

    `hint` is what to try next, in one sentence; the message says what was wrong and where. A command to paste
    stands in a line of its own, behind four blanks.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class UsageError(HookproofError):
    """Something that the user asked for cannot be meant."""


class CaseFileError(HookproofError):
    """A case file breaks the format; the message begins with file:line:column."""


class DialectError(HookproofError):
    """A dialect, or a version of one, that the suite does not know."""


class ResultsError(HookproofError):
    """A results file that cannot be trusted: truncated, or of another format."""


class HarnessError(HookproofError):
    """Our own machinery failed (a full disk, a missing shell); says nothing about the subject."""


class SubjectError(HookproofError):
    """The runner under test could not be asked, or did not answer as a runner must.

    `said` is what it printed on stdout instead, `complained` the end of its stderr.
    """

    def __init__(self, message: str, hint: str | None = None, *, said: str = "", complained: str = "") -> None:
        super().__init__(message, hint)
        self.said = said
        self.complained = complained
        self.unprompted = False
        """Whether what came (a line, an end) need have nothing to do with the request."""
        self.earlier: SubjectError | None = None
        """Then, what it was if it belongs to the request before, which the same process had answered."""


class CannotStart(SubjectError):
    """The subject's file is missing, a folder, not executable, or its interpreter is."""


class NotProtocol(SubjectError):
    """The subject wrote something that is no JSON object on a line of its own."""


class BadAnswer(SubjectError):
    """The subject's line is JSON, but not what the protocol says."""


class TimedOut(SubjectError):
    """The subject did not answer within the limit; its process tree was killed."""


class Died(SubjectError):
    """The subject ended without answering."""


class Flooded(SubjectError):
    """The subject wrote or held more than any runner needs; its process tree was killed."""


class Wrecked(SubjectError):
    """While the subject was asked, its world or what the probes noted there was removed, moved or changed."""
