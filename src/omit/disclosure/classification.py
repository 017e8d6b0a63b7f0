"""What a release teaches: a logistic regression that learns from it is scored on the data.

The regression has one indicator for every category of the other attributes but the first, half the
squared length of their weights as a penalty, and a free intercept, which are the defaults of
scikit-learn. Records with equal attributes are one row with two counts, and Newton's method takes a
handful of steps, so a fit costs less than a millisecond on a table of a thousand cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from omit._numeric import FloatArray, as_array
from omit.disclosure.protection import CellErrors, Protection, require_protection, require_runs
from omit.disclosure.table import CountTable, cell_values, chosen, require_table
from omit.errors import InvalidInput
from omit.laws.intervals import student_interval

_MOST_STEPS = 100
_FLAT = 1e-10  # a squared step, measured by the curvature, after which nothing changes any more


@dataclass(frozen=True, eq=False)
class Classification:
    """The task to predict an attribute with two categories from all others. Made by `of`.

    Parameters
    ----------
    features : array
        A row for every combination of the other attributes, a column for every indicator, and one
        of ones.
    truth : array
        The records with each combination, by the two categories.
    position : int
        The position of the target among the attributes.
    shape : tuple of int
        The shape of the table.
    """

    features: FloatArray
    truth: FloatArray
    position: int
    shape: tuple[int, ...]

    @classmethod
    def of(cls, table: CountTable, target: str) -> Classification:
        """Return the task, or refuse a target that has not two categories."""
        require_table(table)
        (position,) = chosen(table.attributes, [target], "target")
        if len(table.attributes[position]) != 2:
            raise InvalidInput(f"Expected the target {target!r} to have two categories.")
        if len(table.attributes) < 2:
            raise InvalidInput("Expected an attribute to predict the target from.")
        sizes = [size for other, size in enumerate(table.shape) if other != position]
        codes = np.indices(sizes).reshape(len(sizes), -1)
        columns = [
            code == category
            for code, size in zip(codes, sizes, strict=True)
            for category in range(1, size)
        ]
        features = as_array(np.stack([*columns, np.ones(codes.shape[1])], axis=1))
        task = cls(features, np.empty(0), position, table.shape)
        truth = task._by_category(as_array(table.flat))
        return cls(features, truth, position, table.shape)

    def _by_category(self, counts: FloatArray) -> FloatArray:
        """Return counts with a row per combination and a column per category of the target."""
        return np.moveaxis(counts.reshape(self.shape), self.position, -1).reshape(-1, 2)

    def accuracy(self, released: FloatArray) -> float:
        """Return the share of records, in %, that is predicted right by who learns from counts."""
        counts = self._by_category(np.maximum(0.0, released))
        shown = counts.sum(axis=0) > 0
        if shown.all():
            guess = (self.features @ logistic_weights(self.features, counts) > 0).astype(int)
        else:  # the release knows one category only, or none
            guess = np.full(len(counts), int(shown[1]))
        right = self.truth[np.arange(len(guess)), guess].sum()
        return float(100 * right / self.truth.sum())


def logistic_weights(features: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the weights of a logistic regression on rows with counts of both answers.

    Every weight but the last, the intercept's, is penalised by half its square.

    Examples
    --------
    >>> logistic_weights(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[3, 5], [5, 3]])).round(3)
    array([ 0.501, -0.251])
    """
    used = counts.sum(axis=1) > 0
    rows, answers = features[used], counts[used]
    total = answers.sum(axis=1)
    penalty = np.ones(rows.shape[1])
    penalty[-1] = 0.0
    weights = np.zeros(rows.shape[1])
    weights[-1] = np.log(answers[:, 1].sum() / answers[:, 0].sum())
    loss = _loss(rows @ weights, answers, weights, penalty)
    for _ in range(_MOST_STEPS):
        chance = 0.5 * (1 + np.tanh(0.5 * (rows @ weights)))
        slope = rows.T @ (total * chance - answers[:, 1]) + penalty * weights
        curvature = (rows * (total * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        if slope @ step < _FLAT:
            break
        length = 1.0
        while True:  # the loss is convex: a short enough step makes it smaller
            nearer = weights - length * step
            after = _loss(rows @ nearer, answers, nearer, penalty)
            if after <= loss or length < 1e-6:
                break
            length /= 2
        weights, loss = nearer, after
    return weights


def _loss(
    scores: FloatArray, answers: FloatArray, weights: FloatArray, penalty: FloatArray
) -> float:
    wrong = answers[:, 1] @ np.logaddexp(0, -scores) + answers[:, 0] @ np.logaddexp(0, scores)
    return float(wrong + 0.5 * (penalty * weights) @ weights)


def logistic_accuracy(table: CountTable, released: ArrayLike, target: str) -> float:
    """Return the share of the original records whose category is predicted right, in %.

    A logistic regression is fitted to the released table, with one indicator for every category of
    the other attributes, and scored on the original one. A target that has not two categories is
    refused.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> table = tabulate("adult", ["education", "sex", "income"])
    >>> round(logistic_accuracy(table, table.flat, "income"), 2)
    78.53
    """
    task = Classification.of(table, target)
    return task.accuracy(cell_values(table, released))


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

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """The interval, if several releases were learnt from."""
        return (self.low, self.high) if self.runs > 1 else (None, None)


def released_accuracy(
    protection: Protection,
    table: CountTable,
    target: str,
    rng: np.random.Generator,
    runs: int,
    errors: CellErrors | None = None,
) -> Accuracy:
    """Return how well a classifier that learns from releases predicts the original records."""
    runs, task = require_runs(table, runs), Classification.of(table, target)
    always_the_same = not (errors or require_protection(protection).errors(table)).variance.any()
    blocks = protection.simulate_in_blocks(table, rng, 1 if always_the_same else runs)
    scores = [task.accuracy(draw) for block in blocks for draw in block]
    if always_the_same:
        return Accuracy(scores[0], scores[0], scores[0], 1)
    mean = student_interval(np.array(scores)).within(0.0, 100.0)
    return Accuracy(mean.value, mean.low, mean.high, len(scores))


def constant_accuracy(table: CountTable, target: str) -> float:
    """Return the share of records in the commonest category, in %: what a constant guess gets.

    Examples
    --------
    >>> from omit.disclosure.tabulation import tabulate
    >>> round(constant_accuracy(tabulate("adult", ["sex", "income"]), "income"), 2)
    75.92
    """
    require_table(table)
    return float(100 * table.marginal([target]).max() / table.size)
