"""The accuracy-gains paper's figures that need no data: what samples may use and save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from omit._numeric import FloatArray
from omit.omissions.sampling import sampling_base_epsilon
from omit.papers.accuracy_gains import cells, noise_curves
from omit.papers.accuracy_gains.cells import VIOLIN_EPSILONS
from omit.papers.base import Computed, Exhibit
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RATES_OF_NOISE = (1e-4, 1e-2, 0.1, 0.5)
_NOISE_RATIOS = {
    "one_minus_r": noise_curves.mean_noise_excess,
    "r_as_published": noise_curves.mean_noise_ratio_as_published,
}
"""How the noise of a sample's mean relates to that of all records, by the name of a column."""


Curve: TypeAlias = Callable[[float, FloatArray], FloatArray]


def _curve_frame(epsilons: Sequence[float], name: str, curve: Curve) -> pd.DataFrame:
    """Return a curve over the sampling rate, for each epsilon."""
    rates = np.round(np.arange(0.01, 1.001, 0.01), 2)
    return pd.concat(
        [pd.DataFrame({"epsilon": e, "rate": rates, name: curve(e, rates)}) for e in epsilons]
    )


def _curve_figure(height: float, epsilons: Sequence[float], curve: Curve) -> tuple[Figure, Axes]:
    """Draw a curve over the sampling rate, for each epsilon."""
    figure, ((axes,),) = panels(6.4, height)
    rates = np.linspace(0.001, 1, 1000)
    for epsilon in epsilons:
        label = epsilon_label(epsilon)
        axes.plot(100 * rates, curve(epsilon, rates), label=label, **epsilon_style(epsilon))
    axes.set(xlabel="sampling rate, %", xlim=(0, 100))
    axes.grid(alpha=0.25)
    axes.legend(title="guarantee of the release", frameon=False)
    return figure, axes


def _amplification_figure(computed: Computed) -> Figure:
    figure, axes = _curve_figure(4.0, VIOLIN_EPSILONS, sampling_base_epsilon)
    height = float(sampling_base_epsilon(1.0, 0.01))
    axes.plot([1], [height], "o", color="black", markersize=5)
    axes.annotate("1 %: 5.15", (1, height), (6, 5.4))
    axes.set(ylabel="ε of the mechanism on the sample")
    axes.set_ylim(bottom=0)
    return figure


def _saving_figure(computed: Computed) -> Figure:
    figure, axes = _curve_figure(4.2, cells.SAVING_EPSILONS, noise_curves.noise_saving)
    axes.axhline(0.6, color="0.7", linewidth=0.8)
    axes.set(ylim=(0, 1))
    axes.set_ylabel("q: sampling variance ÷ noise variance\nbeyond which nothing is gained")
    return figure


def _noise_frame(computed: Computed) -> pd.DataFrame:
    """Return how the noise of a sample's mean relates to that of all records."""
    return pd.DataFrame(
        [
            (e, p, *(float(r(e, p)) for r in _NOISE_RATIOS.values()))
            for p in _RATES_OF_NOISE
            for e in np.geomspace(1e-12, 1, 49)
        ],
        columns=["epsilon", "rate", *_NOISE_RATIOS],
    )


def _rounding_frame(computed: Computed | None = None) -> pd.DataFrame:
    """Return the largest epsilon with r > 1 in floating point, on all records and on the sample."""
    rates = np.geomspace(1e-4, 0.9, 40)
    crossing = noise_curves.rounding_curve(rates)
    return pd.DataFrame({"rate": rates, "epsilon": crossing, "epsilon_n": crossing / rates})


def _artefact_figure(computed: Computed) -> Figure:
    figure, ((left, right),) = panels(9.6, 4.2, columns=2)
    epsilons = np.geomspace(1e-12, 1, 400)
    for index, rate in enumerate(_RATES_OF_NOISE):
        excess = noise_curves.mean_noise_excess(epsilons, rate)
        left.plot(epsilons, excess, label=f"{100 * rate:g} %", **series_style(index))
    left.set(xscale="log", yscale="log", xlabel="ε of the release")
    left.set_ylabel("1 − r: by how much the noise of all\nrecords is below that of the sample")
    left.set_title("computed without cancellation: always positive", fontsize=10)
    left.legend(title="sampling rate", frameon=False)
    left.grid(alpha=0.25)
    _draw_rounding(right, "epsilon", "the largest ε of the release")
    right.set_title("in floating point: the paper's left panel", fontsize=10)
    return figure


def _draw_rounding(axes: Axes, name: str, label: str) -> None:
    """Draw where rounding lifts r above 1, as the paper's dots, and what explains them."""
    frame = _rounding_frame()
    axes.plot(frame["rate"], np.log(frame[name]), "o", color="0.4", markersize=4, label="r > 1")
    edge = np.sqrt(2.0**-52 / (1 / frame["rate"] - 1)) * frame[name] / frame["epsilon"]
    axes.plot(frame["rate"], np.log(edge), color="black", label="half a step of rounding")
    axes.set(xlabel="sampling rate n/N", ylabel=f"ln of {label}")
    axes.legend(frameon=False)
    axes.grid(alpha=0.25)


def _right_panel_figure(computed: Computed) -> Figure:
    figure, ((axes,),) = panels(5.6, 4.2)
    _draw_rounding(axes, "epsilon_n", "the largest ε on the sample, ε_n")
    axes.axhline(np.log(1.66e-6), color="0.6", linewidth=0.8, linestyle=":")
    axes.annotate("printed: 1.66e-6", (0.9, np.log(1.66e-6)), ha="right", va="top")
    return figure


NOISE_EXHIBITS = (
    Exhibit(
        "figure-03",
        "Figure 3: what a sample may use",
        "The ε that a mechanism on a sample may have, so that the release has the ε of the line.",
        lambda computed: _curve_frame(VIOLIN_EPSILONS, "epsilon_n", sampling_base_epsilon),
        _amplification_figure,
    ),
    Exhibit(
        "figure-04",
        "Figure 4: how much sampling variance can be made up for",
        "If the sensitivity does not depend on the sample size. The grey line is at 0.6.",
        lambda computed: _curve_frame(cells.SAVING_EPSILONS, "q", noise_curves.noise_saving),
        _saving_figure,
    ),
    Exhibit(
        "figure-05",
        "Figure 5: the noise of a sample's mean is always larger",
        "Left: 1 − r, computed as an integral of a positive function. Right: the largest ε at "
        "which the printed formula, evaluated in floating point, comes out above 1. The paper's "
        "figure shows the rounding.",
        _noise_frame,
        _artefact_figure,
    ),
    Exhibit(
        "figure-05-right",
        "Figure 5, right panel: the same by the ε of the sample",
        "ε_n = ε N/n at the dots of the left panel; dotted is the ε_n that the paper prints for "
        "the smallest rate. It is smallest where half of the records are drawn. In exact numbers "
        "there is no such ε_n.",
        _rounding_frame,
        _right_panel_figure,
    ),
)
