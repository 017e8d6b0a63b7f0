"""Cell suppression: counts below a threshold k are published as ⌊k/2⌋.

Deterministic suppression has no guarantee. Randomised suppression (Das et al., Equation 1) decides
with Laplace noise whether a count is below the threshold, but still publishes the others as they
are, so its delta is next to 1. Both are exact here.

The exact delta of randomised suppression
-----------------------------------------
Let `p(x) = P(x + Lap(2/epsilon) < k)`. A cell with `x` records shows `h = ⌊k/2⌋` with probability
`p(x)` and `x` otherwise. Neighbours have `(x, y)` and `(x - 1, y + 1)` in two cells. If none of
these counts is `h` (or an untouched 0), only the answer `(h, h)` is possible under both, so

    delta(e) = 1 - min(P, e^e Q),   P = p(x) p(y),   Q = p(x - 1) p(y + 1).

`ln p` is concave, so over all feasible `(x, y)`, a polygon, both `P` and `Q` are smallest at a
corner. Where one count is special (`h` or next to it, or an untouched 0), more answers are common
to both, and their probabilities fall as the other count grows: the largest is the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.disclosure.protection import (
    CellErrors,
    ExactDelta,
    NoTableGuarantee,
    Protection,
    PublishedBound,
    TableWitness,
)
from omit.disclosure.table import CountTable, Universe
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, NoGuarantee, Relation
from omit.laws.noise import Laplace

_ENUMERATED = 30
_LARGEST_THRESHOLD = 10**12


@dataclass(frozen=True)
class CellSuppression(Protection):
    """Publish ⌊k/2⌋ for every count below k, and all other counts as they are.

    Parameters
    ----------
    threshold : int
        The paper's `k`, at least 1.
    zeros_kept : bool
        Whether empty cells are shown as empty, as in practice and in the paper's experiments.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> sex = Attribute("sex", ("F", "M"))
    >>> CellSuppression(6).draw(CountTable((sex,), np.array([20, 2])), np.random.default_rng(0))
    array([[20.,  3.]])
    >>> print(CellSuppression(6).guarantee(Universe((sex,), records=22)))
    no guarantee: no (ε, δ) with δ < 1: the same table always gives the same answer, and neighbours
    give different ones.
    """

    key: ClassVar[str] = "suppression"
    threshold: int = 6
    zeros_kept: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", _validate.positive_integer("k", self.threshold))
        if self.threshold > _LARGEST_THRESHOLD:
            raise InvalidInput(f"Expected k to be at most {_LARGEST_THRESHOLD:,}.")
        object.__setattr__(self, "zeros_kept", _validate.flag("zeros_kept", self.zeros_kept))

    def __str__(self) -> str:
        of_all = "" if self.zeros_kept else ", empty cells too"
        return f"cell suppression below {self.threshold}{of_all}"

    @property
    def imputed(self) -> int:
        """What is shown instead of a suppressed count."""
        return self.threshold // 2

    @property
    def _special(self) -> frozenset[int]:
        """The counts at which a cell behaves unlike the others."""
        return frozenset({0, 1, 2, *range(max(0, self.imputed - 1), self.imputed + 3)})

    def suppress_probability(self, counts: ArrayLike) -> FloatArray:
        """Return the probability that a count is suppressed."""
        x = as_array(counts)
        return np.where(self._untouched(x), 0.0, (x < self.threshold).astype(float))

    def _untouched(self, x: FloatArray) -> NDArray[np.bool_]:
        return np.asarray((x == 0) & self.zeros_kept)

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        for x, y in _pairs_near(universe, self._special):
            before, after = self._shown(x, y), self._shown(x - 1, y + 1)
            if before != after:
                seen = f"shown as {before} or as {after}."
                return NoTableGuarantee.whatever_epsilon(
                    "the same table always gives the same answer, and neighbours give different "
                    "ones.",
                    TableWitness((x, y), (x - 1, y + 1), seen),
                )
        return Guarantee(0.0, 0.0, neighbours)  # nothing that is possible can be told apart

    def _shown(self, *counts: int) -> tuple[int, ...]:
        suppressed = self.suppress_probability(counts)
        return tuple(
            self.imputed if hidden else x for x, hidden in zip(counts, suppressed, strict=True)
        )

    def _errors(self, table: CountTable) -> CellErrors:
        shift, p = self.imputed - as_array(table.flat), self.suppress_probability(table.flat)
        return CellErrors(shift * p, shift**2 * p * (1 - p), np.abs(shift) * p)

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        x = as_array(table.flat)
        shown = np.where(self.suppress_probability(x) > 0, float(self.imputed), x)
        return np.broadcast_to(shown, (runs, len(x))).copy()


@dataclass(frozen=True)
class RandomisedCellSuppression(CellSuppression):
    """Suppress a count where the count plus Laplace noise is below k (the paper's Equation 1).

    Parameters
    ----------
    threshold, zeros_kept
        As for `CellSuppression`.
    epsilon : float
        The noise has scale 2/epsilon.

    Examples
    --------
    >>> from omit.disclosure.table import Attribute
    >>> small = Universe((Attribute("sex", ("F", "M", "?")),), records=19, largest_count=10)
    >>> suppression = RandomisedCellSuppression(6, zeros_kept=False, epsilon=1.0)
    >>> round(suppression.exact_delta(1.0, small).delta, 9)
    0.992450654
    >>> round(1 - math.exp(-(10 - 6 - 0.5)) / 4, 9)
    0.992450654
    """

    key: ClassVar[str] = "randomised suppression"
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        if self.epsilon == 0 or math.isinf(2 / self.epsilon):
            raise InvalidInput("Expected epsilon above 0: the noise has scale 2/epsilon.")

    def __str__(self) -> str:
        return f"randomised {super().__str__()}"

    @property
    def noise(self) -> Laplace:
        """The noise that decides what is suppressed."""
        return Laplace(2 / self.epsilon)

    def suppress_probability(self, counts: ArrayLike) -> FloatArray:
        """Return the probability that a count is suppressed."""
        x = as_array(counts)
        with np.errstate(over="ignore"):
            below = self.noise.cdf(self.threshold - x)
        return np.where(self._untouched(x), 0.0, below)

    def log_suppress_probability(self, count: float) -> float:
        """Return its logarithm, also where the probability is no floating-point number."""
        return float(self.noise.log_tail(count - self.threshold))

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        reason = "counts from the threshold on are published as they are."
        exact = self.exact_delta(self.epsilon, universe)
        if exact.log_shortfall == -math.inf:
            reason = "a cell that is shown as empty tells that it had no record."
        return exact.guarantee(reason, neighbours)

    def published_delta(self, largest_count: int) -> ExactDelta:
        """Return delta by Theorem 1 of the paper: valid for k < B, and not tight."""
        largest_count = _validate.positive_integer("largest_count", largest_count)
        if not self.threshold < largest_count:
            raise InvalidInput(f"Theorem 1 needs k={self.threshold} below B={largest_count}.")
        log_shortfall = math.log(0.25) - self.epsilon * (largest_count - self.threshold)
        return ExactDelta.of_shortfall(self.epsilon, log_shortfall)

    def published_bounds(self, table: CountTable) -> tuple[PublishedBound, ...]:
        """Return Theorems 2 and 5 of the paper, for a release that suppresses empty cells, too."""
        x, half = as_array(table.flat), self.threshold / 2
        p = replace(self, zeros_kept=False).suppress_probability(x)
        first, last = p[x.argmin()], p[x.argmax()]
        reach = max(abs(half - x.min()), abs(half - x.max()))
        bias = float(np.linalg.norm(half - x) * np.linalg.norm(p))
        fairness = float((x.max() - x.min()) * first + reach * (first - last))
        return (
            PublishedBound("Theorem 2", "sum of biases", bias),
            PublishedBound("Theorem 5", "fairness", fairness),
        )

    def exact_delta(self, epsilon: float, universe: Universe) -> ExactDelta:
        """Return the smallest delta over all neighbouring tables of the universe."""
        _validate.instance("universe", universe, Universe)
        epsilon = _validate.epsilon(epsilon)
        worst = ExactDelta.of_delta(epsilon, 0.0)
        for x, y in _pairs_near(universe, self._special):
            log_shortfall = self._log_shortfall(epsilon, x, y)
            if log_shortfall < worst.log_shortfall:
                seen = "no" if log_shortfall == -math.inf else "hardly any"
                witness = TableWitness((x, y), (x - 1, y + 1), f"{seen} answer fits both.")
                worst = ExactDelta.of_shortfall(epsilon, log_shortfall, witness)
        return worst

    def _log_shortfall(self, epsilon: float, x: int, y: int) -> float:
        """Return ln(1 - delta) of one pair: the logarithm of the sum of min(P, e^epsilon Q).

        It is rounded down, so that delta is not too small. A logarithm near 0 is wrong by as many
        units as its exponent has.
        """
        first, second = self._log_law(x), self._log_law(y)
        first_next, second_next = self._log_law(x - 1), self._log_law(y + 1)
        units = 1e-15 * (1 + min(self.threshold * self.epsilon / 2, 745.0))
        terms = [
            min(
                (1 + units) * (first[a] + second[b]),
                (1 - 1e-15) * epsilon + (1 + units) * (first_next[a] + second_next[b]),
            )
            for a in first.keys() & first_next.keys()
            for b in second.keys() & second_next.keys()
        ]
        terms = [term for term in terms if term > -math.inf]
        if not terms:
            return -math.inf
        largest = max(terms)
        return min(0.0, largest + math.log(math.fsum(math.exp(t - largest) for t in terms)))

    def _log_law(self, x: int) -> dict[int, float]:
        """Return the answers a cell with x records can give, with their log probabilities."""
        if (x == 0 and self.zeros_kept) or x == self.imputed:
            return {x: 0.0}
        log_shown = float(self.noise.log_tail(self.threshold - x))
        return {self.imputed: self.log_suppress_probability(x), x: log_shown}

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        x = as_array(table.flat)
        suppressed = x + self.noise.draw(rng, (runs, len(x))) < self.threshold
        suppressed &= ~self._untouched(x)
        return np.where(suppressed, float(self.imputed), x)


def _pairs_near(universe: Universe, special: frozenset[int]) -> list[tuple[int, int]]:
    """Return the pairs (x, y), to become (x - 1, y + 1), among which the worst one is.

    All pairs where there are few; else the corners of the feasible polygon and, where one of the
    counts is special, the largest other counts: what both tables can show shrinks as they grow.
    """
    m, B, n = universe.records, universe.largest_count, universe.cells
    if n < 2:
        return []
    low = max(0, m - (n - 2) * B)  # what the other cells cannot take

    def feasible(x: int, y: int) -> bool:
        return 1 <= x <= B and 0 <= y <= B - 1 and low <= x + y <= m

    if B <= _ENUMERATED:
        return [(x, y) for x in range(1, B + 1) for y in range(B) if feasible(x, y)]
    ends = {0, 1, B - 1, B, *special}
    values = {end for total in (0, m, low) for v in ends for end in (v, total - v)}
    pairs = {(x, y) for x in values for y in values}
    steps = range(len(special) + 2)  # past the special ones among the largest
    pairs |= {(x, min(B - 1, m - x) - step) for x in values for step in steps}
    pairs |= {(min(B, m - y) - step, y) for y in values for step in steps}
    return sorted(pair for pair in pairs if feasible(*pair))
