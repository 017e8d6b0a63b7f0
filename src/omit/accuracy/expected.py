"""One path from a question to an expected error.

A `Question` holds what compare, best, solve, grids and reports ask. Told an omission, it calibrates
the mechanism once, prepares it once, asks the omission for its design, and computes the error:
exactly where the mechanism can, by integrating over the noise, or by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from omit import _validate
from omit.accuracy.sampled_from import promise_on_sample
from omit.accuracy.simulated import DEFAULT_RUNS, Runs, simulated_error
from omit.data.base import Data
from omit.data.column import Column
from omit.errors import InvalidInput, NotExact
from omit.exact.error import ExpectedError
from omit.guarantee import Guarantee, require_guarantee
from omit.laws.design import Design
from omit.mechanisms.base import Mechanism, Prepared, Promise
from omit.omissions.base import Omission, checked_design
from omit.omissions.sampling import NoOmission

Method = Literal["auto", "exact", "simulated"]

# With bounds as large as may be declared, squares of the noise are still numbers.
_SMALLEST_EPSILON = 1e-50
# Beyond, noise is below the last digits of what it is added to.
_LARGEST_EPSILON = 1e9
# More bins than these take longer to be drawn from and make no interval narrower.
_BINS_TO_DRAW = 1024
# That of declared bounds.
_LARGEST_TRUTH = 1e100


@dataclass(frozen=True)
class Question:
    """What is asked about accuracy: one value for compare, best, solve, grids and reports.

    Parameters
    ----------
    data : Column or Points
        The confidential data. What is computed from them here is not private.
    mechanism : Mechanism
        What is computed, and how its error is measured.
    guarantee : Guarantee
        What the release as a whole promises.
    truth : optional
        A known value of the population that stands in for the statistic of the data, which is
        that of the values as they are, before any of them is clamped.
    method : {"auto", "exact", "simulated"}
        Exact where possible, or one of the two.
    runs : int
        How many runs to simulate where the error is not exact.
    seed : int
        Of simulated runs; all start from it, so that they can be compared.
    rows_per_person : int
        How many records one person may have; the guarantee is for a person.
    statistics : int
        How many statistics of the same records share the guarantee in equal parts, this one
        included. On a sample they are composed first and amplified once.
    sampled_from : int, optional
        The size of the population of which the data are a secret simple random sample. The
        guarantee is then for the population, and the data may use the weaker one that the sample
        itself needs.
    noise_reduction : bool
        Whether the noise is reduced to make up for the privacy that the omission adds. If not,
        the mechanism alone already has the guarantee.
    early_stop : bool
        Whether runs that are compared one by one end when the verdict is clear, before `runs`.
    tolerance : float
        The relative precision of an exact mean.
    details : bool
        Whether to add quantiles and to say apart what clamping, omission and noise cost.
    quick : bool
        Whether to simulate rather than to wait for an exact mean, as where many are asked for.

    Raises
    ------
    InvalidInput
        If something has the wrong type or does not fit, or a number is beyond all use.
    """

    data: Data
    mechanism: Mechanism
    guarantee: Guarantee
    truth: Any = None
    method: Method = "auto"
    runs: int = DEFAULT_RUNS
    seed: int = 0
    rows_per_person: int = 1
    statistics: int = 1
    sampled_from: int | None = None
    noise_reduction: bool = True
    early_stop: bool = True
    tolerance: float = 1e-9
    details: bool = True
    quick: bool = False

    def __post_init__(self) -> None:
        require_guarantee(self.guarantee)
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidInput(
                f"Expected a mechanism, such as NoisyMean(), got {_validate.shown(self.mechanism)}."
            )
        epsilon = self.guarantee.epsilon
        if epsilon > _LARGEST_EPSILON:
            raise InvalidInput(
                f"Expected epsilon={epsilon:g} of at most {_LARGEST_EPSILON:g}: what has a larger "
                "one protects nobody, and its noise is below the last digits."
            )
        if 0 < epsilon < _SMALLEST_EPSILON:
            raise InvalidInput(
                f"Expected epsilon={epsilon:g} of at least {_SMALLEST_EPSILON:g}: the noise "
                "for less is too large to be computed with."
            )
        _validate.runs(self.runs)
        _validate.positive_integer("statistics", self.statistics)
        object.__setattr__(self, "seed", _validate.seed(self.seed))
        tolerance = _validate.positive_rate("tolerance", self.tolerance)
        object.__setattr__(self, "tolerance", tolerance)
        if isinstance(self.truth, int | float) and not abs(self.truth) <= _LARGEST_TRUTH:
            raise InvalidInput(f"Expected truth={self.truth:g} within ±{_LARGEST_TRUTH:g}.")
        _validate.one_of("method", self.method, ("auto", "exact", "simulated"))
        if not isinstance(self.data, self.mechanism.data_type):
            given = getattr(self.data, "described", _validate.shown(self.data))
            wanted = self.mechanism.data_type.described
            raise InvalidInput(f"{self.mechanism} needs {wanted}, not {given}.")
        self.mechanism.require_relation(self.guarantee)
        self.mechanism.require_fit(self.data, self.truth)

    @cached_property
    def promise(self) -> Promise:
        """What a release on the data needs, before anything is left out: for one record of them."""
        per_record = self.guarantee.per_row(self.rows_per_person)
        if self.sampled_from is None:
            return per_record
        return promise_on_sample(per_record, self.data.size, self.sampled_from)

    @property
    def delta(self) -> float:
        """Delta of a release on the data; from a sample's rate on, no noise is needed."""
        return self.promise.delta if isinstance(self.promise, Guarantee) else self.guarantee.delta

    def at(self, epsilon: float) -> Question:
        """Return the same question at another epsilon."""
        return replace(self, guarantee=replace(self.guarantee, epsilon=epsilon))

    def setting(self, omission: Omission) -> Setting:
        """Return the mechanism calibrated and prepared for what the omission leaves.

        Raises
        ------
        Unattainable
            If the omission cannot reach the guarantee.
        WrongNeighbours
            If it has no bound under the relation of the guarantee.
        """
        if not isinstance(omission, Omission):
            given = _validate.shown(omission)
            raise InvalidInput(f"Expected an omission, such as PoissonSampling(0.5), got {given}.")
        omission.require_relation(self.guarantee)
        promise = self.promise
        if self.noise_reduction and isinstance(promise, Guarantee):
            promise = omission.calibrate(promise)
        if isinstance(promise, Guarantee):
            promise = promise.per_statistic(self.statistics)
        design = checked_design(omission, self.data, self.mechanism.distance)
        declared = self.data.bounds
        bounds = None if declared is None else omission.restrict(declared)
        prepared = self.mechanism.prepare(self.data, promise, bounds=bounds, truth=self.truth)
        return Setting(self, omission, promise, design, prepared.expanded(design.expansion))

    def error(
        self, omission: Omission | None = None, rng: np.random.Generator | None = None
    ) -> ExpectedError:
        """Return the expected error after an omission, by default after none."""
        if rng is not None:
            _validate.generator(rng)
        return self.setting(NoOmission() if omission is None else omission).error(rng)


@dataclass(frozen=True, eq=False)
class Setting:
    """A question with one omission: its promise, its design and the prepared mechanism.

    `no_guarantee` says why the omission leaves none, where that is so.
    """

    question: Question
    omission: Omission
    promise: Promise
    design: Design
    prepared: Prepared
    no_guarantee: str | None = None

    def error(self, rng: np.random.Generator | None = None) -> ExpectedError:
        """Return the expected error; simulated runs come from `rng`, or from the seed."""
        error = self._exact_or_simulated(rng)
        if error.parts is None and self.question.details:
            return replace(error, parts=self.prepared.parts(self.design))
        return error

    def _exact_or_simulated(self, rng: np.random.Generator | None) -> ExpectedError:
        question, reason = self.question, None
        if question.method != "simulated":
            try:
                return self.exact_error()
            except NotExact as error:
                reason = str(error)
        drawn = self._on_few_bins
        return simulated_error(
            drawn.prepared,
            drawn.question.data,
            drawn.design,
            question.runs,
            np.random.default_rng(question.seed) if rng is None else rng,
            integrate=question.method == "auto",
            reason=reason,
        )

    @property
    def _on_few_bins(self) -> Setting:
        """The same with as many bins as a simulation can tell from more."""
        data = self.question.data
        if not isinstance(data, Column) or not data.is_binned or data.distinct <= _BINS_TO_DRAW:
            return self
        return replace(self.question, data=data.in_bins(_BINS_TO_DRAW)).setting(self.omission)

    def exact_error(self) -> ExpectedError:
        """Return the exact error.

        Raises
        ------
        NotExact
            If there is none, and a simulation may take over.
        InvalidInput
            If there is none, and it was asked for.
        """
        question = self.question
        try:
            return self.prepared.exact_error(
                self.design,
                tolerance=question.tolerance,
                details=question.details,
                quick=question.quick,
            )
        except NotExact as error:
            if question.method != "exact":
                raise
            raise InvalidInput(
                f"There is no exact answer here: {error}; method='simulated' gives one."
            ) from error

    def runs(self) -> Runs:
        """Return the errors of run after run, which start from the seed of the question."""
        question = self.question
        rng = np.random.default_rng(question.seed)
        return Runs.of(self.prepared, question.data, self.design, question.runs, rng)


def expected_error(
    data: Data,
    mechanism: Mechanism,
    guarantee: Guarantee,
    omission: Omission | None = None,
    method: Method = "auto",
    *,
    rng: np.random.Generator | None = None,
    **options: Any,
) -> ExpectedError:
    """Return the expected error of a mechanism after an omission, at a guarantee.

    Parameters
    ----------
    data, mechanism, guarantee, method
        As for `Question`.
    omission : Omission, optional
        How records are left out; by default none are.
    rng : numpy.random.Generator, optional
        Where simulated runs come from; by default the seed of the question.
    **options
        The other parameters of `Question`.

    Raises
    ------
    InvalidInput
        If ``method="exact"`` and there is no exact answer, or something does not fit.
    Unattainable
        If the omission cannot reach the guarantee.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values([20, 30, 30, 40, 60] * 200, bounds=(0, 100))
    >>> error = expected_error(ages, omit.NoisyMean(), omit.Guarantee(1.0))
    >>> round(error.value, 6), error.method
    (0.213779, 'exact')
    """
    return Question(data, mechanism, guarantee, method=method, **options).error(omission, rng)
