"""Outlier-score suppression as an omission, and on small databases in full."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import Guarantee, InvalidInput, OutlierScoreSuppression, Statement, Unattainable
from omit.audit.bounds import small_multisets
from omit.omissions.outlier_score import outlier_score_pair, outlier_scores

pytestmark = pytest.mark.slow

target = Guarantee(1.0)


@pytest.mark.parametrize(
    ("m", "M", "bound", "message"),
    [
        (0.3, 0.2, "mixture", "at most M"),
        (-0.1, 0.2, "mixture", "m=-0.1"),
        (0.1, 1.2, "mixture", "M=1.2"),
        (0.0, 0.2, "published", "0 < m"),
        (0.1, 1.0, "published", "0 < m"),
        (float("nan"), 0.2, "mixture", "finite"),
        (0.1, 0.2, "tight", "bound='tight'"),
    ],
)
def test_probabilities_out_of_order_or_range_are_refused(
    m: float, M: float, bound: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        OutlierScoreSuppression(m, M, bound=bound)  # type: ignore[arg-type]


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(InvalidInput, match="euclidean"):
        OutlierScoreSuppression(0.1, 0.2, distance="cosine")


def test_the_published_bound_cannot_reach_what_the_mixture_bound_can() -> None:
    with pytest.raises(Unattainable, match="epsilon = 2 even if"):
        OutlierScoreSuppression(0.1, 0.3, bound="published").calibrate(target)
    base = OutlierScoreSuppression(0.1, 0.3).calibrate(target)
    assert isinstance(base, Guarantee)
    assert base.epsilon == pytest.approx(0.9335350721, abs=1e-9)


def test_calibration_under_both_bounds_has_its_tabulated_values() -> None:
    mixture = OutlierScoreSuppression(0.5, 0.6).calibrate(target)
    published = OutlierScoreSuppression(0.5, 0.6, bound="published").calibrate(target)
    assert isinstance(mixture, Guarantee)
    assert isinstance(published, Guarantee)
    assert mixture.epsilon == pytest.approx(1.4813, abs=5e-5)
    assert published.epsilon == pytest.approx(1.3620, abs=5e-5)


def test_theorem_5_4_has_its_own_delta_and_the_two_pairs_cannot_be_compared() -> None:
    wanted = Guarantee(1.0, 1e-6)
    mixture, published = OutlierScoreSuppression(0.5, 0.6).candidates(wanted)
    assert isinstance(mixture, Guarantee)
    assert isinstance(published, Guarantee)
    assert published.delta == pytest.approx(1e-6 / 0.5)
    assert mixture.epsilon > published.epsilon
    assert mixture.delta < published.delta
    assert OutlierScoreSuppression(0.5, 0.6).calibrate(wanted) == mixture
    again = OutlierScoreSuppression(0.5, 0.6, bound="published").amplify(published)
    assert isinstance(again, Statement)
    assert again.delta == pytest.approx(1e-6)


def test_deleting_everything_needs_no_noise() -> None:
    from omit import NoNoiseNeeded

    nothing_left = OutlierScoreSuppression(1.0, 1.0)
    assert nothing_left.amplify(Guarantee(3.0, 1e-3)) == Statement(0.0)
    assert isinstance(nothing_left.calibrate(target), NoNoiseNeeded)


def test_a_score_is_the_mean_distance_to_all_records_including_itself() -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(size=7)
    distances = np.abs(points[:, None] - points[None])
    expected = [
        0.2 + 0.5 * sum(abs(one - other) for other in points) / len(points) for one in points
    ]
    np.testing.assert_allclose(outlier_scores(distances, 0.2, 0.7), expected)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(
    ("m", "M", "epsilon"), [(0.1, 0.2, 1.0), (0.4, 0.9, 1.0), (0.05, 0.96, 3.0)]
)
def test_the_worst_pair_is_the_worse_of_a_crowd_and_a_hub(
    size: int, m: float, M: float, epsilon: float
) -> None:
    losses = []
    for inside, to_added in ((0.0, 1.0), (1.0, 0.5)):
        distances = np.full((size + 1, size + 1), to_added)
        distances[:size, :size] = inside
        np.fill_diagonal(distances, 0.0)
        losses.append(outlier_score_pair(distances, m, M).loss(epsilon).epsilon)
    worst = OutlierScoreSuppression(m, M).worst_pair(size, epsilon)
    assert worst.loss(epsilon).epsilon == pytest.approx(max(losses))


def test_between_the_exact_regions_the_worst_pair_stays_within_six_per_cent() -> None:
    ratios = []
    for epsilon in (0.25, 1.0, 2.0, 3.0):
        for m in np.arange(0.05, 1, 0.1):
            for M in np.arange(max(m, 1 - m) + 0.01, 1, 0.1):
                suppression = OutlierScoreSuppression(float(m), float(M))
                loss = suppression.worst_pair(20_000, epsilon).loss(epsilon).epsilon
                ratios.append(loss / float(suppression.epsilon_after(epsilon)))
    assert 0.94 < min(ratios) < max(ratios) <= 1


@pytest.mark.parametrize(
    ("epsilon", "m", "M"), [(0.25, 0.1, 0.2), (1.0, 0.0, 1.0), (1.0, 0.3, 0.7), (3.0, 0.8, 0.95)]
)
def test_ever_larger_databases_attain_the_mixture_bound(epsilon: float, m: float, M: float) -> None:
    suppression = OutlierScoreSuppression(m, M)
    bound = float(suppression.epsilon_after(epsilon))
    gaps = [
        bound - suppression.worst_pair(size, epsilon).loss(epsilon).epsilon
        for size in (500, 1000, 2000)
    ]
    assert 0 < gaps[2] < gaps[1] < gaps[0]
    # The gap halves as the database doubles: it has no limit above 0.
    assert gaps[1] / gaps[2] == pytest.approx(2, rel=0.02)


def test_no_multiset_of_up_to_six_records_exceeds_the_mixture_bound() -> None:
    settings = [(e, m, M) for e in (0.1, 1.0, 4.0) for m, M in ((0.1, 0.2), (0.0, 1.0), (0.6, 0.9))]
    for distances, (epsilon, m, M) in itertools.product(small_multisets(), settings):
        loss = outlier_score_pair(distances, m, M).loss(epsilon)
        assert loss.epsilon <= OutlierScoreSuppression(m, M).epsilon_after(epsilon) + 1e-12


@pytest.mark.parametrize(("m", "M"), [(0.1, 0.2), (0.3, 0.9), (0.0, 1.0)])
def test_for_equal_and_distant_records_the_linear_program_over_multisets_gives_the_exact_loss(
    m: float, M: float
) -> None:
    for records in ("aab", "aaab", "aabb", "abbbb"):
        codes = np.array([ord(record) for record in records])
        pair = outlier_score_pair((codes[:, None] != codes[None]).astype(float), m, M)
        program = pair.to_subsets(records).exact(1.0)
        assert program.epsilon == pytest.approx(pair.loss(1.0).epsilon, abs=1e-7)


@given(st.floats(0.05, 3), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_random_points_never_exceed_the_mixture_bound(
    epsilon: float, first: float, second: float, seed: int
) -> None:
    m, M = sorted((first, second))
    points = np.random.default_rng(seed).uniform(size=(9, 2)) / np.sqrt(2)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    loss = outlier_score_pair(distances, m, M).loss(epsilon)
    assert loss.epsilon <= float(OutlierScoreSuppression(m, M).epsilon_after(epsilon)) + 1e-12
