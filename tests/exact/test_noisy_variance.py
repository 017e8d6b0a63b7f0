"""The noise of a variance, integrated out: against draws and rules in other coordinates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array
from omit.errors import NotExact
from omit.exact import noisy_variance as module
from omit.exact.noisy_variance import three_sums_error, two_sums_errors

SUMS = np.array([400.0, 200.0, 400.0])  # a variance of 0.15


def rule(gaussian: bool, nodes: int = 24) -> tuple[FloatArray, FloatArray]:
    """Return points and weights for the mean over one standard noise, for smooth functions."""
    if gaussian:
        points, weights = np.polynomial.hermite_e.hermegauss(nodes)
        return points, weights / weights.sum()
    points, weights = np.polynomial.laguerre.laggauss(nodes)
    return np.concatenate([-points, points]), np.concatenate([weights, weights]) / 2


def three_sums_variance(noisy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the clipped variance of rows of three sums, by its definition."""
    number = np.maximum(noisy.sum(axis=-1), 1.0)
    variance = (noisy[..., 0] * noisy[..., 2] - noisy[..., 1] ** 2 / 4) / number**2
    return as_array(np.clip(variance, 0.0, 0.25))


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(("squared", "truth"), [(True, 0.15), (True, 0.13), (False, 0.0)])
def test_three_sums_err_as_a_rule_over_each_noise_says_where_that_is_smooth(
    gaussian: bool, squared: bool, truth: float
) -> None:
    points, weights = rule(gaussian)
    noise = np.stack(np.meshgrid(points, points, points, indexing="ij"), axis=-1)
    chances = weights[:, None, None] * weights[None, :, None] * weights
    scale = 1.5
    distances = np.abs(three_sums_variance(SUMS + scale * noise) - truth)
    expected = float((chances * (distances**2 if squared else distances)).sum())
    found = three_sums_error(SUMS, scale, truth, gaussian=gaussian, squared=squared)
    assert abs(found.expected - expected) <= found.precision + 1e-9 * expected
    assert found.precision <= 1e-6 * found.expected


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(
    ("sums", "scale"),
    [((400.0, 200.0, 400.0), 2.0), ((980.0, 36.0, 0.4), 3.0), ((500.0, 2.0, 498.0), 2.0)],
    ids=["in the middle", "near no variance", "near the largest"],
)
def test_three_sums_err_as_drawn_noise_does(
    sums: tuple[float, float, float], scale: float, gaussian: bool
) -> None:
    rng, runs = np.random.default_rng(7), 1_000_000
    noise = rng.standard_normal((runs, 3)) if gaussian else rng.laplace(size=(runs, 3))
    truth = float(three_sums_variance(np.array(sums)))
    distances = np.abs(three_sums_variance(np.array(sums) + scale * noise) - truth)
    found = three_sums_error(np.array(sums), scale, truth, gaussian=gaussian, squared=False)
    # Four standard errors: a false alarm once in 16,000.
    assert abs(found.expected - distances.mean()) <= 4 * distances.std() / runs**0.5


@pytest.mark.slow
def test_coarse_cells_err_by_less_than_their_bound() -> None:
    exact = three_sums_error(SUMS, 2.0, 0.15, gaussian=False, squared=False)
    for allowed in (1e-3, 1e-4, 1e-5):
        cells = module._cells(SUMS, 2.0, 0.15, False, allowed)
        rough = module._integral(cells.middles, cells.widths, SUMS, 2.0, 0.15, False, False)
        assert abs(rough - exact.expected) <= cells.missed
        assert cells.widths.sum() == pytest.approx(80.0)


def test_wide_noise_is_refused() -> None:
    with pytest.raises(NotExact, match="too wide"):
        three_sums_error(SUMS, 50.0, 0.15, gaussian=False, squared=False)
    assert (
        two_sums_errors(np.zeros((1, 2)), 3, (91.0, 91.0), 0.0, gaussian=True, squared=False)
        is None
    )


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(
    ("row", "size", "scales"),
    [
        ((0.0, 200.0), 1000, (5.0, 3.0)),
        ((-9.0, 4.5), 20, (1.0, 0.6)),
        ((-9.9, 5.0), 20, (2.0, 1.2)),
    ],
)
@pytest.mark.parametrize("squared", [True, False])
def test_two_sums_err_as_an_integral_of_an_integral_says(
    row: tuple[float, float], size: int, scales: tuple[float, float], gaussian: bool, squared: bool
) -> None:
    from scipy import stats
    from scipy.integrate import quad

    law = stats.norm if gaussian else stats.laplace
    truth = 0.8 * max(row[1] / size - (row[0] / size) ** 2, 0.01)

    def given(z: float) -> float:
        square = ((row[0] + scales[0] * z) / size) ** 2

        def tail(c: float) -> float:
            y = (size * (c + square) - row[1]) / scales[1]
            part = law.sf(y) if c > truth else law.cdf(y)
            return float(part * (2 * abs(c - truth) if squared else 1.0))

        cuts = [c for c in (row[1] / size - square,) if 0 < c < 0.25]
        below = quad(tail, 0, truth, points=[c for c in cuts if c < truth], epsabs=1e-13)[0]
        above = quad(tail, truth, 0.25, points=[c for c in cuts if c > truth], epsabs=1e-13)[0]
        return float(law.pdf(z) * (below + above))

    nodes, weights = np.polynomial.legendre.leggauss(6)
    edges = np.linspace(-1, 1, 61) ** 3 * (9.0 if gaussian else 30.0)
    expected = 0.0
    for left, right in itertools.pairwise(edges):
        half = (right - left) / 2
        expected += half * sum(
            weight * given(left + half * (node + 1))
            for node, weight in zip(nodes, weights, strict=True)
        )
    errors = two_sums_errors(
        np.array([row]), size, scales, truth, gaussian=gaussian, squared=squared
    )
    assert errors is not None
    # The oracle has kinks within its panels.
    assert errors[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("gaussian", [True, False])
def test_a_truth_that_no_variance_can_have_is_farther_by_what_it_is_away(gaussian: bool) -> None:
    rows = np.array([[0.0, 200.0]])
    for truth, nearest in ((0.3, 0.25), (-0.1, 0.0)):
        away = abs(truth - nearest)
        plain, moved = (
            two_sums_errors(rows, 1000, (5.0, 3.0), t, gaussian=gaussian, squared=False)
            for t in (nearest, truth)
        )
        squares, moved_squares = (
            two_sums_errors(rows, 1000, (5.0, 3.0), t, gaussian=gaussian, squared=True)
            for t in (nearest, truth)
        )
        assert plain is not None
        assert moved is not None
        assert squares is not None
        assert moved_squares is not None
        assert moved[0] == pytest.approx(plain[0] + away, rel=1e-12)
        expected = squares[0] + 2 * away * plain[0] + away**2
        assert moved_squares[0] == pytest.approx(expected, rel=1e-12)
