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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_UP
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, FloatArray, at_least, at_most, share_of
from omit._text import promised, rounded_up, show_number
from omit.errors import InvalidInput
from omit.guarantee import NoGuarantee
from omit.laws.divergence import RELATIVE_ERROR
from omit.laws.intervals import CONFIDENCE
from omit.report.page import Card, Point
from omit.report.result import Drawing, Ends, Field, Result, Table
from omit.statistical.figures import draw_curves

if TYPE_CHECKING:
    import pandas as pd


Method: TypeAlias = Literal["exact", "upper bound", "simulated", "as printed"]
Pair: TypeAlias = tuple[Any, Any]

NOT_DIFFERENTIAL = (
    "Statistical privacy is not differential privacy: it rests on what the adversary is assumed to "
    "know."
)

# A curve is called exact if its bounds are no further apart, relative to delta.
PRECISION = 1e-6
_FEW_DIGITS = 1e-300


@dataclass(frozen=True)
class StatisticalGuarantee:
    """(epsilon, delta)-statistical privacy, and the assumption it rests on.

    Parameters
    ----------
    epsilon, delta : float
        As for `Guarantee`.
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
                "Statistical privacy can only be compared with statistical privacy, got "
                f"{_validate.shown(other)}."
            )
        if self.assumption != other.assumption:
            raise InvalidInput(
                "Cannot compare statistical guarantees that rest on different assumptions: "
                f"{self.assumption!r} and {other.assumption!r}."
            )
        return self.epsilon <= other.epsilon and self.delta <= other.delta


@dataclass(frozen=True, eq=False)
class PrivacyCurve(Result):
    """The smallest known delta for every epsilon, with the method that it comes from.

    Attributes
    ----------
    epsilon : array
        Ascending.
    delta : array
        Never below the truth (a simulation: with the stated confidence), and falling. Zero is
        zero: what is too small for a float is the smallest positive one.
    lower : array
        Never above the truth; within a millionth of `delta` if exact, and otherwise a statement of
        how close the bound is. A simulation estimates a bound, and [lower, delta] is an interval
        for that bound.
    pairs : tuple of (v, w)
        For every epsilon the pair of values that is easiest to tell apart, `v` against `w`; empty
        where a bound does not say.
    directions : mapping
        Delta by name of the direction, where there are two of interest.
    method : {"exact", "upper bound", "simulated", "as printed"}
        Where it comes from; a formula as printed in the paper need not bound anything.
    assumption : str
        What the adversary is assumed to know.
    confidence : float or None
        Of the interval [lower, delta] of a simulation, at every epsilon by itself.
    subject : str
        What was asked of which entries, as the title of a table.

    Examples
    --------
    >>> from omit.statistical import property_curve
    >>> property_curve(1000, 0.3, [0.0, 0.1]).delta.round(4)
    array([0.0275, 0.0025])
    """

    epsilon: FloatArray
    delta: FloatArray
    lower: FloatArray
    pairs: tuple[Pair, ...]
    method: Method
    assumption: str
    directions: Mapping[str, FloatArray] = field(default_factory=dict)
    confidence: float | None = None
    subject: str = ""

    command: ClassVar[str] = "curve"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "delta": "at every epsilon asked for, the upper end of an estimate",
    }
    warning: ClassVar[str | None] = NOT_DIFFERENTIAL

    @property
    def title(self) -> str:
        """What the curve is of."""
        return f"Statistical privacy: {self.subject}" if self.subject else super().title

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

    @property
    def standings(self) -> tuple[str, ...]:
        """What is known of every delta: that it is exact, at most this, estimated or printed."""
        if self.method == "as printed":
            return (self.method,) * len(self.epsilon)
        if self.confidence is not None:
            return ("estimate",) * len(self.epsilon)
        return tuple("exact" if close else "at most" for close in agree(self.lower, self.delta))

    @property
    def verdict(self) -> str:
        """By how much delta falls over the epsilons asked for."""
        first, last = (f"{promised(self.epsilon[i])}" for i in (0, -1))
        if len(self.epsilon) == 1:
            return f"At ε = {first}, δ is {self._shown(0)}."
        return f"δ falls from {self._shown(0)} at ε = {first} to {self._shown(-1)} at ε = {last}."

    @property
    def card(self) -> Card:
        """What is promised at the first epsilon, what may be lost, and what it rests on."""
        promises = self.method not in ("simulated", "as printed")
        delta = self._shown(0)
        chance = (
            "At most this probability is beyond the factor of the odds"
            if promises
            else "An estimate of the probability beyond the factor of the odds, which is no promise"
        )
        return Card(
            Point(
                f"ε = {promised(self.epsilon[0])}",
                "To an adversary who knows how entries are distributed, and no more of them than "
                "is said below: an answer changes the odds of what one entry holds by a factor "
                "of at most e to the ε.",
            ),
            Point(f"δ = {delta}", f"{chance}, for the worst pair of values of the entry."),
            Point(
                "check the adversary",
                f"This rests on {self.assumption}. Who knows more is promised nothing: against "
                "such an adversary, add noise and state differential privacy.",
            ),
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return delta at every epsilon; a formula as printed bounds nothing."""
        if self.method == "as printed":
            return {"delta": [None] * len(self.delta)}
        return {"delta": list(zip(self.lower.tolist(), self.delta.tolist(), strict=True))}

    def _shown(self, index: int) -> str:
        standing = "" if self.standings[index] == "exact" else f"{self.standings[index]} "
        return f"{standing}{rounded_up(self.delta[index], 6)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumption, and how close bounds and estimates are."""
        notes = [f"Assuming {self.assumption}."]
        gaps = self.delta - self.lower
        if self.confidence is not None:
            notes.append(
                f"Every δ is the upper end of a {self.confidence:.0%} interval, at most "
                f"{rounded_up(gaps.max(), 2)} wide: an estimate, not a guarantee."
            )
        bounds = [
            gap for gap, known in zip(gaps, self.standings, strict=True) if known == "at most"
        ]
        if bounds:
            gap = rounded_up(max(bounds), 2)
            notes.append(f"Where δ is a bound, it is at most {gap} above the truth.")
        return tuple(notes)

    def tables(self) -> Sequence[Table]:
        """Return the curve: delta, its lower bound, the worst pair and both directions."""
        fields = [
            Field("ε", "epsilon", promised, numeric=True),
            Field("δ", "delta", _show_delta, numeric=True),
            Field("known", "known"),
            *(Field(f"δ, {name}", f"delta {name}", _show_delta, True) for name in self.directions),
        ]
        columns: list[Any] = [self.epsilon, self.delta, self.standings, *self.directions.values()]
        if self.pairs:
            fields.append(Field("worst pair", "worst_pair", _show_pair))
            columns.append(self.pairs)
        rows = tuple(zip(*columns, strict=True))
        return [Table("curve", self.subject, tuple(fields), rows)]

    def figures(self) -> Mapping[str, Drawing]:
        """Return delta over epsilon."""
        return {"δ over ε": lambda axes: draw_curves(axes, {"δ(ε)": self}, logarithmic=True)}

    def to_frame(self) -> pd.DataFrame:
        """Return the curve with both bounds on delta, and the worst pair as two columns."""
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

    def to_json(self) -> dict[str, Any]:
        """Return the curve as arrays."""
        return {
            "epsilon": self.epsilon.tolist(),
            "delta": self.delta.tolist(),
            "delta_lower": self.lower.tolist(),
            "worst_pairs": [list(pair) for pair in self.pairs],
            "directions": {name: deltas.tolist() for name, deltas in self.directions.items()},
            "method": self.method,
            "assumption": self.assumption,
            "confidence": self.confidence,
        }


@dataclass(frozen=True)
class SampleCurves(Result):
    """Curves of a query on a sample: if the adversary learns who was drawn, and if not.

    `secret` is None where it is not known, that is if the adversary knows entries.
    """

    technique: str
    public: PrivacyCurve
    secret: PrivacyCurve | None

    command: ClassVar[str] = "curve sample"
    known_quantities: ClassVar[Mapping[str, str]] = {
        "delta": "at every epsilon, if the adversary learns who was drawn",
        "secret_delta": "at every epsilon, if not",
    }
    warning: ClassVar[str | None] = NOT_DIFFERENTIAL

    @property
    def curves(self) -> dict[str, PrivacyCurve]:
        """The curves by what is known of the sample."""
        return {"public": self.public, **({} if self.secret is None else {"secret": self.secret})}

    @property
    def title(self) -> str:
        """What the curves are of."""
        return f"Statistical privacy of a sample: {self.technique}"

    @property
    def verdict(self) -> str:
        """What is known if the sample is public, and if it is secret."""
        return " ".join(f"Sample {name}: {curve.verdict}" for name, curve in self.curves.items())

    @property
    def card(self) -> Card:
        """That of the public sample, and what a secret one adds."""
        card, epsilon = self.public.card, promised(self.public.epsilon[0])
        if self.secret is None:
            return card
        return card._replace(
            instead=Point(
                "keep the sample secret",
                f"At ε = {epsilon}, δ is {self.secret._shown(0)} if nobody learns who was drawn. "
                f"{card.instead.sentence}",
            )
        )

    def quantities(self) -> Mapping[str, Sequence[Ends | None]]:
        """Return delta of both curves at every epsilon."""
        unknown = [None] * len(self.public.delta)
        secret = unknown if self.secret is None else self.secret.quantities()["delta"]
        return {**self.public.quantities(), "secret_delta": secret}

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of both curves."""
        return tuple(dict.fromkeys(note for curve in self.curves.values() for note in curve.notes))

    def tables(self) -> Sequence[Table]:
        """Return both deltas at every epsilon."""
        fields = [Field("ε", "epsilon", promised, numeric=True)]
        columns: list[Any] = [self.public.epsilon]
        for name, curve in self.curves.items():
            fields += [
                Field(f"δ, sample {name}", f"delta_{name}", _show_delta, numeric=True),
                Field("known", f"known_{name}"),
            ]
            columns += [curve.delta, curve.standings]
        rows = tuple(zip(*columns, strict=True))
        return [Table("curves", self.technique, tuple(fields), rows)]

    def figures(self) -> Mapping[str, Drawing]:
        """Return both curves."""
        return {"δ over ε": lambda axes: draw_curves(axes, self.curves, logarithmic=True)}

    def to_json(self) -> dict[str, Any]:
        """Return both curves as arrays."""
        return {f"sample_{name}": curve.to_json() for name, curve in self.curves.items()}


def _show_delta(delta: float) -> str:
    return rounded_up(delta, 6)


def _show_pair(pair: Pair) -> str:
    return f"{pair[0]:.15g} against {pair[1]:.15g}"


def agree(low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    """Tell where bounds are so close that either may be called exact.

    Floats below 1e-300 have too few digits for it, so there any upper bound will do.

    Examples
    --------
    >>> agree(np.array([0.1, 0.1, 0.0]), np.array([0.1, 0.1001, 5e-324]))
    array([ True, False,  True])
    """
    return (high - low <= PRECISION * high) | (high <= _FEW_DIGITS)


def bounded_curve(
    epsilon: FloatArray,
    low: FloatArray,
    high: FloatArray,
    assumption: str,
    *,
    pairs: tuple[Pair, ...] = (),
    directions: Mapping[str, FloatArray] | None = None,
    only_a_bound: bool = False,
) -> PrivacyCurve:
    """Return the curve between proven bounds, called exact only where they agree.

    The truth falls with epsilon. So what bounds it at one epsilon bounds it at every larger one,
    and bounds that grow with epsilon, as errors multiplied by `e^epsilon` do, never show.

    Examples
    --------
    >>> curve = bounded_curve(np.array([0.0, 9.0]), np.zeros(2), np.array([0.1, 1.0]), "none")
    >>> curve.delta, curve.method
    (array([0.1, 0.1]), 'upper bound')
    """
    delta = _falling(high)
    lower = np.minimum(np.maximum.accumulate(np.maximum(low, 0.0)[::-1])[::-1], delta)
    exact = not only_a_bound and bool(agree(lower, delta).all())
    return PrivacyCurve(
        epsilon,
        delta,
        lower,
        pairs,
        "exact" if exact else "upper bound",
        assumption,
        {name: np.minimum(_falling(more), delta) for name, more in (directions or {}).items()},
    )


def _falling(high: FloatArray) -> FloatArray:
    return np.minimum.accumulate(np.minimum(high, 1.0))


def two_directions(
    epsilon: FloatArray,
    more: tuple[FloatArray, FloatArray],
    less: tuple[FloatArray, FloatArray],
    assumption: str,
    *,
    pairs: tuple[Pair, Pair] = ((1.0, 0.0), (0.0, 1.0)),
    only_a_bound: bool = False,
) -> PrivacyCurve:
    """Return the curve of two directions, from bounds on either: the larger one."""
    names = [f"{v:.15g} against {w:.15g}" for v, w in pairs]
    return bounded_curve(
        epsilon,
        np.maximum(more[0], less[0]),
        np.maximum(more[1], less[1]),
        assumption,
        pairs=tuple(pairs[0] if first else pairs[1] for first in more[1] >= less[1]),
        directions={names[0]: more[1], names[1]: less[1]},
        only_a_bound=only_a_bound,
    )


def averaged_curve(
    epsilon: FloatArray,
    low: FloatArray,
    high: FloatArray,
    assumption: str,
    *,
    share: float = 1.0,
    only_a_bound: bool = False,
) -> PrivacyCurve:
    """Return the curve between bounds, times a share, from binomial probabilities."""
    return bounded_curve(
        epsilon,
        at_least(share * low, RELATIVE_ERROR),
        at_most(share_of(share, high), RELATIVE_ERROR),
        assumption,
        only_a_bound=only_a_bound,
    )


def estimated_curve(
    epsilon: FloatArray, low: FloatArray, high: FloatArray, assumption: str, *, share: float = 1.0
) -> PrivacyCurve:
    """Return the interval of a simulation, times a share, as a curve, which is not a bound."""
    low, high = at_least(share * low, RELATIVE_ERROR), at_most(share * high, RELATIVE_ERROR)
    return PrivacyCurve(
        epsilon, np.minimum(high, 1.0), low, (), "simulated", assumption, confidence=CONFIDENCE
    )


def upper_bound(epsilon: FloatArray, bound: FloatArray, assumption: str) -> PrivacyCurve:
    """Return a bound of which it is not known how close it is."""
    return bounded_curve(epsilon, np.zeros(len(epsilon)), bound, assumption, only_a_bound=True)


def worst_curve(curves: Sequence[PrivacyCurve]) -> PrivacyCurve:
    """Return the curve that is largest at every epsilon, of curves with the same directions."""
    first = curves[0]
    if len(curves) == 1:
        return first
    deltas = [curve.delta for curve in curves]
    largest = np.argmax(deltas, axis=0)
    return bounded_curve(
        first.epsilon,
        np.max([curve.lower for curve in curves], axis=0),
        np.max(deltas, axis=0),
        first.assumption,
        pairs=tuple(curves[which].pairs[index] for index, which in enumerate(largest)),
        directions={
            name: np.max([curve.directions[name] for curve in curves], axis=0)
            for name in first.directions
        },
    )


class WorstPair:
    """The largest divergence over pairs of values that are tried one after the other."""

    def __init__(self, points: int, first: Pair) -> None:
        self.low, self.high = np.zeros(points), np.zeros(points)
        self._pairs = [first] * points

    def add(self, bounds: tuple[FloatArray, FloatArray], pair: Pair) -> None:
        """Take account of one more pair, given bounds on its divergence at every epsilon."""
        for index in np.flatnonzero(bounds[0] > self.low):
            self._pairs[index] = pair
        self.low, self.high = np.maximum(self.low, bounds[0]), np.maximum(self.high, bounds[1])

    def curve(self, epsilon: FloatArray, assumption: str) -> PrivacyCurve:
        """Return the curve of the worst pair at every epsilon."""
        return bounded_curve(epsilon, self.low, self.high, assumption, pairs=tuple(self._pairs))
