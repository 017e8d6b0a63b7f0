"""Comparing no omission with others: which errors are computed, and how they are judged.

What is said about them, the verdict included, is in `comparison`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from omit import _validate
from omit.accuracy.comparison import Comparison
from omit.accuracy.expected import Question, Setting
from omit.accuracy.row import Row, Uninformed
from omit.accuracy.simulated import compared_runs, looks
from omit.data.base import Data
from omit.data.column import Column
from omit.data.groups import GroupedColumn
from omit.errors import InvalidInput, NotExact, Unattainable
from omit.exact.error import ExpectedError
from omit.guarantee import Guarantee, NoGuarantee
from omit.laws.intervals import Judgement, judge
from omit.mechanisms.base import Mechanism, number_errors
from omit.omissions.base import Omission
from omit.omissions.sampling import NoOmission

if TYPE_CHECKING:
    from omit.accuracy.grouped_comparison import GroupedComparison

# Errors of this part of those of an answer that needs no data are invisible: a median that is
# never missed has one of 1e-175, and ratios to it mean nothing.
_INVISIBLE = 1e-15
# What is said of a row whether its answers hold information or not.
_SETTLED = ("baseline", "unattainable", "no guarantee")


@overload
def compare(
    data: Data, mechanism: Mechanism, guarantee: Guarantee, *omissions: Omission, **options: Any
) -> Comparison: ...
@overload
def compare(
    data: GroupedColumn,
    mechanism: Mechanism,
    guarantee: Guarantee,
    *omissions: Omission,
    **options: Any,
) -> GroupedComparison: ...
def compare(
    data: Data | GroupedColumn,
    mechanism: Mechanism,
    guarantee: Guarantee,
    *omissions: Omission,
    **options: Any,
) -> Comparison | GroupedComparison:
    """Compare no omission with each omission at the same guarantee.

    Parameters
    ----------
    data, mechanism, guarantee
        As for `Question`; or a column in groups, of which every group is asked the same.
    *omissions : Omission
        Ways to leave records out.
    **options
        The other parameters of `Question`: truth, method, runs, seed, rows_per_person,
        sampled_from, noise_reduction, early_stop; of groups those of `compare_groups`.

    Returns
    -------
    Comparison or GroupedComparison
        The first row is without omission. An omission that cannot reach the guarantee has a row
        that says so.

    Examples
    --------
    >>> import omit
    >>> ages = omit.Column.from_values(list(range(20, 70)) * 20, bounds=(0, 100), name="age")
    >>> result = compare(ages, omit.NoisyMean(), omit.Guarantee(1.0), omit.PoissonSampling(0.5))
    >>> print(result.verdict)
    At (1, 0)-DP under add-remove, Poisson sampling at rate 0.5 multiplies the expected error by
    5.05; nothing tested beats using all records.
    """
    if isinstance(data, GroupedColumn):
        from omit.accuracy.groups import compare_groups

        return compare_groups(data, mechanism, guarantee, *omissions, **options)
    return compared(Question(data, mechanism, guarantee, **options), omissions)


def compared(question: Question, omissions: Sequence[Omission]) -> Comparison:
    """Return the answer to a question for no omission and for each of some omissions."""
    for omission in omissions:
        require_omission(omission)
    settings = [_attempt(question, omission) for omission in (NoOmission(), *omissions)]
    baseline = settings[0]
    if isinstance(baseline, Row):
        raise Unattainable(str(baseline.reason))
    uninformed = _uninformed(baseline)
    if question.data.coupled and not _is_exact(baseline):
        rows = _rows_run_by_run(settings)
    else:
        unseen = 0.0 if uninformed is None else _INVISIBLE * uninformed.limit
        rows = _rows_by_intervals(settings, unseen)
    notes, clamping = baseline.prepared.notes, baseline.prepared.clamping
    comparison = Comparison(question, tuple(rows), notes, uninformed, clamping)
    judged = map(partial(_informing, comparison), rows)
    return replace(comparison, rows=tuple(map(partial(_with_narrowed, question), judged)))


def _with_narrowed(question: Question, row: Row) -> Row:
    """Return a better row of narrower bounds with the error that these have for all records."""
    data = question.data
    if row.standing != "better" or not isinstance(data, Column) or data.bounds is None:
        return row
    bounds = row.omission.restrict(data.bounds)
    if bounds == data.bounds:
        return row
    try:
        narrower = replace(question, data=data.with_bounds(bounds), details=False)
    except InvalidInput:  # they are between two points of a declared step
        return row
    return replace(row, narrowed=narrower.error())


def _uninformed(baseline: Setting) -> Uninformed | None:
    """Return the answer that needs no data, where answers are numbers within the bounds."""
    bounds, mechanism = baseline.question.data.bounds, baseline.question.mechanism
    if not mechanism.within_bounds or bounds is None:
        return None
    truth, (lower, upper) = baseline.prepared.truth, bounds
    answer = lower + (upper - lower) / 2
    luck = truth + (upper - lower) / 8
    error, of_luck = number_errors(mechanism.metric, np.array([answer, luck]), truth).tolist()
    return Uninformed(answer, error, max(error, of_luck))


def _informing(comparison: Comparison, row: Row) -> Row:
    """Return a row that is said to hold no information where that is so."""
    if row.standing in _SETTLED or comparison.informs(row):
        return row
    return replace(row, standing="no information")


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


def _attempt(question: Question, omission: Omission) -> Setting | Row:
    """Return the setting of an omission, or the row that says why there is none.

    An omission that leaves no guarantee whatever the mechanism does is tried as people do who do
    not know that: with the noise of the guarantee.
    """
    left = omission.amplify(question.guarantee)
    try:
        setting = question.setting(omission)
    except Unattainable as reason:
        if not isinstance(left, NoGuarantee):
            return Row(omission, None, None, None, "unattainable", str(reason))
        setting = replace(question, noise_reduction=False).setting(omission)
    return replace(setting, no_guarantee=left.reason) if isinstance(left, NoGuarantee) else setting


def _is_exact(setting: Setting) -> bool:
    """Tell whether the mechanism knows the error of this setting exactly."""
    if setting.question.method == "simulated":
        return False
    try:
        setting.exact_error()
    except NotExact:
        return False
    return True


def _rows_by_intervals(settings: Sequence[Setting | Row], unseen: float) -> list[Row]:
    """Return rows that are judged by whether their intervals meet the baseline's.

    A baseline up to `unseen` has no ratios: nobody could see its error.
    """
    rows: list[Row] = []
    for setting in settings:
        if isinstance(setting, Row):
            rows.append(setting)
            continue
        error = setting.error()
        if not rows:
            positive = _is_positive(error, unseen)
            rows.append(_baseline(setting, error, positive))
            continue
        baseline = _error_of(rows[0])
        standing = judge(error, baseline)
        rows.append(_judged(setting, error, baseline, standing, positive))
    return rows


def _rows_run_by_run(settings: Sequence[Setting | Row]) -> list[Row]:
    """Return rows that are judged by their differences to the baseline, run by run."""
    attainable = [setting for setting in settings if isinstance(setting, Setting)]
    question = attainable[0].question
    planned = looks(question.runs, question.early_stop)
    compared = compared_runs([setting.runs() for setting in attainable], planned)
    rows: list[Row] = []
    for setting in settings:
        if isinstance(setting, Row):
            rows.append(setting)
            continue
        try:
            error, difference = next(compared)
        except InvalidInput as reason:
            raise InvalidInput(f"{setting.omission}: {reason}" if rows else str(reason)) from reason
        if not rows:
            rows.append(_baseline(setting, error, error.value > 0))
            continue
        baseline = _error_of(rows[0])
        row = _judged(setting, error, baseline, judge(difference), baseline.value > 0)
        rows.append(replace(row, difference=difference))
    return rows


def _baseline(setting: Setting, error: ExpectedError, positive: bool) -> Row:
    ratio = 1.0 if positive else None
    return Row(setting.omission, setting.promise, error, ratio, "baseline")


def _judged(
    setting: Setting,
    error: ExpectedError,
    baseline: ExpectedError,
    standing: Judgement,
    positive: bool,
) -> Row:
    """Return a row with its ratio to the baseline, unless that is zero."""
    ratio = error.value / baseline.value if positive else None
    if setting.no_guarantee is not None:
        reason = setting.no_guarantee
        return Row(setting.omission, setting.promise, error, ratio, "no guarantee", reason)
    return Row(setting.omission, setting.promise, error, ratio, standing)


def _error_of(row: Row) -> ExpectedError:
    assert row.error is not None
    return row.error


def _is_positive(error: ExpectedError, unseen: float) -> bool:
    """Tell whether an error is more than numerical precision, and can be seen."""
    return error.low > unseen or (error.method == "simulated" and error.value > 0)
