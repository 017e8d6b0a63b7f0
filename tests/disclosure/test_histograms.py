"""Noisy histograms against other libraries and summation."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy import integrate, stats

from omit.disclosure.histograms import (
    DiscreteGaussianHistogram,
    GeometricHistogram,
    LaplaceHistogram,
)
from omit.disclosure.protection import ExactDelta, Protection
from omit.disclosure.table import Attribute, CountTable
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.laws.discrete import DiscreteGaussian
from tests.disclosure.enumeration import hockey_stick, product

COUNTS = [0, 1, 2, 5, 40]
TABLE = CountTable((Attribute("kind", tuple("abcde")),), np.array(COUNTS))


@pytest.mark.parametrize("at", [0.0, 0.2, 0.7, 1.0, 1.5])
def test_the_delta_of_laplace_is_that_of_composing_both_cells(at: float) -> None:
    cell = privacy_loss_distribution.from_laplace_mechanism(
        2.0, sensitivity=1, value_discretization_interval=1e-4
    )
    other = cell.compose(cell).get_delta_for_epsilon(at)
    assert LaplaceHistogram(1.0).exact_delta(at).delta == pytest.approx(other, abs=2e-8)


@pytest.mark.parametrize("at", [0.0, 0.4, 0.8, 1.2])
def test_the_delta_of_geometric_noise_is_that_of_all_answers(at: float) -> None:
    r = math.exp(-0.4)

    def law(x: int) -> dict[object, float]:
        return {x + z: (1 - r) / (1 + r) * r ** abs(z) for z in range(-90, 91)}

    listed = hockey_stick(product([law(1), law(0)]), product([law(0), law(1)]), at)
    assert GeometricHistogram(0.8).exact_delta(at).delta == pytest.approx(listed, abs=1e-12)


@pytest.mark.parametrize("variance", [0.3, 1.0, 7.5])
@pytest.mark.parametrize("at", [0.0, 0.5, 2.0])
def test_the_delta_of_discrete_gaussian_noise_is_that_of_all_answers(
    variance: float, at: float
) -> None:
    weights = {z: math.exp(-(z**2) / (2 * variance)) for z in range(-45, 46)}
    total = math.fsum(weights.values())

    def law(x: int) -> dict[object, float]:
        return {x + z: weight / total for z, weight in weights.items()}

    listed = hockey_stick(product([law(1), law(0)]), product([law(0), law(1)]), at)
    exact = DiscreteGaussianHistogram(Fraction(variance), 1.0).exact_delta(at).delta
    assert exact == pytest.approx(listed, rel=1e-9)
    assert exact >= listed * (1 - 1e-14), "what is printed is never below what is lost"


def delta_in_60_digits(variance: Fraction, epsilon: float) -> mpmath.mpf:
    """Return the delta of two cells with discrete Gaussian noise, from the definition."""
    with mpmath.workdps(60):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        reach = int(20 * mpmath.sqrt(v)) + 3
        weights = [mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * v)) for z in range(-reach, reach + 1)]
        total = mpmath.fsum(weights)
        parts = []
        for d in range(-2 * reach, 2 * reach + 1):
            loss = (d + 1) / v
            if loss > epsilon:
                both = zip(weights[max(0, -d) :], weights[max(0, d) :], strict=False)
                probability = mpmath.fsum(a * b for a, b in both) / total**2
                parts.append(-probability * mpmath.expm1(epsilon - loss))
        return mpmath.fsum(parts)


@pytest.mark.parametrize(
    ("variance", "epsilon"),
    [
        (0.009820720420094547, 101.8255237114644),
        (0.023534261880643715, 42.49124128352088),
        (0.011762456464196167, 85.016255154177),
        (0.3, 2.5),
        (7.5, 0.5),
    ],
)
def test_a_delta_of_little_noise_is_never_below_60_digits(variance: float, epsilon: float) -> None:
    """The first three have 1/variance next to epsilon: their difference is rounding."""
    exact = DiscreteGaussianHistogram(Fraction(variance), 1.0).exact_delta(epsilon).delta
    truth = delta_in_60_digits(Fraction(variance), epsilon)
    assert truth <= exact <= truth * (1 + 1e-11) + 1e-12


@pytest.mark.parametrize("kind", [LaplaceHistogram, GeometricHistogram])
def test_deltas_of_pure_noise_are_never_below_60_digits(
    kind: type[LaplaceHistogram | GeometricHistogram],
) -> None:
    for epsilon, share in np.random.default_rng(1).uniform((1e-3, 0), (9, 1), (200, 2)):
        at = float(epsilon * share)
        with mpmath.workdps(60):
            a = mpmath.mpf(epsilon) - mpmath.mpf(at)
            if kind is LaplaceHistogram:
                truth = 1 - mpmath.exp(-a / 2) * (1 + a / 4)
            else:
                truth = -mpmath.expm1(-a) / (1 + mpmath.exp(-mpmath.mpf(epsilon) / 2)) ** 2
            assert truth <= kind(float(epsilon)).exact_delta(at).delta <= truth * (1 + 1e-14)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-3), (4.0, 1e-9), (1.0, 0.5)])
def test_calibrated_noise_reaches_its_guarantee_and_hardly_more(
    epsilon: float, delta: float
) -> None:
    noisy = DiscreteGaussianHistogram.calibrated(Guarantee(epsilon, delta, "replace"))
    assert noisy.exact_delta(epsilon).delta <= delta
    assert delta_in_60_digits(noisy.variance, epsilon) <= delta
    less = DiscreteGaussianHistogram(noisy.variance * Fraction(999, 1000), epsilon)
    assert less.exact_delta(epsilon).delta > delta


def test_laplace_errors_are_integrals_over_the_noise() -> None:
    errors = LaplaceHistogram(0.7).errors(TABLE)
    noise = stats.laplace(scale=2 / 0.7)
    for place, x in enumerate(COUNTS):

        def moment(power: float, x: int = x) -> float:
            return math.fsum(
                integrate.quad(
                    lambda z: (
                        abs(max(0.0, x + z) - x) ** power
                        * (1.0 if power != 1 or z > 0 else -1.0)
                        * noise.pdf(z)
                    ),
                    low,
                    high,
                )[0]
                for low, high in ((-160, -x), (-x, 0), (0, 160))
            )

        bias, square = moment(1), moment(2)
        assert errors.bias[place] == pytest.approx(bias, abs=1e-8)
        assert errors.variance[place] == pytest.approx(square - bias**2, abs=1e-6)
        absolute = sum(
            integrate.quad(lambda z, x=x: abs(max(0.0, x + z) - x) * noise.pdf(z), low, high)[0]
            for low, high in ((-160, -x), (-x, 0), (0, 160))
        )
        assert errors.absolute[place] == pytest.approx(absolute, abs=1e-8)
        assert errors.bias[place] == pytest.approx(math.exp(-0.7 * x / 2) / 0.7)


@pytest.mark.parametrize("kind", ["geometric", "discrete Gaussian"])
def test_errors_of_whole_noise_are_sums_over_it(kind: str) -> None:
    z = np.arange(-400, 401)
    mechanism: Protection
    if kind == "geometric":
        mechanism, r = GeometricHistogram(0.5), math.exp(-0.25)
        law = (1 - r) / (1 + r) * r ** np.abs(z)
    else:
        mechanism = DiscreteGaussianHistogram(Fraction(29, 4), 1.0)
        law = np.exp(-(z**2) / 14.5)
        law /= law.sum()
    errors = mechanism.errors(TABLE)
    for place, x in enumerate(COUNTS):
        shown = np.maximum(0, x + z)
        mean = shown @ law
        assert errors.bias[place] == pytest.approx(mean - x, abs=1e-10)
        assert errors.variance[place] == pytest.approx((shown - mean) ** 2 @ law, rel=1e-9)
        assert errors.absolute[place] == pytest.approx(np.abs(shown - x) @ law, rel=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        LaplaceHistogram(0.5),
        GeometricHistogram(0.5),
        DiscreteGaussianHistogram(Fraction(9), 1.0),
    ],
)
def test_draws_have_the_closed_form_errors(mechanism: Protection) -> None:
    """False alarms: 10 comparisons at 5 standard errors, below 1e-5."""
    runs = 40_000
    draws = mechanism.simulate(TABLE, np.random.default_rng(1), runs) - TABLE.flat
    errors = mechanism.errors(TABLE)
    assert (draws >= -TABLE.flat).all()
    assert (np.abs(draws.mean(axis=0) - errors.bias) <= 5 * np.sqrt(errors.variance / runs)).all()
    distance = np.abs(draws)
    assert (
        np.abs(distance.mean(axis=0) - errors.absolute)
        <= 5 * distance.std(axis=0) / math.sqrt(runs)
    ).all()


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_discrete_gaussian_draws_have_their_law(exact: bool) -> None:
    """A chi-square test at level 1e-5."""
    rng, variance, runs = np.random.default_rng(5), Fraction(7, 2), 20_000
    if exact:
        draws = np.array([DiscreteGaussian(square=variance).draw_exactly(rng) for _ in range(runs)])
    else:
        draws = DiscreteGaussian(square=variance).draw(rng, (runs,))
    law = DiscreteGaussian(square=3.5).half_pmf()
    inner = np.arange(-5, 6)
    expected = law[np.abs(inner)] * runs
    observed = np.array([(draws == z).sum() for z in inner])
    expected = np.append(expected, runs - expected.sum())
    observed = np.append(observed, runs - observed.sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-5


def test_a_discrete_gaussian_release_is_drawn_by_the_exact_sampler() -> None:
    mechanism = DiscreteGaussianHistogram(Fraction(9), 1.0)
    released = mechanism.draw(TABLE, np.random.default_rng(2), runs=30)
    rng = np.random.default_rng(2)
    noise = [DiscreteGaussian(square=Fraction(9)).draw_exactly(rng) for _ in range(150)]
    expected = np.maximum(0, np.array(noise).reshape(30, 5) + TABLE.flat)
    assert (released == expected).all()


def test_a_delta_is_at_most_one() -> None:
    """Of hardly any noise, a sum that rounding carries above 1."""
    for variance in (Fraction(1, 10**4), Fraction(1, 50)):
        assert DiscreteGaussianHistogram(variance, 1.0).exact_delta(1.0).delta <= 1
    assert ExactDelta.of_delta(1.0, 1.0 + 1e-12).delta == 1


def test_noise_that_is_too_large_to_compute_with_is_refused() -> None:
    for kind in (LaplaceHistogram, GeometricHistogram):
        with pytest.raises(InvalidInput, match="too large to compute with"):
            kind(1e-300)
        errors = kind(1e-12).errors(TABLE)
        assert np.isfinite(errors.variance).all()
        assert np.isfinite(kind(1e-12).draw(TABLE, np.random.default_rng(0), 100)).all()


def test_no_noise_reaches_epsilon_zero_and_gaussian_noise_needs_delta() -> None:
    for kind in (LaplaceHistogram, GeometricHistogram):
        with pytest.raises(InvalidInput, match="above 0"):
            kind(0.0)
    with pytest.raises(InvalidInput, match="delta > 0"):
        DiscreteGaussianHistogram.calibrated(Guarantee(1.0, 0.0, "replace"))
    with pytest.raises(InvalidInput, match="too large to compute"):
        DiscreteGaussianHistogram.calibrated(Guarantee(1e-9, 1e-6, "replace"))
    with pytest.raises(InvalidInput, match="variance"):
        DiscreteGaussianHistogram(Fraction(0))


def test_the_noise_that_is_named_is_no_less_than_what_is_needed() -> None:
    for epsilon in (0.3, 1.0, 2.7):
        noisy = DiscreteGaussianHistogram.calibrated(Guarantee(epsilon, 1e-6, "replace"))
        named = float(str(noisy).rsplit(" ", 1)[1])
        assert DiscreteGaussianHistogram(Fraction(named)).exact_delta(epsilon).delta <= 1e-6
