"""Enclosures of errors where records are known by the means and the ends of their bins.

*Given how many records are left of every bin,* the records left are a uniform subset of each, if
the records of a bin have the same chance. Their sum S is then the one of the bins' means, M, plus
something of mean 0 and of variance `V = Σ_b K_b (n_b - K_b) / (n_b (n_b - 1)) Q_b`, where Q_b is
the sum of squared distances of the n_b records from their mean, `Q_b ≤ n_b (z_b - l_b)(h_b - z_b)`
for a mean z_b between the ends l_b and h_b.

*By smoothness.* The expected distance of the answer `(S + Z) / Y` from the truth, given Y and what
is left, bends by at most `2 f / Y` as S moves, f the largest density of Z. So it is at least that
with M, and at most `f V / Y` larger; and, as it is as steep as `1 / Y`, at most `√V / Y`. An answer
that is clipped may have an expected distance that is smaller by as much, too.

*By majorisation.* A convex function of the sum of a uniform subset is symmetric and convex in the
values, so on average it is least where all records of a bin are at its mean, and largest where they
are at its ends, with one in between (Schur). The distance of a clipped answer is the difference of
two such functions, |T - t| and the distance of T from the bounds.

The proofs are spelt out in the documentation, "How exact is it?".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit.data.ranges import joined, positions_between_ends
from omit.errors import NotExact
from omit.exact.mean_setting import MeanSetting
from omit.exact.quotient import Quotient
from omit.laws.design import Design
from omit.laws.noise import LogConcaveNoise

# If small counts are so rare, in units of the inverse count, one look at them is enough.
_RARE = 0.1


class Binned(NamedTuple):
    """Records in bins, and what a design does to them.

    Parameters
    ----------
    values, counts : array
        The mean and the number of the records in every bin.
    lows, highs : array
        The ends of the bins' records.
    keep : array
        The chance of a record of a bin to be kept.
    parted : array
        The chance that of two records of a bin the first is kept and the second is not.
    is_alike : bool
        Whether all records that may or may not be kept have one chance.
    """

    values: FloatArray
    counts: IntArray
    lows: FloatArray
    highs: FloatArray
    keep: FloatArray
    parted: FloatArray
    is_alike: bool

    @classmethod
    def of(
        cls,
        values: FloatArray,
        counts: IntArray,
        lows: FloatArray,
        highs: FloatArray,
        design: Design,
    ) -> Binned:
        """Return bins after a design, without those of which nothing is left.

        `NotExact` is raised if the design says neither chances nor a size.
        """
        if design.keeps_all:
            keep, parted = np.ones(len(counts)), np.zeros(len(counts))
        elif design.inclusion is not None:
            keep = design.inclusion
            parted = keep * (1 - keep)
        elif design.size is not None:
            size, records = design.size, int(counts.sum())
            keep = np.full(len(counts), size / records)
            parted = keep * (records - size) / (records - 1)
        else:
            raise NotExact("records are not kept independently")
        random = keep[(keep > 0) & (keep < 1)]
        alike = bool((random == random[:1]).all())
        left = keep > 0
        arrays = (as_array(array[left]) for array in (values, lows, highs, keep, parted))
        values, lows, highs, keep, parted = arrays
        return cls(values, counts[left], lows, highs, keep, parted, alike)

    @property
    def most_spread(self) -> FloatArray:
        """The largest sum of squared distances of the records of every bin from their mean."""
        return as_array(self.counts * (self.values - self.lows) * (self.highs - self.values))

    @property
    def most_variance(self) -> float:
        """What the spread within bins adds at most to the variance of the sum of what is left."""
        return float(self.parted @ self.most_spread)

    def at_ends(self) -> Binned:
        """Return the records moved to the ends of their bins, with one in between: the same means.

        Examples
        --------
        >>> from omit.laws.design import Independent
        >>> means, counts = np.array([2.0, 5.0]), np.array([4, 3])
        >>> ends = np.array([0.0, 5.0]), np.array([5.0, 5.0])
        >>> bins = Binned.of(means, counts, *ends, Independent(np.full(2, 0.5)))
        >>> bins.at_ends().values, bins.at_ends().counts
        (array([0., 3., 5., 5.]), array([2, 1, 1, 3]))
        """
        width = self.highs - self.lows
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(width > 0, (self.values - self.lows) / width, 0.0) * self.counts
        upper = np.minimum(np.floor(share), self.counts).astype(np.int64)
        between = (upper < self.counts) & (width > 0)
        lower = self.counts - upper - between
        middle = self.lows + (share - upper) * width
        values = np.stack([self.lows, np.minimum(middle, self.highs), self.highs], axis=1)
        counts = np.stack([lower, between.astype(np.int64), upper], axis=1)
        some = counts > 0
        keep, parted = (
            np.broadcast_to(array[:, None], some.shape)[some] for array in (self.keep, self.parted)
        )
        ends = as_array(values[some])
        return Binned(ends, counts[some], ends, ends, keep, parted, self.is_alike)

    def merged(self, number: int) -> Binned:
        """Return the same in fewer bins, of one width."""
        positions = positions_between_ends(self.lows, self.highs, number)
        bins = joined(self.values, self.counts, self.lows, self.highs, positions)

        def mean(chances: FloatArray) -> FloatArray:
            return as_array(np.add.reduceat(self.counts * chances, bins.first) / bins.counts)

        keep, parted = mean(self.keep), mean(self.parted)
        return Binned(*bins[:4], keep, parted, self.is_alike)

    def coarse_enough(self, quotient: Quotient, tolerance: float) -> Binned:
        """Return as few bins as an enclosure by their ends needs to be about this precise.

        Bins of width h add `Σ n k (1 - k) h² / 4` at most to the variance of the noisy sum, less
        its mean times the noisy count. Of a normal answer that is, to first order, half as large a
        part of the expected distance as of the variance. Half of the enclosure is the precision.
        The tolerance is relative. All bins are kept where an enclosure by ends is not known.
        """
        if not _bounds_clipping(quotient):
            return self
        setting = MeanSetting.of(self.values, self.counts, self.keep, quotient, 0.0)
        variance = setting.data_variance + setting.noise_variance
        added = 0.25 * float(self.counts @ self.parted) * float(self.highs[-1] - self.lows[0]) ** 2
        most = 4 * variance * tolerance
        if not most > 0 or added > most * len(self.values) ** 2:
            return self
        number = max(math.ceil(math.sqrt(added / most)), 1)
        return self.merged(number) if number < len(self.values) else self


class Blur(NamedTuple):
    """By how much an error may be below and above the one of the bins' means.

    It is proved unless it is of `first_order` in the width of the bins, where their records are not
    alike to the design.
    """

    below: float
    above: float
    first_order: bool = False

    def times(self, factor: float) -> Blur:
        """Return the same in another unit."""
        return self._replace(below=factor * self.below, above=factor * self.above)


NO_BLUR = Blur(0.0, 0.0)


def blur_of_total(bins: Binned, noise: LogConcaveNoise) -> Blur:
    """Return the blur of the expected distance of a noisy sum from a number."""
    drift = 0.0 if bins.is_alike else _drift(bins) * float(bins.counts @ bins.keep)
    variance = bins.most_variance
    above = min(_peak(noise) * variance, math.sqrt(variance)) if variance else 0.0
    return Blur(drift, above + drift, first_order=not bins.is_alike)


def blur_of_mean(bins: Binned, quotient: Quotient, public: int | None) -> Blur:
    """Return the blur of the expected distance of a noisy mean from a number.

    `public` is the number of records that are left, if it is always the same.
    """
    spread, inverse = _spread_and_inverse(bins, quotient, public)
    drift = 0.0 if bins.is_alike else _drift(bins)
    above = min(_peak(quotient.smoothing) * spread, math.sqrt(spread * inverse)) if spread else 0.0
    below = 0.0 if quotient.bounds is None and bins.is_alike else above
    return Blur(below + drift, above + drift, first_order=not bins.is_alike)


def blur_of_square(bins: Binned, quotient: Quotient, public: int | None, truth: float) -> Blur:
    """Return the blur of the expected squared distance of a noisy mean from the truth.

    With the square, `E((S + Z)/Y - t)²` bends by `2 / Y²`, and where it is clipped to `[l, u]` by
    `-2 f (u - l) / Y` at least. It is as steep as `2 max(u - t, t - l) / Y`. The truth is less the
    origin.
    """
    spread, inverse = _spread_and_inverse(bins, quotient, public)
    lower, upper = quotient.limits
    far = abs(truth - lower), abs(upper - truth)
    # A square is as steep as the answer is far from the truth.
    drift = 0.0 if bins.is_alike else 2 * max(far) * _drift(bins)
    if not spread:
        return Blur(drift, drift, first_order=not bins.is_alike)
    if quotient.bounds is None:
        above = spread * (1.0 if public is None else inverse)
        return Blur(drift, above + drift, first_order=not bins.is_alike)
    steep = 2 * max(far) * math.sqrt(spread * inverse)
    kinks = _peak(quotient.smoothing) * sum(far) * spread
    # Beyond the bounds, the truth is on one side of all answers, and a kink bends to the other one.
    above = min(spread if lower <= truth <= upper else spread + kinks, steep)
    return Blur(min(kinks, steep) + drift, above + drift, first_order=not bins.is_alike)


def _spread_and_inverse(
    bins: Binned, quotient: Quotient, public: int | None
) -> tuple[float, float]:
    """Return bounds on the mean of V / Y and on that of 1 / Y."""
    inverse = _mean_inverse_count(bins, quotient, public)
    # Of two records the one that is kept moves the count, too: from a half of it at most.
    chances = bins.parted if public is not None else np.minimum(bins.keep, 2 * bins.parted)
    return float(bins.most_spread @ chances) * inverse, inverse


def blur_by_clipping(bins: Binned, quotient: Quotient) -> float:
    """Return what the records are beyond the bounds of the answers at most, on average.

    Infinite where the bound on it needs a count of at least 1, or there is none.
    """
    lower, upper = quotient.limits
    if not math.isfinite(lower):
        return 0.0
    if not _bounds_clipping(quotient):
        return math.inf
    setting = MeanSetting.of(bins.values, bins.counts, bins.keep, quotient, 0.0)
    beyond = 0.0
    for chance, tilt in (setting.mean_above(upper), setting.mean_below(lower)):
        # w⁺ is at most e^(sw - 1) / s.
        beyond += chance / (math.e * tilt) if chance < 1 else math.inf
    return beyond


def _bounds_clipping(quotient: Quotient) -> bool:
    """Tell whether there is a bound on what ends of bins do beyond the bounds of the answers."""
    lower, upper = quotient.limits
    if not math.isfinite(lower):
        return True
    return lower <= 0 <= upper and quotient.count_scale is not None and quotient.total.scale > 0


def _peak(noise: LogConcaveNoise) -> float:
    """Return the largest density of noise."""
    return float(noise.pdf(0.0)) if noise.scale > 0 else math.inf


def _mean_inverse_count(bins: Binned, quotient: Quotient, public: int | None) -> float:
    """Return a bound on the mean of 1 over the noisy count, which is clamped at 1."""
    if quotient.count_scale is None or quotient.count_scale == 0:
        certain = bool((bins.keep == 1).all())
        records = int(bins.counts.sum()) if public is None and certain else public
        return 1.0 if records is None else 1 / max(records, 1)
    chances, which = np.unique(bins.keep, return_inverse=True)
    if len(chances) > 1 and not bins.is_alike:
        chances, counts = bins.keep, bins.counts
    else:
        counts = np.bincount(which, bins.counts).astype(np.int64)
    setting = MeanSetting.of(np.zeros(len(chances)), counts, chances, quotient, 0.0)
    if not setting.size > 1:
        return 1.0
    half = setting.count_below(setting.size / 2)
    if half * setting.size > _RARE:
        return setting.mean_inverse_count
    most = setting.count_below(0.9 * setting.size)
    return min(2 / setting.size + half, 1 / (0.9 * setting.size) + most, 1.0)


def _drift(bins: Binned) -> float:
    """Return about how far chances that differ within bins move the mean of what is left at most.

    To first order: within a bin, records and their chances may go together, and the chance of a
    record differs from that of the mean by what the chances of neighbouring bins say.
    """
    gaps = np.diff(bins.values)
    slope = float((np.abs(np.diff(bins.keep)) / gaps).max(initial=0.0))
    widths = bins.highs - bins.lows
    left = float(bins.counts @ bins.keep)
    return slope * float(bins.counts @ widths**2) / (2 * left) if left > 0 else 0.0
