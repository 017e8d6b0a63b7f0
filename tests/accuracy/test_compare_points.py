"""Clusterings at the same guarantee, simulated with common random numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from omit import (
    Column,
    FixedSizeSampling,
    Guarantee,
    NoisyMean,
    OutlierScoreSuppression,
    PoissonSampling,
    compare,
    expected_error,
)
from omit._numeric import FloatArray
from omit.accuracy.expected import Question
from omit.accuracy.grids import CurvesQuestion
from omit.accuracy.search import best
from omit.accuracy.simulated import Runs, _difference, looks
from omit.data.points import Points
from omit.data.reading import read_points
from omit.errors import InvalidInput
from omit.laws.intervals import Interval, bounded_interval, student_interval
from omit.mechanisms import GlobalQuantile
from omit.mechanisms.base import Prepared
from omit.mechanisms.clustering import Metric
from omit.mechanisms.kmeans import DPLloyd
from omit.mechanisms.kmedian import PrivateKMedian
from omit.omissions.sampling import NoOmission
from tests.parts import clustering_losses, solved

pytestmark = pytest.mark.slow


def _clusters(size: int = 600, spread: float = 0.08, seed: int = 3) -> Points:
    rng = np.random.default_rng(seed)
    centres = np.array([[-0.6, -0.5], [0.6, -0.4], [0.0, 0.7]])
    rows = centres[rng.integers(3, size=size)] + spread * rng.standard_normal((size, 2))
    return Points.from_rows(rows, (-1, 1), name="clusters")


points = _clusters()
TARGET = Guarantee(1.0)


@pytest.mark.parametrize("mechanism", [DPLloyd(3), PrivateKMedian(3, 12)], ids=str)
def test_a_sample_of_all_records_changes_nothing_in_any_run(
    mechanism: DPLloyd | PrivateKMedian,
) -> None:
    base = Guarantee(2.0)

    def losses(omission: NoOmission | PoissonSampling) -> FloatArray:
        rng = np.random.default_rng(7)
        return clustering_losses(points, mechanism, base, omission, rng).first(12)

    assert (losses(NoOmission()) == losses(PoissonSampling(rate=1.0))).all()


def test_a_secret_sample_of_points_needs_less_noise() -> None:
    target = Guarantee(1.0, neighbours="replace")
    found = compare(points, DPLloyd(3), target, runs=4, sampled_from=60_000)
    base = found.rows[0].promise
    assert isinstance(base, Guarantee)
    assert base.epsilon == pytest.approx(math.log1p(100 * math.expm1(1.0)))
    assert "for the population of 60,000" in found.verdict


def test_the_best_median_is_not_looked_for_among_points() -> None:
    with pytest.raises(InvalidInput, match="needs one column"):
        best(points, GlobalQuantile(), Guarantee(1.0, neighbours="replace"))


def test_common_random_numbers_make_differences_sharper_than_errors() -> None:
    mechanism, base = DPLloyd(3), Guarantee(5.0)
    plain = clustering_losses(points, mechanism, base, NoOmission(), np.random.default_rng(1))
    thinned = clustering_losses(
        points, mechanism, base, PoissonSampling(rate=0.9), np.random.default_rng(1)
    )
    together = thinned.first(300) - plain.first(300)
    apart = thinned.first(300) - plain.first(600)[300:]
    assert together.std() < 0.7 * apart.std()


def test_runs_of_k_median_stay_alike_though_one_needs_more_proposals() -> None:
    """Without numbers of its own for every step, the correlation is about .1."""
    mechanism, few = PrivateKMedian(3, 30), _clusters(100)

    def losses(omission: NoOmission | PoissonSampling) -> FloatArray:
        rng, base = np.random.default_rng(5), Guarantee(1.0)
        return clustering_losses(few, mechanism, base, omission, rng).first(200)

    plain, thinned = losses(NoOmission()), losses(PoissonSampling(rate=0.5))
    assert np.corrcoef(plain, thinned)[0, 1] > 0.8


def test_an_interval_covers_though_runs_end_early() -> None:
    mechanism, sampling, target = (
        DPLloyd(2, iterations=2),
        PoissonSampling(rate=0.7),
        Guarantee(2.0),
    )
    base = sampling.calibrate(target)
    assert isinstance(base, Guarantee)

    def losses(omission: NoOmission | PoissonSampling, guarantee: Guarantee) -> FloatArray:
        rng = np.random.default_rng(99)
        return clustering_losses(points, mechanism, guarantee, omission, rng).first(20_000)

    truth = (losses(sampling, base) - losses(NoOmission(), target)).mean()
    covered = 0
    for seed in range(40):
        found = compare(points, mechanism, target, sampling, runs=600, seed=seed)
        difference = found.rows[1].difference
        assert difference is not None
        covered += difference.low <= truth <= difference.high
    assert covered >= 38


def test_an_error_lies_within_its_interval() -> None:
    """With sums over the kept, which settings do not share, nothing is borrowed from others."""
    data = read_points("kmedian-synthetic")
    rates = PoissonSampling(rate=0.02), PoissonSampling(rate=0.9999)
    for metric in get_args(Metric):
        found = compare(data, DPLloyd(4, metric=metric), TARGET, *rates, runs=600, seed=3)
        for row in found.rows:
            assert row.error is not None
            assert 0 <= row.error.low <= row.error.value <= row.error.high


def test_an_error_without_noise_is_that_of_the_algorithm() -> None:
    mechanism = DPLloyd(3, iterations=30)
    error = expected_error(points, mechanism, Guarantee(1e7), runs=40)
    # Three balls with variance 2 * 0.08^2 each; a few bad starts make the mean larger.
    assert error.median == pytest.approx(2 * 0.08**2, rel=0.1)
    assert error.value < 0.4
    assert (error.method, error.runs) == ("simulated", 40)


# Which data, which clustering, and how many of a hundred thousand runs start badly.
RARE = {
    "both starts on one side": (
        Points.from_rows([[-0.95], [0.95]] * 10, (-1, 1)),
        DPLloyd(2, iterations=1, start="uniform"),
    ),
    "a local optimum of the default": (
        Points.from_rows([[-0.9], [0.0], [0.9]] * 10, (-1, 1)),
        DPLloyd(3),
    ),
}


@pytest.mark.parametrize("case", RARE)
def test_intervals_cover_though_a_bad_start_is_rare(case: str) -> None:
    """Student's intervals of 100 runs cover in half of the cases or less, or in four of five."""
    data, mechanism = RARE[case]
    losses = clustering_losses(
        data, mechanism, Guarantee(1e6), NoOmission(), np.random.default_rng(0)
    )
    every = losses.first(200 * 100).reshape(200, 100)
    truth = every.mean()
    assert (every > 20 * truth).mean() < 0.02

    def covered(interval: Callable[[FloatArray], Interval]) -> int:
        found = [interval(each) for each in every]
        return sum(each.low <= truth <= each.high for each in found)

    assert covered(lambda each: bounded_interval(each, 0.0, losses.largest)) >= 190
    assert covered(student_interval) < 170


def test_the_interval_covers_the_expected_error_as_often_as_it_says() -> None:
    mechanism, base = DPLloyd(2, iterations=1), Guarantee(1.0)
    few = Points.from_rows([[0.2], [0.4], [-0.7]] * 10, (-1, 1))
    losses = clustering_losses(few, mechanism, base, NoOmission(), np.random.default_rng(0))
    every = losses.first(200 * 100).reshape(200, 100)
    truth = every.mean()
    intervals = [bounded_interval(each, 0.0, losses.largest) for each in every]
    assert sum(each.low <= truth <= each.high for each in intervals) >= 190


@pytest.mark.parametrize("mechanism", [DPLloyd(3), PrivateKMedian(3, 9)], ids=str)
def test_no_centres_lose_more_than_the_largest_loss(mechanism: DPLloyd | PrivateKMedian) -> None:
    data = _clusters(40)
    prepared = mechanism.prepare(data, TARGET)
    largest, rng = prepared.largest_losses(), np.random.default_rng(2)
    some = np.flatnonzero(rng.random(40) < 0.3)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=2)))
    for corner in corners:
        assert prepared.loss(corner[None]) <= largest.mean() * (1 + 1e-12)
        assert prepared.loss(corner[None], some) <= largest.max() * (1 + 1e-12)
        # A record in one corner, and its centre in the opposite one.
        alone = mechanism.prepare(Points.from_rows([corner, -corner], (-1, 1)), TARGET)
        assert alone.loss(-corner[None], np.array([0])) == pytest.approx(alone.largest_losses()[0])
    for metric in get_args(Metric):
        measured = replace(mechanism, metric=metric)
        runs = clustering_losses(data, measured, TARGET, PoissonSampling(0.4), rng)
        assert np.nanmax(runs.first(50)) <= runs.largest


class AtMostSix(Prepared):
    largest_error = 6.0

    def errors(self, kept: object, rng: np.random.Generator) -> FloatArray:
        raise NotImplementedError


def test_a_rare_disaster_is_not_taken_for_a_clear_verdict() -> None:
    """Slightly worse in most runs, and far better in one of 300: better on average.

    Student's interval says "worse" for about half of all seeds.
    """
    wrong = judged_worse = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        plain = Runs(AtMostSix(), iter(np.where(rng.random(500) < 1 / 300, 5.0, 0.1)))
        other = Runs(AtMostSix(), iter(0.1 + 0.004 * rng.random(500)))
        found = _difference(plain, other, 500)
        student = student_interval(other.first(500) - plain.first(500))
        wrong += found.low > 0
        judged_worse += student.low > 0
    assert wrong <= 10
    assert judged_worse > 30


def test_looks_are_planned_before_the_first_and_end_with_all_runs() -> None:
    planned = looks(1000, early_stop=True)
    assert planned[-1] == 1000
    assert all(earlier < later for earlier, later in pairwise(planned))
    assert looks(20, early_stop=True) == (20,)


def test_a_clear_verdict_stops_early_and_published_counts_do_not() -> None:
    drowned = PoissonSampling(rate=0.002)
    early = compare(points, DPLloyd(3), Guarantee(20.0), drowned, runs=600)
    whole = compare(points, DPLloyd(3), Guarantee(20.0), drowned, runs=600, early_stop=False)
    assert early.rows[1].standing == whole.rows[1].standing == "worse"
    assert early.rows[1].error is not None
    assert early.rows[1].error.runs is not None
    assert early.rows[1].error.runs < 600
    assert [row.error.runs for row in whole.rows if row.error is not None] == [600, 600]


def test_ratio_error_and_difference_belong_together() -> None:
    found = compare(points, DPLloyd(3), TARGET, PoissonSampling(rate=0.5), runs=100)
    row = found.rows[1]
    assert row.error is not None
    assert row.difference is not None
    assert row.ratio == pytest.approx(row.error.value / found.baseline.value)
    assert row.error.value - found.baseline.value == pytest.approx(row.difference.value)
    assert row.error.low <= row.error.value <= row.error.high


def test_a_comparison_is_the_same_every_time() -> None:
    def table() -> list[dict[str, object]]:
        omissions = PoissonSampling(rate=0.5), OutlierScoreSuppression(0.1, 0.3)
        return compare(points, DPLloyd(3), TARGET, *omissions, runs=60).to_records()

    assert table() == table()


def test_scores_of_points_are_euclidean_unless_said_otherwise() -> None:
    found = compare(points, PrivateKMedian(3, 9), TARGET, OutlierScoreSuppression(0.1, 0.3), runs=9)
    assert found.question.mechanism.distance == "euclidean"
    told = compare(
        points, PrivateKMedian(3, 9), TARGET, OutlierScoreSuppression(0.1, 0.3, "euclidean"), runs=9
    )
    assert told.rows[1].error == found.rows[1].error


def test_fixed_size_samples_compare_under_replace() -> None:
    sample = FixedSizeSampling(size=300, population=600)
    found = compare(points, DPLloyd(3), Guarantee(1.0, neighbours="replace"), sample, runs=40)
    base = found.rows[1].promise
    assert isinstance(base, Guarantee)
    assert base.epsilon > 1
    assert found.rows[1].error is not None


def test_what_cannot_be_attained_has_a_row_that_says_so() -> None:
    published = OutlierScoreSuppression(0.1, 0.9, bound="published")
    found = compare(points, DPLloyd(3), TARGET, published, PoissonSampling(rate=0.9), runs=40)
    assert [row.standing for row in found.rows][:2] == ["baseline", "unattainable"]
    assert found.rows[2].error is not None


def test_sums_over_a_sample_shrink_with_it_and_averages_do_not() -> None:
    """Why summed cost makes sampling look good: a tenth of the records has a tenth of the cost."""
    mechanism = PrivateKMedian(3, 12)
    tenth = PoissonSampling(rate=0.1)
    summed = compare(points, replace(mechanism, metric="kept-sum"), TARGET, tenth, runs=64)
    average = compare(points, replace(mechanism, metric="kept"), TARGET, tenth, runs=64)
    assert summed.rows[1].ratio == pytest.approx(0.1, rel=0.2)
    assert average.rows[1].ratio == pytest.approx(1.0, rel=0.2)
    assert any("kept only" in note for note in summed.notes)


def test_runs_without_records_are_left_out_of_what_is_measured_on_the_kept() -> None:
    few = Points.from_rows([[0.1], [0.9], [-0.5]], (-1, 1))
    error = expected_error(
        few, DPLloyd(2, metric="kept"), TARGET, PoissonSampling(rate=0.2), runs=200
    )
    assert error.runs is not None
    assert 0 < error.runs < 200
    assert math.isfinite(error.value)


def test_nothing_kept_in_any_run_is_refused_on_the_kept_and_defined_on_all() -> None:
    few = Points.from_rows([[0.1], [0.9], [-0.5]], (-1, 1))
    nobody = OutlierScoreSuppression(1.0, 1.0)
    with pytest.raises(InvalidInput, match="No run left any record"):
        expected_error(few, DPLloyd(2, metric="kept"), TARGET, nobody, runs=20)
    assert math.isfinite(expected_error(few, DPLloyd(2), TARGET, nobody, runs=20).value)


def test_noise_that_drowns_everything_gives_numbers_and_says_so() -> None:
    found = compare(points, DPLloyd(3), Guarantee(1e-9), PoissonSampling(rate=0.5), runs=40)
    assert all(row.error is not None and math.isfinite(row.error.value) for row in found.rows)
    assert any("mostly noise" in note for note in found.notes)


def test_nearly_uniform_swaps_are_announced() -> None:
    found = compare(_clusters(60), PrivateKMedian(3, 12), TARGET, runs=20)
    assert any("nearly random" in note for note in found.notes)


@pytest.mark.parametrize(
    ("data", "mechanism", "options", "message"),
    [
        (points, NoisyMean(), {}, "needs one column"),
        (Column.from_values([1, 2], (0, 3)), DPLloyd(1), {}, "needs points"),
        (points, DPLloyd(3), {"truth": 4.0}, "no truth"),
        (points, DPLloyd(601), {}, "different records"),
        (points, DPLloyd(3), {"runs": 0}, "runs"),
    ],
)
def test_what_does_not_fit_is_refused(
    data: Points, mechanism: DPLloyd, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        compare(data, mechanism, TARGET, **options)


def test_there_is_no_exact_error_of_a_clustering() -> None:
    with pytest.raises(InvalidInput, match="simulated"):
        expected_error(points, DPLloyd(3), TARGET, method="exact")


def test_the_best_omission_of_a_clustering_is_judged_by_new_runs() -> None:
    candidates = [PoissonSampling(rate=0.5), PoissonSampling(rate=0.9)]
    found = best(points, DPLloyd(3), TARGET, candidates, runs=60)
    assert found.tried == 2
    assert str(found.nearest) in found.verdict


def test_solve_finds_the_epsilon_of_a_wanted_variance() -> None:
    guarantee, error = solved(points, DPLloyd(3), 0.25, runs=30)
    assert error.value <= 0.25
    looser = Guarantee(guarantee.epsilon * 0.8)
    assert expected_error(points, DPLloyd(3), looser, runs=30).value > 0.25


def test_curves_of_a_clustering_have_fewer_rates_and_margins() -> None:
    few = _clusters(60)
    question = Question(few, DPLloyd(3), TARGET, runs=10)
    found = CurvesQuestion(question, (1.0,), (0.5,), (0.2,)).answer()
    assert found.by_rate.high[0, 0] > found.by_rate.errors[0, 0]
    assert found.simulated == 3
    assert len(CurvesQuestion(question).rates) < 30
