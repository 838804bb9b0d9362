"""Errors a person can act on: one line that says what, where, what was expected and what to do."""

from wm_audit.core.shown_text import clipped, printable


class AuditError(Exception):
    """A problem with a file or with evidence: exit code 2.

    Args:
        what: what is wrong, in a few words.
        where: the file, field or row it concerns.
        expected: what would have been right.
        fix: what the person can do about it.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", expected: str = "", fix: str = "") -> None:
        self.what, self.where, self.expected, self.fix = what, where, expected, fix
        super().__init__(self.line())

    def line(self) -> str:
        """The whole message on one line of printable characters; a part as long as a page is shortened in its middle."""
        where, what, expected, fix = (clipped(" ".join(part.split())) for part in (self.where, self.what, self.expected, self.fix))
        parts = [f"{where}: {what}" if where else what]
        if expected:
            parts.append(f"expected {expected}")
        if fix:
            parts.append(f"fix: {fix}")
        return printable("; ".join(parts))

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries whole."""
        return (_rebuild, (type(self), self.what, self.where, self.expected, self.fix))


def why(error: OSError) -> str:
    """What the system says of a failure; its kind where it says nothing."""
    return error.strerror or str(error) or type(error).__name__


class UsageError(AuditError):
    """A value that came from the command line is wrong: exit code 3."""

    exit_code = 3


class TrainingError(AuditError):
    """A loss or gradient became non-finite, or a model could not be trained at all."""


def _rebuild(kind: type[AuditError], what: str, where: str, expected: str, fix: str) -> AuditError:
    return kind(what, where=where, expected=expected, fix=fix)
