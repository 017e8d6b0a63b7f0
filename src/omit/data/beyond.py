"""What lay outside the declared bounds before it was clamped: it is part of the truth.

An answer from clamped values is compared with the statistic of the values as they are, so a column
keeps those that it had to move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.data import values as raw
from omit.errors import InvalidInput

# Sums of squares stay finite up to here.
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Beyond:
    """The values outside the bounds, as they were read.

    Parameters
    ----------
    values : array
        The distinct values outside the bounds, sorted; or, where these are too many to be kept, the
        means of groups of neighbouring ones, so that sums stay as they are. Read-only.
    counts : array of int
        How many records have each value, or are in each group. Read-only.
    spread : float
        What the squared distances of all these records from the value that stands for them add up
        to at most: 0 where nothing was grouped.

    Examples
    --------
    >>> Beyond(np.array([-1.0, 130.0]), np.array([2, 1])) + Beyond([130.0], [4])
    Beyond(values=array([ -1., 130.]), counts=array([2, 5]), spread=0.0)
    """

    values: FloatArray
    counts: IntArray
    spread: float = 0.0

    def __post_init__(self) -> None:
        values, counts = as_array(self.values).copy(), raw.whole_counts("beyond", self.counts)
        if values.ndim != 1 or values.shape != counts.shape or not len(values):
            raise InvalidInput("Expected as many counts as values beyond the bounds, at least one.")
        if not ((values[:-1] < values[1:]).all() and (counts > 0).all()):
            raise InvalidInput("Expected sorted distinct values beyond the bounds, each counted.")
        if not (np.abs(values) <= _LARGEST).all():
            farthest = float(values[np.argmax(np.abs(values))])
            raise InvalidInput(
                f"Expected values within ±{_LARGEST:g}, also beyond the bounds, got {farthest:g}; "
                "make what is no value missing."
            )
        spread = _validate.finite("spread", self.spread)
        if spread < 0:
            raise InvalidInput(f"Expected spread={spread:g} of at least 0.")
        values.flags.writeable = counts.flags.writeable = False
        for name, value in {"values": values, "counts": counts, "spread": spread}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: FloatArray, counts: IntArray, bounds: tuple[float, float]) -> Beyond | None:
        """Return what of these values is outside the bounds; None if nothing is."""
        outside = (values < bounds[0]) | (values > bounds[1])
        if not outside.any():
            return None
        return cls(*raw.merged(values[outside], counts[outside]))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Beyond) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __add__(self, other: Beyond) -> Beyond:
        """Return what is outside the same bounds in two columns together."""
        values = np.concatenate([self.values, other.values])
        counts = np.concatenate([self.counts, other.counts])
        return Beyond(*raw.merged(values, counts), self.spread + other.spread)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays of a copy are read-only too.
        return Beyond, (self.values, self.counts, self.spread)

    @property
    def size(self) -> int:
        """The number of records outside the bounds."""
        return int(self.counts.sum())

    def below(self, bound: float) -> int:
        """Return how many of them are below a bound."""
        return int(self.counts[self.values < bound].sum())

    def less(self, origin: float) -> Beyond:
        """Return the same for values from which an origin is subtracted."""
        return Beyond(self.values - origin, self.counts, self.spread)

    def _key(self) -> tuple[Any, ...]:
        return tuple(self.values.tolist()), tuple(self.counts.tolist()), self.spread
