"""The figure shows what the bounds say."""

from __future__ import annotations

import numpy as np

from omit.papers.omitting_records.privacy_figures import REGIONS, privacy_figure, regions


def test_the_figure_has_a_column_for_each_epsilon_and_names_its_axes() -> None:
    figure = privacy_figure(epsilons=(0.5, 1.0), resolution=40)
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:2]] == [
        "mechanism: ε = 0.5",
        "mechanism: ε = 1",
    ]
    assert "M, largest probability of deletion" in figure.axes[0].get_ylabel()
    assert len(figure.legends[0].get_texts()) == 4 + len(REGIONS)


def test_the_regions_are_those_of_the_papers_figure_75() -> None:
    # Near m = 0 copies of one record lose most; near M = 1 records around a hub; and for a small
    # epsilon near the diagonal beyond one half the other direction decides.
    assert regions(1.0, np.array([0.05]), np.array([0.3])) == [0.0]
    assert regions(1.0, np.array([0.5]), np.array([0.97])) == [1.0]
    assert regions(0.0, np.array([0.7]), np.array([0.75])) == [2.0]
    assert regions(1.0, np.array([0.45]), np.array([0.6])) == [3.0]
