"""One call for the expected error of a mechanism after an omission, exact or simulated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.accuracy.simulated import DEFAULT_RUNS, simulated_error
from omit.accuracy.simulated_points import (
    MeasuredOn,
    clustering_losses,
    loss_error,
    require_clusters,
)
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import InvalidInput, NotExact, Refused
from omit.exact.error import Error, Parts
from omit.guarantee import Guarantee, NoNoiseNeeded, require_guarantee
from omit.laws.noise import Gaussian, Noise
from omit.mechanisms.base import Clustering, IntegrableMechanism, Mechanism
from omit.mechanisms.mean import NoisyMean
from omit.mechanisms.mode import NoisyMode, possible_values
from omit.omissions.base import Omission
from omit.omissions.sampling import NoOmission

Method = Literal["auto", "exact", "simulated"]

# So little noise that it only breaks ties between counts.
_HARDLY_ANY_NOISE = Gaussian(0.01)
# More values than that take more memory and time than there should be.
_MOST_VALUES = 200_000
# Stands for a mechanism that needs no noise.
NO_PROTECTION = 1e6


def expected_error(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    guarantee: Guarantee,
    omission: Omission | None = None,
    method: Method = "auto",
    *,
    truth: Any = None,
    noise_reduction: bool = True,
    runs: int = DEFAULT_RUNS,
    rng: np.random.Generator | None = None,
    tolerance: float = 1e-9,
    details: bool = True,
    quick: bool = False,
    measured_on: MeasuredOn = "all",
) -> Error:
    """Return the expected error of a mechanism after an omission, at a guarantee.

    Parameters
    ----------
    data : Column or Points
        The confidential data. What is computed from them here is not private.
    mechanism : Mechanism or Clustering
        What is computed: a clustering from points, anything else from a column.
    guarantee : Guarantee
        What the release as a whole promises.
    omission : Omission, optional
        How records are left out; by default none are.
    method : {"auto", "exact", "simulated"}
        Exact where possible, or one of the two.
    truth : optional
        A known value of the population that stands in for the data's own statistic.
    noise_reduction : bool
        Whether the noise is reduced to make up for the privacy that the omission adds. If not,
        the mechanism alone already has the guarantee.
    runs : int
        How many runs to simulate.
    rng : numpy.random.Generator, optional
        Where simulated runs come from; by default a fixed seed.
    tolerance : float
        The relative precision of an exact mean.
    details : bool
        Whether to add quantiles and to say apart what the omission and what the noise costs.
    quick : bool
        Whether to simulate rather than to wait for an exact mean, as where many are asked for.
    measured_on : {"all", "kept", "kept-sum"}
        For a clustering: whose distances make the error.

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
    (0.608503, 'exact')
    """
    require_guarantee(guarantee)
    require_fit(data, mechanism, truth, measured_on, method)
    if omission is not None and not isinstance(omission, Omission):
        raise InvalidInput(
            f"Expected an omission, such as PoissonSampling(0.5), got {_validate.shown(omission)}."
        )
    if rng is not None:
        _validate.instance("rng", rng, np.random.Generator, "numpy.random.default_rng")
    tolerance = _validate.positive_rate("tolerance", tolerance)
    mechanism.require_relation(guarantee)
    omission = (omission or NoOmission()).suited_to(mechanism.statistic)
    base = base_guarantee(omission, guarantee, noise_reduction)
    rng = rng or np.random.default_rng(0)
    if isinstance(mechanism, Clustering):
        assert isinstance(data, Points)
        runs = _validate.positive_integer("runs", runs)
        losses = clustering_losses(data, mechanism, base, omission, rng, measured_on)
        losses.first(runs)
        return loss_error(losses, mechanism)
    assert isinstance(data, Column)
    truth = mechanism.truth(data) if truth is None else _checked_truth(mechanism, data, truth)
    reason = None
    if method != "simulated":
        try:
            return exact_error(mechanism, data, base, omission, truth, tolerance, details, quick)
        except NotExact as error:
            if method == "exact":
                raise InvalidInput(
                    f"There is no exact answer here: {error}; method='simulated' gives one."
                ) from error
            reason = str(error)
    if method == "auto" and isinstance(mechanism, IntegrableMechanism):
        from omit.accuracy.simulated import integrated_error

        return integrated_error(data, mechanism, base, omission, truth, runs, rng, reason)
    integrate = method == "auto"
    return simulated_error(data, mechanism, base, omission, truth, runs, rng, reason, integrate)


def require_fit(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    truth: Any,
    measured_on: str,
    method: str,
) -> None:
    """Refuse data that the statistic is not computed from, and options that it does not have."""
    if not isinstance(data, Column | Points):
        raise InvalidInput(
            "Expected a column, which read gives, or points, which read_points gives, got "
            f"{_validate.shown(data)}."
        )
    if not isinstance(mechanism, Mechanism | Clustering):
        raise InvalidInput(
            f"Expected a mechanism, such as NoisyMean(), got {_validate.shown(mechanism)}."
        )
    if not isinstance(method, str) or method not in ("auto", "exact", "simulated"):
        raise InvalidInput(
            f"Expected method={_validate.shown(method)} to be 'auto', 'exact' or 'simulated'."
        )
    if isinstance(mechanism, Clustering):
        if not isinstance(data, Points):
            raise InvalidInput(f"{mechanism} needs points, which read_points gives, not a column.")
        if truth is not None:
            raise InvalidInput("A clustering is measured by distances; it has no truth to give.")
        if method == "exact":
            raise InvalidInput("The error of a clustering is simulated; there is no exact answer.")
        require_clusters(data, mechanism, measured_on)
    elif isinstance(data, Points):
        raise InvalidInput(f"{mechanism} needs one column, which read gives, not points.")
    elif not isinstance(measured_on, str) or measured_on != "all":
        raise InvalidInput(
            f"Expected measured_on={_validate.shown(measured_on)} for a clustering only."
        )


def base_guarantee(
    omission: Omission, guarantee: Guarantee, noise_reduction: bool = True
) -> Guarantee:
    """Return the guarantee that the mechanism itself must have."""
    omission.require_relation(guarantee)
    if not noise_reduction or needs_no_noise(guarantee):
        return guarantee
    base = omission.calibrate(guarantee)
    return without_noise(guarantee) if isinstance(base, NoNoiseNeeded) else base


def without_noise(guarantee: Guarantee) -> Guarantee:
    """Return what stands for a mechanism that needs no noise; it is not to be shown as numbers."""
    return Guarantee(NO_PROTECTION, guarantee.delta, guarantee.neighbours)


def needs_no_noise(base: Guarantee) -> bool:
    """Tell whether the guarantee of a mechanism stands for one without noise."""
    return base.epsilon == NO_PROTECTION


@singledispatch
def exact_error(
    mechanism: Mechanism,
    column: Column,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    tolerance: float = 1e-9,
    details: bool = True,
    quick: bool = False,
) -> Error:
    """Return the exact expected error; engines are registered by the type of the mechanism.

    The parameters are those of `expected_error`, with the guarantee of the mechanism itself.

    Raises
    ------
    NotExact
        If there is no exact answer.
    """
    raise NotExact(f"no exact engine knows {mechanism}")


@exact_error.register
def _(
    mechanism: NoisyMean,
    column: Column,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    tolerance: float = 1e-9,
    details: bool = True,
    quick: bool = False,
) -> Error:
    from omit.exact.mean import mean_error
    from omit.exact.mean_setting import NoExactMean
    from omit.mechanisms.mean import per_cent, truth_above

    if column.bounds is None:
        raise InvalidInput("The mean needs a column of numbers with declared bounds.")
    if column.distinct > _MOST_VALUES:
        raise InvalidInput(
            f"{column.name} has {column.distinct:,} different values, and errors of means "
            f"are known for {_MOST_VALUES:,} at most; round the values first."
        )
    per_unit = per_cent(truth)
    keep = _keep(omission, column)
    quotient = mechanism.quotient(base, omission.restrict(column.bounds))
    try:
        found = mean_error(
            as_array(column.values) - quotient.origin,
            column.counts,
            keep,
            quotient,
            truth_above(column, quotient.origin, float(truth)),
            tolerance,
            details,
            quick,
        )
    except NoExactMean as error:
        raise NotExact(str(error)) from error
    value, precision = found.expected * per_unit, found.precision * per_unit
    return Error(
        value,
        max(value - precision, 0.0),
        value + precision,
        "exact",
        mechanism.metric,
        mechanism.unit,
        None if found.median is None else found.median * per_unit,
        None if found.quantile_90 is None else found.quantile_90 * per_unit,
        parts=Parts(
            found.sampling_deviation * per_unit,
            found.noise_deviation * per_unit,
            found.bias * per_unit,
        ),
    )


@exact_error.register
def _(
    mechanism: NoisyMode,
    column: Column,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    tolerance: float = 1e-9,
    details: bool = True,
    quick: bool = False,
) -> Error:
    from omit.exact.mode import TooLarge, wrong_mode_probability

    keep = _keep(omission, column)
    noise = mechanism.count_noise(base)
    bounds = None if column.bounds is None else omission.restrict(column.bounds)
    possible, empty = possible_values(column, bounds)
    values, truths = np.asarray(column.values)[possible], np.asarray(_as_tuple(truth))
    right, counts, keep = np.isin(values, truths), column.counts[possible], keep[possible]
    # A true mode that nobody has can still win, by noise alone.
    unseen = _unseen(column, values, truths, bounds)
    right = np.append(right, np.ones(unseen, dtype=np.bool_))
    counts = np.append(counts, np.zeros(unseen, dtype=np.int64))
    keep, empty = np.append(keep, np.ones(unseen)), empty - unseen
    if not right.any():
        return Error(1.0, 1.0, 1.0, "exact", mechanism.metric, mechanism.unit)

    def wrong(keep: FloatArray, noise: Noise) -> tuple[float, float]:
        return wrong_mode_probability(counts, keep, noise, right, empty)

    try:
        value, precision = wrong(keep, noise)
        apart = None
        if details:
            by_omission = wrong(keep, _HARDLY_ANY_NOISE)[0]
            apart = Parts(by_omission, wrong(np.ones_like(keep), noise)[0])
    except TooLarge as error:
        raise NotExact(str(error)) from error
    return Error(
        value,
        max(value - precision, 0.0),
        min(value + precision, 1.0),
        "exact",
        mechanism.metric,
        mechanism.unit,
        parts=apart,
    )


@exact_error.register
def _(
    mechanism: IntegrableMechanism,
    column: Column,
    base: Guarantee,
    omission: Omission,
    truth: Any,
    tolerance: float = 1e-9,
    details: bool = True,
    quick: bool = False,
) -> Error:
    from omit.accuracy.simulated import exact_integrated_error

    return exact_integrated_error(mechanism, column, base, omission, float(truth))


def _checked_truth(mechanism: Mechanism, column: Column, truth: Any) -> Any:
    """Return a truth that was given, or refuse one that no answer can be compared with."""
    if isinstance(mechanism, NoisyMean | IntegrableMechanism):
        return _validate.finite("truth", truth)
    if isinstance(mechanism, NoisyMode):
        known = np.asarray(column.domain()[0])
        for each in _as_tuple(truth):
            if not np.isin(each, known):
                raise InvalidInput(
                    f"Expected truth={each} to be in the declared domain of {column.name}."
                )
    return truth


def _keep(omission: Omission, column: Column) -> FloatArray:
    try:
        return omission.keep_probabilities(column)
    except Refused as error:
        reason = str(error).rstrip(".")
        raise NotExact(reason[0].lower() + reason[1:]) from error


def _unseen(
    column: Column,
    values: NDArray[Any],
    truths: NDArray[Any],
    bounds: tuple[float, float] | None,
) -> int:
    """Return how many of the true modes nobody has, though they can be reported."""
    if np.isin(truths, values).all():
        return 0
    domain = np.asarray(column.domain()[0])
    if bounds is not None:
        domain = domain[(domain >= bounds[0]) & (domain <= bounds[1])]
    return int((np.isin(domain, truths) & ~np.isin(domain, values)).sum())


def _as_tuple(truth: Any) -> tuple[Any, ...]:
    return tuple(truth) if isinstance(truth, Iterable) and not isinstance(truth, str) else (truth,)
