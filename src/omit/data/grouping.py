"""Reading a column in groups: one pass over the table, which is cut by the labels afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from omit._numeric import IntArray
from omit._text import listed
from omit.data import base
from omit.data import values as raw
from omit.data.binning import MOST_VALUES, column_of_bins
from omit.data.column import Column
from omit.data.groups import (
    DeclaredGroups,
    GroupedColumn,
    Labels,
    declared_groups,
    require_few,
    shown_labels,
)
from omit.data.ranges import bins_between, checked_bins
from omit.data.tables import NO_CODES, Groups, Table, Values, positions_of
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from omit.data.datasets import Dataset
    from omit.data.values import MissingCodes

# More values than this in all groups together are put into bins, of which few serve a group.
_MOST_CELLS = 2_000_000
_BINS_OF_A_GROUP = 1_024
_LOOKED_AT = 500_000

Cut: TypeAlias = Callable[[IntArray], "Column | None"]
"""Makes the column of some rows of a grouped table; None if they have no value."""


def grouped_column(
    opened: Table,
    position: int,
    by: Sequence[str | int],
    groups: DeclaredGroups | None,
    known: Dataset | None,
    codes: MissingCodes,
    *,
    bounds: base.Bounds | None,
    categories: base.Categories | None,
    step: float | None,
    bins: int | None,
) -> GroupedColumn:
    """Return a column in groups, from one pass over its table.

    The arguments are those of `omit.read`, with the table and where the column is in it.
    `InvalidInput` is raised as by `omit.read`, and for labels that are not declared.
    """
    at = positions_of(opened.names, by, opened.label)
    names = tuple(opened.names[each] for each in at)
    if position in at:
        raise InvalidInput(f"Expected groups by another column than {opened.names[position]!r}.")
    declared, source = declared_groups(names, groups, known)
    keys = [Values(each, as_text=True) for each in at]
    if categories is not None:
        if bins:
            raise InvalidInput(
                f"Column {opened.names[position]!r} is text, and only numbers are put into bins."
            )
        whole = opened.grouped([Values(position, as_text=True), *keys], codes=codes)
        cut = _of_texts(opened.names[position], whole, categories, codes, step)
    elif number := _bins(opened, position, 1 if declared is None else len(declared), step, bins):
        assert bounds is not None
        ends = _declared_ends(opened.names[position], bounds)
        key = bins_between(ends, number, position)
        whole = opened.grouped([key, *keys], sums=[position], ends=[position], codes=codes)
        cut = _of_bins(opened.names[position], whole, ends, number, codes)
    else:
        assert bounds is not None
        whole = opened.grouped([Values(position), *keys], codes=codes)
        cut = _of_numbers(opened.names[position], whole, bounds, codes, step)
    members = _members(names, whole, declared, codes)
    order = sorted(members.rows) if declared is None else declared
    columns = {
        labels: cut(members.rows[labels]) if labels in members.rows else None for labels in order
    }
    parts = {labels: part for labels, part in columns.items() if part is not None}
    empty = tuple(labels for labels, part in columns.items() if part is None)
    valueless = sum(
        int(whole.counts[members.rows[labels]].sum()) for labels in empty if labels in members.rows
    )
    return GroupedColumn(names, parts, empty, source, members.unlabelled, valueless)


def _of_texts(
    name: str,
    whole: Groups,
    categories: base.Categories,
    codes: MissingCodes,
    step: float | None,
) -> Cut:
    """Return what makes a column of texts from some of the groups."""
    texts = raw.texts(whole.keys[0])
    present = np.array([text is not None for text in texts], bool)
    present &= ~codes.mask(whole.keys[0], numbers=False)
    known = base.resolve_categories(categories, texts[present])
    origin = base.origin_of(categories)

    def cut(chosen: IntArray) -> Column | None:
        there = chosen[present[chosen]]
        if not len(there):
            return None
        missing = int(whole.counts[chosen].sum() - whole.counts[there].sum())
        made = Column.from_counts(
            texts[there],
            whole.counts[there],
            categories=known,
            name=name,
            missing=missing,
            step=step,
        )
        return replace(made, bounds_source=origin)

    return cut


def _of_numbers(
    name: str, whole: Groups, bounds: base.Bounds, codes: MissingCodes, step: float | None
) -> Cut:
    """Return what makes a column of numbers from some of the groups."""
    absent = codes.mask(whole.keys[0], numbers=True)
    numbers = np.full(len(absent), np.nan)
    numbers[~absent] = raw.numbers(name, whole.keys[0][~absent], whole.counts[~absent])
    present = ~np.isnan(numbers)
    if not present.any():
        raise base.no_records(f"Column {name!r} has no records", int(whole.counts.sum()))
    ends, origin = base.resolve_bounds(bounds, numbers[present]), base.origin_of(bounds)

    def cut(chosen: IntArray) -> Column | None:
        there = chosen[present[chosen]]
        if not len(there):
            return None
        missing = int(whole.counts[chosen].sum() - whole.counts[there].sum())
        made = Column.from_counts(
            numbers[there], whole.counts[there], ends, name=name, missing=missing, step=step
        )
        return replace(made, bounds_source=origin)

    return cut


def _of_bins(
    name: str, whole: Groups, bounds: tuple[float, float], number: int, codes: MissingCodes
) -> Cut:
    """Return what makes a column in bins from some of the groups."""
    present = ~np.isnan(whole.keys[0].astype(np.float64))

    def cut(chosen: IntArray) -> Column | None:
        if not present[chosen].any():
            return None
        unread = whole.unread[0]
        some = Groups(
            [whole.keys[0][chosen]],
            [None if unread is None else unread[chosen]],
            whole.counts[chosen],
            [whole.sums[0][chosen]],
            [whole.lows[0][chosen]],
            [whole.highs[0][chosen]],
        )
        return column_of_bins(name, some, bounds, bounds, number, codes)

    return cut


def _declared_ends(name: str, bounds: base.Bounds) -> tuple[float, float]:
    if isinstance(bounds, str):
        raise InvalidInput(
            f"Column {name!r} has too many different values to keep them of every group: declare "
            "its bounds, a step, or bins=0 (--bins 0)."
        )
    return base.checked_bounds(bounds)


def _bins(
    opened: Table, position: int, groups: int, step: float | None, bins: int | None
) -> int | None:
    """Return into how many bins the numbers of every group are put; None to keep all values."""
    if bins:
        if step is not None:
            raise InvalidInput(
                f"Column {opened.names[position]!r} is counted in steps of {step:g}; leave out "
                "bins (--bins), or the step."
            )
        return checked_bins(bins)
    if bins is not None or step is not None or opened.read_once:
        return None
    values, counts = opened.some(_LOOKED_AT).tally(position)
    many = len(values) * groups > _MOST_CELLS or len(values) > MOST_VALUES
    return _BINS_OF_A_GROUP if counts.sum() >= _LOOKED_AT and many else None


class _Members(NamedTuple):
    """Which rows of a grouped table are in which group of records, and how many records in none."""

    rows: dict[Labels, IntArray]
    unlabelled: int


def _members(
    by: Labels, whole: Groups, declared: Sequence[Labels] | None, codes: MissingCodes
) -> _Members:
    """Return which rows are in which group, or refuse what is in none that was declared."""
    coded = [
        _coded(name, key, whole.counts, _labels_at(declared, number), codes)
        for number, (name, key) in enumerate(zip(by, whole.keys[1:], strict=True))
    ]
    labelled = np.all([numbers >= 0 for numbers, _ in coded], axis=0)
    rows = np.flatnonzero(labelled)
    unlabelled = int(whole.counts[~labelled].sum())
    combined = np.zeros(len(rows), dtype=np.int64)
    for numbers, texts in coded:  # numbered anew each time, so that they stay small
        combined = combined * max(len(texts), 1) + numbers[rows]
        combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(combined, kind="stable")
    starts = np.unique(combined[order], return_index=True)[1]
    split = np.split(rows[order], starts[1:]) if len(starts) else []
    labels = [tuple(texts[numbers[some[0]]] for numbers, texts in coded) for some in split]
    if declared is None:
        require_few(len(labels))
    if declared is not None:
        for unknown in set(labels).difference(declared):
            raise InvalidInput(
                f"A record has {listed(by)} = {shown_labels(unknown)}, which is not among the "
                "declared groups; add it, or correct the data."
            )
    return _Members(dict(zip(labels, split, strict=True)), unlabelled)


def _labels_at(declared: Sequence[Labels] | None, number: int) -> frozenset[str] | None:
    return None if declared is None else frozenset(labels[number] for labels in declared)


def _coded(
    name: str,
    values: raw.AnyArray,
    counts: IntArray,
    declared: frozenset[str] | None,
    codes: MissingCodes,
) -> tuple[NDArray[np.int64], list[str]]:
    """Return for each value the position of its label, -1 without one, and the labels."""
    import pandas

    where, occurring = pandas.factorize(values)
    occurring = raw.objects(occurring)
    texts = raw.trimmed_texts(occurring, NO_CODES)
    absent = codes.mask(occurring, numbers=False)
    absent &= np.array([text not in (declared or ()) for text in texts], bool)
    texts[absent] = None
    there = np.array([text is not None for text in texts], bool)
    if declared is not None:
        often = np.bincount(where[where >= 0], counts[where >= 0], len(texts)).astype(np.int64)
        raw.refuse_unknown(name, texts[there], often[there], declared)
    labels = sorted(set(texts[there]))
    place = {label: number for number, label in enumerate(labels)}
    numbers = np.array([place.get(text, -1) for text in texts] + [-1], dtype=np.int64)
    return numbers[where], labels  # a value that is none is at the place -1, the last
