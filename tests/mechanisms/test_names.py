"""Which mechanisms a statistic has, and what they take for granted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omit import Column
from omit.mechanisms.names import usual_step


@given(lower=st.integers(-1000, 1000), width=st.integers(1, 1_000_000), value=st.floats(0, 1))
def test_whole_numbers_are_answers_of_a_quantile_where_bounds_are_whole(
    lower: int, width: int, value: float
) -> None:
    bounds, number = (lower, lower + width), lower + round(value * width)
    step = usual_step(bounds)
    assert step is not None
    assert 10_000 <= width / step <= 1_000_000
    column = Column.from_counts([number], [1], bounds=bounds, step=step)
    assert (column.values == number).all()
    assert column.rounded == 0


@pytest.mark.parametrize("bounds", [(0.5, 1.5), (0, 2_000_000), (3, 3), (0.0, 1e-320)])
def test_nobody_knows_which_answers_a_quantile_has_between_other_bounds(
    bounds: tuple[float, float],
) -> None:
    assert usual_step(bounds) is None
