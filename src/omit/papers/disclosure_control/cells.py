"""The numbers behind Das et al., "Finding ε and δ of Statistical Disclosure Control Systems".

What the paper prints is here as data; everything else is computed. Missing incomes (people under
15) count as below 50,000: only then are there the 7,634 records that Table 1's swapping row needs.
Its theorems are held against what the mechanisms do on small tables.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from omit._numeric import as_array
from omit._text import rounded_up
from omit.disclosure import measures
from omit.disclosure.histograms import DiscreteGaussianHistogram, LaplaceHistogram
from omit.disclosure.measures import Axis, GroupMap
from omit.disclosure.protection import Protection
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.swapping_exact import Donor
from omit.disclosure.table import CountTable, two_way
from omit.disclosure.tabulation import tabulate
from omit.guarantee import Guarantee
from omit.papers.base import Computed
from omit.study.cell import Computation, Row

EPSILONS = (0.5, 1.0, 2.0, 4.0)
THRESHOLD, RATE = 6, 0.25
RACE = ("RAC1P",)
FEATURES = ("PUMA", "RAC1P", "SEX", "OWN_RENT", "income50k")
INCOME = "income50k = PINCP >= 50000"
MISSING_INCOME = {"income50k": "no"}
AGE = "age5 = bins(AGEP, 0, 100, 5)"

# Table 1 as printed: delta, error, fairness, variance.
PRINTED = {
    (0.5, "Laplace"): ("0", 763.77, 3.65, 39.50),
    (0.5, "discrete Gaussian"): ("0.36", 980.81, 4.94, 45.06),
    (0.5, "randomised suppression"): ("0.99", 745.39, 3.47, 6.37),
    (0.5, "randomised swapping"): ("0.99", 3462.16, 1774.72, 64920.40),
    (1.0, "Laplace"): ("0", 342.88, 1.84, 9.97),
    (1.0, "discrete Gaussian"): ("0.13", 659.21, 3.06, 22.94),
    (1.0, "randomised suppression"): ("0.99", 676.37, 3.38, 2.94),
    (1.0, "randomised swapping"): ("0.99", 3652.08, 1945.24, 113.87),
    (2.0, "Laplace"): ("0", 154.78, 0.90, 2.06),
    (2.0, "discrete Gaussian"): ("0.01", 436.92, 2.20, 12.03),
    (2.0, "randomised suppression"): ("0.99", 510.18, 3.49, 2.22),
    (2.0, "randomised swapping"): ("0.99", 3653.04, 1946.84, 112.22),
    (4.0, "Laplace"): ("0", 67.34, 0.46, 0.68),
    (4.0, "discrete Gaussian"): ("3E-4", 290.71, 1.49, 5.74),
    (4.0, "randomised suppression"): ("0.99", 336.54, 3.83, 1.37),
    (4.0, "randomised swapping"): ("0.99", 3658.16, 1949.00, 117.29),
}


def excerpt(name: str) -> CountTable:
    """Return the table of the paper's five features, missing incomes counted as below 50,000."""
    return tabulate(name, FEATURES, derive=[INCOME], missing_as=MISSING_INCOME)


NOISY = ("Laplace", "discrete Gaussian")
# A method as the paper's Sections 3 and 7 describe it, and as Definition 3 and Section 5 do.
SUPPRESSIONS = ("suppression", "suppression, empty cells too")
SWAPPINGS = ("swapping", "swapping for other values")
ORIGINAL = (*SUPPRESSIONS, *SWAPPINGS)
RANDOMISED = tuple(f"randomised {name}" for name in ORIGINAL)


def printed_as(mechanism: str) -> str:
    """Return what Table 1 calls a mechanism, whatever the reading.

    Examples
    --------
    >>> printed_as("randomised swapping for other values"), printed_as("Laplace")
    ('randomised swapping', 'Laplace')
    """
    names = (*NOISY, "randomised suppression", "randomised swapping")
    return next(name for name in names if mechanism.startswith(name))


def gaussian_variance(epsilon: float) -> float:
    """Return the variance of Table 1's discrete Gaussian noise, by the formula of Section 3.

    The noise of variance 4/e² is (½e² + e√(2 ln 1/δ), δ)-DP. The table's δ is e^(-2ε); solved for e
    that gives (√6 - 2)√ε, and 19.798/ε, which is what the table's variances look like.

    Examples
    --------
    >>> round(gaussian_variance(1.0), 3)
    19.798
    """
    root = math.sqrt(2 * 2 * epsilon)
    return 4 / (math.sqrt(root**2 + 2 * epsilon) - root) ** 2


def protection(mechanism: str, epsilon: Any, k: int = THRESHOLD, rate: float = RATE) -> Protection:
    """Return the protection of that name; an original has no epsilon."""
    if mechanism == "Laplace":
        return LaplaceHistogram(epsilon)
    if mechanism == "discrete Gaussian":
        return DiscreteGaussianHistogram(Fraction(gaussian_variance(epsilon)), epsilon)
    name = mechanism.removeprefix("randomised ")
    kept = name == "suppression"
    donor: Donor = "another record" if name == "swapping" else "other quasi-identifiers"
    if name == mechanism:
        return CellSuppression(k, kept) if name in SUPPRESSIONS else Swapping(RACE, rate, donor)
    if name in SUPPRESSIONS:
        return RandomisedCellSuppression(k, kept, epsilon)
    return RandomisedSwapping(RACE, rate, donor, epsilon=epsilon)


def protection_of(parameters: Row) -> Protection:
    """Return the protection of a cell, by default with the paper's threshold and rate."""
    k, rate = parameters.get("k", THRESHOLD), parameters.get("rate", RATE)
    return protection(parameters["mechanism"], parameters["epsilon"], k, rate)


def _excerpt(shared: Row, rng: np.random.Generator) -> CountTable:
    return excerpt(shared["data"])


_MEASURES = ("bias", "fairness", "variance")


def _measured(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return Table 1's measures of a mechanism, exactly and from runs."""
    mechanism = protection_of(parameters)
    exact = measures.exact_measures(mechanism, table)
    runs = measures.simulated_measures(mechanism, table, rng, parameters["runs"])
    guarantee = mechanism.guarantee(table.universe())
    return {
        # Without a guarantee delta is 1.
        "delta": guarantee.delta if isinstance(guarantee, Guarantee) else None,
        "published delta": _published_delta(mechanism, table),
        **{name: getattr(exact, name) for name in _MEASURES},
        **{f"{name}, runs": getattr(runs, name) for name in _MEASURES},
    }


def _revealed(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return how much suppression leaves as it is: counts that are not 0, and records."""
    held = table.flat[table.flat > 0]
    stay = held >= parameters["k"]
    return {"counts": float(stay.mean()), "records": float(held[stay].sum() / held.sum())}


REVEALED = Computation("counts that stay", 1, _revealed, _excerpt, ("data",))


def revealed(computed: Computed) -> pd.DataFrame:
    """Return the shares of counts and records that suppression leaves as they are."""
    return computed.frame(REVEALED)


def _published_delta(mechanism: Protection, table: CountTable) -> float | None:
    """Return delta by Theorem 1 or 3, for the largest count and the records of a table."""
    if isinstance(mechanism, RandomisedCellSuppression):
        return mechanism.published_delta(int(table.counts.max())).delta
    if isinstance(mechanism, RandomisedSwapping):
        return mechanism.published_delta(table.size)
    return None


MEASURED = Computation("measures of a protected table", 2, _measured, _excerpt, ("data",))


def table_1(computed: Computed) -> pd.DataFrame:
    """Return Table 1: printed, exact, and estimated from as many runs as in the paper."""
    rows = []
    for line in computed.frame(MEASURED).to_dict("records"):
        delta, *printed = PRINTED[line["epsilon"], printed_as(line["mechanism"])]
        row = {"ε": line["epsilon"], "mechanism": line["mechanism"], "δ printed": delta}
        row["δ exact"] = "1" if pd.isna(line["delta"]) else rounded_up(line["delta"], 2)
        for name, value in zip(_MEASURES, printed, strict=True):
            shown = "α" if name == "fairness" else name
            row |= {f"{shown} printed": value, f"{shown} exact": line[name]}
            row[f"{shown}, runs"] = line[f"{name}, runs"]
        rows.append({**row, "δ of theorem": line["published delta"]})
    return pd.DataFrame(rows)


def _compared_with_original(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return error and fairness of a method or its randomised version, exactly."""
    method, value, epsilon = (parameters[name] for name in ("method", "parameter", "epsilon"))
    name = method if epsilon is None else f"randomised {method}"
    exact = measures.exact_measures(protection(name, epsilon, value, value / 100), table)
    return {"absolute error": exact.absolute, "fairness": exact.fairness}


COMPARED = Computation(
    "randomised against original", 2, _compared_with_original, _excerpt, ("data",)
)


def figure_2(computed: Computed) -> pd.DataFrame:
    """Return errors and fairness of both methods and their randomised versions, exactly."""
    names = ["method", "parameter", "epsilon", "absolute error", "fairness"]
    table = computed.frame(COMPARED)[names]
    return table.assign(epsilon=table["epsilon"].fillna(math.inf))


_AXES = "EDU", "PINCP_DECILE"
GROUPS = {"white men": {"RAC1P": "1", "SEX": "1"}, "black men": {"RAC1P": "2", "SEX": "1"}}


def _national(shared: Row, rng: np.random.Generator) -> CountTable:
    return tabulate(shared["data"], ["RAC1P", "SEX", "PINCP_DECILE", "EDU"])


def _mapped(parameters: Row, table: CountTable, rng: np.random.Generator) -> list[Row]:
    """Return two-way marginals of income decile and education, a row per count."""
    mechanism = protection_of(parameters)
    mean = as_array(mechanism.simulate(table, rng, parameters["runs"]).mean(axis=0))
    errors = mechanism.errors(table)
    # A count of the map is one cell of the table, as race and sex are the group's.
    noise = {
        name: math.sqrt(two_way(table, errors.variance, *_AXES, where).mean())
        for name, where in GROUPS.items()
    }
    return [
        {
            "group": marginal.group,
            "x": category,
            "x number": marginal.x.numbers[i],
            "y": other,
            "y number": marginal.y.numbers[j],
            "change": marginal.change[i, j],
            "error for 100 records": marginal.error,
            "noise of one release": noise[marginal.group],
            "true intercept": marginal.true_line[0],
            "true slope": marginal.true_line[1],
            "intercept": marginal.line[0],
            "slope": marginal.line[1],
        }
        for marginal in measures.group_maps(
            mechanism, table, *_AXES, GROUPS, mean=mean, errors=errors
        )
        for i, category in enumerate(marginal.x.categories)
        for j, other in enumerate(marginal.y.categories)
    ]


MAPPED = Computation("two-way marginals of groups", 2, _mapped, _national, ("data",))


def figure_3(computed: Computed) -> list[GroupMap]:
    """Return the maps of Figure 3."""
    maps = []
    by_map = computed.frame(MAPPED).groupby(["mechanism", "group"], sort=False)
    for (mechanism, group), rows in by_map:
        x, y = (
            Axis(
                name,
                tuple(dict.fromkeys(rows[side].tolist())),
                tuple(dict.fromkeys(rows[f"{side} number"].tolist())),
                False,
            )
            for side, name in (("x", "education"), ("y", "income decile"))
        )
        first = rows.iloc[0]
        maps.append(
            GroupMap(
                str(mechanism),
                str(group),
                x,
                y,
                as_array(rows["change"]).reshape(len(x.categories), len(y.categories)),
                (float(first["true intercept"]), float(first["true slope"])),
                (float(first["intercept"]), float(first["slope"])),
                float(first["error for 100 records"]),
            )
        )
    return maps


def _on_groups(parameters: Row, table: CountTable, rng: np.random.Generator) -> list[Row]:
    """Return the exact error of every race and sex, and how many of its cells are empty."""
    absolute = protection_of(parameters).errors(table).absolute
    rows: list[Row] = []
    races, sexes = table.attributes[0].categories, table.attributes[1].categories
    for race, sex in itertools.product(races, sexes):
        where = {"RAC1P": race, "SEX": sex}
        if not table.counts[races.index(race), sexes.index(sex)].any():
            continue  # nothing can be said about the error of an empty group
        counts, wrong = (two_way(table, of, *_AXES, where) for of in (table.flat, absolute))
        rows.append(
            {
                "race": race,
                "sex": sex,
                "records": int(counts.sum()),
                "empty cells": float((counts == 0).mean()),
                "error for 100 records": float(100 * wrong.sum() / counts.sum()),
            }
        )
    return rows


ON_GROUPS = Computation("errors of races and sexes", 1, _on_groups, _national, ("data",))


def sparsity(computed: Computed) -> pd.DataFrame:
    """Return the errors of all groups by mechanism, the sparsest group last."""
    table = computed.frame(ON_GROUPS)
    names = ["race", "sex", "records", "empty cells"]
    wide = table.pivot(index=names, columns="mechanism", values="error for 100 records")
    return wide[[*dict.fromkeys(table["mechanism"])]].reset_index().sort_values("empty cells")


def _matched(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return the share of records that are unique and matched exactly in a release."""
    mechanism = protection_of(parameters)
    matches = measures.unique_exact_matches(
        table, mechanism.simulate(table, rng, parameters["runs"])
    )
    unique = float(100 * (table.flat == 1).sum() / table.size)
    return {"matches": float(matches.mean()), "all unique": unique}


MATCHED = Computation("unique exact matches", 1, _matched, _excerpt, ("data",))


def figure_5(computed: Computed) -> pd.DataFrame:
    """Return unique exact matches by data, epsilon and mechanism."""
    names = ["data", "epsilon", "mechanism", "matches", "all unique"]
    return computed.frame(MATCHED)[names]
