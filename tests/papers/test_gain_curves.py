"""The curves that decide when sampling can pay, against 60 digits and against the paper."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import FixedSizeSampling, Guarantee, InvalidInput
from omit.omissions.sampling import sampling_base_epsilon
from omit.papers.accuracy_gains.noise_curves import (
    largest_useful_variance,
    mean_noise_excess,
    mean_noise_ratio_as_published,
    noise_saving,
    rate_of_saving,
)

EPSILONS = st.floats(-12, 2).map(lambda exponent: 10.0**exponent)
RATES = st.one_of(st.floats(1e-6, 1.0), st.floats(1e-12, 1e-3).map(lambda rest: 1 - rest))


def _on_sample(epsilon: float, rate: float) -> mpmath.mpf:
    return mpmath.log1p(mpmath.expm1(mpmath.mpf(epsilon)) / mpmath.mpf(rate))


@given(EPSILONS, RATES)
def test_both_curves_keep_all_digits(epsilon: float, rate: float) -> None:
    with mpmath.workdps(60):
        base = _on_sample(epsilon, rate)
        q = 1 - (mpmath.mpf(epsilon) / base) ** 2
        r = (mpmath.mpf(rate) * base / mpmath.mpf(epsilon)) ** 2
        excess = float(1 - r)
        saving = float(q)
    assert float(noise_saving(epsilon, rate)) == pytest.approx(saving, rel=1e-12, abs=0)
    # Where the rate is 1 but for rounding, 1 - rate itself has few digits: none of them are lost.
    assert float(mean_noise_excess(epsilon, rate)) == pytest.approx(excess, rel=1e-11, abs=0)


@given(EPSILONS, st.floats(1e-6, 0.999))
def test_the_laplace_noise_of_a_samples_mean_is_always_larger(epsilon: float, rate: float) -> None:
    assert 0 < float(mean_noise_excess(epsilon, rate)) < 1


def test_the_papers_scalars() -> None:
    assert float(sampling_base_epsilon(1.0, 0.01)) == pytest.approx(5.15229793824, abs=5e-12)
    assert float(sampling_base_epsilon(0.1, 101 / 10_001)) == pytest.approx(
        2.43484097717, abs=5e-12
    )
    assert float(sampling_base_epsilon(1.0, 101 / 10_001)) == pytest.approx(
        5.14250487735, abs=5e-12
    )
    base = FixedSizeSampling(size=101, population=10_001).calibrate(Guarantee(1.0, 0.0, "replace"))
    assert isinstance(base, Guarantee)
    assert base.epsilon == pytest.approx(5.14250487735, abs=5e-12)
    assert 100 * rate_of_saving(0.6, 3.0) == pytest.approx(16.7673157, abs=5e-8)
    assert 100 * rate_of_saving(0.6, 0.1) == pytest.approx(61.3959002, abs=5e-8)


@given(st.floats(0.01, 0.99), EPSILONS)
def test_the_rate_of_a_saving_is_the_inverse(saving: float, epsilon: float) -> None:
    rate = rate_of_saving(saving, epsilon)
    if rate > 1e-300:
        assert float(noise_saving(epsilon, rate)) == pytest.approx(saving, rel=1e-9)


def test_figure_5_is_rounding() -> None:
    # Just below sqrt(2^-52 / (N/n - 1)) the published formula exceeds 1 for some epsilon; the
    # ratio itself never does.
    for rate in (1e-4, 1e-2, 0.1, 0.5):
        edge = np.sqrt(2.0**-52 / (1 / rate - 1))
        below = edge * np.geomspace(0.01, 1, 400)
        assert (mean_noise_ratio_as_published(below, rate) > 1).any()
        assert (mean_noise_ratio_as_published(30 * edge, rate) < 1).all()
        assert (mean_noise_excess(below, rate) > 0).all()


def test_a_sampling_variance_beyond_the_saving_cannot_be_made_up_for() -> None:
    epsilon, rate, sensitivity = 0.7, 0.2, 3.0
    limit = largest_useful_variance(sensitivity, epsilon, rate)
    base = float(sampling_base_epsilon(epsilon, rate))
    all_records = 2 * (sensitivity / epsilon) ** 2
    assert limit + 2 * (sensitivity / base) ** 2 == pytest.approx(all_records)


def test_what_is_no_rate_no_epsilon_and_no_saving_is_refused() -> None:
    with pytest.raises(InvalidInput, match="above 0"):
        noise_saving(0.0, 0.5)
    with pytest.raises(InvalidInput, match="every rate"):
        mean_noise_excess(1.0, 0.0)
    with pytest.raises(InvalidInput, match="saving"):
        rate_of_saving(1.0, 1.0)
