"""The mode, as the value with the largest noisy count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput
from omit.guarantee import REPLACE, Guarantee
from omit.laws.noise import Noise, noise_named
from omit.mechanisms.base import Counts, Mechanism

Kind = Literal["laplace", "exponential", "gaussian", "gumbel"]
KINDS: tuple[Kind, ...] = ("laplace", "exponential", "gaussian", "gumbel")


@dataclass(frozen=True)
class NoisyMode(Mechanism):
    """Add noise to the count of every value of the declared domain and report the largest.

    One record changes one count by 1 under add-remove, two counts under replace.

    - ``"laplace"``: the whole histogram is protected, scale 1/epsilon (2/epsilon under replace).
    - ``"gaussian"``: the whole histogram, with exactly calibrated noise for L2 sensitivity 1
      (the square root of 2 under replace).
    - ``"exponential"``: report-noisy-max with exponential noise, scale 2/epsilon.
    - ``"gumbel"``: the exponential mechanism, scale 2/epsilon.

    Where several values share the largest count, each of them counts as right.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoisyMode(noise="gumbel").count_noise(Guarantee(0.5))
    Gumbel(scale=4.0)
    """

    noise: Kind = "laplace"

    statistic: ClassVar[str] = "mode"
    metric: ClassVar[str] = "probability of a wrong answer"
    unit: ClassVar[str] = "probability"
    published_runs: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        noise_named(self.noise, KINDS)

    def __str__(self) -> str:
        if self.noise == "gumbel":
            return "noisy mode, exponential mechanism"
        return f"noisy mode, {self.noise.capitalize()} noise"

    def count_noise(self, guarantee: Guarantee) -> Noise:
        """Return the noise of every count."""
        self.require_relation(guarantee)
        changed = 2 if guarantee.neighbours == REPLACE else 1
        law = noise_named(self.noise)
        return law.calibrated(guarantee, changed, l2=math.sqrt(changed), linf=1)

    def truth(self, column: Column) -> tuple[Any, ...]:
        """Return all values with the largest count."""
        return column.modes

    def answers(
        self,
        column: Column,
        counts: Counts,
        bounds: tuple[float, float] | None,
        guarantee: Guarantee,
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """Return the winning value for each row."""
        noise = self.count_noise(guarantee)
        possible, _ = possible_values(column, bounds)
        values = np.asarray(column.values)[possible]
        unheld = _unheld(column, values, bounds)
        if len(values) + len(unheld) == 0:
            raise InvalidInput("The bounds leave no value that could be the mode.")
        if len(values) == 0:
            return rng.choice(unheld, len(counts))
        noisy = counts[:, possible] + noise.draw(rng, (len(counts), len(values)))
        winner: NDArray[Any] = values[noisy.argmax(axis=1)]
        if len(unheld) == 0:
            return winner
        highest = noise.draw_largest(rng, len(unheld), counts.shape[:1])
        return np.where(highest > noisy.max(axis=1), rng.choice(unheld, len(counts)), winner)

    def errors(self, answers: NDArray[Any], truth: Any) -> FloatArray:
        """Return 1 for each wrong answer and 0 for each right one."""
        return as_array(~np.isin(answers, np.asarray(truth)))


def _unheld(
    column: Column, values: NDArray[Any], bounds: tuple[float, float] | None
) -> NDArray[Any]:
    """Return the values of the domain, narrowed to `bounds`, that nobody has."""
    domain = np.asarray(column.domain()[0])
    if not column.is_text and bounds is not None:
        domain = domain[(domain >= bounds[0]) & (domain <= bounds[1])]
    return domain[~np.isin(domain, values)]


def possible_values(
    column: Column, bounds: tuple[float, float] | None
) -> tuple[NDArray[np.bool_], int]:
    """Return which values of the column can be left, and how many others nobody has.

    The domain is that of the column, narrowed to `bounds`.
    """
    domain = column.domain()[0]
    values = np.asarray(column.values)
    if column.is_text or bounds is None:
        return np.ones(len(values), dtype=np.bool_), len(domain) - len(values)
    inside = (values >= bounds[0]) & (values <= bounds[1])
    size = int(((as_array(domain) >= bounds[0]) & (as_array(domain) <= bounds[1])).sum())
    return inside, size - int(inside.sum())
