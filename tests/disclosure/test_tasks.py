"""What people do with a table: classify, tabulate two attributes, fit a line."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from omit.disclosure.classification import logistic_accuracy, logistic_weights
from omit.disclosure.measures import regression_line
from omit.disclosure.table import Attribute, CountTable, two_way
from omit.disclosure.tabulation import tabulate
from omit.errors import InvalidInput

SEX, TOWN = Attribute("sex", ("F", "M")), Attribute("town", ("A", "B", "C"))


def test_classification_finds_a_dependence_and_survives_an_empty_release() -> None:
    table = CountTable((TOWN, Attribute("rich", ("no", "yes"))), np.array([9, 1, 5, 5, 0, 10]))
    assert logistic_accuracy(table, table.flat, "rich") == pytest.approx(100 * 24 / 30)
    assert logistic_accuracy(table, np.zeros(6), "rich") == pytest.approx(100 * 14 / 30)
    with pytest.raises(InvalidInput, match="two categories"):
        logistic_accuracy(table, table.flat, "town")
    with pytest.raises(InvalidInput, match="attribute to predict"):
        logistic_accuracy(CountTable((SEX,), np.array([1, 2])), np.array([1, 2]), "sex")


@pytest.mark.parametrize("seed", range(5))
def test_the_weights_are_those_of_scikit_learns_regression(seed: int) -> None:
    """Counts with empty rows, rows of one answer and a thousandfold range."""
    rng = np.random.default_rng(seed)
    indicators = rng.integers(0, 2, (40, 6)).astype(float)
    features = np.column_stack([indicators, np.ones(40)])
    counts = np.round(rng.exponential(1, (40, 2)) ** 4, 2) * rng.integers(0, 2, (40, 2))
    weights = logistic_weights(features, counts)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000)
    answers = np.repeat([0, 1], 40)
    model.fit(np.tile(indicators, (2, 1)), answers, sample_weight=counts.T.reshape(-1))
    expected = np.append(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_two_way_margins_and_lines() -> None:
    table = tabulate("adult", ["sex", "race", "income"])
    made = two_way(table, table.flat, "income", "sex", {"race": "White"})
    assert (made == two_way(table, table.flat, "sex", "income", {"race": "White"}).T).all()
    empty = CountTable((SEX, TOWN, Attribute("x", ("0", "1"))), np.array([1] * 6 + [0] * 6))
    with pytest.raises(InvalidInput, match="sex = M is empty"):
        two_way(empty, empty.flat, "town", "x", {"sex": "M"})
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, (4, 3))
    x = np.repeat(np.repeat(np.arange(4), 3), counts.reshape(-1))
    y = np.repeat(np.tile(np.arange(3), 4), counts.reshape(-1))
    slope, intercept = np.polyfit(x, y, 1)
    assert regression_line(counts, range(4), range(3)) == pytest.approx((intercept, slope))
