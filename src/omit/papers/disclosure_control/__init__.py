"""Epsilon and delta of disclosure control, by Das, Zhu, Task, Van Hentenryck and Fioretto.

What the paper claims, and how it is judged; its theorems are in a module of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from omit._numeric import FloatArray, as_array
from omit.disclosure.measures import GroupMap
from omit.papers.base import Claim, Computed, Finding, Judge, Paper, agreement, claim, claims_in
from omit.papers.disclosure_control import cells
from omit.papers.disclosure_control.figures import EXHIBITS
from omit.papers.disclosure_control.theorems import THEOREM_CLAIMS

_NEAR = 0.1  # a number is the printed one if it is within a tenth of it
_ALIKE = 1.25  # numbers are comparable if neither is above 1.25 times the other
_CLOSE = 5.0  # percentage points of accuracy within which a task hardly tells apart
_FLAT = 0.2  # hardly any change: a fifth of the change that is compared with


def _of(
    where: str, numbers: Callable[[Computed], object]
) -> Callable[[str], Callable[[Judge], Claim]]:
    """Return the decorator of claims on what a table or figure shows."""
    return partial(claim, where, where.lower().replace(" ", "-"), of=numbers)


_of_table_1 = _of("Table 1", cells.table_1)
_of_figure_2 = _of("Figure 2", cells.figure_2)
_of_figure_3 = _of("Figure 3", cells.figure_3)
_of_figure_4 = _of("Figure 4", cells.figure_4)
_of_figure_5 = _of("Figure 5", cells.figure_5)


def _near(values: pd.Series[float], printed: pd.Series[float]) -> list[bool]:
    """Return which values are near the printed ones."""
    return list((values / printed - 1).abs() <= _NEAR)


def _smallest(values: dict[str, float]) -> str:
    return min(values, key=lambda name: values[name])


def _by_mechanism(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["mechanism"] == name].reset_index(drop=True)


@_of_table_1("Errors and fairness of the Laplace histogram.")
def laplace_row(table: pd.DataFrame) -> Finding:
    laplace = _by_mechanism(table, "Laplace")
    exactly, estimated = (
        (laplace[f"bias{way}"] / laplace["bias printed"]).round(2).tolist()
        for way in (" exact", ", runs")
    )
    near = _near(laplace["bias exact"], laplace["bias printed"])
    fair = _near(laplace["α exact"], laplace["α printed"])
    return Finding(
        agreement(*near, *fair),
        f"Our exact errors are {exactly} times the printed ones, within {_NEAR:.0%} at "
        f"{sum(near)} of {len(near)} (the paper's race domain seems smaller); estimated from runs, "
        f"{estimated} times. α is exactly 1/ε, that is {laplace['α exact'].round(3).tolist()}, "
        f"not {laplace['α printed'].tolist()}: the range of noisy estimates, for our "
        f"runs {laplace['α, runs'].round(2).tolist()}.",
    )


@_of_table_1("δ of the discrete Gaussian is 0.36, 0.13, 0.01 and 3E-4.")
def gaussian_deltas(table: pd.DataFrame) -> Finding:
    gauss = _by_mechanism(table, "discrete Gaussian")
    deltas = _near(gauss["δ exact"].astype(float), gauss["δ printed"].astype(float))
    return Finding(
        agreement(*deltas),
        "That is e^(−2ε), cut off. At the variance the table shows (about 19.8/ε, inferred), "
        f"the exact δ is {', '.join(gauss['δ exact'])}: far more noise than its δ needs.",
    )


@_of_table_1("The Laplace histogram has smaller errors than randomised suppression for ε ≥ 1.")
def laplace_against_suppression(table: pd.DataFrame) -> Finding:
    laplace = _by_mechanism(table, "Laplace")
    suppression = _by_mechanism(table, "randomised suppression")
    smaller = (laplace["bias exact"] < suppression["bias exact"])[laplace["ε"] >= 1]
    return Finding(
        agreement(*smaller),
        "With empty cells left as they are, suppression's exact error is "
        f"{suppression['bias exact'].round(0).astype(int).tolist()}, not "
        f"{suppression['bias printed'].round(0).astype(int).tolist()}; Laplace's is smaller at "
        f"{int(smaller.sum())} of {len(smaller)} ε ≥ 1. Suppression has no guarantee.",
    )


@claim(
    "Table 1",
    "table-1",
    "Randomised swapping has errors of about 3,650 and α of about 1,946.",
    of=lambda computed: (cells.table_1(computed), cells.swapping_variants(computed)),
)
def swapping_row(numbers: tuple[pd.DataFrame, pd.DataFrame]) -> Finding:
    table, variants = numbers
    swapping = _by_mechanism(table, "randomised swapping")
    near = [
        *_near(swapping["bias exact"], swapping["bias printed"]),
        *_near(swapping["α exact"], swapping["α printed"]),
    ]
    return Finding(
        agreement(*near),
        f"Permute-and-flip donors for race give {swapping['bias exact'].iloc[1]:.0f} and "
        f"{swapping['α exact'].iloc[1]:.0f}. {nearest_variants(variants)}",
    )


def nearest_variants(variants: pd.DataFrame) -> str:
    """Return which way to choose donors comes nearest to Table 1's swapping row, and how near."""
    printed, one = variants.iloc[-1], variants.iloc[-2]
    ways = variants.iloc[:-2]
    off = distance_from_printed(variants)
    best = ways.loc[off.iloc[:-1].idxmin()]
    random = ways["which"].str.startswith("random")
    fixed = best["swapped"] == "all five" and best["which"].startswith("first")
    same = ", which is one fixed donor, as all records are equally near" if fixed else ""
    return (
        f"Of {len(ways)} ways to choose a donor for each target, the nearest to the printed "
        f"{printed['bias']:.0f} and {printed['fairness']:.0f} is: swapped {best['swapped']}, donor "
        f"{best['donor']}, {best['which']}: {best['bias']:.0f} and {best['fairness']:.0f}, "
        f"{off.iloc[:-1].min():.1%} off{same}. One donor for all targets {one['which']} gives "
        f"{one['bias']:.0f} and {one['fairness']:.0f}, {off.iloc[-1]:.1%} off; "
        f"no donor drawn among the nearest comes nearer than {off.iloc[:-1][random].min():.0%}."
    )


def distance_from_printed(variants: pd.DataFrame) -> pd.Series[float]:
    """Return by how much error or fairness of a variant is off the last row, whichever is more."""
    printed = variants.iloc[-1]
    parts = variants[["bias", "fairness"]].astype(float)
    return (parts / printed[["bias", "fairness"]].astype(float) - 1).abs().max(axis=1).iloc[:-1]


@_of_figure_2("The randomised versions have nearly the errors of the originals.")
def errors_like_the_originals(table: pd.DataFrame) -> Finding:
    errors = {name: _ratios(table, name, "absolute error") for name in cells.ORIGINAL}
    near = np.concatenate([(r >= 1 / _ALIKE) & (r <= _ALIKE) for r in errors.values()])
    return Finding(
        agreement(*near),
        f"Exact error of the randomised version over that of the original: {_ranges(errors)}; "
        f"between 1/{_ALIKE:g} and {_ALIKE:g} at {int(near.sum())} of {len(near)} points "
        "(donors farther away are chosen too often at these ε). "
        f"{_left_out(table, 'absolute error')}",
    )


@_of_figure_2(
    "The fairness of the randomised versions is comparable to that of the originals, or better."
)
def fairness_like_the_originals(table: pd.DataFrame) -> Finding:
    fairness = {name: _ratios(table, name, "fairness") for name in cells.ORIGINAL}
    return Finding(
        agreement(*((ratios <= _ALIKE).all() for ratios in fairness.values())),
        f"Exact α of the randomised version over that of the original: {_ranges(fairness)}. "
        f"{_left_out(table, 'fairness')}",
    )


def _ratios(table: pd.DataFrame, method: str, measure: str) -> FloatArray:
    """Return randomised over original at all points where the original is not 0."""
    part = table[table["method"] == method]
    wide = part.pivot(index="parameter", columns="epsilon", values=measure)
    wide = wide[wide[math.inf] > 0]
    return as_array(wide.drop(columns=math.inf).div(wide[math.inf], axis=0)).reshape(-1)


def _ranges(ratios: dict[str, FloatArray]) -> str:
    return ", ".join(
        f"{name} {part.min():.2f} to {part.max():.2f}" for name, part in ratios.items()
    )


def _left_out(table: pd.DataFrame, measure: str) -> str:
    """Return which points have no ratio because the original has 0."""
    none = table[(table["epsilon"] == math.inf) & (table[measure] <= 0)]
    listed = ", ".join(
        f"{method} at {parameter:g}"
        for method, parameter in zip(none["method"], none["parameter"], strict=True)
    )
    return f"Left out, because the original has 0: {listed}." if listed else "No point is left out."


def _group_errors(maps: Sequence[GroupMap]) -> dict[str, dict[str, float]]:
    """Return the errors of white and of black men, by mechanism."""
    return {
        group: {one.protection: one.error for one in maps if one.group == group}
        for group in ("white men", "black men")
    }


@_of_figure_3(
    "Swapping has the largest errors for black men, and every mechanism has larger errors for "
    "black than for white men."
)
def swapping_burdens_black_men(maps: Sequence[GroupMap]) -> Finding:
    errors = _group_errors(maps)
    white, black = errors["white men"], errors["black men"]
    listed = ", ".join(f"{name} {white[name]:.1f} and {black[name]:.1f}" for name in black)
    return Finding(
        agreement(
            max(black.values()) == black["randomised swapping"]
            and all(black[name] > white[name] for name in black)
        ),
        f"Expected absolute error for 100 white and 100 black men: {listed}.",
    )


@_of_figure_3("The Laplace histogram has the smallest errors and the smallest disparity.")
def laplace_is_fairest(maps: Sequence[GroupMap]) -> Finding:
    errors = _group_errors(maps)
    white, black = errors["white men"], errors["black men"]
    gap = {name: abs(black[name] - white[name]) for name in black}
    return Finding(
        agreement(*(_smallest(errors) == "Laplace" for errors in (white, black, gap))),
        f"Smallest for white men: {_smallest(white)}; for black men: {_smallest(black)}; "
        f"smallest difference: {_smallest(gap)}.",
    )


@_of_figure_4(
    "For ε ≥ 1 classifiers from Laplace and discrete Gaussian histograms are much more accurate "
    "than those from suppression and swapping."
)
def histograms_classify_better(table: pd.DataFrame) -> Finding:
    wide = table.pivot(index="epsilon", columns="mechanism", values="accuracy")
    large = wide[wide.index > 0.5]
    noisy = large[list(cells.NOISY)].min(axis=1)
    control = large[[*cells.RANDOMISED, *cells.ORIGINAL]].max(axis=1)
    apart, noise = wide.max().max() - wide.min().min(), 2 * table["standard error"].max()
    lost = table["baseline"].iloc[0] - wide.min().min()
    tells = (
        f"they are {apart:.1f} percentage points apart, within two standard errors ({noise:.1f}): "
        "the task does not tell the mechanisms apart"
        if apart <= noise
        else f"they are {apart:.1f} percentage points apart, and the worst loses {lost:.1f}: the "
        f"task {'hardly tells' if apart < _CLOSE else 'tells'} the mechanisms apart"
    )
    return Finding(
        agreement((noisy > control).all()),
        f"All accuracies lie between {wide.min().min():.1f} and {wide.max().max():.1f} %, the "
        f"unprotected baseline has {table['baseline'].iloc[0]:.1f} %; {tells}.",
    )


@_of_figure_5(
    "Noisy histograms disclose more unique records as ε grows; swapping hardly depends on ε and "
    "discloses more throughout."
)
def swapping_discloses_more(table: pd.DataFrame) -> Finding:
    wide = table.pivot(index=["data", "epsilon"], columns="mechanism", values="matches")
    more = wide["randomised swapping"] > wide["Laplace"]
    parts = [part for _, part in wide.groupby(level="data")]
    rising = {
        name: all(part[name].is_monotonic_increasing for part in parts) for name in cells.NOISY
    }
    spread = wide.groupby(level="data").agg(lambda v: v.max() - v.min())
    flat = (spread["randomised swapping"] <= _FLAT * spread["Laplace"]).all()
    listed = ", ".join(f"{name} {'yes' if up else 'no'}" for name, up in rising.items())
    return Finding(
        agreement(*rising.values(), flat, *more),
        f"Rising throughout: {listed}. Swapping changes by at most "
        f"{spread['randomised swapping'].max():.3f} percentage points over ε (Laplace by "
        f"{spread['Laplace'].max():.3f}) and is above Laplace at {int(more.sum())} of "
        f"{len(more)} points (with race swapped; the paper does not say which attributes are).",
    )


PAPER = Paper(
    "disclosure-control",
    "Finding ε and δ of Statistical Disclosure Control Systems",
    "S. Das, K. Zhu, C. Task, P. Van Hentenryck and F. Fioretto, 'Finding ε and δ of Statistical "
    "Disclosure Control Systems'.",
    EXHIBITS,
    (*THEOREM_CLAIMS, *claims_in(globals())),
    notes=lambda computed: (
        "The records are public-use data of the American Community Survey 2019 (NIST excerpts).",
        "Guarantees are under replace. Missing incomes count as below 50,000.",
    ),
    refusals={
        "exact": "disclosure-control shows exact and simulated numbers side by side already.",
        "epsilons": "disclosure-control holds printed numbers against computed ones, at the "
        "epsilons that are printed; omit disclose --epsilon computes others.",
        "data": "disclosure-control is about the NIST excerpts of its tables; omit disclose asks "
        "the same of yours.",
    },
    runs=200,
)
