"""The mean, as a noisy sum over a noisy count.

The mean of a known number of records, with noise of the mean's own sensitivity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.exact.noisy_quotient import NoisyQuotient
from omit.guarantee import REPLACE, Guarantee
from omit.laws.noise import LogConcaveNoise, noise_named
from omit.mechanisms.base import (
    AdditiveMechanism,
    Counts,
    Measure,
    Mechanism,
    by_size,
    require_bounds,
)

# How many times farther from 0 than they are wide the bounds may be where the count is noisy: sums
# of the values then still have digits to tell answers within the bounds apart.
_FARTHEST = 1e6
# A quotient by a noisy count of less than this part of the true one is far off, and its error is
# estimated well by so many of them.
_SMALL_PART = 0.1
_SEEN = 1000


@dataclass(frozen=True)
class NoisyMean(Mechanism):
    """Noisy sum divided by noisy count, the count clamped at 1 and the answer at the bounds.

    Under add-remove, half of epsilon and of delta goes to the sum, whose sensitivity is the
    largest absolute value within the bounds, and half to the count, whose sensitivity is 1. Under
    replace the count is public, and all goes to the sum of what the values exceed the lower bound
    by, whose sensitivity is the width of the bounds.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    variant : {"clipped", "published"}
        Whether answers are clipped to the bounds, which is post-processing and costs no privacy, or
        left as they are. As published they may be far outside where the noisy count falls below 1,
        and their expected error is then mostly that of this rare event.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoisyMean().quotient(Guarantee(1.0), (0, 125)).total
    Laplace(scale=250.0)
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    variant: Literal["clipped", "published"] = "clipped"

    statistic: ClassVar[str] = "mean"
    metric: ClassVar[str] = "relative error"
    unit: ClassVar[str] = "%"

    def __post_init__(self) -> None:
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidInput(f"Expected noise={self.noise!r} to be 'laplace' or 'gaussian'.")
        if self.variant not in ("clipped", "published"):
            raise InvalidInput(f"Expected variant={self.variant!r} to be 'clipped' or 'published'.")

    def __str__(self) -> str:
        published = ", as published" if self.variant == "published" else ""
        return f"noisy mean, {self.noise.capitalize()} noise{published}"

    def quotient(self, guarantee: Guarantee, bounds: tuple[float, float] | None) -> NoisyQuotient:
        """Return the noise that gives the guarantee to values within the bounds."""
        self.require_relation(guarantee)
        if bounds is None:
            raise InvalidInput("The mean needs a column of numbers with declared bounds.")
        lower, upper = bounds
        clipped = bounds if self.variant == "clipped" else None
        if guarantee.neighbours == REPLACE:
            return NoisyQuotient(self._noise(guarantee, upper - lower), None, clipped, lower)
        largest = max(abs(lower), abs(upper))
        if largest > _FARTHEST * (upper - lower) > 0:
            raise InvalidInput(
                f"The bounds [{lower:.17g}, {upper:.17g}] are too far from 0 for a noisy sum and a "
                "noisy count; subtract the lower bound from the values first, or use the relation "
                "replace."
            )
        half = Guarantee(guarantee.epsilon / 2, guarantee.delta / 2, guarantee.neighbours)
        return NoisyQuotient(self._noise(half, largest), self._noise(half, 1.0), clipped)

    def truth(self, column: Column) -> float:
        """Return the mean of the column."""
        return column.mean

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return one noisy mean for each row of counts."""
        quotient = self.quotient(guarantee, bounds)
        return quotient.draw(*_kept(column, counts, quotient), rng)

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return the absolute difference to the truth, in per cent of the truth."""
        return as_array(per_cent(truth) * np.abs(answers - truth))

    def expected_errors(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
    ) -> FloatArray:
        """Return the error of each row of counts, averaged over the noise."""
        quotient = self.quotient(guarantee, bounds)
        sums, sizes = _kept(column, counts, quotient)
        distances = quotient.distances(sums, sizes, truth_above(column, quotient.origin, truth))
        return as_array(per_cent(truth) * distances)

    def largest_error(self, bounds: tuple[float, float] | None, truth: Any) -> float:
        """Return the largest error that an answer can have: that of a bound, if it is clipped."""
        if bounds is None or self.variant == "published":
            return math.inf
        return per_cent(truth) * max(abs(float(truth) - bound) for bound in bounds)

    def unseen_error(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        truth: Any,
        runs: int,
    ) -> float:
        """Return what unclipped answers add whose noisy count is a small part of the true one.

        Nothing if so many runs show enough of them.
        """
        quotient = self.quotient(guarantee, bounds)
        if self.variant == "clipped" or quotient.count is None:
            return 0.0
        sums, sizes = _kept(column, counts, quotient)
        chance = quotient.count.cdf((_SMALL_PART - 1) * sizes)
        if runs * float(chance.mean()) >= _SEEN:
            return 0.0
        return per_cent(truth) * float((chance * np.abs(sums - truth)).mean())

    def _noise(self, guarantee: Guarantee, sensitivity: float) -> LogConcaveNoise:
        return noise_named(self.noise).calibrated(guarantee, sensitivity)


def per_cent(truth: float) -> float:
    """Return by what a distance is multiplied to be in per cent of the truth."""
    if truth == 0:
        raise InvalidInput("The true mean is 0, so a relative error does not exist.")
    return 100 / abs(truth)


def truth_above(column: Column, origin: float, truth: float) -> float:
    """Return what the truth exceeds the origin by.

    The column's own mean is known to more digits than a float far from 0 has.
    """
    return column.mean_above(origin) if truth == column.mean else truth - origin


def _kept(column: Column, counts: Counts, quotient: NoisyQuotient) -> tuple[FloatArray, FloatArray]:
    """Return the sum, less the origin of every value, and the number of the records of each row."""
    sums = counts @ (as_array(column.values) - quotient.origin)
    return as_array(sums), as_array(counts.sum(axis=1))


@dataclass(frozen=True)
class KnownSizeMean(AdditiveMechanism):
    """The mean plus noise for the sensitivity R/n: the width of the bounds by the records.

    Under replace, where the number of records is public. The same release as `NoisyMean` under
    replace; this one can be judged by its mean squared error, which has a closed form.

    Parameters
    ----------
    noise : {"laplace", "gaussian"}
        Gaussian noise needs delta > 0.
    measure : {"squared", "relative"}
        What its error is.

    Examples
    --------
    >>> KnownSizeMean().scale(Guarantee(0.5, neighbours="replace"), (0, 100), 1000)
    0.2
    """

    noise: Literal["laplace", "gaussian"] = "laplace"
    measure: Measure = "squared"

    statistic: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        self._checked_measure()
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidInput(f"Expected noise={self.noise!r} to be 'laplace' or 'gaussian'.")

    def __str__(self) -> str:
        return f"mean of known size, {self.noise.capitalize()} noise"

    def scale(
        self, guarantee: Guarantee, bounds: tuple[float, float] | None, records: int
    ) -> float:
        """Return the scale of the noise that gives the guarantee to a mean of so many records."""
        self.require_relation(guarantee)
        lower, upper = require_bounds(bounds, "mean")
        return noise_named(self.noise).calibrated(guarantee, (upper - lower) / records).scale

    def truth(self, column: Column) -> float:
        """Return the mean of the column."""
        return column.mean

    def unit_noise(self, guarantee: Guarantee) -> LogConcaveNoise:
        """Return the kind of noise."""
        return noise_named(self.noise)()

    def centers_and_scales(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean of each row and the same scale for all rows of one size."""
        sizes = counts.sum(axis=1)
        scales = by_size(lambda size: self.scale(guarantee, bounds, size), sizes)
        return as_array(counts @ as_array(column.values) / sizes), scales
