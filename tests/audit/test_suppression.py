"""The checks of randomised suppression refute what is wrong, and agree with whole tables."""

from __future__ import annotations

import math

import pytest

from omit.audit import suppression as audit
from omit.audit.bounds import run
from omit.disclosure.suppression import RandomisedCellSuppression
from tests.disclosure.enumeration import worst_delta


@pytest.mark.parametrize("zeros_kept", [False, True])
@pytest.mark.parametrize(("cells", "records", "largest"), [(2, 3, 3), (3, 4, 2), (3, 5, 4)])
def test_two_cells_tell_as_much_as_the_whole_table(
    zeros_kept: bool, cells: int, records: int, largest: int
) -> None:
    mechanism = RandomisedCellSuppression(3, zeros_kept, 0.8)

    def law(count: int) -> dict[int, float]:
        return audit.cell_law(mechanism, count)

    def named(count: int) -> dict[object, float]:
        return dict(law(count).items())

    listed = audit.listed_delta(law, cells, records, largest, 0.8)
    assert listed == pytest.approx(worst_delta(named, cells, records, largest, 0.8), abs=1e-14)


def test_a_cell_that_may_show_its_count_twice_is_one_answer() -> None:
    hidden = RandomisedCellSuppression(6, True, 1.0)
    assert audit.cell_law(hidden, 0) == {0: 1.0}
    assert audit.cell_law(hidden, 3) == {3: pytest.approx(1.0)}
    assert audit.cell_law(hidden, 6) == {3: pytest.approx(0.5), 6: pytest.approx(0.5)}


def test_a_smaller_delta_than_theorem_one_states_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = RandomisedCellSuppression.published_delta

    def steeper(self: RandomisedCellSuppression, largest_count: int) -> object:
        bound = whole(self, largest_count)
        return type(bound).of_shortfall(bound.epsilon, bound.log_shortfall + self.epsilon)

    monkeypatch.setattr(RandomisedCellSuppression, "published_delta", steeper)
    *exact, theorem = audit.checks(cases=60)
    outcome = run(theorem)
    assert not outcome.holds
    assert outcome.violation > 1e-3
    assert all(run(check).holds for check in exact)
    assert math.isfinite(outcome.closest_ratio)
