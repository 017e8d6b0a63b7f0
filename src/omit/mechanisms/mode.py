"""The mode, as the value with the largest noisy count."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError, Parts
from omit.guarantee import REPLACE, NoNoiseNeeded
from omit.laws.design import Design
from omit.laws.noise import Gaussian, Noise, noise_named
from omit.mechanisms.base import (
    Bounds,
    Counts,
    Mechanism,
    Prepared,
    Promise,
    independent_inclusion,
)

Kind = Literal["laplace", "exponential", "gaussian", "gumbel"]
Variant = Literal["tight", "published"]
KINDS: tuple[Kind, ...] = ("laplace", "exponential", "gaussian", "gumbel")
# Noise that protects which count is the largest, and not the counts.
_SELECTING: tuple[Kind, ...] = ("exponential", "gumbel")
# So little noise that it only breaks ties between counts, of which one wins by chance.
_TIES_ONLY = 1e-6
_HARDLY_ANY_NOISE = Gaussian(0.01)
# So many samples of fixed size are gone through: an integral each.
_MOST_OUTCOMES = 200
# Weights, counts, and the probabilities with which records of these are kept.
_Laws: TypeAlias = list[tuple[float, Counts, FloatArray]]


@dataclass(frozen=True)
class NoisyMode(Mechanism):
    """Add noise to the count of every value of the declared domain and report the largest.

    One record changes one count by 1 under add-remove, two counts under replace.

    - ``"laplace"``: the whole histogram is protected, scale 1/epsilon (2/epsilon under replace).
    - ``"gaussian"``: the whole histogram, with exactly calibrated noise for L2 sensitivity 1
      (the square root of 2 under replace).
    - ``"exponential"``: report-noisy-max with exponential noise, which is permute-and-flip.
    - ``"gumbel"``: the exponential mechanism.

    The last two protect only which count is the largest. Counts that all change by the same number
    have the same largest one, so what matters is how far apart the changes of two counts are: by 1
    under add-remove, where one count moves and the others stay, and by 2 under replace, where one
    rises and one falls. That, divided by epsilon, is the scale (the documentation, "How much noise
    a choice needs", has the proof).

    Where several values share the largest count, each of them counts as right.

    Parameters
    ----------
    noise : {"laplace", "exponential", "gaussian", "gumbel"}
        Gaussian noise needs delta > 0.
    variant : {"tight", "published"}
        For exponential and Gumbel noise: the least scale for the relation, or 2/epsilon under both
        relations, which is twice what add-remove needs.

    Examples
    --------
    >>> from omit import Guarantee
    >>> NoisyMode(noise="gumbel").count_noise(Guarantee(0.5))
    Gumbel(scale=2.0)
    >>> NoisyMode(noise="gumbel", variant="published").count_noise(Guarantee(0.5))
    Gumbel(scale=4.0)
    """

    noise: Kind = "laplace"
    variant: Variant = "tight"

    statistic: ClassVar[str] = "mode"
    metric: ClassVar[str] = "probability of a wrong answer"
    unit: ClassVar[str] = "probability"
    distance: ClassVar[str] = "discrete"
    published_runs: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        noise_named(self.noise, KINDS)
        _validate.one_of("variant", self.variant, ("tight", "published"))

    def __str__(self) -> str:
        published = self.variant == "published" and self.noise in _SELECTING
        kind = f"{self.noise.capitalize()} noise"
        if self.noise == "gumbel":
            kind = "exponential mechanism"
        return f"noisy mode, {kind}{', as published' if published else ''}"

    def count_noise(self, promise: Promise) -> Noise:
        """Return the noise of every count."""
        if isinstance(promise, NoNoiseNeeded):
            return noise_named(self.noise)(_TIES_ONLY)
        self.require_relation(promise)
        changed = 2 if promise.neighbours == REPLACE else 1
        law = noise_named(self.noise)
        # Up to what all counts have in common, a single one that moves by 1 moves them by 1/2.
        largest = changed / 2 if self.variant == "tight" else 1
        return law.calibrated(promise, changed, l2=math.sqrt(changed), linf=largest)

    def prepare(
        self, data: Column, promise: Promise, *, bounds: Bounds | None = None, truth: Any = None
    ) -> PreparedMode:
        """Return the mode of the column with the noise that the promise needs.

        `truth` is a value, or several that count as right.
        """
        bounds = data.bounds if bounds is None else bounds
        notes: tuple[str, ...] = ()
        if truth is None:
            right = data.before_clamping.modes
            if len(right) > 1:
                shared = f"{len(right)} values share the largest count"
                notes = (f"{shared}; each of them counts as right.",)
        else:
            right = _as_tuple(truth)
            known = np.asarray(data.domain()[0])
            for value in right:
                if not np.isin(value, known):
                    raise InvalidInput(
                        f"Expected truth={value} to be in the declared domain of {data.name}."
                    )
            modes = data.before_clamping.modes
            if not np.isin(modes, right).any():
                notes = (
                    "What counts as right is not the mode of all records, "
                    f"{_shown_value(modes[0])}: without noise the answer is always wrong, and a "
                    "smaller error tells of guesses.",
                )
        return PreparedMode(self, data, bounds, right, self.count_noise(promise), notes)


@dataclass(frozen=True, eq=False)
class PreparedMode(Prepared):
    """The mode of a column with noise of its own on every count."""

    mechanism: NoisyMode
    column: Column
    bounds: Bounds | None
    truth: tuple[Any, ...]
    noise: Noise
    notes: tuple[str, ...] = ()

    def answers(self, counts: Counts, rng: np.random.Generator) -> NDArray[Any]:
        """Return the winning value for each row of counts."""
        possible, unheld = self._possible, self._unheld
        values = np.asarray(self.column.values)[possible]
        if len(values) + len(unheld) == 0:
            raise InvalidInput("The bounds leave no value that could be the mode.")
        if len(values) == 0:
            return rng.choice(unheld, len(counts))
        noisy = counts[:, possible] + self.noise.draw(rng, (len(counts), len(values)))
        winner: NDArray[Any] = values[noisy.argmax(axis=1)]
        if len(unheld) == 0:
            return winner
        highest = self.noise.draw_largest(rng, len(unheld), counts.shape[:1])
        return np.where(highest > noisy.max(axis=1), rng.choice(unheld, len(counts)), winner)

    def errors(self, kept: Counts, rng: np.random.Generator) -> FloatArray:
        """Return 1 for each wrong answer and 0 for each right one."""
        return as_array(~np.isin(self.answers(kept, rng), np.asarray(self.truth)))

    def exact_error(
        self, design: Design, *, tolerance: float = 1e-9, details: bool = True, quick: bool = False
    ) -> ExpectedError:
        """Return the probability of a wrong answer, of few records if not kept independently."""
        from omit.exact.mode import TooLarge, wrong_mode_probability

        possible = self._possible
        values, truths = np.asarray(self.column.values)[possible], np.asarray(self.truth)
        # A true mode that nobody has can still win, by noise alone.
        unseen = int(np.isin(self._unheld, truths).sum())
        right = np.append(np.isin(values, truths), np.ones(unseen, dtype=np.bool_))
        counts = np.append(self.column.counts[possible], np.zeros(unseen, dtype=np.int64))
        empty = len(self._unheld) - unseen
        if not right.any():
            return self._exactly(1.0)
        laws = self._laws(design, counts)

        def wrong(noise: Noise, laws: _Laws) -> tuple[float, float]:
            value = precision = 0.0
            for chance, left, keep in laws:
                one = wrong_mode_probability(left, keep, noise, right, empty)
                value, precision = value + chance * one[0], precision + chance * one[1]
            return value, precision

        try:
            value, precision = wrong(self.noise, laws)
            parts = None
            if details:
                by_omission = wrong(_HARDLY_ANY_NOISE, laws)[0]
                by_noise = wrong(self.noise, [(1.0, counts, np.ones(len(counts)))])[0]
                parts = Parts(by_omission, by_noise, clamping=self.clamping)
        except TooLarge as error:
            raise NotExact(str(error)) from error
        low, high = max(value - precision, 0.0), min(value + precision, 1.0)
        mechanism = self.mechanism
        return ExpectedError(
            value, low, high, "exact", mechanism.metric_name, mechanism.unit, parts=parts
        )

    def _laws(self, design: Design, counts: Counts) -> _Laws:
        """Return weights of laws whose mixture is that of the counts left of the possible values.

        One law if records are kept independently, all outcomes of a sample of few records.
        """
        atoms, unseen = len(self._possible), len(counts) - int(self._possible.sum())
        if design.inclusion is None and not design.keeps_all:
            outcomes = design.outcomes(self.column.counts, _MOST_OUTCOMES)
            if outcomes is not None:
                none = np.zeros(unseen, dtype=np.int64)
                rows = (np.append(row[self._possible], none) for row in outcomes[0])
                certain = np.ones(len(counts))
                chances = outcomes[1].tolist()
                return [(p, row, certain) for p, row in zip(chances, rows, strict=True)]
        inclusion = independent_inclusion(design, atoms)
        return [(1.0, counts, np.append(inclusion[self._possible], np.ones(unseen)))]

    @property
    def clamping(self) -> float:
        """The share of the modes after clamping that are wrong."""
        if self.column.before_clamping is self.column:
            return 0.0
        return float(np.mean(~np.isin(np.asarray(self.column.modes), np.asarray(self.truth))))

    @cached_property
    def _possible(self) -> NDArray[np.bool_]:
        """Which values of the column can be left."""
        values = np.asarray(self.column.values)
        if self.column.is_text or self.bounds is None:
            return np.ones(len(values), dtype=np.bool_)
        return (values >= self.bounds[0]) & (values <= self.bounds[1])

    @cached_property
    def _unheld(self) -> NDArray[Any]:
        """The values of the domain, narrowed to the bounds, that nobody has."""
        domain, counts = self.column.domain()
        unheld = np.asarray(domain[counts == 0])
        if self.column.is_text or self.bounds is None:
            return unheld
        return unheld[(unheld >= self.bounds[0]) & (unheld <= self.bounds[1])]


def _shown_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _as_tuple(truth: Any) -> tuple[Any, ...]:
    return tuple(truth) if isinstance(truth, Iterable) and not isinstance(truth, str) else (truth,)
