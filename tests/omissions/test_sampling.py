"""Uniform sampling, against enumeration, dp-accounting and the papers' numbers."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest

from omit import (
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoNoiseNeeded,
    NoOmission,
    PoissonSampling,
    Refused,
    Statement,
    WrongNeighbours,
)
from omit.omissions import StableSuppression, sampling_base_epsilon, sampling_epsilon


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, math.nan, math.inf])
def test_rates_are_above_zero_and_at_most_one(rate: float) -> None:
    with pytest.raises(InvalidInput, match="rate"):
        PoissonSampling(rate=rate)


def test_rates_and_epsilons_broadcast_and_are_checked() -> None:
    table = sampling_epsilon(np.array([[0.5], [1.0]]), np.array([0.1, 0.5, 1.0]))
    assert table.shape == (2, 3)
    np.testing.assert_allclose(sampling_base_epsilon(table[1], [0.1, 0.5, 1.0]), 1.0)
    for epsilon, rate in ((-1.0, 0.1), (np.nan, 0.1), (1.0, 0.0), (1.0, 1.5)):
        with pytest.raises(InvalidInput):
            sampling_epsilon([1.0, epsilon], [0.5, rate])


def test_a_rate_has_two_names_and_only_one_at_a_time() -> None:
    assert PoissonSampling(sampling_probability=0.2) == PoissonSampling(rate=0.2)
    with pytest.raises(InvalidInput, match="either"):
        PoissonSampling(rate=0.2, sampling_probability=0.2)
    with pytest.raises(InvalidInput, match="either"):
        PoissonSampling()
    with pytest.raises(InvalidInput, match="at least one rate"):
        PoissonSampling(rate=[])


def test_of_several_rates_the_largest_counts() -> None:
    base = Guarantee(1.0, 1e-6)
    several = PoissonSampling(rate=(0.1, 0.4, 0.2))
    assert several.amplify(base) == PoissonSampling(rate=0.4).amplify(base)


def test_poisson_amplification_is_tight_for_randomised_response() -> None:
    epsilon, rate = 1.3, 0.2
    truthful = math.exp(epsilon) / (1 + math.exp(epsilon))
    with_record = rate * truthful + (1 - rate) * (1 - truthful)
    loss = math.log(with_record / (1 - truthful))
    assert float(PoissonSampling(rate=rate).epsilon_after(epsilon)) == pytest.approx(loss)


def test_fixed_size_amplification_is_tight_for_a_mechanism_that_looks_for_one_record() -> None:
    epsilon, size, population = 0.9, 2, 5
    truthful = math.exp(epsilon) / (1 + math.exp(epsilon))

    def chance_of_yes(records: list[str]) -> float:
        samples = list(itertools.combinations(records, size))
        answers = [truthful if "target" in sample else 1 - truthful for sample in samples]
        return float(np.mean(answers))

    loss = math.log(chance_of_yes(["target", *"abcd"]) / chance_of_yes(list("eabcd")))
    sampling = FixedSizeSampling(size=size, population=population)
    assert float(sampling.epsilon_after(epsilon)) == pytest.approx(loss)


def test_the_numbers_of_the_accuracy_gains_paper() -> None:
    def base_epsilon(size: int, population: int, epsilon: float) -> float:
        base = FixedSizeSampling(size=size, population=population).calibrate(
            Guarantee(epsilon, neighbours="replace")
        )
        assert isinstance(base, Guarantee)
        return base.epsilon

    assert base_epsilon(1, 100, 1.0) == pytest.approx(5.15229793824, abs=1e-11)
    assert base_epsilon(101, 10001, 0.1) == pytest.approx(2.43484097717, abs=1e-11)
    assert base_epsilon(101, 10001, 1.0) == pytest.approx(5.14250487735, abs=1e-11)


def test_each_design_is_defined_for_its_own_relation() -> None:
    with pytest.raises(WrongNeighbours, match="add-remove"):
        PoissonSampling(rate=0.1).amplify(Guarantee(1.0, neighbours="replace"))
    with pytest.raises(WrongNeighbours, match="replace"):
        FixedSizeSampling(size=1, population=2).calibrate(Guarantee(1.0))
    for relation in ("add-remove", "replace"):
        base = Guarantee(1.0, 1e-9, relation)
        assert NoOmission().amplify(base) == Statement(1.0, 1e-9, relation)
        assert NoOmission().calibrate(base) == base


def test_a_sample_is_not_larger_than_its_population() -> None:
    with pytest.raises(InvalidInput, match="at most population"):
        FixedSizeSampling(size=11, population=10)
    with pytest.raises(InvalidInput, match="whole number"):
        FixedSizeSampling(size=1.5, population=10)  # type: ignore[arg-type]


def test_a_sample_small_enough_for_delta_needs_no_noise() -> None:
    answer = PoissonSampling(rate=0.01).calibrate(Guarantee(0.5, 0.02))
    assert isinstance(answer, NoNoiseNeeded)
    assert "delta <= 0.01" in answer.reason


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 1.0, 7.0])
def test_a_sample_needs_no_noise_from_a_delta_of_its_rate_on_and_below_it_does(
    epsilon: float,
) -> None:
    population = 97
    for size in range(1, population):
        sampling = FixedSizeSampling(size, population)
        rate = size / population
        enough = Guarantee(epsilon, rate, "replace")
        assert isinstance(sampling.calibrate(enough), NoNoiseNeeded)
        assert isinstance(PoissonSampling(rate).calibrate(Guarantee(epsilon, rate)), NoNoiseNeeded)
        less = Guarantee(epsilon, rate * (1 - 1e-9), "replace")
        assert isinstance(sampling.calibrate(less), Guarantee)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_dp_accounting_agrees_on_a_poisson_sampled_laplace_mechanism(epsilon: float) -> None:
    from dp_accounting import LaplaceDpEvent, NeighboringRelation
    from dp_accounting.pld import PLDAccountant

    sampling = PoissonSampling(rate=0.1)
    event = sampling.to_dp_event(LaplaceDpEvent(1 / epsilon))
    accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE).compose(event)
    released = sampling.amplify(Guarantee(epsilon))
    assert isinstance(released, Statement)
    # The accountant rounds losses up to a grid of 1e-4 and cuts off tails that weigh nothing.
    assert accountant.get_epsilon(1e-10) == pytest.approx(released.epsilon, abs=2e-4)


def test_dp_accounting_agrees_on_a_poisson_sampled_gaussian_mechanism() -> None:
    from dp_accounting import GaussianDpEvent, NeighboringRelation
    from dp_accounting.pld import PLDAccountant

    relation = NeighboringRelation.ADD_OR_REMOVE_ONE
    sampling, noise = PoissonSampling(rate=0.25), GaussianDpEvent(1.5)
    alone = PLDAccountant(relation).compose(noise)
    sampled = PLDAccountant(relation).compose(sampling.to_dp_event(noise))
    for epsilon in (0.5, 1.0):
        released = sampling.amplify(Guarantee(epsilon, alone.get_delta(epsilon)))
        assert isinstance(released, Statement)
        assert sampled.get_delta(released.epsilon) == pytest.approx(released.delta, rel=2e-3)


def test_dp_events_carry_the_parameters_and_what_cannot_be_said_is_refused() -> None:
    from dp_accounting import GaussianDpEvent

    noise = GaussianDpEvent(1.0)
    fixed = FixedSizeSampling(size=3, population=10).to_dp_event(noise)
    assert (fixed.source_dataset_size, fixed.sample_size, fixed.event) == (10, 3, noise)
    assert NoOmission().to_dp_event(noise) is noise
    with pytest.raises(Refused, match="dp-accounting"):
        StableSuppression(2).to_dp_event(noise)


def test_events_of_dp_accounting_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    for sampling in (PoissonSampling(0.1), FixedSizeSampling(10, 100)):
        with pytest.raises(InvalidInput, match=r"pip install 'omit\[accounting\]'"):
            sampling.to_dp_event(None)
