"""Errors a person can act on: one line that says what, where, what was expected and what to do."""


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
        """The whole message on one line, without a line break in it."""
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.fix:
            parts.append(f"fix: {self.fix}")
        return " ".join("; ".join(parts).split())

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries whole."""
        return (_rebuild, (type(self), self.what, self.where, self.expected, self.fix))


class UsageError(AuditError):
    """A value that came from the command line is wrong: exit code 3."""

    exit_code = 3


class TrainingError(AuditError):
    """A loss or gradient became non-finite, or a model could not be trained at all."""


def _rebuild(kind: type[AuditError], what: str, where: str, expected: str, fix: str) -> AuditError:
    return kind(what, where=where, expected=expected, fix=fix)
