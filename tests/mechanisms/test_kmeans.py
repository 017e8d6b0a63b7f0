"""DPLloyd: the loss of an iteration is what its noise was chosen for, and no input breaks it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from omit import (
    Guarantee,
    InvalidInput,
    PoissonSampling,
    WrongNeighbours,
    expected_error,
    read_points,
)
from omit._numeric import FloatArray
from omit.data.points import Points
from omit.guarantee import Relation
from omit.mechanisms.kmeans import Budget, DPLloyd, Start


def released(rows: FloatArray, centres: FloatArray) -> FloatArray:
    """Return what noise is added to: for each cluster, the sums of the columns and the count."""
    labels = np.square(rows[:, None] - centres[None]).sum(axis=2).argmin(axis=1)
    table = np.zeros((len(centres), centres.shape[1] + 1))
    np.add.at(table, labels, np.column_stack([rows, np.ones(len(rows))]))
    return table


def largest_loss(before: FloatArray, after: FloatArray, scale: float) -> float:
    """Return the largest logarithm of a ratio of densities of the noisy tables.

    Laplace noise has density e^(-|x - f|/scale), so the loss at x is the sum over all entries of
    (|x - after| - |x - before|) / scale; it is largest at x = before.
    """
    return float(np.abs(after - before).sum()) / scale


@given(
    st.integers(0, 30),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 20),
    st.sampled_from(["add-remove", "replace"]),
    st.sampled_from(["su", "published"]),
    st.integers(0, 10**6),
)
def test_all_iterations_together_lose_no_more_than_epsilon(
    size: int,
    dimensions: int,
    k: int,
    iterations: int,
    neighbours: str,
    budget: Budget,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (size + 1, dimensions))
    centres = rng.uniform(-1, 1, (k, dimensions))
    other = rows[1:]
    if neighbours == "replace":
        other = np.vstack([rng.choice([-1.0, 1.0], (1, dimensions)), other])
    guarantee = Guarantee(0.7, neighbours=neighbours)
    scale = DPLloyd(k, iterations, budget).scale(guarantee, dimensions)
    loss = largest_loss(released(rows, centres), released(other, centres), scale)
    # Centres of the next iteration depend on what was released only, so losses add up.
    assert iterations * loss <= 0.7 * (1 + 1e-12)


@pytest.mark.parametrize("dimensions", [1, 2, 6])
def test_a_record_at_a_corner_uses_up_the_budget_of_su_et_al(dimensions: int) -> None:
    others = np.zeros((3, dimensions))
    corner = np.ones((1, dimensions))
    centres = np.array([0.9, -0.9])[:, None] * np.ones(dimensions)
    mechanism = DPLloyd(k=2, iterations=4)
    with_one = released(np.vstack([others, corner]), centres)
    scale = mechanism.scale(Guarantee(1.0), dimensions)
    loss = largest_loss(released(others, centres), with_one, scale)
    assert 4 * loss == pytest.approx(1.0, rel=1e-12)
    # Under replace the record enters the opposite cluster: two counts and twice as many sums.
    with_other = released(np.vstack([others, -corner]), centres)
    scale = mechanism.scale(Guarantee(1.0, neighbours="replace"), dimensions)
    assert 4 * largest_loss(with_one, with_other, scale) == pytest.approx(1.0, rel=1e-12)


def test_the_published_budget_grows_with_the_clusters_and_is_halved_once_more() -> None:
    for k in (1, 5, 20):
        scale = DPLloyd.published(k).scale(Guarantee(0.5), dimensions=6)
        assert scale == 2 * (6 * k + 1) * 20 / 0.5
        assert DPLloyd(k, 20).scale(Guarantee(0.5), dimensions=6) == 7 * 20 / 0.5


@pytest.mark.slow
def test_the_published_variant_divides_by_any_count_and_the_default_does_not() -> None:
    """The authors' 500 runs at a rate of .01 and epsilon = .5 average 2.776, standard error .058.

    Clusters that keep their centres give 2.63, more than two standard errors below.
    """
    published = replace(DPLloyd.published(5), metric="kept")
    assert (published.low_counts, DPLloyd(5).low_counts) == ("divide", "keep")
    points = read_points("adult", bounds="from-data")
    runs = expected_error(points, published, Guarantee(0.5), PoissonSampling(0.01), runs=800)
    assert abs(runs.value - 2.776) < 2 * math.hypot(0.058, 0.047)
    keeping = replace(published, low_counts="keep")
    fewer = expected_error(points, keeping, Guarantee(0.5), PoissonSampling(0.01), runs=800)
    assert fewer.value < runs.value - 0.05


def test_the_composed_budget_is_between_nothing_and_su_et_al() -> None:
    guarantee = Guarantee(1.0, 1e-6)
    scale = DPLloyd(budget="composed").scale(guarantee, dimensions=6)
    assert 23.8 < scale < 23.9 < DPLloyd().scale(guarantee, dimensions=6) == 35


# One cluster, one iteration and 1,000 records in the middle: the centre is Z / (1000 + W), and W is
# nothing beside 1000. The scale of Z is (1 + 1) / epsilon.
def one_step(value: float, epsilon: float, runs: int) -> FloatArray:
    points = Points.from_rows(np.full((1000, 1), value), (-1, 1))
    prepared = DPLloyd(k=1, iterations=1).prepare(points, Guarantee(epsilon))
    rng = np.random.default_rng(3)
    return np.array([prepared.centres(None, rng)[0, 0] for _ in range(runs)])


@pytest.mark.parametrize("epsilon", [2.0, 0.5])
def test_sums_have_laplace_noise_of_the_stated_scale(epsilon: float) -> None:
    scaled = 1000 * one_step(0.0, epsilon, 20_000) / (2 / epsilon)
    # Kolmogorov-Smirnov at a false-alarm rate of 1e-4; a tenth more noise is noticed.
    assert stats.kstest(scaled, stats.laplace.cdf).pvalue > 1e-4
    assert stats.kstest(scaled * 1.1, stats.laplace.cdf).pvalue < 1e-4


def test_counts_have_noise_of_the_same_scale() -> None:
    # At value v the centre is (1000 v + Z) / (1000 + W), about v + (Z - v W) / 1000.
    errors = 1000 * (one_step(0.9, 2.0, 5000) - 0.9)
    # Variance 2 (1 + .81); its estimate has a standard error of about 3 %: false alarms 1e-4.
    assert errors.var() == pytest.approx(2 * 1.81, rel=0.12)


@pytest.mark.parametrize("epsilon", [1e-290, 1e-30, 1e-6, 0.01, 1.0, 1e3, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("start", ["spread", "uniform"])
def test_centres_are_numbers_in_the_cube_for_any_epsilon(epsilon: float, start: Start) -> None:
    rng = np.random.default_rng(8)
    tables = {
        "one record": np.array([[0.3, -0.2]]),
        "equal records": np.full((50, 2), 0.7),
        "more clusters than records": rng.uniform(-1, 1, (3, 2)),
        "one column": rng.uniform(-1, 1, (40, 1)),
    }
    for k in (1, 5):
        for rows in tables.values():
            points = Points.from_rows(rows, (-1, 1))
            prepared = DPLloyd(k, start=start).prepare(points, Guarantee(epsilon))
            for kept in (None, np.array([0]), np.array([], dtype=np.intp)):
                centres = prepared.centres(kept, rng)
                assert centres.shape == (k, rows.shape[1])
                assert (np.abs(centres) <= 1).all()
                assert math.isfinite(prepared.loss(centres))
                assert math.isfinite(prepared.loss(centres, kept))


def test_with_nothing_left_the_loss_is_zero_and_centres_are_noise() -> None:
    points = Points.from_rows([[0.5], [-0.5]], (-1, 1))
    prepared = DPLloyd(k=2).prepare(points, Guarantee(1.0))
    nobody = np.array([], dtype=np.intp)
    centres = prepared.centres(nobody, np.random.default_rng(0))
    assert prepared.loss(centres, nobody) == 0.0
    # Who is left out of the run has no influence on it.
    other = DPLloyd(k=2).prepare(Points.from_rows([[1.0]], (-1, 1)), Guarantee(1.0))
    assert np.array_equal(other.centres(nobody, np.random.default_rng(0)), centres)


def test_a_run_uses_the_records_that_are_left_and_no_others() -> None:
    rng = np.random.default_rng(5)
    points = Points.from_rows(rng.uniform(-1, 1, (60, 2)), (-1, 1))
    kept = np.flatnonzero(rng.random(60) < 0.5)
    alone = Points.from_rows(points.rows[kept], (-1, 1))
    mechanism, guarantee = DPLloyd(k=3), Guarantee(50.0)
    on_all = mechanism.prepare(points, guarantee).centres(kept, np.random.default_rng(1))
    on_them = mechanism.prepare(alone, guarantee).centres(None, np.random.default_rng(1))
    assert np.array_equal(on_all, on_them)


def test_the_loss_is_the_mean_squared_distance_in_the_cube() -> None:
    points = Points.from_rows([[0, 0], [10, 100], [10, 50]], [(0, 10), (0, 100)])
    prepared = DPLloyd(k=2).prepare(points, Guarantee(1.0))
    centres = np.array([[-1.0, -1.0], [1.0, 1.0]])
    assert prepared.loss(centres) == pytest.approx(1 / 3)
    assert prepared.loss(centres, np.array([0, 1])) == 0.0


def test_noise_that_drowns_a_cluster_is_said() -> None:
    points = Points.from_rows(np.linspace(-1, 1, 1000)[:, None], (-1, 1))
    assert DPLloyd(k=2).prepare(points, Guarantee(1.0)).notes == ()
    (note,) = DPLloyd(k=2).prepare(points, Guarantee(0.01)).notes
    assert "scale 1,000) exceeds an average cluster (500 records)" in note


@pytest.mark.parametrize(
    ("mechanism", "guarantee", "message"),
    [
        (DPLloyd(), Guarantee(0.0, 1e-6), "needs epsilon > 0"),
        (DPLloyd(), Guarantee(1e-307), "too small"),
        (DPLloyd(budget="composed"), Guarantee(1e-310, 1e-6), "too small"),
        (DPLloyd(budget="composed"), Guarantee(1.0), "needs delta > 0"),
        (DPLloyd(budget="composed"), Guarantee(1.0, 1e-6, "replace"), "add-remove only"),
    ],
)
def test_a_guarantee_without_noise_for_it_is_refused(
    mechanism: DPLloyd, guarantee: Guarantee, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        mechanism.scale(guarantee, dimensions=6)


def test_an_unknown_relation_is_refused() -> None:
    rows = Relation("two-rows", meaning="one has two rows more")
    with pytest.raises(WrongNeighbours, match="no noise for the relation two-rows"):
        DPLloyd().scale(Guarantee(1.0, neighbours=rows), dimensions=2)


@pytest.mark.parametrize(
    "settings",
    [{"k": 0}, {"k": 2.5}, {"iterations": 0}, {"budget": "mine"}, {"start": "data"}, {"k": True}],
)
def test_settings_without_meaning_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="Expected"):
        DPLloyd(**settings)  # type: ignore[arg-type]
