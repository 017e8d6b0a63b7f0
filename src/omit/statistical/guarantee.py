"""What is promised against an adversary who does not know the data, and a curve of such promises.

(epsilon, delta)-statistical privacy compares the same answer for two values `v`, `w` of one entry,
with all other entries *random*: `P[answer in S | entry = v] <= e^epsilon P[answer in S | entry = w]
+ delta` for every set `S` and all pairs of values. Differential privacy asks for the same with all
other entries *fixed*, whatever they are. The two kinds of promise have the same letters and nothing
else in common: a count without any noise can be statistically private and is never differentially
private. So `StatisticalGuarantee` is a type of its own. It carries what the adversary is assumed to
know, promises nothing if that is wrong, does not compose, and is refused wherever a `Guarantee` is
asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from omit import _validate
from omit._decimals import show_number
from omit._numeric import SMALLEST_POSITIVE, FloatArray
from omit.errors import InvalidInput
from omit.guarantee import NoGuarantee

if TYPE_CHECKING:
    import pandas as pd

Method: TypeAlias = Literal["exact", "upper bound", "simulated", "as printed"]
Pair: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class StatisticalGuarantee:
    """(epsilon, delta)-statistical privacy, and the assumption it rests on.

    Parameters
    ----------
    epsilon : float
        In [0, inf).
    delta : float
        In [0, 1).
    assumption : str
        What the adversary knows and does not know, in words.

    Examples
    --------
    >>> print(StatisticalGuarantee(0.1, 0.01, "100 independent entries, probability 0.5"))
    (0.1, 0.01)-statistical privacy, assuming: 100 independent entries, probability 0.5
    """

    epsilon: float
    delta: float
    assumption: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.epsilon(self.epsilon))
        object.__setattr__(self, "delta", _validate.delta(self.delta))
        if not isinstance(self.assumption, str) or not self.assumption.strip():
            raise InvalidInput("Expected the assumption that a statistical guarantee rests on.")

    def __str__(self) -> str:
        pair = f"({show_number(self.epsilon, ROUND_UP)}, {show_number(self.delta, ROUND_UP)})"
        return f"{pair}-statistical privacy, assuming: {self.assumption}"

    def implies(self, other: StatisticalGuarantee) -> bool:
        """Tell whether this promise contains the other one, under the same assumption.

        Raises
        ------
        InvalidInput
            If the other is not a statistical guarantee, or rests on another assumption.

        Examples
        --------
        >>> weak = StatisticalGuarantee(0.2, 0.01, "fair coins")
        >>> StatisticalGuarantee(0.1, 0.01, "fair coins").implies(weak)
        True
        """
        if not isinstance(other, StatisticalGuarantee):
            raise InvalidInput(
                f"Statistical privacy can only be compared with statistical privacy, got {other!r}."
            )
        if self.assumption != other.assumption:
            raise InvalidInput(
                "Cannot compare statistical guarantees that rest on different assumptions: "
                f"{self.assumption!r} and {other.assumption!r}."
            )
        return self.epsilon <= other.epsilon and self.delta <= other.delta


@dataclass(frozen=True, eq=False)
class PrivacyCurve:
    """The smallest known delta for every epsilon, with the method that found it.

    Attributes
    ----------
    epsilon : array
        Ascending.
    delta : array
        Never below the truth (a simulation: with the stated confidence).
    lower : array
        Never above the truth; equal to `delta` up to rounding if exact. A simulation estimates a
        bound, and [lower, delta] is an interval for that bound.
    pairs : tuple of (v, w)
        For every epsilon the pair of values that is easiest to tell apart, `v` against `w`; empty
        where a bound does not say.
    directions : mapping
        Delta by name of the direction, where there are two of interest.
    method : {"exact", "upper bound", "simulated", "as printed"}
        How it was found; a formula as printed in the paper need not bound anything.
    assumption : str
        What the adversary is assumed to know.
    confidence : float or None
        Of the interval [lower, delta] of a simulation, for each epsilon by itself.
    """

    epsilon: FloatArray
    delta: FloatArray
    lower: FloatArray
    pairs: tuple[Pair, ...]
    method: Method
    assumption: str
    directions: Mapping[str, FloatArray] = field(default_factory=dict)
    confidence: float | None = None

    def guarantee(self, epsilon: float) -> StatisticalGuarantee | NoGuarantee:
        """Return the promise at an epsilon: that of the largest epsilon computed below it.

        Raises
        ------
        InvalidInput
            If the curve was simulated, or is a formula as printed, which promise nothing, or if it
            begins above `epsilon`.
        """
        epsilon = _validate.epsilon(epsilon)
        if self.method == "simulated":
            raise InvalidInput(
                "A simulated curve promises nothing; use an exact curve or an upper bound."
            )
        if self.method == "as printed":
            raise InvalidInput(
                "A formula as printed in the paper is not a bound and promises nothing; use the "
                "corrected one."
            )
        index = int(np.searchsorted(self.epsilon, epsilon, side="right")) - 1
        if index < 0:
            raise InvalidInput(
                f"Expected epsilon={epsilon:g} to be at least {self.epsilon[0]:g}, where the "
                "curve begins."
            )
        delta = max(float(self.delta[index]), SMALLEST_POSITIVE)
        if delta >= 1:
            return NoGuarantee(f"delta is 1 at epsilon = {epsilon:g}: {self.assumption}.")
        return StatisticalGuarantee(epsilon, delta, self.assumption)

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table."""
        import pandas as pd

        return pd.DataFrame(
            {
                "epsilon": self.epsilon,
                "delta": self.delta,
                "delta_lower": self.lower,
                **({"v": [v for v, _ in self.pairs]} if self.pairs else {}),
                **({"w": [w for _, w in self.pairs]} if self.pairs else {}),
                **{f"delta {name}": values for name, values in self.directions.items()},
            }
        )


def two_directions(
    epsilon: FloatArray,
    more: FloatArray,
    less: FloatArray,
    error: FloatArray | float,
    assumption: str,
    *,
    pairs: tuple[Pair, Pair] = ((1.0, 0.0), (0.0, 1.0)),
    relative_error: float = 0.0,
    method: Method = "exact",
) -> PrivacyCurve:
    """Return the curve of two directions: the larger one, rounded away from the truth."""
    worst = np.maximum(more, less)
    names = [f"{v:g} against {w:g}" for v, w in pairs]
    return PrivacyCurve(
        epsilon,
        np.minimum(worst * (1 + relative_error) + error, 1.0),
        np.maximum(worst * (1 - relative_error) - error, 0.0),
        tuple(pairs[0] if first else pairs[1] for first in more >= less),
        method,
        assumption,
        {names[0]: np.minimum(more, 1.0), names[1]: np.minimum(less, 1.0)},
    )


def ascending_epsilons(values: object) -> FloatArray:
    """Return the epsilons of a curve as an ascending array.

    Raises
    ------
    InvalidInput
        If there are none, or one is negative or not finite.
    """
    array = np.unique(np.atleast_1d(_validate.epsilons(values)))  # type: ignore[arg-type]  # anything: refused there
    if not len(array):
        raise InvalidInput("Expected at least one epsilon.")
    return array


def default_epsilons(count: int, spread: float) -> FloatArray:
    """Return epsilons from 0 to where a curve of `count` entries has long fallen.

    One entry moves the answer by about `1 / spread` of a standard deviation, and the curve falls
    within a few such steps.
    """
    largest = min(8.0 / max(spread, 1e-9), 20.0) if math.isfinite(spread) else 1.0
    return np.linspace(0.0, largest, count)
