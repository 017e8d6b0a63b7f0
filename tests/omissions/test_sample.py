"""Several statistics on one sample."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

from omit import (
    FixedSizeSampling,
    Guarantee,
    InvalidInput,
    NoGuarantee,
    PoissonSampling,
    Sample,
    ThresholdOutlierRemoval,
    WrongNeighbours,
    compose,
)

design = FixedSizeSampling(size=10, population=100)
each = Guarantee(1.0, neighbours="replace")


def test_statistics_on_one_sample_compose_before_they_are_amplified() -> None:
    sample = Sample(design)
    together = compose(sample.release(each), sample.release(each))
    assert isinstance(together, Guarantee)
    assert together.epsilon == pytest.approx(math.log1p(0.1 * math.expm1(2.0)))
    assert round(together.epsilon, 3) == 0.494


def test_statistics_on_independent_samples_are_amplified_before_they_compose() -> None:
    together = compose(Sample(design).release(each), Sample(design).release(each))
    assert isinstance(together, Guarantee)
    assert together.epsilon == pytest.approx(2 * math.log1p(0.1 * math.expm1(1.0)))
    assert round(together.epsilon, 3) == 0.317


def test_adding_up_amplified_losses_is_wrong_for_one_sample() -> None:
    # Two randomised responses about the same record, on a sample that has it or not.
    epsilon, rate = 1.0, 0.1
    truthful = math.exp(epsilon) / (1 + math.exp(epsilon))
    with_record = rate * truthful**2 + (1 - rate) * (1 - truthful) ** 2
    loss = math.log(with_record / (1 - truthful) ** 2)
    sample = Sample(PoissonSampling(rate=rate))
    one = sample.release(Guarantee(epsilon))
    sound = compose(one, one)
    unsound = compose(*[Sample(sample.omission).release(Guarantee(epsilon)) for _ in range(2)])
    assert isinstance(sound, Guarantee)
    assert isinstance(unsound, Guarantee)
    assert loss == pytest.approx(sound.epsilon)
    assert unsound.epsilon < loss


def test_a_release_on_a_sample_has_no_epsilon_of_its_own() -> None:
    release = Sample(design).release(each)
    assert not hasattr(release, "epsilon")
    with pytest.raises((InvalidInput, AttributeError)):
        design.amplify(release)  # type: ignore[arg-type]


def test_samples_and_whole_databases_compose() -> None:
    sample = Sample(design)
    together = compose(each, sample.release(each))
    assert isinstance(together, Guarantee)
    assert together.epsilon == pytest.approx(1 + math.log1p(0.1 * math.expm1(1.0)))


def test_what_cannot_be_composed_is_refused() -> None:
    with pytest.raises(WrongNeighbours):
        compose(Guarantee(1.0), Sample(design).release(each))
    with pytest.raises(InvalidInput, match="guarantee"):
        Sample(design).release(0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least one"):
        compose()


def test_one_release_without_guarantee_leaves_none_for_all() -> None:
    removal = Sample(ThresholdOutlierRemoval(0.5))
    assert isinstance(compose(Guarantee(1.0), removal.release(Guarantee(1.0))), NoGuarantee)


def test_a_copy_of_a_sample_is_the_same_sample() -> None:
    sample = Sample(design)
    first = sample.release(each)
    for copied in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        together = compose(first, copied)
        assert isinstance(together, Guarantee)
        assert round(together.epsilon, 3) == 0.494


def test_releases_that_were_amplified_one_by_one_cannot_be_composed_by_accident() -> None:
    amplified = design.amplify(each)
    assert isinstance(amplified, Guarantee)
    with pytest.raises(InvalidInput, match="which other release shares that sample"):
        compose(amplified, amplified)
