"""What can go wrong, as sentences to a person.

Every error that `omit` raises on purpose derives from `OmitError` and carries one sentence
that says what was wrong and what would work. The command line prints that sentence and exits
with code 2; nothing else is printed and nothing is half written.
"""

from __future__ import annotations


class OmitError(Exception):
    """Base of all errors raised on purpose by this package.

    Examples
    --------
    >>> import omit
    >>> try:
    ...     omit.PoissonSampling(1.5)
    ... except omit.OmitError as error:
    ...     print(error)
    Expected rate=1.5 in (0, 1].
    """


class InvalidInput(OmitError, ValueError):
    """A value is outside the range in which the question makes sense.

    Examples
    --------
    >>> from omit import Guarantee
    >>> Guarantee(-1.0)
    Traceback (most recent call last):
    ...
    omit.errors.InvalidInput: Expected epsilon=-1.0 ...
    """


class WrongNeighbours(InvalidInput):
    """A guarantee is stated for a neighbour relation that does not fit the question.

    Examples
    --------
    >>> from omit import Guarantee
    >>> Guarantee(1.0).implies(Guarantee(1.0, neighbours="replace"))
    Traceback (most recent call last):
    ...
    omit.errors.WrongNeighbours: Cannot compare ...
    """


class Refused(InvalidInput):
    """A way to leave records out that is known by name, and for which no bound is implemented.

    Examples
    --------
    >>> from omit.omissions import omission
    >>> omission("stratified")
    Traceback (most recent call last):
    ...
    omit.errors.Refused: ...
    """


class Unattainable(OmitError):
    """No mechanism, however noisy, reaches the target after this omission.

    Examples
    --------
    >>> from omit import Guarantee
    >>> from omit.omissions import ThresholdOutlierRemoval
    >>> ThresholdOutlierRemoval(0.5).calibrate(Guarantee(1.0))
    Traceback (most recent call last):
    ...
    omit.errors.Unattainable: ...
    """


class NotExact(Exception):
    """There is no exact answer here; the message says why, and a simulation takes over."""


class StudyInterrupted(OmitError):
    """A study was interrupted; what was finished is stored, and running it again goes on.

    Examples
    --------
    >>> issubclass(StudyInterrupted, OmitError)
    True
    """


class StudyFailed(OmitError):
    """Some cells of a study could not be computed; all others are stored.

    Attributes
    ----------
    failures : tuple
        The cells that failed, and why.

    Examples
    --------
    >>> StudyFailed("1 cell failed.", ("why",)).failures
    ('why',)
    """

    def __init__(self, sentence: str, failures: tuple[object, ...] = ()) -> None:
        super().__init__(sentence)
        self.failures = failures
