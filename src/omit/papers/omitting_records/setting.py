"""Table 1, and what the paper says about its data, noise and calibration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from omit.accuracy.expected import expected_error
from omit.data.column import Column
from omit.data.datasets import DATASETS
from omit.data.reading import read
from omit.guarantee import Guarantee, NoGuarantee
from omit.laws.noise import Gaussian, Laplace
from omit.mechanisms.mean import NoisyMean
from omit.omissions.outlier_score import OutlierScoreSuppression
from omit.omissions.sampling import PoissonSampling, sampling_base_epsilon
from omit.papers.base import Computed, Exhibit
from omit.papers.claims import Finding, Judge, agreement, claim, claims_in, under_every_reading
from omit.papers.omitting_records.cells import COLUMNS

# As printed: size of the data set, range of the values, bounds.
PRINTED = {
    ("adult", "age"): (32_561, (17, 90), (0, 125)),
    ("adult", "hours-per-week"): (32_561, (1, 99), (0, 100)),
    ("census", "FEDTAX"): (1_080, (1, 21_260), (0, 31_889)),
    ("census", "FICA"): (1_080, (6, 7_932), (0, 11_890)),
    ("irish", "Age"): (66_666, (15, 84), (0, 125)),
    ("irish", "HighestEducationCompleted"): (66_666, (1, 10), (1, 10)),
}
_ROUNDING = 1e-9
_ESTIMATED = (("census", "FEDTAX"), ("census", "FICA"))


@lru_cache
def _read(data: str, name: str) -> Column:
    return read(data, name)


def _columns() -> Iterator[tuple[tuple[str, str], Column]]:
    """Give the columns whose data set is there."""
    for data, name in COLUMNS:
        if DATASETS[data].missing_file() is None:
            yield (data, name), _read(data, name)


def table_1(computed: Computed) -> pd.DataFrame:
    """Return a line per column: sizes, ranges and bounds, printed and as they are."""
    there = dict(_columns())
    lines = []
    for (data, name), (size, (low, high), (lower, upper)) in PRINTED.items():
        column = there.get((data, name))
        values = None if column is None else column.values
        lines.append(
            {
                "data": data,
                "column": name,
                "records, printed": size,
                "records": None if column is None else column.size,
                "values, printed": f"{low:,} to {high:,}",
                "values": "file missing"
                if values is None
                else f"{values[0]:,g} to {values[-1]:,g}",
                "bounds, printed": f"{lower:,} to {upper:,}",
                "bounds": "{:,} to {:,}".format(*DATASETS[data].bounds[name]),
                "different values": None if column is None else column.distinct,
                "share of the mode": None if column is None else column.counts.max() / column.size,
            }
        )
    return pd.DataFrame(lines)


TABLE_1 = Exhibit(
    "table-1",
    "Table 1: data sets, columns and bounds",
    "Printed next to what the files hold. Bounds are those that noise follows from.",
    table_1,
    quick=True,
)

_of_table_1 = partial(claim, of=lambda computed: dict(_columns()) or None)


@_of_table_1(
    "Table 1", "table-1", "The sizes of the data sets, the ranges of the columns, the bounds."
)
def _sizes_ranges_and_bounds(columns: dict[tuple[str, str], Column]) -> Finding:
    wrong = [
        f"{data} {name}"
        for (data, name), column in columns.items()
        if (
            column.size,
            (float(column.values[0]), float(column.values[-1])),
            DATASETS[data].bounds[name],
        )
        != PRINTED[data, name]
    ]
    missing = [f"{data} {name}" for data, name in PRINTED if (data, name) not in columns]
    return Finding(
        agreement(*(f"{data} {name}" not in wrong for data, name in columns)),
        f"{len(columns) - len(wrong)} of {len(columns)} columns are as printed"
        f"{'; not ' + ', '.join(wrong) if wrong else ''}"
        f"{'; files are missing for ' + ', '.join(missing) if missing else ''}.",
    )


@_of_table_1(
    "Section 3.1",
    "table-1",
    "Where there is no clear upper bound, it is 1.5 times the largest value, rounded up.",
)
def _estimated_bounds(columns: dict[tuple[str, str], Column]) -> Finding | None:
    known = {key: columns[key] for key in _ESTIMATED if key in columns}
    if not known:
        return None
    right = {key: math.ceil(1.5 * float(column.values[-1])) for key, column in known.items()}
    listed = "; ".join(
        f"{name}: 1.5 times {known[data, name].values[-1]:,g}, rounded up, is {bound:,}, printed "
        f"is {PRINTED[data, name][2][1]:,}"
        for (data, name), bound in right.items()
    )
    return Finding(
        agreement(*(bound == PRINTED[key][2][1] for key, bound in right.items())), f"{listed}."
    )


@_of_table_1(
    "Section 3.1",
    "table-1",
    "The Census columns have no single mode; no value of FEDTAX occurs twice.",
)
def _census_has_no_mode(columns: dict[tuple[str, str], Column]) -> Finding | None:
    known = {
        name: columns["census", name]
        for name in ("FEDTAX", "FICA")
        if columns.keys() >= set(_ESTIMATED)
    }
    if not known:
        return None
    listed = ", ".join(
        f"{name} has {len(column.modes):,} values that occur "
        f"{'once' if column.counts.max() == 1 else f'{column.counts.max()} times'}"
        for name, column in known.items()
    )
    return Finding(
        agreement(
            *(len(column.modes) > 1 for column in known.values()),
            int(known["FEDTAX"].counts.max()) == 1,
        ),
        f"{listed}.",
    )


@claim(
    "Section 3",
    (),
    "The same guarantee is kept with ε'' = ln((e^ε − (1 − p))/p) and δ'' = δ/p.",
)
def _calibration(_: object) -> Finding:
    furthest = 0.0
    for epsilon, rate in itertools.product((0.25, 0.5, 1.0, 2.0), (0.01, 0.1, 0.5, 0.99)):
        stated = math.log((math.exp(epsilon) - (1 - rate)) / rate)
        release = PoissonSampling(rate).amplify(Guarantee(stated, 1e-6))
        assert not isinstance(release, NoGuarantee)
        furthest = max(
            furthest,
            abs(stated - float(sampling_base_epsilon(epsilon, rate))),
            abs(release.epsilon - epsilon),
            abs(release.delta - 1e-6 * rate),
        )
    return Finding(
        agreement(furthest < 1e-12),
        f"At four ε and four rates the release has (ε, δ) again, up to {furthest:.0e}.",
    )


def _loss_of_a_choice(scale: float, change: tuple[int, int], law: str) -> float:
    """Return the loss of choosing the largest of two noisy counts that change by so much.

    `law` is gumbel (the exponential mechanism) or exponential (permute-and-flip); differences of
    the counts from -40 to 40.
    """
    worst = 0.0
    for difference in np.linspace(-40, 40, 1601):
        before, after = (
            _chance(gap / scale, law) for gap in (difference, difference + change[0] - change[1])
        )
        worst = max(worst, abs(math.log(before[0] / after[0])), abs(math.log(before[1] / after[1])))
    return worst


def _chance(gap: float, law: str) -> tuple[float, float]:
    """Return the probabilities that the first and the second of two counts is chosen."""
    if law == "gumbel":
        return 1 / (1 + math.exp(-gap)), 1 / (1 + math.exp(gap))
    smaller = math.exp(-abs(gap)) / 2
    return (1 - smaller, smaller) if gap >= 0 else (smaller, 1 - smaller)


def _needed(change: tuple[int, int]) -> Judge:
    """Return the judge of whether half of the printed scale is too little."""

    def judge(_: object) -> Finding:
        epsilon = 1.0
        losses = {
            scale: max(_loss_of_a_choice(scale, change, law) for law in ("gumbel", "exponential"))
            for scale in (1 / epsilon, 2 / epsilon)
        }
        return Finding(
            agreement(losses[2.0] <= epsilon + 1e-9 and losses[1.0] > epsilon + 1e-9),
            f"Two counts, at ε = 1: with scale 2/ε the loss is {losses[2.0]:.4f}, with 1/ε "
            f"{losses[1.0]:.4f} (exact, over differences of the counts from −40 to 40).",
        )

    return judge


_TWICE_THE_NOISE = claim(
    "Section 3.1",
    (),
    "With exponential noise and with the exponential mechanism a choice needs the scale 2/ε.",
    name="choices-need-twice-the-noise",
)(
    under_every_reading(
        {
            "add-remove, the relation of the paper: one count moves by one": _needed((1, 0)),
            "replace: one count rises and another falls": _needed((1, -1)),
        }
    )
)


@claim(
    "Section 6.3",
    (),
    "Outlier scores raise the mode's share of the records, but bring it closer in count to the "
    "other values.",
)
def _mode_comes_closer(_: object) -> Finding:
    """Look at the expected counts that are left of Adult age, for all m < M in steps of .1."""
    counts = np.sort(_read("adult", "age").counts)
    shares, leads = [], []
    for m, M in itertools.combinations(np.arange(1, 10) / 10, 2):
        # Of two different values the distance is 1.
        left = counts * (1 - m - (M - m) * (1 - counts / counts.sum()))
        shares.append(float(left[-1] / left.sum() * counts.sum() / counts[-1]))
        leads.append(float((left[-1] - left[-2]) / (counts[-1] - counts[-2])))
    return Finding(
        agreement(min(shares) > 1, max(leads) < 1),
        f"Of Adult age, for all {len(shares)} pairs m < M in steps of .1, the mode's share of the "
        f"records that are left is {min(shares):.4f} to {max(shares):.3f} times what it was, and "
        f"its lead over the second {min(leads):.3f} to {max(leads):.3f} times, in expectation.",
    )


@claim(
    "Section 3.1",
    (),
    "A noisy sum and a noisy count with half of ε each have ε together, and need less noise than "
    "the mean itself.",
)
def _two_halves(_: object) -> Finding:
    """Compare with the sensitivity of the mean over all databases, in which one record is left."""
    mechanism = NoisyMean(variant="sum-and-count")
    losses, ratios = [], []
    for key, column in _columns():
        lower, upper = DATASETS[key[0]].bounds[key[1]]
        noise: Any = mechanism.quotient(Guarantee(1.0), (lower, upper))
        losses.append(max(abs(lower), abs(upper)) / noise.total.scale + 1 / noise.count.scale)
        direct = 100 * Laplace((upper - lower) / 2).mean_distance(0.0) / abs(column.mean)
        ratios.append(direct / expected_error(column, mechanism, Guarantee(1.0)).value)
    return Finding(
        agreement(max(losses) <= 1 + _ROUNDING, min(ratios) > 1),
        f"At ε = 1 the loss of a record at the largest bound is {max(losses):.9g} at most, on "
        f"{len(ratios)} columns. A second record can move a mean by half of the bounds, and noise "
        f"for that errs {min(ratios):,.0f} to {max(ratios):,.0f} times as much.",
    )


@claim(
    "Section 3.1",
    (),
    "The largest of several counts with Gaussian noise is (ε, δ)-DP, as a record changes only one.",
)
def _largest_with_gaussian_noise(_: object) -> Finding:
    worst, cases = 0.0, 0
    for epsilon, delta in itertools.product((0.25, 0.5, 1.0, 2.0), (1e-3, 32_561.0**-2)):
        sigma = math.sqrt(2) * Gaussian.calibrated(Guarantee(epsilon, delta), 1.0, 1.0).scale
        gap = np.linspace(-40 * sigma, 40 * sigma, 200_001)
        for first, other in ((gap + 1, gap), (gap, gap + 1), (-gap, -gap - 1), (-gap - 1, -gap)):
            needed = ndtr(first / sigma) - math.exp(epsilon) * ndtr(other / sigma)
            worst = max(worst, float(needed.max()) / delta)
        cases += 1
    return Finding(
        agreement(worst <= 1),
        f"Two counts, at {cases} pairs (ε, δ): the exact δ of the choice is at most {worst:.2g} of "
        "the stated one, over all differences of the counts.",
    )


@claim(
    "Section 6.1",
    (),
    "The mean minimises the mean distance to all records, so records near it are deleted least.",
)
def _mean_is_nearest_to_all(_: object) -> Finding:
    """Compare with the median of Adult age, and look for pairs in the other order."""
    column = _read("adult", "age")
    values, counts = column.values, column.counts
    scores = np.abs(values[:, None] - values) @ counts / column.size
    at_mean = float(np.abs(values - column.mean) @ counts / column.size)
    median = float(values[np.searchsorted(np.cumsum(counts), column.size / 2)])
    at_median = float(np.abs(values - median) @ counts / column.size)
    nearer = np.abs(values - column.mean)
    first, other = np.nonzero(nearer[:, None] < nearer)
    pairs = counts[first] * counts[other]
    misplaced = float(np.average(scores[first] > scores[other], weights=pairs))
    return Finding(
        agreement(at_mean <= at_median, misplaced == 0),
        f"The median does. Of Adult age, records are {at_mean:.3f} away from the mean, "
        f"{column.mean:.2f}, on average, and {at_median:.3f} from the median, {median:g}; of all "
        f"pairs of records {misplaced:.1%} have the one nearer to the mean deleted with the higher "
        "probability.",
    )


@claim(
    "Section 6.1",
    (),
    "By the discrete distance values with higher counts are deleted with lower probabilities.",
)
def _frequent_values_are_kept(_: object) -> Finding:
    scores, orders = OutlierScoreSuppression(0.1, 0.9), []
    for _key, column in _columns():
        deleted = scores.deletion_probabilities(column, "discrete")
        by_count = sorted(zip(column.counts.tolist(), deleted, strict=True))
        orders.append(
            all(
                (few == many and low == high) or (few < many and low > high)
                for (few, low), (many, high) in itertools.pairwise(by_count)
            )
        )
    return Finding(
        agreement(all(orders)),
        f"On all values of {len(orders)} columns, exactly, at m = .1 and M = .9: "
        f"{sum(orders)} of {len(orders)} columns have them in that order.",
    )


CLAIMS = claims_in(globals())
