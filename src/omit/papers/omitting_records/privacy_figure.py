"""The privacy of outlier-score suppression as a picture.

Columns are the epsilon of the mechanism, axes the smallest and largest probability of deletion.
The first two rows show epsilon of the release, by Theorem 5.4 and by the mixture bound, with the
region in which privacy is amplified (Figure 2 of the omitting-records paper). The third shows which
term of Theorem 5.4 is the largest, and so which databases lose most by its proof (Figure 75).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omit._numeric import FloatArray
from omit._text import usable
from omit.errors import InvalidInput
from omit.omissions.outlier_score import (
    maximiser_l1,
    maximiser_l2,
    mixture_epsilon,
    published_epsilon,
    published_terms,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PRIVACY_EPSILONS = (0.0, 0.5, 1.0, 2.0)
_MOST_COLUMNS = 20
_LARGEST_EPSILON = 100.0

# Steps of about 1.5 to 2, so that lines neither crowd near the corner nor leave the middle empty.
_LEVELS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 15, 30, 60)
# Light and dark enough to be told apart in grey.
_AMPLIFIED = "#74a9cf"
_WORSE = "#fee8d2"

REGIONS = (
    ("copies of one record, one far away (p = 1)", "#fdae6b", ""),
    ("records far apart, one between them (p = 0)", "#a1d99b", "..."),
    ("copies of one record, in the other direction", "#bcbddc", "xxx"),
    ("a mixture of both (0 < p < 1)", "#f7f7f7", "///"),
)


def privacy_figure(epsilons: Sequence[float] = PRIVACY_EPSILONS, resolution: int = 240) -> Figure:
    """Return the figure: contours of both bounds and the regions of the published one.

    Parameters
    ----------
    epsilons : sequence of float
        The epsilon of the mechanism, one for each column.
    resolution : int
        Grid points along each axis.

    Raises
    ------
    InvalidInput
        If there are too many columns, or an epsilon is beyond all contours.
    """
    from matplotlib.figure import Figure

    if not 1 <= len(epsilons) <= _MOST_COLUMNS or max(epsilons) > _LARGEST_EPSILON:
        raise InvalidInput(
            f"Expected one to {_MOST_COLUMNS} columns with an epsilon of at most "
            f"{_LARGEST_EPSILON:g}."
        )
    columns = len(epsilons)
    figure = Figure(figsize=(2.75 * columns + 0.9, 9.4), layout="constrained")
    axes = figure.subplots(3, columns, sharex=True, sharey=True, squeeze=False)
    axis = (np.arange(resolution) + 0.5) / resolution
    m, M = np.meshgrid(axis, axis)
    # Below the diagonal the values beside it go on, so that areas run up to it.
    M = np.maximum(M, m + 0.25 / resolution)
    for column, epsilon in enumerate(epsilons):
        axes[0, column].set_title(f"mechanism: ε = {usable(epsilon)}", fontsize=11)
        for row, bound in enumerate((published_epsilon, mixture_epsilon)):
            _draw_contours(axes[row, column], bound, epsilon, m, M)
        _draw_regions(axes[2, column], epsilon, m, M)
        axes[2, column].set_xlabel("m, smallest probability of deletion", fontsize=9)
    for row, name in enumerate(
        (
            "ε of the release\npublished bound",
            "ε of the release\nmixture bound",
            "largest term of the\npublished bound",
        )
    ):
        axes[row, 0].set_ylabel(f"{name}\n\nM, largest probability of deletion", fontsize=9)
    figure.suptitle("What outlier-score suppression leaves of ε", fontsize=13)
    _draw_legends(figure)
    return figure


def regions(epsilon: float, m: FloatArray, M: FloatArray) -> FloatArray:
    """Return for each (m, M) the number of the region, in the order of `REGIONS`.

    Examples
    --------
    >>> regions(0.5, np.array([0.1, 0.45]), np.array([0.2, 0.9]))
    array([0., 1.])
    """
    first, second, third = published_terms(epsilon, m, M)
    p = np.where(first >= second, maximiser_l1(epsilon, m, M), maximiser_l2(epsilon, m, M))
    inside = np.where(p == 1, 0.0, np.where(p == 0, 1.0, 3.0))
    return np.where(third > np.maximum(first, second), 2.0, inside)


def _draw_contours(
    axes: Axes,
    bound: Callable[[float, FloatArray, FloatArray], FloatArray],
    epsilon: float,
    m: FloatArray,
    M: FloatArray,
) -> None:
    values = bound(epsilon, m, M)
    extent = m[0], m[0]
    # A bound equal to epsilon up to rounding amplifies: without the margin the boundary flickers.
    margin = 1e-12
    axes.contourf(*extent, values, levels=[-1, epsilon + margin, 1e9], colors=[_AMPLIFIED, _WORSE])
    levels = [level for level in _LEVELS if level != epsilon]
    _cover_below_diagonal(axes)
    above = np.ma.masked_where(np.triu(np.ones_like(values), k=1) > 0, values)
    lines = axes.contour(*extent, above, levels=levels, colors="0.25", linewidths=0.7)
    axes.clabel(lines, fmt=lambda value: f"{value:g}", fontsize=7)
    if epsilon > 0:
        axes.contour(*extent, above, levels=[epsilon], colors="#08306b", linewidths=2.2)
    elif float(values.max()) == 0:
        axes.text(0.3, 0.75, "ε = 0\neverywhere", ha="center", fontsize=9)
    _frame(axes)


def _draw_regions(axes: Axes, epsilon: float, m: FloatArray, M: FloatArray) -> None:
    axes.contourf(
        m[0],
        m[0],
        regions(epsilon, m, M),
        levels=[-0.5, 0.5, 1.5, 2.5, 3.5],
        colors=[colour for _, colour, _ in REGIONS],
        hatches=[hatch for _, _, hatch in REGIONS],
    )
    _cover_below_diagonal(axes)
    _frame(axes)


def _cover_below_diagonal(axes: Axes) -> None:
    axes.fill([0, 1, 1], [0, 0, 1], color="white", zorder=2.5)


def _frame(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], color="0.4", linewidth=1, linestyle=":", zorder=3)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.tick_params(labelsize=8)


def _draw_legends(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    bounds: list[Any] = [
        Patch(color=_AMPLIFIED, label="privacy is amplified (ε of the release ≤ ε)"),
        Patch(color=_WORSE, label="privacy is lost"),
        Line2D([], [], color="#08306b", linewidth=2, label="unchanged"),
        Line2D([], [], color="0.4", linestyle=":", label="m = M: Poisson sampling"),
    ]
    worst = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.3", label=name)
        for name, colour, hatch in REGIONS
    ]
    figure.legend(
        handles=[*bounds, *worst],
        loc="outside lower center",
        ncols=2,
        fontsize=9,
        frameon=False,
        title="Rows 1 and 2 (left), row 3: which databases lose most by Theorem 5.4 (right)",
        title_fontsize=9,
    )
