"""Uniform sampling: the omissions whose amplification is known exactly.

What is public here: the rate, the sample size and the population size. What is not: which records
were drawn. A sample whose members are known amplifies nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, as_array, log_mix, log_unmix, not_below
from omit._text import import_extra
from omit.data.base import Data
from omit.data.points import Points
from omit.errors import InvalidInput, Refused
from omit.guarantee import REPLACE, Relation
from omit.laws.design import Design, FixedSize, Independent
from omit.omissions.base import Omission

if TYPE_CHECKING:
    from dp_accounting import DpEvent


def sampling_epsilon(epsilon: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return epsilon of a release on a uniform sample: `ln(1 + rate (e^epsilon - 1))`.

    Examples
    --------
    >>> sampling_epsilon(1.0, [0.1, 0.5, 1.0])
    array([0.15856508, 0.62011451, 1.        ])
    """
    return log_mix(_validate.epsilons(epsilon), _validate.positive_rates(rate))


def sampling_base_epsilon(target: ArrayLike, rate: ArrayLike) -> FloatArray:
    """Return the epsilon of the mechanism for which `sampling_epsilon` is `target`.

    Examples
    --------
    >>> sampling_base_epsilon(1.0, [0.1, 0.5, 1.0])
    array([2.9004771 , 1.48988013, 1.        ])
    """
    return log_unmix(_validate.epsilons(target), _validate.positive_rates(rate))


@dataclass(frozen=True)
class NoOmission(Omission):
    """Keep every record; defined for every neighbour relation.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoOmission().amplify(Guarantee(1.0))
    Statement(epsilon=1.0, delta=0.0, neighbours='add-remove')
    """

    name: ClassVar[str] = "none"
    looks_at_single_records = True

    def __str__(self) -> str:
        return "no omission"

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return `epsilon`."""
        return as_array(epsilon)

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return `epsilon_after`."""
        return as_array(epsilon_after)

    @property
    def slope_at_zero(self) -> float:
        """One: delta stays as it is."""
        return 1.0

    @property
    def largest_keep_probability(self) -> float:
        """One: every record is kept."""
        return 1.0

    def design(self, data: Data, distance: str) -> Design:
        """Return that every record is kept."""
        return Independent(np.ones(len(data.multiplicities)))

    def to_dp_event(self, event: DpEvent) -> DpEvent:
        """Return the event itself."""
        return event

    def defined_for(self, neighbours: str) -> bool:
        """Accept every relation."""
        return True

    def _epsilon_not_below(self, epsilon: float) -> float:
        """Return `epsilon`, which nothing was done to."""
        return epsilon


class _UniformSampling(Omission):
    """A sample in which the likeliest record is drawn with probability `largest_keep_probability`.

    epsilon' = ln(1 + rate (e^epsilon - 1)), and by the shift rule delta' = rate delta (Li, Qardaji
    and Su 2012; Balle, Barthe and Gaboardi 2018, who show that it is tight).
    """

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        """Return ln(1 + rate (e^epsilon - 1))."""
        return sampling_epsilon(epsilon, self.largest_keep_probability)

    def epsilon_before(self, epsilon_after: ArrayLike) -> FloatArray:
        """Return ln(1 + (e^epsilon - 1) / rate)."""
        return sampling_base_epsilon(epsilon_after, self.largest_keep_probability)

    @property
    def slope_at_zero(self) -> float:
        """The rate."""
        return self.largest_keep_probability

    def _epsilon_not_below(self, epsilon: float) -> float:
        """Return the loss rounded up; a sample never loses more than all records."""
        return min(super()._epsilon_not_below(epsilon), epsilon)

    def _delta_factor(self, epsilon: float, after: float) -> float:
        """Return the rate, which is what the shift rule comes to."""
        return self.largest_keep_probability

    def _delta_not_below(self, delta: float, epsilon: float, after: float) -> float:
        """Return the share of delta, rounded up."""
        return not_below(Fraction(delta) * self._exact_rate)

    @property
    def _exact_rate(self) -> Fraction:
        return Fraction(self.largest_keep_probability)


@dataclass(frozen=True, init=False)
class PoissonSampling(_UniformSampling):
    """Keep every record independently, with a probability that no other record influences.

    Defined under add-remove.

    Parameters
    ----------
    rate : float or sequence of float
        In (0, 1]. With several rates, one per kind of record, the largest counts.
    sampling_probability : float, optional
        Another name for `rate`.

    Examples
    --------
    >>> from omit import Guarantee
    >>> print(PoissonSampling(rate=0.1).amplify(Guarantee(1.0, 1e-6)))
    (0.1585650788, 1.000000001e-07)-DP under add-remove
    >>> PoissonSampling(rate=0.1).calibrate(Guarantee(1.0))
    Guarantee(epsilon=2.900477097889..., delta=0.0, neighbours='add-remove')
    """

    rate: float | tuple[float, ...]

    name: ClassVar[str] = "poisson"
    looks_at_single_records = True
    parameters: ClassVar[tuple[str, ...]] = ("rate",)

    def __init__(
        self,
        rate: float | Sequence[float] | None = None,
        *,
        sampling_probability: float | None = None,
    ) -> None:
        if (rate is None) == (sampling_probability is None):
            raise InvalidInput("Expected either rate or sampling_probability.")
        given = sampling_probability if rate is None else rate
        if isinstance(given, Sequence) and not isinstance(given, str):
            if not given:
                raise InvalidInput("Expected at least one rate.")
            checked: float | tuple[float, ...] = tuple(
                _validate.positive_rate(f"rate[{index}]", one) for index, one in enumerate(given)
            )
        else:
            checked = _validate.positive_rate(
                "rate",
                given,  # type: ignore[arg-type]  # not None: one of the two was given, as checked
            )
        object.__setattr__(self, "rate", checked)

    def __str__(self) -> str:
        if isinstance(self.rate, tuple):
            return f"Poisson sampling at rates up to {max(self.rate):g}"
        return f"Poisson sampling at rate {self.rate:g}"

    @property
    def largest_keep_probability(self) -> float:
        """The largest rate."""
        return max(self.rate) if isinstance(self.rate, tuple) else self.rate

    def design(self, data: Data, distance: str) -> Design:
        """Return that every record is kept independently at the rate, or each at its own.

        Raises
        ------
        Refused
            If there are several rates, and not one for each record of points.
        """
        if isinstance(self.rate, tuple):
            if isinstance(data, Points) and data.size == len(self.rate):
                return Independent(as_array(self.rate))
            raise Refused(
                f"Which records {self} keeps at which rate is not known; give one rate, one for "
                "each record of points, or rates by value."
            )
        return Independent(np.full(len(data.multiplicities), self.rate), self.rate)

    def to_dp_event(self, event: DpEvent) -> DpEvent:
        """Return a `PoissonSampledDpEvent` at the largest rate."""
        accounting: Any = import_extra("dp_accounting", "accounting", "A DpEvent")
        return accounting.PoissonSampledDpEvent(self.largest_keep_probability, event)


@dataclass(frozen=True)
class FixedSizeSampling(_UniformSampling):
    """Draw `size` of `population` records without replacement, every subset alike.

    Defined under replace, where both numbers are public. Under add-remove the population size is
    what must be hidden, and no bound of this form holds.

    Examples
    --------
    >>> from omit import Guarantee
    >>> drawn = FixedSizeSampling(size=10, population=100)
    >>> print(drawn.amplify(Guarantee(2.0, neighbours="replace")))
    (0.4940287081, 0)-DP under replace
    """

    size: int
    population: int

    name: ClassVar[str] = "fixed-size"
    parameters: ClassVar[tuple[str, ...]] = ("size",)
    relations: ClassVar[tuple[Relation, ...]] = (REPLACE,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _validate.positive_integer("size", self.size))
        population = _validate.positive_integer("population", self.population)
        object.__setattr__(self, "population", population)
        if self.size > population:
            raise InvalidInput(f"Expected size={self.size} to be at most population={population}.")

    def __str__(self) -> str:
        return f"sampling {self.size} of {self.population} records without replacement"

    @property
    def largest_keep_probability(self) -> float:
        """The share that is drawn."""
        return self.size / self.population

    @property
    def _exact_rate(self) -> Fraction:
        return Fraction(self.size, self.population)

    @property
    def records_before(self) -> int:
        """The population."""
        return self.population

    @property
    def records_after(self) -> int:
        """The size of the sample."""
        return self.size

    @classmethod
    def from_text(cls, text: str, population: int | None = None) -> Omission:
        """Return the sampling of a short form, such as ``fixed-size:1000``."""
        given = cls._arguments(text)
        return cls(**given, population=population)  # type: ignore[arg-type]  # is checked

    def design(self, data: Data, distance: str) -> Design:
        """Return samples without replacement.

        Raises
        ------
        InvalidInput
            If there are not as many records as the declared population.
        """
        if data.size != self.population:
            raise InvalidInput(
                f"Expected population={self.population} to be the number of records, which is "
                f"{data.size}."
            )
        return FixedSize(self.size, self.population)

    def to_dp_event(self, event: DpEvent) -> DpEvent:
        """Return a `SampledWithoutReplacementDpEvent`."""
        accounting: Any = import_extra("dp_accounting", "accounting", "A DpEvent")
        return accounting.SampledWithoutReplacementDpEvent(self.population, self.size, event)
