"""Noise that is added with a scale of its own to each answer, and what it costs on average.

Where the scale depends on the data, every sample has another one, so scales are arrays here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput

UnitKind = Literal["laplace", "gaussian", "student"]


@dataclass(frozen=True)
class UnitNoise:
    """Symmetric noise of scale 1: Laplace, Gaussian, or Student's t.

    Examples
    --------
    >>> UnitNoise("laplace").variance, UnitNoise("student", 4).variance
    (2.0, 2.0)
    """

    kind: UnitKind
    degrees: int | None = None

    def __post_init__(self) -> None:
        if self.kind == "student":
            degrees = _validate.positive_integer("degrees", self.degrees or 0)
            if degrees < 3:
                raise InvalidInput(
                    f"Expected degrees={degrees} of at least 3; the variance is infinite else."
                )

    def __repr__(self) -> str:
        shown = f", degrees={self.degrees}" if self.kind == "student" else ""
        return f"UnitNoise(kind={self.kind!r}{shown})"

    @property
    def variance(self) -> float:
        """The variance at scale 1."""
        if self.kind == "student":
            assert self.degrees is not None
            return self.degrees / (self.degrees - 2)
        return 2.0 if self.kind == "laplace" else 1.0

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Return the density at scale 1."""
        z = as_array(x)
        if self.kind == "laplace":
            return as_array(0.5 * np.exp(-np.abs(z)))
        if self.kind == "gaussian":
            return as_array(np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))
        d = self.degrees or 0
        constant = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)) / math.sqrt(d * math.pi)
        return as_array(constant * (1 + z**2 / d) ** (-(d + 1) / 2))

    def absolute(self, center: ArrayLike, scale: ArrayLike) -> FloatArray:
        """Return the expected absolute value of `center + scale * noise`.

        Examples
        --------
        >>> UnitNoise("laplace").absolute([0.0, 3.0, 3.0], [2.0, 2.0, 0.0])
        array([2.        , 3.44626032, 3.        ])
        """
        center, scale = np.abs(as_array(center)), as_array(scale)
        # Without noise to speak of nothing is added; a scale of 1 there avoids 0/0 and overflow.
        felt = (scale > 0) & (center <= 1e100 * scale)
        safe = np.where(felt, scale, 1.0)
        center_of_felt = np.where(felt, center, 0.0)
        z = center_of_felt / safe
        if self.kind == "laplace":
            added = safe * np.exp(-z)
        elif self.kind == "gaussian":
            from scipy.special import ndtr

            added = 2 * (safe * self.pdf(z) - center_of_felt * ndtr(-z))
        else:
            from scipy.special import stdtr

            d = self.degrees or 0
            beyond = self.pdf(z) * (d + z**2) / (d - 1)
            added = 2 * (safe * beyond - center_of_felt * stdtr(d, -z))
        return as_array(center + np.where(felt, added, 0.0))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return independent draws at scale 1."""
        if self.kind == "laplace":
            return rng.laplace(size=shape)
        if self.kind == "gaussian":
            return rng.normal(size=shape)
        return rng.standard_t(self.degrees or 0, size=shape)
