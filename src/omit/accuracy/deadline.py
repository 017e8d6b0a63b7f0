"""A time after which a search gives the best that it has so far, and an order that suits it."""

from __future__ import annotations

import time

from omit import _validate
from omit.errors import InvalidInput


class Deadline:
    """The end of a number of seconds from now; without a number it never comes.

    Raises
    ------
    InvalidInput
        If the number is not above 0.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(3600).passed
    (False, False)
    """

    def __init__(self, seconds: float | None = None) -> None:
        if seconds is not None and not _validate.finite("seconds", seconds) > 0:
            raise InvalidInput(f"Expected seconds={seconds:g} to be above 0.")
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self._end is not None and time.monotonic() >= self._end


def coarse_to_fine(count: int) -> list[int]:
    """Return the positions of a list, first the ends, then the middle, then those of the halves.

    Examples
    --------
    >>> coarse_to_fine(9)
    [0, 8, 4, 2, 6, 1, 3, 5, 7]
    """
    order = dict.fromkeys(range(min(count, 1)))
    step = 1
    while step < count - 1:
        step *= 2
    while step:
        order |= dict.fromkeys(range(0, count, step))
        if step > 1 and count > 1:
            order.setdefault(count - 1)
        step //= 2
    return list(order)
