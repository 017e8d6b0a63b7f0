"""How well a released table serves: what a classifier learns, and what becomes of two groups."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from omit import _validate
from omit._numeric import FloatArray, as_array
from omit.disclosure.attributes import Attribute, chosen
from omit.disclosure.mechanism import (
    CellErrors,
    TableMechanism,
    require_mechanism,
    require_runs,
)
from omit.disclosure.table import CountTable, cell_values
from omit.disclosure.tasks import logistic_accuracy, regression_line, two_way
from omit.errors import InvalidInput


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
    mechanism: TableMechanism,
    table: CountTable,
    target: str,
    rng: np.random.Generator,
    runs: int,
    errors: CellErrors | None = None,
) -> Accuracy:
    """Return how well a classifier that learns from releases predicts the original records."""
    from scipy.special import stdtrit

    runs = require_runs(table, runs)
    always_the_same = not (errors or require_mechanism(mechanism).errors(table)).variance.any()
    scores = [
        logistic_accuracy(table, draw, target)
        for block in mechanism.study_in_blocks(table, rng, 1 if always_the_same else runs)
        for draw in block
    ]
    value, margin = float(np.mean(scores)), 0.0 if always_the_same else math.inf
    if len(scores) > 1:
        deviation = float(np.std(scores, ddof=1))
        margin = float(stdtrit(len(scores) - 1, 0.975)) * deviation / math.sqrt(len(scores))
    return Accuracy(value, max(0.0, value - margin), min(100.0, value + margin), len(scores))


def constant_accuracy(table: CountTable, target: str) -> float:
    """Return the share of records in the commonest category, in %: what a constant guess gets.

    Examples
    --------
    >>> from omit.disclosure.tabulate import tabulate
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
    """A two-way marginal of one group: its change by a mechanism, and both regression lines.

    Parameters
    ----------
    mechanism, group : str
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

    mechanism: str
    group: str
    x: Axis
    y: Axis
    change: FloatArray
    true_line: tuple[float, float]
    line: tuple[float, float]
    error: float


def group_maps(
    mechanism: TableMechanism,
    table: CountTable,
    x: str,
    y: str,
    groups: Mapping[str, dict[str, str]],
    *,
    mean: FloatArray | None = None,
    errors: CellErrors | None = None,
) -> list[GroupMap]:
    """Return what a mechanism does to a two-way marginal of each group.

    Parameters
    ----------
    mechanism, table
        What protects what.
    x, y : str
        The attributes of the marginal.
    groups : mapping
        By name, the categories that make a group, such as ``{"men": {"sex": "M"}}``.
    mean : array, optional
        The mean of releases; by default the exact expectation.
    errors : CellErrors, optional
        The errors of the mechanism on the table, if they are known already.
    """
    errors = errors or require_mechanism(mechanism).errors(table)
    if not isinstance(groups, Mapping):
        raise InvalidInput(f"Expected groups by name, got {_validate.shown(groups)}.")
    truth = as_array(table.flat)
    mean = truth + errors.bias if mean is None else cell_values(table, mean)
    first, second = (
        axis_of(table.attributes[place]) for place in chosen(table.attributes, [x, y], "attribute")
    )
    found = []
    for name, where in groups.items():
        true, released, absolute = (
            two_way(table, counts, x, y, where) for counts in (truth, mean, errors.absolute)
        )
        found.append(
            GroupMap(
                mechanism.key,
                name,
                first,
                second,
                released - true,
                regression_line(true, first.numbers, second.numbers),
                regression_line(released, first.numbers, second.numbers),
                float(100 * absolute.sum() / true.sum()),
            )
        )
    return found


def largest_groups(table: CountTable, attribute: str, count: int = 2) -> dict[str, dict[str, str]]:
    """Return the categories of an attribute with the most records, as groups by name.

    Examples
    --------
    >>> from omit.disclosure.tabulate import tabulate
    >>> list(largest_groups(tabulate("adult", ["race", "sex"]), "race"))
    ['race = White', 'race = Black']
    """
    _validate.instance("table", table, CountTable, "made by tabulate")
    count = _validate.positive_integer("count", count)
    (place,) = chosen(table.attributes, [attribute], "group")
    sizes = table.marginal([attribute])
    order = np.argsort(-sizes, kind="stable")[:count]
    names = [table.attributes[place].categories[each] for each in order if sizes[each] > 0]
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
