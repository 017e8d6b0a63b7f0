"""What attackers can tell, as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import omit
from omit.report.tradeoff import draw_tradeoff


@given(
    epsilon=st.floats(0, 50),
    delta=st.floats(0, 1, exclude_max=True),
    alarms=st.floats(0, 1),
)
def test_the_line_is_the_largest_probability_of_a_hit_everywhere(
    epsilon: float, delta: float, alarms: float
) -> None:
    promise = omit.Guarantee(epsilon, delta)
    axes = Figure().subplots()
    draw_tradeoff(axes, promise)
    line, guessing = axes.get_lines()
    assert np.array_equal(guessing.get_xydata(), [[0, 0], [100, 100]])
    drawn = np.interp(100 * alarms, np.array(line.get_xdata()), np.array(line.get_ydata()))
    assert drawn == pytest.approx(100 * promise.hits(alarms), abs=1e-7)


def test_answers_about_privacy_draw_what_attackers_can_tell() -> None:
    sample = omit.PoissonSampling(0.1)
    bound = omit.omissions.bound(sample, omit.Guarantee(1.0))
    calibrated = omit.omissions.calibrate(sample, omit.Guarantee(1.0))
    assert "hits over false alarms" in bound.figures()
    assert bound.captions()["hits over false alarms"].description in bound.notes
    assert calibrated.captions()["hits over false alarms"].description in calibrated.notes
    nothing = omit.omissions.bound(omit.omissions.ThresholdOutlierRemoval(0.5), omit.Guarantee(1.0))
    assert not nothing.figures()
    assert not nothing.captions()
