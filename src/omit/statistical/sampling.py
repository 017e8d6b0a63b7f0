"""Templates and sampling techniques: which entries an answer is computed on.

A *template* is a list of samples, each a sequence of places in the database. A *sampling technique*
is a distribution over templates. Two questions are answered about it:

- the *sampling privacy curve* (Definition 3.3), the average over templates of the curve given the
  template: valid even if the adversary learns which entries were drawn, after the fact;
- the *secret* curve of the answer itself, where the template stays secret: never larger.

For property queries on identical entries the secret curve has a closed form wherever the answer is
a mixture of two neighbouring binomials (`binomial_mixture`).

Templates: which places of a database make the samples that answers are computed on.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array, share_of
from omit.errors import InvalidInput
from omit.laws.counts import LARGEST_TRIALS, bernstein_reach, binomial_window, log_pmf
from omit.laws.distribution import checked_entries, property_probability
from omit.laws.divergence import Bounds, divergence_bounds
from omit.laws.intervals import bernstein_bounds
from omit.statistical.background import (
    averaged_curve,
    checked_sample,
    estimated_curve,
    expected_delta,
    sampled_property_curve,
)
from omit.statistical.curve import PrivacyCurve, ascending_epsilons
from omit.statistical.mixtures import (
    MOST_PROFILES,
    count_profiles,
    left_out_delta,
    mixture_delta,
    positive_binomial,
    profiles,
    repeated_delta,
)
from omit.statistical.properties import describe

_MOST_TEMPLATES = 10**6
_LITTLE_WORK, _MOST_WORK = 10**7, 5 * 10**7
_MOST_ROWS, _MOST_CELLS = 4_096, 10**6
_MANY_DRAWS = 10_000
# Draws with replacement that are simulated, times the runs.
_MOST_DRAWS = 10**8
# Entries of a database that a template is drawn from.
MOST_DRAWN = 10**8
# What is left out where there are too many counts, as a logarithm: more where these are wide.
_DEPTH, _DEPTH_OF_WIDE, _WIDE = 750.0, 60.0, 1e8


class SamplingTechnique(ABC):
    """A distribution over templates with one sample (Definition 3.2)."""

    @abstractmethod
    def templates(self, n: int) -> Mapping[Template, float]:
        """Return every template, the order of places aside, with its probability; for small `n`."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Template:
        """Return a random template."""

    @abstractmethod
    def curve(
        self,
        n: int,
        p: float,
        epsilon: ArrayLike,
        *,
        known: int = 0,
        runs: int = 2_000,
        rng: np.random.Generator | None = None,
    ) -> PrivacyCurve:
        """Return the sampling privacy curve of a property query (Definition 3.3)."""

    @abstractmethod
    def secret_curve(self, n: int, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the curve of the answer itself, the template being secret."""


@dataclass(frozen=True)
class WithoutReplacement(SamplingTechnique):
    """Draw `size` entries, every subset alike.

    Examples
    --------
    >>> technique = WithoutReplacement(100)
    >>> technique.curve(1000, 0.5, 0.1).delta, technique.secret_curve(1000, 0.5, 0.1).delta
    (array([0.00418368]), array([5.67497739e-10]))
    """

    size: int

    def __post_init__(self) -> None:
        size = _validate.positive_integer("size", self.size, most=LARGEST_TRIALS)
        object.__setattr__(self, "size", size)

    def __str__(self) -> str:
        return f"{self.size:,} entries drawn without replacement"

    def templates(self, n: int) -> Mapping[Template, float]:
        """Return every subset of the size."""
        n = _validate.positive_integer("n", n, most=_MOST_TEMPLATES)
        size = checked_sample("size", self.size, n)
        _require_few(math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1))
        count = math.comb(n, size)
        return {Template((each,)): 1 / count for each in itertools.combinations(range(n), size)}

    def draw(self, n: int, rng: np.random.Generator) -> Template:
        """Return a random subset, in random order."""
        n = _drawn_from(n, rng)
        size = checked_sample("size", self.size, n)
        return Template((tuple(rng.choice(n, size, replace=False).tolist()),))

    def curve(
        self,
        n: int,
        p: float,
        epsilon: ArrayLike,
        *,
        known: int = 0,
        runs: int = 2_000,
        rng: np.random.Generator | None = None,
    ) -> PrivacyCurve:
        """Return `size / n` times the average curve of a sample with the critical entry."""
        return sampled_property_curve(n, p, self.size, epsilon, known=known)

    def secret_curve(self, n: int, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the exact curve: with probability `size / n` the critical entry counts."""
        n, _, p, epsilons = _checked(n, p, epsilon)
        size = checked_sample("size", self.size, n)
        low, high = left_out_delta(n, size, p, epsilons)
        return averaged_curve(epsilons, low, high, f"{describe(n, p)}; {self}, in secret")


@dataclass(frozen=True)
class Poisson(SamplingTechnique):
    """Draw each entry independently; the size of the sample is not released.

    Examples
    --------
    >>> Poisson(0.1).secret_curve(1000, 0.5, 0.1).delta
    array([1.19302488e-12])
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _validate.positive_rate("rate", self.rate))

    def __str__(self) -> str:
        return f"each entry drawn with probability {self.rate:g}"

    def templates(self, n: int) -> Mapping[Template, float]:
        """Return every subset."""
        n = _validate.positive_integer("n", n, most=_MOST_TEMPLATES)
        _require_few(n * math.log(2))
        return {
            Template((each,)): self.rate**size * (1 - self.rate) ** (n - size)
            for size in range(n + 1)
            for each in itertools.combinations(range(n), size)
        }

    def draw(self, n: int, rng: np.random.Generator) -> Template:
        """Return a random subset."""
        n = _drawn_from(n, rng)
        return Template((tuple(np.flatnonzero(rng.random(n) < self.rate).tolist()),))

    def curve(
        self,
        n: int,
        p: float,
        epsilon: ArrayLike,
        *,
        known: int = 0,
        runs: int = 2_000,
        rng: np.random.Generator | None = None,
    ) -> PrivacyCurve:
        """Return `rate` times the average curve over the number of unknown entries drawn."""
        n, known, p, epsilons = _checked(n, p, epsilon, known)
        others = n - 1 - known
        counts, log, outside = _binomial_window(others, self.rate)
        low, high = expected_delta(counts, np.exp(log), p, epsilons)
        text = f"{describe(n, p, known)}; {self}"
        return averaged_curve(epsilons, low, high + outside, text, share=self.rate)

    def secret_curve(self, n: int, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the exact curve: the others count with probability `rate p` each."""
        n, _, p, epsilons = _checked(n, p, epsilon)
        property_probability(self.rate * p, "rate * p")
        # The product, all digits of it: among many entries what is rounded off adds up.
        chance = Fraction(self.rate) * Fraction(p)
        low, high = mixture_delta(n - 1, chance, self.rate, (0.0, 1 - self.rate), epsilons)
        return averaged_curve(epsilons, low, high, f"{describe(n, p)}; {self}, in secret")


@dataclass(frozen=True)
class WithReplacement(SamplingTechnique):
    """Draw an entry `size` times, each time any of them: templates that are not injective.

    Examples
    --------
    >>> WithReplacement(4).curve(6, 0.5, 0.1).delta
    array([0.22596055])
    """

    size: int

    def __post_init__(self) -> None:
        size = _validate.positive_integer("size", self.size, most=LARGEST_TRIALS)
        object.__setattr__(self, "size", size)

    def __str__(self) -> str:
        return f"{self.size:,} entries drawn with replacement"

    def templates(self, n: int) -> Mapping[Template, float]:
        """Return every multiset of places."""
        n = _validate.positive_integer("n", n, most=_MOST_TEMPLATES)
        _require_few(self.size * math.log(n))
        drawn = Counter(
            tuple(sorted(each)) for each in itertools.product(range(n), repeat=self.size)
        )
        return {Template((each,)): count / n**self.size for each, count in drawn.items()}

    def draw(self, n: int, rng: np.random.Generator) -> Template:
        """Return a random sequence of places."""
        n = _drawn_from(n, rng)
        _validate.positive_integer("size", self.size, most=MOST_DRAWN)
        return Template((tuple(rng.integers(n, size=self.size).tolist()),))

    def curve(
        self,
        n: int,
        p: float,
        epsilon: ArrayLike,
        *,
        known: int = 0,
        runs: int = 2_000,
        rng: np.random.Generator | None = None,
    ) -> PrivacyCurve:
        """Return the average over how often each entry is drawn, listed or estimated.

        Raises
        ------
        InvalidInput
            If the ways to draw are too many to list and no `rng` is given.
        """
        n, known, p, epsilons = _checked(n, p, epsilon, known)
        runs = _validate.runs(runs)
        if rng is not None:
            _validate.generator(rng)
        text = f"{describe(n, p, known)}; {self}"
        others = n - 1 - known
        if known == 0 and count_profiles(self.size) <= MOST_PROFILES:
            low, high = np.zeros(len(epsilons)), np.zeros(len(epsilons))
            for own, profile, weight in profiles(n, self.size):
                least, most = repeated_delta(own, profile, p, epsilons)
                low += weight * least
                high += share_of(weight, most)
            return averaged_curve(epsilons, low, high, text)
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
        # Of a large database the share of one entry is lost beside 1.
        drawn = -math.expm1(self.size * math.log1p(-1 / n)) if n > 1 else 1.0
        draws, known_draws = [], {}
        for _ in range(runs):
            own = positive_binomial(self.size, 1 / n, rng)
            # Draws of known entries change nothing but how many others are drawn.
            left = int(rng.binomial(self.size - own, others / (n - 1))) if n > 1 else 0
            places = rng.integers(others, size=left) if others else np.zeros(0, int)
            times = np.unique(places, return_counts=True)[1]
            profile = Counter(times.tolist())
            key = own, tuple(sorted(profile.items()))
            if key not in known_draws:
                known_draws[key] = repeated_delta(own, profile, p, epsilons)
            draws.append(known_draws[key])
        low, _ = bernstein_bounds(np.array([least for least, _ in draws]))
        _, high = bernstein_bounds(np.array([most for _, most in draws]))
        return estimated_curve(epsilons, low, high, text, share=drawn)

    def secret_curve(self, n: int, p: float, epsilon: ArrayLike) -> PrivacyCurve:
        """Return the exact curve: given the number of ones, draws are binomial.

        Raises
        ------
        InvalidInput
            If `n * size` is too large.
        """
        n, _, p, epsilons = _checked(n, p, epsilon)
        ones, log, outside = _binomial_window(n - 1, p)
        if len(ones) * (self.size + 1) > _LITTLE_WORK:
            ones, log, outside = _binomial_window(n - 1, p, _DEPTH_OF_WIDE)
        if len(ones) * (self.size + 1) > _MOST_WORK:
            raise InvalidInput(
                f"Expected a smaller sample or database: {len(ones):,} numbers of ones times "
                f"{self.size + 1:,} answers are too many to list."
            )
        with_it, without = (_mixture(self.size, n, ones + own, log) for own in (1, 0))
        more = divergence_bounds(with_it, without, epsilons)
        less = divergence_bounds(without, with_it, epsilons)
        # Of other numbers of ones, the first law may have all that there is, or the second.
        low = np.maximum(more[0], less[0]) - np.exp(np.minimum(epsilons, 700.0)) * outside
        high = np.maximum(more[1], less[1]) + outside
        text = f"{describe(n, p)}; {self}, in secret"
        return averaged_curve(epsilons, np.maximum(low, 0.0), high, text)


def _checked(
    n: int, p: float, epsilon: ArrayLike, known: int = 0
) -> tuple[int, int, float, FloatArray]:
    """Return entries, those known, the probability of the property and epsilons, or refuse them."""
    n, known = checked_entries(n, known)
    return n, known, property_probability(p), ascending_epsilons(epsilon)


def _drawn_from(n: int, rng: np.random.Generator) -> int:
    """Return the entries to draw from, or refuse them or the generator."""
    _validate.generator(rng)
    return _validate.positive_integer("n", n, most=MOST_DRAWN)


def _require_few(log_count: float) -> None:
    """Refuse more templates than are listed, given the logarithm of their number."""
    if log_count > math.log(_MOST_TEMPLATES) + 1e-6:
        raise InvalidInput(
            f"Expected a smaller n: there are more than {_MOST_TEMPLATES:,} templates, which are "
            "too many to list."
        )


def _binomial_window(
    trials: int, p: float, depth: float | None = None
) -> tuple[NDArray[np.int64], FloatArray, float]:
    """Return counts, logarithms of their probabilities, and what all others have together."""
    if p == 1:
        return np.array([trials], dtype=np.int64), np.zeros(1), 0.0
    variance = trials * p * (1 - p)
    depth = depth or (_DEPTH if variance < _WIDE else _DEPTH_OF_WIDE)
    counts, log = binomial_window(trials, p, bernstein_reach(variance, depth) + 1)
    return counts, log, 0.0 if len(counts) == trials + 1 else 2 * math.exp(-depth)


def _mixture(size: int, n: int, ones: NDArray[np.int64], log: FloatArray) -> Bounds:
    """Return bounds on the logarithms of how many ones are drawn, so many of all being ones."""
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


def _binomial_laws(size: int, n: int, ones: NDArray[np.int64]) -> FloatArray:
    """Return, for every number of ones among `n`, logarithms of how many of `size` draws are."""
    from scipy.special import xlogy

    drawn = np.arange(size + 1, dtype=np.int64)
    if size > _MANY_DRAWS:
        shares = [Fraction(each, n) for each in ones.tolist()]
        return np.array([log_pmf(drawn, size, share) for share in shares])
    # Of fewer draws, logarithms of the binomial coefficients are small enough to keep digits.
    ways = log_pmf(drawn, size, 0.5) + size * math.log(2)
    share = (ones / n)[:, None], ((n - ones) / n)[:, None]
    return as_array(ways + xlogy(drawn, share[0]) + xlogy(size - drawn, share[1]))


@dataclass(frozen=True)
class Template:
    """Samples of a database, as sequences of places (Definition 3.1).

    Examples
    --------
    >>> template = Template(((0, 2), (1,)))
    >>> template.format, template.is_injective, template.apply("abc")
    ((2, 1), True, (('a', 'c'), ('b',)))
    """

    samples: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        samples = _validate.several("samples", self.samples)
        places = tuple(_validate.several("places", sample) for sample in samples)
        object.__setattr__(self, "samples", places)

    @property
    def format(self) -> tuple[int, ...]:
        """The sizes of the samples."""
        return tuple(len(sample) for sample in self.samples)

    @property
    def is_injective(self) -> bool:
        """Whether no place is used twice."""
        places = [place for sample in self.samples for place in sample]
        return len(set(places)) == len(places)

    def apply(self, records: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """Return the samples of these records.

        Raises
        ------
        InvalidInput
            If a place does not exist.
        """
        records = _validate.several(
            "records", list(records) if isinstance(records, str) else records
        )
        for place in itertools.chain.from_iterable(self.samples):
            if not isinstance(place, int | np.integer) or not 0 <= place < len(records):
                raise InvalidInput(f"There is no place {place} among {len(records)} records.")
        return tuple(tuple(records[place] for place in sample) for sample in self.samples)
