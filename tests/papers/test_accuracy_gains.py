"""The accuracy-gains paper: its numbers, its verdicts and its page, with few draws."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omit.accuracy.grids import GainMap
from omit.guarantee import Guarantee
from omit.mechanisms.sensitivity import published_laplace
from omit.papers.accuracy_gains.cells import (
    ACCEPTED_RATIOS,
    DELTA,
    LINE_EPSILONS,
    PAPER,
    PUBLISHED_RATIOS,
    Results,
    compute,
    steps,
)
from omit.papers.accuracy_gains.claims import (
    all_gain,
    exactly_up_to,
    figure_verdicts,
    gaining,
    no_gains,
    overdrawn_from,
    share_of_delta,
    show_gains,
    table_verdicts,
)
from omit.papers.accuracy_gains.page import exhibits, notes
from omit.papers.reproduction import write_reproduction


@pytest.fixture(scope="module")
def results() -> Results:
    counted: list[int] = []
    found = compute(60, lambda: counted.append(1))
    assert len(counted) == steps()
    return found


def test_delta_is_the_papers() -> None:
    assert pytest.approx(4.9995e-5, rel=1e-6) == DELTA
    assert set(PUBLISHED_RATIOS) == set(ACCEPTED_RATIOS)


def test_the_ratios_of_sensitivities_are_those_of_figure_6(results: Results) -> None:
    for key, (low, high) in ACCEPTED_RATIOS.items():
        assert low <= np.median(results.sampled["lognormal"].ratios[key]) <= high


def test_gains_and_losses_are_those_of_figures_8_and_13(results: Results) -> None:
    every, none = gaining(results.errors["lognormal"])
    assert (every, none) == ([0.01, 0.1], [1.0, 3.0, 5.0])
    every, none = gaining(results.errors["bimodal"])
    assert (every, none) == ([0.01, 0.1, 0.5, 1.0, 3.0], [5.0])


def test_bounds_decide_the_noise_but_not_the_signs(results: Results) -> None:
    assert [round(each) for each in results.sensitivity_by_bounds.values()] == [92, 175, 931, 9435]
    levels = [found.baseline[0] for found in results.by_bounds.values()]
    assert levels == sorted(levels)
    signs = [(found.gains > 0)[:2].all() for found in results.by_bounds.values()]
    assert all(signs)


def test_what_does_not_hold_is_figure_5_and_what_holds_in_part_is_half(results: Results) -> None:
    verdicts = {
        name: [each.standing for each in found] for name, found in figure_verdicts(results).items()
    }
    assert verdicts["figure-05"] == ["does not hold"]
    assert verdicts["figure-08"] == ["holds", "holds in part"]
    assert verdicts["figure-13"] == ["holds"]
    assert [each.standing for each in table_verdicts(results)] == [
        "holds",
        "holds",
        "holds in part",
        "holds",
    ]


@pytest.mark.parametrize("delta", [1e-9, DELTA, 5e-3])
def test_the_published_noise_is_overdrawn_from_where_its_discount_is_no_longer_used(
    delta: float,
) -> None:
    """The mechanism takes the stated beta as long as the largest valid one is not below it."""
    limit = overdrawn_from(delta)
    assert limit is not None
    for factor, valid in ((0.5, True), (0.999, True), (1.001, False), (2.0, False)):
        epsilon = factor * limit
        stated = epsilon / (2 * math.log(2 / delta))
        used = published_laplace(Guarantee(epsilon, delta, "replace")).beta
        assert (used == stated) is valid
        assert (share_of_delta(epsilon, delta) <= 1) is valid
    assert overdrawn_from(delta, largest=0.9 * limit) is None


def test_the_noise_formula_holds_where_it_is_used_and_not_beyond(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = figure_verdicts(results)["figure-14"][1]
    assert found.standing == "holds in part"
    assert "It is private for the epsilons in use" in found.finding
    assert "0.6 % of the stated one at epsilon = 1" in found.finding
    assert "57 % at most" in found.finding
    assert "From epsilon = 12.9 on (delta = 5e-05)" in found.finding
    from omit.papers.accuracy_gains import claims as module

    monkeypatch.setattr(module, "smooth_laplace_delta", lambda epsilon, *_: 0.0)
    assert figure_verdicts(results)["figure-14"][1].standing == "holds"
    monkeypatch.setattr(module, "smooth_laplace_delta", lambda epsilon, *_: epsilon)
    assert figure_verdicts(results)["figure-14"][1].standing == "does not hold"


def test_the_tight_noise_is_never_larger(results: Results) -> None:
    for name in ("lognormal", "bimodal"):
        tight, published = results.tight_errors[name], results.errors[name]
        assert (tight.baseline <= published.baseline).all()
    assert len(LINE_EPSILONS) == len(results.errors["bimodal"].baseline)


def test_the_page_has_thirteen_figures_and_the_table(results: Results, tmp_path: Path) -> None:
    made = exhibits(results)
    names = [each.name for each in made]
    assert [f"figure-{number:02}" for number in range(1, 14)] == [
        name for name in names if len(name) == 9 and name <= "figure-13"
    ]
    assert names[-1] == "table-01"
    index = write_reproduction(tmp_path, PAPER, made, notes=notes(results, 3.0))
    assert "It took 3 seconds." in index.read_text(encoding="utf-8")
    errors = pd.read_csv(tmp_path / "figure-08.csv")
    assert len(errors) == 60
    assert (errors["low"] <= errors["high"]).all()


def test_verdicts_follow_the_signs_and_cells_that_are_not_sure_refute_nothing(
    results: Results,
) -> None:
    found = results.errors["lognormal"]

    def with_signs(*signs: int) -> GainMap:
        """Return a map whose rows gain (1), lose (-1) or are not sure (0)."""
        width = np.abs(found.baseline)[:, None] * np.ones((1, len(found.sizes)))
        low, high = width.copy(), width.copy()
        for row, sign in enumerate(signs):
            low[row] *= 0.5 if sign >= 0 else 2
            high[row] *= 2 if sign <= 0 else 0.5
        return replace(found, low=low, high=high)

    late = [0.5, 1.0, 3.0, 5.0]
    assert no_gains(with_signs(1, 1, -1, 0, -1, 0), late) == "holds"
    assert no_gains(with_signs(1, 1, 1, -1, -1, -1), late) == "holds in part"
    assert no_gains(with_signs(1, 1, 1, 1, 1, 1), late) == "does not hold"
    assert all_gain(with_signs(1, 0, -1, -1, -1, -1), [0.01, 0.1]) == "holds"
    assert all_gain(with_signs(1, -1, -1, -1, -1, -1), [0.01, 0.1]) == "holds in part"
    assert exactly_up_to(with_signs(1, 1, -1, -1, -1, -1), 0.1) == "holds"
    assert exactly_up_to(with_signs(-1, -1, -1, -1, -1, -1), 0.1) == "does not hold"
    assert show_gains(with_signs(1, 1, 0, -1, -1, -1)) == (
        "Sure gains at every rate for epsilon = 0.01, 0.1; at none for epsilon = 0.5, 1, 3, 5 "
        f"({len(found.sizes)} of {found.gains.size} cells are not sure)."
    )
    claims = figure_verdicts(
        replace(results, errors={**results.errors, "lognormal": with_signs(*[1] * 6)})
    )
    assert [each.standing for each in claims["figure-08"]] == ["holds", "does not hold"]
