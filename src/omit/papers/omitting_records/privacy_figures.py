"""Figures 2 and 75: what Theorem 5.4 and the mixture bound say of outlier scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit._text import usable
from omit.errors import InvalidInput
from omit.omissions import outlier_score
from omit.omissions.outlier_score import mixture_epsilon, published_epsilon
from omit.report.figure import panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure

PRIVACY_EPSILONS = (0.0, 0.5, 1.0, 2.0)
_MOST_COLUMNS = 20
_LARGEST_EPSILON = 100.0
# Between a label and an edge, or half of it between two labels, as part of a panel.
_ROOM = 0.055

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
EXPRESSIONS = (
    "ln(E − (E−1)M) + M/m − 1",
    "ln(E − (E−1)(m+M)/2) + (1 − (m+M)/2)/(1−M) − 1",
    "−ln(1/E + (1 − 1/E)M) + 1 − (1−M)/(1−m)",
    "does not simplify",
)
"""What Theorem 5.4 says in every region, with E for e^ε."""


def privacy_figure(epsilons: Sequence[float] = PRIVACY_EPSILONS, resolution: int = 240) -> Figure:
    """Return the privacy of outlier-score suppression as a picture (Figures 2 and 75).

    Columns are the epsilon of the mechanism, axes the smallest and largest probability of deletion.
    The first two rows show epsilon of the release, by Theorem 5.4 and by the mixture bound, with
    the region in which privacy is amplified. The third shows which term of Theorem 5.4 is the
    largest, and so which databases lose most by its proof.

    Parameters
    ----------
    epsilons : sequence of float
        The epsilon of the mechanism in every column.
    resolution : int
        Grid points along each axis.

    Raises
    ------
    InvalidInput
        If there are too many columns, or an epsilon is beyond all contours.
    """
    figure, axes, m, M = _grid_of_panels(epsilons, 3, resolution)
    _draw_bounds(axes[:2], epsilons, m, M)
    _draw_region_row(axes[2], epsilons, m, M)
    narrow = len(epsilons) == 1
    figure.suptitle(
        "What outlier-score suppression" + ("\n" if narrow else " ") + "leaves of ε", fontsize=13
    )
    _draw_legend(
        figure,
        [*_bound_handles(), *_region_handles([name for name, _, _ in REGIONS])],
        "Rows 1 and 2 (first four), row 3:\nwhich databases lose most by Theorem 5.4"
        if narrow
        else "Rows 1 and 2 (left), row 3: which databases lose most by Theorem 5.4 (right)",
        1 if narrow else 2,
    )
    return figure


def bounds_figure(epsilons: Sequence[float] = PRIVACY_EPSILONS, resolution: int = 240) -> Figure:
    """Return the first two rows of `privacy_figure`: both bounds (Figure 2)."""
    figure, axes, m, M = _grid_of_panels(epsilons, 2, resolution)
    _draw_bounds(axes, epsilons, m, M)
    for panel in axes[-1]:
        panel.set_xlabel("m, smallest probability of deletion", fontsize=9)
    _draw_legend(figure, _bound_handles(), "", 1 if len(epsilons) == 1 else 2)
    return figure


def regions_figure(epsilons: Sequence[float] = PRIVACY_EPSILONS, resolution: int = 240) -> Figure:
    """Return where Theorem 5.4 simplifies, and to what (Figure 75)."""
    figure, axes, m, M = _grid_of_panels(epsilons, 1, resolution)
    _draw_region_row(axes[0], epsilons, m, M)
    axes[0, 0].set_ylabel("M, largest probability of deletion", fontsize=9)
    names = [
        f"{expression}:  {name}" if expression != EXPRESSIONS[-1] else f"{expression}: {name}"
        for (name, _, _), expression in zip(REGIONS, EXPRESSIONS, strict=True)
    ]
    _draw_legend(figure, _region_handles(names), "ε of the release by Theorem 5.4, E = e^ε", 1)
    return figure


def region_numbers(epsilons: Sequence[float]) -> pd.DataFrame:
    """Return on a grid which region it is, what the theorem simplifies to there, and its value."""
    m, M = _coarse_grid()
    parts = []
    for epsilon in epsilons:
        region = regions(epsilon, m, M).astype(int)
        first, second, _third = outlier_score.published_terms(epsilon, m, M)
        l1, l2 = outlier_score.maximiser_l1, outlier_score.maximiser_l2
        p = np.where(first >= second, l1(epsilon, m, M), l2(epsilon, m, M))
        parts.append(
            pd.DataFrame(
                {
                    "epsilon": epsilon,
                    "m": m,
                    "M": M,
                    "region": [REGIONS[number][0] for number in region],
                    "expression": [EXPRESSIONS[number] for number in region],
                    "p": np.where(region == 2, np.nan, p),
                    "published": published_epsilon(epsilon, m, M),
                }
            )
        )
    return pd.concat(parts)


def bound_numbers(epsilons: Sequence[float]) -> pd.DataFrame:
    """Return both bounds on a grid."""
    m, M = _coarse_grid()
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epsilon": epsilon,
                    "m": m,
                    "M": M,
                    "published": published_epsilon(epsilon, m, M),
                    "mixture": mixture_epsilon(epsilon, m, M),
                }
            )
            for epsilon in epsilons
        ]
    )


def _coarse_grid() -> tuple[FloatArray, FloatArray]:
    steps = np.round(0.05 * np.arange(1, 20), 2)
    rows, columns = np.triu_indices(len(steps))
    return steps[rows], steps[columns]


def _grid_of_panels(
    epsilons: Sequence[float], rows: int, resolution: int
) -> tuple[Figure, NDArray[Any], FloatArray, FloatArray]:
    """Return a figure with a column for every epsilon, its panels, and m and M of the points."""
    if not 1 <= len(epsilons) <= _MOST_COLUMNS or max(epsilons) > _LARGEST_EPSILON:
        raise InvalidInput(
            f"Expected one to {_MOST_COLUMNS} columns with an epsilon of at most "
            f"{_LARGEST_EPSILON:g}."
        )
    columns = len(epsilons)
    height = 2.65 * rows + (2.2 if rows == 1 else 1.45 if columns > 1 else 2.4)
    width = max(2.75 * columns + 0.9, 6.4 if rows == 1 or columns == 2 else 0.0)
    figure, axes = panels(width, height, rows, columns, sharex=True, sharey=True)
    axis = (np.arange(resolution) + 0.5) / resolution
    m, M = np.meshgrid(axis, axis)
    for column, epsilon in enumerate(epsilons):
        axes[0, column].set_title(f"mechanism: ε = {usable(epsilon)}", fontsize=11)
    # Values on the diagonal are repeated below it, so that areas run up to it.
    return figure, axes, m, np.maximum(M, m + 0.25 / resolution)


def _draw_bounds(
    axes: NDArray[Any], epsilons: Sequence[float], m: FloatArray, M: FloatArray
) -> None:
    named = (("published", published_epsilon), ("mixture", mixture_epsilon))
    for row, (name, bound) in zip(axes, named, strict=True):
        for panel, epsilon in zip(row, epsilons, strict=True):
            _draw_contours(panel, bound, epsilon, m, M)
        label = f"ε of the release\n{name} bound\n\nM, largest probability of deletion"
        row[0].set_ylabel(label, fontsize=9)


def _draw_region_row(
    row: NDArray[Any], epsilons: Sequence[float], m: FloatArray, M: FloatArray
) -> None:
    for panel, epsilon in zip(row, epsilons, strict=True):
        _draw_regions(panel, epsilon, m, M)
        panel.set_xlabel("m, smallest probability of deletion", fontsize=9)
    label = "largest term of the\npublished bound\n\nM, largest probability of deletion"
    row[0].set_ylabel(label, fontsize=9)


def regions(epsilon: float, m: FloatArray, M: FloatArray) -> FloatArray:
    """Return the number of the region at every (m, M), in the order of `REGIONS`.

    Examples
    --------
    >>> regions(0.5, np.array([0.1, 0.45]), np.array([0.2, 0.9]))
    array([0., 1.])
    """
    first, second, third = outlier_score.published_terms(epsilon, m, M)
    l1, l2 = outlier_score.maximiser_l1, outlier_score.maximiser_l2
    p = np.where(first >= second, l1(epsilon, m, M), l2(epsilon, m, M))
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
    labelled = _apart(lines)
    if labelled:
        axes.clabel(lines, fmt=lambda value: f"{value:g}", fontsize=7, manual=labelled)
    if epsilon > 0:
        axes.contour(*extent, above, levels=[epsilon], colors="#08306b", linewidths=2.2)
    elif float(values.max()) == 0:
        axes.text(0.3, 0.75, "ε = 0\neverywhere", ha="center", fontsize=9)
    _frame(axes)


def _apart(lines: ContourSet) -> list[tuple[float, float]]:
    """Return on every line the point farthest from edges and other labels, if that is far enough.

    The lines run together in the corners, where their labels would strike each other.
    """
    places: list[tuple[float, float]] = []
    for parts in lines.allsegs:
        points = np.concatenate([np.asarray(part) for part in parts] or [np.empty((0, 2))])
        if not len(points):
            continue
        m, M = points.T
        room = np.min([m, 1 - M, (M - m) / math.sqrt(2)], axis=0)
        for place in places:
            room = np.minimum(room, np.hypot(m - place[0], M - place[1]) / 2)
        if room.max() > _ROOM:
            m_best, M_best = points[np.argmax(room)]
            places.append((float(m_best), float(M_best)))
    return places


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


def _bound_handles() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(color=_AMPLIFIED, label="privacy is amplified (ε of the release ≤ ε)"),
        Patch(color=_WORSE, label="privacy is lost"),
        Line2D([], [], color="#08306b", linewidth=2, label="unchanged"),
        Line2D([], [], color="0.4", linestyle=":", label="m = M: Poisson sampling"),
    ]


def _region_handles(names: Sequence[str]) -> list[Any]:
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.3", label=name)
        for name, (_, colour, hatch) in zip(names, REGIONS, strict=True)
    ]


def _draw_legend(figure: Figure, handles: list[Any], title: str, columns: int = 2) -> None:
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
        frameon=False,
        title=title,
        title_fontsize=9,
    )
