"""What people do with a released table: classify, tabulate two attributes, fit a line.

A released table stands for a data set in which every combination of categories occurs as often as
the release says, so a classifier is fitted to cells with weights and never to records.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit._text import import_extra
from omit.disclosure.protection import (
    CellErrors,
    Protection,
    require_protection,
    require_runs,
)
from omit.disclosure.table import Attribute, CountTable, cell_values, chosen
from omit.errors import InvalidInput
from omit.laws.intervals import student_interval


def logistic_accuracy(table: CountTable, released: ArrayLike, target: str) -> float:
    """Return the share of the original records whose category is predicted right, in %.

    A logistic regression is fitted to the released table, with one indicator for every category of
    the other attributes, and scored on the original one.

    Raises
    ------
    InvalidInput
        If the target has not two categories, or scikit-learn is not installed.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["education", "sex", "income"])
    >>> round(logistic_accuracy(table, table.flat, "income"), 2)
    78.62
    """
    regression = import_extra("sklearn.linear_model", "learn", "Classification")
    _validate.instance("table", table, CountTable, "made by tabulate")
    (position,) = chosen(table.attributes, [target], "target")
    if len(table.attributes[position]) != 2:
        raise InvalidInput(f"Expected the target {target!r} to have two categories.")
    if len(table.attributes) < 2:
        raise InvalidInput("Expected an attribute to predict the target from.")
    features, labels = _design(table, position)
    weights = np.maximum(0.0, cell_values(table, released))
    used = weights > 0
    truth = as_array(table.flat)
    shown = np.unique(labels[used])
    if len(shown) < 2:  # the release knows one category only, or none
        guess = shown[0] if len(shown) else 0
        return float(100 * truth[labels == guess].sum() / truth.sum())
    model = regression.LogisticRegression(max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stops early is still a fit
        model.fit(features[used], labels[used], sample_weight=weights[used])
    right = model.predict(features) == labels
    return float(100 * truth[right].sum() / truth.sum())


def _design(table: CountTable, target: int) -> tuple[FloatArray, IntArray]:
    codes = np.stack(np.unravel_index(np.arange(table.cells), table.shape), axis=1)
    columns = [
        (codes[:, position] == category).astype(float)
        for position, size in enumerate(table.shape)
        if position != target
        for category in range(1, size)
    ]
    return as_array(np.stack(columns, axis=1)), codes[:, target].astype(np.int64)


def two_way(
    table: CountTable, counts: ArrayLike, rows: str, columns: str, where: Mapping[str, str]
) -> FloatArray:
    """Return a two-way marginal of released counts within a group, such as white men.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["sex", "race", "income"])
    >>> two_way(table, table.flat, "sex", "income", {"race": "Black"})
    array([[1465.,   90.],
           [1272.,  297.]])
    """
    _validate.instance("table", table, CountTable, "made by tabulate")
    if not isinstance(where, Mapping):
        raise InvalidInput(
            f"Expected a group as categories by attribute, got {_validate.shown(where)}."
        )
    positions = chosen(table.attributes, [rows, columns, *where], "attribute")
    cube = cell_values(table, counts).reshape(table.shape)
    original = table.counts
    for name, category in where.items():
        (position,) = chosen(table.attributes, [name], "group's attribute")
        index = [table.attributes[position].position(category)]
        cube, original = cube.take(index, axis=position), original.take(index, axis=position)
    if original.sum() == 0:
        named = ", ".join(f"{name} = {category}" for name, category in where.items())
        raise InvalidInput(f"The group {named} is empty: it has no records.")
    dropped = tuple(
        position for position in range(len(table.shape)) if position not in positions[:2]
    )
    summed = cube.sum(axis=dropped)
    return as_array(summed if positions[0] < positions[1] else summed.T)


def regression_line(
    counts: ArrayLike, x: Sequence[float], y: Sequence[float]
) -> tuple[float, float]:
    """Return intercept and slope of y on x by least squares, for counts over a grid of x and y.

    Examples
    --------
    >>> regression_line(np.eye(3), [0, 1, 2], [1, 3, 5])
    (1.0, 2.0)
    """
    weights = np.maximum(0.0, as_array(counts))
    row, column = as_array(x).reshape(-1), as_array(y).reshape(-1)
    if weights.shape != (len(row), len(column)):
        raise InvalidInput(f"Expected a count for each of {len(row)} x {len(column)} pairs.")
    total = weights.sum()
    xs, ys = row[:, None], column[None, :]
    if total == 0:
        return float("nan"), float("nan")
    mean_x, mean_y = (weights * xs).sum() / total, (weights * ys).sum() / total
    spread = (weights * (xs - mean_x) ** 2).sum()
    if spread == 0:
        return float(mean_y), 0.0
    slope = (weights * (xs - mean_x) * (ys - mean_y)).sum() / spread
    return float(mean_y - slope * mean_x), float(slope)


@dataclass(frozen=True)
class Accuracy:
    """The share of records that are classified right, in %: the mean over releases.

    Parameters
    ----------
    value : float
        The mean.
    low, high : float
        Student's 95 % interval of the mean; of a release that is always the same, the mean itself.
    runs : int
        How many releases were learnt from.
    """

    value: float
    low: float
    high: float
    runs: int


def released_accuracy(
    protection: Protection,
    table: CountTable,
    target: str,
    rng: np.random.Generator,
    runs: int,
    errors: CellErrors | None = None,
) -> Accuracy:
    """Return how well a classifier that learns from releases predicts the original records."""
    runs = require_runs(table, runs)
    always_the_same = not (errors or require_protection(protection).errors(table)).variance.any()
    scores = [
        logistic_accuracy(table, draw, target)
        for block in protection.simulate_in_blocks(table, rng, 1 if always_the_same else runs)
        for draw in block
    ]
    if always_the_same:
        return Accuracy(scores[0], scores[0], scores[0], 1)
    found = student_interval(np.array(scores)).within(0.0, 100.0)
    return Accuracy(found.value, found.low, found.high, len(scores))


def constant_accuracy(table: CountTable, target: str) -> float:
    """Return the share of records in the commonest category, in %: what a constant guess gets.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> round(constant_accuracy(tabulate("adult", ["sex", "income"]), "income"), 2)
    75.92
    """
    _validate.instance("table", table, CountTable, "made by tabulate")
    return float(100 * table.marginal([target]).max() / table.size)


@dataclass(frozen=True)
class Axis:
    """An attribute whose categories are numbers: their own, or 1, 2, 3 and so on.

    Made by `axis_of`.
    """

    name: str
    categories: tuple[str, ...]
    numbers: tuple[float, ...]
    ranked: bool


def axis_of(attribute: Attribute) -> Axis:
    """Return an attribute with its categories as numbers, if they are so at equal distances.

    Examples
    --------
    >>> axis_of(Attribute("decile", ("0", "1", "2"))).numbers
    (0.0, 1.0, 2.0)
    >>> axis_of(Attribute("size", ("small", "large"))).numbers
    (1.0, 2.0)
    """
    _validate.instance("attribute", attribute, Attribute)
    ranks = tuple(float(rank) for rank in range(1, len(attribute) + 1))
    try:
        numbers = tuple(float(each) for each in attribute.categories)
    except ValueError:
        numbers = ranks
    steps = np.diff(numbers)
    even = len(steps) == 0 or (steps[0] > 0 and np.allclose(steps, steps[0]))
    used = numbers if even else ranks
    return Axis(attribute.name, attribute.categories, used, used is ranks)


@dataclass(frozen=True, eq=False)
class GroupMap:
    """A two-way marginal of one group: its change by a protection, and both regression lines.

    Parameters
    ----------
    protection, group : str
        Whose release, and whose records.
    x, y : Axis
        The attributes; the lines are of y on x.
    change : array
        The mean released count less the true one, by categories of x and y.
    true_line, line : tuple of float
        Intercept and slope in the data, and for the mean release.
    error : float
        The expected absolute error of the group's cells, for every 100 of its records.
    """

    protection: str
    group: str
    x: Axis
    y: Axis
    change: FloatArray
    true_line: tuple[float, float]
    line: tuple[float, float]
    error: float


def group_maps(
    protection: Protection,
    table: CountTable,
    x: str,
    y: str,
    groups: Mapping[str, dict[str, str]],
    *,
    mean: FloatArray | None = None,
    errors: CellErrors | None = None,
) -> list[GroupMap]:
    """Return what a protection does to a two-way marginal of each group.

    Parameters
    ----------
    protection, table
        What protects what.
    x, y : str
        The attributes of the marginal.
    groups : mapping
        By name, the categories that make a group, such as ``{"men": {"sex": "M"}}``.
    mean : array, optional
        The mean of releases; by default the exact expectation.
    errors : CellErrors, optional
        The errors of the protection on the table, if they are known already.
    """
    errors = errors or require_protection(protection).errors(table)
    if not isinstance(groups, Mapping):
        raise InvalidInput(f"Expected groups by name, got {_validate.shown(groups)}.")
    truth = as_array(table.flat)
    mean = truth + errors.bias if mean is None else cell_values(table, mean)
    first, second = (
        axis_of(table.attributes[position])
        for position in chosen(table.attributes, [x, y], "attribute")
    )
    maps = []
    for name, where in groups.items():
        true, released, absolute = (
            two_way(table, counts, x, y, where) for counts in (truth, mean, errors.absolute)
        )
        maps.append(
            GroupMap(
                protection.key,
                name,
                first,
                second,
                released - true,
                regression_line(true, first.numbers, second.numbers),
                regression_line(released, first.numbers, second.numbers),
                float(100 * absolute.sum() / true.sum()),
            )
        )
    return maps


def largest_groups(table: CountTable, attribute: str, count: int = 2) -> dict[str, dict[str, str]]:
    """Return the categories of an attribute with the most records, as groups by name.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> list(largest_groups(tabulate("adult", ["race", "sex"]), "race"))
    ['race = White', 'race = Black']
    """
    _validate.instance("table", table, CountTable, "made by tabulate")
    count = _validate.positive_integer("count", count)
    (position,) = chosen(table.attributes, [attribute], "group")
    sizes = table.marginal([attribute])
    order = np.argsort(-sizes, kind="stable")[:count]
    names = [table.attributes[position].categories[each] for each in order if sizes[each] > 0]
    return {f"{attribute} = {name}": {attribute: name} for name in names}


def parse_groups(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return groups from texts such as ``race=White,sex=Male``.

    Raises
    ------
    InvalidInput
        If a text does not have that form, or a group is given twice.

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
        name = ", ".join(f"{each} = {category}" for each, category in where.items())
        if name in groups:
            raise InvalidInput(f"The group {text!r} is given twice.")
        groups[name] = where
    return groups
