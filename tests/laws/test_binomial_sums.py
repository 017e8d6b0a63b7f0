"""Mean distances of sums of binomials, against exact arithmetic and a closed form."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omit.laws.counts import mean_distances

chances = st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0)


def exact_distance(counts: list[int], shares: list[float], number: int) -> Fraction:
    """Return E|S - number| from the law of S in fractions, one trial at a time."""
    law = {0: Fraction(1)}
    for count, share in zip(counts, shares, strict=True):
        p = Fraction(share)
        for _ in range(count):
            longer: dict[int, Fraction] = {}
            for value, chance in law.items():
                longer[value] = longer.get(value, Fraction(0)) + chance * (1 - p)
                longer[value + 1] = longer.get(value + 1, Fraction(0)) + chance * p
            law = longer
    return sum((abs(value - number) * chance for value, chance in law.items()), Fraction(0))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), chances, chances), min_size=1, max_size=4),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_a_mean_distance_is_that_of_the_law_in_fractions(
    binomials: list[tuple[int, float, float]], first: int, second: int
) -> None:
    counts = [each[0] for each in binomials]
    found = mean_distances(
        np.array(counts),
        np.array([each[1:] for each in binomials]),
        np.array([0, len(counts)]),
        np.array([[first, second]]),
    )
    for place, number in enumerate((first, second)):
        shares = [each[1 + place] for each in binomials]
        expected = float(exact_distance(counts, shares, number))
        assert found[0, place] == pytest.approx(expected, rel=1e-13, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1024, 2**18])
@pytest.mark.parametrize("p", [2**-10, 0.0625, 0.5, 0.875])
def test_a_large_binomial_has_de_moivres_distance_from_its_mean(n: int, p: float) -> None:
    """E|S - np| = 2 v (1 - p) P(S = v) with v the least whole number above np."""
    above = int(n * p) + 1
    with mpmath.workdps(40):
        share = mpmath.mpf(p)
        likely = comb(n, above) * share**above * (1 - share) ** (n - above)
        expected = float(2 * above * (1 - share) * likely)
    found = mean_distances(
        np.array([n]), np.array([[p]]), np.array([0, 1]), np.array([[above - 1]])
    )
    assert found[0, 0] == pytest.approx(expected, rel=1e-11)


def test_groups_do_not_touch_each_other() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 40, 9)
    shares, numbers = rng.random((9, 3)), rng.integers(0, 90, (3, 3))
    starts = np.array([0, 2, 3, 9])
    together = mean_distances(counts, shares, starts, numbers)
    for group in range(3):
        own = slice(starts[group], starts[group + 1])
        alone = mean_distances(
            counts[own],
            shares[own],
            np.array([0, own.stop - own.start]),
            numbers[group : group + 1],
        )
        assert (together[group] == alone[0]).all()


def test_what_is_certain_has_the_distance_of_numbers() -> None:
    found = mean_distances(
        np.array([4, 3]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0, 2]), np.array([[5, 5]])
    )
    assert found.tolist() == [[2.0, 1.0]]
