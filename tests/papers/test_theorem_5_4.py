"""The computer-assisted step of Theorem 5.4, and whether its check could fail."""

from __future__ import annotations

import math
from functools import reduce
from operator import or_

import numpy as np
import pytest
from numpy.typing import ArrayLike

from omit._numeric import FloatArray
from omit.errors import InvalidInput
from omit.omissions.outlier_score import published_terms
from omit.papers.omitting_records.theorem_5_4 import (
    EPSILONS,
    Verification,
    check,
    grid,
    slices,
    verify,
)
from omit.papers.omitting_records.theorem_5_4_search import largest_when_adding

pytestmark = pytest.mark.slow

SOME_EPSILONS = (0.0, 0.01, 0.25, 1.0, 2.0, 5.0, 20.0, 100.0)
ROUNDING = 1e-11


def lowered_terms(
    epsilon: ArrayLike, m: ArrayLike, M: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    first, second, third = published_terms(epsilon, m, M)
    return first - 1e-3, second - 1e-3, third - 1e-3


@pytest.fixture(scope="module")
def coarse() -> Verification:
    return verify(SOME_EPSILONS, step=0.1)


def test_the_grid_is_that_of_the_paper() -> None:
    m, M = grid()
    assert len(EPSILONS) == 371
    assert m.size == 4950
    assert (m <= M).all()
    assert (m.min(), M.max()) == (0.01, 0.99)
    assert list(EPSILONS) == sorted(set(EPSILONS))


def test_formula_b8_never_exceeds_the_published_formula(coarse: Verification) -> None:
    assert coarse.cells == len(SOME_EPSILONS) * 45
    assert coarse.removing.above < 1e-9


def test_a_billion_records_come_within_2e_7_of_the_published_formula(coarse: Verification) -> None:
    assert coarse.removing.below < 2e-7
    assert coarse.adding.below < 2e-7


def test_the_limit_of_large_databases_attains_the_published_formula() -> None:
    limit = verify(SOME_EPSILONS, step=0.1, largest_database=math.inf)
    for disagreement in (limit.removing, limit.adding):
        assert abs(disagreement.above) < ROUNDING
        assert abs(disagreement.below) < ROUNDING


def test_adding_a_record_never_exceeds_its_limit(coarse: Verification) -> None:
    assert coarse.adding.above < 1e-9


def test_the_second_term_for_adding_a_record_is_superfluous(coarse: Verification) -> None:
    assert coarse.superfluous.above == 0


def test_a_formula_that_is_too_low_is_found_out() -> None:
    found = verify(SOME_EPSILONS, step=0.1, hypothesis=lowered_terms)
    for disagreement in (found.removing, found.adding, found.superfluous):
        assert disagreement.above == pytest.approx(1e-3, rel=1e-3)


def test_the_disagreement_says_where_it_is() -> None:
    def wrong_in_one_cell(
        epsilon: ArrayLike, m: ArrayLike, M: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        first, second, third = published_terms(epsilon, m, M)
        cell = np.isclose(epsilon, 1.0) & np.isclose(m, 0.25) & np.isclose(M, 0.5)
        return first - 1e-3 * cell, second - 1e-3 * cell, third

    found = verify([0.5, 1.0], step=0.25, hypothesis=wrong_in_one_cell)
    assert found.removing.where_above == (1.0, 0.25, 0.5)
    assert found.removing.above == pytest.approx(1e-3, abs=1e-6)


def test_the_parts_of_an_interrupted_verification_add_up() -> None:
    parts = slices([0.5, 1.0], step=0.05)
    first, second = next(parts), next(parts)
    parts.close()
    together = first | second
    assert together.cells == first.cells + second.cells == 32
    assert together.removing.above == max(first.removing.above, second.removing.above)
    assert together.removing.below == max(first.removing.below, second.removing.below)


def test_parts_add_up_to_the_same_in_whichever_order_they_finish() -> None:
    # Many cells agree to the last digit, so that which of them is named must not be chance.
    parts = list(slices([0.0, 100.0], step=0.1))
    whole = check([0.0, 100.0], *grid(0.1))
    for order in (parts, parts[::-1], parts[1::2] + parts[::2]):
        assert reduce(or_, order) == whole


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one over a whole number"):
        grid(0.3)
    with pytest.raises(InvalidInput, match="one over a whole number"):
        grid(1e-310)
    with pytest.raises(InvalidInput, match="m=0"):
        check(1.0, 0.0, 0.5)
    with pytest.raises(InvalidInput, match="epsilons"):
        check(-1.0, 0.1, 0.5)
    with pytest.raises(InvalidInput, match="largest_database=2"):
        largest_when_adding(1.0, 0.1, 0.5, largest_database=2)
    with pytest.raises(InvalidInput, match="workers=0"):
        verify(1.0, 0.5, workers=0)
