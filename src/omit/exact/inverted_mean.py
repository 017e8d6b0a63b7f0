"""The error of the noisy mean by inversion of a characteristic function, with proven bounds.

As long as the noisy count `Y = C + Z₂` is at least 1, the noisy mean exceeds x exactly when

    W_x = S + Z₁ - x Y = Σ_v (v - x) Bin(n_v, k_v) + Z₁ - x Z₂ > 0,

and the characteristic function φ of `W_x` is a product. The error is `∫ P(T > x) dx` above the
truth plus `∫ P(T < x) dx` below it, between the bounds of the answers. With `ω_j = (j + ½)Δ`,

    P(W_x > 0) ≈ ½ + (Δ/π) Σ_(j<J) Im φ(ω_j) / ω_j.

*What that misses*, all of it bounded here:

- a count below 1: at most `P(Y < 1)` at every x, by Chernoff's inequality. Beyond the x that are
  looked at: by the same inequality, for answers that are not clipped times what they can be.
- the step Δ: the series over all j is a square wave, which is the sign of W for `|W| < 2π/Δ`, so
  it misses `P(|W| ≥ 2π/Δ)` at most. `W_x` is linear in x: two x bound it for all between.
- the end of the series: `|φ| ≤ φ₁φ₂ exp(Re e^(-iωx) Σ w_v e^(iωv) - Σ w_v)`, with
  `w_v = n_v k_v (1 - k_v)`, whose largest value and average over x are known; summed frequency
  by frequency up to where the noise alone bounds the rest. Where values lie on a lattice and two
  sums have noise, only the first frequencies are added up, up to half of the period after which
  those of the data come back; their echoes are bounded.
- the rule for the integral over x: every term is an average of `e^(-iωxy)`, for which 16
  Gauss-Legendre nodes on a panel of half-width a err by at most
  `a (ωay)^32 2^33 16!^4 / (33 · 32!^3)`.

*Weights* in (0, 1] multiply what a record adds to S and to C, and with it `v - x` above. Nothing
else changes, but that records of different weights turn at different speeds as x moves.

*Laplace noise* has heavy tails, and far from the truth, where data cannot make up for the noise,
they are exponentials in the data: the average is a product again. What the data may do all the same
is bounded by the same exponential moments. There rules of 16 nodes on panels of at most 8 scales of
the noise lose less than 1e-14 of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from omit._numeric import FloatArray, as_array, gauss_legendre
from omit.exact.characteristic import (
    LARGEST_SERIES_ANGLE,
    AngleSeries,
    PowerSums,
    log_characteristic,
    terms_of_power_sums,
)
from omit.exact.data_frequencies import FAINT, DataFrequencies
from omit.exact.mean_setting import MeanSetting, NoExactMean, least_of
from omit.exact.quotient import Quotient
from omit.laws.counts import bernstein_reach
from omit.laws.distribution import lattice_step
from omit.laws.inversion import narrow
from omit.laws.noise import LogConcaveNoise

_NODES, _WEIGHTS = gauss_legendre(16)
# 2^33 16!^4 / (33 32!^3): the error of 16 nodes is this times the 32nd derivative on [-1, 1].
_RULE_ERROR = 2.0**33 / 33 * math.exp(4 * math.lgamma(17) - 3 * math.lgamma(33))
# The phase that a panel may turn through on either side of its middle.
_PHASE = 8.0
# Minus the logarithm of what is beyond the windows that are looked at.
_RARITY = 34.0
# Beyond this the data decide nothing in the far tails.
_CERTAIN = 1e-15
# The scales of noise that a panel of the tails may cover.
_FAR_PANEL = 8.0
# Tilts to try in the tails, in units of the noise; every one gives a bound.
_TILTS = np.geomspace(1e-2, 1e3, 16)
MOST_TERMS = 40_000_000
_MOST_COSINES = 40_000_000
_AT_A_TIME = 1_000_000
# How many frequencies half a period may have.
_LONGEST_PERIOD = 100_000
_ROUNDING = 1e-13


@dataclass(frozen=True)
class InvertedMean:
    """The expected distance from the truth, a bound on its error, and `x -> P(T > x)`."""

    expected: float
    precision: float
    above: Callable[[float], float]


def inverted_mean(
    setting: MeanSetting, tolerance: float, most_terms: int = MOST_TERMS
) -> InvertedMean:
    """Return the expected error by inversion, of this many terms at most.

    Raises
    ------
    NoExactMean
        If it would take too long to come near the tolerance, relative to the error.
    """
    if setting.quotient.total.scale == 0:
        raise NoExactMean("there is no noise to smooth the sum")
    inversion = _Inversion(setting, tolerance, most_terms)
    lower, upper = inversion.window
    truth = setting.truth
    far = inversion.far_tails
    near = inversion.near_integral
    # Where answers are surely above or below, the distance to the window is all there is.
    expected = max(lower - truth, 0.0) + max(truth - upper, 0.0) + far.value + near.value
    precision = inversion.missed + far.error + near.error + _ROUNDING * expected
    if not precision <= 10 * tolerance * expected:
        raise NoExactMean(f"the integral is sure only to {precision / expected:.1g} of the error")
    return InvertedMean(expected, precision, inversion.above)


@dataclass(frozen=True)
class _Part:
    value: float
    error: float


@dataclass(frozen=True)
class _Series:
    """The frequencies of the inversion, weighted, and what they miss at any x."""

    frequencies: FloatArray
    weights: FloatArray  # Δ / (π ω), times what the noise of all x has in common
    missed: float


@dataclass(frozen=True)
class _Inversion:
    setting: MeanSetting
    tolerance: float
    most_terms: int

    @property
    def total(self) -> LogConcaveNoise:
        return self.setting.quotient.total

    @property
    def quotient(self) -> Quotient:
        return self.setting.quotient

    @cached_property
    def scale(self) -> float:
        """About how large the error is."""
        setting = self.setting
        return math.sqrt(setting.data_variance + setting.noise_variance) / setting.size

    @cached_property
    def window(self) -> tuple[float, float]:
        """Where the answer is, but for what is rare; within the bounds of answers."""
        setting = self.setting
        lower, upper = setting.limits
        total, rarity = setting.center * setting.size, _RARITY
        # What is as rare as the tolerance allows is not needed exactly, but counted as missed.
        allowed = 0.01 * self.tolerance * self.scale
        if self._may_be_small(rarity) and 0 < allowed < upper - lower < math.inf:
            rarity = min(_RARITY, math.log((upper - lower) / allowed))
        if self._may_be_small(rarity):
            chance = setting.count_below(1.0)
            raise NoExactMean(f"the noisy count falls below 1 with probability up to {chance:.2g}")
        strays = self._strays(setting.center, rarity) + self.total.half_width(rarity)
        margin = self.quotient.count_half_width(rarity)
        above, below = total + strays, total - strays
        right = above / (setting.size - margin if above > 0 else setting.size + margin)
        left = below / (setting.size - margin if below < 0 else setting.size + margin)
        right, left = (float(min(max(x, lower), upper)) for x in (right, left))
        if not left < right:
            raise NoExactMean("all answers that are not rare are clipped")
        return left, right

    def _may_be_small(self, rarity: float) -> bool:
        """Tell whether the noisy count may be far below its mean, but for what is rare."""
        return self.setting.size <= 1.5 * self.quotient.count_half_width(rarity)

    @cached_property
    def missed(self) -> float:
        """What counts below 1 and answers beyond the window can add to the error."""
        setting = self.setting
        left, right = self.window
        lower, upper = setting.limits
        clamped = setting.count_below(1.0)
        missed, limit, low = clamped * (right - left), "1", clamped
        if math.isfinite(lower):
            if right < upper:
                missed += (upper - right) * (clamped + setting.mean_above(right)[0])
            if left > lower:
                missed += (left - lower) * (clamped + setting.mean_below(left)[0])
            # Distances to the window are taken to be certain.
            missed += max(left - setting.truth, 0.0) * (clamped + setting.mean_below(left)[0])
            missed += max(setting.truth - right, 0.0) * (clamped + setting.mean_above(right)[0])
        else:
            # A count of at least half its mean keeps tails exponential; fewer are rarer still.
            half, limit = setting.size / 2, "half of its mean"
            low = setting.count_below(half)
            missed += low * (setting.farthest + abs(setting.truth))
            for chance, tilt in (setting.mean_above(right), setting.mean_below(left)):
                missed += chance * (1 / (tilt * half) + abs(setting.truth - left) + right - left)
        if not missed <= self.tolerance * self.scale:
            raise NoExactMean(
                f"the noisy count falls below {limit} with probability up to {low:.2g}"
            )
        return missed

    # The tails, where the noise decides.

    @cached_property
    def near(self) -> tuple[float, float]:
        """Where the data may decide, between the tails."""
        if math.isinf(self.total.largest_tilt):  # the tails are too light to stand out
            return self.window
        left, right = self.window
        return -self._first_far(-right, -left, -1.0), self._first_far(left, right, 1.0)

    def _first_far(self, start: float, end: float, side: float) -> float:
        """Return the first x of a window, from the centre to its end, where only noise decides.

        On the other side (-1) everything is mirrored, x as well.
        """
        center = min(max(side * self.setting.center, start), end)

        def decided(x: float) -> bool:
            return self._far_error(side * x, side) <= _CERTAIN

        if center >= end or not decided(end):
            return end
        return narrow(
            decided,
            center,
            end,
            enough=lambda low, high: high - low < 0.02 * (high - center),
            halvings=40,
        )[1]

    @cached_property
    def far_tails(self) -> _Part:
        """The integrals of the tails beyond what the data may decide."""
        (left, right), (near_left, near_right) = self.window, self.near
        parts = [self._tail(-near_left, -left, -1.0), self._tail(near_right, right, 1.0)]
        return _Part(sum(part.value for part in parts), sum(part.error for part in parts))

    def _tail(self, start: float, end: float, side: float) -> _Part:
        """Return the integral of one tail, counted where it is on the far side of the truth."""
        truth = side * self.setting.truth
        value = error = 0.0
        left = start
        while left < end:
            dropped = self._drops_count_noise(side * left, side)
            right = min(left + self._far_panel(side * left, dropped), end)
            if left < truth < right:
                right = truth
            half = 0.5 * (right - left)
            if not half > 0:
                break
            x = left + half * (_NODES + 1)
            tail = self._far_probability(side * x, side, dropped)
            integral = half * float(_WEIGHTS @ tail)
            value += integral if left >= truth else (right - left) - integral
            error += 2 * half * self._far_error(side * left, side, side * right)
            left = right
        return _Part(value, error + 1e-13 * abs(value))

    def _far_panel(self, x: float, dropped: bool) -> float:
        """Return how wide a panel of the tails may be that begins at x."""
        first, second = (float(scale[0]) for scale in self._scales(np.array([x])))
        width = _FAR_PANEL * (first if dropped else min(first, second)) / self.setting.size
        return min(width, self.quotient.widest_panel(x))

    def _far_probability(self, x: FloatArray, side: float, dropped: bool) -> FloatArray:
        """Return `P(T > x)` (or `<` on the other side) where the noise alone decides.

        With scales a and d it is `(a² M(1/a) - d² M(1/d)) / 2(a² - d²)`, M the moments of the data.
        Computed as a ratio of small differences, it holds however close the scales are.
        """
        setting = self.setting
        first, second = self._scales(x)
        moments = [setting.exact_log_moment(side / a, t) for a, t in zip(first, x, strict=True)]
        share = (first - second) / first
        # Scales nearer than this are the same to all digits.
        share = np.where(np.abs(share) < 1e-15, 1e-15, share)
        if dropped:
            return as_array(0.5 * np.exp(moments) / (share * (2 - share)))
        growth = 2 * np.log1p(-share) + [
            setting.log_moment_growth(side / a, side / a * h / (1 - h), t)
            for a, h, t in zip(first, share, x, strict=True)
        ]
        fall = np.where(
            np.abs(growth) < 1,
            -np.exp(moments) * np.expm1(np.clip(growth, -1, 1)),
            np.exp(moments) - np.exp(moments + growth),
        )
        return as_array(0.5 * fall / (share * (2 - share)))

    def _scales(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scales of the two noises of `W_x`."""
        first, second = self.quotient.scales(x)
        # Noise so narrow changes a tail by the square of its share.
        return first, np.maximum(second, 1e-9 * first)

    def _far_error(self, x: float, side: float, end: float | None = None) -> float:
        """Return what the formula of the tails misses at most, from x to the end of a panel.

        That is 1 and the formula itself, wherever the data are on the far side by `w > 0`. There
        the formula is at most `(a² e^(w/a) + d² e^(w/d)) / 2|a² - d²|`, and at most
        `e^(1.5 w/s) / 2` with s the smaller scale: it is the derivative of `s² e^(w/s) / 2` by `s²`
        at a scale between the two, which is `e^(w/s) (1 - w/2s) / 2`.
        """
        points = np.array([x] if end is None else [x, end])
        firsts, seconds = self._scales(points)
        smallest, largest = float(firsts.min()), float(firsts.max())
        away = _TILTS / largest
        error = self._data_reach(x, side, away)
        if self._drops_count_noise(x, side):
            ratio = smallest**2 / (smallest**2 - float(seconds.max()) ** 2)
            return error + ratio * self._data_reach(x, side, 1 / smallest + away) + _CERTAIN
        formula = math.inf
        least = min(smallest, float(seconds.min()))
        if least > 0.5 * largest:
            formula = 0.5 * self._data_reach(x, side, 1.5 / least + away)
        if seconds.max() < smallest or seconds.min() > largest:
            ratio = float((firsts**2 / np.abs(firsts**2 - seconds**2)).max())
            by_terms = ratio * self._data_reach(x, side, 1 / smallest + away)
            for scale in set(seconds.tolist()):
                weight = ratio * (scale / smallest) ** 2
                by_terms += weight * self._data_reach(x, side, 1 / scale + away)
            formula = min(formula, by_terms)
        return error + formula

    def _data_reach(self, x: float, side: float, tilts: FloatArray) -> float:
        """Return the smallest of `E exp(tilt (S - x C))` over the tilts, on the far side."""
        logs = self.setting.log_moment(side * tilts, x)
        return float(np.exp(np.minimum(logs.min(), 700.0)))

    def _drops_count_noise(self, x: float, side: float) -> bool:
        """Tell whether the noise of the count is too narrow to matter in a tail."""
        first, second = (float(scale[0]) for scale in self._scales(np.array([x])))
        if second >= 0.5 * first:
            return False
        tilts = _TILTS / first
        logs = self.setting.log_moment(side * tilts, x) + tilts * (_RARITY + 1) * second
        return float(logs.min()) < math.log(_CERTAIN)

    # The middle, where the data may decide.

    @cached_property
    def near_integral(self) -> _Part:
        """The integral over what the tails leave."""
        (left, right), truth = self.near, self.setting.truth
        if not left < right:
            return _Part(0.0, 0.0)
        series = self.series
        largest, beyond = self._largest_count
        last = float(series.frequencies[-1])
        value = error = 0.0
        pieces = [(left, min(right, truth), -1.0), (max(left, truth), right, 1.0)]
        for start, end, side in pieces:
            if not start < end:
                continue
            panels = max(1, math.ceil((end - start) * last * largest / (2 * _PHASE)))
            half = (end - start) / (2 * panels)
            middles = start + half * (2 * np.arange(panels) + 1)
            x = (middles[:, None] + half * _NODES).ravel()
            chances = self._inverted(x)
            chances = chances if side > 0 else 1 - chances
            value += half * float(np.tile(_WEIGHTS, panels) @ chances)
            turns = np.minimum(series.frequencies * half * largest, 2 * _PHASE)
            rule = np.minimum(_RULE_ERROR * turns**32, 4.0) + 4 * beyond
            error += panels * half * float(series.weights @ rule)
            error += (end - start) * (series.missed + self._phase_rounding)
        return _Part(value, error)

    def above(self, x: float) -> float:
        """Return `P(T > x)`."""
        (left, right), (near_left, near_right) = self.window, self.near
        lower, upper = self.setting.limits
        if x < max(left, lower):
            return 1.0
        if x >= min(right, upper):
            return 0.0
        point = np.array([x])
        if not near_left <= x <= near_right:
            side = 1.0 if x > near_right else -1.0
            dropped = self._drops_count_noise(x, side)
            tail = float(self._far_probability(point, side, dropped)[0])
            return tail if side > 0 else 1 - tail
        return float(self._inverted(point)[0])

    @cached_property
    def series(self) -> _Series:
        """The frequencies that are needed, and what they miss."""
        spacing, missed = self._spacing
        # Per unit of x; the integral runs over the near part only.
        allowed = 0.1 * self.tolerance * self.scale / (self.near[1] - self.near[0])
        period = self._period
        end, beyond = self._end(spacing, allowed, period)
        if period is not None and beyond <= 0.5 * allowed:
            period = None  # noise leaves no echoes
        if period is not None:
            # Spaced evenly over the period, so that all echoes have the same frequencies.
            spacing = period / (2 * math.ceil(period / (2 * spacing)))
            end, beyond = 0.5 * period, 0.0
        frequencies = as_array(spacing * (np.arange(math.ceil(end / spacing)) + 0.5))
        noise = self.quotient.steady_characteristic(frequencies)
        weights = spacing / np.pi * noise / frequencies
        bound = weights * self.quotient.largest_characteristic(frequencies, *self.near)
        bound = bound * self._data.size(frequencies)
        if period is not None:
            beyond = self._data.echoes(frequencies, period, self.quotient)
        if beyond > max(allowed, self.tolerance):
            raise NoExactMean("the values are so few or so coarse that the integral is not sure")
        # The faintest frequencies are left out, also between others: on a lattice the
        # characteristic function comes back where it had vanished.
        faintest = np.argsort(bound, kind="stable")
        left_out = np.cumsum(bound[faintest])
        number = int(np.searchsorted(left_out, allowed))
        needed = np.sort(faintest[min(number, len(faintest) - 1) :])
        faint = float(left_out[number - 1]) if number else 0.0
        self._require_few(float(frequencies[needed[-1]]), len(needed))
        return _Series(frequencies[needed], weights[needed], missed + faint + beyond)

    def _require_few(self, last: float, number: int) -> None:
        """Refuse more terms than there is time for."""
        nodes = (self.near[1] - self.near[0]) * last * self._largest_count[0] + 32
        one_by_one = int((last * self._widest > LARGEST_SERIES_ANGLE).sum())
        by_value = min(self._power_sums, one_by_one / 2)
        if nodes * number * max(by_value, 1.0) > self.most_terms:
            raise NoExactMean("the integral would take too long")

    @cached_property
    def _data(self) -> DataFrequencies:
        return DataFrequencies(self.setting, *self.near)

    @cached_property
    def _period(self) -> float | None:
        """After which frequency those of the data come back, if their echoes are to be bounded."""
        if not self.quotient.bounds_echoes or self.setting.is_weighted:
            return None
        values = self.setting.random_values
        step = lattice_step(values) if len(values) else None
        if step is None or math.pi / step > _LONGEST_PERIOD * self._spacing[0]:
            return None
        return 2 * math.pi / step

    @cached_property
    def _spacing(self) -> tuple[float, float]:
        """The step of the frequencies, and the probability that W is beyond its square wave."""
        setting = self.setting
        reach = max(
            sum(
                self.quotient.half_widths(x, _RARITY),
                start=abs(x - setting.center) * setting.size + self._strays(x),
            )
            for x in self.near
        )
        widest = float(max(scale.max() for scale in self.quotient.scales(np.array(self.near))))
        largest = min(0.999999 * self.total.largest_tilt, 1e2)
        tilts = np.geomspace(1e-4, largest, 120) / widest
        missed = 0.0
        for x in self.near:
            for side in (1.0, -1.0):
                missed += math.exp(
                    min(least_of(partial(self._log_reach, x, side, reach), tilts)[0], 0.0)
                )
        return 2 * math.pi / reach, missed

    def _log_reach(self, x: float, side: float, reach: float, tilts: FloatArray) -> FloatArray:
        """Return `ln E exp(tilt (W_x - reach))` for each tilt, or with `-W_x` on the other side."""
        data = self.setting.log_moment(side * tilts, x)
        return as_array(self.quotient.log_moment(tilts, x) + data - tilts * reach)

    def _end(self, spacing: float, allowed: float, period: float | None) -> tuple[float, float]:
        """Return a frequency beyond which noise and data leave little, and how much.

        With a period, it need not be beyond the first half.
        """
        b, d = self.quotient.least_scales(*self.near)
        first = replace(self.total, scale=b)
        start = max(8 / math.hypot(b, d), 2 * spacing)

        def by_noise(longest: float) -> tuple[float, float]:
            end = start
            while first.frequencies_beyond(end, d) > 0.5 * allowed and 1.3 * end <= longest:
                end *= 1.3
            return end, first.frequencies_beyond(end, d)

        end, beyond = by_noise(math.inf if period is None else max(0.5 * period, start))
        faint = self._data.faint_from(end, spacing)
        if faint < end:
            return faint, beyond + FAINT * (1 + math.log(end / faint))
        if period is not None:
            return end, beyond
        longest = _MOST_COSINES / self._data.cosines * spacing
        if start > longest:
            raise NoExactMean("the noise is too narrow for the integral")
        return by_noise(longest)

    def _inverted(self, x: FloatArray) -> FloatArray:
        """Return `P(W_x > 0)` by the series."""
        series = self.series
        wide = max(len(series.frequencies), len(self.setting.values))
        parts = min(len(x), max(1, len(x) * wide // _AT_A_TIME))
        return np.concatenate([self._inverted_few(some) for some in np.array_split(x, parts)])

    def _inverted_few(self, x: FloatArray) -> FloatArray:
        setting, frequencies = self.setting, self.series.frequencies
        wide, small = self._turns
        if self._power_sums < wide.sum() / 2:
            real, imaginary = self._by_power_sums.logarithm(x)
        else:
            real, imaginary = log_characteristic(frequencies, x, *self._records(wide))
            if small.any():
                series = self._by_series.logarithm(x)
                real, imaginary = real + series[0], imaginary + series[1]
        phase = imaginary + frequencies * ((setting.center - x) * setting.size)[:, None]
        size = np.exp(real) * self.series.weights
        size *= self.quotient.characteristic_at(frequencies, x)
        return as_array(0.5 + (size * np.sin(phase)).sum(axis=1))

    @cached_property
    def _turns(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which values turn too far for a power series, and which others turn."""
        angles = self.series.frequencies[-1] * self._widest
        wide = angles > LARGEST_SERIES_ANGLE
        return wide, (angles > 0) & ~wide

    def _records(
        self, chosen: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return values, weights, counts and chances of some records."""
        setting = self.setting
        arrays = setting.values, setting.weights, setting.counts, setting.keep
        values, weights, counts, keep = (as_array(array[chosen]) for array in arrays)
        return values, weights, counts, keep

    @cached_property
    def _by_series(self) -> AngleSeries:
        records = self._records(self._turns[1])
        return AngleSeries(self.series.frequencies, *records, *self.near)

    @cached_property
    def _power_sums(self) -> float:
        """How many power sums of the values would be needed; weights have none."""
        setting = self.setting
        if setting.is_weighted:
            return math.inf
        return terms_of_power_sums(setting.counts.astype(np.float64), setting.keep)

    @cached_property
    def _by_power_sums(self) -> PowerSums:
        setting = self.setting
        counts = setting.counts.astype(np.float64)
        return PowerSums(self.series.frequencies, setting.values, counts, setting.keep)

    @cached_property
    def _widest(self) -> FloatArray:
        """The largest step of a record of each value, for all x that are inverted.

        0 for records that are certain to be left.
        """
        first, last = (np.abs(self.setting.steps(x)) for x in self.near)
        return as_array(np.maximum(first, last) * (self.setting.spread > 0))

    @cached_property
    def _largest_count(self) -> tuple[float, float]:
        """A number that the noisy count hardly exceeds in size, and how probably it does."""
        setting = self.setting
        strays = bernstein_reach(setting.variance_of(None), _RARITY)
        largest = setting.size + strays + self.quotient.count_half_width(_RARITY)
        return largest, setting.count_above(largest) + setting.count_below(-largest)

    @cached_property
    def _phase_rounding(self) -> float:
        """What rounding of phases and logarithms does to a probability."""
        series, setting = self.series, self.setting
        left = setting.counts * setting.keep
        turns = series.frequencies * float(left @ np.abs(setting.steps(setting.center)))
        return 1e-15 * float(series.weights @ (10 + 0.5 * turns))

    def _strays(self, x: float, rarity: float = _RARITY) -> float:
        """Return how far `S - x C` is from its mean but for what is rare, by Bernstein."""
        setting = self.setting
        return bernstein_reach(setting.variance_of(x), rarity, setting.largest_step(x))
