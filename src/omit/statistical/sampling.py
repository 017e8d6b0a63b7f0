"""Sampling techniques: which entries an answer is computed on, and what that hides.

A *template* is a sequence of positions in the database, a *sampling technique* a distribution over
templates (Definitions 3.1 and 3.2). Two questions are answered about it:

- the *sampling privacy curve* (Definition 3.3), the average over templates of the curve given the
  template: valid even if the adversary learns which entries were drawn, after the fact;
- the *secret* curve of the answer itself, where the template stays secret: never larger.

For property queries on identical entries the secret curve has a closed form wherever the answer is
a mixture of two neighbouring binomials, `alpha b(a-1) + beta b(a)` against the same with other
weights (`mixture_delta`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import SMALLEST_POSITIVE, Bounds, FloatArray, IntArray, as_array
from omit.errors import InvalidInput
from omit.laws import counts, divergence
from omit.laws.distribution import Distribution
from omit.statistical import assumptions, properties
from omit.statistical.assumptions import PropertyQuery
from omit.statistical.curve import PrivacyCurve, averaged_curve, estimated_curve
from omit.statistical.sums import sum_curve_of_groups

_LITTLE_WORK, _MOST_WORK = 10**7, 5 * 10**7
_MOST_ROWS, _MOST_CELLS = 4_096, 10**6
_MANY_DRAWS = 10_000
# Draws with replacement that are simulated, times the runs.
_MOST_DRAWS = 10**8
_MOST_PROFILES = 3_000
# More draws have more profiles than that, and need not be counted.
_LONGEST_PROFILE = 100
_FEW_UNITS = 8 * 2.0**-53


@dataclass(frozen=True, eq=False)
class _Average:
    """Bounds on the curve of a sample that has the critical entry, and how often it has.

    Unless all samples were `listed`, the bounds are an interval.
    """

    delta: Bounds
    share: float
    listed: bool = True


class SamplingTechnique(ABC):
    """A distribution over templates with one sample (Definition 3.2)."""

    def curve(
        self,
        n: int,
        p: float,
        epsilon: ArrayLike,
        *,
        known: int = 0,
        runs: int = 2_000,
        rng: Generator | None = None,
    ) -> PrivacyCurve:
        """Return the sampling privacy curve of a property query (Definition 3.3).

        Parameters
        ----------
        n, p, epsilon, known
            As for `property_curve`.
        runs, rng
            Where there are too many samples to list, this many are drawn.

        Raises
        ------
        InvalidInput
            If a value is out of range, or `rng` is needed and not given.
        """
        query = PropertyQuery(n, p, epsilon, known)
        runs, rng = assumptions.checked_simulation(runs, rng)
        average = self._average(query, runs, rng)
        curve_of = averaged_curve if average.listed else estimated_curve
        return curve_of(query.epsilon, *average.delta, f"{query}; {self}", share=average.share)

    @abstractmethod
    def _average(self, query: PropertyQuery, runs: int, rng: Generator | None) -> _Average: ...

    def secret_curve(self, n: int, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the exact curve of the answer itself, the template being secret.

        Raises
        ------
        InvalidInput
            If a value is out of range, or the sample and the database are too large.
        """
        query = PropertyQuery(n, p, epsilon)
        low, high = self._secret_delta(query)
        return averaged_curve(query.epsilon, low, high, f"{query}; {self}, in secret")

    @abstractmethod
    def _secret_delta(self, query: PropertyQuery) -> Bounds: ...


@dataclass(frozen=True)
class _OfFixedSize(SamplingTechnique):
    size: int

    def __post_init__(self) -> None:
        size = _validate.positive_integer("size", self.size, most=counts.LARGEST_TRIALS)
        object.__setattr__(self, "size", size)


class WithoutReplacement(_OfFixedSize):
    """Draw `size` entries, every subset alike.

    The curve is `size / n` times the average curve of a sample with the critical entry. In secret,
    the critical entry counts with probability `size / n`.

    Examples
    --------
    >>> technique = WithoutReplacement(100)
    >>> technique.curve(1000, 0.5, 0.1).delta, technique.secret_curve(1000, 0.5, 0.1).delta
    (array([0.00418368]), array([5.67497739e-10]))
    """

    def __str__(self) -> str:
        return f"{self.size:,} entries drawn without replacement"

    def _average(self, query: PropertyQuery, runs: int, rng: Generator | None) -> _Average:
        size = assumptions.checked_sample(self.size, query.n)
        return _Average(properties.sample_delta(query, size), size / query.n)

    def _secret_delta(self, query: PropertyQuery) -> Bounds:
        size = assumptions.checked_sample(self.size, query.n)
        return left_out_delta(query.n, size, query.p, query.epsilon)


@dataclass(frozen=True)
class PoissonTechnique(SamplingTechnique):
    """Draw every entry independently; the size of the sample is not released.

    The curve is `rate` times the average curve over the number of unknown entries drawn. In secret,
    any other entry counts with probability `rate p`.

    Examples
    --------
    >>> PoissonTechnique(0.1).secret_curve(1000, 0.5, 0.1).delta
    array([1.19302488e-12])
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _validate.positive_rate("rate", self.rate))

    def __str__(self) -> str:
        return f"each entry drawn with probability {self.rate:g}"

    def _average(self, query: PropertyQuery, runs: int, rng: Generator | None) -> _Average:
        drawn, log, outside = _binomial_window(query.unknown, self.rate)
        low, high = properties.expected_delta(drawn, np.exp(log), query.p, query.epsilon)
        return _Average((low, high + outside), self.rate)

    def _secret_delta(self, query: PropertyQuery) -> Bounds:
        assumptions.property_probability(self.rate * query.p, "rate * p")
        # The product, all digits of it: among many entries what is rounded off adds up.
        chance = Fraction(self.rate) * Fraction(query.p)
        common = 0.0, 1 - self.rate
        return mixture_delta(query.n - 1, chance, self.rate, common, query.epsilon)


class WithReplacement(_OfFixedSize):
    """Draw an entry `size` times, any of them every time: templates that may repeat positions.

    The curve is the average over how often entries are drawn. In secret, the number of draws that
    have the property is binomial, given how many of all entries have it.

    Examples
    --------
    >>> WithReplacement(4).curve(6, 0.5, 0.1).delta
    array([0.22596055])
    """

    def __str__(self) -> str:
        return f"{self.size:,} entries drawn with replacement"

    def _average(self, query: PropertyQuery, runs: int, rng: Generator | None) -> _Average:
        if query.known == 0 and _count_profiles(self.size) <= _MOST_PROFILES:
            weighted = (
                (_repeated_delta(own, profile, query), weight)
                for own, profile, weight in _profiles(query.n, self.size)
            )
            return _Average(properties.listed_average(weighted), 1.0)
        if rng is None:
            raise InvalidInput(
                "There are too many ways to draw with replacement to list them; give a random "
                "generator (rng) to estimate the average."
            )
        if runs * self.size > _MOST_DRAWS:
            raise InvalidInput(
                f"Expected a smaller sample or fewer runs: {runs:,} runs of {self.size:,} draws "
                f"are more than {_MOST_DRAWS:,}."
            )
        # Of a large database the share of one entry is lost next to 1.
        share = -math.expm1(self.size * math.log1p(-1 / query.n)) if query.n > 1 else 1.0
        deltas, known_deltas = [], {}
        for _ in range(runs):
            own, profile = self._draw_profile(query, rng)
            key = own, tuple(sorted(profile.items()))
            if key not in known_deltas:
                known_deltas[key] = _repeated_delta(own, profile, query)
            deltas.append(known_deltas[key])
        return _Average(properties.estimated_average(deltas), share, listed=False)

    def _draw_profile(self, query: PropertyQuery, rng: Generator) -> tuple[int, Counter[int]]:
        """Return how often the critical entry is drawn, at least once, and unknown others are."""
        n, unknown = query.n, query.unknown
        own = _positive_binomial(self.size, 1 / n, rng)
        # Draws of known entries change nothing but how many others are drawn.
        drawn = int(rng.binomial(self.size - own, unknown / (n - 1))) if n > 1 else 0
        positions = rng.integers(unknown, size=drawn) if unknown else np.zeros(0, int)
        return own, Counter(np.unique(positions, return_counts=True)[1].tolist())

    def _secret_delta(self, query: PropertyQuery) -> Bounds:
        n, p, epsilon = query.n, query.p, query.epsilon
        ones, log, outside = _binomial_window(n - 1, p)
        if len(ones) * (self.size + 1) > _LITTLE_WORK:
            ones, log, outside = _binomial_window(n - 1, p, counts.RARITY_OF_WIDE)
        if len(ones) * (self.size + 1) > _MOST_WORK:
            raise InvalidInput(
                f"Expected a smaller sample or database: {len(ones):,} numbers of ones times "
                f"{self.size + 1:,} answers are too many to list."
            )
        with_it, without = (_mixture(self.size, n, ones + own, log) for own in (1, 0))
        more = divergence.divergence_bounds(with_it, without, epsilon)
        less = divergence.divergence_bounds(without, with_it, epsilon)
        # Of other numbers of ones, the first law may have all that there is, or the second.
        low = np.maximum(more[0], less[0]) - np.exp(np.minimum(epsilon, 700.0)) * outside
        return np.maximum(low, 0.0), np.maximum(more[1], less[1]) + outside


def _binomial_window(
    trials: int, p: float, rarity: float | None = None
) -> tuple[IntArray, FloatArray, float]:
    """Return counts, logarithms of their probabilities, and what all others have together."""
    if p == 1:
        return np.array([trials], dtype=np.int64), np.zeros(1), 0.0
    variance = trials * p * (1 - p)
    rarity = rarity or counts.window_rarity(variance)
    reach = counts.bernstein_reach(variance, rarity) + 1
    drawn, log = counts.binomial_window(trials, p, reach)
    return drawn, log, 0.0 if len(drawn) == trials + 1 else 2 * math.exp(-rarity)


def _mixture(size: int, n: int, ones: IntArray, log: FloatArray) -> Bounds:
    """Return bounds on the logarithms of how many ones are drawn, if this many of all are."""
    law = np.full(size + 1, -np.inf)
    rows = max(1, min(_MOST_ROWS, _MOST_CELLS // (size + 1)))
    for begin in range(0, len(ones), rows):
        part = slice(begin, begin + rows)
        table = _binomial_laws(size, n, ones[part]) + log[part, None]
        largest = np.maximum(table.max(axis=0), -1e300)
        with np.errstate(divide="ignore"):
            law = np.logaddexp(law, largest + np.log(np.exp(table - largest).sum(axis=0)))
    # Two logarithms of binomial probabilities, rounded sums of some thousand, and as many of these.
    wrong = 1e-10 + 1e-14 * np.abs(np.maximum(law, -1e300))
    return law - wrong, law + wrong


def _binomial_laws(size: int, n: int, ones: IntArray) -> FloatArray:
    """Return, for every number of ones among `n`, logarithms of how many of `size` draws are."""
    from scipy.special import xlogy

    drawn = np.arange(size + 1, dtype=np.int64)
    if size > _MANY_DRAWS:
        shares = [Fraction(number, n) for number in ones.tolist()]
        return np.array([counts.log_pmf(drawn, size, share) for share in shares])
    # Of fewer draws, logarithms of the binomial coefficients are small enough to keep digits.
    ways = counts.log_pmf(drawn, size, 0.5) + size * math.log(2)
    share = (ones / n)[:, None], ((n - ones) / n)[:, None]
    return as_array(ways + xlogy(drawn, share[0]) + xlogy(size - drawn, share[1]))


def left_out_delta(n: int, used: int, p: float, epsilon: FloatArray) -> Bounds:
    """Return bounds on delta of a count over a random `used` of `n` entries.

    If the critical entry is left out, another has the property with probability `p` instead.
    """
    out = (n - used) / n
    return mixture_delta(used - 1, p, used / n, (out * p, out * (1 - p)), epsilon)


def mixture_delta(
    trials: int, p: float | Fraction, share: float, common: tuple[float, float], epsilon: FloatArray
) -> Bounds:
    """Return bounds on the larger divergence between two mixtures of `1 + X` and `X`, `X` binomial.

    The critical entry counts with probability `share`; else the answer is `1 + X` or `X` with the
    weights `common`, whatever the entry is. So `P - e^epsilon Q = A b(a-1) - B b(a)` with
    `A = share - (e^epsilon - 1) common[0]` and `B = e^epsilon share + (e^epsilon - 1) common[1]`.
    The positive part is `A` times that of `1 + X` from `X` at `ln(B / A)`, and zero if `A <= 0`.
    Where the difference `A` loses digits, or many trials make the last ones of the logarithm count,
    the bounds part.

    Examples
    --------
    >>> mixture_delta(3, 0.5, 1.0, (0.0, 0.0), np.array([0.0]))
    (array([0.375]), array([0.375]))
    """
    grow = np.exp(np.minimum(epsilon, 700.0))
    excess = np.expm1(np.minimum(epsilon, 700.0))
    lows: list[FloatArray] = []
    highs: list[FloatArray] = []
    for told, (one, zero) in ((divergence.one_more, common), (divergence.one_less, common[::-1])):
        A, B = share - excess * one, grow * share + excess * zero
        # Every weight was rounded, and so were both terms.
        wrong = _FEW_UNITS * (share + excess * one) if one else 0.0
        for bounds, weight, slack in (
            (lows, A - wrong, _FEW_UNITS),
            (highs, A + wrong, -_FEW_UNITS),
        ):
            some = weight > 0
            inner = np.where(some, np.log(B) - np.log(np.where(some, weight, B)), 0.0)
            inner += slack * (1 + inner)
            value = weight * told(trials, p, np.maximum(inner, 0.0))
            # A product that is too small for a float is not zero; lower bounds are rounded down.
            bounds.append(np.where(some, np.maximum(value, SMALLEST_POSITIVE), 0.0))
    return np.maximum(*lows), np.maximum(*highs)


def _positive_binomial(trials: int, p: float, rng: Generator) -> int:
    """Return a binomial number, given that it is not zero: by its first success."""
    level = rng.random() * -math.expm1(trials * math.log1p(-p)) if p < 1 else 0.0
    first = min(math.floor(math.log1p(-level) / math.log1p(-p)), trials - 1) if p < 1 else 0
    return 1 + int(rng.binomial(trials - 1 - first, p))


def _repeated_delta(own: int, profile: Mapping[int, int], query: PropertyQuery) -> Bounds:
    """Return bounds on the curve given that the critical entry counts `own` times.

    `profile` says how many others count once, twice and so on.
    """
    if own == 0:
        return np.zeros(len(query.epsilon)), np.zeros(len(query.epsilon))
    others = [
        (Distribution.of_property(query.p, float(times)), count)
        for times, count in profile.items()
        if count
    ]
    curve = sum_curve_of_groups(others, [0.0, float(own)], query.epsilon)
    return curve.lower, curve.delta


def _partitions(total: int, largest: int) -> Iterator[Counter[int]]:
    if total == 0:
        yield Counter()
        return
    for first in range(min(total, largest), 0, -1):
        for rest in _partitions(total - first, first):
            yield rest + Counter({first: 1})


def _count_profiles(size: int) -> int:
    """Return how many profiles there are of `size` draws: partitions of every number up to it."""
    size = min(size, _LONGEST_PROFILE)
    ways = [1] + [0] * size
    for part in range(1, size + 1):
        for total in range(part, size + 1):
            ways[total] += ways[total - part]
        if ways[-1] > _MOST_PROFILES:
            return ways[-1]
    return sum(ways)


def _profiles(n: int, size: int) -> Iterator[tuple[int, Counter[int], float]]:
    """Yield how often the critical entry is drawn, how many others how often, and how likely."""
    for own in range(size + 1):
        rest = size - own
        for profile in _partitions(rest, rest):
            different = sum(profile.values())
            if different > n - 1:
                continue
            ways = math.comb(size, own) * math.factorial(rest) * math.perm(n - 1, different)
            alike = math.prod(
                math.factorial(times) ** count * math.factorial(count)
                for times, count in profile.items()
            )
            yield own, profile, ways // alike / n**size
