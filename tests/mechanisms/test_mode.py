"""The noisy mode: its noise, its privacy by integration over all answers, and its answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from omit import (
    Column,
    Guarantee,
    InvalidInput,
    NoisyMode,
    Relation,
    WrongNeighbours,
    expected_error,
    read,
)
from omit.laws.noise import Gaussian
from omit.mechanisms.mode import KINDS, Kind, Variant
from tests.mechanisms.winning import DISTRIBUTIONS, winning_probabilities
from tests.parts import drawn_answers

each_kind = pytest.mark.parametrize("noise", KINDS)


def histograms(values: int, largest: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(largest + 1), repeat=values))


def add_remove_neighbours(values: int, largest: int) -> list[tuple[tuple[int, ...], ...]]:
    pairs = itertools.product(histograms(values, largest), repeat=2)
    return [pair for pair in pairs if _distance(*pair) == 1]


def replace_neighbours(values: int, largest: int) -> list[tuple[tuple[int, ...], ...]]:
    pairs = itertools.product(histograms(values, largest), repeat=2)
    return [pair for pair in pairs if _distance(*pair) == 2 and sum(pair[0]) == sum(pair[1])]


NEIGHBOURS = {"add-remove": add_remove_neighbours, "replace": replace_neighbours}


def _distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum(abs(one - other) for one, other in zip(first, second, strict=True))


def hockey_stick(first: tuple[float, ...], second: tuple[float, ...], epsilon: float) -> float:
    """Return the largest `P(A) - e^epsilon P'(A)` over all sets of answers."""
    pairs = zip(first, second, strict=True)
    return sum(max(one - math.exp(epsilon) * other, 0.0) for one, other in pairs)


def worst_loss(noise: Kind, scale: float, pairs: list[tuple[tuple[int, ...], ...]]) -> float:
    """Return the largest log ratio of the probabilities of one answer."""
    return max(
        math.log(one / other)
        for first, second in pairs
        for one, other in zip(
            winning_probabilities(first, noise, scale),
            winning_probabilities(second, noise, scale),
            strict=True,
        )
    )


@pytest.mark.parametrize(
    ("noise", "neighbours", "scale"),
    [
        ("laplace", "add-remove", 1 / 0.5),
        ("laplace", "replace", 2 / 0.5),
        ("exponential", "add-remove", 1 / 0.5),
        ("exponential", "replace", 2 / 0.5),
        ("gumbel", "add-remove", 1 / 0.5),
        ("gumbel", "replace", 2 / 0.5),
    ],
)
def test_each_count_gets_noise_of_its_stated_scale(
    noise: Kind, neighbours: str, scale: float
) -> None:
    guarantee = Guarantee(0.5, neighbours=neighbours)
    found = NoisyMode(noise, "tight").count_noise(guarantee)
    assert (found.name, found.scale) == (noise, scale)
    published = NoisyMode(noise, "published").count_noise(guarantee)
    assert published.scale == (scale if noise == "laplace" else 2 / 0.5)


@pytest.mark.parametrize(("neighbours", "sensitivity"), [("add-remove", 1), ("replace", 2**0.5)])
def test_gaussian_noise_is_exact_for_the_l2_distance_of_neighbouring_histograms(
    neighbours: str, sensitivity: float
) -> None:
    found = NoisyMode("gaussian").count_noise(Guarantee(0.5, 1e-7, neighbours))
    assert Gaussian(found.scale).precise_delta(0.5, sensitivity) == pytest.approx(1e-7, rel=1e-9)


@pytest.mark.parametrize("noise", ["laplace", "exponential", "gumbel"])
@pytest.mark.parametrize(("values", "largest"), [(2, 4), (3, 2)])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("variant", ["published", "tight"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_no_answer_shows_one_record_by_more_than_epsilon(
    noise: Kind, values: int, largest: int, epsilon: float, variant: Variant, neighbours: str
) -> None:
    promise = Guarantee(epsilon, neighbours=neighbours)
    scale = NoisyMode(noise, variant).count_noise(promise).scale
    assert worst_loss(noise, scale, NEIGHBOURS[neighbours](values, largest)) <= epsilon + 1e-9


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_gaussian_noise_keeps_epsilon_and_delta_for_every_set_of_answers(neighbours: str) -> None:
    guarantee = Guarantee(0.5, 0.02, neighbours)
    scale = NoisyMode("gaussian").count_noise(guarantee).scale
    pairs = NEIGHBOURS[neighbours](3, 2)
    for first, second in pairs:
        before = winning_probabilities(first, "gaussian", scale)
        after = winning_probabilities(second, "gaussian", scale)
        assert hockey_stick(before, after, 0.5) <= 0.02


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_exponential_and_gumbel_noise_cannot_be_smaller(noise: Kind, epsilon: float) -> None:
    # A value that is far behind wins e^epsilon times as often with a record more; and under
    # replace, if it gains what the first one loses. Far behind is as many scales as 1e-9 needs.
    behind = math.ceil(46 / epsilon)
    add_remove = NoisyMode(noise, "tight").count_noise(Guarantee(epsilon)).scale
    loss = worst_loss(noise, add_remove, [((1, behind), (0, behind))])
    assert loss == pytest.approx(epsilon, abs=1e-9)
    guarantee = Guarantee(epsilon, neighbours="replace")
    replace = NoisyMode(noise, "tight").count_noise(guarantee).scale
    loss = worst_loss(noise, replace, [((1, behind), (0, behind + 1))])
    assert loss == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_under_add_remove_the_published_scale_spends_half_of_its_epsilon(noise: Kind) -> None:
    # A record more raises one score and lowers none, so e^(epsilon/2) is all the ratio there is:
    # scale 2/epsilon, which the paper uses, is twice what add-remove needs.
    scale = NoisyMode(noise, "published").count_noise(Guarantee(2.0)).scale
    loss = worst_loss(noise, scale, add_remove_neighbours(2, 6))
    assert 0.95 < loss <= 1.0 + 1e-9


def test_the_papers_ranking_of_the_mechanisms_is_that_of_their_scales() -> None:
    # Adult age, epsilon = 0.25: the exponential ones lose only because their scale is doubled.
    ages = read("adult", "age")
    kinds: tuple[Kind, ...] = ("laplace", "exponential", "gumbel")
    variants: tuple[Variant, ...] = ("published", "tight")
    wrong = {
        (noise, variant): expected_error(ages, NoisyMode(noise, variant), Guarantee(0.25)).value
        for noise in kinds
        for variant in variants
    }
    counts = tuple(ages.counts.tolist())
    best = counts.index(max(counts))
    for (noise, variant), value in wrong.items():
        scale = NoisyMode(noise, variant).count_noise(Guarantee(0.25)).scale
        expected = 1 - winning_probabilities(counts, noise, scale, empty=126 - 73)[best]
        assert value == pytest.approx(expected, abs=1e-10)
    printed = {
        ("laplace", "published"): 0.1369056004,
        ("laplace", "tight"): 0.1369056004,
        ("exponential", "published"): 0.3093744093,
        ("exponential", "tight"): 0.0705392582,
        ("gumbel", "published"): 0.4257090934,
        ("gumbel", "tight"): 0.1266087445,
    }
    assert wrong == pytest.approx(printed, abs=6e-11)


@each_kind
def test_the_integral_of_these_tests_has_its_closed_form_for_two_counts(noise: Kind) -> None:
    # The difference of two noises is Laplace (exponential noise), normal, logistic (Gumbel noise),
    # or a sum of two Laplace variables.
    scale, lead = 1.5, 2
    z = lead / scale
    behind = {
        "laplace": 0.5 * math.exp(-z) * (1 + z / 2),
        "exponential": 0.5 * math.exp(-z),
        "gaussian": float(stats.norm.sf(z / math.sqrt(2))),
        "gumbel": 1 / (1 + math.exp(z)),
    }[noise]
    found = winning_probabilities((3, 1), noise, scale)
    assert found == pytest.approx((1 - behind, behind), abs=1e-14)


@each_kind
def test_the_integral_of_these_tests_is_that_of_scipy_for_four_counts(noise: Kind) -> None:
    distribution = DISTRIBUTIONS[noise](scale=0.8)

    def density(x: float) -> float:
        at_zero = distribution.cdf(x)
        return float(distribution.pdf(x - 2) * distribution.cdf(x - 3) * at_zero * at_zero)

    expected = sum(
        integrate.quad(density, low, high, epsabs=1e-13)[0]
        for low, high in itertools.pairwise((-20, 0, 2, 3, 6, 30))
    )
    found = winning_probabilities((2, 3), noise, 0.8, empty=2)[0]
    assert found == pytest.approx(expected, abs=1e-12)


@each_kind
def test_answers_are_as_frequent_as_integration_says(noise: Kind) -> None:
    # Two values that occur, and one that nobody has.
    column = Column.from_counts([1, 3], [2, 1], bounds=(1, 3))
    guarantee = Guarantee(1.0, 1e-2 if noise == "gaussian" else 0.0)
    scale = NoisyMode(noise).count_noise(guarantee).scale
    runs = 20_000
    counts = np.tile(column.counts, (runs, 1))
    rng = np.random.default_rng(6)
    answers = drawn_answers(NoisyMode(noise), column, counts, column.bounds, guarantee, rng)
    observed = [(answers == 1).sum(), (answers == 3).sum(), (answers == 2).sum()]
    expected = runs * np.array(winning_probabilities((2, 1, 0), noise, scale))
    # Four tests at one in a million each.
    assert stats.chisquare(observed, expected * (runs / expected.sum())).pvalue > 1e-6


def test_a_text_that_nobody_has_can_be_reported() -> None:
    column = Column.from_values(["b", "b", "a"], categories=("a", "b", "c"))
    rng = np.random.default_rng(7)
    counts = np.tile(column.counts, (500, 1))
    prepared = NoisyMode().prepare(column, Guarantee(0.5))
    answers = prepared.answers(counts, rng)
    assert set(answers.tolist()) == {"a", "b", "c"}
    errors = prepared.errors(counts, np.random.default_rng(7))
    np.testing.assert_array_equal(errors, answers != "b")


def test_a_truth_that_is_not_the_mode_is_said_to_be_answered_by_guesses_only() -> None:
    column = Column.from_counts([1, 2, 5], [4, 1, 5], bounds=(0, 9))
    (note,) = NoisyMode().prepare(column, Guarantee(1.0), truth=2).notes
    assert "not the mode of all records, 5:" in note
    assert NoisyMode().prepare(column, Guarantee(1.0), truth=(2, 5)).notes == ()


def test_every_tied_mode_is_right_and_a_value_nobody_has_is_wrong() -> None:
    column = Column.from_counts([1, 2, 5], [4, 1, 4], bounds=(0, 9))
    prepared = NoisyMode().prepare(column, Guarantee(1.0))
    assert prepared.truth == (1.0, 5.0)
    assert prepared.notes == ("2 values share the largest count; each of them counts as right.",)
    rows = np.tile(column.counts, (400, 1))
    answers = prepared.answers(rows, np.random.default_rng(1))
    errors = prepared.errors(rows, np.random.default_rng(1))
    np.testing.assert_array_equal(errors, ~np.isin(answers, [1.0, 5.0]))
    assert {1.0, 2.0, 5.0} < set(answers.tolist())


def test_possible_values_are_those_within_the_bounds_that_are_left() -> None:
    column = Column.from_counts([1, 4, 8], [2, 3, 1], bounds=(0, 9))
    for bounds, inside, empty in (
        ((0.0, 9.0), [True, True, True], 7),
        ((2.0, 8.5), [False, True, True], 5),
    ):
        prepared = NoisyMode().prepare(column, Guarantee(1.0), bounds=bounds)
        assert (prepared._possible.tolist(), len(prepared._unheld)) == (inside, empty)
    texts = Column.from_values(["b"], categories=("a", "b", "c"))
    prepared = NoisyMode().prepare(texts, Guarantee(1.0))
    assert (prepared._possible.tolist(), len(prepared._unheld)) == ([True], 2)


def test_noise_or_a_variant_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="variant='loose' to be one of: tight, published"):
        NoisyMode("gumbel", "loose")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="noise='cauchy' to be one of: laplace"):
        NoisyMode("cauchy")  # type: ignore[arg-type]


@each_kind
def test_no_kind_of_noise_gives_perfect_privacy(noise: Kind) -> None:
    with pytest.raises(InvalidInput, match=r"epsilon > 0|delta > 0"):
        NoisyMode(noise).count_noise(Guarantee(0.0))


def test_gaussian_noise_needs_delta_and_then_no_epsilon() -> None:
    with pytest.raises(InvalidInput, match="delta > 0"):
        NoisyMode("gaussian").count_noise(Guarantee(1.0))
    scale = NoisyMode("gaussian").count_noise(Guarantee(0.0, 0.1)).scale
    # At epsilon = 0, delta is the total variation distance of two normals one apart.
    assert 2 * stats.norm.cdf(1 / (2 * scale)) - 1 == pytest.approx(0.1, rel=1e-9)


def test_a_relation_of_unknown_sensitivity_is_refused() -> None:
    swaps = Relation("swap-two", meaning="two records have exchanged a value")
    with pytest.raises(WrongNeighbours, match="state the guarantee under add-remove or replace"):
        NoisyMode().count_noise(Guarantee(1.0, neighbours=swaps))
