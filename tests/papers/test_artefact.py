"""The authors' averages laid over ours, from small files in their layout."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import omit
from omit import Guarantee, PoissonSampling
from omit.errors import InvalidInput
from omit.laws.noise import Gaussian
from omit.papers import reproduce
from omit.papers.omitting_records.artefact import (
    Artefact,
    compared,
    read_artefact,
    subject_of,
)
from omit.papers.omitting_records.as_published import (
    MeanIgnoringDelta,
    ModeIgnoringDelta,
    ModeOffByOne,
    scale_ignoring_delta,
)
from omit.papers.omitting_records.cells import Subject

RATES = (0.5, 0.9)


def _write(file: Path, rows: list[list[float]], *, labelled: bool = False) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    header = ["epsilon"] if labelled else []
    lines = [[*header, *map(str, RATES)]]
    epsilons = ["0.25", "0.5", "1", "2"]
    lines += [
        [*([epsilon] if labelled else []), *map(str, row)]
        for epsilon, row in zip(epsilons, rows, strict=True)
    ]
    file.write_text("\n".join(",".join(line) for line in lines) + "\n")


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("NoisyAverage/adult_age_laplace_Average.csv", ("adult", "age", "mean, Laplace")),
        ("mode_irish_Age_gauss_Average.csv", ("irish", "Age", "mode, Gaussian")),
        (
            "mode/hours exponential mechanism_Average.csv",
            ("adult", "hours-per-week", "mode, exponential mechanism"),
        ),
        ("mode/hours_exponential_Average.csv", ("adult", "hours-per-week", "mode, exponential")),
        ("DPLloyd_Average.csv", ("adult", None, "DPLloyd as published")),
        ("mode_census_FICA_laplace_Average.csv", None),
        ("laplace_Average.csv", None),
    ],
)
def test_a_path_says_which_curve_a_file_has(
    path: str, subject: tuple[str, str | None, str] | None
) -> None:
    found = subject_of(path)
    known = None if found is None else (found.data, found.column, found.mechanism)
    assert known == subject


@pytest.mark.parametrize("labelled", [True, False])
def test_averages_are_read_by_epsilon_and_rate(tmp_path: Path, labelled: bool) -> None:
    rows = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]
    _write(tmp_path / "mean_adult_age_laplace_Average.csv", rows, labelled=labelled)
    (curve,) = read_artefact(tmp_path).curves.values()
    assert curve.to_numpy().tolist() == [
        [epsilon, rate, value]
        for epsilon, row in zip((0.25, 0.5, 1.0, 2.0), rows, strict=True)
        for rate, value in zip(RATES, row, strict=True)
    ]


def test_what_is_no_curve_is_named_or_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"_Average\.csv"):
        read_artefact(tmp_path)
    _write(tmp_path / "sizes_Average.csv", [[1, 2]] * 4)
    with pytest.raises(InvalidInput, match="to name a column and a mechanism"):
        read_artefact(tmp_path)
    _write(tmp_path / "mode_adult_age_laplace_Average.csv", [[0.1, 0.2]] * 4)
    assert read_artefact(tmp_path).left_out == ("sizes_Average.csv",)
    (tmp_path / "mode_adult_age_gauss_Average.csv").write_text("0.5,0.9\n0.1\n")
    with pytest.raises(InvalidInput, match="the sampling rates in its first row"):
        read_artefact(tmp_path)
    with pytest.raises(InvalidInput, match="no files of the authors of statistical-privacy"):
        reproduce("statistical-privacy", artefact=tmp_path)


def test_the_variants_are_never_private_nor_the_default() -> None:
    for variant in (MeanIgnoringDelta(), ModeIgnoringDelta(), ModeOffByOne()):
        assert not variant.private
    assert omit.NoisyMean().private
    assert type(omit.NoisyMode("gumbel")) is omit.NoisyMode


def test_noise_that_ignores_delta_is_below_what_delta_needs() -> None:
    delta = 32_561**-2
    for epsilon in (0.25, 0.5, 1.0, 2.0):
        needed = Gaussian.calibrated(Guarantee(epsilon, delta), 1.0).scale
        assert 0.62 < scale_ignoring_delta(epsilon) / needed < 0.81
    assert round(scale_ignoring_delta(0.25), 1) == 14.2
    ages = omit.read("adult", "age")
    first, second = (
        omit.expected_error(ages, ModeIgnoringDelta(), Guarantee(0.25, delta), details=False).value
        for delta in (1e-6, 1e-12)
    )
    assert first == second


def test_an_answer_that_is_off_by_the_lower_bound_is_always_wrong() -> None:
    education, ages = omit.read("adult", "education-num"), omit.read("adult", "age")
    wrong = omit.expected_error(education, ModeOffByOne(), Guarantee(1.0), details=False)
    assert wrong.value == pytest.approx(1.0)
    same, published = (
        omit.expected_error(ages, mechanism, Guarantee(0.25), details=False).value
        for mechanism in (ModeOffByOne(), omit.NoisyMode("gumbel", "published"))
    )
    assert same == published, "where the domain begins at 0"


def test_a_cause_is_named_only_where_it_applies() -> None:
    def cause(data: str, column: str) -> set[str]:
        subject = Subject(data, column, "mode, exponential mechanism")
        line = {"data": data, "column": column, "mechanism": subject.mechanism, "kind": "poisson"}
        ours = pd.DataFrame([line | {"epsilon": 1.0, "rate": 0.5, "error": 0.2}])
        theirs = pd.DataFrame([{"epsilon": 1.0, "rate": 0.5, "published": 0.2}])
        return set(compared(ours, Artefact({subject: theirs}, ()))["cause"])

    assert cause("adult", "age") == {""}, "the domain begins at 0"
    (said,) = cause("irish", "HighestEducationCompleted")
    assert "lower bound" in said


@pytest.mark.slow
def test_figures_show_both_with_z_scores_and_the_known_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from omit.papers.omitting_records import cells

    monkeypatch.setattr(cells, "RATES", RATES)
    ages = omit.read("adult", "age")

    def error(mechanism: omit.NoisyMode, epsilon: float, rate: float) -> float:
        target = Guarantee(epsilon, ages.size**-2)
        sampling = PoissonSampling(rate)
        return omit.expected_error(ages, mechanism, target, sampling, details=False).value

    epsilons = (0.25, 0.5, 1.0, 2.0)
    as_theirs = [[error(ModeIgnoringDelta(), e, rate) for rate in RATES] for e in epsilons]
    _write(tmp_path / "csv" / "mode_adult_age_gaussian_Average.csv", as_theirs)
    found = reproduce(
        "omitting-records",
        exhibits=["artefact"],
        artefact=tmp_path / "csv",
        where="process",
    )
    rows = found.numbers("artefact").sort_values(["epsilon", "rate"])
    assert rows["published"].tolist() == [value for row in as_theirs for value in row]
    assert rows["z as published"].abs().max() < 1e-6, "the same mechanism"
    noisy = rows[(rows["epsilon"] == 0.25) & (rows["rate"] == 0.9)]
    assert (noisy["z"] < -4).all(), "less noise than the guarantee needs"
    assert set(rows["cause"]) == {"the authors' noise does not depend on δ and is too small"}
    assert "known cause" in found.page()
    shown = reproduce("omitting-records", figures=[10], artefact=tmp_path / "csv", where="process")
    drawing = next(item for item in shown.exhibits if item.exhibit.name == "figure-10")
    assert drawing.numbers is not None
    assert drawing.numbers["published"].notna().sum() == len(rows)
    assert drawing.exhibit.draw is not None
    dots = [
        line
        for axes in drawing.exhibit.draw(shown.computed).axes
        for line in axes.get_lines()
        if line.get_marker() == "."
    ]
    assert len(dots) == len(epsilons), "one set of dots for every ε"
