"""What the best attacker can tell at a guarantee, as a picture: hits over false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omit._text import rounded_up
from omit.guarantee import Guarantee, Statement
from omit.report.figure import series_style
from omit.report.page import Caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRADEOFF = "hits over false alarms"
"""What the picture is called among the figures of a result."""


def draw_tradeoff(axes: Axes, promise: Guarantee | Statement) -> None:
    """Draw the largest probability of a hit over that of a false alarm, above mere guessing.

    The line begins at delta, is straight between its corners, and has two: where both of its parts
    meet, and where hits are certain.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> draw_tradeoff(axes, Guarantee(1.0))
    >>> [float(round(y, 1)) for y in axes.get_lines()[0].get_ydata()]
    [0.0, 73.1, 100.0, 100.0]
    """
    certain = 1 - promise.delta
    meeting = certain / (1 + np.exp(min(promise.epsilon, 700.0)))
    alarms = np.array([0.0, meeting, certain, 1.0])
    hits = np.array([promise.hits(float(share)) for share in alarms])
    alarms, hits = 100 * alarms, 100 * hits
    axes.plot(alarms, hits, linewidth=1.8, label="the best attacker", **series_style(0))
    axes.plot([0, 100], [0, 100], linewidth=1.2, label="guessing", **series_style(1))
    axes.fill_between(alarms, hits, alarms, color="0.9")
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100.5)
    axes.set_xlabel("false alarms, %")
    axes.set_ylabel("hits, %")
    axes.set_title(f"at most {_points(promise)} more hits than false alarms", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="lower right")


def tradeoff_caption(promise: Guarantee | Statement) -> Caption:
    """Return what the picture shows, in words.

    Examples
    --------
    >>> tradeoff_caption(Guarantee(1.0)).title
    'What an attacker can tell who knows all other records: hits over false alarms.'
    """
    return Caption(
        "What an attacker can tell who knows all other records: hits over false alarms.",
        promise.risk(),
    )


def _points(promise: Guarantee | Statement) -> str:
    return f"{rounded_up(100 * promise.advantage, 3)} points"
