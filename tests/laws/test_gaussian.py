"""Exact calibration of the Gaussian mechanism, in high precision and against dp-accounting."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import Guarantee, InvalidInput
from omit.laws.noise import Gaussian

EPSILONS = (1e-6, 1e-4, 0.01, 0.25, 1.0, 5.0, 50.0)
DELTAS = (1e-300, 1e-100, 1e-30, 1e-12, 1e-9, 1e-5, 0.01, 0.5)


def high_precision_delta(scale: float, epsilon: float) -> mpmath.mpf:
    """Return Theorem 8 of Balle and Wang for sensitivity 1, with 60 digits."""
    with mpmath.workdps(60):
        s, e = mpmath.mpf(scale), mpmath.mpf(epsilon)
        return mpmath.ncdf(1 / (2 * s) - e * s) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s)


def test_delta_is_the_hockey_stick_divergence_of_two_shifted_normals() -> None:
    # The definition itself: the integral of p - e^epsilon q where it is positive.
    from scipy import integrate, stats

    for scale, epsilon in ((1.0, 1.0), (3.0, 0.2), (0.4, 4.0), (10.0, 0.0)):
        crossing = 0.5 + epsilon * scale**2
        expected, _ = integrate.quad(
            lambda x, s=scale, e=epsilon: (
                stats.norm.pdf(x, 1.0, s) - math.exp(e) * stats.norm.pdf(x, 0.0, s)
            ),
            crossing,
            crossing + 40 * scale,
            points=[crossing + scale, crossing + 3 * scale],
            epsabs=1e-15,
        )
        assert Gaussian(scale).precise_delta(epsilon, 1.0) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_scale_never_protects_less_than_promised(epsilon: float) -> None:
    excess = {}
    for delta in DELTAS:
        found = high_precision_delta(
            Gaussian.calibrated(Guarantee(epsilon, delta), 1.0).scale, epsilon
        )
        excess[delta] = float(found / mpmath.mpf(delta) - 1)
    assert {delta: over for delta, over in excess.items() if over > 0} == {}


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_scale_is_the_smallest_that_keeps_the_promise(epsilon: float) -> None:
    for delta in DELTAS:
        scale = Gaussian.calibrated(Guarantee(epsilon, delta), 1.0).scale
        assert high_precision_delta(scale * (1 - 1e-6), epsilon) > mpmath.mpf(delta)


@given(st.floats(-12, 4), st.floats(-690, -0.7), st.floats(-5, 5))
def test_calibration_is_the_inverse_of_delta_for_any_sensitivity(
    log_epsilon: float, log_delta: float, log_sensitivity: float
) -> None:
    wanted = Guarantee(math.exp(log_epsilon), math.exp(log_delta))
    sensitivity = math.exp(log_sensitivity)
    scale = Gaussian.calibrated(wanted, sensitivity).scale
    found = Gaussian(scale).precise_delta(wanted.epsilon, sensitivity)
    assert found == pytest.approx(wanted.delta, rel=1e-3)
    assert scale / sensitivity == pytest.approx(Gaussian.calibrated(wanted, 1.0).scale, rel=1e-12)


def test_the_scale_of_adult_is_the_tabulated_one() -> None:
    # THEORY, Section 6: 20.8250839 at epsilon = 1/4 and delta = n^-2.
    assert round(Gaussian.calibrated(Guarantee(0.25, 32_561**-2), 1.0).scale, 7) == 20.8250839


@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 1e-9), (1.0, 1e-5), (4.0, 1e-12)])
def test_dp_accounting_calibrates_to_the_same_scale(epsilon: float, delta: float) -> None:
    from dp_accounting.pld.common import DifferentialPrivacyParameters
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    scale = Gaussian.calibrated(Guarantee(epsilon, delta), 1.0).scale
    loss = GaussianPrivacyLoss(scale, sensitivity=1.0)
    assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)
    parameters = DifferentialPrivacyParameters(epsilon, delta)
    theirs = GaussianPrivacyLoss.from_privacy_guarantee(parameters)
    assert theirs.standard_deviation == pytest.approx(scale, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.4])
def test_at_epsilon_zero_delta_is_the_total_variation_distance(delta: float) -> None:
    scale = Gaussian.calibrated(Guarantee(0.0, delta), 1.0).scale
    with mpmath.workdps(40):
        distance = mpmath.erf(1 / (2 * mpmath.sqrt(2) * mpmath.mpf(scale)))
    assert float(distance) == pytest.approx(delta, rel=1e-9)


def test_gaussian_noise_reaches_no_pure_guarantee() -> None:
    with pytest.raises(InvalidInput, match="delta > 0; use Laplace"):
        Gaussian.calibrated(Guarantee(1.0), 1.0)


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.inf, math.nan])
def test_a_query_needs_a_positive_and_finite_sensitivity(sensitivity: float) -> None:
    with pytest.raises(InvalidInput, match="sensitivity"):
        Gaussian.calibrated(Guarantee(1.0, 1e-6), sensitivity)
