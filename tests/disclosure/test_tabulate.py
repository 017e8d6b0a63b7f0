"""From records to tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit.disclosure.attributes import MISSING, Attribute, parse_derivation, parse_domains
from omit.disclosure.table import CountTable, Universe
from omit.disclosure.tabulate import tabulate
from omit.errors import InvalidInput

PEOPLE = "sex,town,age,income\nF,A,10,100\nM,A,20,60000\nF,B,99,N\nF,A,100,50000\nM,B,0,49999.5\n"
DOMAINS = {"sex": ["F", "M"], "town": ["A", "B", "C"]}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_all_cells_are_there_also_the_empty_ones(people: Path) -> None:
    table = tabulate(people, ["sex", "town"], domains=DOMAINS)
    assert table.counts.tolist() == [[2, 1, 0], [1, 1, 0]]
    assert tabulate(people, ["town", "sex"], domains=DOMAINS).counts.tolist() == [
        [2, 1],
        [1, 1],
        [0, 0],
    ]


def test_every_source_gives_the_same_table(people: Path, tmp_path: Path) -> None:
    expected = tabulate(people, ["sex", "town"], domains=DOMAINS).counts
    frame = pd.read_csv(people)
    parquet = tmp_path / "people.parquet"
    duckdb.from_df(frame).write_parquet(str(parquet))
    for source in (frame, parquet, duckdb.from_df(frame)):
        assert (tabulate(source, ["sex", "town"], domains=DOMAINS).counts == expected).all()


def test_derived_attributes_compare_and_bin(people: Path) -> None:
    table = tabulate(
        people,
        ["rich", "age5"],
        derive=["rich = income >= 50000", "age5 = bins(age, 0, 100, 5)"],
        missing_values=["N"],
    )
    assert table.left_out == 1
    assert "1 record without a value" in table.notes[0]
    assert table.counts.tolist() == [[2, 0, 0, 0, 0], [0, 1, 0, 0, 1]]


def test_missing_values_can_be_a_category(people: Path) -> None:
    table = tabulate(
        people, ["rich"], derive=["rich=income>=50000"], missing="category", missing_values=["N"]
    )
    assert table.attributes[0].categories == ("no", "yes", MISSING)
    assert table.counts.tolist() == [2, 2, 1]


def test_numbers_match_categories_whatever_their_type() -> None:
    frame = pd.DataFrame({"code": [1.0, 2.0, None, 2.0]})
    assert tabulate(frame, ["code"], domains={"code": ["1", "2", "3"]}).counts.tolist() == [1, 2, 0]


def test_categories_from_the_data_are_marked_as_not_private(people: Path) -> None:
    table = tabulate(people, ["age"], domains={"age": "from-data"})
    assert table.attributes[0].categories == ("0", "10", "20", "99", "100")
    assert any("NOT private" in note for note in table.notes)


def test_the_bundled_data_have_registered_domains() -> None:
    table = tabulate("adult", ["race", "sex", "occupation"])
    assert table.shape == (5, 2, 14)
    assert table.left_out == 1843


@pytest.mark.parametrize(
    ("attributes", "options", "message"),
    [
        (["sex", "twon"], {}, "no column 'twon'"),
        (["sex"], {"domains": {}}, "no declared domain"),
        (
            ["sex"],
            {"domains": {"sex": ["F"]}},
            "holds 'M' \\(2 records\\), which is not among its 1",
        ),
        (["sex"], {"domains": {"sex": ["F", "F", "M"]}}, "distinct"),
        (["sex"], {"domains": {"sexx": ["F"]}}, "no column 'sexx'"),
        (["sex"], {"domains": {"sex": "F"}}, "several categories"),
        (["rich"], {"derive": ["rich = income > x"]}, "derived attribute"),
        (["rich"], {"derive": ["rich = income >= 50000"]}, "no number: N"),
        (["rich"], {"derive": ["rich = wage >= 50000"]}, "no column 'wage'"),
        (["a"], {"derive": ["a = bins(age, 0, 50, 5)"]}, "outside the bins"),
        (["a"], {"derive": ["a = bins(age, 9, 5, 5)"]}, "lower < upper"),
        (["a"], {"derive": ["a = bins(age, 0, 100, 0)"]}, "number of bins"),
        (["a"], {"derive": ["a = bins(age, 0, 100, 1e9)"]}, "at most 1,000 bins"),
        (["a"], {"derive": ["a = bins(age, 1e16, 10000000000000002, 9)"]}, "too narrow"),
        (["a"], {"derive": ["a = age >= 5", "a = age >= 9"]}, "one derivation of 'a', got two"),
        (["sex"], {"derive": ["sex = age >= 5"]}, "There is a column 'sex'"),
        (["sex"], {"missing": "ignore"}, "drop or category"),
        ([], {}, "at least one attribute"),
        (["sex", "sex"], {}, "distinct attributes"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(
    people: Path, attributes: list[str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        tabulate(people, attributes, **{"domains": DOMAINS, **options})  # type: ignore[arg-type]


def test_bins_that_six_digits_do_not_tell_apart_have_more() -> None:
    narrow = parse_derivation("x = bins(weight, 1000000, 1000010, 10)").attribute.categories
    assert (narrow[0], narrow[-1]) == ("[1000000, 1000001)", "[1000009, 1000010]")
    thirds = parse_derivation("x = bins(share, 0, 1, 3)").attribute.categories
    assert thirds == ("[0, 0.333333)", "[0.333333, 0.666667)", "[0.666667, 1]")


def test_a_column_has_one_domain() -> None:
    assert parse_domains(["a=x,y", "b=from-data"]) == {"a": ["x", "y"], "b": "from-data"}
    with pytest.raises(InvalidInput, match="one domain for the column 'a', got two"):
        parse_domains(["a=x", "a=x,y"])


def test_a_table_that_is_too_large_says_how_large() -> None:
    wide = [Attribute(name, tuple(map(str, range(1000)))) for name in "abc"]
    with pytest.raises(InvalidInput, match="1,000 x 1,000 x 1,000 = 1,000,000,000 cells"):
        CountTable(tuple(wide), np.zeros(1, dtype=np.int64))


def test_counts_must_fit_and_there_must_be_records() -> None:
    sex = Attribute("sex", ("F", "M"))
    with pytest.raises(InvalidInput, match="Expected 2 counts"):
        CountTable((sex,), np.array([1, 2, 3]))
    with pytest.raises(InvalidInput, match="no records"):
        CountTable((sex,), np.array([0, 0]))
    with pytest.raises(InvalidInput, match="whole numbers"):
        CountTable((sex,), np.array([-1, 2]))
    with pytest.raises(InvalidInput, match="leave room"):
        Universe((sex,), records=10, largest_count=4)


def test_a_declared_largest_count_must_cover_the_table() -> None:
    table = CountTable((Attribute("sex", ("F", "M")),), np.array([3, 8]))
    assert table.universe(9).largest_count == 9
    assert table.universe().largest_count == 11, "the number of records, not the largest count"
    with pytest.raises(InvalidInput, match="above the declared largest_count=7"):
        table.universe(7)


def test_an_empty_group_is_refused() -> None:
    table = CountTable((Attribute("sex", ("F", "M")),), np.array([3, 0]))
    with pytest.raises(InvalidInput, match="sex = M is empty"):
        table.group("sex", "M")
    with pytest.raises(InvalidInput, match="no category 'X'"):
        table.group("sex", "X")


def test_records_and_counts_say_the_same() -> None:
    table = tabulate("adult", ["race", "sex"])
    again = np.zeros(table.shape, dtype=np.int64)
    np.add.at(again, tuple(table.records().T), 1)
    assert (again == table.counts).all()


def test_a_comparison_has_six_forms() -> None:
    for sign in (">=", "<=", "==", "!=", ">", "<"):
        assert parse_derivation(f"rich = income {sign} 5").comparison == sign
