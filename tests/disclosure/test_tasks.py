"""What people do with a table: classify, tabulate two attributes, fit a line."""

from __future__ import annotations

import numpy as np
import pytest

from omit.disclosure.measures import logistic_accuracy, regression_line
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
