"""What people do with a released table: classify, tabulate two attributes, fit a line.

A released table stands for a data set in which every combination of categories occurs as often as
the release says, so a classifier is fitted to cells with weights and never to records.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from omit import _validate
from omit._numeric import FloatArray, IntArray, as_array
from omit.disclosure.attributes import chosen
from omit.disclosure.table import CountTable, cell_values
from omit.errors import InvalidInput


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
    >>> from omit.disclosure.tabulate import tabulate
    >>> table = tabulate("adult", ["education", "sex", "income"])
    >>> round(logistic_accuracy(table, table.flat, "income"), 2)
    78.62
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:  # pragma: no cover
        raise InvalidInput(
            "Classification needs scikit-learn: pip install 'omit[learn]'."
        ) from error

    _validate.instance("table", table, CountTable, "made by tabulate")
    (place,) = chosen(table.attributes, [target], "target")
    if len(table.attributes[place]) != 2:
        raise InvalidInput(f"Expected the target {target!r} to have two categories.")
    if len(table.attributes) < 2:
        raise InvalidInput("Expected an attribute to predict the target from.")
    features, labels = _design(table, place)
    weights = np.maximum(0.0, cell_values(table, released))
    used = weights > 0
    truth = as_array(table.flat)
    shown = np.unique(labels[used])
    if len(shown) < 2:  # the release knows one category only, or none
        guess = shown[0] if len(shown) else 0
        return float(100 * truth[labels == guess].sum() / truth.sum())
    model = LogisticRegression(max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stops early is still a fit
        model.fit(features[used], labels[used], sample_weight=weights[used])
    right = model.predict(features) == labels
    return float(100 * truth[right].sum() / truth.sum())


def _design(table: CountTable, target: int) -> tuple[FloatArray, IntArray]:
    codes = np.stack(np.unravel_index(np.arange(table.cells), table.shape), axis=1)
    columns = [
        (codes[:, place] == category).astype(float)
        for place, size in enumerate(table.shape)
        if place != target
        for category in range(1, size)
    ]
    return as_array(np.stack(columns, axis=1)), codes[:, target].astype(np.int64)


def two_way(
    table: CountTable, counts: ArrayLike, rows: str, columns: str, where: Mapping[str, str]
) -> FloatArray:
    """Return a two-way marginal of released counts within a group, such as white men.

    Examples
    --------
    >>> from omit.disclosure.tabulate import tabulate
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
    places = chosen(table.attributes, [rows, columns, *where], "attribute")
    cube = cell_values(table, counts).reshape(table.shape)
    original = table.counts
    for name, category in where.items():
        (place,) = chosen(table.attributes, [name], "group's attribute")
        index = [table.attributes[place].place(category)]
        cube, original = cube.take(index, axis=place), original.take(index, axis=place)
    if original.sum() == 0:
        named = ", ".join(f"{name} = {category}" for name, category in where.items())
        raise InvalidInput(f"The group {named} is empty: it has no records.")
    dropped = tuple(place for place in range(len(table.shape)) if place not in places[:2])
    summed = cube.sum(axis=dropped)
    return as_array(summed if places[0] < places[1] else summed.T)


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
