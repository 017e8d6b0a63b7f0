"""A picture of what any omission does to epsilon, against epsilon and against its parameters.

A row for every omission. On the left its bounds, the floor below which no bound can go, and, where
it is known what the omission does to numbers, the exact loss of all databases of a few records: the
truth about all databases lies between that and the bound. On the right the bound in use against
every parameter that is a share, the others being as they are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.errors import InvalidInput, OmitError
from omit.guarantee import ADD_REMOVE, Guarantee
from omit.omissions.base import Omission
from omit.omissions.every_pair import all_laws, outcomes
from omit.omissions.kept import PROBABILITIES, Algorithm
from omit.report.figure import epsilon_label, epsilon_style, panels, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS, _EXACT_POINTS, _SHARES = 81, 9, 99
_UNIVERSE, _RECORDS = (0.0, 0.5, 1.0), 3
_SECONDS = 60.0
_MOST = 6


def omission_figure(
    omissions: Sequence[Omission], epsilons: Sequence[float] = (0.5, 1, 2)
) -> Figure:
    """Return a figure with a row for every omission.

    Parameters
    ----------
    omissions : sequence of Omission
        Up to six.
    epsilons : sequence of float
        Those of mechanisms at which parameters are varied; the largest is the end of the axis on
        the left.

    Raises
    ------
    InvalidInput
        If there are too many, or one leaves no guarantee.
    """
    if not 0 < len(omissions) <= _MOST:
        raise InvalidInput(f"Expected one to {_MOST} omissions to draw, got {len(omissions)}.")
    levels = sorted(_validate.positive("epsilon", value) for value in epsilons)
    for omission in omissions:
        if not math.isfinite(float(omission.epsilon_after(levels[-1]))):
            raise InvalidInput(f"There is nothing to draw: {omission} leaves no guarantee.")
    figure, axes = panels(9.5, 3.6 * len(omissions), len(omissions), 2)
    for (left, right), omission in zip(axes, omissions, strict=True):
        _draw_bounds(left, omission, 1.25 * levels[-1])
        _draw_parameters(right, omission, levels)
    return figure


def _draw_bounds(axes: Axes, omission: Omission, largest: float) -> None:
    epsilons = np.linspace(0.0, largest, _POINTS)
    known = [omission.privacy_bounds(float(value)) for value in epsilons]
    for index, name in enumerate(known[0]):
        label = "bound" if len(known[0]) == 1 else f"{name} bound"
        axes.plot(epsilons, [bounds[name] for bounds in known], label=label, **series_style(index))
    exact = exact_losses(omission, epsilons[:: (_POINTS - 1) // (_EXACT_POINTS - 1)])
    if exact is not None:
        where = epsilons[:: (_POINTS - 1) // (_EXACT_POINTS - 1)]
        label = f"exact, up to {_RECORDS} records"
        axes.plot(where, exact, "o", color="black", fillstyle="none", label=label)
    relation = omission.relations[0]
    floor = [omission.lower_bound(Guarantee(float(e), 0.0, relation)).epsilon for e in epsilons]
    if any(floor):
        axes.plot(epsilons, floor, ":", color="0.4", label="no bound is lower")
    axes.plot(epsilons, epsilons, color="0.7", linewidth=1, label="no omission")
    axes.set_xlabel("ε of the mechanism")
    axes.set_ylabel("ε of the release")
    axes.set_title(str(omission), fontsize=9, wrap=True)
    axes.legend(fontsize=8)


def exact_losses(omission: Omission, epsilons: FloatArray) -> FloatArray | None:
    """Return the exact loss of all databases of a few numbers; None where it is not known.

    Examples
    --------
    >>> from omit import PoissonSampling
    >>> exact_losses(PoissonSampling(0.5), np.array([0.0, 1.0])).round(6)
    array([0.      , 0.620115])
    """
    if not omission.defined_for(ADD_REMOVE):
        return None
    records = len(_UNIVERSE)
    try:
        algorithm = Algorithm.of(omission, _UNIVERSE, PROBABILITIES)
        laws = all_laws(algorithm, _RECORDS, _SECONDS)
        losses = [
            max(
                pair.epsilon
                for pair in outcomes(
                    laws,
                    records,
                    _RECORDS,
                    float(epsilon),
                    seconds=_SECONDS,
                    store=None,
                    where="process",
                    progress=None,
                )
            )
            for epsilon in epsilons
        ]
    except OmitError:  # what it does to numbers is not known, or not solved for so large an epsilon
        return None
    return as_array(losses)


def shares_of(omission: Omission) -> tuple[str, ...]:
    """Return the parameters of an omission that are shares, so that they can be varied.

    Examples
    --------
    >>> from omit import OutlierScoreSuppression
    >>> shares_of(OutlierScoreSuppression(0.1, 0.3))
    ('m', 'M')
    """
    if not dataclasses.is_dataclass(omission):
        return ()
    values = {name: getattr(omission, name, None) for name in omission.parameters}
    return tuple(
        name for name, value in values.items() if isinstance(value, float) and 0 <= value <= 1
    )


def _draw_parameters(axes: Axes, omission: Omission, epsilons: Sequence[float]) -> None:
    names = shares_of(omission)
    if not names:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no parameter is a share", ha="center", transform=axes.transAxes)
        return
    shares = np.linspace(0.01, 0.99, _SHARES)
    for index, name in enumerate(names):
        for epsilon in epsilons:
            after = [_varied(omission, name, float(share), epsilon) for share in shares]
            style = epsilon_style(epsilon) | {
                "color": series_style(index)["color"],
                "linewidth": 1.2 + index,
            }
            axes.plot(shares, after, label=f"{name}, {epsilon_label(epsilon)}", **style)
        axes.axvline(getattr(omission, name), color="0.8", linewidth=1)
    axes.set_xlabel(f"{' or '.join(names)}, the rest as it is" if len(names) > 1 else names[0])
    axes.set_ylabel("ε of the release")
    axes.legend(fontsize=8)


def _varied(omission: Omission, name: str, share: float, epsilon: float) -> float:
    """Return epsilon of a release with another parameter, nan where it cannot have that value."""
    try:
        other = dataclasses.replace(omission, **{name: share})  # type: ignore[type-var]  # a dataclass
        return float(other.epsilon_after(epsilon))
    except InvalidInput:
        return math.nan
