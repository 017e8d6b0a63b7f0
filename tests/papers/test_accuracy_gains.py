"""The accuracy-gains paper: its numbers, its verdicts and its page, with few draws."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omit.accuracy.grids import ErrorGrid
from omit.errors import InvalidInput
from omit.guarantee import Guarantee
from omit.mechanisms.sensitivity import published_laplace
from omit.papers import Reproduction, reproduce
from omit.papers import accuracy_gains as claims
from omit.papers.accuracy_gains import cells
from omit.papers.accuracy_gains.cells import BIMODAL, DELTA, LOGNORMAL, Line
from tests.papers.judging import finding, standing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results() -> Reproduction:
    return reproduce("accuracy-gains", runs=60, where="process")


def _map(results: Reproduction, line: Line) -> ErrorGrid:
    return cells.error_grid_of(results.computed, line)


def _standings(results: Reproduction, name: str) -> list[str]:
    return [each.finding.standing for each in results.verdicts if name in each.claim.exhibits]


def test_delta_is_the_papers() -> None:
    assert pytest.approx(4.9995e-5, rel=1e-6) == DELTA
    assert set(cells.PUBLISHED_RATIOS) == set(cells.ACCEPTED_RATIOS)


def test_the_ratios_of_sensitivities_are_those_of_figure_6() -> None:
    found = reproduce("accuracy-gains", figures=[6], runs=500, where="process")
    ratios = cells.sampled(found.computed, "lognormal", "ratio")
    for key, (low, high) in cells.ACCEPTED_RATIOS.items():
        assert low <= np.median(ratios[key]) <= high


def test_gains_and_losses_are_those_of_figures_8_and_13(results: Reproduction) -> None:
    every, none = claims.gaining(_map(results, LOGNORMAL))
    assert (every, none) == ([0.01, 0.1], [1.0, 3.0, 5.0])
    every, none = claims.gaining(_map(results, BIMODAL))
    assert (every, none) == ([0.01, 0.1, 0.5, 1.0, 3.0], [5.0])


def test_bounds_decide_the_noise_but_not_the_signs(results: Reproduction) -> None:
    sensitivities = [cells.sensitivity_of(line, 0.01) for line in cells.BOUNDS_VARIANTS.values()]
    assert [round(each) for each in sensitivities] == [92, 175, 931, 9435]
    maps = [_map(results, line) for line in cells.BOUNDS_VARIANTS.values()]
    levels = [found.baseline[0] for found in maps]
    assert levels == sorted(levels)
    assert all((found.gains > 0)[:2].all() for found in maps)
    (said,) = (each for each in results.verdicts if "figure-08-bounds" in each.claim.exhibits)
    assert said.finding.standing == "holds", "under every reading"
    assert said.finding.evidence.count("With ") == 4


def test_what_fails_is_figure_5_and_what_holds_in_part_is_half(results: Reproduction) -> None:
    assert _standings(results, "figure-05") == ["fails"]
    assert _standings(results, "figure-08") == ["holds", "holds in part"]
    assert _standings(results, "figure-13") == ["holds"]
    assert _standings(results, "table-01") == ["holds", "holds", "holds in part", "holds"]


def test_a_gain_beyond_the_stated_variance_would_refute_table_1(results: Reproduction) -> None:
    found = _map(results, Line("beta", "global"))
    assert standing(claims.variance_decides, found) == "holds"
    width = np.full_like(found.errors, 1e9)
    gains = replace(found, errors=width, high=found.baseline[:, None] / 2 + 0 * width)
    assert standing(claims.variance_decides, gains) == "fails"


def test_a_narrower_distribution_is_told_from_an_equal_one() -> None:
    """By two standard errors, equal ones are told apart in one direction in 1 of 40 cases."""
    rng = np.random.default_rng(0)
    draws = rng.laplace(size=(400, 2, 1000))
    equal = sum(claims.surely_narrower(first, second) for first, second in draws)
    narrower = sum(claims.surely_narrower(0.7 * first, second) for first, second in draws)
    assert equal <= 20
    assert narrower == 400


@pytest.mark.parametrize("delta", [1e-9, DELTA, 5e-3])
def test_the_published_noise_is_overdrawn_from_where_its_discount_is_no_longer_used(
    delta: float,
) -> None:
    """The mechanism takes the stated beta as long as the largest valid one is not below it."""
    limit = cells.overdrawn_from(delta)
    assert limit is not None
    for factor, valid in ((0.5, True), (0.999, True), (1.001, False), (2.0, False)):
        epsilon = factor * limit
        stated = epsilon / (2 * math.log(2 / delta))
        used = published_laplace(Guarantee(epsilon, delta, "replace")).beta
        assert (used == stated) is valid
        assert (cells.share_of_delta(epsilon, delta) <= 1) is valid
    assert cells.overdrawn_from(delta, largest=0.9 * limit) is None


def test_the_noise_formula_holds_where_it_is_used_and_not_beyond(
    results: Reproduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = finding(claims.noise_formula, results.computed)
    assert found.standing == "holds in part"
    assert "It is private for the epsilons in use" in found.evidence
    assert "0.6 % of the stated one at epsilon = 1" in found.evidence
    assert "57 % at most" in found.evidence
    assert "From epsilon = 12.9 on (delta = 5e-05)" in found.evidence
    for delta, expected in (
        (lambda epsilon, *_: 0.0, "holds"),
        (lambda epsilon, *_: epsilon, "fails"),
    ):
        monkeypatch.setattr(cells, "smooth_laplace_delta", delta)
        assert standing(claims.noise_formula, results.computed) == expected


def test_the_tight_noise_is_never_larger(results: Reproduction) -> None:
    for tight in cells.TIGHT:
        published = _map(results, LOGNORMAL if tight.data == "lognormal" else BIMODAL)
        assert (_map(results, tight).baseline <= published.baseline).all()
    assert len(cells.LINE_EPSILONS) == len(_map(results, BIMODAL).baseline)


def test_the_page_has_thirteen_figures_and_the_table(results: Reproduction, tmp_path: Path) -> None:
    names = [each.exhibit.name for each in results.exhibits]
    assert [f"figure-{number:02}" for number in range(1, 14)] == [
        name for name in names if len(name) == 9 and name <= "figure-13"
    ]
    assert names[-2:] == ["table-01", "better-mechanisms"]
    index = results.write_report(tmp_path)
    assert "Distributions are 60 draws" in index.read_text(encoding="utf-8")
    errors = pd.read_csv(tmp_path / "figure-08.csv")
    assert len(errors) == 60
    assert (errors["low"] <= errors["high"]).all()
    assert len(pd.read_csv(tmp_path / "figure-01.csv")) == 60, "--runs is obeyed"


def test_own_epsilons_leave_claims_about_others_out() -> None:
    found = reproduce("accuracy-gains", figures=[8], runs=10, epsilons=[2.0, 0.1], where="process")
    assert set(found.numbers("figure-08")["epsilon"]) == {0.1, 2.0}
    assert not any("epsilon >= .5" in each.claim.sentence for each in found.verdicts)


def test_the_question_can_be_asked_of_other_data() -> None:
    from omit.papers import OwnData

    data = OwnData.read("adult", "age")
    found = reproduce("accuracy-gains", data=data, epsilons=[0.1], runs=10, where="process")
    assert [each.claim.where for each in found.verdicts] == [
        "Table 1",
        "Section 4.3",
        "Section 4.4",
    ]
    assert found.verdicts[0].finding.standing == "holds"
    with pytest.raises(InvalidInput, match="no exact errors"):
        reproduce("accuracy-gains", exact=False)


def test_verdicts_follow_the_signs_and_cells_that_are_not_sure_refute_nothing(
    results: Reproduction,
) -> None:
    found = _map(results, LOGNORMAL)

    def with_signs(*signs: int) -> ErrorGrid:
        """Return a map whose rows gain (1), lose (-1) or are not sure (0)."""
        width = np.abs(found.baseline)[:, None] * np.ones((1, len(found.sizes)))
        low, high = width.copy(), width.copy()
        for row, sign in enumerate(signs):
            low[row] *= 0.5 if sign >= 0 else 2
            high[row] *= 2 if sign <= 0 else 0.5
        return replace(found, low=low, high=high)

    late = [0.5, 1.0, 3.0, 5.0]
    assert claims.no_gains(with_signs(1, 1, -1, 0, -1, 0), late) == "holds"
    assert claims.no_gains(with_signs(1, 1, 1, -1, -1, -1), late) == "holds in part"
    assert claims.no_gains(with_signs(1, 1, 1, 1, 1, 1), late) == "fails"
    assert claims.all_gain(with_signs(1, 0, -1, -1, -1, -1), [0.01, 0.1]) == "holds"
    assert claims.all_gain(with_signs(1, -1, -1, -1, -1, -1), [0.01, 0.1]) == "holds in part"
    assert claims.exactly_up_to(with_signs(1, 1, -1, -1, -1, -1), 0.1) == "holds"
    assert claims.exactly_up_to(with_signs(-1, -1, -1, -1, -1, -1), 0.1) == "fails"
    assert claims.show_gains(with_signs(1, 1, 0, -1, -1, -1)) == (
        "Sure gains at every rate for epsilon = 0.01, 0.1; at none for epsilon = 0.5, 1, 3, 5 "
        f"({len(found.sizes)} of {found.gains.size} cells are not sure)."
    )
    everywhere = with_signs(*[1] * 6)
    assert standing(claims.every_sample_gains, everywhere) == "holds"
    assert standing(claims.none_gains, everywhere) == "fails"
