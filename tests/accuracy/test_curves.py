"""Curves over sampling rates, which are computed from coarse to fine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import omit
from omit.accuracy.expected import Question
from omit.accuracy.grids import CurvesQuestion

AGES = omit.read("adult", "age")


class _Known:
    """Errors at three rates, for one epsilon."""

    def __init__(self, *errors: float) -> None:
        self.errors = errors

    def values(self, position: int) -> Any:
        return np.array([self.errors[position]])


@pytest.mark.parametrize(
    ("errors", "bent"),
    [
        ((1.0, 1.0, 1.0), False),
        ((0.0, 0.0, 0.0), False),
        ((1.0, 0.0, 1.0), True),
        ((0.0, 1.0, 1.0), True),
        ((np.nan, 1.0, 1.0), True),
        ((1.0, 0.1, 0.01), False),
        ((1.0, 0.9, 0.01), True),
    ],
)
def test_a_curve_is_refined_where_errors_vanish_or_do_not_exist(
    errors: tuple[float, ...], bent: bool
) -> None:
    question = Question(AGES, omit.NoisyMean(), omit.Guarantee(1.0))
    curves = CurvesQuestion(question, rates=(0.2, 0.4, 0.6))
    assert curves._is_bent(_Known(*errors), 0, 1, 2) == bent  # type: ignore[arg-type]  # has what is asked
