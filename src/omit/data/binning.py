"""Counting a continuous column in bins where its records are, once it has too many values to keep.

The grouping is the same as for values (`tables`): only the bins come to Python, whatever the number
of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from omit._numeric import FloatArray, IntArray, as_array
from omit.data import base
from omit.data import values as raw
from omit.data.beyond import Beyond
from omit.data.column import Column
from omit.data.ranges import DEFAULT_BINS, Ranges, bins_between, checked_bins
from omit.data.tables import Bins, Groups, Table
from omit.errors import InvalidInput

MOST_VALUES = 200_000
"""A column of more different values than that is read in bins, unless all its values are needed."""
# How many records are looked at to see whether there are more: enough to show it of most columns.
_LOOKED_AT = 500_000


def read_numbers(
    opened: Table,
    position: int,
    bounds: base.Bounds,
    codes: raw.MissingCodes,
    *,
    step: float | None,
    bins: int | None,
) -> Column:
    """Return a column of numbers: its values with counts, or, if these are too many, its bins.

    Parameters
    ----------
    opened, position, codes
        The table, where the column is in it, and what stands for no value.
    bounds, step, bins
        As for `omit.read`.

    `InvalidInput` is raised as by `omit.read`.
    """
    name = opened.names[position]
    if bins is not None and bins != 0:
        checked_bins(bins)
        if step is not None:
            raise InvalidInput(
                f"Column {name!r} is counted in steps of {step:g}; leave out bins (--bins), or the "
                "step."
            )
        return binned_column(opened, position, bounds, bins, codes)
    may_be_binned = bins is None and step is None
    tallied = None
    if may_be_binned and not opened.read_once:
        values, counts = opened.some(_LOOKED_AT).tally(position)
        if counts.sum() < _LOOKED_AT:
            tallied = values, counts
        elif len(values) > MOST_VALUES:
            return binned_column(opened, position, bounds, DEFAULT_BINS, codes)
    values, counts = opened.tally(position) if tallied is None else tallied
    values, counts, absent = codes.without(values, counts, numbers=True)
    column = Column.from_counts(values, counts, bounds, name=name, missing=absent, step=step)
    if may_be_binned and column.distinct > MOST_VALUES:
        return column.in_bins(DEFAULT_BINS)
    return column


def binned_column(
    opened: Table, position: int, declared: base.Bounds, number: int, codes: raw.MissingCodes
) -> Column:
    """Return a column of numbers in so many bins, of which it reads nothing else.

    `InvalidInput` is raised as by `omit.read`.

    Examples
    --------
    >>> import duckdb
    >>> from omit.data.sources import open_table
    >>> from omit.data.tables import NO_CODES
    >>> wages = duckdb.sql("SELECT unnest([310.5, 377, 377, 920, 1200, NULL]) AS wage")
    >>> with open_table(wages) as table:
    ...     column = binned_column(table, 0, (0.0, 1000.0), 10, NO_CODES)
    >>> column.values, column.counts, column.clamped, column.missing
    (array([ 354.83333333,  920.        , 1000.        ]), array([3, 1, 1]), 1, 1)
    """
    if isinstance(declared, str):
        bounds = _ends(opened, position, codes)
    else:
        bounds = base.checked_bounds(declared)
    key = bins_between(bounds, number, position)
    groups = opened.grouped([key], sums=[position], ends=[position], codes=codes)
    return column_of_bins(opened.names[position], groups, bounds, declared, number, codes)


def column_of_bins(
    name: str,
    groups: Groups,
    bounds: tuple[float, float],
    declared: base.Bounds,
    number: int,
    codes: raw.MissingCodes,
) -> Column:
    """Return the column of what was grouped by so many bins between its bounds, and by no more.

    `InvalidInput` is raised as by `omit.read`.
    """
    lower, upper = bounds
    missing = _without_number(name, groups, codes)
    bins = _Bins.of(groups)
    if not len(bins.positions):
        raise base.no_records(f"Column {name!r} has no records", missing)
    outside = (bins.positions < 0) | (bins.positions > number + 1)
    beyond = bins.part(outside)
    clamped = Beyond(beyond.means, beyond.counts, beyond.most_spread) if outside.any() else None
    inside = bins.part(~outside)
    for end, at_end in ((lower, beyond.means < lower), (upper, beyond.means > upper)):
        inside = inside.with_records(end, int(beyond.counts[at_end].sum()))
    return Column(
        name,
        inside.means,
        inside.counts,
        bounds,
        base.origin_of(declared),
        clamped=int(beyond.counts.sum()),
        missing=missing,
        beyond=clamped,
        ranges=Ranges(number, inside.lows, inside.highs),
    )


class _Bins(NamedTuple):
    """What is known of bins: where they are, how many records they have, and of which values."""

    positions: FloatArray
    counts: IntArray
    means: FloatArray
    lows: FloatArray
    highs: FloatArray

    @classmethod
    def of(cls, groups: Groups) -> _Bins:
        """Return the bins of groups; several groups may be in one."""
        read = ~np.isnan(groups.keys[0].astype(np.float64))
        positions, bin_of = np.unique(groups.keys[0][read].astype(np.float64), return_inverse=True)
        counts = np.zeros(len(positions), dtype=np.int64)
        sums, lows = np.zeros(len(positions)), np.full(len(positions), np.inf)
        highs = np.full(len(positions), -np.inf)
        np.add.at(counts, bin_of, groups.counts[read])
        np.add.at(sums, bin_of, groups.sums[0][read])
        np.minimum.at(lows, bin_of, groups.lows[0][read])
        np.maximum.at(highs, bin_of, groups.highs[0][read])
        lows, highs = lows + 0.0, highs + 0.0  # one zero, not two
        return cls(positions, counts, as_array(np.clip(sums / counts, lows, highs)), lows, highs)

    @property
    def most_spread(self) -> float:
        """What the squared distances of the records from the means of their bins are at most."""
        return float((self.counts * (self.means - self.lows) * (self.highs - self.means)).sum())

    def part(self, chosen: np.ndarray) -> _Bins:
        """Return some of the bins."""
        return _Bins(*(array[chosen] for array in self))

    def with_records(self, value: float, number: int) -> _Bins:
        """Return the bins with more records at a bound, which is a bin of its own."""
        if not number:
            return self
        known = np.flatnonzero(self.means == value)
        if len(known):
            counts = self.counts.copy()
            counts[known] += number
            return self._replace(counts=counts)
        at = int(np.searchsorted(self.means, value))
        counts = np.insert(self.counts, at, number)
        ends = (np.insert(array, at, value) for array in (self.means, self.lows, self.highs))
        return _Bins(np.insert(self.positions, at, np.nan), counts, *ends)


def _without_number(name: str, groups: Groups, codes: raw.MissingCodes) -> int:
    """Return how many records have no value, or refuse text and infinite numbers."""
    read = ~np.isnan(groups.keys[0].astype(np.float64))
    unread = groups.unread[0]
    assert unread is not None, "bins say what they have not read"
    values, counts, absent = codes.without(
        unread[~read].astype(object), groups.counts[~read], numbers=True
    )
    raw.numbers(name, values, counts)  # raises unless there is none
    return absent + int(counts.sum())


def _ends(opened: Table, position: int, codes: raw.MissingCodes) -> tuple[float, float]:
    """Return the smallest and the largest number of a column."""
    groups = opened.grouped([Bins(position, ())], ends=[position], codes=codes)
    lows, highs = groups.lows[0], groups.highs[0]
    if np.isnan(lows).all():
        raise base.no_records(
            f"Column {opened.names[position]!r} has no records", int(groups.counts.sum())
        )
    return base.checked_bounds((float(np.nanmin(lows)), float(np.nanmax(highs))))
