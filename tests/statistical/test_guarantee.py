"""A statistical guarantee is a type of its own."""

from __future__ import annotations

import numpy as np
import pytest

import omit
from omit.errors import InvalidInput
from omit.guarantee import Guarantee, NoGuarantee
from omit.laws.noise import Gaussian
from omit.statistical.curve import PrivacyCurve, StatisticalGuarantee, bounded_curve
from omit.statistical.properties import property_curve

OURS = StatisticalGuarantee(0.1, 0.01, "fair coins")


def test_it_is_not_a_dp_guarantee_in_any_sense() -> None:
    assert not isinstance(OURS, Guarantee)
    assert Guarantee(0.1, 0.01).__eq__(OURS) is NotImplemented
    assert "DP" not in str(OURS)
    assert not hasattr(OURS, "neighbours")


def test_nothing_that_asks_for_a_dp_guarantee_takes_it() -> None:
    dp = Guarantee(0.1, 0.01)
    ages = omit.Column.from_values([1, 2, 3], bounds=(0, 5))
    for attempt in (
        lambda: dp.implies(OURS),  # type: ignore[arg-type]
        lambda: omit.ALL_RECORDS.charge(OURS),  # type: ignore[arg-type]
        lambda: omit.compose(omit.ALL_RECORDS.charge(dp), OURS),  # type: ignore[arg-type]
        lambda: omit.PoissonSampling(0.5).amplify(OURS),  # type: ignore[arg-type]
        lambda: omit.PoissonSampling(0.5).calibrate(OURS),  # type: ignore[arg-type]
        lambda: omit.NoOmission().amplify(OURS),  # type: ignore[arg-type]
        lambda: Gaussian.calibrated(OURS, 1.0).scale,  # type: ignore[arg-type]
        lambda: omit.NoisyMean("gaussian").quotient(OURS, (0, 1)),  # type: ignore[arg-type]
        lambda: omit.expected_error(ages, omit.NoisyMode(), OURS),  # type: ignore[arg-type]
        lambda: omit.expected_error(ages, omit.NoisyMean(), OURS),  # type: ignore[arg-type]
        lambda: omit.compare(ages, omit.NoisyMean(), OURS),  # type: ignore[call-overload]
    ):
        with pytest.raises(InvalidInput):
            attempt()


def test_it_takes_no_dp_guarantee_and_no_other_assumption() -> None:
    with pytest.raises(InvalidInput, match="only be compared with statistical"):
        OURS.implies(Guarantee(0.1, 0.01))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="different assumptions"):
        OURS.implies(StatisticalGuarantee(0.1, 0.01, "loaded coins"))
    assert OURS.implies(StatisticalGuarantee(0.1, 0.02, "fair coins"))
    assert not OURS.implies(StatisticalGuarantee(0.05, 0.02, "fair coins"))


@pytest.mark.parametrize(
    ("epsilon", "delta", "assumption"),
    [(-1, 0.1, "x"), (0.1, 1.0, "x"), (0.1, -0.1, "x"), (0.1, 0.1, " ")],
)
def test_what_promises_nothing_is_refused(epsilon: float, delta: float, assumption: str) -> None:
    with pytest.raises(InvalidInput):
        StatisticalGuarantee(epsilon, delta, assumption)


def test_between_two_points_of_a_curve_the_one_before_promises() -> None:
    curve = property_curve(100, 0.5, [0.1, 0.2])
    found = curve.guarantee(0.15)
    assert isinstance(found, StatisticalGuarantee)
    assert (found.epsilon, found.delta) == (0.15, curve.delta[0])
    with pytest.raises(InvalidInput, match=r"at least 0\.1"):
        curve.guarantee(0.05)


def test_a_delta_of_one_promises_nothing_and_a_simulation_neither() -> None:
    assert isinstance(property_curve(5, 0.5, [0.1], known=4).guarantee(0.1), NoGuarantee)
    one = np.array([0.5])
    simulated = PrivacyCurve(one, one, one, (), "simulated", "x", confidence=0.99)
    with pytest.raises(InvalidInput, match="promises nothing"):
        simulated.guarantee(0.5)


def test_a_delta_below_the_smallest_float_is_not_called_zero() -> None:
    curve = property_curve(10**6, 0.5, [0.5])
    assert 0 < curve.delta[0] < 1e-322
    assert curve.lower[0] == 0
    found = curve.guarantee(0.5)
    assert isinstance(found, StatisticalGuarantee)
    assert found.delta > 0


def test_a_curve_falls_and_is_called_exact_only_where_its_bounds_agree() -> None:
    epsilon = np.array([0.0, 1.0, 2.0])
    rising = bounded_curve(epsilon, np.array([0.1, 0.0, 0.05]), np.array([0.2, 0.1, 0.3]), "none")
    assert rising.delta.tolist() == [0.2, 0.1, 0.1]
    assert rising.lower.tolist() == [0.1, 0.05, 0.05]
    assert rising.method == "upper bound"
    close = np.array([0.2, 0.1, 1e-40])
    assert bounded_curve(epsilon, close * (1 - 1e-7), close, "none").method == "exact"
    assert bounded_curve(epsilon, close * (1 - 1e-5), close, "none").method == "upper bound"


def test_a_curve_is_a_table() -> None:
    frame = property_curve(100, 0.2, [0.1, 0.2]).to_frame()
    assert list(frame["epsilon"]) == [0.1, 0.2]
    assert {"delta", "delta_lower", "v", "w", "delta 1 against 0"} <= set(frame.columns)
