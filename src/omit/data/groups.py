"""One column in groups: the same numbers of disjoint records, which labels tell apart.

Whether a group exists is public, so labels are declared like bounds: a group that is named only
because somebody is in it gives that person away. A declared group without a record is said to be
there all the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

from omit import _validate
from omit._text import listed, nearest, show_records
from omit.data import base
from omit.data.column import Column
from omit.data.datasets import Dataset, dataset
from omit.data.values import BLANKS
from omit.errors import InvalidInput

Labels: TypeAlias = tuple[str, ...]
"""What names a group: a label of each of the columns that groups are formed by."""
DeclaredGroups: TypeAlias = "str | Sequence[Any] | Mapping[str, Sequence[Any]]"

MOST_GROUPS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class GroupedColumn:
    """A column in groups, made by `read` with `by`.

    Parameters
    ----------
    by : tuple of str
        The columns that hold the labels.
    parts : mapping of tuple of str to Column
        The groups with records, by their labels in the declared order.
    empty : tuple
        The labels of declared groups without a value of any record.
    labels_source : str
        Where the labels come from, as `bounds_source` of a column.
    unlabelled : int
        The number of records without a label, which are in no group.
    valueless : int
        The number of records of the groups in which no record has a value.

    Examples
    --------
    >>> import omit
    >>> ages = omit.read("adult", "age", by="sex")
    >>> ages
    GroupedColumn('age' by sex: 32,561 records in 2 groups, labels registered)
    >>> ages["Female"].mean < ages["Male"].mean
    True
    """

    by: tuple[str, ...]
    parts: Mapping[Labels, Column]
    empty: tuple[Labels, ...] = ()
    labels_source: base.BoundsSource = "declared"
    unlabelled: int = 0
    valueless: int = 0

    def __post_init__(self) -> None:
        if not self.parts:
            raise base.no_records("No group has records", self.unlabelled + self.valueless)
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))

    def __repr__(self) -> str:
        return (
            f"GroupedColumn({self.name!r} by {', '.join(self.by)}: {show_records(self.size)} in "
            f"{len(self.parts):,} groups, labels {self.labels_source})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.by,
            dict(self.parts),
            self.empty,
            self.labels_source,
            self.unlabelled,
            self.valueless,
        )

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Labels]:
        return iter(self.parts)

    def __contains__(self, labels: object) -> bool:
        return ((labels,) if isinstance(labels, str) else labels) in list(self.parts)

    def __getitem__(self, labels: str | Labels) -> Column:
        """Return the records of one group."""
        wanted = (labels,) if isinstance(labels, str) else labels
        if wanted not in list(self.parts):
            named = isinstance(wanted, tuple) and all(isinstance(each, str) for each in wanted)
            asked = shown_labels(wanted) if named else _validate.shown(labels)
            known = [shown_labels(each) for each in self.parts]
            raise InvalidInput(f"There is no such group; {nearest(asked, known)}.")
        return self.parts[wanted]

    @property
    def name(self) -> str:
        """What the column is called."""
        return next(iter(self.parts.values())).name

    @property
    def size(self) -> int:
        """The number of records in all groups, without the missing ones."""
        return sum(part.size for part in self.parts.values())

    @cached_property
    def whole(self) -> Column:
        """The records of all groups together."""
        columns = list(self.parts.values())
        while len(columns) > 1:  # in pairs, so that no sum is of many small columns to a large one
            odd = columns[len(columns) // 2 * 2 :]
            pairs = zip(columns[::2], columns[1::2], strict=False)
            columns = [first + second for first, second in pairs] + odd
        return columns[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong with every result on these data."""
        by, sentences = ", ".join(self.by), []
        if self.unlabelled:
            lost = f"{show_records(self.unlabelled)} without a label"
            sentences.append(f"{by}: {lost} {base.was(self.unlabelled)} left out.")
        if self.labels_source == base.FROM_DATA:
            sentences.append(
                f"{by}: the labels were taken from the data, so a release that names the groups is "
                "NOT private."
            )
        if self.valueless:
            lost = f"{show_records(self.valueless)} without a value, in groups that have no other,"
            sentences.append(f"{self.name}: {lost} {base.was(self.valueless)} left out.")
        if self.empty and self.labels_source != base.FROM_DATA:
            number = len(self.empty)
            groups = "1 declared group has" if number == 1 else f"{number:,} declared groups have"
            sentences.append(
                f"{by}: {groups} no record with a value, and would be released all the same."
            )
        return (*self.whole.notes, *sentences)

    def with_columns(self, change: Callable[[Column], Column]) -> GroupedColumn:
        """Return the same groups with another column of each."""
        return replace(self, parts={labels: change(part) for labels, part in self.parts.items()})


def shown_labels(labels: Labels) -> str:
    """Return the labels of a group for people.

    Examples
    --------
    >>> shown_labels(("25-00503", "1"))
    '25-00503, 1'
    """
    return ", ".join(labels)


def declared_groups(
    by: Sequence[str], groups: DeclaredGroups | None, known: Dataset | None
) -> tuple[tuple[Labels, ...] | None, base.BoundsSource]:
    """Return the labels of all groups that there can be, and who says so.

    None stands for those that occur, if they are taken from the data.

    Raises
    ------
    InvalidInput
        If nobody says so, or it cannot be meant.

    Examples
    --------
    >>> declared_groups(["sex", "old"], {"sex": ["F", "M"], "old": [0, 1]}, None)[0]
    (('F', '0'), ('F', '1'), ('M', '0'), ('M', '1'))
    >>> declared_groups(["region"], ["north", "south"], None)
    ((('north',), ('south',)), 'declared')
    """
    if isinstance(groups, str) and groups == base.FROM_DATA:
        return None, base.FROM_DATA
    source: base.BoundsSource = "declared"
    if groups is None or isinstance(groups, str):
        declaring = known if groups is None else dataset(groups)
        groups, source = _registered_labels(by, declaring), "registered"
    if isinstance(groups, Mapping):
        for column in by:
            if column not in groups:
                raise InvalidInput(f"Expected groups to have the labels of {column!r}, too.")
        labels = [_stripped(groups[column]) for column in by]
        require_few(prod(map(len, labels)))
        return tuple(itertools.product(*labels)), source
    several = _validate.several("groups", groups)
    if len(by) == 1:
        alone = [one[0] if _is_tuple(one, 1) else one for one in several]
        combinations: list[Labels] = [(label,) for label in _stripped(alone)]
    else:
        combinations = [_combination(by, one) for one in several]
    require_few(len(combinations))
    if len(set(combinations)) < len(combinations) or not combinations:
        raise InvalidInput("Expected at least one group, and each of them once.")
    return tuple(combinations), source


def _registered_labels(by: Sequence[str], known: Dataset | None) -> Mapping[str, Sequence[str]]:
    """Return what is registered about columns of labels."""
    found = {} if known is None else {column: known.labels_of(column) for column in by}
    for column in by:
        if not found.get(column):
            raise InvalidInput(
                f"The labels of {column!r} are not declared; give groups={{{column!r}: [...]}} "
                f"(--groups), all that there can be, or {base.FROM_DATA!r}, which is not private."
            )
    return found


def _stripped(labels: Sequence[Any]) -> tuple[str, ...]:
    """Return declared labels as texts without the blanks around them, as those of records are."""
    texts = base.declared_categories(_validate.several("labels", labels))
    return base.declared_categories([text.strip(BLANKS) for text in texts])


def _is_tuple(value: object, length: int) -> bool:
    return isinstance(value, tuple | list) and len(value) == length


def _combination(by: Sequence[str], labels: Any) -> Labels:
    if not _is_tuple(labels, len(by)):
        raise InvalidInput(
            f"Expected groups of {listed(by)} to be tuples of {len(by)} labels, got "
            f"{_validate.shown(labels)}."
        )
    return tuple(_stripped([label])[0] for label in labels)


def require_few(number: int) -> None:
    """Refuse more groups than anybody publishes."""
    if number > MOST_GROUPS:
        raise InvalidInput(f"Expected at most {MOST_GROUPS:,} groups, got {number:,}.")
