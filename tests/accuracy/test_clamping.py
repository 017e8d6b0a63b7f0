"""Clamping is part of the error: what it moves is a bias beside the two standard deviations."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import omit
from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    Mechanism,
    NoisyMean,
    NoisyMode,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    compare,
    expected_error,
)
from omit.accuracy.ranking import Ranking
from omit.data.beyond import Beyond
from omit.data.weighted import WeightedColumn
from omit.mechanisms import (
    ExponentialQuantile,
    GlobalQuantile,
    LatticeQuantile,
    NoisyCount,
    NoisySum,
    NoisyVariance,
    ProposeTestRelease,
    SmoothQuantile,
    WeightedMean,
)
from tests.accuracy.enumeration import MeanByEnumeration
from tests.conftest import Run
from tests.parts import noisy_quotient, omit_data

READ = np.array([-4.0, 1.0, 3.0, 3.0, 7.0, 8.0, 12.0, 15.0, 25.0])
BOUNDS = (0.0, 10.0)
CLAMPED = np.clip(READ, *BOUNDS)
SMALL = Column.from_values(READ, bounds=BOUNDS, name="small")
WHOLE = Column.from_values(READ, bounds=BOUNDS, step=1)
# So much that no noise is left to speak of.
SURE = Guarantee(1e7, 0.01)
REPLACE = Guarantee(1e7, 0.01, "replace")

Statistic = Callable[[Any], float]


def numbers() -> Iterator[tuple[Mechanism, Guarantee, Statistic]]:
    """Yield every mechanism of a number with what it would answer without noise."""
    for noise, metric in itertools.product(("laplace", "gaussian"), ("relative", "squared")):
        for variant, target in itertools.product(
            ("two-sums", "sum-and-count", "published"), (SURE, REPLACE)
        ):
            yield NoisyMean(noise, variant, metric), target, np.mean  # type: ignore[arg-type]
        for target in (SURE, REPLACE):
            yield NoisySum(noise, metric), target, np.sum  # type: ignore[arg-type]
            yield NoisyVariance(noise, metric), target, np.var  # type: ignore[arg-type]
    for metric in ("relative", "squared"):
        yield NoisyCount(metric=metric), SURE, np.size  # type: ignore[arg-type]
        # The seventh of nine is 12, beyond the bounds.
        upper = {"quantile": 0.7, "metric": metric}
        for quantile in (GlobalQuantile, SmoothQuantile, ExponentialQuantile, ProposeTestRelease):
            yield quantile(**upper), REPLACE, lambda values: np.sort(values)[6]  # type: ignore[arg-type]


def _named(value: object) -> str:
    return str(getattr(value, "__name__", value))


@pytest.mark.parametrize(("mechanism", "target", "statistic"), list(numbers()), ids=_named)
def test_the_truth_of_a_number_is_that_of_the_values_as_they_are(
    mechanism: Mechanism, target: Guarantee, statistic: Statistic
) -> None:
    prepared = mechanism.prepare(SMALL, target)
    truth, moved = statistic(READ), statistic(CLAMPED) - statistic(READ)
    if not isinstance(mechanism, NoisySum):  # which is less its public part
        assert prepared.truth == pytest.approx(truth, rel=1e-12)
    relative = mechanism.metric == "relative"
    unit = 100 / abs(truth) if relative else 1.0
    assert prepared.clamping == pytest.approx(unit * moved, rel=1e-12)
    if isinstance(mechanism, ExponentialQuantile | ProposeTestRelease):
        return  # of so few records they choose anything between two of them
    error = expected_error(SMALL, mechanism, target, runs=20)
    expected = unit * abs(moved)
    assert error.value == pytest.approx(expected if relative else expected**2, rel=1e-3, abs=1e-3)
    if error.parts is not None:
        assert error.parts.clamping == prepared.clamping
        assert error.parts.bias == pytest.approx(unit * moved, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("target", [SURE, REPLACE], ids=str)
def test_a_quantile_that_is_chosen_among_points_is_held_against_one_beyond_them(
    target: Guarantee,
) -> None:
    error = expected_error(WHOLE, LatticeQuantile(quantile=0.7), target)
    assert error.value == pytest.approx((12 - 10) ** 2, abs=1e-6)
    assert error.parts is not None
    assert error.parts.largest == "clamping"


def test_the_mode_is_that_of_the_values_as_they_are() -> None:
    # Five are 10 after clamping.
    held = Column.from_values([3, 3, 3, 11, 12, 13, 14, 10], bounds=BOUNDS)
    assert held.modes == (10.0,)
    error = expected_error(held, NoisyMode(), Guarantee(100.0))
    assert error.value == pytest.approx(1.0)
    assert error.parts is not None
    assert (error.parts.clamping, error.parts.root_mean_square) == (1.0, None)
    result = compare(held, NoisyMode(), Guarantee(100.0))
    assert any("Clamping makes other values the most frequent" in each for each in result.notes)
    beyond = Column.from_values([3, 3, 30, 30, 30], bounds=BOUNDS)
    assert expected_error(beyond, NoisyMode(), Guarantee(100.0)).value == 1.0


def test_the_share_of_a_value_is_not_that_of_what_is_clamped_to_it() -> None:
    tens = Column.from_values([10, 10, 11, 3], bounds=BOUNDS, name="x").indicator(10)
    assert tens.mean == 0.5
    assert tens.notes == ()


def test_the_variance_counts_what_is_between_grouped_values_beyond_the_bounds() -> None:
    grouped = Column(
        "x",
        np.array([3.0, 10.0]),
        np.array([2, 4]),
        BOUNDS,
        clamped=4,
        beyond=Beyond(np.array([20.0]), np.array([4]), spread=4 * 25.0),
    )
    # For example, two records of 15 and two of 25.
    truth = np.var([3, 3, 15, 15, 25, 25])
    prepared = NoisyVariance().prepare(grouped, Guarantee(1.0))
    assert prepared.truth == pytest.approx(truth)
    assert prepared.clamping == pytest.approx(100 * (np.var([3, 3, 10, 10, 10, 10]) / truth - 1))


def test_weights_that_are_clamped_are_part_of_the_bias() -> None:
    weights = np.array([1, 2, 1, 3, 700, 1, 1, 2, 1.0])
    data = WeightedColumn.from_values(READ, weights, BOUNDS, largest_weight=5)
    truth = float(np.average(READ, weights=weights))
    clamped = float(np.average(CLAMPED, weights=np.minimum(weights, 5)))
    parts = expected_error(data, WeightedMean(), Guarantee(1e7)).parts
    assert parts is not None
    assert parts.clamping == pytest.approx(100 * (clamped - truth) / abs(truth), rel=1e-12)
    assert parts.bias == pytest.approx(parts.clamping, rel=1e-5)


def test_after_a_sample_of_fixed_size_squares_add_up_to_those_over_all_samples() -> None:
    target, size = Guarantee(1.0, neighbours="replace"), 4
    mechanism = NoisyMean("laplace", "published", "squared")
    sampling = FixedSizeSampling(size=size, population=len(READ))
    error = expected_error(SMALL, mechanism, target, sampling)
    base = sampling.calibrate(target)
    assert isinstance(base, Guarantee)
    scale = 10 / size / base.epsilon
    means = [float(np.mean(each)) for each in itertools.combinations(CLAMPED, size)]
    parts = error.parts
    assert parts is not None
    assert parts.clamping == pytest.approx(CLAMPED.mean() - READ.mean(), rel=1e-12)
    assert parts.bias == pytest.approx(np.mean(means) - READ.mean(), rel=1e-12)
    assert parts.omission == pytest.approx(np.std(means), rel=1e-12)
    assert parts.noise == pytest.approx(math.sqrt(2) * scale, rel=1e-12)
    squares = np.mean((np.array(means) - READ.mean()) ** 2) + 2 * scale**2
    assert error.value == pytest.approx(squares, rel=1e-12)
    assert parts.root_mean_square == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert not parts.first_order


@pytest.mark.parametrize("metric", ["relative", "squared"])
def test_the_parts_of_a_sampled_sum_are_those_over_all_subsets(metric: Any) -> None:
    target, sampling = Guarantee(1.0), PoissonSampling(0.25)
    error = expected_error(SMALL, NoisySum(metric=metric), target, sampling)
    base = sampling.calibrate(target)
    assert isinstance(base, Guarantee)
    kept = np.array(list(itertools.product((0, 1), repeat=len(READ))))
    chances = np.prod(np.where(kept, 0.25, 0.75), axis=1)
    totals = 4 * kept @ CLAMPED
    mean = float(chances @ totals)
    unit = 100 / abs(READ.sum()) if metric == "relative" else 1.0
    parts = error.parts
    assert parts is not None
    assert parts.bias == pytest.approx(unit * (mean - READ.sum()), rel=1e-12)
    assert parts.clamping == pytest.approx(unit * (CLAMPED.sum() - READ.sum()), rel=1e-12)
    deviation = math.sqrt(chances @ (totals - mean) ** 2)
    assert parts.omission == pytest.approx(unit * deviation, rel=1e-12)
    assert parts.noise == pytest.approx(unit * 4 * math.sqrt(2) * 10 / base.epsilon, rel=1e-12)


@pytest.mark.parametrize("keep", [1.0, 0.4])
@pytest.mark.parametrize("clipped", [True, False])
def test_the_expected_error_of_a_clamped_mean_is_that_over_all_outcomes(
    keep: float, clipped: bool
) -> None:
    mechanism = NoisyMean(variant="sum-and-count" if clipped else "published")
    target = Guarantee(2.0)
    noise = noisy_quotient(mechanism, target, BOUNDS)
    assert noise.count is not None
    values, counts = np.unique(CLAMPED, return_counts=True)
    expected = MeanByEnumeration(
        values.tolist(),
        counts.tolist(),
        [keep] * len(values),
        "laplace",
        noise.total.scale,
        noise.count.scale,
        float(READ.mean()),
        BOUNDS if clipped else None,
    ).expected()
    omissions = () if keep == 1 else (PoissonSampling(keep),)
    error = expected_error(SMALL, mechanism, target, *omissions, noise_reduction=False)
    assert error.method == "exact"
    assert error.value == pytest.approx(100 * expected / READ.mean(), rel=1e-8)


@pytest.mark.parametrize(
    "mechanism", [NoisyMean(), NoisyMean("gaussian", "sum-and-count"), NoisyVariance()], ids=str
)
@pytest.mark.parametrize(
    "omission", [PoissonSampling(0.5), OutlierScoreSuppression(0.2, 0.6)], ids=str
)
def test_to_first_order_the_parts_are_the_moments_of_drawn_answers(
    mechanism: Any, omission: Any
) -> None:
    column = Column.from_values(np.tile(READ, 400), bounds=BOUNDS)
    target, rng = Guarantee(1.0, 1e-3), np.random.default_rng(5)
    prepared = mechanism.prepare(column, target)
    design = omission.design(column, mechanism.distance)
    parts, runs = prepared.parts(design), 4000
    assert parts is not None
    assert parts.first_order
    kept = design.counts(column.counts, runs, rng)
    unit = 100 / prepared.truth
    answers = unit * (prepared.answers(kept, rng) - prepared.truth)
    deviation = math.hypot(parts.omission, parts.noise)
    assert answers.std() == pytest.approx(deviation, rel=0.06)
    assert answers.mean() == pytest.approx(parts.bias, abs=5 * deviation / math.sqrt(runs) + 0.05)


@pytest.mark.slow
def test_wages_up_to_200_000_are_off_by_clamping_and_not_by_chance() -> None:
    # The numbers of 280,005 tax units (CPS, variable e00200), computed apart from this package.
    wages = omit.read(omit_data("cps_tax_units.csv.gz"), "e00200", bounds=(0, 200_000))
    halves = NoisyMean(variant="sum-and-count")
    result = compare(wages, halves, Guarantee(1.0), PoissonSampling(0.1))
    parts = result.rows[1].error.parts  # type: ignore[union-attr]
    assert parts is not None
    assert parts.clamping == pytest.approx(-7.5836, abs=5e-5)
    assert parts.omission == pytest.approx(0.6617, abs=5e-5)
    assert parts.noise == pytest.approx(0.0174, abs=5e-5)
    assert parts.root_mean_square == pytest.approx(7.6125, abs=1e-4)
    assert parts.largest == "clamping"
    assert "has the same expected error as using all records to within 1 %" in result.verdict
    assert "largest part of the error is the bias by clamping, -7.584 %" in result.verdict


def test_what_makes_up_errors_is_a_table_where_clamping_is_part_of_them() -> None:
    column = Column.from_values(np.tile(READ, 400), bounds=BOUNDS, name="x")
    result = compare(column, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    _, parts = result.tables()
    assert [row[0] for row in parts.rows] == ["no omission", "Poisson sampling at rate 0.5"]
    assert "by clamping" in parts.headings()
    assert sum("Clamping moves the mean by" in note for note in result.notes) == 1
    assert "bounds that are chosen by looking at the data are not private" in " ".join(result.notes)
    (record, _) = result.to_json()["rows"]
    assert record["by_clamping"] == result.to_json()["clamping"] == result.clamping
    assert record["largest_part"] == "clamping"
    squares = record["bias"] ** 2 + record["by_omission"] ** 2 + record["by_noise"] ** 2
    assert record["root_mean_square"] == pytest.approx(math.sqrt(squares))
    inside = Column.from_values(CLAMPED, bounds=BOUNDS)
    assert len(compare(inside, NoisyMean(), Guarantee(1.0)).tables()) == 1


def test_an_error_below_what_clamping_costs_is_not_reached_and_it_is_said_why() -> None:
    with pytest.raises(omit.Unattainable, match=r"Clamping moves the mean by -25\.71 %"):
        omit.solve(SMALL, NoisyMean(), 10.0)


def test_a_known_truth_is_no_reason_to_forget_what_clamping_does() -> None:
    parts = expected_error(SMALL, NoisyMean(), Guarantee(1e7), truth=20.0).parts
    assert parts is not None
    assert parts.clamping == pytest.approx(5 * (CLAMPED.mean() - READ.mean()))
    assert parts.bias == pytest.approx(5 * (CLAMPED.mean() - 20))


def test_a_difference_below_one_per_cent_is_the_same_in_words_only() -> None:
    ages = Column.from_values([20, 30, 30, 30, 40] * 4000, bounds=(0, 100))
    result = compare(ages, NoisyMean(), Guarantee(1.0), PoissonSampling(0.9), truth=40.0)
    assert result.rows[1].standing in ("better", "worse")
    assert not result.rows[1].matters
    assert "same expected error as using all records to within 1 %" in result.verdict
    assert "it beats using all records" not in result.verdict


def test_a_gain_of_narrower_bounds_alone_is_named_as_that() -> None:
    ages = Column.from_values([20, 30, 60, 90] * 500, bounds=(0, 125), name="age")
    rule = RuleSuppression(keep=(0, 100))
    result = compare(ages, NoisyMean(), Guarantee(1.0), rule)
    row = result.rows[1]
    assert row.standing == "better"
    assert row.narrowed is not None
    declared = Column.from_values([20, 30, 60, 90] * 500, bounds=(0, 100))
    assert row.narrowed.value == expected_error(declared, NoisyMean(), Guarantee(1.0)).value
    named = "the gain is that of its narrower bounds alone, [0, 100], which must not come from"
    assert named in result.verdict
    assert named in Ranking((result, result)).verdict
    assert named in omit.best(ages, NoisyMean(), Guarantee(1.0), [rule]).verdict
    assert result.to_json()["rows"][1]["narrower_bounds_error"] == row.narrowed.value


def test_a_rule_that_leaves_contamination_out_gains_more_than_its_bounds() -> None:
    column = Column.from_counts([40, 60, 900], [990, 990, 20], bounds=(0, 1000))
    result = compare(
        column, NoisyMean(), Guarantee(1.0), RuleSuppression(keep=(0, 100)), truth=50.0
    )
    assert not result.rows[1].gains_by_bounds
    assert result.verdict.endswith(": it beats using all records.")
    assert any("All records with the bounds [0, 100]" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("upper", "weight"),
    [(200_000, ""), (500_000, ""), (200_000, " --weight PWGTP --weight-bounds 0 500")],
)
def test_every_row_of_an_income_with_survey_weights_is_exact(
    omit_command: Callable[[str], Run], upper: int, weight: str
) -> None:
    source = omit_data("nist_tx2019.csv")
    run = omit_command(
        f"compare {source} --column PINCP --bounds 0 {upper} --missing-value N --statistic mean"
        f"{weight} --omit outlier-score:0.1,0.3 --json"
    )
    result = json.loads(run.out)["result"]
    assert [row["method"] for row in result["rows"]] == ["exact"] * 2
    assert result["clamping"] < 0
    for row in result["rows"]:
        assert row["by_clamping"] == result["clamping"]
        assert row["by_noise"] > 0
