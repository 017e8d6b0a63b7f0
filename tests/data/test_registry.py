"""Registered data sets, against the facts their providers and the papers state."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import duckdb
import pytest

from omit import InvalidInput
from omit.data.column import Column
from omit.data.datasets import DATASETS, dataset, datasets
from omit.data.reading import read

FOUND_IN_FOLDER = [each for each in datasets() if not (each.bundled or each.generate)]


@pytest.fixture
def _folder() -> None:
    """Skip if there is no folder with data sets; if there is one, a missing file is a failure."""
    if not os.environ.get("OMIT_DATA"):
        pytest.skip("OMIT_DATA is not set, so only the bundled data set is checked.")


def test_adult_is_bundled_and_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    ages = read("adult")
    assert (ages.name, ages.source, ages.bounds_source) == ("age", "adult", "registered")
    assert (ages.size, ages.distinct, ages.bounds) == (32_561, 73, (0, 125))
    assert (ages.values[0], ages.values[-1], ages.mean) == (17, 90, 1_256_257 / 32_561)
    assert (ages.modes, ages.counts.max(), ages.notes) == ((36.0,), 898, ())
    hours = read("adult", "hours-per-week")
    assert (hours.values[0], hours.values[-1], hours.mean) == (1, 99, 1_316_684 / 32_561)


def test_adult_holds_every_cell_of_the_original_file() -> None:
    # The md5 of the original, adult.data of the UCI repository, which separates by comma and space.
    with dataset("adult").path() as path, duckdb.connect() as connection:
        rows = connection.sql(f"SELECT * FROM read_csv('{path}', all_varchar=true)").fetchall()
    original = "".join(", ".join(row) + "\n" for row in rows) + "\n"
    assert hashlib.md5(original.encode()).hexdigest() == "5d7c39d7b8804f071cdd1f2a7c460872"


@pytest.mark.parametrize("column", DATASETS["adult"].categories)
def test_adults_texts_are_those_of_its_public_description(column: str) -> None:
    texts = read("adult", column)
    missing = {"workclass": 1_836, "occupation": 1_843, "native-country": 583}
    assert texts.missing == missing.get(column, 0)
    assert texts.size + texts.missing == 32_561
    assert texts.domain()[0].tolist() == list(dataset("adult").categories[column])


def test_adults_incomes_are_as_often_high_as_the_description_says() -> None:
    incomes = read("adult", "income")
    assert dict(zip(*(array.tolist() for array in incomes.domain()), strict=True)) == {
        "<=50K": 24_720,
        ">50K": 7_841,
    }


@pytest.mark.parametrize("column", DATASETS["adult"].bounds)
def test_no_adult_is_outside_the_papers_bounds(column: str) -> None:
    assert (read("adult", column).clamped, read("adult", column).size) == (0, 32_561)


def test_a_bound_that_came_from_the_data_is_marked_though_the_paper_declares_it() -> None:
    for column in ("fnlwgt", "capital-gain", "capital-loss"):
        (note,) = read("adult", column).notes
        assert "NOT private" in note


def test_declared_bounds_take_the_place_of_registered_ones() -> None:
    ages = read("adult", "age", bounds=(20, 60))
    assert (ages.bounds, ages.bounds_source) == ((20, 60), "declared")
    assert ages.clamped > 0
    gains = read("adult", "capital-gain", bounds=(0, 100_000))
    assert gains.notes == ()


def test_who_declares_the_mark_of_a_missing_value_counts_it() -> None:
    known = dataset("adult").categories["workclass"]
    assert read("adult", "workclass", categories=(*known, "?")).missing == 0


@pytest.mark.usefixtures("_folder")
def test_irish_is_as_the_paper_describes_it() -> None:
    ages, education = read("irish"), read("irish", "HighestEducationCompleted")
    assert (ages.name, ages.size, ages.distinct) == ("Age", 66_666, 70)
    assert (ages.values[0], ages.values[-1], ages.mean) == (15, 84, 2_854_813 / 66_666)
    assert (ages.bounds, education.bounds) == ((0, 125), (1, 10))
    assert education.mean == 277_722 / 66_666
    # Counts from the README that comes with the data.
    assert education.counts.tolist() == [
        *(8_627, 12_035, 16_215, 6_225, 3_938, 3_078, 4_930, 6_195, 4_978, 445)
    ]


@pytest.mark.usefixtures("_folder")
def test_census_is_as_the_paper_describes_it() -> None:
    tax, security = read("census"), read("census", "FICA")
    assert (tax.name, tax.size, tax.bounds) == ("FEDTAX", 1_080, (0, 31_889))
    assert (tax.values[0], tax.values[-1], tax.mean) == (1, 21_260, 8_148_229 / 1_080)
    assert tax.distinct == 1_080  # "no element repeats in FEDTAX" (Section 3.1)
    assert (security.values[0], security.values[-1], security.bounds) == (6, 7_932, (0, 11_890))
    assert security.mean == 3_199_657 / 1_080


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    ("name", "records", "oldest", "mean", "incomes_missing"),
    [
        ("nist-ma", 7_634, 94, 43.556, 1_120),
        ("nist-tx", 9_276, 92, 40.847, 1_682),
        ("nist-national", 27_253, 95, 41.099, 4_247),
    ],
)
def test_nist_excerpts_are_as_nist_describes_them(
    name: str, records: int, oldest: float, mean: float, incomes_missing: int
) -> None:
    ages = read(name)
    assert (ages.name, ages.size, ages.values[-1]) == ("AGEP", records, oldest)
    assert ages.mean == pytest.approx(mean, abs=5e-4)
    assert read(name, "PINCP", bounds="from-data").missing == incomes_missing


@pytest.mark.slow
@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("name", [each.name for each in FOUND_IN_FOLDER])
def test_registered_bounds_hold_all_records(name: str) -> None:
    for column in dataset(name).bounds:
        assert read(name, column).clamped == 0, column


@pytest.mark.parametrize("name", [each.name for each in FOUND_IN_FOLDER])
def test_a_set_outside_the_package_needs_a_folder(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    with pytest.raises(
        InvalidInput, match=f"put it as {dataset(name).file} into a folder and .* OMIT_DATA"
    ):
        read(name)
    monkeypatch.setenv("OMIT_DATA", str(tmp_path))
    with pytest.raises(InvalidInput, match=f"needs the file {dataset(name).file}"):
        read(name)


def test_an_unknown_name_is_met_with_the_nearest() -> None:
    with pytest.raises(
        InvalidInput, match="no registered data set 'adlut'; the nearest is 'adult'"
    ):
        read("adlut")
    with pytest.raises(InvalidInput, match="there are 'adult', 'irish'"):
        read("zzz")


def test_a_path_is_never_taken_for_a_registered_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="There is no file adult"):
        read(Path("adult"))


def test_a_column_without_registered_bounds_is_refused_and_a_wrong_name_helped() -> None:
    with pytest.raises(InvalidInput, match="the nearest is 'age'"):
        read("adult", "agee")
    assert isinstance(read("adult", "age", categories="from-data"), Column)


def test_every_set_says_whose_it_is() -> None:
    for each in datasets():
        assert each.title
        assert each.citation
        assert each.licence
        assert each.default_column in each.bounds


def test_generated_populations_are_the_same_for_everybody_and_as_the_paper_describes_them() -> None:
    beta, lognormal, bimodal = (read(name) for name in ("beta", "lognormal", "bimodal"))
    for column in (beta, lognormal, bimodal):
        assert (column.size, column.distinct, column.bounds_source) == (
            10_001,
            10_001,
            "registered",
        )
        assert column == read(column.name)
        assert column.clamped == 0
    # The means of the distributions, within 5 standard errors.
    assert beta.mean == pytest.approx(2 / 12, abs=5 * 0.104 / 100)
    assert lognormal.mean == pytest.approx(168.17, abs=5 * 89.6 / 100)
    assert (bimodal.values[0], bimodal.values[-1]) == (0, 1)
    # The median is the largest value of the first group ("0.21" in the paper's draw).
    assert bimodal.values[5000] == pytest.approx(0.21, abs=0.03)
    assert bimodal.values[5001] - bimodal.values[5000] > 0.4


def test_the_authors_populations_are_those_of_r() -> None:
    """Medians, extremes and means as R 4.2.2 prints them after ``set.seed(123)``."""
    beta, lognormal, bimodal = (read(name) for name in ("beta-r", "lognormal-r", "bimodal-r"))
    for column in (beta, lognormal, bimodal):
        assert (column.size, column.distinct, column.clamped) == (10_001, 10_001, 0)
    assert beta.mean == pytest.approx(0.16709657722804652, rel=1e-14)
    assert lognormal.values[5000] == pytest.approx(147.59574518563886, rel=1e-14)
    assert lognormal.values[-1] == pytest.approx(1016.2593414667173, rel=1e-14)
    assert bimodal.values[5000] == pytest.approx(0.21092464078532763, rel=1e-15)
    assert bimodal.values[5001] - bimodal.values[5000] > 0.39
    assert read("lognormal-r").notes == read("lognormal").notes


def test_a_generated_set_has_no_file_and_other_bounds_can_be_declared() -> None:
    with (
        pytest.raises(InvalidInput, match="is generated and has no file"),
        dataset("lognormal").path(),
    ):
        pass
    (note,) = read("lognormal").notes
    assert "states no bounds" in note
    assert read("lognormal", bounds=(0, 10_000)).notes == ()
    assert read("lognormal", bounds=(0, 500)).clamped > 0
