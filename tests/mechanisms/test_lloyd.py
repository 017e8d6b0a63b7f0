"""The compiled iterations against plain numpy, and without noise against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from omit import Guarantee
from omit._numeric import FloatArray
from omit.data.points import Points
from omit.mechanisms.kmeans import DPLloyd, mean_square_distance, noisy_lloyd, padded


def nearest(rows: FloatArray, centres: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """Return each record's nearest centre and its squared distance."""
    squares = np.square(rows[:, None] - centres[None]).sum(axis=2)
    return squares.argmin(axis=1), squares.min(axis=1)


def plain_lloyd(
    rows: FloatArray, starts: FloatArray, noise: FloatArray, smallest: float = 1.0
) -> FloatArray:
    """Return the centres after all iterations: DPLloyd as one would write it down."""
    centres = starts.copy()
    for of_step in noise:
        labels, _ = nearest(rows, centres)
        for cluster, (*of_sums, of_count) in enumerate(of_step):
            members = rows[labels == cluster]
            count = len(members) + of_count
            if count >= smallest:
                whole = np.rint(members * 2**26).sum(axis=0) / 2**26
                centres[cluster] = np.clip((whole + of_sums) / count, -1, 1)
    return centres


sizes = st.one_of(st.integers(0, 40), st.sampled_from([511, 512, 513, 1300]))


@given(
    sizes,
    st.integers(1, 8),
    st.integers(1, 7),
    st.integers(1, 6),
    st.sampled_from([1.0, -np.inf]),
    st.integers(0, 10**6),
)
def test_the_kernel_does_what_plain_numpy_does(
    size: int, dimensions: int, k: int, iterations: int, smallest: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (size, dimensions))
    starts = rng.uniform(-1, 1, (k, dimensions))
    scale = rng.choice([0.1, 3.0, 1e3] if smallest < 1 else [0.0, 0.1, 3.0, 1e3])
    noise = rng.laplace(0, 1, (iterations, k, dimensions + 1)) * scale
    columns = padded(rows.T)
    found = noisy_lloyd(columns, starts, noise, smallest)
    # Distances are compared in another way, and errors can grow from one iteration to the next.
    assert found == pytest.approx(plain_lloyd(rows, starts, noise, smallest), rel=0, abs=1e-9)
    assert np.array_equal(found, noisy_lloyd(columns, starts, noise, smallest))
    assert (np.abs(found) <= 1).all()
    if size:
        expected = nearest(rows, found)[1].mean()
        variance = mean_square_distance(columns, found)
        assert variance == pytest.approx(expected, rel=1e-12, abs=1e-14)


def separated(seed: int, clusters: int = 4) -> tuple[Points, FloatArray]:
    """Return points in clearly separated clusters, and a start in each of them."""
    rng = np.random.default_rng(seed)
    middles = np.array([[-0.6, -0.6, 0], [0.6, -0.6, 0.5], [-0.6, 0.6, -0.5], [0.6, 0.6, 0]])
    rows = (middles[:clusters, None] + rng.normal(0, 0.25, (clusters, 400, 3))).reshape(-1, 3)
    rows = np.rint(rows * 2**20) / 2**20  # in whole steps, so that sums are those of anyone
    return Points.from_rows(rows, (-1, 1)), middles[:clusters] + rng.normal(0, 0.1, (clusters, 3))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("iterations", [1, 2, 5, 20])
def test_without_noise_the_centres_are_those_of_scikit_learn(seed: int, iterations: int) -> None:
    points, starts = separated(seed)
    # Noise at epsilon = 1e6: a sum of some hundred moves by about 1e-4.
    scale = DPLloyd(k=4, iterations=iterations).scale(Guarantee(1e6), points.dimensions)
    noise = np.random.default_rng(seed).laplace(0, scale, (iterations, 4, 4))
    theirs = KMeans(4, init=starts, n_init=1, max_iter=iterations, algorithm="lloyd", tol=0)
    expected = theirs.fit(points.rows).cluster_centers_
    columns = padded(points.scaled)
    silent = noisy_lloyd(columns, starts, np.zeros_like(noise), 1.0)
    assert silent == pytest.approx(expected, abs=1e-12)
    assert noisy_lloyd(columns, starts, noise, 1.0) == pytest.approx(expected, abs=1e-4)


def test_a_cluster_that_looks_empty_keeps_its_centre() -> None:
    rows = np.full((10, 1), 0.5)
    starts = np.array([[0.4], [-0.7]])
    nothing = np.zeros((1, 2, 2))
    assert noisy_lloyd(padded(rows.T), starts, nothing, 1.0).tolist() == [[0.5], [-0.7]]
    # A full cluster that the noise makes look empty stays too, whatever the noise of its sum.
    noise = np.array([[[99.0, -9.1], [5.0, 0.9]]])
    assert noisy_lloyd(padded(rows.T), starts, noise, 1.0).tolist() == starts.tolist()
    # From a noisy count of 1 on, it moves; an empty one to where the noise says.
    noise = np.array([[[-5.2, -9.0], [0.25, 1.0]]])
    moved = noisy_lloyd(padded(rows.T), starts, noise, 1.0)
    assert moved == pytest.approx(np.array([[-0.2], [0.25]]))
    # Where every count divides, a negative one turns the centre to the other side.
    noise = np.array([[[0.0, -20.0], [0.25, 0.5]]])
    moved = noisy_lloyd(padded(rows.T), starts, noise, -np.inf)
    assert moved == pytest.approx(np.array([[-0.5], [0.5]]))


@pytest.mark.slow
def test_one_record_changes_a_sum_by_its_coordinate_and_nothing_else() -> None:
    """Rounded sums would depend on the order; these are the same to the last bit."""
    rng = np.random.default_rng(4)
    columns = padded(rng.uniform(-1, 1, (2, 20_001)))
    starts, nothing = np.array([[-0.5, 0.0], [0.5, 0.0]]), np.zeros((1, 2, 3))
    straight = noisy_lloyd(columns, starts, nothing, 1.0)
    order = rng.permutation(20_001)
    assert np.array_equal(straight, noisy_lloyd(columns[:, order], starts, nothing, 1.0))
    for left in (columns, columns[:, 1:]):
        # A noisy count of 2^20 divides without rounding.
        noise = np.array([[[0.0, 0.0, 2.0**20 - left.shape[1]]]])
        sums = noisy_lloyd(left, starts[:1], noise, 1.0)[0] * 2.0**20
        whole = np.rint(left[:2] * 2**26).astype(np.int64).sum(axis=1)
        assert (sums * 2**26).tolist() == whole.tolist()


def test_a_record_at_equal_distances_belongs_to_the_first_centre() -> None:
    rows = np.array([[0.0], [0.0], [1.0]])
    starts = np.array([[0.5], [-0.5]])
    moved = noisy_lloyd(padded(rows.T), starts, np.zeros((1, 2, 2)), 1.0)
    assert moved == pytest.approx(np.array([[1 / 3], [-0.5]]))


def test_the_square_distance_is_never_negative_where_records_are_centres() -> None:
    # A difference of squares would leave a rounding error.
    rows = np.random.default_rng(1).uniform(-1, 1, (50, 4))
    assert mean_square_distance(padded(rows.T), rows) == 0
    near = rows + 1e-9
    assert mean_square_distance(padded(rows.T), near) == pytest.approx(4e-18, rel=1e-6)
