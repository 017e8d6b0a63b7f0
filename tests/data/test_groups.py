"""One column in groups of records, by declared labels."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omit
from omit import Column
from omit.data.groups import GroupedColumn, declared_groups
from omit.errors import InvalidInput

REGIONS, SEXES = ("north", "south", "east"), ("1", "2")
GROUPS = {"region": REGIONS, "sex": SEXES}


def _people(number: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "wage": np.where(rng.random(number) < 0.1, np.nan, rng.normal(500, 300, number)),
            "region": rng.choice(REGIONS, number),
            "sex": rng.choice([1, 2], number),
        }
    )


def _alone(people: pd.DataFrame, region: str, sex: str, **declared: Any) -> Column:
    mine = people[(people["region"] == region) & (people["sex"].astype(str) == sex)]
    alone: Column = omit.read(mine["wage"], "wage", bounds=(0, 1000), **declared)
    return alone


@pytest.mark.parametrize("declared", [{}, {"bins": 32}, {"step": 1.0}])
@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_group_is_the_column_of_its_own_records(
    kind: str, declared: dict[str, Any], tmp_path: Path
) -> None:
    people, source = _people(400), tmp_path / f"people.{kind}"
    if kind == "csv":
        people.to_csv(source, index=False)
    elif kind == "parquet":
        people.to_parquet(source)
    asked: Any = people if kind == "frame" else source
    grouped = omit.read(
        asked, "wage", bounds=(0, 1000), by=["region", "sex"], groups=GROUPS, **declared
    )
    assert list(grouped) == [(region, sex) for region in REGIONS for sex in SEXES]
    for region, sex in grouped:
        alone = _alone(people, region, sex, **declared)
        part = grouped[region, sex]
        assert (part.counts == alone.counts).all()
        assert part.values == pytest.approx(alone.values, rel=1e-12)
        assert (part.clamped, part.missing, part.step, part.bounds, part.bounds_source) == (
            *(alone.clamped, alone.missing, alone.step, alone.bounds, alone.bounds_source),
        )
        assert part.ranges == alone.ranges or "bins" in declared


@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]), st.sampled_from(["x", None]), st.integers(0, 9)
        ),
        min_size=1,
    )
)
def test_groups_add_up_to_all_records_that_have_labels(records: list[tuple[Any, Any, int]]) -> None:
    frame = pd.DataFrame(records, columns=["first", "second", "value"], dtype=object)
    labelled = frame.dropna()
    asked: dict[str, Any] = {
        "bounds": (0, 9),
        "by": ["first", "second"],
        "groups": [("a", "x"), ("b", "x")],
    }
    if labelled.empty:
        with pytest.raises(InvalidInput, match="No group has records"):
            omit.read(frame, "value", **asked)
        return
    grouped = omit.read(frame, "value", **asked)
    assert grouped.unlabelled == len(frame) - len(labelled)
    assert grouped.size == len(labelled)
    assert grouped.whole == omit.read(labelled, "value", bounds=(0, 9))
    assert set(grouped.empty) == {("a", "x"), ("b", "x")} - set(grouped)


def test_registered_columns_declare_their_labels() -> None:
    grouped = omit.read("adult", "age", by=["race", "sex"])
    assert (len(grouped), grouped.labels_source, grouped.size) == (10, "registered", 32_561)
    assert grouped.whole == omit.read("adult", "age")
    years = omit.read("adult", "age", by="education-num")
    assert list(years)[:2] == [("1",), ("2",)]


def test_texts_have_groups_too() -> None:
    grouped = omit.read("adult", "occupation", by="sex")
    assert grouped["Male"].categories == omit.read("adult", "occupation").categories
    assert grouped["Male"].missing + grouped["Female"].missing == 1_843


def test_labels_that_were_taken_from_the_data_are_said_not_to_be_private() -> None:
    grouped = omit.read(_people(50), "wage", bounds=(0, 9), by="region", groups="from-data")
    assert list(grouped) == [("east",), ("north",), ("south",)]
    assert any("NOT private" in note for note in grouped.notes)


def test_a_declared_group_without_records_is_named() -> None:
    grouped = omit.read(
        _people(50), "wage", bounds=(0, 9), by="region", groups=[*REGIONS, "west", "centre"]
    )
    assert grouped.empty == (("west",), ("centre",))
    assert any("2 declared groups have no record" in note for note in grouped.notes)


def test_codes_for_a_missing_value_are_no_labels_unless_declared() -> None:
    frame = pd.DataFrame({"value": [1, 2, 3], "label": ["a", "N", ""]})
    asked: dict[str, Any] = {"bounds": (0, 9), "by": "label", "missing": ["N"]}
    assert omit.read(frame, "value", groups=["a"], **asked).unlabelled == 2
    assert omit.read(frame, "value", groups=["a", "N"], **asked).unlabelled == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"by": "region"}, "labels of 'region' are not declared"),
        ({"by": "region", "groups": ["north", "south"]}, "'east'"),
        ({"by": "region", "groups": "atlantis"}, "no registered data set"),
        ({"by": "region", "groups": "adult"}, "labels of 'region' are not declared"),
        ({"by": "region", "groups": 7}, "Expected several groups"),
        ({"by": "region", "groups": []}, "at least one"),
        ({"by": "region", "groups": ["north", "north"]}, "twice"),
        ({"by": "wage", "groups": ["1"]}, "another column"),
        ({"by": "county", "groups": ["1"]}, "no column 'county'"),
        ({"by": ["region", "region"], "groups": GROUPS}, "each column once"),
        ({"by": [], "groups": GROUPS}, "at least one column"),
        ({"by": ["region", "sex"], "groups": {"region": REGIONS}}, "labels of 'sex'"),
        ({"by": ["region", "sex"], "groups": ["north"]}, "tuples of 2 labels"),
        ({"by": ["region", "sex"], "groups": [("north", 1)]}, "not among the declared"),
        ({"by": ["region", "sex"], "groups": [("north", 1), ("south", 2)]}, "not among the decl"),
        ({"by": "region", "groups": range(200_000)}, "at most 100,000 groups"),
        ({"groups": REGIONS}, "Expected by="),
        ({"by": "region", "groups": REGIONS, "bins": 5, "step": 1.0}, "leave out bins"),
        ({"by": "region", "groups": REGIONS, "weight": "sex"}, "with weights"),
    ],
)
def test_what_forms_no_groups_is_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        omit.read(_people(50), "wage", bounds=(0, 1000), **asked)


def test_a_group_is_asked_for_by_its_labels() -> None:
    grouped = omit.read("adult", "age", by="sex")
    assert grouped["Male"] is grouped["Male",]
    with pytest.raises(InvalidInput, match=r"no such group.*'Male'"):
        grouped["male"]


def test_groups_survive_pickling() -> None:
    grouped = omit.read("adult", "age", by="sex")
    again: GroupedColumn = pickle.loads(pickle.dumps(grouped))
    assert dict(again.parts) == dict(grouped.parts)


def test_labels_of_several_columns_make_all_combinations() -> None:
    known, source = declared_groups(["region", "sex"], GROUPS, None)
    assert known == tuple((region, sex) for region in REGIONS for sex in SEXES)
    assert source == "declared"


def test_records_of_a_group_without_any_value_are_counted() -> None:
    frame = pd.DataFrame({"v": [1.0, 2.0, None, None], "g": ["a", "a", "b", "b"]})
    declared = omit.read(frame, "v", bounds=(0, 9), by="g", groups=["a", "b"])
    assert (declared.valueless, declared.empty) == (2, (("b",),))
    assert any(
        "2 records without a value, in groups that have no other" in n for n in declared.notes
    )
    seen = omit.read(frame, "v", bounds=(0, 9), by="g", groups="from-data")
    assert not any("declared group" in note for note in seen.notes)


def test_blanks_around_declared_labels_are_no_part_of_them() -> None:
    frame = pd.DataFrame({"v": [1, 2], "g": ["a", " b "]})
    assert list(omit.read(frame, "v", bounds=(0, 9), by="g", groups=[" a", "b"])) == [
        ("a",),
        ("b",),
    ]
    with pytest.raises(InvalidInput, match="twice"):
        omit.read(frame, "v", bounds=(0, 9), by="g", groups=["a", " a", "b"])


@pytest.mark.parametrize("labels", [5, None, b"Male", ["Male"], ("Male", "Female")])
def test_what_is_no_group_is_one_sentence(labels: Any) -> None:
    grouped = omit.read("adult", "age", by="sex")
    assert labels not in grouped
    assert "Male" in grouped
    with pytest.raises(InvalidInput, match="no such group"):
        grouped[labels]


def test_labels_of_many_columns_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 3000, (3000, 6)), columns=list("abcdef"))
    grouped = omit.read(
        frame.assign(v=1), "v", bounds=(0, 9), by=list("abcdef"), groups="from-data"
    )
    assert grouped.size == 3000
