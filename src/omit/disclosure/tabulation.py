"""From records, wherever they are, to a table of counts; they are grouped where they are."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, IntArray
from omit._text import nearest, show_records
from omit.data.base import declared_categories
from omit.data.datasets import Dataset
from omit.data.sources import open_table, registered
from omit.data.tables import Bins, Key, Table, Values, position_of
from omit.data.values import (
    NO_NUMBER,
    NUMBER,
    AnyArray,
    MissingCodes,
    numbers_among,
    trimmed_texts,
)
from omit.disclosure.table import Attribute, CountTable, group_name, require_holdable
from omit.errors import InvalidInput

if TYPE_CHECKING:
    from omit.data.reading import Source

FROM_DATA = "from-data"
MISSING = "(missing)"
YES_NO = ("no", "yes")
_OUTSIDE = "outside the bins"
MOST_BINS = 1000
_Value = TypeVar("_Value")
_LARGEST_COMPARED = 2.0**53  # below, rounding to a float never moves a number past another
_THRESHOLD = re.compile(r"\s*([^=<>!()]+?)\s*(>=|<=|==|!=|>|<)\s*([-+.\deE]+)\s*")
_BINS = re.compile(r"\s*bins\(\s*([^,()]+?)\s*,\s*([^,]+),\s*([^,]+),\s*([^,]+)\)\s*")


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

    def key(self, position: int) -> Bins:
        """Return what to group the column at a position by; `categories` are those of its bins.

        A comparison has bins, too: what is above a threshold reaches the next larger number.
        """
        if self.comparison is None:
            return Bins(position, (*self.edges[:-1], math.nextafter(self.edges[-1], math.inf)))
        above = math.nextafter(self.threshold, math.inf)
        edges = {">=": (self.threshold,), "<": (self.threshold,), ">": (above,), "<=": (above,)}
        return Bins(position, edges.get(self.comparison, (self.threshold, above)))

    @property
    def categories(self) -> tuple[str | None, ...]:
        """The category of each bin of the key, None for what is outside."""
        no, yes = YES_NO
        if self.comparison is None:
            return (None, *self.attribute.categories, None)
        if self.comparison in ("==", "!="):
            return (no, yes, no) if self.comparison == "==" else (yes, no, yes)
        return (no, yes) if self.comparison in (">=", ">") else (yes, no)


def parse_derivation(text: str) -> Derivation:
    """Return the derivation that a line such as ``income50k = PINCP >= 50000`` describes.

    The other form is ``age5 = bins(AGEP, 0, 100, 5)``: that many bins of equal width. All else is
    refused.

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
    lower, upper, count = (_number(text, number) for number in numbers)
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
    return tuple(str(number) for number in range(first, last + 1))


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
    if listed.strip() == FROM_DATA:
        return name.strip(), FROM_DATA
    return name.strip(), [category.strip() for category in listed.split(",")]


def parse_domains(lines: Sequence[str]) -> dict[str, Sequence[str] | str]:
    """Return the domains of several lines, or refuse two of one column."""
    return _by_name("domain for the column", map(parse_domain, _validate.several("domains", lines)))


def _by_name(what: str, named: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """Return values by name, or refuse two of one name."""
    by_name: dict[str, _Value] = {}
    for name, value in named:
        if name in by_name:
            raise InvalidInput(f"Expected one {what} {name!r}, got two.")
        by_name[name] = value
    return by_name


def parse_missing_as(lines: Sequence[str]) -> dict[str, str]:
    """Return the categories in which missing values are counted, from ``rich=no`` and the like.

    Two categories of one attribute are refused.

    Examples
    --------
    >>> parse_missing_as(["rich=no"])
    {'rich': 'no'}
    """

    def parsed(text: str) -> tuple[str, str]:
        name, equals, category = _validate.instance("a category", text, str).partition("=")
        if not equals or not name.strip() or not category.strip():
            raise InvalidInput(
                f"Expected a category for missing values such as rich=no, got "
                f"{_validate.shown(text)}."
            )
        return name.strip(), category.strip()

    several = _validate.several("categories of missing values", lines)
    return _by_name("category for missing values of", map(parsed, several))


def parse_groups(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return groups from texts such as ``race=White,sex=Male``; one given twice is refused.

    Examples
    --------
    >>> parse_groups(["race=White,sex=Male"])
    {'race = White, sex = Male': {'race': 'White', 'sex': 'Male'}}
    """
    groups: dict[str, dict[str, str]] = {}
    for text in _validate.texts("groups", texts):
        # A category may have commas, as bins have: a comma parts if a name and = follow.
        pairs = [part.partition("=") for part in re.split(r",(?=[^,=]*=)", text)]
        where = {name.strip(): category.strip() for name, _, category in pairs}
        if not all(name and category for name, category in where.items()):
            raise InvalidInput(f"Expected a group {text!r} in the form attribute=category.")
        if len(where) < len(pairs):
            raise InvalidInput(f"Expected every attribute once in the group {text!r}.")
        name = group_name(where)
        if name in groups:
            raise InvalidInput(f"The group {text!r} is given twice.")
        groups[name] = where
    return groups


def tabulate(
    source: Source,
    attributes: Sequence[str],
    *,
    derive: Sequence[str] = (),
    domains: Mapping[str, Iterable[str | float] | str] | None = None,
    without_value: Literal["drop", "category"] = "drop",
    missing: Iterable[str | float] = (),
    missing_as: Mapping[str, str] | None = None,
    table: str | None = None,
) -> CountTable:
    """Return the table of counts over some attributes of a source that `omit.read` takes.

    Parameters
    ----------
    source : object
        The records, as for `omit.read`.
    attributes : sequence of str
        Columns, and names that `derive` defines.
    derive : sequence of str
        Attributes that are computed, such as ``"rich = income >= 50000"`` and
        ``"age5 = bins(age, 0, 100, 5)"``.
    domains : mapping, optional
        For a column, all categories it can have, or ``"from-data"``, which is not private.
        Registered columns have theirs.
    without_value : {"drop", "category"}
        Leave out records without a value for some attribute, or make that a category of its own.
    missing : sequence of str or float
        Texts and numbers that stand for no value, in addition to empty, NULL and those registered.
    missing_as : mapping, optional
        For an attribute, the one of its categories in which records without a value are counted,
        whatever `without_value` says.
    table : str, optional
        The table of a DuckDB database.

    A value that is not in the domain of its column is refused, and a table too large to hold.

    Examples
    --------
    >>> tabulate("adult", ["sex", "income"])
    CountTable(sex x income: 32,561 records in 4 cells, 0 of them empty)
    """
    _validate.one_of("without_value", without_value, ("drop", "category"))
    attributes = _validate.texts("attributes", attributes)
    missing_as = {} if missing_as is None else missing_as
    _validate.mapping("missing_as", missing_as, "from attributes to categories")
    for name in missing_as:
        if name not in attributes:
            raise InvalidInput(
                f"Missing values of {_validate.shown(name)} are counted as a category, and it is "
                f"not an attribute of the table; {nearest(str(name), attributes)}."
            )
    codes = MissingCodes.of(missing)
    domains = {} if domains is None else domains
    _validate.mapping("domains", domains, "from columns to categories")
    derivations = _by_name(
        "derivation of",
        ((made.name, made) for made in map(parse_derivation, _strings("derive", derive))),
    )
    if not attributes:
        raise InvalidInput("Expected at least one attribute.")
    known = registered(source, table)
    codes |= MissingCodes.of(known.missing if known else ())
    with open_table(source, table) as opened:
        asked = _Asked(attributes, derivations, domains, without_value, missing_as, codes)
        return _tabulate(opened, asked, known)


def _strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return several texts, some of which may be empty."""
    several = _validate.several(f"texts as {name}", values)
    return tuple(_validate.instance(f"every text of {name}", value, str) for value in several)


@dataclass(frozen=True)
class _Asked:
    """Which table of a source; all of it is checked."""

    names: tuple[str, ...]
    derivations: Mapping[str, Derivation]
    domains: Mapping[str, Iterable[str | float] | str]
    without_value: str
    missing_as: Mapping[str, str]
    codes: MissingCodes

    def completed(self, attribute: Attribute, values: AnyArray) -> tuple[Attribute, int]:
        """Return the attribute and where a record without a value is counted, -1 for nowhere."""
        if attribute.name in self.missing_as:
            return attribute, attribute.position(self.missing_as[attribute.name])
        if self.without_value == "drop" or all(value is not None for value in values):
            return attribute, -1
        categories = (*attribute.categories, MISSING)
        return Attribute(attribute.name, categories, attribute.origin), len(attribute)

    def remarks(self, attributes: Sequence[Attribute]) -> tuple[str, ...]:
        """Return what became of records without a value, to be said with every result."""
        counted = tuple(
            f"Records without a value of {name} count as {category!r}."
            for name, category in self.missing_as.items()
        )
        own = [
            attribute.name
            for attribute in attributes
            if self.without_value == "category" and MISSING in attribute.categories
        ]
        if not own:
            return counted
        return (
            *counted,
            "Records without a value are in a category of their own, for "
            f"{', '.join(own)}; that these are the attributes with missing values was seen in the "
            "data.",
        )


def _tabulate(opened: Table, asked: _Asked, known: Dataset | None) -> CountTable:
    names, derivations = asked.names, asked.derivations
    for name in asked.domains:
        position_of(opened.names, name, opened.label)
    for name in derivations:
        if name in opened.names:
            raise InvalidInput(
                f"There is a column {name!r} in {opened.label}; give the derived attribute another "
                "name."
            )
    declared = [
        derivations[name].attribute
        if name in derivations
        else _declared(name, opened, asked.domains, known)
        for name in names
    ]
    if None not in declared:
        require_holdable([attribute for attribute in declared if attribute is not None])
    combinations, counts = _counted(opened, names, derivations, asked.codes)
    kept = np.ones(len(counts), dtype=bool)
    resolved, cells = [], []
    for name, attribute, values in zip(names, declared, combinations, strict=True):
        attribute, missing = asked.completed(attribute or _observed(name, values), values)
        resolved.append(attribute)
        cells.append(_codes(attribute, values, counts, missing))
        kept &= cells[-1] >= 0
    require_holdable(resolved)
    filled = np.zeros([len(attribute) for attribute in resolved], dtype=np.int64)
    np.add.at(filled, tuple(cell[kept] for cell in cells), counts[kept])
    label = known.name if known else opened.label
    left_out = int(counts[~kept].sum())
    return CountTable(tuple(resolved), filled, label, left_out, asked.remarks(resolved))


def _declared(
    name: str,
    opened: Table,
    domains: Mapping[str, Iterable[str | float] | str],
    known: Dataset | None,
) -> Attribute | None:
    """Return the attribute of a column, or None where its categories come from the data."""
    if name not in opened.names:
        raise InvalidInput(
            f"There is no column {name!r} in {known.name if known else opened.label} and no "
            f"derived attribute of that name; {nearest(name, opened.names)}."
        )
    domain = domains.get(name)
    if isinstance(domain, str) and domain == FROM_DATA:
        return None
    if isinstance(domain, str):
        raise InvalidInput(
            f"Expected the domain of {name!r} to be several categories or {FROM_DATA!r}."
        )
    if domain is not None:
        return Attribute(name, declared_categories(domain))
    if known is not None and name in known.categories:
        return Attribute(name, tuple(known.categories[name]), "registered")
    if known is not None and name in known.bounds:
        return Attribute(name, whole_number_categories(name, known.bounds[name]), "registered")
    raise InvalidInput(
        f"Column {name!r} has no declared domain; give all categories that a record can have "
        f"(--domain {name}=ONE,OTHER), or {FROM_DATA!r}, which is not private."
    )


def _counted(
    opened: Table,
    names: Sequence[str],
    derivations: Mapping[str, Derivation],
    codes: MissingCodes,
) -> tuple[list[AnyArray], IntArray]:
    """Return the combinations of categories that occur as texts, and their numbers of records."""
    keys: list[Key] = []
    for name in names:
        derivation = derivations.get(name)
        column = derivation.column if derivation else name
        position = position_of(opened.names, column, opened.label)
        keys.append(derivation.key(position) if derivation else Values(position, as_text=True))
    groups = opened.grouped(keys, codes=codes)
    combinations = []
    for name, key, values, unread in zip(names, keys, groups.keys, groups.unread, strict=True):
        if unread is None:
            combinations.append(trimmed_texts(values, codes))
            continue
        derived = _derived(derivations[name], values, trimmed_texts(unread, codes))
        outside = np.equal(derived, _OUTSIDE)
        if outside.any():
            numbers, _ = numbers_among(opened.tally(key.position)[0], codes)
            derived[outside] = f"{_OUTSIDE}: {_first_outside(derivations[name], numbers):g}"
        combinations.append(derived)
    return combinations, groups.counts


def _derived(derivation: Derivation, bins: AnyArray, unread: AnyArray) -> AnyArray:
    """Return the categories of bins, None for no value, and what does not fit as a sentence."""
    categories = [_OUTSIDE if category is None else category for category in derivation.categories]
    derived = np.array([None, *categories], dtype=object)[
        np.where(np.isnan(bins), 0, bins + 1).astype(np.int64)
    ]
    for number, text in enumerate(unread):
        if text is not None and text.lower() not in NO_NUMBER:
            derived[number] = f"no number: {text}"
    return derived


def _first_outside(derivation: Derivation, numbers: FloatArray) -> float:
    lower, upper = derivation.edges[0], derivation.edges[-1]
    return float(numbers[(numbers < lower) | (numbers > upper)].min())


def _observed(name: str, values: AnyArray) -> Attribute:
    present = {_plain(value) for value in values if value is not None}
    if not present:
        raise InvalidInput(f"Column {name!r} has no values at all.")
    return Attribute(name, tuple(sorted(present, key=_as_counted)), "from-data")


def _as_counted(text: str) -> tuple[float, str]:
    return float(text) if NUMBER.fullmatch(text) else math.inf, text


def _plain(value: str) -> str:
    """Return a whole number as digits only, any other text as it is.

    Examples
    --------
    >>> _plain("9007199254740993.00"), _plain("1.5"), _plain("1_0.0")
    ('9007199254740993', '1.5', '1_0.0')
    """
    whole = re.fullmatch(r"([+-]?[0-9]+)\.0*", value)
    return str(int(whole[1])) if whole else value


def _codes(attribute: Attribute, values: AnyArray, counts: IntArray, missing: int) -> IntArray:
    """Return the positions of values in the domain, `missing` for a missing value."""
    positions = {category: position for position, category in enumerate(attribute.categories)}
    known: dict[str | None, int] = {None: missing}
    unknown: dict[str, int] = {}
    for value in set(values.tolist()) - {None}:
        position = positions.get(value, positions.get(_plain(value)))
        if position is None:
            unknown[value] = int(counts[values == value].sum())
        else:
            known[value] = position
    if unknown:
        first = min(unknown)
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InvalidInput(
            f"Column {attribute.name!r} holds {_validate.shown(first)} "
            f"({show_records(unknown[first])}){more}, which is not among its "
            f"{len(attribute):,} declared categories; declare it, or name it as a missing value."
        )
    return np.array([known[value] for value in values.tolist()], dtype=np.int64)
