"""The exact expected error of the noisy mean.

Given the sum and the number of the records left, the noise can be integrated out (`NoisyQuotient`).
What remains are the records: nothing, if none is left out at random; the joint law of sum and
number (`kept_law`), where that has few enough outcomes; or the inversion of a characteristic
function (`inverted_mean`), which needs the noisy count to stay above 1. Every way comes with a
bound on its error, which is the precision reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray
from omit.errors import NotExact
from omit.exact.inverted_mean import MOST_TERMS, inverted_mean
from omit.exact.kept_law import KeptLaw, TooManyOutcomes, kept_law, sample_law
from omit.exact.mean_setting import MeanSetting, NoExactMean
from omit.exact.quotient import Quotient
from omit.exact.sampled_total import Sample, SampledTotal
from omit.laws.inversion import root_of

# The least relative precision that still counts as exact.
_COARSEST = 1e-6
# How many outcomes are listed at once, and at most: by formulas, by rules, which take longer, or
# mostly by a short series.
_FEW = 3_000
_MOST = {"formulas": 1_000_000, "rules": 400_000, "series": 4_000_000}
_MOST_QUICKLY = {"formulas": 20_000, "rules": 3_000, "series": 20_000}
# How many values with weights an inversion is quick for.
_MOST_WEIGHTED_QUICKLY = 300
# How many terms an inversion may then have at most, for the same reason.
_MOST_TERMS_QUICKLY = 2_000_000
# To how many outcomes a law is merged before quantiles are read off it.
_CELLS = 40_000
# What rounding does to the expected distance of one outcome, relative to the size of its terms.
_ROUNDING = 1e-14
# What a series may miss, relative to the least that the error can be.
_SERIES = 1e-9
# An outlier: so many deviations of the others' sum away, and no more records than this.
_FAR = 8.0
_FEW_OUTLIERS = 3
# How many values are taken apart so, at most: if hardly any record is kept, all are outliers.
_MOST_OUTLIERS = 2


Above = Callable[[float], float]


@dataclass(frozen=True)
class MeanError:
    """The expected distance of the noisy mean to the truth, with quantiles of the distance."""

    expected: float
    precision: float
    median: float | None
    quantile_90: float | None


def mean_error(
    values: FloatArray,
    counts: NDArray[np.int64],
    keep: FloatArray,
    quotient: Quotient,
    truth: float,
    tolerance: float = 1e-9,
    quantiles: bool = True,
    quick: bool = False,
    weights: FloatArray | None = None,
) -> MeanError:
    """Return the exact expected error of the noisy mean.

    Parameters
    ----------
    values, counts, keep
        The distinct values, how many records have each, and how probably such a record is kept.
    quotient : Quotient
        The noise of sum and count, and what answers are clipped to. Values and truth are less its
        origin.
    truth : float
        What the noisy mean is compared with.
    tolerance : float
        The relative precision to reach.
    quantiles : bool
        Whether to find the quantiles too.
    quick : bool
        Whether there is none where it would take longer than a few hundredths of a second.
    weights : array, optional
        What a record of each value counts for, in [0, 1]; by default 1.

    Raises
    ------
    NoExactMean
        If there is no exact error within reach.
    """
    setting = MeanSetting.of(values, counts, keep, quotient, truth, weights)
    random = int((setting.spread > 0).sum())
    if quick and setting.is_weighted and random > _MOST_WEIGHTED_QUICKLY:
        raise NoExactMean("so many records with weights take longer")
    return _with_details(setting, *_expected(setting, max(tolerance, 1e-12), quick), quantiles)


def sampled_mean_error(
    values: FloatArray,
    counts: NDArray[np.int64],
    size: int,
    quotient: Quotient,
    truth: float,
    quantiles: bool = True,
    quick: bool = False,
    weights: FloatArray | None = None,
) -> MeanError:
    """Return the exact expected error of the mean of a sample of fixed size, which is public.

    Parameters
    ----------
    values, counts
        The distinct values, and how many records have each.
    size : int
        How many of them are drawn, every subset alike.
    quotient, truth, quantiles, quick, weights
        As for `mean_error`.

    Raises
    ------
    NoExactMean
        If there is no exact error within reach.
    """
    setting = MeanSetting.of_sample(values, counts, size, quotient, truth, weights)
    few = float(np.log1p(setting.counts).sum()) <= math.log(_FEW)
    averaged = None if few else _by_series(setting, size, quick)
    if averaged is None:
        averaged = _by_sample_law(setting, size, quick)
    return _with_details(setting, *averaged, quantiles)


def _by_series(setting: MeanSetting, size: int, quick: bool) -> tuple[float, float, Above] | None:
    """Return the error of a sample by a series for its sum; None where that does not serve."""
    quotient, truth = setting.quotient, setting.truth
    if quotient.total.scale == 0 or setting.is_weighted or len(setting.values) < 2:
        return None
    noise, sample = quotient.total, Sample.of(setting.values, setting.counts, size)
    lower, upper = setting.limits
    nearest = min(max(truth, lower), upper)
    wanted = _SERIES * (float(noise.mean_distance(0.0)) + size * abs(setting.center - nearest))
    # How far sums are expected beyond the bounds, where that is more than nothing.
    levels, missed = {nearest: size * (nearest - setting.center)}, 0.0
    for x, side in ((lower, -1.0), (upper, 1.0)):
        level = size * (x - setting.center)
        beyond = sample.beyond(noise, side * level, side) if math.isfinite(x) else 0.0
        if beyond > wanted:
            levels[x] = level
        else:
            missed += beyond
    try:
        total = SampledTotal.of(sample, noise, levels.values(), wanted, quick=quick)
    except NotExact:
        return None
    parts = {x: total.distance(level) for x, level in levels.items()}
    value, error = parts[nearest]
    for x, side in ((lower, -1.0), (upper, 1.0)):
        if x in levels:
            # `E(w)₊ = E(|w| + w) / 2`, w how far the sum is beyond.
            value -= 0.5 * (parts[x][0] - side * levels[x])
            missed += 0.5 * parts[x][1] + _ROUNDING * abs(levels[x])
    error += missed
    if not error <= _COARSEST * value:
        return None

    def above(x: float) -> float:
        if not lower <= x < upper:
            return 1.0 if x < lower else 0.0
        return total.above(size * (x - setting.center))

    return value / size + abs(truth - nearest), error / size, above


def _by_sample_law(setting: MeanSetting, size: int, quick: bool) -> tuple[float, float, Above]:
    """Return the same by the law of the sum of a sample."""
    quotient, values = setting.quotient, setting.values
    try:
        most = _most_outcomes(setting, quick)
        weights = setting.weights if setting.is_weighted else None
        law = sample_law(values, setting.counts, size, quotient.smoothing, most, weights)
    except TooManyOutcomes as too_many:
        raise NoExactMean(str(too_many)) from too_many
    farthest = setting.farthest
    if quotient.count_scale is None:
        # A mean of so many values, and the noise of their sum.
        mean = float(np.abs(values - setting.truth).max()) + quotient.total.scale / size
        farthest = min(farthest, mean)
    return _averaged(setting, law, _COARSEST, farthest)


def _with_details(
    setting: MeanSetting, expected: float, precision: float, above: Above, quantiles: bool
) -> MeanError:
    """Return the error, with quantiles if these are wanted."""
    median = quantile_90 = None
    if quantiles:
        median, quantile_90 = (_quantile(setting, above, level) for level in (0.5, 0.9))
    return MeanError(expected, precision, median, quantile_90)


def _expected(
    setting: MeanSetting, tolerance: float, quick: bool, most_outliers: int = _MOST_OUTLIERS
) -> tuple[float, float, Above]:
    """Return the expected distance, a bound on its error, and `x -> P(T > x)`."""
    try:
        return _by_law(setting, _FEW, max(tolerance, _COARSEST))
    except TooManyOutcomes:
        pass
    if setting.quotient.count_scale is None:
        raise NoExactMean("the number of records left is random and has no noise")
    outlier = _outlier(setting) if most_outliers else None
    if outlier is not None:
        return _by_cases(setting, outlier, tolerance, quick, most_outliers - 1)
    most_terms = _MOST_TERMS_QUICKLY if quick else MOST_TERMS
    while True:
        try:
            found = inverted_mean(setting, tolerance, most_terms)
            return found.expected, found.precision, found.above
        except NoExactMean as error:
            reason = str(error)
        if 10 * tolerance > _COARSEST / 10:
            break
        tolerance *= 10
    try:
        return _by_law(setting, _most_outcomes(setting, quick), _COARSEST)
    except TooManyOutcomes as too_many:
        raise NoExactMean(f"{reason}, and {too_many}") from too_many


def _most_outcomes(setting: MeanSetting, quick: bool) -> int:
    """Return how many outcomes may be listed, by how noise is integrated out for them."""
    most, quotient = _MOST_QUICKLY if quick else _MOST, setting.quotient
    if not quotient.by_rules or quotient.count_scale is None:
        return most["formulas"]
    # Rules are needed for sums near the truth only, and the sums lie within this many deviations.
    widest = _FAR * math.sqrt(setting.data_variance)
    share = min(quotient.certain_beyond / widest, 1.0) if widest > 0 else 1.0
    return min(most["series"], int(most["rules"] / share))


def _outlier(setting: MeanSetting) -> int | None:
    """Return the position of a value so far from the others that an integral must reach for it."""
    random = np.flatnonzero(setting.spread > 0)
    if len(random) < 2:
        return None
    offsets = np.abs(setting.steps(setting.center)[random])
    farthest = random[int(np.argmax(offsets))]
    others = random[random != farthest]
    shares = (setting.spread * setting.weights**2)[others]
    center = float(np.average(setting.values[others], weights=shares))
    rest = float((shares * (setting.values[others] - center) ** 2).sum())
    away = abs(float(setting.steps(center)[farthest]))
    is_far = away > _FAR * math.sqrt(rest) and setting.counts[farthest] <= _FEW_OUTLIERS
    return int(farthest) if is_far else None


def _by_cases(
    setting: MeanSetting, outlier: int, tolerance: float, quick: bool, most_outliers: int
) -> tuple[float, float, Above]:
    """Return the same by how many records are left of one value."""
    from scipy.special import xlog1py, xlogy

    n, k = int(setting.counts[outlier]), float(setting.keep[outlier])
    cases = []
    for number in range(n + 1):
        chance = math.comb(n, number) * math.exp(xlogy(number, k) + xlog1py(n - number, -k))
        counts, keep = setting.counts.copy(), setting.keep.copy()
        counts[outlier], keep[outlier] = number, 1.0 if number else 0.0
        case = MeanSetting.of(
            setting.values, counts, keep, setting.quotient, setting.truth, setting.weights
        )
        cases.append((chance, *_expected(case, tolerance, quick, most_outliers)))

    def above(x: float) -> float:
        return sum(chance * case_above(x) for chance, _, _, case_above in cases)

    expected = sum(chance * value for chance, value, _, _ in cases)
    return expected, sum(chance * error for chance, _, error, _ in cases) + 1e-14 * expected, above


def _by_law(setting: MeanSetting, most: int, tolerance: float) -> tuple[float, float, Above]:
    """Return the same by the law of sum and number of the records left."""
    quotient = setting.quotient
    law = kept_law(
        setting.values, setting.counts, setting.keep, quotient.smoothing, most, setting.weights
    )
    return _averaged(setting, law, tolerance, setting.farthest)


def _averaged(
    setting: MeanSetting, law: KeptLaw, tolerance: float, farthest: float
) -> tuple[float, float, Above]:
    """Return the same, averaged over a law; no answer is expected to be farther from the truth."""
    quotient = setting.quotient
    distances = quotient.distances(law.sums, law.sizes, setting.truth, fine=len(law.sums) == 1)
    expected = float(law.probabilities @ distances)
    precision = _precision(setting, law, distances, farthest)
    if not precision <= tolerance * expected:
        sure = f"{precision / expected:.1g} of the error" if expected else "more than the error"
        raise NoExactMean(f"the sum is sure only to {sure}")

    @cache
    def few() -> KeptLaw:
        return law.merged(_CELLS)

    def above(x: float) -> float:
        return float(few().probabilities @ quotient.above(few().sums, few().sizes, x))

    return expected, precision, above


def _precision(setting: MeanSetting, law: KeptLaw, distances: FloatArray, farthest: float) -> float:
    """Return a bound on the error of an average over a law."""
    quotient = setting.quotient
    # The terms of a distance are of the size of the values, or of the noise of the answer.
    sizes = np.maximum(law.sizes, 1.0)
    terms = np.abs(law.sums) / sizes + abs(setting.truth) + quotient.total.scale / sizes
    rounding = _ROUNDING * float(law.probabilities @ terms)
    precision = rounding + law.rounding * float(distances.sum()) + law.missed * farthest
    if law.rough:
        # Four hinges make up the error of a clipped answer.
        public = quotient.count_scale is None
        inverse = float((1 / sizes).max()) if public else setting.mean_inverse_count
        precision += 4 * law.rough * inverse
    return precision


def _quantile(setting: MeanSetting, above: Above, level: float) -> float:
    """Return the distance that is exceeded with probability `1 - level`."""

    def excess(distance: float) -> float:
        over, under = above(setting.truth + distance), 1 - above(setting.truth - distance)
        return over + under - (1 - level)

    if excess(0.0) <= 0:
        return 0.0
    largest = math.sqrt(setting.data_variance + setting.noise_variance) / max(setting.size, 1.0)
    largest = max(largest, abs(setting.center - setting.truth), 1e-300)
    while excess(largest) > 0:
        largest *= 2
    return root_of(excess, 0.0, largest, xtol=1e-9 * largest, rtol=1e-7)
