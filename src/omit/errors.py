"""What can go wrong, as sentences to a person.

Every error that `omit` raises on purpose derives from `OmitError` and carries one sentence
that says what was wrong and what would work. The command line prints that sentence and exits
with code 2; nothing else is printed and nothing is half written.
"""

from __future__ import annotations


class OmitError(Exception):
    """Base of all errors raised on purpose by this package."""


class InvalidInput(OmitError, ValueError):
    """A value is outside the range in which the question makes sense."""


class WrongNeighbours(InvalidInput):
    """A guarantee is stated for a neighbour relation that does not fit the question."""


class Refused(InvalidInput):
    """A way to leave records out that is known by name, and for which no bound is implemented."""


class Unattainable(OmitError):
    """No mechanism, however noisy, reaches the target after this omission."""


class NotExact(Exception):
    """There is no exact answer here; the message says why, and a simulation takes over."""


class StudyInterrupted(OmitError):
    """A study was interrupted; what was finished is stored, and running it again goes on."""


class StudyFailed(OmitError):
    """Some cells of a study could not be computed; all others are stored.

    Attributes
    ----------
    failures : tuple
        The cells that failed, and why.
    """

    def __init__(self, sentence: str, failures: tuple[object, ...] = ()) -> None:
        super().__init__(sentence)
        self.failures = failures
