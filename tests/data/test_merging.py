"""Parts of data add up to the whole, if the same is declared about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from omit import Column, InvalidInput, Points, read
from omit.disclosure import CountTable, tabulate

AGES = [39, 25, None, 39, 130, 61.4, 25]


def column(values: Any, **declared: Any) -> Column:
    return Column.from_values(values, **{"bounds": (0, 125), "name": "age", **declared})


@pytest.mark.parametrize("step", [None, 1])
@pytest.mark.parametrize("cut", range(1, 6))
def test_columns_of_parts_add_up_to_the_column_of_all(cut: int, step: float | None) -> None:
    whole = column(AGES, step=step)
    parts = [column(AGES[:cut], step=step), column(AGES[cut:], step=step)]
    assert parts[0] + parts[1] == sum(parts) == whole
    assert (parts[0] + parts[1]).notes == whole.notes
    assert sum(parts).before_clamping == whole.before_clamping  # type: ignore[union-attr]


def test_columns_of_text_add_up() -> None:
    first = Column.from_values(["a", "b"], categories=("a", "b", "c"))
    second = Column.from_values(["c", "b", None], categories=("a", "b", "c"))
    both = first + second
    assert (both.values.tolist(), both.counts.tolist(), both.missing) == (
        ["a", "b", "c"],
        [1, 2, 1],
        1,
    )


@pytest.mark.parametrize(
    ("declared", "named"),
    [
        ({"bounds": (0, 126)}, "same bounds"),
        ({"name": "years"}, "same name"),
        ({"step": 1}, "same step"),
        ({"bounds": None, "categories": ("25", "39")}, "same bounds"),
        ({"bounds": "from-data"}, "same bounds"),
    ],
)
def test_columns_with_different_declarations_are_refused(
    declared: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidInput, match=f"Expected columns that add up to have the {named}"):
        column([25, 39]) + column([25, 39], **declared)


def test_what_was_not_private_in_a_part_is_not_in_the_sum() -> None:
    guessed = column([0, 125], bounds="from-data")
    assert (column([3]) + guessed).bounds_source == "from-data"
    assert (guessed + column([3])).bounds_source == "from-data"
    registered = read("adult", "age")
    mine = Column.from_values([3], (0, 125), name="age", step=1)
    assert (registered + mine).bounds_source == "declared"
    assert (registered + mine).source == "adult; values in memory"
    assert (registered + registered).size == 2 * registered.size


def test_points_of_parts_add_up_to_the_points_of_all() -> None:
    rows = np.array([[1, 2], [3, 40], [5, np.nan], [7, 8]])
    whole = Points.from_rows(rows, bounds=(0, 9))
    parts = [Points.from_rows(rows[:2], bounds=(0, 9)), Points.from_rows(rows[2:], bounds=(0, 9))]
    both = sum(parts)
    assert isinstance(both, Points)
    assert both.rows.tolist() == whole.rows.tolist()
    assert both.notes == whole.notes
    with pytest.raises(InvalidInput, match="points that add up to have the same bounds"):
        parts[0] + Points.from_rows(rows, bounds=(0, 10))


def test_tables_of_parts_add_up_to_the_table_of_all() -> None:
    records = [["F", 1], ["M", 2], ["F", 2], [None, 1]]
    domains: dict[str, Any] = {"x1": ["F", "M"], "x2": [1, 2]}
    whole, *parts = (
        tabulate(rows, ["x1", "x2"], domains=domains)
        for rows in (records, records[:2], records[2:])
    )
    both = sum(parts)
    assert isinstance(both, CountTable)
    assert (both.counts.tolist(), both.left_out) == (whole.counts.tolist(), whole.left_out)
    other = tabulate(records, ["x1", "x2"], domains={**domains, "x2": [1, 2, 3]})
    with pytest.raises(InvalidInput, match="same categories of 'x2'"):
        whole + other
    with pytest.raises(InvalidInput, match="same attributes"):
        whole + tabulate(records, ["x1"], domains=domains)


def test_other_things_do_not_add_up() -> None:
    several: list[Any] = [column([3]), Points.from_rows([[1]], bounds=(0, 9))]
    for data in several:
        with pytest.raises(TypeError):
            data + 1
        with pytest.raises(TypeError):
            1 + data
