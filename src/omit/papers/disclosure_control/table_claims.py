"""What Table 1 of the disclosure-control paper says, and how it is judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd

from omit.papers.claims import Claim, Finding, Judge, agreement, claim, under_every_reading
from omit.papers.disclosure_control import cells, readings
from omit.papers.disclosure_control.readings import NEAR

ALIKE = 1.25
"""Numbers are comparable if neither is above 1.25 times the other."""
_SHOWN = 4  # readings of a row that the ledger lists, apart from those of the text

EMPTY_CELLS = {
    "empty cells kept": cells.SUPPRESSIONS[0],
    "empty cells suppressed": cells.SUPPRESSIONS[1],
}
DONORS = dict(zip(readings.DONORS, cells.SWAPPINGS, strict=True))
"""What the readings of the text are called, and the methods that they are."""

_of_table_1 = partial(claim, "Table 1", "table-1", of=cells.table_1)


def by_reading(
    methods: dict[str, str], judge: Callable[[pd.DataFrame, str], Finding | None]
) -> Judge:
    """Return the judge under every reading of a method; `judge` takes numbers and the method."""

    def judged_as(method: str) -> Judge:
        return lambda numbers: judge(numbers, method)

    return under_every_reading({name: judged_as(method) for name, method in methods.items()})


def _by_mechanism(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["mechanism"] == name].reset_index(drop=True)


def judge_row(mechanism: str, table: pd.DataFrame) -> Finding | None:
    """Return whether a row's errors and α are the printed ones, under the readings of the row.

    Those in the words of the text and the nearest to the print are listed.
    """
    rows = table[table["mechanism"] == mechanism]
    if rows.empty:
        return None
    said = rows["reading"].isin(readings.OF_THE_TEXT)
    listed = rows[said | (rows["off the print"].rank(method="first") <= _SHOWN)]
    judges: dict[str, Judge] = {
        str(row["reading"]): partial(_reading_of_row, row) for row in listed.to_dict("records")
    }
    found = under_every_reading(judges)(table)
    if found is None:
        return None
    whole = int((rows["near"] == readings.PRINTED_NUMBERS).sum())
    summary = (
        f"Of {len(rows):,} readings, {whole:,} {'has' if whole == 1 else 'have'} all "
        f"{readings.PRINTED_NUMBERS} printed numbers within {NEAR:.0%}; the nearest is off by "
        f"{rows['off the print'].min():.1%} on average, the median one by "
        f"{rows['off the print'].median():.0%}."
    )
    return replace(found, evidence=summary)


def _reading_of_row(row: dict[str, float], table: pd.DataFrame) -> Finding:
    parts = []
    for name in ("error", "α", "variance"):
        values = [_short(row[f"{name} at ε = {epsilon:g}"]) for epsilon in cells.EPSILONS]
        parts.append(f"{name} {', '.join(values)}")
    near, of = row["near"], readings.PRINTED_NUMBERS
    return Finding(
        agreement(*(index < near for index in range(of))),
        f"{'; '.join(parts)}: {near} of {of} errors and α within {NEAR:.0%}.",
        distance=row["off the print"],
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _row_claim(mechanism: str, words: str, name: str) -> Claim:
    printed = [cells.PRINTED[epsilon, mechanism] for epsilon in cells.EPSILONS]
    errors, alphas = (
        ", ".join(_short(value) for value in values)
        for values in ([row[1] for row in printed], [row[2] for row in printed])
    )
    return Claim(
        "Table 1",
        f"{words}: errors {errors} and α {alphas} at ε = 0.5, 1, 2, 4.",
        ("table-1-readings",),
        partial(judge_row, mechanism),
        lambda computed: computed.once(readings.table_1_readings),
        name,
    )


def _deltas(table: pd.DataFrame, which: str) -> list[float]:
    return [float(delta) for delta in _by_mechanism(table, "discrete Gaussian")[f"δ {which}"]]


def _valid_deltas(table: pd.DataFrame) -> Finding:
    exact, printed = _deltas(table, "exact"), _deltas(table, "printed")
    valid = [mine <= stated for mine, stated in zip(exact, printed, strict=True)]
    return Finding(
        agreement(*valid),
        f"The histogram keeps {sum(valid)} of {len(valid)} of them: its exact δ are "
        f"{', '.join(f'{delta:.1e}' for delta in exact)}.",
    )


def _smallest_deltas(table: pd.DataFrame) -> Finding:
    exact, printed = _deltas(table, "exact"), _deltas(table, "printed")
    ratios = [stated / mine for mine, stated in zip(exact, printed, strict=True)]
    return Finding(
        agreement(*(abs(ratio - 1) <= NEAR for ratio in ratios)),
        f"They are {', '.join(f'{ratio:,.0f}' for ratio in ratios)} times the exact ones: far more "
        "noise than they need, so the table handicaps the discrete Gaussian.",
    )


GAUSSIAN_DELTAS = Claim(
    "Table 1",
    "δ of the discrete Gaussian is 0.36, 0.13, 0.01 and 3E-4.",
    ("table-1",),
    under_every_reading(
        {"δ at which it is private": _valid_deltas, "the smallest such δ": _smallest_deltas}
    ),
    cells.table_1,
    "gaussian-deltas",
)


@_of_table_1("The discrete Gaussian has the variances that its printed δ ask for in Section 3.")
def gaussian_variances(table: pd.DataFrame) -> Finding:
    """Return whether the formula of Section 3, at the printed δ, gives the printed variances."""
    gauss = _by_mechanism(table, "discrete Gaussian")
    # Cut off, not rounded: .01 is e^-4 = .018.
    cut = [
        stated <= math.exp(-2 * epsilon) < stated + 10.0 ** -(4 if stated < 0.001 else 2)
        for stated, epsilon in zip(_deltas(table, "printed"), gauss["ε"], strict=True)
    ]
    ratios = (gauss["variance printed"] / gauss["variance, runs"]).tolist()
    exact = ", ".join(f"{value:.2f}" for value in gauss["variance exact"])
    return Finding(
        agreement(*cut, *(1 / ALIKE <= ratio <= ALIKE for ratio in ratios)),
        f"The printed δ are e^(−2ε), cut off, at {sum(cut)} of {len(cut)} ε. By the formula of "
        f"Section 3 that asks for the variance 4/ε₀² with ε₀ = (√6 − 2)√ε: {exact}. The largest "
        "empirical variance of many counts is larger; printed are "
        f"{', '.join(f'{ratio:.2f}' for ratio in ratios)} times ours.",
    )


@_of_table_1("The largest empirical variances of a count.")
def largest_variances(table: pd.DataFrame) -> Finding:
    """Return whether the largest variances that runs show are comparable to the printed ones."""
    parts, near = [], []
    for name in dict.fromkeys(table["mechanism"]):
        rows = _by_mechanism(table, name)
        ratios = (rows["variance, runs"] / rows["variance printed"]).tolist()
        near += [1 / ALIKE <= ratio <= ALIKE for ratio in ratios]
        parts.append(f"{name} {', '.join(f'{ratio:.2g}' for ratio in ratios)}")
    return Finding(
        agreement(*near),
        f"Ours, from runs, over the printed ones at ε = 0.5, 1, 2, 4: {'; '.join(parts)}.",
    )


def _control_deltas(column: str) -> Judge:
    def judge(table: pd.DataFrame) -> Finding:
        rows = table[table["mechanism"].isin(cells.RANDOMISED)]
        deltas = rows[column].astype(float)
        return Finding(
            agreement(*(deltas >= 0.99)), f"The smallest of {len(deltas)} is {deltas.min():.10g}."
        )

    return judge


CONTROL_DELTAS = Claim(
    "Table 1",
    "δ of randomised suppression and swapping is 0.99 or more.",
    ("table-1",),
    under_every_reading(
        {
            "the δ of Theorems 1 and 3": _control_deltas("δ of theorem"),
            "the exact δ": _control_deltas("δ exact"),
        }
    ),
    cells.table_1,
    "control-deltas",
)


def _noise_is_best(table: pd.DataFrame, suppression: str) -> Finding:
    controls = [f"randomised {suppression}", *(f"randomised {name}" for name in cells.SWAPPINGS)]
    wins, parts = 0, []
    for measure, words in (("bias", "error"), ("α", "fairness"), ("variance", "variance")):
        wide = table.pivot(index="ε", columns="mechanism", values=f"{measure} exact")
        best = wide[list(cells.NOISY)].min(axis=1) < wide[controls].min(axis=1)
        wins += int(best.sum())
        parts.append(f"{words} at {int(best.sum())} of {len(best)} ε")
    cases = 3 * len(cells.EPSILONS)
    return Finding(
        "holds" if 2 * wins > cases else "fails",
        f"Laplace or discrete Gaussian noise is the best in {wins} of {cases} cases, exactly: "
        f"{', '.join(parts)}. Only these have a guarantee.",
    )


NOISE_IS_BEST = Claim(
    "Table 1",
    "Noisy histograms have better accuracy, fairness and variance than suppression and swapping, "
    "in most cases.",
    ("table-1",),
    by_reading(EMPTY_CELLS, _noise_is_best),
    cells.table_1,
    "noise-is-best",
)


def _laplace_beats(table: pd.DataFrame, suppression: str) -> Finding:
    laplace = _by_mechanism(table, "Laplace")
    suppressed = _by_mechanism(table, f"randomised {suppression}")
    smaller = (laplace["bias exact"] < suppressed["bias exact"])[laplace["ε"] >= 1]
    return Finding(
        agreement(*smaller),
        f"Suppression's exact error is {', '.join(map(_short, suppressed['bias exact']))}, "
        f"Laplace's {', '.join(map(_short, laplace['bias exact']))}: smaller at "
        f"{int(smaller.sum())} of {len(smaller)} ε ≥ 1.",
    )


LAPLACE_AGAINST_SUPPRESSION = Claim(
    "Table 1",
    "The Laplace histogram has smaller errors than randomised suppression for ε ≥ 1.",
    ("table-1",),
    by_reading(EMPTY_CELLS, _laplace_beats),
    cells.table_1,
    "laplace-against-suppression",
)


@claim(
    "Section 7",
    "table-1",
    "Discrete Gaussian noise induces larger errors than Laplace noise.",
    of=cells.table_1,
)
def gaussian_errs_more(table: pd.DataFrame) -> Finding:
    """Return whether its exact error is the larger one at every ε."""
    wide = table.pivot(index="ε", columns="mechanism", values="bias exact")
    ratios = wide["discrete Gaussian"] / wide["Laplace"]
    return Finding(
        agreement(*(ratios > 1)),
        f"Its exact error is {', '.join(f'{ratio:.2f}' for ratio in ratios)} times that of Laplace "
        "at ε = 0.5, 1, 2, 4 (with far more noise than its δ needs).",
    )


def _less_fair_than_noise(table: pd.DataFrame, method: str) -> Finding:
    wide = table.pivot(index="ε", columns="mechanism", values="α exact")
    ratios = wide[f"randomised {method}"] / wide[list(cells.NOISY)].max(axis=1)
    return Finding(
        agreement(*(ratios > ALIKE)),
        f"Its exact α is {', '.join(f'{ratio:.3g}' for ratio in ratios)} times the larger one of "
        "Laplace and discrete Gaussian noise at ε = 0.5, 1, 2, 4.",
    )


LESS_FAIR_THAN_NOISE = Claim(
    "Section 1",
    "Suppression and swapping can be much less fair than noisy histograms.",
    ("table-1",),
    by_reading(EMPTY_CELLS | DONORS, _less_fair_than_noise),
    cells.table_1,
    "less-fair-than-noise",
)


@claim(
    "Abstract",
    "table-1",
    "The privacy loss of suppression and swapping is vastly larger than that of noise.",
    of=cells.table_1,
)
def privacy_of_noise(table: pd.DataFrame) -> Finding:
    """Return whether noise has a small δ where suppression and swapping have one of nearly 1."""
    deltas = {
        name: float(rows["δ exact"].astype(float).max())
        for name, rows in table.groupby("mechanism", sort=False)
    }
    noise = max(deltas[name] for name in cells.NOISY)
    control = min(delta for name, delta in deltas.items() if name not in cells.NOISY)
    return Finding(
        agreement(noise < 0.01, control > 0.99),
        f"At the same ε the largest exact δ of noise is {noise:.2g}, the smallest of the others "
        f"{control:.3g}.",
    )


TABLE_CLAIMS = (
    privacy_of_noise,
    LESS_FAIR_THAN_NOISE,
    _row_claim("Laplace", "The Laplace histogram", "laplace-row"),
    _row_claim("discrete Gaussian", "The discrete Gaussian histogram", "gaussian-row"),
    _row_claim("randomised suppression", "Randomised suppression", "suppression-row"),
    _row_claim("randomised swapping", "Randomised swapping", "swapping-row"),
    GAUSSIAN_DELTAS,
    gaussian_variances,
    largest_variances,
    CONTROL_DELTAS,
    NOISE_IS_BEST,
    LAPLACE_AGAINST_SUPPRESSION,
    gaussian_errs_more,
)
