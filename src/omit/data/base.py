"""What columns and points have in common: where they come from, and what is declared about them.

Bounds and categories are what a curator declares before looking at the records. A sensitivity comes
from the declaration and not from the data, so a declaration taken from the data says something
about the records, and every result that rests on one has to say so.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray
from omit._text import listed, show_records
from omit.data.values import AnyArray, raw_array, texts
from omit.errors import InvalidInput
from omit.laws.design import Design

if TYPE_CHECKING:
    from omit.data.distances import DistanceTotals

FROM_DATA: Literal["from-data"] = "from-data"
Bounds: TypeAlias = tuple[float, float] | Literal["from-data"]
Categories: TypeAlias = Iterable[str | float] | Literal["from-data"]
BoundsSource: TypeAlias = Literal["declared", "registered", "from-data"]

DISTANCES = ("absolute", "discrete", "euclidean", "manhattan")
ORIGIN_OF_BOUNDS: Mapping[str, str] = {
    "declared": "declared",
    "registered": "registered with the data set",
    "from-data": "taken from the data, which is NOT private",
}
# Squares and products with record counts stay finite up to here.
_LARGEST = 1e100


class Data(ABC):
    """Confidential data, as omissions, mechanisms and questions of accuracy need them.

    Its atoms are what a design keeps or omits: the distinct values of a column, or the single
    records of points.

    Parameters
    ----------
    name : str
        What the data are called.
    bounds_source : str
        Where bounds or categories come from: ``"declared"`` by the caller, ``"registered"`` with
        the data set, or ``"from-data"``, which is not private.
    clamped : int
        The number of records with a value outside its bounds, which was moved to the nearest one.
    missing : int
        The number of records that lacked a value and were left out.
    source : str
        Where the data came from.
    remarks : tuple of str
        More sentences that belong with every result.
    """

    described: ClassVar[str]
    """What such data are and which function makes them, for messages."""
    coupled: ClassVar[bool]
    """Whether draws from equal seeds can be compared run by run."""

    name: str
    bounds: Any
    bounds_source: BoundsSource
    clamped: int
    missing: int
    source: str
    remarks: tuple[str, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of records, without the missing ones."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong with every result on these data."""
        sentences = list(self._changes())
        if self.missing:
            missing = f"{show_records(self.missing)} without a value"
            sentences.append(f"{missing} {was(self.missing)} left out.")
        if self.bounds_source == FROM_DATA:
            sentences.append(
                f"the {self._declared} were taken from the data, so a release that uses them is "
                "NOT private."
            )
        return tuple(f"{self.name}: {sentence}" for sentence in (*sentences, *self.remarks))

    @property
    @abstractmethod
    def declaration(self) -> str:
        """A sentence on which values are possible, and who says so."""

    @abstractmethod
    def draws(
        self, design: Design, runs: int, rng: np.random.Generator
    ) -> Iterator[tuple[Any, np.random.Generator]]:
        """Yield batches of what a design keeps, with the generator for the noise on each batch.

        What a batch looks like is between the data and the mechanisms of such data: for a column
        rows of counts, for points the positions of one draw.
        """

    @property
    @abstractmethod
    def multiplicities(self) -> IntArray:
        """The number of records of every atom."""

    def mean_distances(self, distance: str) -> DistanceTotals:
        """Return the mean distance of every atom from all records; computed once.

        `Refused` is raised if the distance is not defined for such data.
        """
        known: dict[str, DistanceTotals] = self.__dict__.setdefault("_mean_distances", {})
        if distance not in known:
            known[distance] = self._distances(distance)
        return known[distance]

    @property
    @abstractmethod
    def distinct(self) -> int:
        """The number of different records."""

    @property
    def is_binned(self) -> bool:
        """Whether atoms are bins of records that differ, as those of a continuous column may be."""
        return False

    def __radd__(self, other: object) -> Any:
        # So that sum() works, which starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, so that the arrays of a copy are read-only too.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]  # a dataclass

    # What clamped records are, as in "2 of 5 values lay outside [0, 125]", and what was declared,
    # as in "the bounds [0, 125] were taken from the data".
    @property
    def _outside(self) -> str:
        return "records had a value outside its bounds"

    @property
    def _declared(self) -> str:
        return "bounds"

    @abstractmethod
    def _distances(self, distance: str) -> DistanceTotals:
        """Compute the mean distances."""

    def _changes(self) -> Iterator[str]:
        """Yield what was done to values before they were counted."""
        if self.clamped:
            outside = f"{self.clamped:,} of {self.size:,} {self._outside}"
            yield f"{outside} and {was(self.clamped)} clamped."

    def _origin_with(self, other: Data) -> dict[str, Any]:
        """Return what records of two origins have in common, as arguments of their sum."""
        return {
            "bounds_source": origin_of_both(self.bounds_source, other.bounds_source),
            "clamped": self.clamped + other.clamped,
            "missing": self.missing + other.missing,
            "source": source_of_both(self.source, other.source),
            "remarks": tuple(dict.fromkeys((*self.remarks, *other.remarks))),
        }

    def _require_origin(self) -> None:
        """Check what all data have in common, and bring it into its plain form."""
        _validate.instance("source", self.source, str)
        _validate.one_of("bounds_source", self.bounds_source, tuple(ORIGIN_OF_BOUNDS))
        self._set(
            remarks=_validate.texts("remarks", self.remarks),
            clamped=_validate.whole("clamped", self.clamped),
            missing=_validate.whole("missing", self.missing),
        )

    def _set(self, **values: Any) -> None:
        """Set attributes while the frozen value is being made; arrays become read-only."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)


def was(number: int) -> str:
    """Return the verb that goes with a number."""
    return "was" if number == 1 else "were"


def origin_of(*declared: Bounds | Categories) -> BoundsSource:
    """Return where declarations come from: from the data, if one of them does."""
    return "from-data" if any(isinstance(one, str) for one in declared) else "declared"


def origin_of_both(first: BoundsSource, second: BoundsSource) -> BoundsSource:
    """Return where equal declarations about two parts of the data come from: the weaker origin."""
    return max(first, second, key=("registered", "declared", "from-data").index)


def source_of_both(first: str, second: str) -> str:
    """Return where two parts of the data come from."""
    return first if first == second else f"{first}; {second}"


def refuse_unequal(what: str, declared: Mapping[str, tuple[Any, Any]]) -> None:
    """Refuse to add data about which different things are declared, and say which.

    Examples
    --------
    >>> refuse_unequal("columns", {"bounds": ((0, 9), (0, 9))})
    """
    for name, (first, second) in declared.items():
        if first != second:
            raise InvalidInput(
                f"Expected {what} that add up to have the same {name}, got "
                f"{_validate.shown(first)} and {_validate.shown(second)}; read them with the same "
                "declarations."
            )


def no_records(beginning: str, missing: int) -> InvalidInput:
    """Return the error for data without records; those that were `missing` had no value."""
    without = f" ({show_records(missing)} without a value)" if missing else ""
    return InvalidInput(f"{beginning} to work with{without}.")


def require_declaration(name: str, bounds: Bounds | None, categories: Categories | None) -> None:
    """Refuse a column without a declaration, with two, or with one that cannot be meant.

    Nothing has to be read for that.

    Examples
    --------
    >>> require_declaration("age", (0, 125), None)
    """
    if bounds is None and categories is None:
        raise InvalidInput(
            f"Column {name!r} has no declared bounds; give bounds=(lower, upper), or "
            f"bounds={FROM_DATA!r}, which is not private (for text: categories=(...))."
        )
    if bounds is not None and categories is not None:
        raise InvalidInput(
            f"Expected either bounds (for numbers) or categories (for text) of {name!r}, not both."
        )
    several = isinstance(categories, Iterable) and not isinstance(categories, str | bytes | Mapping)
    for what, needed, given, fits in (
        ("bounds", "a pair (lower, upper)", bounds, not isinstance(bounds, str)),
        ("categories", "several texts", categories, categories is None or several),
    ):
        if not fits and not (isinstance(given, str) and given == FROM_DATA):
            raise InvalidInput(
                f"Expected {what} to be {needed} or {FROM_DATA!r}, got {_validate.shown(given)}."
            )
    if bounds is not None and not isinstance(bounds, str):
        checked_bounds(bounds)


def resolve_bounds(bounds: Bounds, values: FloatArray) -> tuple[float, float]:
    """Return the declared bounds, or the smallest and the largest value.

    Examples
    --------
    >>> values = np.array([17.0, 90.0])
    >>> resolve_bounds((0, 125), values), resolve_bounds("from-data", values)
    ((0.0, 125.0), (17.0, 90.0))
    """
    if isinstance(bounds, str):
        bounds = float(np.min(values)), float(np.max(values))
    return checked_bounds(bounds)


def checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return two finite numbers of ordinary size, the lower one first, or refuse.

    Examples
    --------
    >>> checked_bounds((0, 125))
    (0.0, 125.0)
    """
    is_pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    if is_pair and any(isinstance(bound, float) and math.isinf(bound) for bound in bounds):
        raise InvalidInput(
            f"Expected finite bounds, got {_validate.shown(bounds)}: with infinite ones every "
            "sensitivity is infinite, the smooth one included, and no noise is enough."
        )
    lower, upper = _validate.interval("bounds", bounds)
    if max(-lower, upper) > _LARGEST:
        raise InvalidInput(f"Expected bounds=({lower:g}, {upper:g}) within ±{_LARGEST:g}.")
    return lower + 0.0, upper + 0.0


def resolve_categories(categories: Categories, values: AnyArray) -> tuple[str, ...]:
    """Return the declared categories in their order, or the values that occur, sorted."""
    if isinstance(categories, str):
        return tuple(sorted(set(values)))
    return declared_categories(categories)


def declared_categories(categories: Iterable[str | float]) -> tuple[str, ...]:
    """Return categories as distinct texts in their order; those of a set, which has none, sorted.

    Examples
    --------
    >>> declared_categories(["b", 2.0])
    ('b', '2')
    """
    if isinstance(categories, Set):
        categories = sorted(categories, key=str)
    several = _validate.several("categories", categories)
    declared = texts(raw_array("categories", list(several))).tolist()
    if not declared or None in declared:
        raise InvalidInput("Expected at least one category, and none of them empty.")
    twice = sorted(category for category, often in Counter(declared).items() if often > 1)
    if twice:
        raise InvalidInput(f"Expected distinct categories, got twice: {listed(twice)}.")
    return tuple(declared)


def show_bounds(bounds: tuple[float, float]) -> str:
    """Return bounds for people.

    Examples
    --------
    >>> show_bounds((0.0, 2227058.0))
    '[0, 2227058]'
    """
    return f"[{bounds[0]:.10g}, {bounds[1]:.10g}]"
