"""Does sampling still pay for the median with a mechanism that needs no sensitivity?

The paper adds noise by smooth sensitivity. Where values are continuous, the exponential mechanism
answers between records; where they have a step, permute-and-flip chooses among their points. Both
give the same guarantee without any delta.
"""

from __future__ import annotations

from types import MappingProxyType

import pandas as pd

from omit._text import show_ratio
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import BIMODAL, EXPONENTIAL, LOGNORMAL, Line
from omit.papers.base import Computed, Exhibit
from omit.papers.claims import Claim, Finding, agreement, under_every_reading

_ADULT = ("age", "education-num", "hours-per-week")
LINES = MappingProxyType(
    {
        "lognormal": (LOGNORMAL, EXPONENTIAL[0]),
        "bimodal": (BIMODAL, EXPONENTIAL[1]),
        **{
            f"adult {column}": (
                Line("adult", "smooth", column),
                Line("adult", "permute-and-flip", column),
            )
            for column in _ADULT
        },
    }
)
"""The median of some data by the paper's mechanism, and by a better one."""


def side_by_side(computed: Computed) -> pd.DataFrame:
    """Return the errors of all records and of the best sample by both mechanisms, per epsilon.

    ``samples that gain`` are those whose whole interval is below the error of all records by the
    same mechanism.
    """
    lines = []
    for data, (published, better) in LINES.items():
        grids = cells.error_grid_of(computed, published), cells.error_grid_of(computed, better)
        for index, epsilon in enumerate(grids[0].epsilons):
            line: dict[str, object] = {"data": data, "ε": epsilon}
            for version, grid in zip(("as published", "better"), grids, strict=True):
                line |= {
                    f"all records, {version}": grid.baseline[index],
                    f"best sample, {version}": grid.errors[index].min(),
                    f"samples that gain, {version}": int((grid.gains[index] > 0).sum()),
                }
            lines.append({**line, "better mechanism": better.mechanism})
    return pd.DataFrame(lines)


# Errors below are those of answers that are right all but certainly.
_NOTHING = 1e-12


def _in_few_digits(computed: Computed) -> pd.DataFrame:
    """Return the table with errors as a person reads them."""
    frame = side_by_side(computed)
    errors = [name for name in frame.columns if name.startswith(("all records", "best sample"))]
    return frame.assign(**{name: frame[name].map(_few_digits) for name in errors})


def _few_digits(error: float) -> str:
    if error < _NOTHING:
        return f"below {_NOTHING:g}"
    return f"{error:,.0f}" if error >= 1000 else f"{error:.3g}"


def _as_published(frame: pd.DataFrame) -> Finding:
    pays = frame[frame["samples that gain, as published"] > 0]
    ratios = frame["best sample, as published"] / frame["all records, as published"]
    return Finding(
        agreement(len(pays) > 0),
        f"Some sample surely gains at {len(pays)} of {len(frame)} pairs of data and epsilon; the "
        f"best multiplies the error by {show_ratio(float(ratios.min()), exact=False)}.",
    )


def _better(frame: pd.DataFrame) -> Finding:
    pays = frame[frame["samples that gain, better"] > 0]
    useful = frame["best sample, as published"] < frame["all records, better"]
    row = frame.loc[frame["all records, as published"].idxmax()]
    return Finding(
        agreement(len(pays) > 0, useful.any()),
        f"Some sample surely gains at {len(pays)} of {len(frame)}, and the best sample by the "
        "paper's mechanism has a smaller error than the better mechanism on all records at "
        f"{int(useful.sum())}. For {row['data']} at epsilon = {row['ε']:g}, by the paper's "
        f"mechanism: {row['all records, as published']:.3g} on all records, "
        f"{row['best sample, as published']:.3g} on the best sample; by the better one on all "
        f"records: {row['all records, better']:.3g}.",
    )


EXHIBIT = Exhibit(
    "better-mechanisms",
    "Does sampling pay with a better mechanism for the median?",
    "Mean squared errors at the same guarantee, of {runs} samples per size where they are not "
    "exact, and how many of ten sample sizes surely gain. The better mechanism is the exponential "
    "mechanism for continuous values and permute-and-flip for values with a step.",
    side_by_side,
    cells=lambda settings: cells.error_cells(
        settings, *(line for pair in LINES.values() for line in pair)
    ),
    shown=_in_few_digits,
)
SAMPLING_PAYS = Claim(
    "Section 5",
    "Sampling pays for the median in certain regimes.",
    (EXHIBIT.name,),
    under_every_reading(
        {"the mechanism as published": _as_published, "the better mechanism": _better}
    ),
    side_by_side,
    "sampling-pays",
)
