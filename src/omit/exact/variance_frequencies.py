"""How loud the characteristic function of records is, in two frequencies.

With `w = n k (1-k)` it is at most `exp(|R| - Σ w)`, `R = Σ w e^(i(αy + ωy²))` over the values y.
All phases may have something in common, so R moves by `Σ w |y - a|` at most if α moves by 1,
whatever a is, and likewise with ω.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from omit._compile import compiled
from omit._numeric import FloatArray, as_array
from omit.errors import NotExact

SLACKS = (0.015, 0.04, 0.1)
"""By how much R may move between points of meshes along one axis, as a part of the weights.

A coarser mesh reaches farther, and leaves a larger rectangle to be looked at point by point.
"""
_BINS = 4096
_MOST_CELLS, _CELLS_AT_ONCE = 8_000_000, 500_000


@dataclass(frozen=True, eq=False)
class Mesh:
    """The sizes of `Σ w e^(i(αy + ωy²))` at evenly spaced frequencies."""

    positions: NDArray[np.int64]
    angles: int
    offsets: FloatArray
    spread: FloatArray
    alphas: FloatArray
    column_width: float
    row_width: float
    last_omega: float

    @classmethod
    def of(
        cls,
        offsets: FloatArray,
        spread: FloatArray,
        last_alpha: float,
        last_omega: float,
        slack: float = SLACKS[0],
    ) -> Self:
        """Return a mesh of all frequencies up to these.

        `slack` is by how much R may move between points along one axis, as a part of the weights.

        Raises
        ------
        NotExact
            If it would have too many points.
        """
        random = spread > 0
        offsets, spread = offsets[random], spread[random]
        total, squares = float(spread.sum()), offsets**2
        length = float(np.ptp(offsets))
        step = float(np.diff(np.unique(offsets)).min())
        # What is off this lattice is known, and allowed for.
        steps = (offsets - offsets.min()) / step
        if length / step > _BINS or np.abs(steps - np.round(steps)).max() > 1e-6:
            step = length / _BINS
        positions = np.round((offsets - offsets.min()) / step).astype(np.int64)
        movement = [
            spread @ np.abs(some - np.average(some, weights=spread)) for some in (offsets, squares)
        ]
        column, row = (2 * slack * total / float(some) for some in movement)
        angles = 2 ** math.ceil(math.log2(2 * np.pi / (step * column)))
        column = 2 * np.pi / (step * angles)
        number = math.ceil(last_alpha / column)
        if (2 * number + 1) * (last_omega / row + 2) > _MOST_CELLS:
            raise NotExact("the noise is too narrow for the integral")
        alphas = column * np.arange(-number, number + 1)
        return cls(positions, angles, offsets, spread, alphas, column, row, last_omega)

    @property
    def total(self) -> float:
        """The sum of weights."""
        return float(self.spread.sum())

    def slack(self, row_width: float) -> FloatArray:
        """Return by how much sizes may be larger around every α, for rows of this width."""
        squares = self.offsets**2
        means = [np.average(some, weights=self.spread) for some in (self.offsets, squares)]
        moved = 0.5 * self.column_width * float(self.spread @ np.abs(self.offsets - means[0]))
        moved += 0.5 * row_width * float(self.spread @ np.abs(squares - means[1]))
        step = 2 * np.pi / (self.column_width * self.angles)
        rounded = float(
            self.spread @ np.abs(self.offsets - self.offsets.min() - step * self.positions)
        )
        return as_array(moved + (np.abs(self.alphas) + self.column_width) * rounded)

    def rows(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield frequencies ω with the sizes at all α: 0, and then the middles of cells."""
        yield np.zeros(1), self._sizes(np.zeros(1))
        middles = self.row_width * (np.arange(math.ceil(self.last_omega / self.row_width)) + 0.5)
        wide = max(len(self.alphas), self.angles)
        parts = min(math.ceil(len(middles) * wide / _CELLS_AT_ONCE), len(middles))
        for some in np.array_split(middles, parts):
            yield as_array(some), self._sizes(as_array(some))

    def _sizes(self, omegas: FloatArray) -> FloatArray:
        folded = np.zeros((len(omegas), self.angles), dtype=np.complex128)
        turned = self.spread * np.exp(1j * np.outer(omegas, self.offsets**2))
        for place, column in zip(self.positions % self.angles, turned.T, strict=True):
            folded[:, place] += column
        all_sizes = self.angles * np.abs(np.fft.ifft(folded, axis=1))
        number = len(self.alphas) // 2
        return as_array(all_sizes[:, np.arange(-number, number + 1) % self.angles])


@compiled
def sizes_at(
    alphas: FloatArray, omegas: FloatArray, offsets: FloatArray, spread: FloatArray
) -> FloatArray:
    """Return the sizes of `Σ w e^(i(αy + ωy²))`."""
    sizes = np.empty(len(alphas))
    for g in range(len(alphas)):
        real, imaginary = 0.0, 0.0
        for v in range(len(offsets)):
            angle = (alphas[g] + omegas[g] * offsets[v]) * offsets[v]
            real += spread[v] * math.cos(angle)
            imaginary += spread[v] * math.sin(angle)
        sizes[g] = math.hypot(real, imaginary)
    return sizes
