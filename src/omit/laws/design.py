"""The law of which records are kept, given the data: what survey statisticians call a design.

An omission returns a design and an engine takes one, so neither has to know the other. The atoms
of a design are those of the data: the distinct values of a column, or the single records of points.

*Coupled draws.* Every draw of positions takes one random number of 32 bits for every record, and
one word of 64 bits for ties, whatever the design is and whether it needs them or not. Two designs
that start from equally seeded generators therefore see the same numbers in every run ("common
random numbers"): a Poisson sample contains the one at a smaller rate, and what two designs have in
common cancels when errors are subtracted. Probabilities are then rounded up to a multiple of
2^-32. Draws simulate; they protect nobody.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, IntArray, as_array
from omit.errors import Refused
from omit.laws.counts import count_draws, draws, relative_pmf

Positions: TypeAlias = NDArray[np.intp]

_LARGEST_WORD = np.iinfo(np.uint64).max
# From this many records with the same value on, counts are drawn instead of records.
_REPEATS = 20
# How many outcomes are listed.
_MOST_OUTCOMES = 5000


class Design(ABC):
    """The law of which records are kept.

    Derive from it where records are kept neither independently nor in a fixed number; engines
    that need one of these then say so, and simulation works.
    """

    inclusion: FloatArray | None = None
    """The keep probability per atom, if records are kept independently; else None."""
    size: int | None = None
    """How many records are kept, if that is always the same number; else None."""

    @property
    def keeps_all(self) -> bool:
        """Whether every record is kept for certain."""
        return False

    @property
    def expansion(self) -> float:
        """By what a total of the records that are left is multiplied to speak of all records.

        The inverse of a keep rate that is the same for all records and public; 1 if there is none.
        """
        return 1.0

    @abstractmethod
    def counts(self, multiplicities: IntArray, runs: int, rng: np.random.Generator) -> IntArray:
        """Return how many records are kept per atom, one draw in every row."""

    def positions(self, records: int, rng: np.random.Generator) -> Iterator[Positions]:
        """Yield without end which of the records are kept, by position, in ascending order.

        Raises
        ------
        Refused
            If draws of single records are not said.
        """
        raise Refused(f"{type(self).__name__} says which counts are kept and not which records.")

    def outcomes(
        self, multiplicities: IntArray, most: int = _MOST_OUTCOMES
    ) -> tuple[IntArray, FloatArray] | None:
        """Return all that can be kept, a row of counts each, and the probabilities of the rows.

        None if these are not known, as here, or may be more than `most`.
        """
        return None

    def on_atoms(self, atoms: int) -> Design | None:
        """Return the design of the same records in other atoms; None if it may not know them.

        It does if all records are alike to it.
        """
        return None

    def kept_share(self, multiplicities: IntArray) -> float:
        """Return the expected share of records that are kept.

        Raises
        ------
        Refused
            If it is not known.
        """
        raise Refused(f"What share of the records {type(self).__name__} leaves is not known.")


@dataclass(frozen=True, eq=False)
class Independent(Design):
    """Every record is kept or not, whatever happens to the others.

    Parameters
    ----------
    inclusion : array
        The probability that a record is kept, per atom of the data.
    public_rate : float
        The rate at which all records are kept, if it is public and depends on no data; else 1.

    Examples
    --------
    >>> design = Independent(np.array([1.0, 0.5]))
    >>> design.counts(np.array([3, 100]), 2, np.random.default_rng(0))
    array([[ 3, 55],
           [ 3, 57]])
    """

    inclusion: FloatArray = field()  # and not the default of `Design`
    public_rate: float = 1.0

    def __post_init__(self) -> None:
        try:
            inclusion = as_array(self.inclusion)
        except (TypeError, ValueError) as error:
            raise Refused(f"Keep probabilities must be numbers: {error}.") from error
        if inclusion.ndim != 1 or not ((inclusion >= 0) & (inclusion <= 1)).all():
            raise Refused("Expected the keep probabilities of a design to be a list in [0, 1].")
        object.__setattr__(self, "inclusion", inclusion)

    @property
    def keeps_all(self) -> bool:
        """Whether every probability is 1."""
        return bool((self.inclusion == 1).all())

    @property
    def expansion(self) -> float:
        """The inverse of the public rate."""
        return 1 / self.public_rate

    def counts(self, multiplicities: IntArray, runs: int, rng: np.random.Generator) -> IntArray:
        """Return binomial counts."""
        self._require_atoms(len(multiplicities))
        return rng.binomial(multiplicities, self.inclusion, size=(runs, len(self.inclusion)))

    def on_atoms(self, atoms: int) -> Design | None:
        """Return the design of the same records in other atoms, if one chance is that of all.

        Examples
        --------
        >>> Independent(np.full(3, 0.5)).on_atoms(2).inclusion
        array([0.5, 0.5])
        """
        chance = self.inclusion[:1]
        if len(chance) == 0 or not (self.inclusion == chance).all():
            return None
        return Independent(np.full(atoms, chance[0]), self.public_rate)

    def positions(self, records: int, rng: np.random.Generator) -> Iterator[Positions]:
        """Yield the positions that are kept; from equal seeds, more where more is kept."""
        self._require_atoms(records)
        return kept_independently(self.inclusion, rng)

    def outcomes(
        self, multiplicities: IntArray, most: int = _MOST_OUTCOMES
    ) -> tuple[IntArray, FloatArray] | None:
        """Return all counts that are kept with some probability, which is a product."""
        self._require_atoms(len(multiplicities))
        numbers, chances = [], []
        for count, rate in zip(multiplicities.tolist(), self.inclusion.tolist(), strict=True):
            certain = count * int(rate) if rate in (0.0, 1.0) else None
            numbers.append(range(count + 1) if certain is None else (certain,))
            if math.prod(map(len, numbers)) > most:
                return None
            law = np.ones(len(numbers[-1]))
            if certain is None:
                relative_pmf(count, rate, 0, law)
            chances.append((law / law.sum()).tolist())
        rows = np.array(list(itertools.product(*numbers)), dtype=np.int64)
        return rows, as_array([math.prod(row) for row in itertools.product(*chances)])

    def kept_share(self, multiplicities: IntArray) -> float:
        """Return the average probability."""
        return float(np.average(self.inclusion, weights=multiplicities))

    def _require_atoms(self, atoms: int) -> None:
        if len(self.inclusion) != atoms:
            raise Refused(
                f"Expected one keep probability per value or record, {atoms:,} in all, "
                f"got {len(self.inclusion):,}."
            )


@dataclass(frozen=True)
class FixedSize(Design):
    """A sample of `size` of `population` records without replacement, every subset alike.

    Examples
    --------
    >>> FixedSize(2, 5).counts(np.array([4, 1]), 3, np.random.default_rng(0))
    array([[2, 0],
           [2, 0],
           [2, 0]])
    """

    size: int = field()
    population: int = field()

    @property
    def keeps_all(self) -> bool:
        """Whether the sample is the population."""
        return self.size == self.population

    @property
    def expansion(self) -> float:
        """The population for each record of the sample."""
        return self.population / self.size

    def counts(self, multiplicities: IntArray, runs: int, rng: np.random.Generator) -> IntArray:
        """Return multivariate hypergeometric counts."""
        # Where most values are somebody's own, drawing records is quicker than drawing a count per
        # value; both are the same distribution.
        few_repeat = self.population < _REPEATS * len(multiplicities)
        return rng.multivariate_hypergeometric(
            multiplicities, self.size, size=runs, method="count" if few_repeat else "marginals"
        )

    def on_atoms(self, atoms: int) -> Design:
        """Return the design itself: it knows records only."""
        return self

    def positions(self, records: int, rng: np.random.Generator) -> Iterator[Positions]:
        """Yield the positions of samples; from equal seeds, larger ones contain smaller ones."""
        return kept_by_number(self.size, self.population, rng)

    def outcomes(
        self, multiplicities: IntArray, most: int = _MOST_OUTCOMES
    ) -> tuple[IntArray, FloatArray] | None:
        """Return all counts that add up to the size, with multivariate hypergeometric odds."""
        sizes = multiplicities.tolist()
        if count_draws(sizes, self.size) > most:
            return None
        rows, chances = zip(*draws(sizes, self.size), strict=True)
        return np.array(rows, dtype=np.int64), as_array(chances)

    def kept_share(self, multiplicities: IntArray) -> float:
        """Return the share of the population that is drawn."""
        return self.size / self.population


def kept_independently(
    keep_probabilities: FloatArray, rng: np.random.Generator
) -> Iterator[Positions]:
    """Yield run by run the positions of the records that are kept, in ascending order.

    Examples
    --------
    >>> runs = kept_independently(np.array([1.0, 0.5, 0.0, 0.5]), np.random.default_rng(1))
    >>> for _ in range(3):
    ...     next(runs).tolist()
    [0]
    [0, 3]
    [0, 3]
    """
    size = len(keep_probabilities)
    # A number u of 32 bits is below keep 2^32 if it is below this, and always if keep is 1.
    limits = np.ceil(keep_probabilities * 2.0**32)
    always = limits >= 2.0**32
    below = np.minimum(limits, 2.0**32 - 1).astype(np.uint32)
    if always.all():
        everyone = np.arange(size)
        everyone.flags.writeable = False
        while True:
            _numbers(size, rng)
            yield everyone
    some_always = bool(always.any())
    while True:
        kept = _numbers(size, rng)[0] < below
        if some_always:
            kept |= always
        yield np.flatnonzero(kept)


def kept_by_number(sample: int, size: int, rng: np.random.Generator) -> Iterator[Positions]:
    """Yield run by run the positions of `sample` of `size` records, every subset alike.

    They are those with the smallest numbers, so that samples of different sizes are nested.

    Examples
    --------
    >>> smaller = kept_by_number(2, 5, np.random.default_rng(1))
    >>> larger = kept_by_number(4, 5, np.random.default_rng(1))
    >>> for _ in range(2):
    ...     next(smaller).tolist(), next(larger).tolist()
    ([0, 4], [0, 1, 2, 4])
    ([0, 4], [0, 1, 3, 4])
    """
    while True:
        numbers, spare = _numbers(size, rng)
        last = np.partition(numbers, sample - 1)[sample - 1]
        kept = numbers <= last
        surplus = int(kept.sum()) - sample
        if surplus:
            # Which of those with equal numbers are in is decided by a word that nothing else
            # looks at; all of them are alike.
            tied = np.flatnonzero(numbers == last)
            np.random.default_rng(spare).shuffle(tied)
            kept[tied[len(tied) - surplus :]] = False
        yield np.flatnonzero(kept)


def _numbers(size: int, rng: np.random.Generator) -> tuple[NDArray[np.uint32], int]:
    """Return a number of 32 bits per record, and a word to spare."""
    words = rng.integers(
        _LARGEST_WORD, endpoint=True, size=(size + 1) // 2 + 1, dtype=np.uint64
    ).astype("<u8", copy=False)
    return words[:-1].view("<u4")[:size], int(words[-1])
