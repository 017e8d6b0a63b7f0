"""Das et al., "Finding ε and δ of Statistical Disclosure Control Systems": its numbers, anew.

What the paper prints is here as data; everything else is computed. Missing incomes (people under
15) count as below 50,000: only then are there the 7,634 records that Table 1's swapping row needs.

The numbers behind the tables and figures of the disclosure-control paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from omit._numeric import as_array
from omit._text import rounded_up
from omit.disclosure.attributes import MISSING, Attribute, chosen
from omit.disclosure.histograms import DiscreteGaussianHistogram, LaplaceHistogram
from omit.disclosure.measures import exact_measures, simulated_measures, unique_exact_matches
from omit.disclosure.protection import TableMechanism
from omit.disclosure.suppression import CellSuppression, RandomisedCellSuppression
from omit.disclosure.swapping import RandomisedSwapping, Swapping
from omit.disclosure.table import CountTable
from omit.disclosure.tabulation import tabulate
from omit.disclosure.tasks import GroupMap, group_maps, logistic_accuracy
from omit.papers.reproduction import Paper

if TYPE_CHECKING:
    import pandas as pd


PAPER = Paper(
    "disclosure-control",
    "Finding ε and δ of Statistical Disclosure Control Systems",
    "S. Das, K. Zhu, C. Task, P. Van Hentenryck and F. Fioretto, 'Finding ε and δ of Statistical "
    "Disclosure Control Systems'.",
)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
THRESHOLD, RATE, RUNS = 6, 0.25, 200
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
    (place,) = chosen(table.attributes, [name], "attribute")
    attribute = table.attributes[place]
    if MISSING not in attribute.categories:
        return table
    counts = table.counts.copy()
    counts = np.moveaxis(counts, place, 0)
    counts[attribute.place(category)] += counts[attribute.place(MISSING)]
    kept = [each for each in attribute.categories if each != MISSING]
    counts = counts[[attribute.place(each) for each in kept]]
    attributes = list(table.attributes)
    attributes[place] = Attribute(name, tuple(kept), attribute.origin)
    return CountTable(
        tuple(attributes),
        np.moveaxis(counts, 0, place),
        table.source,
        table.left_out,
        (f"Missing values of {name} count as {category!r}.",),
    )


def mechanisms(
    epsilon: float, quasi_identifiers: tuple[str, ...] = ("RAC1P",), k: int = THRESHOLD
) -> list[TableMechanism]:
    """Return the four mechanisms of the experiments."""
    return [
        LaplaceHistogram(epsilon),
        DiscreteGaussianHistogram(_FITTED_VARIANCE / Fraction(epsilon), epsilon),
        RandomisedCellSuppression(k, epsilon=epsilon),
        RandomisedSwapping(quasi_identifiers, RATE, epsilon=epsilon),
    ]


def table_1(table: CountTable, runs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return Table 1: printed, exact, and estimated from as many runs as in the paper."""
    import pandas as pd

    rows = []
    for epsilon in EPSILONS:
        for mechanism in mechanisms(epsilon):
            delta, error, fairness, variance = PRINTED[epsilon, mechanism.key]
            exact = exact_measures(mechanism, table)
            runs_of = simulated_measures(mechanism, table, rng, runs)
            rows.append(
                {
                    "ε": epsilon,
                    "mechanism": mechanism.key,
                    "δ printed": delta,
                    "δ exact": exact_delta(mechanism, table),
                    "bias printed": error,
                    "bias exact": exact.bias,
                    "bias, runs": runs_of.bias,
                    "α printed": fairness,
                    "α exact": exact.fairness,
                    "α, runs": runs_of.fairness,
                    "variance printed": variance,
                    "variance exact": exact.variance,
                    "variance, runs": runs_of.variance,
                }
            )
    return pd.DataFrame(rows)


def exact_delta(mechanism: TableMechanism, table: CountTable) -> str:
    """Return delta at the mechanism's epsilon as text; 1 where there is no guarantee."""
    from omit.guarantee import Guarantee

    answer = mechanism.guarantee(table.universe())
    return rounded_up(answer.delta, 2) if isinstance(answer, Guarantee) else "1"


def swapping_variants(table: CountTable) -> pd.DataFrame:
    """Return what Table 1's swapping row could be: who may be a donor, and which one is.

    The last rows let one record be the donor of every target: all swapped records then land in
    one cell. The cell is the one that comes nearest to the printed numbers.
    """
    import pandas as pd

    rows = []
    for quasi in (("RAC1P",), ("RAC1P", "SEX"), FEATURES):
        for donor in ("another record", "other quasi-identifiers"):
            for ties in ("random", "first"):
                mechanism = Swapping(quasi, RATE, donor, ties)
                bias, variance = mechanism.bias_and_variance(table)
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
    rows.append(
        {
            "swapped": "all five",
            "donor": "one record for all targets",
            "which": f"in a cell of {x[cell]:,}",
            "bias": float(2 * gain[cell]),
            "fairness": float(gain[cell] + loss[cell]),
            # a fixed number of targets, drawn without replacement
            "variance": float(RATE * (1 - RATE) * x[0] * (1 - x[0] / table.size)),
        }
    )
    rows.append(
        {
            "swapped": "(printed, ε = 2)", "donor": "", "which": "",
            "bias": printed[1], "fairness": printed[2], "variance": printed[3],
        }
    )  # fmt: skip
    return pd.DataFrame(rows)


def figure_2(table: CountTable) -> pd.DataFrame:
    """Return errors and fairness of both methods and their randomised versions, exactly."""
    import pandas as pd

    rows = []
    for k in range(2, 21, 2):
        for epsilon in (None, *EPSILONS):
            suppression = (
                CellSuppression(k)
                if epsilon is None
                else RandomisedCellSuppression(k, epsilon=epsilon)
            )
            rows.append(_figure_2_row("suppression", k, epsilon, suppression, table))
    for percent in range(5, 51, 5):
        for epsilon in (None, *EPSILONS):
            rate = percent / 100
            swapping = (
                Swapping(("RAC1P",), rate)
                if epsilon is None
                else RandomisedSwapping(("RAC1P",), rate, epsilon=epsilon)
            )
            rows.append(_figure_2_row("swapping", percent, epsilon, swapping, table))
    return pd.DataFrame(rows)


def _figure_2_row(
    method: str, parameter: int, epsilon: float | None, mechanism: TableMechanism, table: CountTable
) -> dict[str, object]:
    found = exact_measures(mechanism, table)
    return {
        "method": method,
        "parameter": parameter,
        "epsilon": math.inf if epsilon is None else epsilon,
        "absolute error": found.absolute,
        "fairness": found.fairness,
    }


GROUPS = {"white men": {"RAC1P": "1", "SEX": "1"}, "black men": {"RAC1P": "2", "SEX": "1"}}


def figure_3(runs: int, rng: np.random.Generator) -> list[GroupMap]:
    """Return two-way marginals of income decile and education at ε = 2 and k = 10."""
    table = tabulate("nist-national", ["RAC1P", "SEX", "PINCP_DECILE", "EDU"])
    found = []
    for mechanism in mechanisms(2.0, k=10):
        mean = as_array(mechanism.study(table, rng, runs).mean(axis=0))
        found += group_maps(mechanism, table, "EDU", "PINCP_DECILE", GROUPS, mean=mean)
    return found


def figure_4(
    runs: int, rng: np.random.Generator, advance: Callable[..., None] | None = None
) -> pd.DataFrame:
    """Return the accuracy of logistic regression on released data, scored on the original."""
    import pandas as pd

    features = ["RAC1P", "age5", "SEX", "OWN_RENT", "income50k"]
    table = tabulate("nist-ma", features, derive=[INCOME, AGE], missing="category")
    table = merged_missing(table, "income50k", "no")
    baseline = logistic_accuracy(table, as_array(table.flat), "income50k")
    rows = []
    for epsilon in EPSILONS:
        every: list[TableMechanism] = [*mechanisms(epsilon)]
        every += [CellSuppression(THRESHOLD), Swapping(("RAC1P",), RATE)]
        for mechanism in every:
            draws = mechanism.study(table, rng, 1 if mechanism.key == "suppression" else runs)
            scores = [logistic_accuracy(table, draw, "income50k") for draw in draws]
            rows.append(
                {
                    "epsilon": epsilon,
                    "mechanism": mechanism.key,
                    "accuracy": float(np.mean(scores)),
                    "standard error": float(np.std(scores) / math.sqrt(len(scores))),
                    "baseline": baseline,
                }
            )
            if advance is not None:
                advance()
    return pd.DataFrame(rows)


def figure_5(runs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return unique exact matches in Massachusetts and Texas, without suppression."""
    import pandas as pd

    rows = []
    for name in ("nist-ma", "nist-tx"):
        table = excerpt(name)
        for epsilon in EPSILONS:
            for mechanism in mechanisms(epsilon):
                if isinstance(mechanism, CellSuppression):
                    continue
                matches = unique_exact_matches(table, mechanism.study(table, rng, runs))
                rows.append(
                    {
                        "data": name,
                        "epsilon": epsilon,
                        "mechanism": mechanism.key,
                        "matches": float(matches.mean()),
                        "all unique": float(100 * (table.flat == 1).sum() / table.size),
                    }
                )
    return pd.DataFrame(rows)


def figure_1() -> pd.DataFrame:
    """Return a small example of both methods: our own numbers, in the manner of Figure 1."""
    import pandas as pd

    table = CountTable(
        (
            Attribute("block", ("1", "2")),
            Attribute("gender", ("F", "M")),
            Attribute("voting age", ("no", "yes")),
        ),
        np.array([2, 4, 1, 5, 0, 3, 2, 6]),
    )
    rng = np.random.default_rng(1)
    suppressed = CellSuppression(3).release(table, rng)[0]
    swapped = Swapping(("gender",), 0.25).release(table, rng)[0]
    codes = np.stack(np.unravel_index(np.arange(table.cells), table.shape), axis=1)
    return pd.DataFrame(
        {
            **{
                attribute.name: [attribute.categories[code] for code in codes[:, place]]
                for place, attribute in enumerate(table.attributes)
            },
            "count": table.flat,
            "suppressed below 3": suppressed.astype(int),
            "gender swapped": swapped.astype(int),
        }
    )


SEED = 2024
STEPS = 30
"""How often `compute` advances."""


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that the tables and figures show.

    Attributes
    ----------
    runs
        How often everything was drawn that the paper draws.
    table
        Massachusetts, on which Table 1 and Figure 2 are computed.
    table_1, figure_2, figure_3, figure_4, figure_5
        The numbers of each.
    variants
        Ways to read Table 1's swapping row.
    """

    runs: int
    table: CountTable
    table_1: pd.DataFrame
    variants: pd.DataFrame
    figure_2: pd.DataFrame
    figure_3: list[GroupMap]
    figure_4: pd.DataFrame
    figure_5: pd.DataFrame


def compute(runs: int = RUNS, advance: Callable[..., None] = lambda steps=1: None) -> Results:
    """Compute everything; `advance` is told of `STEPS` steps in all."""
    rng = np.random.default_rng(SEED)
    table = excerpt("nist-ma")
    first = table_1(table, runs, rng)
    variants = swapping_variants(table)
    advance(2)
    second = figure_2(table)
    advance(2)
    third = figure_3(runs, rng)
    advance()
    fifth = figure_5(runs, rng)
    advance()
    # Last, because it takes the longest and tells how far it is.
    fourth = figure_4(runs, rng, advance)
    return Results(runs, table, first, variants, second, third, fourth, fifth)
