"""Pictures of errors that have nothing to show."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from omit import Column, Guarantee, NoisyMean
from omit.accuracy.expected import Question
from omit.accuracy.figures import rate_figure, score_figure
from omit.accuracy.grids import CurvesQuestion
from omit.report.files import save_figure


@pytest.mark.slow
@pytest.mark.parametrize("draw", [rate_figure, score_figure])
def test_errors_that_are_all_zero_are_drawn(draw: object, tmp_path: Path) -> None:
    assert callable(draw)
    column = Column.from_values([30] * 50, bounds=(30, 30))
    question = Question(column, NoisyMean(), Guarantee(1.0))
    found = CurvesQuestion(question, None, (0.5,), (0.1, 0.5)).answer()
    assert not found.by_rate.baseline.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save_figure(draw(found), tmp_path / "errors.svg")
