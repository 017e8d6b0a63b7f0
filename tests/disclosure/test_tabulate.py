"""From records to tables."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from omit.data.databases import relation_table
from omit.data.reading import read
from omit.data.values import record_numbers
from omit.disclosure.table import Attribute, CountTable, Universe
from omit.disclosure.tabulation import MISSING, parse_derivation, parse_domains, tabulate
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
        missing=["N"],
    )
    assert table.left_out == 1
    assert "1 record without a value" in table.notes[0]
    assert table.counts.tolist() == [[2, 0, 0, 0, 0], [0, 1, 0, 0, 1]]


def test_missing_values_can_be_a_category(people: Path) -> None:
    table = tabulate(
        people, ["rich"], derive=["rich=income>=50000"], without_value="category", missing=["N"]
    )
    assert table.attributes[0].categories == ("no", "yes", MISSING)
    assert table.counts.tolist() == [2, 2, 1]


@pytest.mark.parametrize("without_value", ["drop", "category"])
def test_missing_values_can_count_as_one_of_the_categories(
    people: Path, without_value: Any
) -> None:
    options: dict[str, Any] = {"derive": ["rich=income>=50000"], "missing": ["N"]}
    own = tabulate(people, ["rich"], without_value="category", **options)
    for position, category in enumerate(("no", "yes")):
        table = tabulate(
            people, ["rich"], without_value=without_value, missing_as={"rich": category}, **options
        )
        expected = own.counts[:2].copy()
        expected[position] += own.counts[2]
        assert table.counts.tolist() == expected.tolist()
        assert table.left_out == 0
        assert table.notes == (f"Records without a value of rich count as {category!r}.",)


def test_an_attribute_whose_missing_values_have_no_category_keeps_its_rule() -> None:
    frame = pd.DataFrame({"a": ["x", None, "y"], "b": ["u", "u", None]})
    domains = {"a": ["x", "y"], "b": ["u"]}
    dropped = tabulate(frame, ["a", "b"], domains=domains, missing_as={"a": "y"})
    assert (dropped.counts.tolist(), dropped.left_out) == ([[1], [1]], 1)
    kept = tabulate(
        frame, ["a", "b"], domains=domains, missing_as={"a": "y"}, without_value="category"
    )
    assert kept.counts.tolist() == [[1, 0], [1, 1]]
    assert [len(note) > 0 for note in kept.notes] == [True, True]


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
        (["a"], {"derive": ["a = bins(age, 9e15, 9000000000000002, 9)"]}, "too narrow"),
        (["a"], {"derive": ["a = age >= 5", "a = age >= 9"]}, "one derivation of 'a', got two"),
        (["sex"], {"derive": ["sex = age >= 5"]}, "There is a column 'sex'"),
        (["sex"], {"without_value": "ignore"}, "one of: drop, category"),
        (["sex"], {"missing_as": {"age": "F"}}, "'age' are counted .* not an attribute"),
        (["sex"], {"missing_as": {"sex": "X"}}, "has no category 'X'"),
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


@pytest.mark.parametrize("text", ["nan", "NaN", "NA", " null ", "n/a", "", "  "])
def test_a_text_that_says_there_is_no_number_is_a_missing_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"age,sex\n{text},F\n40,F\n20,F\n")
    table = tabulate(path, ["old"], derive=["old = age >= 30"])
    assert (table.counts.tolist(), table.left_out) == ([1, 1], 1)
    assert read(path, "age", bounds=(0, 99)).missing == 1


@pytest.mark.parametrize(
    "text",
    ["inf", "-Infinity", "1_000", "0x1F", "1e999", "\u0661\u0662", "12 years", "1,5", "-nan"],
)
def test_what_read_does_not_take_for_a_number_derives_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f'age\n"{text}"\n40\n', encoding="utf-8")
    for line in ("old = age >= 30", "old = bins(age, 0, 100, 5)"):
        with pytest.raises(InvalidInput, match="no number"):
            tabulate(path, ["old"], derive=[line])
    with pytest.raises(InvalidInput):
        read(path, "age", bounds=(0, 99))


def test_infinite_and_missing_floats_derive_nothing() -> None:
    frame = pd.DataFrame({"age": [40.0, 20.0, np.nan]})
    table = tabulate(frame, ["old"], derive=["old = age >= 30"])
    assert (table.counts.tolist(), table.left_out) == ([1, 1], 1)
    frame.loc[0, "age"] = np.inf
    with pytest.raises(InvalidInput, match="no number: inf"):
        tabulate(frame, ["old"], derive=["old = age >= 30"])


@pytest.mark.parametrize("text", ["7", "+7", "7.", ".7e1", "700e-2", " 7 ", "\t7", "007"])
def test_a_number_may_be_written_in_many_ways(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"age\n{text}\n")
    assert tabulate(path, ["a"], derive=["a = age == 7"]).counts.tolist() == [0, 1]
    assert read(path, "age", bounds=(0, 99)).values.tolist() == [7]


def test_whole_numbers_beyond_2_to_53_stay_apart(tmp_path: Path) -> None:
    big = 2**53
    frame = pd.DataFrame({"id": [big, big + 1, big + 1]})
    path = tmp_path / "x.parquet"
    duckdb.from_df(frame).write_parquet(str(path))
    csv = tmp_path / "x.csv"
    frame.to_csv(csv, index=False)
    for source in (
        frame,
        path,
        csv,
        duckdb.sql(f"SELECT CAST(id AS DECIMAL(38, 3)) AS id FROM '{path}'"),
    ):
        domains: tuple[Any, ...] = ([big, big + 1], [str(big), str(big + 1)], "from-data")
        for domain in domains:
            table = tabulate(source, ["id"], domains={"id": domain})
            assert table.attributes[0].categories == (str(big), str(big + 1))
            assert table.counts.tolist() == [1, 2]


def test_columns_that_differ_only_in_case_or_not_at_all(tmp_path: Path) -> None:
    relation = duckdb.sql("SELECT 'a' AS x, 'b' AS X")
    frame = pd.DataFrame([["a", "b"]], columns=["x", "X"])
    for source in (relation, frame):
        table = tabulate(source, ["X", "x"], domains={"x": ["a", "b"], "X": ["a", "b"]})
        assert table.counts.tolist() == [[0, 0], [1, 0]]
    twice = (duckdb.sql("SELECT 'a' AS x, 'b' AS x"), frame.set_axis(["x", "x"], axis=1))
    for source in twice:
        with pytest.raises(InvalidInput, match="Several columns"):
            tabulate(source, ["x"], domains={"x": ["a", "b"]})


@pytest.mark.parametrize(
    ("attributes", "options"),
    [
        ("sex", {}),
        (5, {}),
        (None, {}),
        ([1], {}),
        ([""], {}),
        (["sex", None], {}),
        (["sex"], {"derive": "old = age >= 3"}),
        (["sex"], {"derive": [3]}),
        (["sex"], {"domains": ["F", "M"]}),
        (["sex"], {"domains": {"sex": 5}}),
        (["sex"], {"domains": {"sex": "F"}}),
        (["sex"], {"domains": {"sex": [b"F"]}}),
        (["sex"], {"domains": {"sex": [None]}}),
        (["sex"], {"domains": {3: ["F"]}}),
        (["sex"], {"domains": DOMAINS, "without_value": ["drop"]}),
        (["sex"], {"domains": DOMAINS, "missing": "N"}),
        (["sex"], {"domains": DOMAINS, "missing_as": "sex=F"}),
        (["sex"], {"domains": DOMAINS, "missing_as": {"sex": None}}),
        (["sex"], {"domains": DOMAINS, "missing_as": {3: "F"}}),
        (["sex"], {"domains": DOMAINS, "missing": [None]}),
        (["sex"], {"domains": DOMAINS, "table": 3}),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_with_a_sentence(
    people: Path, attributes: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as caught:
        tabulate(people, attributes, **options)
    assert str(caught.value).endswith(".")


@pytest.mark.slow
def test_sql_and_python_agree_on_what_is_a_number() -> None:
    draw = np.random.default_rng(8)
    pieces = [*"0123459+-..eE_ \t\u00a0x", "inf", "nan", "1e30"]
    texts = sorted({"".join(draw.choice(pieces, draw.integers(1, 7))) for _ in range(20_000)})
    table = relation_table(duckdb.from_df(pd.DataFrame({"t": pd.array(texts, dtype=object)})))
    found = table.relation.project(f"{table.number_sql(0)} AS n").fetchnumpy()["n"]
    numbers = 0
    for text, number in zip(texts, np.ma.filled(found, np.nan), strict=True):
        try:
            (expected,) = record_numbers("t", [text])
        except InvalidInput:
            expected = np.nan
        assert number == expected or (np.isnan(number) and np.isnan(expected)), text
        numbers += not np.isnan(expected)
    assert numbers > 1000


def test_dates_derive_nothing() -> None:
    relation = duckdb.sql("SELECT DATE '2020-01-01' AS day")
    with pytest.raises(InvalidInput, match="no number: 2020-01-01"):
        tabulate(relation, ["late"], derive=["late = day >= 3"])


def test_a_number_may_stand_for_a_missing_value(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [40, 20, 99], "sex": ["1", "2", "99"]})
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False)
    for source in (frame, frame.astype({"age": float}), path):
        table = tabulate(
            source,
            ["old", "sex"],
            derive=["old = age >= 30"],
            domains={"sex": ["1", "2"]},
            missing=["99"],
        )
        assert (table.counts.tolist(), table.left_out) == ([[0, 1], [1, 0]], 1)


def _late(usual: Any, *late: Any) -> pd.DataFrame:
    """Return objects of which only a few, far from the beginning, are unlike the others."""
    return pd.DataFrame({"x": pd.Series([usual] * 5000 + list(late), dtype=object)})


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (_late(1, 2.5, 2.7), {"1": 5000, "2.5": 1, "2.7": 1}),
        (_late(True, 5), {"1": 5000, "5": 1}),
        (_late(Decimal("1.5"), Decimal("1.52")), {"1.5": 5000, "1.52": 1}),
        (_late(date(2020, 1, 1), date(2020, 1, 2)), {"2020-01-01": 5000, "2020-01-02": 1}),
        (_late(1, "a", None), {"1": 5000, "a": 1}),
        (_late(1, 2**70), {"1": 5000, str(2**70): 1}),
        (_late(None, "a", 3, 3.0, True), {"a": 1, "3": 2, "1": 1}),
    ],
)
def test_objects_in_a_frame_are_all_looked_at(
    frame: pd.DataFrame, expected: dict[str, int]
) -> None:
    table = tabulate(frame, ["x"], domains={"x": "from-data"})
    column = read(frame, "x", categories="from-data")
    assert dict(zip(table.attributes[0].categories, table.flat.tolist(), strict=True)) == expected
    assert dict(zip(column.values.tolist(), column.counts.tolist(), strict=True)) == expected
    assert table.left_out == column.missing


def test_objects_in_a_frame_derive_what_read_takes_for_numbers() -> None:
    frame = _late(1, 2.5, Decimal("1.99999"), "7", " 2 ", None, float("nan"), "NA")
    table = tabulate(frame, ["big"], derive=["big = x >= 2"])
    assert table.flat.tolist() == [5001, 3]
    assert table.left_out == read(frame, "x", bounds=(0, 10)).missing == 3
    with pytest.raises(InvalidInput, match="no number: a"):
        tabulate(_late(1, "a"), ["big"], derive=["big = x >= 2"])


def test_columns_of_a_frame_that_are_not_asked_for_may_hold_anything() -> None:
    frame = pd.DataFrame({"x": ["a", "b"], "other": [[1], b"2"]})
    assert tabulate(frame, ["x"], domains={"x": ["a", "b"]}).flat.tolist() == [1, 1]
    with pytest.raises(InvalidInput, match="numbers or text"):
        tabulate(frame, ["other"], domains={"other": "from-data"})


def test_numbers_are_compared_only_where_floats_tell_them_apart() -> None:
    frame = pd.DataFrame({"x": [2**53 - 2, 2**53 - 1, 2**53, 2**53 + 1, 2**62]})
    table = tabulate(frame, ["big"], derive=[f"big = x > {2**53 - 2}"])
    assert table.flat.tolist() == [1, 4]
    for line in (f"big = x > {2**53}", f"big = x == -{2**53 + 1}", "big = bins(x, 0, 1e16, 2)"):
        with pytest.raises(InvalidInput, match=r"below 2\^53"):
            tabulate(frame, ["big"], derive=[line])
