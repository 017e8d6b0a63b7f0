"""The error over the upper bound, with and without omission."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from omit import (
    Column,
    Guarantee,
    InvalidInput,
    Mechanism,
    NoisyMean,
    NoisyMode,
    PoissonSampling,
    compare,
    expected_error,
)
from omit.accuracy.bounds_sweep import BoundsSweep, upper_bounds
from omit.accuracy.report import comparison_report
from omit.data.weighted import WeightedColumn
from omit.mechanisms import (
    LatticeQuantile,
    NoisyCount,
    NoisySum,
    NoisyVariance,
    SmoothQuantile,
    WeightedMean,
)

READ = np.repeat([20.0, 45.0, 80.0, 400.0], [900, 800, 250, 50])
INCOMES = Column.from_values(READ, bounds=(0, 100), name="income")
SAMPLE = PoissonSampling(0.5)
SWEEP = compare(INCOMES, NoisyMean(), Guarantee(1.0), SAMPLE).over_bounds()


def test_every_error_is_that_of_the_records_with_these_bounds() -> None:
    assert len(SWEEP.uppers) == 9
    for number, upper in enumerate(SWEEP.uppers):
        declared = Column.from_values(READ, bounds=(0, upper))
        for row, omission in enumerate((None, SAMPLE)):
            error = expected_error(declared, NoisyMean(), Guarantee(1.0), omission)
            found = SWEEP.errors[row][number]
            assert found is not None
            assert found.value == pytest.approx(error.value, rel=1e-5)
        assert SWEEP.clamped[number] == declared.clamped == (upper < READ).sum()
        bias = 100 * (np.minimum(READ, upper).mean() / READ.mean() - 1)
        assert SWEEP.clamping[number] == pytest.approx(bias, abs=1e-12)


def test_narrow_bounds_clamp_and_wide_ones_need_noise() -> None:
    values = [error.value for error in SWEEP.errors[0] if error is not None]
    least = int(np.argmin(values))
    assert 0 < least < len(values) - 1
    assert SWEEP.uppers[least] > READ.max()
    assert f"{SWEEP.uppers[least]:,.10g} has the least error of all records" in SWEEP.verdict
    assert "100, which is declared, has" in SWEEP.verdict
    assert "chosen by looking at the data are not private" in SWEEP.notes[0]


def test_errors_that_do_not_differ_leave_no_best_bound() -> None:
    # A median far from both bounds is what it is, and its noise is that of its neighbours.
    column = Column.from_values(np.arange(1001.0), bounds=(0, 2000))
    target = Guarantee(1.0, neighbours="replace")
    sweep = compare(column, SmoothQuantile("student"), target).over_bounds()
    assert "None of these upper bounds has an error of all records that is 1 % below" in (
        sweep.verdict
    )


def test_errors_that_are_simulated_to_be_quick_are_counted() -> None:
    column = Column.from_values(READ, bounds=(0, 100))
    sweep = compare(column, NoisyVariance(), Guarantee(1.0), SAMPLE).over_bounds()
    methods = [error.method for row in sweep.errors for error in row if error is not None]
    number = methods.count("simulated")
    assert number > 0
    assert f"{number} of these {len(methods)} errors are simulated" in sweep.notes[1]


@pytest.mark.parametrize("mechanism", [NoisySum(), NoisyVariance(), LatticeQuantile()], ids=str)
def test_other_numbers_have_one_too(mechanism: Mechanism) -> None:
    whole = Column.from_values(READ, bounds=(0, 100), step=1)
    sweep = compare(whole, mechanism, Guarantee(1.0)).over_bounds()
    assert len(sweep.errors) == 1
    assert all(upper.is_integer() for upper in sweep.uppers)
    assert all(error is not None for error in sweep.errors[0])


def test_weights_stay_as_they_are() -> None:
    weights = np.resize([1.0, 2.0, 900.0], len(READ))
    survey = WeightedColumn.from_values(READ, weights, (0, 100), largest_weight=500)
    sweep = compare(survey, WeightedMean(), Guarantee(1.0)).over_bounds()
    truth = np.average(READ, weights=weights)
    light = np.average(READ, weights=np.minimum(weights, 500))
    assert sweep.uppers[-1] > READ.max()
    assert sweep.clamping[-1] == pytest.approx(100 * (light / truth - 1))


def test_the_farthest_bound_is_beyond_the_largest_value() -> None:
    assert upper_bounds(INCOMES)[-1] == 800
    shifted = Column.from_values(READ + 50, bounds=(50, 150))
    assert upper_bounds(shifted)[-1] == 850
    inside = Column.from_values(READ, bounds=(0, 1000), step=100)
    assert upper_bounds(inside)[0] == 200  # a quarter, to a whole number of steps
    assert upper_bounds(inside)[-1] == 4000


@pytest.mark.parametrize(
    ("bounds", "mechanism"),
    [
        ((0.0, 5e99), NoisyMean()),  # nothing can be declared beyond 1e100
        ((-5e99, 5e99), NoisySum()),
        ((1e17, 1e17 + 32), NoisyVariance()),  # neighbouring floats are 16 apart
        ((1e6, 1e6 + 2), NoisyMean(variant="sum-and-count")),  # too narrow for so far
    ],
    ids=["large", "large both ways", "coarse", "far"],
)
def test_bounds_that_cannot_be_declared_are_left_out(
    bounds: tuple[float, float], mechanism: Mechanism
) -> None:
    lower, upper = bounds
    column = Column.from_values([lower, lower, upper] * 40, bounds=bounds)
    sweep = compare(column, mechanism, Guarantee(1.0), runs=20).over_bounds()
    assert upper in sweep.uppers
    assert len(sweep.uppers) < 9
    assert all(lower < each <= 1e100 for each in sweep.uppers)
    assert None not in sweep.errors[0]
    sweep.plot(Figure().subplots())
    assert sweep.verdict


@pytest.mark.parametrize("mechanism", [NoisyCount(), NoisyMode()], ids=str)
def test_what_no_upper_bound_changes_has_none(mechanism: Mechanism) -> None:
    whole = Column.from_values(READ, bounds=(0, 100), step=1)
    with pytest.raises(InvalidInput, match="does not depend on an upper bound"):
        compare(whole, mechanism, Guarantee(1.0)).over_bounds()
    with pytest.raises(InvalidInput, match="does not depend on an upper bound"):
        compare(whole.indicator(20), NoisyMean(), Guarantee(1.0)).over_bounds()


def test_the_figure_says_what_is_on_its_axes() -> None:
    axes = Figure().subplots()
    SWEEP.plot(axes)
    assert axes.get_xlabel() == "upper bound of income"
    assert axes.get_ylabel() == "expected relative error, %"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["no omission", str(SAMPLE), "clamping alone"]
    # From below zero on, numbers have no logarithms.
    below = Column.from_values(READ - 50, bounds=(-50, 100))
    linear = Figure().subplots()
    compare(below, NoisyMean(), Guarantee(1.0)).over_bounds().plot(linear)
    assert (axes.get_xscale(), linear.get_xscale()) == ("log", "linear")


def test_a_sweep_is_on_the_page_and_can_be_had_as_json() -> None:
    result = compare(INCOMES, NoisyMean(), Guarantee(1.0), SAMPLE)
    page = comparison_report([result], [], [SWEEP])
    assert "Other upper bounds: noisy mean" in page
    assert SWEEP.verdict in page
    rows = json.loads(json.dumps(SWEEP.to_json()))["bounds"]
    assert [row["upper"] for row in rows] == list(SWEEP.uppers)
    assert list(rows[0]) == ["upper", "clamped", "clamping", "error", "error_1"]
    assert isinstance(SWEEP, BoundsSweep)
