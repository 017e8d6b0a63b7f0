"""Curves of sums, by enumeration of all databases, and the numerical floor."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from omit.errors import InvalidInput
from omit.laws.discrete import DiscreteGaussian
from omit.laws.distribution import Distribution
from omit.laws.divergence import envelope, hockey_stick, shifted
from omit.laws.lattice import Part, lattice_sum
from omit.statistical.properties import grouped_property_curve, property_curve
from omit.statistical.sums import added_noise, sum_curve, sum_curve_of_groups
from tests.statistical.enumeration import Law, answers_given, divergence, exactly, worst

EPSILONS = (0.0, 0.2, 1.0)
GAPPED = {0.0: 0.5, 1.0: 0.2, 5.0: 0.3}
CONCAVE = {1.0: 0.2, 2.0: 0.5, 3.0: 0.3}
FRACTIONAL = {-0.5: 0.1, 0.25: 0.6, 1.0: 0.3}


def distribution_of(law: Law) -> Distribution:
    return Distribution(list(law), list(law.values()))


@pytest.mark.parametrize("law", [GAPPED, CONCAVE, FRACTIONAL])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_sum_has_the_curve_of_the_definition(law: dict[float, float], n: int) -> None:
    curve = sum_curve(distribution_of(law), n, EPSILONS)
    assert curve.method == "exact"
    for place, epsilon in enumerate(EPSILONS):
        exact = worst([law] * n, 0, exactly(lambda d: round(sum(d), 9)), epsilon)
        assert curve.lower[place] - 1e-12 <= exact <= curve.delta[place] + 1e-12
        assert curve.delta[place] == pytest.approx(exact, abs=1e-11)


def test_the_pair_named_is_the_worst_pair() -> None:
    curve = sum_curve(distribution_of(GAPPED), 4, EPSILONS)
    release = exactly(sum)
    for place, epsilon in enumerate(EPSILONS):
        v, w = curve.pairs[place]
        first, second = (answers_given([GAPPED] * 4, 0, value, release) for value in (v, w))
        assert divergence(first, second, epsilon) == pytest.approx(curve.delta[place], abs=1e-11)


def test_entries_need_not_be_alike() -> None:
    laws = [CONCAVE, CONCAVE, {0.0: 0.4, 2.0: 0.6}, {0.0: 0.9, 1.0: 0.1}]
    parts = [(distribution_of(law), 1) for law in laws[1:]]
    curve = sum_curve_of_groups(parts, list(CONCAVE), EPSILONS)
    for place, epsilon in enumerate(EPSILONS):
        exact = worst(laws, 0, exactly(sum), epsilon)
        assert curve.delta[place] == pytest.approx(exact, abs=1e-11)


def test_the_extreme_pair_is_the_worst_for_log_concave_entries_and_not_in_general() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        weights = np.exp(-np.cumsum(np.cumsum(rng.random(6))) / 4)
        law = Distribution(np.arange(6.0), weights / weights.sum())
        assert math.isfinite(law.bend)
        mass = lattice_sum([Part(law.points, law.probabilities, 3)]).mass
        for one in (mass, mass[::-1]):
            rising = [hockey_stick(*shifted(one, d), np.array([0.3]))[0] for d in range(1, 6)]
            assert (np.diff(rising) >= -1e-12).all()
    curve = sum_curve(Distribution([0, 1, 10], [0.45, 0.1, 0.45]), 2, [0.0, 1.0])
    assert curve.pairs[1] not in ((10.0, 0.0), (0.0, 10.0))


def test_a_sum_of_zeros_and_ones_is_a_property_query() -> None:
    epsilon = np.array([0.0, 0.02, 0.2, 0.7, 1.1])
    law = Distribution([0, 1], [0.6, 0.4])
    both = sum_curve(law, 2000, epsilon, known=500), property_curve(2000, 0.4, epsilon, known=500)
    assert both[1].delta[-1] < 1e-70, "so deep that only tilting reaches it"
    assert both[0].delta == pytest.approx(both[1].delta, rel=2e-9)
    assert (both[0].delta >= both[1].lower).all()


def test_sums_that_are_not_log_concave_keep_their_digits_far_out() -> None:
    weights = np.random.default_rng(2).random(30) ** 3
    law = Distribution(np.arange(30.0), weights / weights.sum())
    assert math.isinf(law.bend)
    curve = sum_curve(law, 2000, [0.05, 3.0])
    assert curve.method == "exact"
    assert 0 < curve.delta[1] < 1e-200
    assert (curve.delta - curve.lower < 1e-7 * curve.delta).all()


def test_the_envelope_bounds_every_shift() -> None:
    rng = np.random.default_rng(3)
    epsilon = np.array([0.0, 0.1, 0.5, 2.0])
    for _ in range(30):
        mass = rng.random(40) ** 3
        mass /= mass.sum()
        largest = int(rng.integers(1, 9))
        bound = envelope(mass, largest, epsilon)
        for shift in range(1, largest + 1):
            assert (bound >= hockey_stick(*shifted(mass, shift), epsilon) - 1e-15).all()


def test_many_pairs_are_bounded_closely() -> None:
    weights = np.random.default_rng(4).random(400)
    law = Distribution(np.arange(400.0), weights / weights.sum())
    curve = sum_curve(law, 10_000, np.linspace(0.0, 0.1, 10))
    assert curve.method == "upper bound"
    assert (curve.delta >= curve.lower).all()
    assert (curve.delta / curve.lower < 1.001).all()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_continuous_noise_on_any_sum_is_bracketed(kind: str) -> None:
    noise = added_noise(kind, 1.5)  # type: ignore[arg-type]
    concave = distribution_of(CONCAVE)
    # The same distribution, made unrecognisable by a value that hardly ever occurs.
    almost = Distribution([1, 2, 3, 5], [0.2, 0.5, 0.3 - 1e-12, 1e-12])
    exact = sum_curve(concave, 12, EPSILONS, noise=noise)
    other = sum_curve_of_groups([(almost, 11)], list(CONCAVE), EPSILONS, noise=noise)
    assert exact.method == "exact"
    assert other.method == "upper bound"
    assert (other.delta >= exact.lower - 1e-10).all()
    assert (other.lower <= exact.delta + 1e-10).all()
    assert (other.delta - other.lower < 1e-4).all()


def test_discrete_noise_on_a_sum_is_one_more_entry() -> None:
    law = distribution_of(GAPPED)
    noise = DiscreteGaussian(1.0)
    part = noise.part()
    as_entry = Distribution(part.points.astype(float), part.probabilities)
    direct = sum_curve(law, 5, EPSILONS, noise=noise)
    entry = sum_curve_of_groups([(law, 4), (as_entry, 1)], law.values, EPSILONS)
    assert direct.delta == pytest.approx(entry.delta, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "probabilities", "message"),
    [
        ([0, 1], [0.5, 0.4], "sum to 1"),
        ([0, 1], [1.5, -0.5], "at least 0"),
        ([0, 1, 1], [0.5, 0.25, 0.25], "distinct"),
        ([0], [1.0], "at least two"),
        ([0, 1], [0.5], "as many"),
        ([0, np.nan], [0.5, 0.5], "finite"),
        ([0, 1, np.pi], [0.5, 0.25, 0.25], "multiples of one step"),
        ([0, 1000, 2000.000001], [0.5, 0.3, 0.2], "publish the sum of the rounded values"),
        ([-1e308, 1e308], [0.5, 0.5], "floating-point range"),
    ],
)
def test_what_is_no_distribution_is_refused(
    values: list[float], probabilities: list[float], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Distribution(values, probabilities)


def test_more_known_entries_than_others_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n - 1 = 4"):
        sum_curve(distribution_of(CONCAVE), 5, 0.1, known=5)


def test_an_entry_among_known_ones_is_protected_by_noise_only() -> None:
    law = distribution_of(CONCAVE)
    assert sum_curve(law, 5, [0.1], known=4).delta[0] == 1.0
    noisy = sum_curve(law, 5, [0.5, 1.0], known=4, noise=added_noise("laplace", 2.0))
    assert noisy.delta[0] > 0
    assert noisy.delta[1] == 0.0, "the values differ by 2, so this is 1-DP"


def test_a_law_of_many_small_convex_bends_is_not_log_concave() -> None:
    # Each bend is below 1e-13, but together they lift the ends by 5e-9.
    places = np.arange(1_001)
    weights = np.exp(2e-14 * (places - 500.0) ** 2)
    assert math.isinf(Distribution(places, weights / weights.sum()).bend)
    # Ties that rounding breaks still count: a geometric law, and a uniform one.
    for ratio in (0.3, 0.99, 1.0):
        weights = ratio ** places[:300].astype(float)
        assert math.isfinite(Distribution(places[:300], weights / weights.sum()).bend)
    bump = np.exp(-((places - 500.0) ** 2) / 1e5)
    assert math.isfinite(Distribution(places, bump / bump.sum()).bend)


def test_a_sum_whose_delta_is_too_small_for_a_float_has_not_zero() -> None:
    for law in (Distribution([0, 1], [0.5, 0.5]), Distribution([0, 1, 3], [0.5, 0.3, 0.2])):
        for n in (3_000, 30_000):
            curve = sum_curve(law, n, [5.0, 50.0, 800.0])
            assert (curve.delta > 0).all()
            assert (curve.delta < 1e-300).all()
            assert (curve.lower <= 1e-320).all()


def test_values_are_moved_to_a_lattice_within_rounding_only() -> None:
    tenths = Distribution([0.1, 0.2, 0.3, 3 * 0.1 + 0.1], [0.25] * 4)
    assert tenths.points.tolist() == [0, 1, 2, 3]
    # Nearly the same values tell more, since 1000 + 1000 is not 2000.000001.
    law = {0.0: 0.5, 1000.0: 0.3, 2000.000001: 0.2}
    near = {0.0: 0.5, 1000.0: 0.3, 2000.0: 0.2}
    truth = worst([law] * 5, 0, exactly(lambda d: round(sum(d), 9)), 0.5)
    moved = worst([near] * 5, 0, exactly(lambda d: round(sum(d), 9)), 0.5)
    assert truth > 1.2 * moved
    with pytest.raises(InvalidInput, match="multiples of one step"):
        sum_curve_of_groups([(distribution_of(near), 4)], list(law), [0.5])
    assert sum_curve(distribution_of(near), 5, 0.5).delta[0] == pytest.approx(moved)


def _rational_curve(law: dict[int, Fraction], n: int, epsilon: float) -> mpmath.mpf:
    """Return the curve of a sum by its definition, without any rounding but of e^epsilon."""
    total = {0: Fraction(1)}
    for _ in range(n - 1):
        further: dict[int, Fraction] = defaultdict(Fraction)
        for (a, chance), (b, other) in itertools.product(total.items(), law.items()):
            further[a + b] += chance * other
        total = further
    grow = Fraction(*mpmath.libmp.to_rational(mpmath.exp(mpmath.mpf(epsilon))._mpf_))
    deltas = []
    for v, w in itertools.permutations(law, 2):
        terms = (total.get(a, 0) - grow * total.get(a + v - w, 0) for a in total)
        deltas.append(sum((max(each, Fraction(0)) for each in terms), Fraction(0)))
    worst_delta = max(deltas)
    return mpmath.mpf(worst_delta.numerator) / worst_delta.denominator


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "n"),
    [
        ({0: 0.5, 1: 0.3, 2: 0.2}, 50),
        ({0: 0.5, 1: 0.001, 7: 0.499}, 12),
        ({0: 0.6, 3: 1e-9, 4: 0.4 - 1e-9}, 10),
        ({0: 0.25, 1: 0.5, 2: 0.25}, 40),
    ],
)
def test_curves_of_any_sum_fall_and_are_exact_at_every_epsilon(
    weights: dict[int, float], n: int
) -> None:
    epsilons = [0.0, 0.7, 5.0, 20.0, 37.0, 600.0]
    law = Distribution(list(weights), list(weights.values()))
    curve = sum_curve(law, n, epsilons)
    assert curve.method == "exact"
    assert (np.diff(curve.delta) <= 0).all()
    chances = [Fraction(each) for each in law.probabilities.tolist()]
    exact = {value: chance / sum(chances) for value, chance in zip(weights, chances, strict=True)}
    with mpmath.workdps(400):
        for place, epsilon in enumerate(epsilons):
            truth = _rational_curve(exact, n, epsilon)
            assert mpmath.mpf(float(curve.lower[place])) <= truth
            assert truth <= mpmath.mpf(float(curve.delta[place]))
            assert sum_curve(law, n, epsilon).delta[0] == pytest.approx(
                curve.delta[place], rel=1e-9
            )
    if n == 50:
        # Truths of which less was known: 9e-13 and 5e-14.
        assert curve.delta[[2, 4]] == pytest.approx([8.9824e-13, 5.40012e-14], rel=1e-5)


@pytest.mark.parametrize("unit", [1e-13, 1.5e-12, 1.0, 1e9])
def test_the_unit_of_the_values_does_not_matter(unit: float) -> None:
    for values in ([0, 1], [0, 2, 3], [0, 1, 2]):
        weights = [0.3, 0.7] if len(values) == 2 else [0.3, 0.3, 0.4]
        plain = sum_curve(Distribution(values, weights), 10, EPSILONS)
        scaled = sum_curve(Distribution(np.array(values) * unit, weights), 10, EPSILONS)
        assert scaled.delta == pytest.approx(plain.delta, rel=1e-12)


def test_more_entries_than_can_be_computed_with_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"at most 1,000,000,000,000\."):
        sum_curve(Distribution([0, 1], [0.5, 0.5]), 10**20, 0.1)
    with pytest.raises(InvalidInput, match="fewer entries or coarser values"):
        sum_curve(Distribution([0, 1, 1000], [0.3, 0.3, 0.4]), 10**12, 0.1)
    with pytest.raises(InvalidInput, match="known=-5"):
        grouped_property_curve([(5, 0.5)], 0.1, known=-5)


def test_sums_of_coins_are_property_queries_however_large_epsilon_is() -> None:
    epsilons = [3.0, 40.0, 100.0, 600.0, 750.0, 1_000.0]
    for n in (2, 50, 1_000):
        one = property_curve(n, 0.03, epsilons)
        group = grouped_property_curve([(n, 0.03)], epsilons)
        assert group.delta == pytest.approx(one.delta, rel=1e-6)


def _tail_of_coins(first: int, trials: int, p: mpmath.mpf) -> mpmath.mpf:
    """Return P(Bin(trials, p) >= first), term by term."""
    log = mpmath.loggamma(trials + 1) - mpmath.loggamma(first + 1)
    log -= mpmath.loggamma(trials - first + 1)
    term = mpmath.exp(log + first * mpmath.log(p) + (trials - first) * mpmath.log1p(-p))
    total, value = mpmath.mpf(0), first
    while term > total * mpmath.mpf("1e-20"):
        total += term
        term *= mpmath.mpf(trials - value) / (value + 1) * p / (1 - p)
        value += 1
    return total


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [20.0, 30.0])
@pytest.mark.parametrize("p", [0.3, 1 / 3])
def test_rounding_as_often_as_there_are_entries_is_part_of_the_error(
    p: float, epsilon: float
) -> None:
    """One entry among a million coins can move the sum by 4 standard deviations."""
    trials, shift = 10**6, 2_000
    curve = sum_curve_of_groups([(Distribution([0, 1], [1 - p, p]), trials)], [0, shift], [epsilon])
    with mpmath.workdps(40):
        exact = []
        for chance in (mpmath.mpf(p), 1 - mpmath.mpf(p)):
            # The best threshold is where the next term gains nothing.
            middle = int(trials * chance)
            thresholds = range(middle, middle + 20_000)
            log_odds = mpmath.log(chance / (1 - chance))

            def gain(a: int, log_odds: mpmath.mpf = log_odds) -> mpmath.mpf:
                """Return the logarithm of f(a - shift) / (e^epsilon f(a))."""
                return (
                    mpmath.loggamma(a + 1)
                    + mpmath.loggamma(trials - a + 1)
                    - mpmath.loggamma(a - shift + 1)
                    - mpmath.loggamma(trials - a + shift + 1)
                    - shift * log_odds
                    - epsilon
                )

            best = thresholds[bisect.bisect_left(thresholds, 0, key=gain)]
            exact.append(
                _tail_of_coins(best - shift, trials, chance)
                - mpmath.exp(epsilon) * _tail_of_coins(best, trials, chance)
            )
        assert float(curve.lower[0]) <= max(exact) <= float(curve.delta[0])
    assert curve.delta[0] - curve.lower[0] < 1e-9 * curve.delta[0]
