"""What Figures 4 and 5 of the disclosure-control paper show of releases that are put to use."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from omit.papers.claims import Claim, Finding, Judge, agreement, claim, under_every_reading
from omit.papers.disclosure_control import cells
from omit.papers.disclosure_control.classifiers import BELOW, DROPPED, figure_4
from omit.papers.disclosure_control.table_claims import DONORS, by_reading

_FLAT = 0.2  # hardly any change: a fifth of the change that is compared with
_TOLD, _HARDLY_TOLD = 0.5, 0.1  # shares of what a constant guess loses
_NEARLY_ALL = 0.99

_of_figure_4 = partial(claim, "Figure 4", "figure-4", of=figure_4)


def _at_defaults(table: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies at k = 6 and a swap rate of 25 %."""
    k, rate = table["k"].fillna(cells.THRESHOLD), table["rate"].fillna(cells.RATE)
    return table[(k == cells.THRESHOLD) & (rate == cells.RATE)]


def _noise_classifies_better(missing: str, at_defaults: bool) -> Judge:
    def judge(every: pd.DataFrame) -> Finding | None:
        table = every[every["missing"] == missing]
        table = _at_defaults(table) if at_defaults else table
        if table.empty:
            return None
        noisy, control = _by_epsilon(table)
        large = [epsilon for epsilon in noisy if epsilon >= 1]
        return Finding(
            agreement(all(min(noisy[e]) > max(control[e]) for e in large)),
            f"All accuracies lie between {table['accuracy'].min():.1f} and "
            f"{table['accuracy'].max():.1f} %, the unprotected baseline has "
            f"{table['baseline'].iloc[0]:.1f} % and a constant guess "
            f"{table['constant'].iloc[0]:.1f} %; {told_apart(table)}.",
        )

    return judge


def _by_epsilon(table: pd.DataFrame) -> tuple[dict[float, list[float]], dict[float, list[float]]]:
    """Return the accuracies of noise and of all other methods at every ε."""
    noisy, control = {}, {}
    for epsilon in sorted(set(table["epsilon"]) - {math.inf}):
        here = table[table["epsilon"].isin([epsilon, math.inf])]
        with_noise = here["mechanism"].isin(cells.NOISY)
        noisy[epsilon] = here[with_noise]["accuracy"].tolist()
        control[epsilon] = here[~with_noise]["accuracy"].tolist()
    return noisy, control


def told_apart(table: pd.DataFrame) -> str:
    """Return whether the task tells mechanisms apart, by what a constant guess would lose."""
    apart = float(table["accuracy"].max() - table["accuracy"].min())
    noise = 2 * float(table["standard error"].max())
    share = apart / float(table["baseline"].iloc[0] - table["constant"].iloc[0])
    verdict = "tells" if share >= _TOLD else "hardly tells"
    if apart <= noise or share < _HARDLY_TOLD:
        verdict = "does not tell"
    return (
        f"they are {apart:.2f} percentage points apart (two standard errors are {noise:.2f}), "
        f"{share:.0%} of what a constant guess loses: the task {verdict} the mechanisms apart"
    )


def parameters_matter_more(every: pd.DataFrame, method: str) -> Finding:
    """Return whether accuracy depends on k or the swap rate more than on ε."""
    part = every[(every["missing"] == BELOW) & (every["mechanism"] == f"randomised {method}")]
    parameter = "rate" if method in cells.SWAPPINGS else "k"
    wide = part.pivot(index=parameter, columns="epsilon", values="accuracy")
    over_parameter, over_epsilon = float(np.ptp(wide.mean(axis=1))), float(np.ptp(wide.mean()))
    noise = 2 * float(part["standard error"].max()) / math.sqrt(min(wide.shape))
    return Finding(
        agreement(over_parameter > over_epsilon + noise),
        f"The mean accuracy ranges over {over_parameter:.2f} percentage points with {parameter} "
        f"and over {over_epsilon:.2f} with ε (two standard errors: {noise:.2f}).",
    )


@_of_figure_4("The accuracy from noisy histograms is much closer to the baseline than any other.")
def noise_is_nearest_to_the_baseline(every: pd.DataFrame) -> Finding:
    """Return whether both noisy histograms are nearer to the baseline than all else."""
    table = _at_defaults(every[every["missing"] == BELOW])
    baseline = float(table["baseline"].iloc[0])
    noisy, control = _by_epsilon(table)
    nearer = {
        epsilon: max(abs(value - baseline) for value in noisy[epsilon])
        < min(abs(value - baseline) for value in control[epsilon])
        for epsilon in noisy
    }
    listed = ", ".join(
        f"{max(abs(value - baseline) for value in noisy[epsilon]):.2f} against "
        f"{min(abs(value - baseline) for value in control[epsilon]):.2f}"
        for epsilon in noisy
    )
    return Finding(
        agreement(*nearer.values()),
        "Percentage points from the baseline, the worse noise against the best other method, at "
        f"ε = 0.5, 1, 2, 4: {listed}.",
    )


FIGURE_4 = (
    Claim(
        "Figure 4",
        "For ε ≥ 1 classifiers from Laplace and discrete Gaussian histograms are much more "
        "accurate than those from suppression and swapping.",
        ("figure-4",),
        under_every_reading(
            {
                f"{BELOW}, k = 6, rate 25 %": _noise_classifies_better(BELOW, True),
                f"{BELOW}, all k and rates": _noise_classifies_better(BELOW, False),
                f"{DROPPED}, k = 6, rate 25 %": _noise_classifies_better(DROPPED, True),
            }
        ),
        figure_4,
        "noise-classifies-better",
    ),
    Claim(
        "Figure 4",
        "Accuracy after randomised suppression and swapping depends on k and the swap rate more "
        "than on ε.",
        ("figure-4",),
        by_reading(
            {
                "randomised suppression": cells.SUPPRESSIONS[0],
                **{f"swapping and {name}": method for name, method in DONORS.items()},
            },
            parameters_matter_more,
        ),
        figure_4,
        "parameters-matter-more",
    ),
    noise_is_nearest_to_the_baseline,
)


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    return table.pivot(index=["data", "epsilon"], columns="mechanism", values="matches")


def noise_discloses_with_epsilon(table: pd.DataFrame) -> Finding:
    """Return whether noisy histograms disclose more unique records at every larger ε."""
    parts = [part for _, part in _wide(table).groupby(level="data")]
    rising = {
        name: all(part[name].is_monotonic_increasing for part in parts) for name in cells.NOISY
    }
    listed = ", ".join(f"{name} {'yes' if up else 'no'}" for name, up in rising.items())
    return Finding(agreement(*rising.values()), f"Rising throughout: {listed}.")


def swapping_discloses_more(table: pd.DataFrame, swapping: str) -> Finding:
    """Return whether swapping hardly depends on ε and discloses more than noise throughout."""
    wide, name = _wide(table), f"randomised {swapping}"
    more = wide[name] > wide[list(cells.NOISY)].max(axis=1)
    spread = wide.groupby(level="data").agg(lambda values: values.max() - values.min())
    flat = (spread[name] <= _FLAT * spread["Laplace"]).all()
    means = wide[name].groupby(level="data").mean()
    listed = ", ".join(f"{data} {value:.2f} %" for data, value in means.items())
    return Finding(
        agreement(flat, *more),
        f"Swapping shows {listed} of all records, changes by at most {spread[name].max():.3f} "
        f"percentage points over ε (Laplace by {spread['Laplace'].max():.3f}) and is above noise "
        f"at {int(more.sum())} of {len(more)} points.",
    )


def gaussian_is_more_resilient(table: pd.DataFrame) -> Finding:
    """Return whether discrete Gaussian noise discloses fewer unique records than Laplace noise."""
    wide = _wide(table)
    fewer = wide["discrete Gaussian"] < wide["Laplace"]
    ratio = wide["discrete Gaussian"] / wide["Laplace"]
    return Finding(
        agreement(*fewer),
        f"Fewer at {int(fewer.sum())} of {len(fewer)} points, {ratio.min():.2f} to "
        f"{ratio.max():.2f} times those of Laplace (with far more noise than its δ needs).",
    )


def suppression_is_near_perfect(table: pd.DataFrame) -> Finding:
    """Return whether suppression hides nearly all unique records."""
    rows = table[table["mechanism"] == "randomised suppression"]
    hidden = 1 - rows["matches"] / rows["all unique"]
    listed = ", ".join(f"{share:.1%}" for share in hidden)
    return Finding(
        agreement(*(hidden >= _NEARLY_ALL)),
        f"It hides {listed} of the unique records (at least {_NEARLY_ALL:.0%} at "
        f"{int((hidden >= _NEARLY_ALL).sum())} of {len(hidden)} points; without randomness, all).",
    )


def a_higher_score_is_a_smaller_risk(table: pd.DataFrame) -> Finding:
    """Return whether releases score higher than the data, which hide nobody."""
    most = table["all unique"].max()
    higher = table["matches"] > table["all unique"]
    return Finding(
        agreement(higher.any()),
        f"The data themselves, unprotected, score highest ({most:.2f} %); {int(higher.sum())} of "
        f"{len(table)} releases score higher. The share of people who are identified is what "
        "Figure 5 shows, and more of it is worse.",
    )


def _on_figure_5(sentence: str, name: str, judge: Judge, where: str = "Figure 5") -> Claim:
    return Claim(where, sentence, ("figure-5",), judge, cells.figure_5, name)


FIGURE_5 = (
    _on_figure_5(
        "Noisy histograms disclose more unique records as ε grows.",
        "noise-discloses-with-epsilon",
        noise_discloses_with_epsilon,
    ),
    _on_figure_5(
        "Randomised swapping hardly depends on ε and discloses more than noise throughout.",
        "swapping-discloses-more",
        by_reading(DONORS, swapping_discloses_more),
    ),
    _on_figure_5(
        "The discrete Gaussian discloses fewer unique records than Laplace noise.",
        "gaussian-is-more-resilient",
        gaussian_is_more_resilient,
    ),
    _on_figure_5(
        "Randomised suppression attains a near perfect score.",
        "suppression-is-near-perfect",
        suppression_is_near_perfect,
        "Section 7",
    ),
    _on_figure_5(
        "A higher score of unique exact matches means a smaller risk.",
        "higher-score-smaller-risk",
        a_higher_score_is_a_smaller_risk,
        "Section 7",
    ),
)

USE_CLAIMS = (*FIGURE_4, *FIGURE_5)
