"""What holds for every omission, built in or written by a user."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from omit import (
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoGuarantee,
    NoNoiseNeeded,
    NoOmission,
    Omission,
    OutlierScoreSuppression,
    PoissonSampling,
    RuleSuppression,
    Statement,
    Unattainable,
)
from omit._numeric import FloatArray, as_array
from omit.omissions import StableSuppression

rates = st.floats(1e-6, 1)
ordered = st.tuples(st.floats(0.001, 0.999), st.floats(0.001, 0.999)).map(sorted)


def scores(bound: str) -> st.SearchStrategy[Omission]:
    return ordered.map(lambda mM: OutlierScoreSuppression(mM[0], mM[1], bound=bound))  # type: ignore[arg-type]


omissions = st.one_of(
    st.just(NoOmission()),
    rates.map(lambda rate: PoissonSampling(rate=rate)),
    st.integers(1, 100).map(lambda size: FixedSizeSampling(size=size, population=100)),
    st.just(RuleSuppression()),
    st.integers(1, 5).map(StableSuppression),
    scores("mixture"),
    scores("published"),
)


@dataclass(frozen=True)
class SquareRootSuppression(Omission):
    """A user's own: states one function and nothing else."""

    def epsilon_after(self, epsilon: ArrayLike) -> FloatArray:
        return as_array(epsilon) / 2 + as_array(epsilon) ** 2


@given(omissions, st.floats(0, 10), st.floats(0, 0.3))
def test_calibration_is_the_inverse_of_amplification(
    omission: Omission, epsilon: float, delta: float
) -> None:
    target = Guarantee(epsilon, delta, omission.relations[0])
    try:
        base = omission.calibrate(target)
    except Unattainable:
        assert float(omission.epsilon_after(0.0)) > 0
        return
    if isinstance(base, NoNoiseNeeded):
        return
    again = omission.amplify(base)
    assert isinstance(again, Statement)
    assert again.epsilon == pytest.approx(epsilon, rel=1e-9, abs=1e-300)
    assert again.delta == pytest.approx(delta, rel=1e-9, abs=1e-300)
    # Rounding never costs privacy.
    assert again.epsilon <= epsilon
    assert again.delta <= delta


@given(omissions, st.floats(1e-9, 10))
def test_amplification_never_goes_below_proposition_b_8(omission: Omission, epsilon: float) -> None:
    base = Guarantee(epsilon, 1e-6, omission.relations[0])
    released = omission.amplify(base)
    if isinstance(released, NoGuarantee):
        return
    floor = omission.lower_bound(base)
    assert released.epsilon >= floor.epsilon * (1 - 1e-12)
    assert released.delta >= floor.delta * (1 - 1e-12)


@given(omissions, st.lists(st.floats(0, 20), min_size=2, max_size=6))
def test_more_noise_never_makes_the_release_less_private(
    omission: Omission, epsilons: list[float]
) -> None:
    after = omission.epsilon_after(np.sort(epsilons))
    assert (np.diff(after) >= -1e-12 * np.maximum(1, after[1:])).all()


@given(omissions, st.floats(0.01, 5))
def test_many_epsilons_at_once_are_the_same_as_one_by_one(
    omission: Omission, epsilon: float
) -> None:
    together = omission.epsilon_after([epsilon, 2 * epsilon])
    assert together[0] == float(omission.epsilon_after(epsilon))


@pytest.mark.parametrize("epsilon", [1e-12, 700.0])
def test_extreme_epsilons_are_calibrated_and_amplified_back(epsilon: float) -> None:
    for omission in (
        PoissonSampling(rate=1e-3),
        OutlierScoreSuppression(0.1, 0.2),
        OutlierScoreSuppression(0.7, 0.9),
        StableSuppression(3),
    ):
        base = omission.calibrate(Guarantee(epsilon))
        assert isinstance(base, Guarantee)
        assert float(omission.epsilon_after(base.epsilon)) == pytest.approx(epsilon, rel=1e-12)


def test_a_mechanism_with_delta_only_keeps_epsilon_zero() -> None:
    for omission, delta in (
        (PoissonSampling(rate=0.1), 0.01),
        (StableSuppression(3), 0.3),
        (OutlierScoreSuppression(0.5, 0.9), 0.05),
    ):
        released = omission.amplify(Guarantee(0.0, 0.1))
        assert isinstance(released, Statement)
        assert released.epsilon == 0
        assert released.delta == pytest.approx(delta, rel=1e-14)
    assert PoissonSampling(rate=0.5).calibrate(Guarantee(0.0, 0.1)) == Guarantee(0.0, 0.2)


def test_an_omission_of_ones_own_is_one_class_with_one_function() -> None:
    omission = SquareRootSuppression()
    released = omission.amplify(Guarantee(0.4, 1e-6))
    assert isinstance(released, Statement)
    assert released.epsilon == pytest.approx(0.36)
    assert released.delta == pytest.approx(1e-6 * np.expm1(0.36) / np.expm1(0.4))
    base = omission.calibrate(Guarantee(0.36, 1e-6))
    assert isinstance(base, Guarantee)
    assert base.epsilon == pytest.approx(0.4)
    # Its slope at zero is not stated, so a (0, delta)-DP mechanism counts as almost that.
    almost = omission.amplify(Guarantee(0.0, 1e-3))
    assert isinstance(almost, Statement)
    assert 0 < almost.epsilon < 1e-8
    assert almost.delta == pytest.approx(5e-4)


def test_a_bound_beyond_all_numbers_is_no_guarantee() -> None:
    assert isinstance(OutlierScoreSuppression(0.0, 1.0).amplify(Guarantee(800.0)), NoGuarantee)
    assert isinstance(StableSuppression(5).amplify(Guarantee(2.0, 0.01)), NoGuarantee)


def test_what_is_too_small_for_a_number_is_not_called_nothing() -> None:
    tiny = PoissonSampling(rate=1e-30).amplify(Guarantee(1e-300, 0.5))
    assert isinstance(tiny, Statement)
    assert tiny.epsilon > 0
    assert tiny.delta == pytest.approx(5e-31)
    scores = OutlierScoreSuppression(0.2, 0.6).amplify(Guarantee(5e-324, 1e-5))
    assert isinstance(scores, Statement)
    assert scores.delta == pytest.approx(8e-6)
    for epsilon, m, M in ((1e-320, 0.99, 1.0), (0.5, 0.99, 1.0), (79.8, 1 - 1e-9, 1 - 1e-9)):
        least = OutlierScoreSuppression(m, M).amplify(Guarantee(epsilon, 5e-324))
        assert isinstance(least, Statement)
        assert 0 < least.delta <= 1e-323


@pytest.mark.parametrize("target", [5e-324, 1e-320, 1e-310, 1e-300])
def test_the_tiniest_targets_are_reached_from_below(target: float) -> None:
    for omission in (PoissonSampling(0.01), PoissonSampling(1e-6), NoOmission()):
        base = omission.calibrate(Guarantee(target))
        assert isinstance(base, Guarantee)
        again = omission.amplify(base)
        assert isinstance(again, Statement)
        assert again.epsilon <= target
        assert base.epsilon > 0 or target == 5e-324


def test_a_tiny_rate_still_needs_noise() -> None:
    for rate, target in ((1e-310, 1.0), (1e-300, 39.0)):
        base = PoissonSampling(rate=rate).calibrate(Guarantee(target))
        assert isinstance(base, Guarantee)
        assert base.epsilon == pytest.approx(np.log(np.expm1(target)) - np.log(rate))


def test_no_noise_is_needed_exactly_from_the_factor_of_delta_on() -> None:
    sampling = PoissonSampling(rate=0.25)
    assert isinstance(sampling.calibrate(Guarantee(1.0, 0.25)), NoNoiseNeeded)
    almost = sampling.calibrate(Guarantee(1.0, 0.2499))
    assert isinstance(almost, Guarantee)
    assert almost.delta == pytest.approx(0.9996)


def test_keeping_everything_keeps_delta_even_without_epsilon() -> None:
    assert NoOmission().amplify(Guarantee(0.0, 0.1)) == Statement(0.0, 0.1)


def test_the_floor_of_delta_is_that_of_poisson_sampling() -> None:
    floor = OutlierScoreSuppression(0.3, 0.6).lower_bound(Guarantee(1.0, 1e-3))
    assert floor.delta == pytest.approx(0.7e-3)


@pytest.mark.parametrize("nonsense", [1.0, None, "much"])
def test_only_guarantees_are_amplified_and_calibrated(nonsense: object) -> None:
    for omission in (NoOmission(), PoissonSampling(rate=0.1)):
        with pytest.raises(InvalidInput, match="Expected a guarantee"):
            omission.amplify(nonsense)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="Expected a guarantee"):
            omission.calibrate(nonsense)  # type: ignore[arg-type]


@given(st.floats(5e-324, 1) | rates, st.floats(1e-9, 2000), st.floats(1e-300, 0.99))
@example(1e-18, 41.5, 0.5)
@example(1e-300, 691.0, 0.5)
@example(1e-300, 705.0, 0.5)
@example(1e-300, 1500.0, 0.5)
@example(1e-310, 1500.0, 0.5)
def test_what_is_stated_for_a_sample_is_never_below_the_truth(
    rate: float, epsilon: float, delta: float
) -> None:
    released = PoissonSampling(rate=rate).amplify(Guarantee(epsilon, delta))
    assert isinstance(released, Statement)
    with mpmath.workdps(150):
        true = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(epsilon)))
        assert true <= released.epsilon <= true * (1 + mpmath.mpf(10) ** -14) + 1e-323
    assert Fraction(rate) * Fraction(delta) <= Fraction(released.delta)


def test_a_suppression_that_costs_the_least_bit_of_epsilon_costs_delta_as_well() -> None:
    # At m = 0 the bound is above epsilon, by its square, and so is the factor of delta above 1.
    released = OutlierScoreSuppression(0.0, 0.5).amplify(Guarantee(1e-200, 0.25))
    assert isinstance(released, Statement)
    assert released.epsilon > 1e-200
    assert released.delta > 0.25


@given(ordered, st.floats(1e-6, 50))
def test_what_is_stated_for_outlier_scores_is_never_below_the_truth(
    mM: list[float], epsilon: float
) -> None:
    released = OutlierScoreSuppression(mM[0], mM[1]).amplify(Guarantee(epsilon, 1e-100))
    if isinstance(released, NoGuarantee):
        return
    with mpmath.workdps(150):
        m, M = map(mpmath.mpf, mM)
        E = mpmath.exp(mpmath.mpf(epsilon))
        x, b, A, B = 1 + (E - 1) * m, E - (E - 1) * M, E - (E - 1) * m, (E - 1) * (M - m)
        c = 2 / x - 1 / b
        a = mpmath.mpf(1)
        if m + M > 1:
            a = min(max((A - 1 / c) / B, mpmath.mpf("0.5")), a) if c > 0 < B else mpmath.mpf("0.5")
        true = mpmath.log(A - B * a) + (1 - a) * B / b + (2 * a - 1) * B / x
        assert true <= released.epsilon <= true * (1 + mpmath.mpf(10) ** -13)
        assert mpmath.mpf(1e-100) * mpmath.expm1(true) / (E - 1) <= released.delta


@pytest.mark.parametrize("population", [3, 97, 10**6 + 3, 2**53 + 1])
def test_the_share_of_a_sample_is_not_rounded_down(population: int) -> None:
    for size in (1, 2, population - 1):
        released = FixedSizeSampling(size, population).amplify(Guarantee(1.0, 0.5, "replace"))
        assert isinstance(released, Statement)
        assert Fraction(size, population) / 2 <= Fraction(released.delta)
        with mpmath.workdps(60):
            assert mpmath.log1p(mpmath.mpf(size) / population * mpmath.expm1(1)) <= released.epsilon
