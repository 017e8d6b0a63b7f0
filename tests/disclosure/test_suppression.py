"""Cell suppression, deterministic and randomised."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mpmath
import numpy as np
import pytest
from scipy import stats

from omit.disclosure import suppression as suppression_module
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.table import Attribute, CountTable, Universe
from omit.errors import InvalidInput, WrongNeighbours
from omit.guarantee import Guarantee, NoGuarantee
from tests.disclosure.enumeration import worst_delta


def universe(cells: int, records: int, largest: int = 0) -> Universe:
    kinds = Attribute("kind", tuple(f"c{i}" for i in range(cells)))
    return Universe((kinds,), records, largest)


def cell_law(k: int, epsilon: float, zeros_kept: bool, x: int) -> Mapping[object, float]:
    """Return the law of one cell, from the definition, by scipy's Laplace distribution."""
    if x == 0 and zeros_kept:
        return {0: 1.0}
    p = float(stats.laplace(scale=2 / epsilon).cdf(k - x))
    law: dict[object, float] = {k // 2: p}
    law[x] = law.get(x, 0.0) + 1 - p
    return law


@pytest.mark.parametrize(("cells", "records", "largest"), [(2, 4, 0), (3, 5, 0), (3, 6, 3)])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 1.0), (0.3, 0.3), (2.0, 0.5), (2.0, 4.0)])
@pytest.mark.parametrize("zeros_kept", [False, True])
@pytest.mark.parametrize("enumerated", [0, 30])
def test_the_exact_delta_is_that_of_all_tables_and_all_answers(
    monkeypatch: pytest.MonkeyPatch,
    cells: int,
    records: int,
    largest: int,
    k: int,
    epsilon: float,
    at: float,
    zeros_kept: bool,
    enumerated: int,
) -> None:
    monkeypatch.setattr(suppression_module, "_ENUMERATED", enumerated)
    mechanism = RandomisedCellSuppression(k, zeros_kept, epsilon)
    exact = mechanism.exact_delta(at, universe(cells, records, largest))
    listed = worst_delta(
        lambda x: cell_law(k, epsilon, zeros_kept, x), cells, records, largest or records, at
    )
    assert exact.delta == pytest.approx(listed, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_corners_suffice_where_there_are_too_many_pairs_to_list(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    k, largest, cells = (int(rng.integers(low, high)) for low, high in ((1, 20), (2, 30), (2, 6)))
    records = int(rng.integers(largest, cells * largest + 1))
    mechanism = RandomisedCellSuppression(k, bool(rng.integers(2)), float(rng.uniform(0.05, 4)))
    at = float(rng.uniform(0, 4))
    everything = mechanism.exact_delta(at, universe(cells, records, largest))
    monkeypatch.setattr(suppression_module, "_ENUMERATED", 0)
    corners = mechanism.exact_delta(at, universe(cells, records, largest))
    assert corners.log_shortfall == everything.log_shortfall


@pytest.mark.parametrize("seed", range(60))
def test_a_small_delta_is_not_below_150_digits(seed: int) -> None:
    """Far below the threshold nearly everything is suppressed, and delta is rounding or less."""
    rng = np.random.default_rng(seed)
    largest, epsilon = int(rng.integers(2, 30)), float(10 ** rng.uniform(-1, 1.5))
    k = 2 * largest + int(rng.integers(4, 20))
    at = epsilon * float(rng.choice([0.0, 0.5, 1.0]))
    exact = RandomisedCellSuppression(k, False, epsilon).exact_delta(at, universe(3, 2 * largest))
    with mpmath.workdps(150):

        def hidden(x: int) -> mpmath.mpf:
            return 1 if x == k // 2 else 1 - mpmath.exp((x - k) * mpmath.mpf(epsilon) / 2) / 2

        x, y = exact.witness.cells
        stays, moves = hidden(x) * hidden(y), hidden(x - 1) * hidden(y + 1)
        truth = 1 - min(stays, mpmath.exp(at) * moves)
        assert truth <= exact.delta <= truth * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_two_full_cells_need_one_less_a_quarter_of_the_exponential(epsilon: float) -> None:
    mechanism = RandomisedCellSuppression(6, zeros_kept=False, epsilon=epsilon)
    exact = mechanism.exact_delta(epsilon, universe(3, 39, 20))
    assert exact.log_shortfall == pytest.approx(math.log(0.25) - epsilon * (20 - 6 - 0.5))
    published = mechanism.published_delta(20)
    assert published.log_shortfall < exact.log_shortfall, "Theorem 1 is valid and not tight"


def test_untouched_zeros_leave_no_guarantee() -> None:
    answer = RandomisedCellSuppression(6, True, 1.0).guarantee(universe(540, 7634))
    assert isinstance(answer, NoGuarantee)
    assert "no (ε, δ) with δ < 1" in answer.reason
    assert "shown as empty" in answer.reason
    assert 0 in (*answer.witness.cells, *answer.witness.neighbour)


def test_a_delta_that_rounds_to_one_is_no_guarantee_and_says_how_near() -> None:
    answer = RandomisedCellSuppression(6, False, 1.0).guarantee(universe(540, 7634))
    assert isinstance(answer, NoGuarantee)
    assert "1 - 10^-" in answer.reason


def test_deterministic_suppression_shows_two_neighbours_with_different_answers() -> None:
    mechanism = CellSuppression(6)
    answer = mechanism.guarantee(universe(4, 50))
    assert isinstance(answer, NoGuarantee)
    pair = answer.witness
    kinds = Attribute("kind", ("a", "b"))
    rng = np.random.default_rng(0)
    shown = [
        mechanism.draw(CountTable((kinds,), np.array(counts)), rng)
        for counts in (pair.cells, pair.neighbour)
    ]
    assert (shown[0] != shown[1]).any()


def test_nothing_can_be_told_apart_where_every_count_is_suppressed() -> None:
    answer = CellSuppression(9, zeros_kept=False).guarantee(universe(3, 8))
    assert answer == Guarantee(0.0, 0.0, "replace")
    alone = CellSuppression(2).guarantee(universe(1, 8))
    assert alone == Guarantee(0.0, 0.0, "replace"), "one cell holds all records, which is public"


@pytest.mark.parametrize("zeros_kept", [False, True])
def test_errors_in_closed_form_are_those_of_the_law(zeros_kept: bool) -> None:
    counts = [0, 1, 2, 3, 5, 6, 7, 30]
    table = CountTable((Attribute("kind", tuple("abcdefgh")),), np.array(counts))
    errors = RandomisedCellSuppression(7, zeros_kept, 0.8).errors(table)
    for place, x in enumerate(counts):
        law = cell_law(7, 0.8, zeros_kept, x)
        values = np.array([float(str(value)) for value in law])
        chances = np.array(list(law.values()))
        assert errors.bias[place] == pytest.approx(values @ chances - x)
        assert errors.absolute[place] == pytest.approx(np.abs(values - x) @ chances)
        spread = (values - values @ chances) ** 2 @ chances
        assert errors.variance[place] == pytest.approx(spread, abs=1e-12)


def test_draws_have_the_closed_form_mean() -> None:
    """False alarms: 8 cells at 5 standard errors, below 1e-5."""
    table = CountTable((Attribute("kind", tuple("abcdefgh")),), np.array([0, 1, 2, 3, 5, 6, 7, 30]))
    mechanism = RandomisedCellSuppression(6, True, 0.5)
    draws = mechanism.draw(table, np.random.default_rng(3), 20_000)
    errors = mechanism.errors(table)
    tolerance = 5 * np.sqrt(errors.variance / 20_000) + 1e-12
    assert (np.abs(draws.mean(axis=0) - table.flat - errors.bias) <= tolerance).all()


def test_a_huge_epsilon_is_no_trouble() -> None:
    mechanism = RandomisedCellSuppression(40, zeros_kept=False, epsilon=500.0)
    exact = mechanism.exact_delta(500.0, universe(3, 200))
    assert exact.delta == 1.0
    assert exact.log_shortfall < -1000


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidInput, match="k=0"):
        CellSuppression(0)
    with pytest.raises(InvalidInput, match="epsilon above 0"):
        RandomisedCellSuppression(6, True, 0.0)
    with pytest.raises(WrongNeighbours):
        CellSuppression(6).guarantee(universe(2, 5), "add-remove")
    with pytest.raises(InvalidInput, match="below B"):
        RandomisedCellSuppression(6).published_delta(6)
