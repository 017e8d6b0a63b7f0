"""Which mechanisms a statistic has, and what they take for granted."""

from __future__ import annotations

import numpy as np
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
    assert 10_000 <= width / step <= 1_000_000
    column = Column.from_counts([number], [1], bounds=bounds, step=step)
    assert (column.values == number).all()
    assert column.rounded == 0


@given(lower=st.floats(-1e3, 1e3), width=st.floats(0.1, 1e6))
def test_answers_of_a_quantile_divide_any_bounds(lower: float, width: float) -> None:
    bounds = lower, lower + width
    column = Column.from_counts([lower], [1], bounds=bounds, step=usual_step(bounds))
    assert np.isclose(width / (column.step or 0), round(width / (column.step or 1)))
