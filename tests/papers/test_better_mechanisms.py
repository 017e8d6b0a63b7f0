"""The papers' conclusions with mechanisms that need less noise."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from omit import Guarantee, OutlierScoreSuppression, PoissonSampling, expected_error, read
from omit.papers import Computed, Finding, OwnData, Reproduction, Settings, paper, reproduce
from omit.papers.accuracy_gains import better_mechanisms as medians
from omit.papers.omitting_records import CLAIMS, better_mechanisms, cells
from omit.papers.omitting_records.better_mechanisms import (
    best_pairs,
    compared,
    least_ratio,
    other_subjects,
    show_error,
)
from tests.papers.judging import finding

PAPER = paper("omitting-records")
MODES = {"mode, Laplace": 0.2, "mode, exponential": 0.3, "mode, exponential mechanism": 0.4}
BETTER_MODES = {"mode, permute-and-flip": 0.1, "mode, exponential mechanism, least scale": 0.15}


def _compared(*lines: tuple[str, float, dict[str, object]]) -> Computed:
    """Return a comparison of exact errors of Adult age at one epsilon."""
    common = {"data": "adult", "column": "age", "epsilon": 0.25, "runs": 500, "exact": True}
    common |= {"method": "exact", "noise_reduction": True, "kept": 0.5}
    none: dict[str, object] = {"kind": "none", "rate": None, "m": None, "M": None, "bound": None}
    table = pd.DataFrame(
        [
            common | none | where | {"mechanism": name, "error": error, "low": error, "high": error}
            for name, error, where in lines
        ]
    )

    class Compared(Computed):
        def __init__(self) -> None:
            self._known = {}

        def frame(self, *computations: object) -> pd.DataFrame:
            beyond = table["mechanism"].isin(list(cells.BETTER_MECHANISMS))
            return table[beyond if cells.BEYOND_ERROR in computations else ~beyond]

    return Compared()


def _claim(words: str, computed: Computed) -> Finding:
    (claim,) = [
        one for one in CLAIMS if words in one.sentence and "better-mechanisms" in one.exhibits
    ]
    said = claim.judged(computed)
    assert said is not None
    return said


@pytest.mark.parametrize(
    ("published", "better", "standing"),
    [
        (0.3, 0.2, "holds"),
        (0.3, 0.05, "holds in part"),
        (0.1, 0.2, "holds in part"),
        (0.1, 0.05, "fails"),
    ],
)
@pytest.mark.parametrize(
    ("words", "omission"),
    [
        ("sampling makes means", {"kind": "poisson", "rate": 0.5}),
        ("outlier scores improve", {"kind": "outlier-score", "m": 0.1, "M": 0.5}),
    ],
)
def test_what_omission_costs_is_judged_with_both_mechanisms(
    words: str, omission: dict[str, object], published: float, better: float, standing: str
) -> None:
    said = _claim(
        words,
        _compared(
            ("mean, Laplace", 0.2, {}),
            ("mean, Laplace", published, omission),
            ("mean, Laplace, two sums", 0.1, {}),
            ("mean, Laplace, two sums", better, omission),
        ),
    )
    assert said.standing == standing
    assert set(said.readings) == {"the mechanisms as published", "the better mechanisms"}
    assert all(one.evidence.startswith("mean") for one in said.readings.values())


@pytest.mark.parametrize(
    ("words", "omission", "standing"),
    [
        ("sampling makes means", {"kind": "poisson", "rate": 0.5}, "fails"),
        ("outlier scores improve", {"kind": "outlier-score", "m": 0.1, "M": 0.5}, "holds"),
    ],
)
def test_errors_that_are_equal_are_neither_worse_nor_improved(
    words: str, omission: dict[str, object], standing: str
) -> None:
    lines = [
        (name, error, where)
        for name, error in (("mean, Laplace", 0.2), ("mean, Laplace, two sums", 0.1))
        for where in ({}, omission)
    ]
    said = _claim(words, _compared(*lines))
    assert said.standing == standing


@pytest.mark.parametrize(
    ("laplace", "standing"), [(0.05, "holds"), (0.2, "holds in part"), (0.5, "fails")]
)
def test_which_mechanism_is_best_for_the_mode_is_judged_with_both_scales(
    laplace: float, standing: str
) -> None:
    errors = {**MODES, **BETTER_MODES, "mode, Laplace": laplace}
    said = _claim(
        "With Laplace noise", _compared(*((name, error, {}) for name, error in errors.items()))
    )
    assert said.standing == standing
    errors_shown = f"mode, Laplace: {laplace:.4f}, mode, permute-and-flip: 0.1000"
    assert any(errors_shown in one.evidence for one in said.readings.values())


def test_an_omission_is_the_best_only_if_it_beats_every_mechanism_on_all_records() -> None:
    lines = [
        ("mean, Laplace", 0.2, {}),
        ("mean, Laplace", 0.15, {"kind": "poisson", "rate": 0.5}),
        ("mean, Laplace, two sums", 0.1, {}),
        ("mean, Laplace, two sums", 0.12, {"kind": "poisson", "rate": 0.5}),
    ]
    computed = _compared(*lines)
    pairs = best_pairs(computed)
    assert pairs is not None
    (line,) = pairs.to_dict("records")
    assert line["omission as published"] == "rate 0.5"
    assert line["mechanism of all"] == "mean, Laplace, two sums"
    assert line["omission of all"] == "all records"
    said = _claim("the best release omits no record", computed)
    assert said.standing == "holds in part"
    published, better = (one.evidence for one in said.readings.values())
    assert "nothing in 0 of 1" in published + better
    assert "nothing in 1 of 1" in published + better


def test_an_error_that_may_be_0_makes_no_ratio() -> None:
    plain = {"mean, Laplace, two sums": 0.1, "mode, permute-and-flip": 0.0}
    table = compared(
        _compared(
            *((name, error, {}) for name, error in plain.items()),
            *((name, 0.2, {"kind": "poisson", "rate": 0.5}) for name in plain),
        )
    )
    assert table is not None
    assert least_ratio(table) == (2.0, "ε = 0.25, rate 0.5")
    assert least_ratio(table[table["statistic"] == "mode"]) is None
    zero = table.iloc[1]
    assert show_error(zero) == "0"
    assert show_error(zero.replace({"high": 0})) == "0"
    assert show_error(pd.Series({"error": 1e-16, "low": 0.0, "high": 2.11e-13})) == (
        "at most 2.2e-13"
    )


def test_every_registered_column_is_asked_once() -> None:
    columns = {(subject.data, subject.column) for subject in other_subjects()}
    assert not columns & set(cells.COLUMNS)
    assert {("adult", "sex"), ("adult", "capital-gain"), ("lognormal", "lognormal")} <= columns
    asked = {
        column: {each.statistic for each in other_subjects() if each.column == column}
        for column in ("sex", "capital-gain", "fnlwgt", "lognormal")
    }
    assert asked == {
        "sex": {"mode"},
        "capital-gain": {"mean", "mode", "median"},
        "fnlwgt": {"mean", "median"},
        "lognormal": {"mean"},
    }


def test_columns_whose_data_are_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMIT_DATA", raising=False)
    assert {subject.data for subject in other_subjects()} == {
        *("adult", "kmedian-synthetic", "beta", "lognormal", "bimodal"),
        *("beta-r", "lognormal-r", "bimodal-r"),
    }


@pytest.fixture(scope="module")
def ages() -> Reproduction:
    """Return the exhibits of Adult age at two rates and three pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "RATES", (0.5, 0.99))
        patch.setattr(cells, "PROBABILITIES", (0.1, 0.3))
        patch.setattr(cells, "COLUMNS", cells.COLUMNS[:1])
        patch.setattr(better_mechanisms, "_MEDIAN_RATES", (0.5,))
        return reproduce(
            PAPER,
            exhibits=["better-mechanisms", "best-pairs"],
            epsilons=[0.25],
            runs=200,
            where="process",
        )


@pytest.mark.slow
def test_cells_are_the_expected_errors_of_their_mechanisms(ages: Reproduction) -> None:
    column = read("adult", "age")
    table = compared(ages.computed)
    assert table is not None
    known = {**cells.COLUMN_MECHANISMS, **cells.BETTER_MECHANISMS}
    assert set(table["mechanism"]) == set(known)
    for row in table[table["method"] == "exact"].itertuples():
        omission = None
        if row.kind == "poisson":
            omission = PoissonSampling(rate=row.rate)
        elif row.kind == "outlier-score":
            omission = OutlierScoreSuppression(row.m, row.M)  # type: ignore[assignment]
        delta = column.size**-2 if "Gaussian" in row.mechanism else 0.0
        error = expected_error(
            column, known[row.mechanism], Guarantee(0.25, delta), omission, details=False
        )
        assert row.error == pytest.approx(error.value, rel=1e-6), row


@pytest.mark.slow
def test_better_mechanisms_have_smaller_errors_and_lose_more_by_omission(
    ages: Reproduction,
) -> None:
    table = compared(ages.computed)
    assert table is not None
    plain = table[table["kind"] == "none"].set_index("mechanism")["error"]
    ratio = table[table["rate"] == 0.99].set_index("mechanism")["ratio"]
    for better, published in (
        ("mean, Laplace, two sums", "mean, Laplace"),
        ("mean, Gaussian, two sums", "mean, Gaussian"),
        ("mode, permute-and-flip", "mode, exponential"),
        ("mode, exponential mechanism, least scale", "mode, exponential mechanism"),
    ):
        assert plain[better] < plain[published]
        assert ratio[better] > ratio[published] > 1


@pytest.mark.slow
def test_the_page_and_the_verdicts_name_both_versions(ages: Reproduction) -> None:
    said = {each.claim.sentence: each.finding for each in ages.verdicts}
    laplace = next(one for sentence, one in said.items() if "With Laplace noise" in sentence)
    assert laplace.standing == "holds in part"
    assert any("in 0 of 6 settings" in one.evidence for one in laplace.readings.values())
    page = ages.page()
    assert "as published" in page
    assert "two sums" in page
    assert ages.numbers("best-pairs")["omission of all"].tolist() == ["all records"] * 3


@pytest.mark.slow
def test_cells_beyond_the_paper_count_for_no_figure_and_no_claim_of_the_whole_paper(
    ages: Reproduction,
) -> None:
    table = cells.judged_cells(ages.computed)
    assert table is not None
    assert set(table["mechanism"]) == set(cells.COLUMN_MECHANISMS)
    paper_cells = {
        cell.identity
        for number in (1, 3, 4, 10, 15, 16, 27, 28, 29, 30)
        for cell in cells.figure_cells(cells.FIGURES[number], Settings())
    }
    better = better_mechanisms.EXHIBITS[0].cells(Settings())
    shared = [cell for cell in better if cell.identity in paper_cells]
    assert {cell.parameters["mechanism"] for cell in shared} == set(cells.COLUMN_MECHANISMS)


def test_own_data_have_the_statistics_that_they_can_have(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,town\n" + "\n".join(f"{20 + i % 9},{'AB'[i % 2]}" for i in range(60)))
    numbers = better_mechanisms.own_subjects(OwnData.read(str(file), "age", (0.0, 100.0)))
    assert {subject.statistic for subject in numbers} == {"mean", "mode"}
    registered = better_mechanisms.own_subjects(OwnData.read("adult", "age"))
    assert {subject.statistic for subject in registered} == {"mean", "mode", "median"}
    texts = better_mechanisms.own_subjects(OwnData.read("adult", "sex"))
    assert {subject.statistic for subject in texts} == {"mode"}


def _documented() -> list[dict[str, str]]:
    """Return the lines of the documented table."""
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "reproducing.md").read_text(encoding="utf-8")
    table = text[text.index("| statistic | data |") :].partition("\n\n")[0]
    split = [[word.strip() for word in line.strip("| ").split("|")] for line in table.splitlines()]
    headings, _, *rows = split
    return [dict(zip(headings, [*row, "", ""], strict=False)) for row in rows]


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("OMIT_DATA"), reason="OMIT_DATA is not set")
@pytest.mark.parametrize("columns", [1, pytest.param(6, marks=pytest.mark.campaign)])
def test_the_documented_table_is_what_the_command_makes(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "COLUMNS", cells.COLUMNS[:columns])
    # The smallest ratio of means and modes is at the smallest epsilon and the largest rate.
    monkeypatch.setattr(cells, "RATES", (0.99,))
    monkeypatch.setattr(cells, "PROBABILITIES", (0.1,))
    monkeypatch.setattr(better_mechanisms, "_MEDIAN_RATES", (0.99,))
    found = reproduce(PAPER, exhibits=["better-mechanisms"], epsilons=[0.25], where="process")
    (exhibit,) = [one for one in PAPER.exhibits if one.name == "better-mechanisms"]
    assert exhibit.shown is not None
    names = ["statistic", "data", "mechanism", "version", "error at ε = 0.25"]
    made = exhibit.shown(found.computed).set_index(names, drop=False)
    documented = _documented()
    assert len(documented) == 6 * 2 + 4 * 2 + 6
    asked = {" ".join(column) for column in cells.COLUMNS}
    for line in documented:
        if line["data"] not in asked:
            continue
        row = made.loc[tuple(line[name] for name in names)]
        if line["at"] == "ε = 0.25, rate 0.99":
            assert (row["smallest ratio"], row["at"]) == (line["smallest ratio"], line["at"])


@pytest.mark.parametrize(
    ("gains", "best", "better", "standing"),
    [(0, 0.5, 0.1, "fails"), (4, 0.5, 0.1, "holds in part"), (4, 0.05, 0.1, "holds in part")],
)
def test_whether_sampling_pays_for_the_median_is_judged_with_both_mechanisms(
    gains: int, best: float, better: float, standing: str
) -> None:
    frame = pd.DataFrame(
        {
            "data": ["lognormal"],
            "ε": [0.1],
            "all records, as published": [1.0],
            "best sample, as published": [best],
            "samples that gain, as published": [gains],
            "all records, better": [better],
            "best sample, better": [0.2],
            "samples that gain, better": [0],
        }
    )
    said = finding(medians.SAMPLING_PAYS, frame)
    assert said.standing == standing
    shown = f"at {int(best < better)}. For lognormal"
    assert any(shown in one.evidence for one in said.readings.values())


@pytest.mark.slow
def test_sampling_gains_with_the_published_median_and_not_with_the_better_one() -> None:
    found = reproduce(
        "accuracy-gains",
        exhibits=["better-mechanisms"],
        epsilons=[0.1],
        runs=30,
        where="process",
    )
    frame = found.numbers("better-mechanisms").set_index("data")
    for data in ("lognormal", "adult age"):
        line = frame.loc[data]
        assert line["samples that gain, as published"] == 10
        assert line["samples that gain, better"] == 0
        assert line["all records, better"] < line["best sample, as published"] / 100
    (verdict,) = found.verdicts
    assert verdict.finding.standing == "holds in part"
