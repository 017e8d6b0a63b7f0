"""The numbers behind Das et al., "Finding ε and δ of Statistical Disclosure Control Systems".

What the paper prints is here as data; everything else is computed. Missing incomes (people under
15) count as below 50,000: only then are there the 7,634 records that Table 1's swapping row needs.
Its theorems are held against what the mechanisms do on small tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
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
from omit.disclosure.table import Attribute, CountTable, chosen
from omit.disclosure.tabulation import MISSING, tabulate
from omit.guarantee import Guarantee
from omit.papers.base import Computed
from omit.study.cell import Computation, Row

EPSILONS = (0.5, 1.0, 2.0, 4.0)
THRESHOLD, RATE = 6, 0.25
FEATURES = ("PUMA", "RAC1P", "SEX", "OWN_RENT", "income50k")
INCOME = "income50k = PINCP >= 50000"
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
# Table 1's variances of discrete Gaussian noise fit this numerator over epsilon, not 4/epsilon².
_FITTED_VARIANCE = Fraction(198, 10)


def excerpt(name: str) -> CountTable:
    """Return the table of the paper's five features, missing incomes counted as below 50,000."""
    table = tabulate(name, FEATURES, derive=[INCOME], missing="category")
    return merged_missing(table, "income50k", "no")


def merged_missing(table: CountTable, name: str, category: str) -> CountTable:
    """Return the table with the missing values of an attribute counted as a category."""
    (position,) = chosen(table.attributes, [name], "attribute")
    attribute = table.attributes[position]
    if MISSING not in attribute.categories:
        return table
    counts = np.moveaxis(table.counts.copy(), position, 0)
    counts[attribute.position(category)] += counts[attribute.position(MISSING)]
    kept = [known for known in attribute.categories if known != MISSING]
    counts = counts[[attribute.position(known) for known in kept]]
    attributes = list(table.attributes)
    attributes[position] = Attribute(name, tuple(kept), attribute.origin)
    return CountTable(
        tuple(attributes),
        np.moveaxis(counts, 0, position),
        table.source,
        table.left_out,
        (f"Missing values of {name} count as {category!r}.",),
    )


NOISY = ("Laplace", "discrete Gaussian")
RANDOMISED = ("randomised suppression", "randomised swapping")
ORIGINAL = ("suppression", "swapping")
_PROTECTIONS: Mapping[str, Callable[[Any, int, float], Protection]] = MappingProxyType(
    {
        "Laplace": lambda epsilon, k, rate: LaplaceHistogram(epsilon),
        "discrete Gaussian": lambda epsilon, k, rate: DiscreteGaussianHistogram(
            _FITTED_VARIANCE / Fraction(epsilon), epsilon
        ),
        "suppression": lambda epsilon, k, rate: CellSuppression(k),
        "swapping": lambda epsilon, k, rate: Swapping(("RAC1P",), rate),
        "randomised suppression": lambda epsilon, k, rate: RandomisedCellSuppression(
            k, epsilon=epsilon
        ),
        "randomised swapping": lambda epsilon, k, rate: RandomisedSwapping(
            ("RAC1P",), rate, epsilon=epsilon
        ),
    }
)


def _protection(parameters: Row) -> Protection:
    """Return the method of a cell; the originals have no epsilon."""
    k, rate = parameters.get("k", THRESHOLD), parameters.get("rate", RATE)
    return _PROTECTIONS[parameters["mechanism"]](parameters["epsilon"], k, rate)


def _excerpt(shared: Row, rng: np.random.Generator) -> CountTable:
    return excerpt(shared["data"])


_MEASURES = ("bias", "fairness", "variance")


def _measured(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return Table 1's measures of a mechanism, exactly and from runs."""
    mechanism = _protection(parameters)
    exact = measures.exact_measures(mechanism, table)
    runs = measures.simulated_measures(mechanism, table, rng, parameters["runs"])
    guarantee = mechanism.guarantee(table.universe())
    return {
        # Without a guarantee delta is 1.
        "delta": guarantee.delta if isinstance(guarantee, Guarantee) else None,
        **{name: getattr(exact, name) for name in _MEASURES},
        **{f"{name}, runs": getattr(runs, name) for name in _MEASURES},
    }


MEASURED = Computation("measures of a protected table", 1, _measured, _excerpt, ("data",))


def table_1(computed: Computed) -> pd.DataFrame:
    """Return Table 1: printed, exact, and estimated from as many runs as in the paper."""
    rows = []
    for line in computed.frame(MEASURED).to_dict("records"):
        delta, *printed = PRINTED[line["epsilon"], line["mechanism"]]
        row = {"ε": line["epsilon"], "mechanism": line["mechanism"], "δ printed": delta}
        row["δ exact"] = "1" if pd.isna(line["delta"]) else rounded_up(line["delta"], 2)
        for name, value in zip(_MEASURES, printed, strict=True):
            shown = "α" if name == "fairness" else name
            row |= {f"{shown} printed": value, f"{shown} exact": line[name]}
            row[f"{shown}, runs"] = line[f"{name}, runs"]
        rows.append(row)
    return pd.DataFrame(rows)


def _variants(parameters: Row, table: CountTable, rng: np.random.Generator) -> list[Row]:
    """Return what Table 1's swapping row could be: who may be a donor, and which one is.

    The last rows let one record be the donor of every target: all swapped records then land in
    one cell. The cell is the one that comes nearest to the printed numbers.
    """
    rows: list[dict[str, Any]] = []
    for quasi in (("RAC1P",), ("RAC1P", "SEX"), FEATURES):
        for donor in ("another record", "other quasi-identifiers"):
            for ties in ("random", "first"):
                bias, variance = Swapping(quasi, RATE, donor, ties).bias_and_variance(table)
                rows.append(
                    {
                        "swapped": ", ".join(quasi) if quasi != FEATURES else "all five",
                        "donor": donor,
                        "which": f"{ties} among the nearest",
                        "bias": float(np.abs(bias).sum()),
                        "fairness": float(bias.max() - bias.min()),
                        "variance": float(variance.max()),
                    }
                )
    x = np.sort(table.flat)[::-1]
    printed = PRINTED[2.0, "randomised swapping"]
    gain = RATE * (table.size - x)
    loss = RATE * np.where(np.arange(len(x)) == 0, x[1], x[0])
    cell = int((np.abs(2 * gain - printed[1]) + np.abs(gain + loss - printed[2])).argmin())
    # A fixed number of targets, drawn without replacement.
    variance = RATE * (1 - RATE) * x[0] * (1 - x[0] / table.size)
    measured = 2 * gain[cell], gain[cell] + loss[cell], variance
    one = {"swapped": "all five", "donor": "one record for all targets"}
    one["which"] = f"in a cell of {x[cell]:,}"
    last = {"swapped": "(printed, ε = 2)", "donor": "", "which": ""}
    return [
        *rows,
        {**one, **dict(zip(_MEASURES, map(float, measured), strict=True))},
        {**last, **dict(zip(_MEASURES, printed[1:], strict=True))},
    ]


VARIANTS = Computation("donors of swapping", 1, _variants, _excerpt, ("data",))


def swapping_variants(computed: Computed) -> pd.DataFrame:
    """Return what Table 1's swapping row could be; the last row is the printed one."""
    return computed.frame(VARIANTS).drop(columns="data")


def _compared_with_original(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return error and fairness of a method or its randomised version, exactly."""
    method, value, epsilon = (parameters[name] for name in ("method", "parameter", "epsilon"))
    name = method if epsilon is None else f"randomised {method}"
    exact = measures.exact_measures(_PROTECTIONS[name](epsilon, value, value / 100), table)
    return {"absolute error": exact.absolute, "fairness": exact.fairness}


COMPARED = Computation(
    "randomised against original", 1, _compared_with_original, _excerpt, ("data",)
)


def figure_2(computed: Computed) -> pd.DataFrame:
    """Return errors and fairness of both methods and their randomised versions, exactly."""
    names = ["method", "parameter", "epsilon", "absolute error", "fairness"]
    table = computed.frame(COMPARED)[names]
    return table.assign(epsilon=table["epsilon"].fillna(math.inf))


GROUPS = {"white men": {"RAC1P": "1", "SEX": "1"}, "black men": {"RAC1P": "2", "SEX": "1"}}


def _national(shared: Row, rng: np.random.Generator) -> CountTable:
    return tabulate(shared["data"], ["RAC1P", "SEX", "PINCP_DECILE", "EDU"])


def _mapped(parameters: Row, table: CountTable, rng: np.random.Generator) -> list[Row]:
    """Return two-way marginals of income decile and education, a row per count."""
    mechanism = _protection(parameters)
    mean = as_array(mechanism.simulate(table, rng, parameters["runs"]).mean(axis=0))
    return [
        {
            "group": marginal.group,
            "x": category,
            "x number": marginal.x.numbers[i],
            "y": other,
            "y number": marginal.y.numbers[j],
            "change": marginal.change[i, j],
            "error for 100 records": marginal.error,
            "true intercept": marginal.true_line[0],
            "true slope": marginal.true_line[1],
            "intercept": marginal.line[0],
            "slope": marginal.line[1],
        }
        for marginal in measures.group_maps(
            mechanism, table, "EDU", "PINCP_DECILE", GROUPS, mean=mean
        )
        for i, category in enumerate(marginal.x.categories)
        for j, other in enumerate(marginal.y.categories)
    ]


MAPPED = Computation("two-way marginals of groups", 1, _mapped, _national, ("data",))


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
            for side, name in (("x", "EDU"), ("y", "PINCP_DECILE"))
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


def _classified_table(shared: Row, rng: np.random.Generator) -> CountTable:
    features = ["RAC1P", "age5", "SEX", "OWN_RENT", "income50k"]
    table = tabulate(shared["data"], features, derive=[INCOME, AGE], missing="category")
    return merged_missing(table, "income50k", "no")


def _classified(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return the accuracy of logistic regression on releases, scored on the original."""
    draws = _protection(parameters).simulate(table, rng, parameters["runs"])
    scores = [measures.logistic_accuracy(table, draw, "income50k") for draw in draws]
    return {
        "accuracy": float(np.mean(scores)),
        "standard error": float(np.std(scores) / math.sqrt(len(scores))),
        "baseline": measures.logistic_accuracy(table, as_array(table.flat), "income50k"),
    }


CLASSIFIED = Computation("classifier from releases", 1, _classified, _classified_table, ("data",))


def figure_4(computed: Computed) -> pd.DataFrame:
    """Return the accuracies by epsilon; the originals are the same at all of them."""
    table = computed.frame(CLASSIFIED)
    original = table["epsilon"].isna()
    names = ["epsilon", "mechanism", "accuracy", "standard error", "baseline"]
    parts = [
        pd.concat([table[table["epsilon"] == epsilon], table[original].assign(epsilon=epsilon)])
        for epsilon in dict.fromkeys(table[~original]["epsilon"])
    ]
    return pd.concat(parts)[names].reset_index(drop=True)


def _matched(parameters: Row, table: CountTable, rng: np.random.Generator) -> Row:
    """Return the share of records that are unique and matched exactly in a release."""
    mechanism = _protection(parameters)
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


def figure_1() -> pd.DataFrame:
    """Return a small example of both methods: our own numbers, in the manner of Figure 1."""
    table = CountTable(
        (
            Attribute("block", ("1", "2")),
            Attribute("gender", ("F", "M")),
            Attribute("voting age", ("no", "yes")),
        ),
        np.array([2, 4, 1, 5, 0, 3, 2, 6]),
    )
    rng = np.random.default_rng(1)
    suppressed = CellSuppression(3).draw(table, rng)[0]
    swapped = Swapping(("gender",), 0.25).draw(table, rng)[0]
    codes = np.stack(np.unravel_index(np.arange(table.cells), table.shape), axis=1)
    return pd.DataFrame(
        {
            **{
                attribute.name: [attribute.categories[code] for code in codes[:, axis]]
                for axis, attribute in enumerate(table.attributes)
            },
            "count": table.flat,
            "suppressed below 3": suppressed.astype(int),
            "gender swapped": swapped.astype(int),
        }
    )
