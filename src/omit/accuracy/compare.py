"""The same statistic at the same guarantee, with and without leaving records out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from omit import _validate
from omit.accuracy.comparison import (
    NOT_PRIVATE,
    NUMERIC,
    WARNING,
    Comparison,
    Row,
    interval,
    private_notes,
    table_cells,
    table_headings,
)
from omit.accuracy.expected import (
    NO_PROTECTION,
    Method,
    base_guarantee,
    expected_error,
    require_fit,
)
from omit.accuracy.sampled_from import target_on_sample
from omit.accuracy.simulated import DEFAULT_RUNS
from omit.accuracy.simulated_points import MeasuredOn, compared_losses
from omit.data.column import Column
from omit.data.points import Points
from omit.errors import InvalidInput, Unattainable
from omit.exact.error import Error
from omit.guarantee import Guarantee, require_guarantee
from omit.laws.intervals import Interval, judge
from omit.mechanisms.base import Clustering, Mechanism
from omit.omissions.base import Omission
from omit.omissions.sampling import NoOmission

# With bounds as large as may be declared, squares of the noise are still numbers.
_SMALLEST_EPSILON = 1e-50
# That of declared bounds.
LARGEST_TRUTH = 1e100

# All that users of comparisons need comes from here.
__all__ = [
    "NOT_PRIVATE",
    "NUMERIC",
    "WARNING",
    "Comparison",
    "Row",
    "compare",
    "interval",
    "private_notes",
    "table_cells",
    "table_headings",
]


def compare(
    data: Column | Points,
    mechanism: Mechanism | Clustering,
    guarantee: Guarantee,
    *omissions: Omission,
    method: Method = "auto",
    truth: Any = None,
    noise_reduction: bool = True,
    rows_per_person: int = 1,
    runs: int = DEFAULT_RUNS,
    seed: int = 0,
    early_stop: bool = True,
    measured_on: MeasuredOn = "all",
    sampled_from: int | None = None,
) -> Comparison:
    """Compare no omission with each omission at the same guarantee.

    Parameters
    ----------
    data, mechanism, guarantee
        As for `expected_error`.
    *omissions : Omission
        Ways to leave records out.
    method, truth, noise_reduction, runs
        As for `expected_error`.
    rows_per_person : int
        How many records one person may have; the guarantee is for a person.
    seed : int
        Of simulated rows; all of them start from it, so that they can be compared.
    early_stop : bool
        Whether a clustering's runs end when the verdict is clear, before `runs`.
    measured_on : {"all", "kept", "kept-sum"}
        For a clustering: whose distances make the error.
    sampled_from : int, optional
        The size of the population of which the data are a secret simple random sample. The
        guarantee is then for the population, and every row may use the weaker one that the
        sample itself needs.

    Returns
    -------
    Comparison
        The first row is without omission. An omission that cannot reach the guarantee has a row
        that says so.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values(list(range(20, 70)) * 20, bounds=(0, 100), name="age")
    >>> result = compare(ages, omit.NoisyMean(), omit.Guarantee(1.0), omit.PoissonSampling(0.5))
    >>> print(result.verdict)
    At (1, 0)-DP under add-remove, Poisson sampling at rate 0.5 multiplies the expected error by
    2.13; nothing tested beats using all records.
    """
    require_question(guarantee, mechanism, runs, truth)
    for omission in omissions:
        require_omission(omission)
    require_fit(data, mechanism, truth, measured_on, method)
    seed = _validate.seed(seed)
    each = guarantee.per_row(rows_per_person)
    if sampled_from is not None:
        each = target_on_sample(each, data.size, sampled_from)
    settings = [
        _setting(omission.suited_to(mechanism.statistic), each, noise_reduction)
        for omission in (NoOmission(), *omissions)
    ]
    if isinstance(data, Points):
        assert isinstance(mechanism, Clustering)
        attainable = [(row.omission, row.base) for row in settings if row.base is not None]
        found = compared_losses(
            data,
            mechanism,
            attainable,
            runs,
            seed,
            early_stop=early_stop,
            measured_on=measured_on,
        )
        rows = _point_rows(settings, found)
    else:
        rows = _column_rows(
            settings,
            lambda omission: expected_error(
                data,
                mechanism,
                each,
                omission,
                method,
                truth=truth,
                noise_reduction=noise_reduction,
                runs=runs,
                rng=np.random.default_rng(seed),
            ),
        )
    return Comparison(
        data,
        mechanism,
        guarantee,
        tuple(rows),
        noise_reduction,
        rows_per_person,
        other_truth=truth is not None,
        measured_on=measured_on,
        sampled_from=sampled_from,
    )


def require_question(
    guarantee: Guarantee, mechanism: Mechanism | Clustering, runs: int, truth: Any
) -> None:
    """Refuse what is no question about accuracy, and what no engine can compute with.

    Raises
    ------
    InvalidInput
        If something has the wrong type, or a number is beyond all use.
    """
    require_guarantee(guarantee)
    if not isinstance(mechanism, Mechanism | Clustering):
        raise InvalidInput(
            f"Expected a mechanism, such as NoisyMean(), got {_validate.shown(mechanism)}."
        )
    if guarantee.epsilon >= NO_PROTECTION:
        raise InvalidInput(
            f"Expected epsilon={guarantee.epsilon:g} below {NO_PROTECTION:,.0f}: what has a larger "
            "one protects nobody, and needs no noise."
        )
    if 0 < guarantee.epsilon < _SMALLEST_EPSILON:
        raise InvalidInput(
            f"Expected epsilon={guarantee.epsilon:g} of at least {_SMALLEST_EPSILON:g}: the noise "
            "for less is too large to be computed with."
        )
    _validate.runs(runs)
    if isinstance(truth, int | float) and not abs(truth) <= LARGEST_TRUTH:
        raise InvalidInput(f"Expected truth={truth:g} within ±{LARGEST_TRUTH:g}.")


def require_omission(omission: object) -> None:
    """Refuse what is no way to leave records out.

    Raises
    ------
    InvalidInput
        If it is none, such as a list of them.
    """
    if not isinstance(omission, Omission):
        raise InvalidInput(
            "Expected omissions one after the other, such as compare(..., PoissonSampling(0.5)), "
            f"got {_validate.shown(omission)}."
        )


def _setting(omission: Omission, guarantee: Guarantee, noise_reduction: bool) -> Row:
    """Return a row that knows the guarantee of its mechanism, or why there is none."""
    try:
        base = base_guarantee(omission, guarantee, noise_reduction)
    except Unattainable as reason:
        return Row(omission, None, None, None, "unattainable", str(reason))
    return Row(omission, base, None, None, "undecided")


def _column_rows(settings: list[Row], error_of: Callable[[Omission], Error]) -> list[Row]:
    """Return the rows of a column's statistic, judged by their intervals."""
    rows: list[Row] = []
    for row in settings:
        if row.base is None:
            rows.append(row)
            continue
        error = error_of(row.omission)
        rows.append(_standing(row.omission, row.base, error, rows[0].error if rows else None))
    return rows


def _point_rows(settings: list[Row], found: Iterator[tuple[Error, Interval]]) -> list[Row]:
    """Return the rows of a clustering, judged by their differences run by run."""
    rows: list[Row] = []
    for row in settings:
        if row.base is None:
            rows.append(row)
            continue
        error, difference = next(found)
        if not rows:
            rows.append(
                Row(row.omission, row.base, error, 1.0 if error.value > 0 else None, "baseline")
            )
            continue
        baseline = rows[0].error
        assert baseline is not None
        ratio = error.value / baseline.value if baseline.value > 0 else None
        standing = judge(difference)
        rows.append(Row(row.omission, row.base, error, ratio, standing, None, difference))
    return rows


def _standing(omission: Omission, base: Guarantee, error: Error, baseline: Error | None) -> Row:
    """Return the row of an omission, judged by whether its interval meets the baseline's."""
    if baseline is None:
        return Row(omission, base, error, 1.0 if _is_positive(error) else None, "baseline")
    ratio = error.value / baseline.value if _is_positive(baseline) else None
    return Row(omission, base, error, ratio, judge(error, baseline))


def _is_positive(error: Error) -> bool:
    """Tell whether an error is more than numerical precision."""
    return error.low > 0 or (error.method == "simulated" and error.value > 0)
