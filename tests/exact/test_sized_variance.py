"""The variance of a sample of fixed size from two noisy sums, against other routes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from omit import FixedSizeSampling, Guarantee, expected_error, read
from omit._numeric import FloatArray, IntArray, as_array
from omit.errors import NotExact
from omit.exact.noisy_variance import two_sums_errors
from omit.exact.sized_variance import sized_variance_error
from omit.laws.design import FixedSize
from omit.laws.noise import Gaussian, Laplace, LogConcaveNoise, NoNoise
from omit.mechanisms import NoisyVariance

NORMAL = np.round(np.linspace(0.02, 0.98, 49), 2)
BELL = np.maximum(np.round(900 * np.exp(-((NORMAL - 0.4) ** 2) / 0.03)), 1).astype(np.int64)
Noises = tuple[LogConcaveNoise, LogConcaveNoise]


def variance(shares: FloatArray, counts: IntArray) -> float:
    mean = float(counts @ shares) / counts.sum()
    return float(counts @ (shares - mean) ** 2) / float(counts.sum())


def sums(shares: FloatArray, counts: IntArray) -> FloatArray:
    """Return the two sums for every row of counts."""
    return np.ascontiguousarray(counts @ np.stack([shares - 0.5, (shares - 0.5) ** 2], axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize(
    ("noises", "truth"),
    [
        ((Gaussian(1.2), Gaussian(0.7)), 0.078),
        ((Gaussian(12.0), Gaussian(7.0)), 0.078),  # answers are clipped
        ((Gaussian(4.0), Gaussian(3.0)), -0.01),
    ],
)
def test_it_is_the_average_over_all_samples(noises: Noises, truth: float, squared: bool) -> None:
    shares, counts, size = np.array([0.1, 0.35, 0.8, 0.9]), np.array([60, 50, 40, 1]), 75
    outcomes = FixedSize(size, int(counts.sum())).outcomes(counts, 100_000)
    assert outcomes is not None
    scales = noises[0].scale, noises[1].scale
    given = two_sums_errors(
        sums(shares, outcomes[0]), size, scales, truth, gaussian=True, squared=squared
    )  # fmt: skip
    assert given is not None
    expected = float(outcomes[1] @ given)
    found = sized_variance_error(shares, counts, size, noises, truth, squared=squared)
    # The other route is sure to 1e-10.
    assert abs(found.expected - expected) <= found.precision + 1e-10 * expected
    assert found.precision <= 1e-6 * expected


def drawn_moment(values: list[FloatArray], size: int) -> float:
    """Return the mean of a product of sums over a sample of fixed size, by sets of equal places."""
    number, total = len(values[0]), 0.0
    for places in partitions(list(range(len(values)))):
        chance = math.prod((size - k) / (number - k) for k in range(len(places)))
        # Sums over different records, from sums over any, by Möbius inversion.
        blocks = [np.prod([values[i] for i in block], axis=0) for block in places]
        distinct = 0.0
        for merged in partitions(list(range(len(blocks)))):
            term = 1.0
            for block in merged:
                sign = (-1) ** (len(block) - 1) * math.factorial(len(block) - 1)
                term *= sign * float(np.prod([blocks[i] for i in block], axis=0).sum())
            distinct += term
        total += chance * distinct
    return total


def partitions(items: list[int]) -> list[list[list[int]]]:
    if not items:
        return [[]]
    found = []
    for rest in partitions(items[1:]):
        found.append([[items[0]], *rest])
        for i in range(len(rest)):
            found.append([*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.3, 0.9])
@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_squared_errors_are_moments_of_a_finite_population(
    kind: type[LogConcaveNoise], rate: float
) -> None:
    size, truth = int(rate * BELL.sum()), variance(NORMAL, BELL) + 0.001
    noises: Noises = (kind(4.0), kind(2.5))
    found = sized_variance_error(NORMAL, BELL, size, noises, truth, squared=True)
    mean = float(BELL @ NORMAL) / BELL.sum()
    y = np.repeat(NORMAL - mean, BELL)
    q = y**2 - float((y**2).mean())
    # W = Q + mu + z - U²/m, where U has the first noise and z that of the squares and of U.
    mu = size * (float((y**2).mean()) - truth)
    shift, (v, w) = mean - 0.5, (noise.variance for noise in noises)
    fourth = (6 if kind is Laplace else 3) * v**2
    squares = drawn_moment([q, q], size) + mu**2 + w + 4 * shift**2 * v
    u = drawn_moment([y, y], size)
    both = drawn_moment([q, y, y], size) + mu * (u + v)
    u_4 = drawn_moment([y, y, y, y], size) + 6 * u * v + fourth
    expected = (squares - 2 * both / size + u_4 / size**2) / size**2
    # Clipping is a matter of the digits beyond.
    assert found.expected == pytest.approx(expected, rel=2e-9)
    assert found.precision <= 1e-6 * expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "epsilon"),
    [("laplace", 0.1), ("laplace", 1.0), ("gaussian", 1.0), ("gaussian", 10.0)],
)
def test_it_is_the_error_of_drawn_samples(noise: str, epsilon: float) -> None:
    size, truth = int(BELL.sum()) // 2, variance(NORMAL, BELL)
    promise = Guarantee(epsilon, 1e-6 if noise == "gaussian" else 0.0, "replace")
    first, second = NoisyVariance(noise).noises(promise)  # type: ignore[arg-type]
    found = sized_variance_error(NORMAL, BELL, size, (first, second), truth, squared=False)
    rng = np.random.default_rng(8)
    kept = rng.multivariate_hypergeometric(BELL, size, size=20_000)
    given = two_sums_errors(
        sums(NORMAL, kept), size, (first.scale, second.scale), truth,
        gaussian=noise == "gaussian", squared=False,
    )  # fmt: skip
    assert given is not None
    # Four standard errors, four times: a false alarm once in 4,000.
    assert abs(found.expected - given.mean()) <= 4 * given.std() / len(given) ** 0.5
    assert found.precision <= 1e-6 * found.expected


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["relative", "squared"])
def test_sampled_variances_of_adult_ages_are_exact_under_replace(metric: str) -> None:
    ages = read("adult", "age")
    for noise, delta in (("laplace", 0.0), ("gaussian", 1e-9)):
        setting = (
            ages,
            NoisyVariance(noise, metric),  # type: ignore[arg-type]
            Guarantee(1.0, delta, "replace"),
            FixedSizeSampling(ages.size // 10, ages.size),
        )
        error = expected_error(*setting)
        assert (error.method, error.high - error.low < 2e-6 * error.value) == ("exact", True)
        drawn = expected_error(*setting, "simulated", runs=20_000)
        # Twice the half-width of 95 %: a false alarm once in 10,000.
        assert abs(error.value - drawn.value) <= drawn.high - drawn.low


def test_what_it_cannot_do_is_refused() -> None:
    def ask(noise: LogConcaveNoise, values: FloatArray, counts: IntArray) -> None:
        size = int(counts.sum()) // 2
        sized_variance_error(as_array(values), counts, size, (noise, noise), 0.03, squared=False)

    with pytest.raises(NotExact, match="no noise"):
        ask(NoNoise(), NORMAL, BELL)
    with pytest.raises(NotExact, match="too narrow"):
        ask(Laplace(1e-6), NORMAL, BELL)
    with pytest.raises(NotExact, match=r"too wide|too narrow|not sure"):
        ask(Laplace(1e4), NORMAL, BELL)
    with pytest.raises(NotExact, match="too few different values"):
        ask(Laplace(1.0), np.array([0.0, 1.0]), np.array([7000, 3000]))


@pytest.mark.slow
@pytest.mark.parametrize("squared", [False, True])
def test_millions_of_records_err_as_fewer_do_with_less_noise(squared: bool) -> None:
    # 100 times as many of every value and 10 times the noise: a tenth of the distance, nearly.
    truth, many = variance(NORMAL, BELL), 100 * BELL
    noise = Gaussian(4.0), Gaussian(2.5)
    more = Gaussian(40.0), Gaussian(25.0)
    few = sized_variance_error(NORMAL, BELL, 6000, noise, truth, squared=squared)
    found = sized_variance_error(NORMAL, many, 600_000, more, truth, squared=squared)
    assert found.expected == pytest.approx(few.expected / (100 if squared else 10), rel=1e-3)
    assert found.precision <= 1e-6 * found.expected
