"""The figures of the omitting-records paper say no more than their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from omit.papers.omitting_records import CLAIMS, figures
from omit.papers.omitting_records.cells import AGE_MODE, EPSILONS, FIGURES, PROBABILITIES, judged
from tests.papers.judging import Judged, finding


def errors_of_mode(errors: dict[tuple[float, float], float], plain: float) -> pd.DataFrame:
    """Return the judged table of one mode under both bounds, with exact errors."""
    line: dict[str, object] = {"data": "adult", "column": "age", "mechanism": AGE_MODE.mechanism}
    line |= {"runs": 2000, "method": "exact", "exact": True, "kept": 0.5, "noise_reduction": True}
    line |= {"base_epsilon": 1.0, "base_delta": 0.0, "rate": None, "m": None, "M": None}
    line |= {"bound": None}
    lines = []
    for epsilon in EPSILONS:
        lines.append(line | {"epsilon": epsilon, "kind": "none"} | interval(plain))
        for (m, M), error in errors.items():
            for bound in ("mixture", "published"):
                cell = {"epsilon": epsilon, "kind": "outlier-score", "m": m, "M": M}
                lines.append(line | cell | {"bound": bound} | interval(error))
        for rate in (0.25, 0.75):
            cell = {"epsilon": epsilon, "kind": "poisson", "rate": rate}
            lines.append(line | cell | interval(plain))
    return pd.DataFrame(lines)


def interval(error: float) -> dict[str, float]:
    return {"error": error, "low": error * (1 - 1e-6), "high": error * (1 + 1e-6)}


def suppression(errors: dict[tuple[float, float], float], plain: float) -> Drawing:
    (figure,) = (
        each
        for each in FIGURES.values()
        if each.kind == "suppression" and each.noise_reduction and each.subjects == (AGE_MODE,)
    )
    return figures.suppression_figure(figure, judged(errors_of_mode(errors, plain)))


def test_errors_that_are_equal_up_to_precision_have_no_colour_and_no_number() -> None:
    drawing = suppression({(0.1, 0.2): 1e-14, (0.1, 0.3): 1e-14 + 1e-22}, plain=1e-14 + 1e-21)
    axes = drawing.axes[0]
    assert not np.ma.asarray(axes.images[0].get_array()).any()
    numbers = [each for each in axes.texts if each.get_text()]
    assert {(each.get_text(), each.get_color()) for each in numbers} == {("=", "0.55")}


def test_a_title_is_no_wider_than_its_figure_also_with_two_epsilons() -> None:
    table = errors_of_mode({(0.1, 0.2): 0.2}, plain=0.1)
    figure = next(
        each
        for each in FIGURES.values()
        if each.kind == "suppression" and each.noise_reduction and each.subjects == (AGE_MODE,)
    )
    drawing = figures.suppression_figure(figure, judged(table[table["epsilon"] <= EPSILONS[1]]))
    drawing.draw_without_rendering()
    (title,) = (text for text in drawing.texts if "error with all records" in text.get_text())
    box = title.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawing.bbox.x1


def test_a_decided_gain_is_coloured_by_its_sign_and_size() -> None:
    drawing = suppression({(0.1, 0.2): 0.2, (0.1, 0.3): 0.5, (0.1, 0.4): 0.05}, plain=0.1)
    axes = drawing.axes[0]
    shown: np.ma.MaskedArray[Any, Any] = np.ma.asarray(axes.images[0].get_array())
    index = {probability: i for i, probability in enumerate(PROBABILITIES)}
    drawn = [shown[index[M], index[0.1]] for M in (0.2, 0.3, 0.4)]
    assert drawn[1] == -1.0
    assert -1 < drawn[0] < 0 < drawn[2] < 1
    assert {each.get_color() for each in axes.texts} == {"black"}


def test_an_error_too_small_to_be_seen_is_written() -> None:
    (figure,) = (
        each
        for each in FIGURES.values()
        if each.kind == "sampling" and each.subjects[0] == AGE_MODE
    )
    rows = errors_of_mode({}, plain=3e-9)
    whole = pd.concat([rows.assign(mechanism=each.mechanism) for each in figure.subjects])
    drawing = figures.sampling_figure(figure, judged(whole))
    assert all("at most 4e-09" in axes.texts[0].get_text() for axes in drawing.axes), (
        "the upper end of the interval, rounded up"
    )


def test_the_conclusion_has_one_line_for_both_bounds() -> None:
    table = errors_of_mode({(0.1, 0.2): 0.2, (0.1, 0.3): 0.05}, plain=0.1)
    computed = Judged(judged(table))
    numbers, shown = figures.survival(computed), figures.side_by_side(computed)
    assert shown["mixture bound"].tolist() == ["4 worse, 4 better"]
    assert shown["survives"].tolist() == ["not in 4 cells of 8 decided"]
    assert numbers is not None
    assert len(numbers) == 2, "the numbers have a line for each bound"


def captions(errors: dict[tuple[float, float], float], plain: float) -> dict[int, str]:
    """Return the captions of the figures of suppression, where these are the errors of AGE_MODE."""
    computed = Judged(judged(errors_of_mode(errors, plain)))
    exhibits = {each.name: each for each in figures.EXHIBITS}
    return {
        figure.number: exhibits[f"figure-{figure.number:02}"].caption_of(computed)
        for figure in FIGURES.values()
        if figure.kind == "suppression"
    }


def test_only_a_figure_with_a_line_speaks_of_it() -> None:
    for number, caption in captions({(0.1, 0.2): 0.2}, plain=0.1).items():
        assert ("the line" in caption) == FIGURES[number].noise_reduction


def test_a_figure_whose_cells_are_all_equal_says_why_it_is_white() -> None:
    of_age_mode = next(
        each.number
        for each in FIGURES.values()
        if each.kind == "suppression" and each.noise_reduction and each.subjects == (AGE_MODE,)
    )
    equal = captions({(0.1, 0.2): 1e-14, (0.1, 0.3): 1e-14 + 1e-22}, plain=1e-14 + 1e-21)
    assert "with a probability of at most 2e-14, so there is nothing" in equal[of_age_mode]
    worse = captions({(0.1, 0.2): 0.2, (0.1, 0.3): 1e-14}, plain=1e-14)
    assert "All cells are equal" not in worse[of_age_mode]


def test_cells_without_amplification_are_those_that_need_more_noise_than_all_records() -> None:
    # The mechanisms on what is left have an epsilon of 1 throughout.
    computed = Judged(judged(errors_of_mode({(0.1, 0.2): 0.2, (0.1, 0.3): 0.3}, plain=0.1)))
    claim = next(each for each in CLAIMS if each.name == "no-gain-without-amplification")
    assert claim.numbers is not None
    found = finding(claim, claim.numbers(computed))
    assert EPSILONS[-1] > 1 >= EPSILONS[-2]
    assert {reading.evidence for reading in found.readings.values()} == {
        "Of 2 cells without amplification 2 worse."
    }


def test_a_figure_in_which_all_is_equal_shows_no_help() -> None:
    equal = Judged(judged(errors_of_mode({(0.1, 0.2): 1e-14}, plain=1e-14)))
    helpful = Judged(judged(errors_of_mode({(0.1, 0.2): 0.05}, plain=0.1)))
    claim = next(each for each in CLAIMS if each.name == "figure-27-shows")
    assert claim.numbers is not None
    assert finding(claim, claim.numbers(equal)).standing == "holds"
    assert finding(claim, claim.numbers(helpful)).standing == "fails"
