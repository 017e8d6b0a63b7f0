"""The building blocks keep their digits where the textbook forms lose them."""

from __future__ import annotations

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from omit._numeric import expm1_ratio, log_mix, log_unmix

epsilons = st.one_of(
    st.floats(1e-15, 1e-6), st.floats(1e-3, 50), st.floats(50, 2000), st.just(700.0)
)
weights = st.one_of(st.floats(1e-9, 1), st.floats(1e-12, 1e-9).map(lambda tiny: 1 - tiny))
smallest = st.floats(5e-324, 1e-300)

mpmath.mp.dps = 60


@given(epsilons | st.floats(2000, 1e6), weights | smallest)
@example(2000.0, 5e-324)
def test_the_loss_of_a_mixture_is_exact(epsilon: float, weight: float) -> None:
    exact = mpmath.log1p(mpmath.expm1(mpmath.mpf(epsilon)) * weight)
    assert float(log_mix(epsilon, weight)) == pytest.approx(float(exact), rel=1e-13)


@given(epsilons, weights)
def test_unmixing_is_exact(loss: float, weight: float) -> None:
    exact = mpmath.log1p(mpmath.expm1(mpmath.mpf(loss)) / weight)
    assert float(log_unmix(loss, weight)) == pytest.approx(float(exact), rel=1e-13)


@given(epsilons, st.floats(0.1, 1.2))
def test_the_ratio_of_the_shift_rule_is_exact(epsilon: float, factor: float) -> None:
    after = epsilon * factor
    exact = mpmath.expm1(mpmath.mpf(after)) / mpmath.expm1(mpmath.mpf(epsilon))
    assert float(expm1_ratio(after, epsilon)) == pytest.approx(float(exact), rel=1e-12)


def test_the_ends_of_the_weights_are_exact() -> None:
    assert [float(log_mix(800.0, weight)) for weight in (0.0, 1.0)] == [0.0, 800.0]
