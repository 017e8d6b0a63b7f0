"""Keep probabilities by value."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import omit
from omit import (
    Column,
    Guarantee,
    InvalidInput,
    NoisyMean,
    NoisyMode,
    Points,
    PoissonSampling,
    Refused,
)
from omit.laws.design import Independent
from omit.omissions import Omission, SamplingByValue, check
from omit.omissions.names import parse_omission

AGES = Column.from_values([20, 20, 35, 60], bounds=(0, 100), name="age")
TOWNS = Column.from_values(["A", "A", "B"], categories=["A", "B", "C"], name="town")


def inclusion(omission: Omission, data: Column | Points) -> list[float]:
    design = omission.design(data, "absolute")
    assert isinstance(design, Independent)
    return [round(float(rate), 12) for rate in design.inclusion]


def test_every_value_is_kept_at_the_rate_of_the_first_rule_that_fits() -> None:
    by_age = SamplingByValue([(35, 0.25), ((30, 70), 0.5)], otherwise=0.9)
    assert inclusion(by_age, AGES) == [0.9, 0.25, 0.5]
    assert inclusion(SamplingByValue({"A": 0.1}, otherwise=1), TOWNS) == [0.1, 1.0]


def test_the_loss_is_proved_exact_on_all_small_databases() -> None:
    by_age = SamplingByValue({0: 0.2, 1: 0.7, 2: 0.4}, otherwise=0)
    checked = check(by_age, (0, 1, 2), 3, Guarantee(1.0))
    stated = float(by_age.epsilon_after(1.0))
    assert stated == pytest.approx(math.log(1 + 0.7 * (math.e - 1)))
    assert checked.epsilon == pytest.approx(stated, abs=1e-9)
    assert checked.keeps_its_word


def test_the_exact_error_of_a_mean_is_that_of_all_subsets() -> None:
    """The noise is integrated over every subset, by the engine for what is kept for certain."""
    by_age = SamplingByValue({20: 0.3, 35: 0.8}, otherwise=0.5)
    mechanism = NoisyMean()
    promise = by_age.calibrate(Guarantee(1.0))
    prepared = mechanism.prepare(AGES, promise)
    rates = [0.3, 0.3, 0.8, 0.5]
    expected = 0.0
    for kept in itertools.product((0, 1), repeat=4):
        chance = math.prod(p if k else 1 - p for p, k in zip(rates, kept, strict=True))
        certain = np.array([[kept[0] + kept[1], kept[2], kept[3]]])
        integrated = prepared.integrated_errors(certain)
        assert integrated is not None
        expected += chance * float(integrated[0])
    error = omit.expected_error(AGES, mechanism, Guarantee(1.0), by_age)
    assert error.method != "simulated"
    assert error.value == pytest.approx(expected, rel=1e-8)


def test_categories_are_sampled_for_the_mode_exactly() -> None:
    error = omit.expected_error(TOWNS, NoisyMode(), Guarantee(1.0), SamplingByValue({"A": 0.5}))
    assert error.method == "exact"


def test_equal_rates_are_poisson_sampling() -> None:
    one = omit.expected_error(AGES, NoisyMean(), Guarantee(1.0), PoissonSampling(0.5))
    by_value = SamplingByValue({20: 0.5, (30, 40): 0.5}, otherwise=0.5)
    other = omit.expected_error(AGES, NoisyMean(), Guarantee(1.0), by_value)
    assert one.value == pytest.approx(other.value, rel=1e-9)


def test_bounds_are_narrowed_to_what_can_be_kept() -> None:
    only = SamplingByValue({(20, 40): 0.5, 60: 1.0, (80, 90): 0.0}, otherwise=0)
    assert only.restrict((0, 100)) == (20.0, 60.0)
    assert only.restrict((30, 50)) == (30.0, 40.0)
    assert SamplingByValue({(20, 40): 0.5}).restrict((0, 100)) == (0.0, 100.0)
    with pytest.raises(InvalidInput, match="keep something"):
        only.restrict((95, 100))


def test_short_forms_are_read() -> None:
    read = parse_omission("by-value:0..40=0.9,60=0.25,otherwise=0.5")
    assert inclusion(read, AGES) == [0.9, 0.9, 0.25]
    assert inclusion(parse_omission("by-value:A=0.5,otherwise=0"), TOWNS) == [0.5, 0.0]


@pytest.mark.parametrize("text", ["", "0.5", "=0.5", "a=b", "0..x=0.5", "a=2", "a=0,otherwise=0"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_omission(f"by-value:{text}")


def test_rates_that_do_not_fit_the_data_are_refused() -> None:
    for rates, data in (({"young": 0.5}, AGES), ({1: 0.5}, TOWNS), ({(0, 1): 0.5}, TOWNS)):
        with pytest.raises(Refused, match="holds"):
            SamplingByValue(rates).design(data, "absolute")
    points = Points.from_rows([[1, 2], [3, 4]], bounds=(0, 5))
    for kind in (1, (1, 2), ((1, 2), (1, 2), (1, 2))):
        with pytest.raises(Refused, match="not that of a box of points with 2 columns"):
            SamplingByValue([(kind, 0.5)]).design(points, "euclidean")
    with pytest.raises(Refused, match="that of points"):
        SamplingByValue({((0, 1), (0, 1)): 0.5}).design(AGES, "absolute")


def test_points_in_boxes_are_kept_at_the_rates_of_the_boxes() -> None:
    points = Points.from_rows([[1, 2], [3, 4], [1, 5]], bounds=(0, 5))
    boxes = SamplingByValue({((0, 1), (0, 3)): 0.25, ((3, 3), (4, 4)): 0.5}, otherwise=0.75)
    assert inclusion(boxes, points) == [0.25, 0.5, 0.75]
    assert boxes.restrict(points.bounds) == points.bounds
    typed = parse_omission("by-value:0..1/0..3=0.25,3..3/4..4=0.5,otherwise=0.75")
    assert typed == boxes
    assert str(typed) == "sampling at rate 0.25 of 0..1/0..3, 0.5 of 3..3/4..4, 0.75 otherwise"
    error = omit.expected_error(points, omit.DPLloyd(k=1), Guarantee(1.0), boxes, runs=20, seed=0)
    assert error.method == "simulated"


def test_points_have_a_poisson_rate_of_their_own_each() -> None:
    points = Points.from_rows([[1, 2], [3, 4]], bounds=(0, 5))
    assert inclusion(PoissonSampling(rate=(0.25, 0.5)), points) == [0.25, 0.5]
    with pytest.raises(Refused, match="one for each record"):
        PoissonSampling(rate=(0.25, 0.5, 0.1)).design(points, "euclidean")
