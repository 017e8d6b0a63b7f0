"""One row of a comparison: an omission, what it costs, and how that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from omit._text import fixed_down, show_quantity, show_ratio
from omit.exact.error import ExpectedError
from omit.guarantee import NoNoiseNeeded
from omit.laws.intervals import Interval
from omit.mechanisms.base import Mechanism, Promise
from omit.omissions.base import Omission

Standing = Literal[
    "baseline",
    "better",
    "worse",
    "undecided",
    "unattainable",
    "no information",
    "no guarantee",
]

# Errors that differ by less than this part are the same to people, whatever is known exactly.
SAME = 0.01


class Uninformed(NamedTuple):
    """An answer that needs no data, the middle of the bounds, and its error.

    An expected error above `limit` tells nothing. That is the error of the middle, but at least
    that of an answer an eighth of the bounds away: if the truth is the middle, that is luck.
    """

    answer: float
    error: float
    limit: float


@dataclass(frozen=True)
class Row:
    """One omission, and what it costs.

    `promise` is what the mechanism itself must have. `ratio` is the expected error divided by that
    without omission. `standing` follows from the intervals of both, or from `difference`, the error
    less that without omission, where both were simulated with the same random numbers. Where an
    omission is better and narrows the bounds, `narrowed` is the error of all records if these
    bounds were declared.
    """

    omission: Omission
    promise: Promise | None
    error: ExpectedError | None
    ratio: float | None
    standing: Standing
    reason: str | None = None
    difference: Interval | None = None
    narrowed: ExpectedError | None = None

    @property
    def reaches_target(self) -> bool:
        """Whether a release after this omission has the guarantee that was asked for."""
        return self.error is not None and self.standing != "no guarantee"

    @property
    def matters(self) -> bool:
        """Whether the error differs by more than a person would care about."""
        return self.ratio is None or abs(self.ratio - 1) >= SAME

    @property
    def gains_by_bounds(self) -> bool:
        """Whether the gain is that of narrower bounds, and none of leaving records out."""
        if self.narrowed is None or self.error is None:
            return False
        return self.narrowed.value <= (1 + SAME) * self.error.value

    @property
    def short_name(self) -> str:
        """The omission as tables name it."""
        return str(self.omission).replace(" suppression with", "")

    @property
    def no_noise(self) -> bool:
        """Whether the guarantee holds without any noise."""
        return isinstance(self.promise, NoNoiseNeeded)


def row_record(mechanism: Mechanism, row: Row) -> dict[str, Any]:
    """Return what programs get of a row."""
    error = row.error
    base = None if row.no_noise else row.promise
    record = {
        "omission": str(row.omission),
        "statistic": mechanism.statistic,
        "mechanism": str(mechanism),
        "mechanism_has_guarantee": mechanism.private,
        "base_epsilon": getattr(base, "epsilon", None),
        "base_delta": getattr(base, "delta", None),
        "no_noise": row.no_noise,
        "error": None,
        "low": None,
        "high": None,
        "method": "unattainable",
        "ratio": row.ratio,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        "runs": None,
        "standing": row.standing,
        "metric": mechanism.metric_name,
        "unit": mechanism.unit,
        "median": None,
        "quantile_90": None,
        "bias": None,
        "by_clamping": None,
        "by_omission": None,
        "by_noise": None,
        "root_mean_square": None,
        "largest_part": None,
        "narrower_bounds_error": None if row.narrowed is None else row.narrowed.value,
        "skewed": False,
        "first_order": False,
        "reason": row.reason,
    }
    if row.difference is not None:
        difference = row.difference
        record["difference"] = difference.value
        record["difference_low"], record["difference_high"] = difference.low, difference.high
    if error is None:
        return record
    record["error"] = error.value
    for key in ("low", "high", "method", "runs", "median", "quantile_90", "skewed", "first_order"):
        record[key] = getattr(error, key)
    record["reason"] = row.reason or error.reason
    if error.parts is not None:
        parts = error.parts
        record["by_omission"], record["by_noise"] = parts.omission, parts.noise
        record["bias"], record["by_clamping"] = parts.bias, parts.clamping
        record["root_mean_square"] = parts.root_mean_square
        record["largest_part"] = parts.largest
    return record


def shown_interval(error: ExpectedError) -> str:
    """Return the interval of a simulated error, or that an error is exact."""
    if error.method == "exact":
        return "to first order" if error.first_order else "exact"
    return f"{show_quantity(error.low, error.unit)} to {show_quantity(error.high, error.unit)}"


def shown_ratio(row: Row) -> str:
    """Return the ratio of a row to three digits, or to as many as tell it from 1."""
    return show_ratio(row.ratio, row.error is not None and row.error.method == "exact")


def shown_promise(promise: Promise | str) -> str:
    """Return what the mechanism may use, rounded down, or that it needs no noise."""
    if isinstance(promise, NoNoiseNeeded):
        return "no noise"
    if isinstance(promise, str):
        return promise
    # It is what the mechanism may use: the next larger number would break the promise.
    return fixed_down(promise.epsilon)


def shown_difference(difference: Interval) -> str:
    """Return the ends of the interval of a difference, with their signs."""
    return f"{difference.low:+.2g} to {difference.high:+.2g}"
