"""One call for the expected error: which guarantee, which truth, which method."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from omit import (
    Column,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoisyMode,
    NoOmission,
    OutlierScoreSuppression,
    PoissonSampling,
    Unattainable,
    WrongNeighbours,
    expected_error,
)
from tests.accuracy.own_classes import HalfOfTheOld, NoisyTotal
from tests.parts import base_guarantee

ages = Column.from_counts([20, 30, 40, 60], [400, 800, 400, 400], bounds=(0, 100), name="age")


def test_no_omission_is_the_default() -> None:
    assert expected_error(ages, NoisyMean(), Guarantee(1.0)) == expected_error(
        ages, NoisyMean(), Guarantee(1.0), NoOmission()
    )


@pytest.mark.parametrize("tolerance", [math.nan, 0.0, -1.0, math.inf])
def test_a_tolerance_that_promises_nothing_is_refused(tolerance: float) -> None:
    with pytest.raises(InvalidInput, match="tolerance"):
        expected_error(ages, NoisyMean(), Guarantee(1.0), tolerance=tolerance)


def test_a_rate_of_one_omits_nothing() -> None:
    for mechanism in (NoisyMean(), NoisyMode("gumbel")):
        sampled = expected_error(ages, mechanism, Guarantee(0.2), PoissonSampling(1.0))
        plain = expected_error(ages, mechanism, Guarantee(0.2))
        assert sampled.value == pytest.approx(plain.value, rel=1e-12)


def test_noise_is_reduced_by_what_the_omission_adds_to_privacy() -> None:
    # At rate 1/2, epsilon = 1 allows ln(1 + 2 (e - 1)) = 1.4899 to the mechanism.
    sampling = PoissonSampling(0.5)
    base = Guarantee(math.log(1 + 2 * (math.e - 1)))
    reduced = expected_error(ages, NoisyMean(), Guarantee(1.0), sampling)
    same = expected_error(ages, NoisyMean(), base, sampling, noise_reduction=False)
    assert reduced.value == pytest.approx(same.value, rel=1e-12)
    assert base_guarantee(sampling, Guarantee(1.0)).epsilon == pytest.approx(base.epsilon)


def test_without_noise_reduction_the_mechanism_alone_has_the_guarantee() -> None:
    sampling = PoissonSampling(0.5)
    assert base_guarantee(sampling, Guarantee(1.0), noise_reduction=False) == Guarantee(1.0)
    kept = expected_error(ages, NoisyMean(), Guarantee(1.0), sampling, noise_reduction=False)
    reduced = expected_error(ages, NoisyMean(), Guarantee(1.0), sampling)
    assert kept.value > reduced.value
    assert kept.parts is not None
    assert reduced.parts is not None
    assert kept.parts.omission == pytest.approx(reduced.parts.omission)
    ratio = base_guarantee(sampling, Guarantee(1.0)).epsilon
    assert kept.parts.noise == pytest.approx(reduced.parts.noise * ratio)


def test_an_omission_that_cannot_be_calibrated_still_has_an_error_without_noise_reduction() -> None:
    published = OutlierScoreSuppression(0.1, 0.3, bound="published")
    with pytest.raises(Unattainable):
        expected_error(ages, NoisyMean(), Guarantee(1.0), published)
    kept = expected_error(ages, NoisyMean(), Guarantee(1.0), published, noise_reduction=False)
    mixture = OutlierScoreSuppression(0.1, 0.3)
    assert kept.value == pytest.approx(
        expected_error(ages, NoisyMean(), Guarantee(1.0), mixture, noise_reduction=False).value
    )


def test_a_population_value_may_stand_in_for_the_datas_own() -> None:
    # With a truth far away, the error is the distance of the means and hardly any noise.
    error = expected_error(ages, NoisyMean(), Guarantee(5.0), truth=2 * ages.mean)
    assert error.value == pytest.approx(50.0, rel=1e-3)
    assert error.parts is not None
    assert error.parts.bias == pytest.approx(-50.0)
    mode = expected_error(ages, NoisyMode(), Guarantee(5.0), truth=40)
    assert mode.value == pytest.approx(1.0)


def test_a_population_may_have_several_modes() -> None:
    one = expected_error(ages, NoisyMode(), Guarantee(0.02), truth=30).value
    also = expected_error(ages, NoisyMode(), Guarantee(0.02), truth=(30, 60)).value
    assert expected_error(ages, NoisyMode(), Guarantee(0.02)).value == one
    assert also < one


def test_both_methods_can_be_asked_for_by_name() -> None:
    exact = expected_error(ages, NoisyMode(), Guarantee(0.02), method="exact")
    simulated = expected_error(ages, NoisyMode(), Guarantee(0.02), method="simulated", runs=4000)
    assert (exact.method, simulated.method) == ("exact", "simulated")
    assert (exact.runs, simulated.runs, simulated.reason) == (None, 4000, None)
    assert simulated.low - 0.02 < exact.value < simulated.high + 0.02
    with pytest.raises(InvalidInput, match="method='fast'"):
        expected_error(ages, NoisyMode(), Guarantee(1.0), method="fast")  # type: ignore[arg-type]


def test_a_mechanism_without_an_exact_engine_is_simulated() -> None:
    error = expected_error(ages, NoisyTotal(), Guarantee(1.0), runs=2000)
    assert error.method == "simulated"
    assert error.reason == "no exact engine knows noisy total"
    # Laplace noise of scale 100 has that as its mean: 5 sigma.
    assert error.value == pytest.approx(100, abs=5 * 100 / math.sqrt(2000))
    with pytest.raises(InvalidInput, match="no exact engine knows noisy total"):
        expected_error(ages, NoisyTotal(), Guarantee(1.0), method="exact")


def test_ones_own_omission_reaches_the_exact_engines() -> None:
    error = expected_error(ages, NoisyMean(), Guarantee(1.0), HalfOfTheOld(25))
    assert error.method == "exact"
    left = (20 * 400 + 30 * 400 + 40 * 200 + 60 * 200) / 1200
    assert error.parts is not None
    assert error.parts.bias == pytest.approx(100 * (left / ages.mean - 1))


def test_relations_are_never_mixed() -> None:
    replace = Guarantee(1.0, neighbours="replace")
    with pytest.raises(WrongNeighbours, match="no bound under the relation replace"):
        expected_error(ages, NoisyMean(), replace, PoissonSampling(0.5))
    with pytest.raises(WrongNeighbours, match="no noise for the relation replace"):
        expected_error(ages, NoisyTotal(), replace)


def test_leaving_details_out_changes_no_value() -> None:
    for mechanism in (NoisyMean(), NoisyMode()):
        full = expected_error(ages, mechanism, Guarantee(0.1), PoissonSampling(0.4))
        short = expected_error(ages, mechanism, Guarantee(0.1), PoissonSampling(0.4), details=False)
        assert short.value == full.value
        assert (short.median, short.quantile_90) == (None, None)


def test_quantiles_surround_the_expected_error() -> None:
    error = expected_error(ages, NoisyMean(), Guarantee(0.5), PoissonSampling(0.4))
    assert error.median is not None
    assert error.quantile_90 is not None
    assert 0 < error.median < error.value < error.quantile_90


@pytest.mark.parametrize("mechanism", [NoisyMean(), NoisyMode()], ids=str)
def test_more_privacy_costs_more_error(mechanism: NoisyMean | NoisyMode) -> None:
    close = Column.from_counts([20, 30], [400, 390], bounds=(0, 100))
    errors = [
        expected_error(close, mechanism, Guarantee(epsilon), PoissonSampling(0.5)).value
        for epsilon in (0.1, 0.2, 0.5, 1.0, 2.0)
    ]
    assert (np.diff(errors) < 0).all()


def test_a_true_mode_that_nobody_has_is_the_same_for_both_engines() -> None:
    rooms = Column.from_counts([1, 2], [3, 3], bounds=(0, 3))
    setting = rooms, NoisyMode(), Guarantee(0.5), PoissonSampling(0.5)
    exact = expected_error(*setting, truth=(3.0,))
    simulated = expected_error(*setting, "simulated", truth=(3.0,), runs=20_000)
    assert exact.method == "exact"
    # A fixed seed; by chance one in a thousand seeds would fail here.
    assert abs(exact.value - simulated.value) < 3.3 * (0.9 * 0.1 / 20_000) ** 0.5


@pytest.mark.parametrize("truth", [float("nan"), float("inf"), "much"])
def test_a_truth_that_is_no_number_is_refused(truth: object) -> None:
    with pytest.raises(InvalidInput, match="truth"):
        expected_error(ages, NoisyMean(), Guarantee(1.0), truth=truth)
    with pytest.raises(InvalidInput, match=r"declared domain|within"):
        expected_error(ages, NoisyMode(), Guarantee(1.0), truth=truth)


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        (name, odd)
        for name in ("data", "mechanism", "guarantee", "omission", "method", "rng")
        for odd in (3, b"x", 1j, [0.5], np.array([1, 2]))
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_in_a_sentence(name: str, odd: Any) -> None:
    right: dict[str, Any] = {
        "data": Column.from_values([1, 2, 3, 3], bounds=(0, 5)),
        "mechanism": NoisyMean(),
        "guarantee": Guarantee(1.0),
    }
    with pytest.raises(InvalidInput, match=r"^Expected|needs one column, which read gives, not"):
        expected_error(**{**right, name: odd})
