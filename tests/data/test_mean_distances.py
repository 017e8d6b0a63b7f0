"""Mean distances in whole numbers, and what scores made of them lose, without rounding."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omit import Column, OutlierScoreSuppression, Points
from omit.data.distances import column_distances, point_distances
from tests.parts import inclusion

Deletions = Sequence[Fraction]


def exact_loss(
    epsilon: float, before: Deletions, after: Deletions, added: Fraction, copies: Sequence[int]
) -> mpmath.mpf:
    """Return the loss of a pair of neighbours over all epsilon-DP mechanisms, to fifty digits.

    By the mixture bound's own formula, in both directions; `copies` says how many records share
    each pair of probabilities.
    """

    def number(fraction: Fraction) -> mpmath.mpf:
        return mpmath.mpf(fraction.numerator) / fraction.denominator

    with mpmath.workdps(50):
        E = mpmath.exp(mpmath.mpf(epsilon))
        gone = number(added)
        there = mpmath.log(gone + E * (1 - gone))
        back = -mpmath.log(gone + (1 - gone) / E)
        for count, first, second in zip(copies, before, after, strict=True):
            o, later = number(first), number(second)
            rises = (1 + (E - 1) * later) / (1 + (E - 1) * o)
            falls = (E - (E - 1) * o) / (E - (E - 1) * later)
            if later < o:
                rises, falls = 1 / falls, 1 / rises
            there += count * mpmath.log(rises)
            back += count * mpmath.log(falls)
        return max(there, back)


def exactly(suppression: OutlierScoreSuppression, data: Column | Points) -> Sequence[Fraction]:
    distance = "euclidean" if isinstance(data, Points) else "absolute"
    return suppression.deletion_probabilities(data, distance)


def rounded(suppression: OutlierScoreSuppression, data: Column | Points) -> Deletions:
    """Return the deletion probabilities of a release that draws with floating-point numbers."""
    return [1 - Fraction(float(keep)) for keep in inclusion(suppression, data)]


def losses_of_column(
    suppression: OutlierScoreSuppression, column: Column, epsilon: float
) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Return the losses, with rounded and with exact scores, for every record taken away."""
    found = []
    for place in range(column.distinct):
        counts = column.counts.copy()
        counts[place] -= 1
        left = np.flatnonzero(counts)
        if not len(left):
            continue
        smaller = Column.from_counts(column.values[left], counts[left], bounds=column.bounds)
        pair = []
        for scores in (rounded, exactly):
            larger = scores(suppression, column)
            after = [larger[int(each)] for each in left]
            before = scores(suppression, smaller)
            pair.append(exact_loss(epsilon, before, after, larger[place], counts[left].tolist()))
        found.append((pair[0], pair[1]))
    return found


def stated(suppression: OutlierScoreSuppression, epsilon: float) -> float:
    return float(suppression.epsilon_after(epsilon))


def test_two_values_far_from_zero_lose_no_more_than_is_stated() -> None:
    """With sums that cancel, these neighbours lost 2.1 where 1.332 is stated."""
    suppression, far = OutlierScoreSuppression(0.1, 0.9), 6e15
    for few in range(1597, 1604):
        column = Column.from_counts([far, far + 1], [few, 5800], bounds=(far, far + 1))
        for loss, _ in losses_of_column(suppression, column, 1.0):
            assert loss < 1.12
    assert stated(suppression, 1.0) == pytest.approx(1.3316, abs=1e-4)


@st.composite
def far_columns(draw: st.DrawFn) -> Column:
    start = draw(st.sampled_from([0.0, 1.0, -1e9, 1.7e15, 6e15, -9e15, 1e99]))
    width = draw(st.sampled_from([1.0, 3.0, 1000.0, 1e-3])) * max(1.0, abs(start) * 2.0**-52)
    shares = draw(st.lists(st.floats(0, 1), min_size=2, max_size=5))
    counts = draw(st.lists(st.integers(1, 20_000), min_size=len(shares), max_size=len(shares)))
    upper = start + width if start + width > start else float(np.nextafter(start, np.inf))
    values = np.clip(start + np.array(shares) * (upper - start), start, upper)
    return Column.from_counts(values, counts, bounds=(start, upper))


@pytest.mark.slow
@settings(max_examples=120)
@given(
    column=far_columns(),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    epsilon=st.floats(0.01, 4),
    distance=st.sampled_from(["absolute", "discrete"]),
)
def test_no_column_loses_more_than_is_stated_wherever_it_is(
    column: Column, ends: tuple[float, float], epsilon: float, distance: str
) -> None:
    suppression = OutlierScoreSuppression(min(ends), max(ends), distance)
    cost = suppression.rounding_cost(epsilon, column.size)
    bound = stated(suppression, epsilon)
    for loss, exact in losses_of_column(suppression, column, epsilon):
        # The bound itself is a floating-point number of some fourteen digits.
        assert exact <= bound * (1 + 1e-14) + 1e-16
        assert abs(loss - exact) <= cost


def test_a_crowd_and_one_far_record_come_near_the_bound_and_not_above() -> None:
    for start in (0.0, 6e15, -1e99):
        upper = max(start + 1.0, float(np.nextafter(start, np.inf)))
        for m, M, epsilon in ((0.1, 0.2, 0.25), (0.3, 0.7, 1.0), (0.0, 1.0, 1.0)):
            suppression = OutlierScoreSuppression(m, M)
            column = Column.from_counts([start, upper], [20_000, 1], bounds=(start, upper))
            loss = losses_of_column(suppression, column, epsilon)[1][0]
            assert 0.9998 * stated(suppression, epsilon) < loss < stated(suppression, epsilon)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    shares=st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9
    ),
    start=st.sampled_from([0.0, -1e9, 6e15]),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    epsilon=st.floats(0.01, 4),
    distance=st.sampled_from(["euclidean", "manhattan", "discrete"]),
)
def test_no_points_lose_more_than_is_stated_wherever_they_are(
    shares: list[tuple[float, float, float]],
    start: float,
    ends: tuple[float, float],
    epsilon: float,
    distance: str,
) -> None:
    suppression = OutlierScoreSuppression(min(ends), max(ends), distance)
    bounds = (start, start + 8.0)
    rows = np.clip(start + 8.0 * np.array(shares), *bounds)
    rows = np.concatenate([rows, rows[:1], rows[:1]])
    larger, smaller = Points.from_rows(rows, bounds), Points.from_rows(rows[:-1], bounds)
    once = [1] * smaller.size
    bound = stated(suppression, epsilon)
    found = []
    for scores in (rounded, exactly):
        after = scores(suppression, larger)
        found.append(exact_loss(epsilon, scores(suppression, smaller), after[:-1], after[-1], once))
    loss, exact = found
    assert exact <= bound * (1 + 1e-14) + 1e-16
    assert abs(loss - exact) <= suppression.rounding_cost(epsilon, larger.size)


def pair_distance(one: Sequence[float], other: Sequence[float], distance: str) -> tuple[int, int]:
    """Return the whole distance of two records, and the largest one there can be."""
    totals = point_distances(Points.from_rows([one, other], (0, 1)), distance)
    return int(totals.totals[0]), totals.whole // 2


@pytest.mark.slow
@given(
    start=st.tuples(*[st.floats(0, 1)] * 4),
    end=st.tuples(*[st.floats(0, 1)] * 4),
    share=st.floats(0, 1),
    off=st.sampled_from([0.0, 1e-16, 1e-12]),
)
@pytest.mark.parametrize("distance", ["euclidean", "manhattan"])
def test_whole_distances_keep_the_triangle_inequality_where_it_is_tight(
    distance: str,
    start: tuple[float, ...],
    end: tuple[float, ...],
    share: float,
    off: float,
) -> None:
    between = [
        min(max((1 - share) * one + share * other + off, 0.0), 1.0)
        for one, other in zip(start, end, strict=True)
    ]
    direct, largest = pair_distance(start, end, distance)
    first, _ = pair_distance(start, between, distance)
    second, _ = pair_distance(between, end, distance)
    assert direct <= first + second
    assert first <= direct + second
    assert 0 <= direct <= largest
    assert pair_distance(end, start, distance)[0] == direct


@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "discrete"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 6, 40])
def test_no_distance_exceeds_that_of_opposite_corners(distance: str, dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    opposite, largest = pair_distance([0.0] * dimensions, [1.0] * dimensions, distance)
    assert opposite == largest
    nearly = np.where(rng.random((50, dimensions)) < 0.5, 1.0, 1 - 2.0**-53)
    for corner in nearly:
        assert pair_distance([0.0] * dimensions, list(corner), distance)[0] <= largest


@pytest.mark.slow
def test_totals_are_the_sums_of_all_pairs() -> None:
    rows = np.random.default_rng(4).integers(0, 5, size=(40, 3)) / 4
    points = Points.from_rows(rows, (0, 1))
    for distance in ("euclidean", "manhattan", "discrete"):
        totals = point_distances(points, distance)
        for place, one in enumerate(points.rows.tolist()):
            pairs = [pair_distance(one, other, distance)[0] for other in points.rows.tolist()]
            assert totals.totals[place] == sum(pairs)


def test_sums_of_a_column_are_exact_for_any_number_of_records() -> None:
    """Nineteen digits and more, where 64 bits would overflow."""
    counts = [2**40, 3, 2**41 + 1]
    column = Column.from_counts([0.0, 0.5, 1.0], counts, bounds=(0, 1))
    totals = column_distances(column, "absolute")
    places = [0, 2**51, 2**52]
    for place, total in zip(places, totals.totals, strict=True):
        assert total == sum(n * abs(place - p) for n, p in zip(counts, places, strict=True))


def test_equal_records_have_equal_scores_and_order_by_distance_is_kept() -> None:
    values = 1e15 + np.array([0.0, 0.125, 0.25, 7.875])
    column = Column.from_counts(values, [900, 5, 7, 1], bounds=(1e15, 1e15 + 8))
    near = Column.from_counts(values - 1e15, [900, 5, 7, 1], bounds=(0, 8))
    suppression = OutlierScoreSuppression(0.1, 0.6)
    keep = inclusion(suppression, column)
    assert keep.tolist() == inclusion(suppression, near).tolist()
    assert keep[0] > keep[1] > keep[2] > keep[3]


def test_probabilities_are_the_nearest_numbers_to_the_exact_ones() -> None:
    rng = np.random.default_rng(2)
    for m, M in ((0.1, 0.3), (0.0, 1.0), (1e-300, 0.7), (0.25, 0.25)):
        column = Column.from_values(rng.random(50), bounds=(0, 1))
        suppression = OutlierScoreSuppression(m, M)
        exact = exactly(suppression, column)
        for keep, gone in zip(inclusion(suppression, column), exact, strict=True):
            assert keep == float(1 - gone)


def test_triangles_of_random_records_hold() -> None:
    rng = np.random.default_rng(8)
    for dimensions in (2, 6):
        rows = rng.random((12, dimensions)).tolist()
        whole = {
            (a, b): pair_distance(rows[a], rows[b], "euclidean")[0]
            for a, b in itertools.product(range(12), repeat=2)
        }
        for a, b, c in itertools.permutations(range(12), 3):
            assert whole[a, c] <= whole[a, b] + whole[b, c]
