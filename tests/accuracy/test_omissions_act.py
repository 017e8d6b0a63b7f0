"""What omissions do to data: keep probabilities, drawn counts, outlier scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import omit
from omit.data.distances import column_distances
from omit.omissions import StableSuppression
from omit.omissions.base import Omission
from omit.omissions.outlier_removal import ThresholdOutlierRemoval
from omit.omissions.outlier_score import outlier_scores
from tests.parts import draw_counts, inclusion

ages = omit.Column.from_counts([20, 35, 70], [5, 3, 2], bounds=(0, 100), name="age")
texts = omit.Column.from_values(["b"] * 3 + ["a"], categories=("a", "b", "c"))


def test_without_omission_every_record_is_kept() -> None:
    assert inclusion(omit.NoOmission(), ages).tolist() == [1.0, 1.0, 1.0]
    drawn = draw_counts(omit.NoOmission(), ages, 4, np.random.default_rng(0))
    assert drawn.tolist() == [[5, 3, 2]] * 4


def test_poisson_sampling_keeps_all_values_alike() -> None:
    assert inclusion(omit.PoissonSampling(0.3), ages).tolist() == [0.3, 0.3, 0.3]
    assert inclusion(omit.PoissonSampling(0.3), texts).tolist() == [0.3, 0.3]


def test_a_rule_keeps_what_is_within_its_interval_ends_included() -> None:
    assert inclusion(omit.RuleSuppression(keep=(20, 69)), ages).tolist() == [1.0, 1.0, 0.0]
    assert inclusion(omit.RuleSuppression(keep=(35, 35)), ages).tolist() == [0.0, 1.0, 0.0]


def test_outlier_scores_by_hand() -> None:
    # The mean distance of a record of 20 is (3 * 15 + 2 * 50) / 10 of a width of 100, and so on.
    absolute = inclusion(omit.OutlierScoreSuppression(0.1, 0.6, "absolute"), ages)
    distances = [(45 + 100) / 1000, (75 + 70) / 1000, (250 + 105) / 1000]
    assert absolute.tolist() == pytest.approx([0.9 - 0.5 * each for each in distances])
    discrete = inclusion(omit.OutlierScoreSuppression(0.1, 0.6, "discrete"), ages)
    assert discrete.tolist() == pytest.approx([0.9 - 0.5 * each for each in (0.5, 0.7, 0.8)])


def test_the_statistic_decides_about_a_distance_that_is_left_open() -> None:
    open_choice = omit.OutlierScoreSuppression(0.1, 0.6)
    for distance in ("absolute", "discrete"):
        told = omit.OutlierScoreSuppression(0.1, 0.6, distance)
        assert inclusion(open_choice, ages, distance).tolist() == inclusion(told, ages).tolist()
    chosen = omit.OutlierScoreSuppression(0.1, 0.6, "absolute")
    assert inclusion(chosen, ages, "discrete").tolist() == inclusion(chosen, ages).tolist()
    for mechanism, distance in ((omit.NoisyMean(), "absolute"), (omit.NoisyMode(), "discrete")):
        left_open = omit.expected_error(ages, mechanism, omit.Guarantee(9.0), open_choice)
        stated = omit.OutlierScoreSuppression(0.1, 0.6, distance)
        assert (
            left_open.value
            == omit.expected_error(ages, mechanism, omit.Guarantee(9.0), stated).value
        )


@pytest.mark.slow
@given(
    st.lists(st.integers(-50, 150), min_size=1, max_size=60),
    st.floats(0, 0.5),
    st.floats(0.5, 1),
)
def test_scores_from_sorted_values_are_those_of_the_definition_on_all_pairs(
    records: list[int], m: float, M: float
) -> None:
    column = omit.Column.from_values(records, bounds=(-60, 200))
    points = np.sort(np.array(records, dtype=float))
    differences = np.abs(points[:, None] - points[None])
    for distance, pairwise in (
        ("absolute", differences / 260),
        ("discrete", (differences > 0).astype(float)),
    ):
        per_record = np.repeat(column_distances(column, distance).means, column.counts)
        np.testing.assert_allclose(per_record, pairwise.mean(axis=1), atol=1e-12)
        keep = inclusion(omit.OutlierScoreSuppression(m, M, distance), column)
        expected = 1 - outlier_scores(pairwise, m, M)
        np.testing.assert_allclose(np.repeat(keep, column.counts), expected, atol=1e-12)


def test_scores_keep_their_digits_far_from_zero() -> None:
    # Years near 1e9 apart by at most 5: differences of prefix sums must not lose them.
    column = omit.Column.from_counts(
        1e9 + np.array([0.0, 1, 5]), [4, 1, 5], bounds=(1e9 - 10, 1e9 + 10)
    )
    expected = np.array([0 + 1 + 25, 4 + 20, 20 + 4]) / (10 * 20)
    np.testing.assert_allclose(column_distances(column, "absolute").means, expected, rtol=1e-14)


def test_texts_differ_or_not() -> None:
    assert column_distances(texts, "discrete").means.tolist() == pytest.approx([0.75, 0.25])
    keep = inclusion(omit.OutlierScoreSuppression(0.0, 1.0), texts)
    assert keep.tolist() == pytest.approx([0.25, 0.75])


def test_bounds_without_width_leave_no_distance() -> None:
    column = omit.Column.from_counts([7], [4], bounds=(7, 7))
    assert column_distances(column, "absolute").means.tolist() == [0.0]


@pytest.mark.parametrize(
    "omission",
    [
        omit.PoissonSampling(0.37),
        omit.OutlierScoreSuppression(0.2, 0.9, "absolute"),
        omit.OutlierScoreSuppression(0.1, 1.0, "discrete"),
    ],
    ids=str,
)
def test_drawn_counts_have_binomial_means_and_variances(omission: Omission) -> None:
    column = omit.Column.from_counts([1, 4, 9], [200, 30, 2], bounds=(0, 10))
    runs = 20_000
    drawn = draw_counts(omission, column, runs, np.random.default_rng(3))
    assert drawn.shape == (runs, 3)
    assert (drawn >= 0).all()
    assert (drawn <= column.counts).all()
    keep = inclusion(omission, column)
    variance = column.counts * keep * (1 - keep)
    # Nine means at 5 sigma, nine variances at about 6: a false alarm in 1 of 100,000 seeds.
    margin = 5 * np.sqrt(variance / runs)
    assert (np.abs(drawn.mean(axis=0) - column.counts * keep) <= margin).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=6 * math.sqrt(3 / runs))


def test_values_are_thinned_independently() -> None:
    column = omit.Column.from_counts([1, 2], [50, 50], bounds=(1, 2))
    drawn = draw_counts(omit.PoissonSampling(0.5), column, 20_000, np.random.default_rng(4))
    # The correlation of independent counts has deviation 1/sqrt(20,000): 5 sigma.
    assert abs(stats.pearsonr(*drawn.T).statistic) < 5 / math.sqrt(20_000)


def test_a_sample_of_fixed_size_always_has_its_size() -> None:
    column = omit.Column.from_counts([1, 2, 3], [50, 30, 20], bounds=(1, 3))
    sampling = omit.FixedSizeSampling(size=40, population=100)
    drawn = draw_counts(sampling, column, 5000, np.random.default_rng(5))
    assert (drawn.sum(axis=1) == 40).all()
    assert (drawn <= column.counts).all()
    # Hypergeometric means and covariances; the correlation of two values is negative.
    share = column.counts / 100
    variance = 40 * share * (1 - share) * 60 / 99
    margin = 5 * np.sqrt(variance / 5000)
    assert (np.abs(drawn.mean(axis=0) - 40 * share) <= margin).all()
    expected = -40 * share[0] * share[1] * 60 / 99
    assert np.cov(drawn.T)[0, 1] == pytest.approx(expected, rel=0.15)


def test_a_sample_of_fixed_size_is_of_the_population_it_says() -> None:
    sampling = omit.FixedSizeSampling(size=4, population=11)
    with pytest.raises(
        omit.InvalidInput, match="population=11 to be the number of records, which is"
    ):
        draw_counts(sampling, ages, 1, np.random.default_rng(0))
    guarantee = omit.Guarantee(1.0, neighbours="replace")
    with pytest.raises(omit.InvalidInput, match="population=11"):
        omit.expected_error(ages, omit.NoisyMean(), guarantee, sampling)


@pytest.mark.parametrize(
    ("omission", "column", "message"),
    [
        (omit.PoissonSampling((0.1, 0.4)), ages, "give one rate"),
        (StableSuppression(2), ages, "not known, so its error cannot be computed"),
        (omit.RuleSuppression(), ages, "give the interval"),
        (omit.RuleSuppression(keep=(0, 1)), texts, "give the interval of numbers"),
        (
            omit.OutlierScoreSuppression(0.1, 0.2, "euclidean"),
            ages,
            "not defined for single numbers",
        ),
        (omit.OutlierScoreSuppression(0.1, 0.2, "absolute"), texts, "not defined for text"),
    ],
    ids=str,
)
def test_an_omission_that_does_not_say_what_it_keeps_is_refused(
    omission: Omission, column: omit.Column, message: str
) -> None:
    with pytest.raises(omit.Refused, match=message):
        inclusion(omission, column)


@pytest.mark.usefixtures("too_many_outcomes")
def test_a_sample_of_fixed_size_does_not_keep_records_independently() -> None:
    design = omit.FixedSizeSampling(3, 10).design(ages, "absolute")
    assert (design.inclusion, design.size, design.keeps_all) == (None, 3, False)
    replaced = omit.Guarantee(1.0, neighbours="replace")
    with pytest.raises(omit.InvalidInput, match="not kept independently"):
        omit.expected_error(
            ages, omit.NoisyMode(), replaced, omit.FixedSizeSampling(3, 10), method="exact"
        )


@pytest.mark.parametrize(
    "omission", [StableSuppression(2), omit.PoissonSampling((0.1, 0.4))], ids=str
)
def test_no_error_is_made_up_for_what_is_not_known(omission: Omission) -> None:
    with pytest.raises(omit.InvalidInput, match="not known"):
        omit.expected_error(ages, omit.NoisyMode(), omit.Guarantee(1.0), omission)
    with pytest.raises(omit.InvalidInput, match="not known"):
        omit.expected_error(
            ages, omit.NoisyMode(), omit.Guarantee(1.0), omission, method="simulated"
        )


def test_removal_of_outliers_by_a_threshold_has_no_error_because_it_has_no_guarantee() -> None:
    with pytest.raises(omit.Unattainable, match="unbounded sensitivity"):
        omit.expected_error(
            ages, omit.NoisyMean(), omit.Guarantee(1.0), ThresholdOutlierRemoval(0.5)
        )
