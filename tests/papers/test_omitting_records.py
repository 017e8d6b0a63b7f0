"""The paper on omitting records as declared figures, judged cells and verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omit import Guarantee, NoisyMode, OutlierScoreSuppression, PoissonSampling, read
from omit.accuracy.expected import expected_error
from omit.errors import InvalidInput
from omit.papers import Claim, Finding, OwnData, Settings, paper, reproduce
from omit.papers.omitting_records import CLAIMS
from omit.papers.omitting_records.cells import (
    AGE_MEAN,
    AGE_MODE,
    CLUSTERING_LOSS,
    COLUMN_ERROR,
    EPSILONS,
    FIGURES,
    LLOYD,
    MEDIAN,
    PaperFigure,
    Subject,
    figure_cells,
    judged,
    of_figure,
)
from omit.papers.omitting_records.figures import survival
from omit.study.run import run_study
from tests.papers.judging import Judged

pytestmark = pytest.mark.slow

PAPER = paper("omitting-records")


def verdicts(table: pd.DataFrame) -> list[tuple[Claim, Finding]]:
    """Return every claim that a judged table decides, with its finding."""
    about_cells = (
        claim for claim in CLAIMS if not claim.needs_no_cells and "table-1" not in claim.exhibits
    )
    found = ((claim, claim.judged(Judged(table))) for claim in about_cells)
    return [(claim, finding) for claim, finding in found if finding is not None]


NOTHING = {"rate": None, "m": None, "M": None, "bound": None}


def test_the_paper_has_75_figures_in_its_own_order() -> None:
    assert sorted(FIGURES) == list(range(1, 76))
    # The captions of the paper's appendix.
    captions = {
        7: ("census", "FICA", "mean, Gaussian"),
        12: ("irish", "Age", "mode, exponential"),
        16: ("adult", "age", "mean, Gaussian"),
        30: ("adult", "age", "mode, exponential mechanism"),
        37: ("irish", "Age", "mode, exponential"),
        52: ("census", "FICA", "mean, Gaussian"),
        70: ("irish", "HighestEducationCompleted", "mode, Gaussian"),
    }
    for number, subject in captions.items():
        assert Subject(*subject) in FIGURES[number].subjects
    assert all(FIGURES[number].noise_reduction for number in range(1, 45))
    assert not any(FIGURES[number].noise_reduction for number in range(45, 75))


def test_a_figure_that_the_paper_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="1 to 75"):
        PAPER.chosen(figures=[76])


def test_figures_share_cells() -> None:
    first, fourth = FIGURES[1], FIGURES[4]
    alone = sum(len(figure_cells(figure, Settings())) for figure in (first, fourth))
    shared = 4 * 100  # the mean of Adult age with Laplace noise: no omission and 99 rates
    both = PAPER.cells(PAPER.chosen(figures=[1, 4]), Settings())
    assert len(both) == alone - shared


def test_runs_are_those_of_every_cell_that_may_be_simulated() -> None:
    for number in (1, 3, 14):
        for cell in figure_cells(FIGURES[number], Settings(runs=7)):
            assert cell.parameters["runs"] == 7


def test_only_the_data_that_figures_show_are_needed() -> None:
    needed = {name for each in PAPER.chosen(figures=[2, 10]) for name in each.data}
    assert needed == {"adult"}
    assert set(PAPER.data) == {"adult", "census", "irish", "kmedian-synthetic"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Return judged results of a few cells of every kind."""
    column = {
        "data": "adult",
        "column": "age",
        "mechanism": "mode, Laplace",
        "epsilon": [0.25, 1.0],
        "runs": 2000,
        "exact": True,
    }
    points = {
        "data": "kmedian-synthetic",
        "mechanism": "k-median",
        "epsilon": 1.0,
        "runs": 40,
        "measured_on": "all",
        "bounds": "registered",
    }
    scores = {"rate": None, "m": 0.1, "M": [0.1, 0.3], "bound": ["mixture", "published"]}
    wanted = [
        cell
        for computation, common in ((COLUMN_ERROR, column), (CLUSTERING_LOSS, points))
        for cell in (
            *computation.grid(kind="none", noise_reduction=True, **NOTHING, **common),
            *computation.grid(
                kind="poisson", noise_reduction=True, **NOTHING | {"rate": [0.1, 0.6]}, **common
            ),
            *computation.grid(
                kind="outlier-score", noise_reduction=[True, False], **scores, **common
            ),
        )
    ]
    folder = tmp_path_factory.mktemp("study")
    return judged(run_study(wanted, folder / "store", "process").to_frame())


def test_a_cell_of_a_column_is_the_expected_error_there(small: pd.DataFrame) -> None:
    ages = read("adult", "age")
    for row in small[small["column"] == "age"].itertuples():
        if row.standing == "unattainable":
            continue
        omission = None
        if row.kind == "poisson":
            omission = PoissonSampling(rate=row.rate)
        elif row.kind == "outlier-score":
            omission = OutlierScoreSuppression(row.m, row.M, bound=row.bound)  # type: ignore[assignment]
        error = expected_error(
            ages,
            NoisyMode(),
            Guarantee(row.epsilon),
            omission,
            noise_reduction=bool(row.noise_reduction),
        )
        assert row.error == pytest.approx(error.value, rel=1e-6)


def test_the_published_bound_cannot_reach_what_the_mixture_bound_can(small: pd.DataFrame) -> None:
    cell = small[(small["M"] == 0.3) & (small["epsilon"] == 0.25) & (small["column"] == "age")]
    standing = cell[cell["noise_reduction"]].set_index("bound")["standing"]
    assert standing["published"] == "unattainable"
    assert standing["mixture"] == "worse"


def test_gains_are_errors_without_omission_less_errors_with_it(small: pd.DataFrame) -> None:
    known = small[small["error"].notna()]
    assert np.allclose(known["gain"], known["without_omission"] - known["error"])
    assert (known[known["kind"] == "none"]["gain"] == 0).all()
    simulated = known[known["difference"].notna()]
    assert np.allclose(simulated["gain"], -simulated["difference"])


def test_poisson_sampling_keeps_its_rate(small: pd.DataFrame) -> None:
    sampled = small[small["kind"] == "poisson"]
    assert np.allclose(sampled["kept"], sampled["rate"])


def test_a_figure_shows_its_own_rows(small: pd.DataFrame) -> None:
    figure = PaperFigure(57, "suppression", (AGE_MODE,), False)
    shown = of_figure(small, figure)
    assert set(shown["kind"]) == {"none", "outlier-score"}
    assert not shown[shown["kind"] == "outlier-score"]["noise_reduction"].any()


def test_survival_counts_every_cell_once(small: pd.DataFrame) -> None:
    table = survival(Judged(small))
    assert table is not None
    counted = table[["worse", "undecided", "better", "unattainable"]].sum(axis=1)
    # Two (m, M) at two epsilons for the mode, at one for k-median.
    assert counted.tolist() == [4, 4, 2, 2]


def test_claims_without_their_cells_are_left_open(small: pd.DataFrame) -> None:
    said = [claim.sentence for claim, _ in verdicts(small)]
    assert any("sampling makes every statistic worse" in claim for claim in said)
    assert not any("hours-per-week" in claim for claim in said)


def _table(subject: Subject, plain: float, rows: list[dict[str, object]]) -> pd.DataFrame:
    """Return a judged table of exact errors of one subject at every epsilon."""
    line: dict[str, object] = {"data": subject.data, "column": subject.column, "runs": 2000}
    line |= {"mechanism": subject.mechanism, "method": "exact", "kept": 0.5, "exact": True}
    line |= {"noise_reduction": True, "base_epsilon": 1.0, "rate": None, "m": None, "M": None}
    lines = []
    for epsilon in EPSILONS:
        start = {"kind": "none", "error": plain, "low": plain, "high": plain, "bound": None}
        lines.append(line | {"epsilon": epsilon} | start)
        for row in rows:
            error = {"low": row["error"], "high": row["error"], "bound": None}
            lines.append(line | {"epsilon": epsilon} | error | row)
    return judged(pd.DataFrame(lines))


def _sampled(error: float) -> list[dict[str, object]]:
    return [{"kind": "poisson", "rate": rate, "error": error} for rate in (0.2, 0.5, 0.8)]


def _standing(table: pd.DataFrame, words: str) -> str:
    return next(said.standing for claim, said in verdicts(table) if words in claim.sentence)


@pytest.mark.parametrize(
    ("error", "collapse", "never"),
    [
        (0.7, "holds", "holds"),
        (0.2, "fails", "holds"),
        (0.05, "fails", "fails"),
        (0.1, "fails", "fails"),
    ],
)
def test_a_verdict_follows_from_the_numbers(error: float, collapse: str, never: str) -> None:
    table = _table(AGE_MODE, 0.1, _sampled(error))
    assert _standing(table, "from under 18 %") == collapse
    assert _standing(table, "every statistic worse") == never


@pytest.mark.parametrize(("error", "standing"), [(0.2, "holds"), (0.3, "fails")])
def test_the_mean_stays_small_or_does_not(error: float, standing: str) -> None:
    assert _standing(_table(AGE_MEAN, 0.1, _sampled(error)), "less than .25 %") == standing


@pytest.mark.parametrize(
    ("mixture", "standing"), [(0.1, "holds"), (0.6, "holds in part"), (3.0, "fails")]
)
def test_privacy_degrades_if_the_base_must_be_more_private(mixture: float, standing: str) -> None:
    rows: list[dict[str, object]] = [
        {
            "kind": "outlier-score",
            "m": 0.1,
            "M": 0.3,
            "bound": bound,
            "error": 0.5,
            "base_epsilon": base,
        }
        for bound, base in (("mixture", mixture), ("published", 0.01))
    ]
    assert _standing(_table(AGE_MEAN, 0.1, rows), "degrades quickly") == standing


@pytest.mark.parametrize(
    ("errors", "survives"),
    [
        ((0.2, 0.3), "in all 8 decided of 8"),
        ((0.05, 0.3), "not in 4 cells of 8 decided"),
        ((0.05, 0.06), "not in 8 cells of 8 decided"),
        ((0.1, 0.1), "in all 8 decided of 8"),
    ],
)
def test_the_conclusion_survives_if_nothing_is_better(
    errors: tuple[float, float], survives: str
) -> None:
    rows: list[dict[str, object]] = [
        {"kind": "outlier-score", "m": 0.1, "M": M, "bound": "mixture", "error": error}
        for M, error in zip((0.2, 0.3), errors, strict=True)
    ]
    table = survival(Judged(_table(AGE_MODE, 0.1, rows)))
    assert table is not None
    assert table["conclusion survives"].tolist() == [survives]


def test_simulated_errors_differ_only_beyond_four_standard_errors() -> None:
    rows: list[dict[str, object]] = [
        {"kind": "poisson", "rate": 0.5, "error": 0.1 + shift, "method": "simulated"}
        for shift in (0.025, 0.035)
    ]
    table = _table(AGE_MODE, 0.1, rows)
    # As if both errors had a standard error of .01.
    results = table.assign(low=table["error"] - 0.0196, high=table["error"] + 0.0196)
    kept = ["without_omission", "plain_low", "plain_high", "plain_method", "gain", "standing"]
    again = judged(results.drop(columns=kept))
    assert set(again[again["kind"] == "poisson"]["standing"]) == {"undecided"}
    sharper = results.assign(low=table["error"] - 0.0098, high=table["error"] + 0.0098)
    again = judged(sharper.drop(columns=kept))
    assert again[again["kind"] == "poisson"]["standing"].tolist()[:2] == ["undecided", "worse"]


def _judged_again(table: pd.DataFrame, **changes: object) -> pd.DataFrame:
    derived = ["without_omission", "plain_low", "plain_high", "plain_method", "gain", "standing"]
    return judged(table.drop(columns=derived).assign(**changes))


@pytest.mark.parametrize(
    ("error", "standing"),
    [(0.12, "undecided"), (0.13, "worse"), (0.08, "undecided"), (0.07, "better")],
)
def test_exact_errors_differ_where_their_intervals_part(error: float, standing: str) -> None:
    table = _table(AGE_MODE, 0.1, [{"kind": "poisson", "rate": 0.5, "error": error}])
    wide = _judged_again(table, low=table["error"] - 0.012, high=table["error"] + 0.012)
    assert set(wide[wide["kind"] == "poisson"]["standing"]) == {standing}


@pytest.mark.parametrize(
    ("shift", "deviation", "runs", "standing"),
    [
        (0.03, 0.005, 10_000, "worse"),
        (0.03, 0.01, 10_000, "undecided"),
        (-0.03, 0.005, 10_000, "better"),
        (-0.03, 0.01, 10_000, "undecided"),
        # Student's quantile that stands for 4 is 126 with 2 degrees of freedom, and 33 with 3.
        (0.03, 0.0005, 3, "undecided"),
        (0.03, 0.0002, 3, "worse"),
        (-0.03, 0.0005, 3, "undecided"),
        (-0.03, 0.0002, 3, "better"),
    ],
)
def test_runs_in_pairs_are_judged_by_the_spread_of_their_difference(
    shift: float, deviation: float, runs: int, standing: str
) -> None:
    row: dict[str, object] = {"kind": "poisson", "rate": 0.5, "error": 0.1 + shift}
    table = _table(AGE_MODE, 0.1, [row])
    # Each by itself has a standard error of .0051, or .051: the pairs decide.
    for width in (0.01, 0.1):
        paired = _judged_again(
            table,
            low=table["error"] - width,
            high=table["error"] + width,
            method="simulated",
            runs=runs,
            difference=table["error"] - 0.1,
            difference_deviation=deviation,
        )
        assert set(paired[paired["kind"] == "poisson"]["standing"]) == {standing}


@pytest.mark.parametrize(
    ("worse", "better", "equal", "standing"),
    [
        (99, 1, 0, "holds"),
        (98, 2, 0, "holds in part"),
        (75, 25, 0, "holds in part"),
        (74, 26, 0, "fails"),
        (95, 0, 5, "holds"),
        (94, 0, 6, "holds in part"),
        (0, 0, 100, "fails"),
    ],
)
def test_a_claim_that_omission_is_worse_stands_by_the_cells_that_are_decided(
    worse: int, better: int, equal: int, standing: str
) -> None:
    errors = [0.2] * worse + [0.05] * better + [0.1] * equal
    rows: list[dict[str, object]] = [
        {"kind": "poisson", "rate": 0.5, "error": error} for error in errors
    ]
    assert _standing(_table(AGE_MODE, 0.1, rows), "every statistic worse") == standing


@pytest.mark.parametrize(("worse", "standing"), [(10, "holds"), (9, "not tested")])
def test_a_claim_is_not_tested_where_hardly_a_cell_is_decided(worse: int, standing: str) -> None:
    rows: list[dict[str, object]] = [
        {"kind": "poisson", "rate": 0.5, "error": error}
        for error in [0.2] * worse + [0.1] * (100 - worse)
    ]
    table = _table(AGE_MODE, 0.1, rows)
    wide = _judged_again(table, low=table["error"] - 0.012, high=table["error"] + 0.012)
    assert _standing(wide, "every statistic worse") == standing


@pytest.mark.parametrize(
    ("low_rate", "high_rate", "standing"),
    [
        (1.9, 0.2, "holds"),
        (2.1, 0.2, "fails"),
        (0.2, 0.3, "fails"),
    ],
)
def test_the_mean_may_err_more_at_low_rates(
    low_rate: float, high_rate: float, standing: str
) -> None:
    rows: list[dict[str, object]] = [
        {"kind": "poisson", "rate": 0.2, "error": low_rate},
        {"kind": "poisson", "rate": 0.6, "error": high_rate},
    ]
    assert _standing(_table(AGE_MEAN, 0.1, rows), "less than .25 %") == standing


@pytest.mark.parametrize(
    ("plain", "error", "standing"),
    [(0.1, 0.61, "holds"), (0.1, 0.59, "fails"), (0.2, 0.7, "fails")],
)
def test_the_mode_collapses_from_below_18_to_above_60_percent(
    plain: float, error: float, standing: str
) -> None:
    assert _standing(_table(AGE_MODE, plain, _sampled(error)), "from under 18 %") == standing


@pytest.mark.parametrize(("error", "standing"), [(1e-4, "holds in part"), (0.01, "fails")])
def test_the_mode_of_hours_has_less_than_half_of_the_records(error: float, standing: str) -> None:
    column = read("adult", "hours-per-week")
    assert 2 * int(column.counts.max()) < column.size
    table = _table(Subject("adult", "hours-per-week", "mode, Laplace"), 1e-5, _sampled(error))
    assert _standing(table, "more than half") == standing


def test_what_is_hardly_ever_missed_is_told_by_the_upper_end_of_its_interval() -> None:
    hours = Subject("adult", "hours-per-week", "mode, Laplace")
    table = _table(hours, 1e-14, _sampled(1e-14)).assign(high=4.41e-11)
    (said,) = (said for claim, said in verdicts(table) if "more than half" in claim.sentence)
    assert "at most 4.5e-11 " in said.evidence


def _scored(*errors: float, bound: str = "published") -> list[dict[str, object]]:
    return [
        {"kind": "outlier-score", "m": 0.1, "M": 0.2 + step / 10, "bound": bound, "error": error}
        for step, error in enumerate(errors)
    ]


@pytest.mark.parametrize(
    ("errors", "standing", "said"),
    [
        ((0.12, 0.7), "holds", "0.0200 to 0.600"),
        ((0.13, 0.7), "fails", "0.0300 to 0.600"),
        ((0.12, 0.8), "fails", "0.0200 to 0.700"),
    ],
)
def test_what_suppression_costs_the_mean(
    errors: tuple[float, float], standing: str, said: str
) -> None:
    found = verdicts(_table(AGE_MEAN, 0.1, _scored(*errors)))
    (cost,) = [each for claim, each in found if "as little as .021" in claim.sentence]
    assert cost.standing == standing
    assert said in cost.evidence


@pytest.mark.parametrize(
    ("error", "standing"),
    [(0.97, "holds"), (0.5, "fails"), (1.02, "fails")],
)
def test_what_suppression_costs_the_mode(error: float, standing: str) -> None:
    table = _table(AGE_MODE, 0.1, _scored(0.05, error))
    assert _standing(table, "up to 87.9") == standing


@pytest.mark.parametrize(
    ("cells", "sampled", "standing"),
    [
        ((0.5, 0.6), 0.3, "holds"),
        ((0.5, 0.2), 0.3, "holds in part"),
        ((*[0.5] * 9, 0.2), 0.3, "holds in part"),
        ((0.1, 0.2), 0.3, "fails"),
    ],
)
def test_sampling_that_keeps_as_many_is_compared_with_suppression(
    cells: tuple[float, ...], sampled: float, standing: str
) -> None:
    # Where m = M, suppression is sampling and is no evidence, however small its error.
    diagonal: dict[str, object] = {"kind": "outlier-score", "m": 0.1, "M": 0.1, "error": 0.01}
    for extra in (0.01, 0.99):
        rows = [
            *_sampled(sampled),
            *_scored(*cells, bound="mixture"),
            diagonal | {"bound": "mixture", "error": extra},
        ]
        assert _standing(_table(AGE_MODE, 0.1, rows), "leaves as many") == standing


def _lloyd(rows: list[dict[str, object]]) -> pd.DataFrame:
    return _table(LLOYD, 1.0, rows)


@pytest.mark.parametrize(
    ("ratios", "standing"),
    [
        ({0.5: 1.05, 0.1: 1.1, 0.01: 1.3}, "holds"),
        ({0.5: 1.15, 0.1: 1.1, 0.01: 1.3}, "holds in part"),
        ({0.5: 1.05, 0.1: 1.3, 0.01: 1.3}, "holds in part"),
        ({0.5: 1.05, 0.1: 1.1, 0.01: 1.1}, "holds in part"),
        ({0.5: 1.15, 0.1: 1.1, 0.01: 1.1}, "fails"),
    ],
)
def test_a_spike_is_at_low_rates_only(ratios: dict[float, float], standing: str) -> None:
    rows: list[dict[str, object]] = [
        {"kind": "poisson", "rate": rate, "error": ratio} for rate, ratio in ratios.items()
    ]
    assert _standing(_lloyd(rows), "spikes near") == standing


@pytest.mark.parametrize(
    ("error", "standing", "said"),
    [
        (0.9, "holds", "gain +0.1 ± 0.02"),
        (1.1, "fails", "gain -0.1 ± 0.02"),
        (1.01, "not tested", "gain -0.01 ± 0.02"),
    ],
)
def test_a_gain_is_what_the_error_falls_by(error: float, standing: str, said: str) -> None:
    cell: dict[str, object] = {"kind": "outlier-score", "m": 0.1, "M": 0.1, "error": error}
    table = _lloyd([cell | {"bound": "published"}])
    table = _judged_again(
        table,
        method="simulated",
        difference=table["error"] - 1.0,
        difference_deviation=0.01,
    )
    (gains,) = [each for claim, each in verdicts(table) if "gains a little" in claim.sentence]
    assert gains.standing == standing
    assert said in gains.evidence
    mixed = table["epsilon"] == 0.25
    if standing == "holds":
        some = table.assign(standing=table["standing"].where(~mixed, "undecided"))
        assert _standing(some, "gains a little") == "holds in part"


@pytest.mark.parametrize(("error", "standing"), [(1.09, "holds"), (0.5, "holds"), (1.11, "fails")])
def test_clusterings_lose_little_if_no_cell_loses_a_tenth(error: float, standing: str) -> None:
    table = _lloyd(_scored(1.0, error, bound="mixture"))
    assert _standing(table, "remains small throughout") == standing


def test_the_largest_change_of_k_median_has_no_sign() -> None:
    rows: list[dict[str, object]] = [{"kind": "poisson", "rate": 0.5, "error": 1.25}]
    table = _table(MEDIAN, 1.0, rows)
    (median,) = [each for claim, each in verdicts(table) if "k-median worse" in claim.sentence]
    assert "more than 25.0%" in median.evidence


def test_results_are_the_same_in_whichever_order_cells_are_computed(tmp_path: Path) -> None:
    wanted = CLUSTERING_LOSS.grid(
        data="kmedian-synthetic",
        mechanism="k-median",
        epsilon=[0.5, 1.0],
        runs=12,
        measured_on="all",
        bounds="registered",
        kind="poisson",
        noise_reduction=True,
        **NOTHING | {"rate": [0.3, 0.7]},
    )
    here = run_study(wanted, tmp_path / "here", "process").to_frame()
    there = run_study(tuple(reversed(wanted)), tmp_path / "there", "process").to_frame()
    merged = here.merge(there, on="identity", suffixes=("", "_there"))
    assert len(merged) == 4
    assert (merged["error"] == merged["error_there"]).all()


def test_the_question_can_be_asked_of_other_data(tmp_path: Path, few: None) -> None:
    file = tmp_path / "ages.csv"
    file.write_text("age\n" + "\n".join(str(20 + i % 9) for i in range(40)) + "\n")
    data = OwnData.read(str(file), "age", (0.0, 100.0))
    found = reproduce("omitting-records", data=data, epsilons=[1.0], runs=5, where="process")
    assert {each.exhibit.name for each in found.exhibits} >= {"conclusion", "figure-01"}
    assert set(found.numbers("figure-01")["epsilon"]) == {1.0}
    assert any("every statistic worse" in each.claim.sentence for each in found.verdicts)
    assert "ages.csv age" in found.exhibits[1].exhibit.title
    page = found.write_report(tmp_path / "out").read_text(encoding="utf-8")
    assert "for the curator&#39;s eyes only" in page
    other = OwnData.read(str(file), "age", (0.0, 90.0))
    assert other.content != data.content, "other bounds are other data"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make figures quick: one rate, and two probabilities."""
    from omit.papers.omitting_records import cells

    monkeypatch.setattr(cells, "RATES", (0.5,))
    monkeypatch.setattr(cells, "PROBABILITIES", (0.1, 0.3))
