"""Noise on whole numbers: deltas and scales against sums of 40 digits over all whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from omit import Guarantee
from omit.laws.discrete import DiscreteGaussian, Geometric


def delta_by_sum(exponent: Callable[[int], mpmath.mpf], epsilon: float, shift: int) -> float:
    """Return `Σ (P(k) - e^epsilon P(k - shift))⁺` for `P` proportional to `e^-exponent`."""
    with mpmath.workdps(40):
        law = {k: mpmath.exp(-exponent(k)) for k in range(-900, 901)}
        growth = mpmath.exp(epsilon)
        above = (law[k] - growth * law[k - shift] for k in range(-900 + shift, 901))
        total = mpmath.fsum(law.values())
        return float(mpmath.fsum(term for term in above if term > 0) / total)


# THEORY, Section 8.1, to all printed digits.
@pytest.mark.parametrize(
    ("scale", "epsilon", "shift", "printed"),
    [
        (1, 0, 1, ".46211715726"),
        (1, 0.5, 1, ".287649136645"),
        (4, 0.1, 1, ".0783067024147"),
        (10, 0.05, 3, ".118329620365"),
        (2.5, 0.25, 5, ".588141663629"),
    ],
)
def test_geometric_noise_has_the_tabulated_deltas(
    scale: float, epsilon: float, shift: int, printed: str
) -> None:
    by_sum = delta_by_sum(lambda k: abs(k) / mpmath.mpf(scale), epsilon, shift)
    half_a_digit = 0.5 * 10.0 ** (1 - len(printed))
    assert abs(by_sum - float(printed)) <= half_a_digit
    delta = float(Geometric(scale).delta(epsilon, shift))
    assert by_sum <= delta <= by_sum * (1 + 1e-11)


@pytest.mark.parametrize(
    ("square", "epsilon", "shift", "printed"),
    [
        (1, 1, 1, ".141351339406"),
        (4, 0.5, 1, ".0540072236942"),
        (4, 1, 2, ".119611605352"),
        (17.5, 0.25, 1, ".0204821764838"),
        (100, 0.5, 3, ".00756725523843"),
    ],
)
def test_discrete_gaussian_noise_has_the_tabulated_deltas(
    square: float, epsilon: float, shift: int, printed: str
) -> None:
    by_sum = delta_by_sum(lambda k: mpmath.mpf(k) ** 2 / (2 * square), epsilon, shift)
    half_a_digit = 0.5 * 10.0 ** (1 - len(printed))
    assert abs(by_sum - float(printed)) <= half_a_digit
    delta = float(DiscreteGaussian(square=square).delta(epsilon, shift))
    assert by_sum <= delta <= by_sum * (1 + 1e-11)


@pytest.mark.parametrize(
    ("epsilon", "delta", "printed"),
    [
        (1, 1e-6, "17.8994897723"),
        (0.5, 1e-6, "64.8423834072"),
        (0.1, 1e-6, "1318.07402026"),
        (3, 1e-6, "2.43982758226"),
        (1, 1e-9, "30.2482099619"),
    ],
)
def test_discrete_gaussian_noise_is_calibrated_to_the_tabulated_squares(
    epsilon: float, delta: float, printed: str
) -> None:
    square = DiscreteGaussian.calibrated(Guarantee(epsilon, delta), 1).square
    assert float(square) == pytest.approx(float(printed), rel=1e-9)

    def reached(scaled: Fraction) -> float:
        return delta_by_sum(lambda k: mpmath.mpf(k) ** 2 / (2 * float(scaled)), epsilon, 1)

    assert reached(square) <= delta < reached(square * Fraction(999_999, 1_000_000))
