"""Mean distances of points, against all pairwise distances computed one by one."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omit import Column, InvalidInput, OutlierScoreSuppression, Points, Refused, read_points
from omit._numeric import FloatArray
from omit.data import distances as point_distances_module
from omit.data.distances import column_distances, point_distances
from omit.mechanisms import DPLloyd, PrivateKMedian
from omit.omissions.outlier_score import outlier_scores
from tests.parts import draw_kept, inclusion

DISTANCES = ("euclidean", "manhattan", "discrete")


def all_distances(points: Points, distance: str) -> FloatArray:
    """Return the n x n matrix from the definition, in the units of the data."""
    widths = np.array([upper - lower for lower, upper in points.bounds])
    apart = np.abs(points.rows[:, None, :] - points.rows[None, :, :]) / widths
    if distance == "euclidean":
        matrix = np.sqrt((apart**2).sum(axis=2) / points.dimensions)
    elif distance == "manhattan":
        matrix = apart.mean(axis=2)
    else:
        matrix = (apart > 0).any(axis=2)
    return np.asarray(matrix, dtype=np.float64)


@st.composite
def some_points(draw: st.DrawFn) -> Points:
    dimensions = draw(st.integers(1, 8))
    coordinate = draw(st.sampled_from([st.integers(-2, 2), st.floats(-1e3, 1e3)]))
    rows = draw(
        st.lists(
            st.lists(coordinate, min_size=dimensions, max_size=dimensions), min_size=1, max_size=40
        )
    )
    ends = st.tuples(st.floats(-2e3, -1.0), st.floats(1.0, 2e3))
    return Points.from_rows(rows, draw(st.lists(ends, min_size=dimensions, max_size=dimensions)))


@pytest.mark.slow
@settings(max_examples=150)
@given(points=some_points())
@pytest.mark.parametrize("distance", DISTANCES)
def test_means_are_those_of_all_pairwise_distances(distance: str, points: Points) -> None:
    matrix = all_distances(points, distance)
    means = point_distances(points, distance).means
    # Euclidean distances are a few steps of 2^-50 longer, for the triangle inequality's sake.
    np.testing.assert_allclose(means, matrix.mean(axis=1), rtol=1e-12, atol=4e-15)
    assert matrix.max() <= 1 + 1e-15
    assert ((means >= 0) & (means <= 1)).all()


@pytest.mark.parametrize("size", [255, 256, 257, 1023, 1025, 2100])
def test_the_edges_of_blocks_and_partial_sums_lose_no_record(size: int) -> None:
    rng = np.random.default_rng(size)
    rows = rng.normal(size=(size, 4))
    rows[size // 2 :: 7] = rows[0]  # some are equal
    points = Points.from_rows(rows, bounds=(-5, 5))
    matrix = all_distances(points, "euclidean")
    np.testing.assert_allclose(
        point_distances(points, "euclidean").means, matrix.mean(axis=1), rtol=1e-13
    )


@given(
    values=st.lists(st.integers(-9, 9) | st.floats(-9, 9), min_size=1, max_size=50),
    ends=st.tuples(st.floats(-20, -1), st.floats(1, 20)),
)
@pytest.mark.parametrize("distance", ["euclidean", "manhattan"])
def test_in_one_dimension_both_are_the_absolute_distance_of_the_column(
    distance: str, values: list[float], ends: tuple[float, float]
) -> None:
    column = Column.from_values(values, ends)
    points = Points.from_rows([[value] for value in values], ends)
    means = point_distances(points, distance).means
    expected = dict(zip(column.values, column_distances(column, "absolute").means, strict=True))
    for value, mean in zip(points.rows[:, 0], means, strict=True):
        assert mean == pytest.approx(expected[value], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_single_record_and_equal_records_are_no_outliers(distance: str) -> None:
    for copies in (1, 2, 700):
        points = Points.from_rows([[0.1, 0.7, 0.3]] * copies, bounds=(0, 1))
        assert point_distances(points, distance).means.tolist() == [0.0] * copies


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 6, 7])
def test_opposite_corners_are_at_distance_one(distance: str, dimensions: int) -> None:
    points = Points.from_rows([[-3.0] * dimensions, [0.1] * dimensions], bounds=(-3, 0.1))
    np.testing.assert_allclose(point_distances(points, distance).means, 0.5, rtol=1e-15)


@pytest.mark.parametrize("distance", DISTANCES)
def test_equal_records_have_bitwise_equal_means(distance: str) -> None:
    rows = np.random.default_rng(5).integers(0, 4, size=(900, 3))
    points = Points.from_rows(rows, bounds=(0, 9))
    means = point_distances(points, distance).means
    for group in range(points.distinct):
        assert len(set(means[points.group == group])) == 1


def test_a_narrow_column_far_from_zero_keeps_its_digits() -> None:
    # Prefix sums of the values themselves would cancel here, and lose nine digits of sixteen.
    offsets = np.random.default_rng(6).random(500)
    near = Points.from_rows(np.round(offsets * 2**20)[:, None], bounds=(0, 2**20))
    far = Points.from_rows(np.round(offsets * 2**20)[:, None] + 2.0**50, (2.0**50, 2.0**50 + 2**20))
    np.testing.assert_allclose(
        point_distances(far, "manhattan").means,
        point_distances(near, "manhattan").means,
        rtol=1e-14,
    )


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 5])
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    code = (
        "import numpy as np, hashlib\n"
        "from omit import Points\n"
        "from omit.data.distances import point_distances\n"
        "points = Points.from_rows(np.random.default_rng(1).random((3000, 5)), bounds=(0, 1))\n"
        "means = point_distances(points, 'euclidean').means\n"
        "print(hashlib.sha256(means.tobytes()).hexdigest())"
    )
    points = Points.from_rows(np.random.default_rng(1).random((3000, 5)), bounds=(0, 1))
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
    )
    here = hashlib.sha256(point_distances(points, "euclidean").means.tobytes()).hexdigest()
    assert run.stdout.strip() == here


def test_the_order_of_the_records_does_not_matter() -> None:
    rows = np.random.default_rng(8).random((500, 2))
    order = np.random.default_rng(9).permutation(500)
    for distance in DISTANCES:
        straight = point_distances(Points.from_rows(rows, (0, 1)), distance).means
        shuffled = point_distances(Points.from_rows(rows[order], (0, 1)), distance).means
        np.testing.assert_array_equal(straight[order], shuffled)


def test_many_suppressions_share_one_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    points = Points.from_rows([[0, 0], [1, 1]], bounds=(0, 1))
    first = points.mean_distances("euclidean")
    monkeypatch.setattr(
        point_distances_module, "_DISTANCES", {}
    )  # nothing can be computed any more
    assert points.mean_distances("euclidean") is first
    assert not first.totals.flags.writeable
    for m in (0.1, 0.2):
        keep = inclusion(OutlierScoreSuppression(m, 0.4), points)
        np.testing.assert_allclose(keep, 1 - outlier_scores([[0, 1], [1, 0]], m, 0.4))


@given(points=some_points(), m=st.floats(0, 1), M=st.floats(0, 1))
@pytest.mark.parametrize("distance", DISTANCES)
def test_keep_probabilities_are_one_minus_the_outlier_scores(
    distance: str, points: Points, m: float, M: float
) -> None:
    m, M = min(m, M), max(m, M)
    keep = inclusion(OutlierScoreSuppression(m, M, distance), points)
    scores = outlier_scores(all_distances(points, distance), m, M)
    np.testing.assert_allclose(keep, 1 - scores, rtol=0, atol=1e-12)
    assert ((keep >= 0) & (keep <= 1)).all()


def test_clustering_uses_the_euclidean_distance_unless_told() -> None:
    points = Points.from_rows([[0, 0], [0, 1], [1, 1]], bounds=(0, 1))
    open_choice = OutlierScoreSuppression(0.1, 0.6)
    for mechanism in (DPLloyd(2), PrivateKMedian(2)):
        told = OutlierScoreSuppression(0.1, 0.6, "euclidean")
        keep = inclusion(open_choice, points, mechanism.distance)
        assert keep.tolist() == inclusion(told, points).tolist()
    chosen = OutlierScoreSuppression(0.1, 0.6, "manhattan")
    assert inclusion(chosen, points, "euclidean").tolist() == inclusion(chosen, points).tolist()
    assert inclusion(chosen, points).tolist() != inclusion(open_choice, points).tolist()


def test_suppressions_of_points_are_told_apart_by_their_distance() -> None:
    assert len({str(OutlierScoreSuppression(0.1, 0.6, each)) for each in DISTANCES}) == 3


def test_the_absolute_distance_is_refused_for_points() -> None:
    points = Points.from_rows([[0, 0]], bounds=(0, 1))
    with pytest.raises(Refused, match="use euclidean, manhattan or discrete"):
        inclusion(OutlierScoreSuppression(0.1, 0.6, "absolute"), points)
    with pytest.raises(InvalidInput, match="absolute distance is not defined"):
        next(
            draw_kept(
                OutlierScoreSuppression(0.1, 0.6, "absolute"), points, np.random.default_rng()
            )
        )


@pytest.mark.slow
def test_scores_of_adult_hold_for_some_of_its_records() -> None:
    points = read_points("adult")
    some = np.random.default_rng(3).choice(points.size, 50, replace=False)
    widths = np.array([upper - lower for lower, upper in points.bounds])
    scaled = points.rows / widths
    means = point_distances(points, "euclidean").means
    for record in some:
        apart = np.sqrt(((scaled - scaled[record]) ** 2).sum(axis=1) / 6)
        assert means[record] == pytest.approx(apart.mean(), rel=1e-13)
