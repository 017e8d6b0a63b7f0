"""Attributes of a table: a name, all categories a record can have, and how they are computed.

The categories are declared, never observed: an empty cell that is shown says as much about the
records as a full one, so the table has to hold all of them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from omit import _validate
from omit.data.values import raw_array, texts
from omit.errors import InvalidInput

Origin: TypeAlias = Literal["declared", "registered", "derived", "from-data"]

MISSING = "(missing)"
YES_NO = ("no", "yes")
MOST_BINS = 1000
_LARGEST_COMPARED = 2.0**53  # below, rounding to a float never moves a number past another
_THRESHOLD = re.compile(r"\s*([^=<>!()]+?)\s*(>=|<=|==|!=|>|<)\s*([-+.\deE]+)\s*")
_BINS = re.compile(r"\s*bins\(\s*([^,()]+?)\s*,\s*([^,]+),\s*([^,]+),\s*([^,]+)\)\s*")


@dataclass(frozen=True)
class Attribute:
    """One attribute of a table.

    Parameters
    ----------
    name : str
        What it is called.
    categories : tuple of str
        All values a record can have, in the order of the table.
    origin : {"declared", "registered", "derived", "from-data"}
        Where the categories come from; ``"from-data"`` is not private.

    Raises
    ------
    InvalidInput
        If there is no category, an empty one, or one twice.

    Examples
    --------
    >>> len(Attribute("sex", ("Female", "Male")))
    2
    """

    name: str
    categories: tuple[str, ...]
    origin: Origin = "declared"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInput(
                f"Expected every attribute to have a name, got {_validate.shown(self.name)}."
            )
        _validate.one_of("origin", self.origin, ("declared", "registered", "derived", "from-data"))
        several = list(_validate.several(f"categories of {self.name!r}", self.categories))
        if isinstance(self.categories, Set):  # which has no order of its own
            several.sort(key=str)
        categories = texts(raw_array(f"the categories of {self.name}", several))
        object.__setattr__(self, "categories", tuple(categories))
        if not self.categories or None in self.categories:
            raise InvalidInput(
                f"Expected at least one category of {self.name!r}, and none of them empty."
            )
        if len(set(self.categories)) < len(self.categories):
            raise InvalidInput(f"Expected the categories of {self.name!r} to be distinct.")

    def __len__(self) -> int:
        return len(self.categories)

    def place(self, category: str) -> int:
        """Return the position of a category.

        Raises
        ------
        InvalidInput
            If the attribute does not have it.
        """
        from omit._text import nearest

        if not isinstance(category, str) or category not in self.categories:
            raise InvalidInput(
                f"Attribute {self.name!r} has no category {_validate.shown(category)}; "
                f"{nearest(category if isinstance(category, str) else '', self.categories)}."
            )
        return self.categories.index(category)


@dataclass(frozen=True)
class Derivation:
    """An attribute computed from a column of numbers: a comparison, or bins of equal width.

    Made by `parse_derivation`.
    """

    name: str
    column: str
    comparison: str | None = None
    threshold: float = 0.0
    edges: tuple[float, ...] = ()

    @property
    def attribute(self) -> Attribute:
        """The attribute with its categories."""
        if self.comparison is not None:
            return Attribute(self.name, YES_NO, "derived")
        shown = _distinct(self.edges)
        labels = [f"[{low}, {high})" for low, high in itertools.pairwise(shown)]
        labels[-1] = f"{labels[-1][:-1]}]"
        return Attribute(self.name, tuple(labels), "derived")

    def sql(self, number: str) -> str:
        """Return the category as SQL; `number` is SQL that gives a number.

        A number outside the bins gives text that is no category, so that it is refused by name.
        """
        if self.comparison is not None:
            operator = {"==": "=", "!=": "<>"}.get(self.comparison, self.comparison)
            return (
                f"CASE WHEN {number} {operator} {self.threshold!r} THEN '{YES_NO[1]}' "
                f"ELSE '{YES_NO[0]}' END"
            )
        cases = [
            f"WHEN {number} >= {low!r} AND {number} {'<=' if last else '<'} {high!r} THEN '{label}'"
            for low, high, label, last in zip(
                self.edges[:-1],
                self.edges[1:],
                self.attribute.categories,
                [place == len(self.edges) - 2 for place in range(len(self.edges) - 1)],
                strict=True,
            )
        ]
        return (
            f"CASE {' '.join(cases)} "
            f"ELSE system.main.concat('outside the bins: ', CAST({number} AS VARCHAR)) END"
        )


def parse_derivation(text: str) -> Derivation:
    """Return the derivation that a line such as ``income50k = PINCP >= 50000`` describes.

    The other form is ``age5 = bins(AGEP, 0, 100, 5)``: so many bins of equal width.

    Raises
    ------
    InvalidInput
        If it is neither.

    Examples
    --------
    >>> parse_derivation("income50k = PINCP >= 50000").attribute.categories
    ('no', 'yes')
    >>> parse_derivation("age5 = bins(AGEP, 0, 100, 5)").attribute.categories
    ('[0, 20)', '[20, 40)', '[40, 60)', '[60, 80)', '[80, 100]')
    """
    _validate.instance("a derived attribute", text, str)
    name, equals, formula = text.partition("=")
    name = name.strip()
    threshold, bins = _THRESHOLD.fullmatch(formula), _BINS.fullmatch(formula)
    if not equals or not name or not (threshold or bins):
        raise InvalidInput(
            f"Expected a derived attribute such as 'rich = income >= 50000' or "
            f"'age5 = bins(age, 0, 100, 5)', got {_validate.shown(text)}."
        )
    if threshold:
        column, comparison, number = threshold.groups()
        return Derivation(name, column, comparison, _number(text, number))
    assert bins is not None
    column, *numbers = bins.groups()
    lower, upper, count = (_number(text, each) for each in numbers)
    number_of_bins = _validate.positive_integer(
        "the number of bins",
        count,  # type: ignore[arg-type]  # a fraction is refused there
    )
    if number_of_bins > MOST_BINS:
        raise InvalidInput(
            f"Expected at most {MOST_BINS:,} bins of {name!r}, got {number_of_bins:,}."
        )
    if not lower < upper:
        raise InvalidInput(f"Expected the bins of {name!r} to have lower < upper, got {text!r}.")
    edges = np.linspace(lower, upper, number_of_bins + 1)
    if not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
        raise InvalidInput(
            f"The bins of {name!r} are too narrow or too wide for floating-point numbers; got "
            f"{text!r}."
        )
    return Derivation(name, column, edges=tuple(edges.tolist()))


def _distinct(edges: tuple[float, ...]) -> list[str]:
    """Return edges with as few digits, from six on, as tell them all apart."""
    for digits in range(6, 18):
        shown = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(shown)) == len(shown):
            break
    return shown


def _number(text: str, digits: str) -> float:
    try:
        number = float(digits)
    except ValueError as error:
        raise InvalidInput(f"Expected a number instead of {digits!r} in {text!r}.") from error
    if not math.isfinite(number):
        raise InvalidInput(f"Expected a finite number instead of {digits!r} in {text!r}.")
    if abs(number) >= _LARGEST_COMPARED:
        raise InvalidInput(
            f"Expected a number below 2^53 instead of {digits!r} in {text!r}: beyond, different "
            "numbers count as equal."
        )
    return number


def whole_number_categories(name: str, bounds: tuple[float, float]) -> tuple[str, ...]:
    """Return the whole numbers within bounds as categories.

    Examples
    --------
    >>> whole_number_categories("SEX", (1, 2))
    ('1', '2')
    """
    from omit.data.column import LARGEST_DOMAIN

    first, last = math.ceil(bounds[0]), math.floor(bounds[1])
    if last - first >= LARGEST_DOMAIN:
        raise InvalidInput(
            f"The bounds of {name!r} hold {last - first + 1:,} whole numbers, too many for "
            f"categories; derive bins, such as '{name}5 = bins({name}, {bounds[0]:g}, "
            f"{bounds[1]:g}, 5)'."
        )
    return tuple(str(each) for each in range(first, last + 1))


def chosen(attributes: Sequence[Attribute], names: Sequence[str], what: str) -> tuple[int, ...]:
    """Return the positions of attributes by name.

    Raises
    ------
    InvalidInput
        If a name is unknown or there twice.

    Examples
    --------
    >>> chosen([Attribute("sex", ("F", "M")), Attribute("age", ("0", "1"))], ["age"], "group")
    (1,)
    """
    from omit._text import nearest

    known = [
        _validate.instance("every attribute", each, Attribute).name
        for each in _validate.several("attributes", attributes)
    ]
    names = _validate.several(f"names, each of a {what}", names)
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise InvalidInput(
                f"The {what} {_validate.shown(name)} is not an attribute of the table; "
                f"{nearest(name if isinstance(name, str) else '', known)}."
            )
    if len(set(names)) < len(names):
        raise InvalidInput(f"Expected every {what} only once, got {', '.join(names)}.")
    return tuple(known.index(name) for name in names)


def parse_domain(text: str) -> tuple[str, Sequence[str] | str]:
    """Return the column and the categories of a line such as ``sex=Female,Male``.

    Examples
    --------
    >>> parse_domain("sex=Female,Male"), parse_domain("town=from-data")
    (('sex', ['Female', 'Male']), ('town', 'from-data'))
    """
    _validate.instance("a domain", text, str)
    name, equals, listed = text.partition("=")
    if not equals or not name.strip() or not listed.strip():
        raise InvalidInput(
            f"Expected a domain such as sex=Female,Male, got {_validate.shown(text)}."
        )
    if listed.strip() == "from-data":
        return name.strip(), "from-data"
    return name.strip(), [each.strip() for each in listed.split(",")]


def parse_domains(lines: Sequence[str]) -> dict[str, Sequence[str] | str]:
    """Return the domains of several lines.

    Raises
    ------
    InvalidInput
        If a column has two.
    """
    domains: dict[str, Sequence[str] | str] = {}
    for name, domain in map(parse_domain, _validate.several("domains", lines)):
        if name in domains:
            raise InvalidInput(f"Expected one domain for the column {name!r}, got two.")
        domains[name] = domain
    return domains
