"""Sample, then hide small counts: a guarantee for tables of counts without any noise.

Every record is drawn with probability `rate`, independently. Of every cell the number of drawn
records is published if it is at least `k`; all other cells, empty ones included, are hidden alike.
Deterministic suppression alone promises nothing; after a secret sample it does (Li, Qardaji and Su
2012). The exact delta is in `omit.laws.thresholds`, with a proof, and for two cells, which is what
"replace" changes, in `omit.laws.threshold_pairs`.

*Nothing else is published*, and here nothing else can be. The size of the sample, a margin or the
number of hidden records gives away the only hidden record of a table where all else is known:
delta is then the rate. The same holds for any attribute beyond those of the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit._text import usable
from omit.disclosure.protection import CellErrors, NoTableGuarantee, Protection
from omit.disclosure.table import CountTable, Universe
from omit.errors import InvalidInput, Unattainable
from omit.guarantee import ADD_REMOVE, REPLACE, Guarantee, NoGuarantee, Relation
from omit.laws import thresholds
from omit.laws.inversion import last_integer
from omit.laws.threshold_pairs import WorstPair, worst_pair
from omit.laws.thresholds import WorstCount, worst_count

# A rate is found to nine digits.
_HALVINGS = 30


@dataclass(frozen=True)
class SampleAndThreshold(Protection):
    """Publish how many records of a cell were drawn if at least k were, and hide all other cells.

    A count of j drawn records stands for j / rate, and a hidden cell for 0.

    Parameters
    ----------
    rate : float
        The probability that a record is drawn, in (0, 1].
    threshold : int
        The smallest number of drawn records that is published, k >= 1.
    epsilon : float
        At which epsilon the guarantee is stated.

    Examples
    --------
    >>> sampled = SampleAndThreshold(rate=0.1, threshold=10, epsilon=1.0)
    >>> sampled.exact_delta(1.0)
    WorstCount(delta=9.980118...e-09, records=14, seen='added')
    >>> sampled.exact_delta(1.0, "replace")
    WorstPair(delta=9.99368...e-09, records=(14, 40))
    >>> sampled.published_delta(1.0)
    6.840415...e-08
    """

    key: ClassVar[str] = "sample and threshold"
    relations: ClassVar[tuple[Relation, ...]] = (ADD_REMOVE, REPLACE)

    rate: float
    threshold: int
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _validate.positive_rate("rate", self.rate))
        threshold = _validate.positive_integer("threshold", self.threshold)
        if threshold > thresholds.LARGEST_THRESHOLD:
            raise InvalidInput(
                f"Expected threshold={threshold} to be at most {thresholds.LARGEST_THRESHOLD:,}."
            )
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))

    def __str__(self) -> str:
        return f"sample at rate {usable(self.rate)}, hidden below {self.threshold}"

    def exact_delta(self, epsilon: float, neighbours: str = ADD_REMOVE) -> WorstCount | WorstPair:
        """Return the smallest delta for tables of any size, and the counts that need it.

        Under replace it is rounded up by a millionth, since two sizes are searched, and a bound
        where cells of thousands of records would have to be.
        """
        epsilon = _validate.epsilon(epsilon)
        if self.require_relation(neighbours) == REPLACE:
            return worst_pair(self.rate, self.threshold, epsilon)
        return worst_count(self.rate, self.threshold, epsilon)

    def published_delta(self, epsilon: float) -> float | None:
        """Return delta under add-remove by Li, Qardaji and Su; None where that says nothing."""
        return thresholds.published_delta(self.rate, self.threshold, _validate.epsilon(epsilon))

    @classmethod
    def calibrated(
        cls, target: Guarantee, *, rate: float | None = None, threshold: int | None = None
    ) -> SampleAndThreshold:
        """Return the one that reaches a guarantee, with the smallest threshold or the largest rate.

        A larger threshold hides more of the same sample, and a sample of a sample is private with
        a smaller delta: so delta falls with the threshold and rises with the rate.

        Parameters
        ----------
        target : Guarantee
            With delta above 0, under add-remove or replace.
        rate, threshold : float, int
            Either of them; the other one is found, a rate to nine digits.

        Raises
        ------
        InvalidInput
            If not exactly one of them is given.
        Unattainable
            If nothing reaches the target.

        Examples
        --------
        >>> print(SampleAndThreshold.calibrated(Guarantee(1.0, 1e-6), rate=0.25))
        sample at rate 0.25, hidden below 14
        >>> print(SampleAndThreshold.calibrated(Guarantee(1.0, 1e-6), threshold=14))
        sample at rate 0.25373592..., hidden below 14
        """
        _validate.instance("target", target, Guarantee)
        relation = cls.require_relation(target.neighbours)
        if (rate is None) == (threshold is None):
            raise InvalidInput("Expected either rate or threshold; the other one is found.")
        if target.delta == 0:
            raise Unattainable(
                "A sample can hold as many records of a cell as the threshold asks for, so that "
                "delta is above 0."
            )

        def missed(rate: float, threshold: int, neighbours: Relation = relation) -> bool:
            candidate = cls(rate, threshold, target.epsilon)
            return candidate.exact_delta(target.epsilon, neighbours).delta > target.delta

        if threshold is not None:
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS):
                rate = math.sqrt(low * high) if low else high / 8
                low, high = (low, rate) if missed(rate, threshold) else (rate, high)
            return cls(low, threshold, target.epsilon)
        assert rate is not None
        rate, largest = _validate.positive_rate("rate", rate), thresholds.LARGEST_THRESHOLD
        if rate == 1 or missed(rate, largest):
            raise Unattainable(
                f"No threshold up to {largest:,} reaches {target} at rate {rate:g}; use a smaller "
                "rate."
            )
        smallest = 1 + last_integer(lambda k: missed(rate, k, ADD_REMOVE), 0, largest)
        if missed(rate, smallest):  # replace needs more
            smallest = 1 + last_integer(lambda k: k < largest and missed(rate, k), smallest)
        return cls(rate, smallest, target.epsilon)

    def _guarantee(self, universe: Universe, neighbours: Relation) -> Guarantee | NoGuarantee:
        return self.stated(neighbours)

    def stated(self, neighbours: str = ADD_REMOVE) -> Guarantee | NoGuarantee:
        """Return what is promised for every table, whatever its size."""
        delta = self.exact_delta(self.epsilon, neighbours).delta
        if delta == 1:
            return NoTableGuarantee.whatever_epsilon("all records are drawn: nothing is random.")
        return Guarantee(self.epsilon, delta, neighbours)

    def hidden_probability(self, counts: FloatArray) -> FloatArray:
        """Return the probability that a cell with so many records is hidden."""
        return 1 - self._shown(as_array(counts), 0)

    def _shown(self, counts: FloatArray, fewer: int, first: FloatArray | None = None) -> FloatArray:
        """Return the probability to draw `first`, less `fewer`, of so many fewer records."""
        from scipy.special import betainc

        first = np.full_like(counts, self.threshold) if first is None else first
        low, trials = first - fewer, counts - fewer
        inside = (low > 0) & (low <= trials)
        tail = betainc(np.where(inside, low, 1), np.where(inside, trials - low + 1, 1), self.rate)
        return np.where(inside, tail, (low <= 0).astype(float))

    def _errors(self, table: CountTable) -> CellErrors:
        sizes, where = np.unique(table.flat, return_inverse=True)
        n, rate = as_array(sizes), self.rate
        # E[J; J >= a] = n rate P(Bin(n - 1) >= a - 1), and so on for squares.
        shown, one, two = (self._shown(n, fewer) for fewer in range(3))
        mean = n * one
        square = n * (n - 1) * two + n * one / rate
        middle = np.maximum(np.ceil(n * rate), self.threshold)
        above, above_one = self._shown(n, 0, middle), self._shown(n, 1, middle)
        absolute = n * (1 - shown) + n * (shown - one) + 2 * n * (above_one - above)
        errors = mean - n, np.maximum(square - mean**2, 0.0), np.maximum(absolute, 0.0)
        return CellErrors(*(values[where] for values in errors))

    def _draw(self, table: CountTable, rng: np.random.Generator, runs: int) -> FloatArray:
        drawn = rng.binomial(table.flat, self.rate, size=(runs, table.cells))
        return np.where(drawn >= self.threshold, drawn / self.rate, 0.0)
