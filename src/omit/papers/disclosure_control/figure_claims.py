"""What Figures 1 to 3 of the disclosure-control paper show, and how it is judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from omit._numeric import FloatArray, as_array
from omit.disclosure.measures import GroupMap
from omit.papers.claims import Claim, Finding, agreement
from omit.papers.disclosure_control import cells, example
from omit.papers.disclosure_control.table_claims import ALIKE, DONORS, EMPTY_CELLS, by_reading


def _on_figure_2(sentence: str, name: str, methods: dict[str, str], judge: object) -> Claim:
    made = by_reading(methods, judge)  # type: ignore[arg-type]  # a judge of a method
    return Claim("Figure 2", sentence, ("figure-2",), made, cells.figure_2, name)


def _ratios(table: pd.DataFrame, method: str, measure: str) -> pd.DataFrame:
    """Return randomised over original by parameter and ε, where the original is not 0."""
    part = table[table["method"] == method]
    wide = part.pivot(index="parameter", columns="epsilon", values=measure)
    wide = wide[wide[math.inf] > 0]
    return wide.drop(columns=math.inf).div(wide[math.inf], axis=0)


def _points(ratios: pd.DataFrame) -> FloatArray:
    return as_array(ratios).reshape(-1)


def like_the_original(table: pd.DataFrame, method: str) -> Finding:
    """Return whether the errors of the randomised version are nearly those of the original."""
    errors = _points(_ratios(table, method, "absolute error"))
    near = (errors >= 1 / ALIKE) & (errors <= ALIKE)
    return Finding(
        agreement(*near),
        f"The exact error of the randomised version is {errors.min():.3f} to {errors.max():.3f} "
        f"times that of the original, between 1/{ALIKE:g} and {ALIKE:g} times at {int(near.sum())} "
        f"of {len(near)} points.{_left_out(table, method, 'absolute error')}",
    )


def as_fair_as_the_original(table: pd.DataFrame, method: str) -> Finding:
    """Return whether α of the randomised version is comparable to the original's, or less."""
    fairness = _points(_ratios(table, method, "fairness"))
    near = fairness <= ALIKE
    return Finding(
        agreement(*near),
        f"The exact α of the randomised version is {fairness.min():.2f} to {fairness.max():.2f} "
        f"times that of the original, {ALIKE:g} times at most at {int(near.sum())} of {len(near)} "
        f"points.{_left_out(table, method, 'fairness')}",
    )


def approaches_the_original(table: pd.DataFrame, method: str) -> Finding:
    """Return whether the error comes nearer to the original's with every larger ε."""
    off = (_ratios(table, method, "absolute error") - 1).abs()
    nearer = off.diff(axis=1).iloc[:, 1:] <= 1e-12
    steps = as_array(nearer).reshape(-1)
    shown = ", ".join(f"{value:.2%}" for value in off.max())
    return Finding(
        agreement(*steps),
        f"It comes nearer in {int(steps.sum())} of {len(steps)} steps of ε; the largest "
        f"differences are {shown} at ε = 0.5, 1, 2, 4.",
    )


def sometimes_more_precise(table: pd.DataFrame, method: str) -> Finding:
    """Return whether the randomised version has the smaller error anywhere."""
    smaller = _points(_ratios(table, method, "absolute error")) < 1 - 1e-12
    return Finding(
        "holds" if smaller.any() else "fails",
        f"The randomised version has the smaller exact error at {int(smaller.sum())} of "
        f"{len(smaller)} points.",
    )


def _left_out(table: pd.DataFrame, method: str, measure: str) -> str:
    """Return which points have no ratio because the original has 0."""
    part = table[(table["method"] == method) & (table["epsilon"] == math.inf)]
    none = part[part[measure] <= 0]["parameter"]
    listed = ", ".join(f"{parameter:g}" for parameter in none)
    return f" Left out, because the original has 0: {listed}." if listed else ""


def many_counts_stay(table: pd.DataFrame) -> Finding:
    """Return whether suppression shows most counts that are not 0 as they are."""
    parts = [
        f"at k = {row['k']:g} {row['counts']:.0%} of the counts that are not 0, with "
        f"{row['records']:.1%} of the records"
        for row in table.to_dict("records")
    ]
    return Finding(
        agreement(*(table[table["k"] == example.THRESHOLD]["counts"] > 0.5)),
        f"In Massachusetts it leaves as they are, {'; '.join(parts)}.",
    )


FIGURE_1 = (
    Claim(
        "Figure 1",
        "For k = 3 a large number of counts are revealed even after suppression.",
        ("table-1",),
        many_counts_stay,
        cells.revealed,
        "many-counts-stay",
    ),
)
FIGURE_2 = (
    _on_figure_2(
        "Randomised suppression has nearly the errors of suppression.",
        "errors-like-suppression",
        EMPTY_CELLS,
        like_the_original,
    ),
    _on_figure_2(
        "Randomised swapping has nearly the errors of swapping.",
        "errors-like-swapping",
        DONORS,
        like_the_original,
    ),
    _on_figure_2(
        "The fairness of randomised suppression is comparable to that of suppression, or better.",
        "as-fair-as-suppression",
        EMPTY_CELLS,
        as_fair_as_the_original,
    ),
    _on_figure_2(
        "The fairness of randomised swapping is comparable to that of swapping, or better.",
        "as-fair-as-swapping",
        DONORS,
        as_fair_as_the_original,
    ),
    _on_figure_2(
        "With a larger ε the errors of randomised swapping approach those of swapping.",
        "approaches-swapping",
        DONORS,
        approaches_the_original,
    ),
    Claim(
        "Section 4",
        "A randomised version may be more precise than the original at some ε.",
        ("figure-2",),
        by_reading(EMPTY_CELLS | DONORS, sometimes_more_precise),
        cells.figure_2,
        "sometimes-more-precise",
    ),
)


def _group_errors(maps: Sequence[GroupMap], swapping: str) -> dict[str, dict[str, float]]:
    """Return the errors of white and of black men by mechanism, with one reading of swapping."""
    others = [f"randomised {name}" for name in cells.SWAPPINGS if name != swapping]
    return {
        group: {
            one.protection: one.error
            for one in maps
            if one.group == group and one.protection not in others
        }
        for group in ("white men", "black men")
    }


def swapping_burdens_black_men(maps: Sequence[GroupMap], swapping: str) -> Finding:
    """Return whether swapping is the worst for black men, who all fare worse than white men."""
    errors = _group_errors(maps, swapping)
    white, black = errors["white men"], errors["black men"]
    listed = ", ".join(f"{name} {white[name]:.1f} and {black[name]:.1f}" for name in black)
    return Finding(
        agreement(
            max(black.values()) == black[f"randomised {swapping}"]
            and all(black[name] > white[name] for name in black)
        ),
        f"Expected absolute error for 100 white and 100 black men: {listed}.",
    )


def small_next_to_swapping(maps: Sequence[GroupMap], swapping: str) -> Finding:
    """Return whether swapping has at least twice the errors of all else for black men."""
    black = _group_errors(maps, swapping)["black men"]
    swapped = black[f"randomised {swapping}"]
    ratios = {name: swapped / error for name, error in black.items() if error != swapped}
    listed = ", ".join(f"{ratio:.1f} times those of {name}" for name, ratio in ratios.items())
    return Finding(
        agreement(*(ratio >= 2 for ratio in ratios.values())),
        f"For black men the errors of swapping are {listed}.",
    )


def laplace_is_fairest(maps: Sequence[GroupMap], swapping: str) -> Finding:
    """Return whether Laplace has the smallest errors, and the smallest difference of groups."""
    errors = _group_errors(maps, swapping)
    white, black = errors["white men"], errors["black men"]
    gap = {name: abs(black[name] - white[name]) for name in black}
    return Finding(
        agreement(*(_smallest(errors) == "Laplace" for errors in (white, black, gap))),
        f"Smallest for white men: {_smallest(white)}; for black men: {_smallest(black)}; "
        f"smallest difference: {_smallest(gap)}.",
    )


def gaussian_is_like_suppression(maps: Sequence[GroupMap]) -> Finding:
    """Return whether discrete Gaussian noise and suppression treat the groups alike."""
    errors = _group_errors(maps, cells.SWAPPINGS[0])
    white, black = errors["white men"], errors["black men"]
    gap = {name: black[name] - white[name] for name in black}
    ratio = gap["discrete Gaussian"] / gap["randomised suppression"]
    return Finding(
        agreement(1 / ALIKE <= ratio <= ALIKE),
        "The difference between black and white men, for 100 records, is "
        f"{gap['discrete Gaussian']:.1f} with discrete Gaussian noise and "
        f"{gap['randomised suppression']:.1f} with suppression.",
    )


def _smallest(values: dict[str, float]) -> str:
    return min(values, key=lambda name: values[name])


def denser_is_better_for_noise(table: pd.DataFrame, control: str) -> Finding:
    """Return whether noise loses against a method the more, the sparser a group is."""
    ratios = {name: table[name] / table[f"randomised {control}"] for name in cells.NOISY}
    ranks = {name: _kendall(table["empty cells"], ratio) for name, ratio in ratios.items()}
    sparsest = table["empty cells"] >= table["empty cells"].median()
    worse = [float(np.median(ratio[sparsest])) for ratio in ratios.values()]
    listed = ", ".join(f"{name} {rank:+.2f}" for name, rank in ranks.items())
    return Finding(
        agreement(*(rank > 0 for rank in ranks.values()), *(ratio > 1 for ratio in worse)),
        f"Rank correlation of a group's share of empty cells with the ratio of errors: {listed}; "
        f"in the sparser half of {len(table)} groups the median ratios are "
        f"{', '.join(f'{ratio:.2f}' for ratio in worse)}.",
    )


def _kendall(first: pd.Series[float], second: pd.Series[float]) -> float:
    """Return Kendall's rank correlation, ties counted as half."""
    signs = np.sign(np.subtract.outer(as_array(first), as_array(first)))
    others = np.sign(np.subtract.outer(as_array(second), as_array(second)))
    return float((signs * others).sum() / max(1.0, float(np.abs(signs).sum())))


FIGURE_3 = (
    Claim(
        "Figure 3",
        "Swapping has the largest errors for black men, and every mechanism has larger errors for "
        "black than for white men.",
        ("figure-3",),
        by_reading(DONORS, swapping_burdens_black_men),
        cells.figure_3,
        "swapping-burdens-black-men",
    ),
    Claim(
        "Figure 3",
        "Laplace, discrete Gaussian and randomised suppression have small errors for black men, "
        "swapping much larger ones.",
        ("figure-3",),
        by_reading(DONORS, small_next_to_swapping),
        cells.figure_3,
        "small-next-to-swapping",
    ),
    Claim(
        "Figure 3",
        "The Laplace histogram has the smallest errors and the smallest disparity.",
        ("figure-3",),
        by_reading(DONORS, laplace_is_fairest),
        cells.figure_3,
        "laplace-is-fairest",
    ),
    Claim(
        "Figure 3",
        "Discrete Gaussian noise and randomised suppression behave alike in their disparity.",
        ("figure-3",),
        gaussian_is_like_suppression,
        cells.figure_3,
        "gaussian-is-like-suppression",
    ),
    Claim(
        "Section 7",
        "Noise performs worse than randomised suppression and swapping as groups get sparser.",
        ("sparsity",),
        by_reading(
            {
                "randomised suppression": cells.SUPPRESSIONS[0],
                **{f"swapping and {name}": method for name, method in DONORS.items()},
            },
            denser_is_better_for_noise,
        ),
        cells.sparsity,
        "noise-and-sparsity",
    ),
)


FIGURE_CLAIMS = (*FIGURE_1, *FIGURE_2, *FIGURE_3)
