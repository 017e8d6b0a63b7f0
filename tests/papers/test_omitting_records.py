"""The paper on omitting records as declared figures, judged cells and verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from omit import Guarantee, NoisyMode, OutlierScoreSuppression, PoissonSampling, read
from omit.errors import InvalidInput
from omit.papers.omitting_records.claims import survival, verdicts
from omit.papers.omitting_records.computations import CLUSTERING_LOSS, COLUMN_ERROR
from omit.papers.omitting_records.figures import (
    EPSILONS,
    FIGURES,
    Figure,
    Subject,
    cells,
    figures,
    needed_data,
)
from omit.papers.omitting_records.table import judged, of_figure
from omit.study.run import run_study
from omit.utility.expected import expected_error

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
        figures([76])


def test_figures_share_cells() -> None:
    first, fourth = FIGURES[1], FIGURES[4]
    alone = len(cells([first])) + len(cells([fourth]))
    shared = 4 * 100  # the mean of Adult age with Laplace noise: no omission and 99 rates
    assert len(cells([first, fourth])) == alone - shared


def test_only_the_data_that_figures_show_are_needed() -> None:
    assert needed_data([FIGURES[10], FIGURES[2]]) == ("adult",)
    assert set(needed_data(figures())) == {"adult", "census", "irish", "kmedian-synthetic"}


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
    figure = Figure(57, "suppression", (Subject("adult", "age", "mode, Laplace"),), False)
    shown = of_figure(small, figure)
    assert set(shown["kind"]) == {"none", "outlier-score"}
    assert not shown[shown["kind"] == "outlier-score"]["noise_reduction"].any()


def test_survival_counts_every_cell_once(small: pd.DataFrame) -> None:
    table = survival(small)
    counted = table[["worse", "undecided", "better", "unattainable"]].sum(axis=1)
    # Two (m, M) at two epsilons for the mode, at one for k-median.
    assert counted.tolist() == [4, 4, 2, 2]


def test_claims_without_their_cells_are_left_open(small: pd.DataFrame) -> None:
    said = [each.claim for each in verdicts(small)]
    assert any("sampling makes every statistic worse" in claim for claim in said)
    assert not any("hours-per-week" in claim for claim in said)


def _mode_table(error: float) -> pd.DataFrame:
    """Return a table in which the sampled mode of Adult age has this error at all rates."""
    line = {"data": "adult", "column": "age", "mechanism": "mode, Laplace", "runs": 2000}
    line |= {"noise_reduction": True, "method": "exact", "base_epsilon": 1.0, "kept": 1.0}
    lines = []
    for epsilon in EPSILONS:
        plain = {"kind": "none", "rate": None, "error": 0.1, "low": 0.1, "high": 0.1}
        lines.append(line | {"epsilon": epsilon, **plain})
        for rate in (0.2, 0.8):
            sampled = {"kind": "poisson", "rate": rate, "error": error, "low": error, "high": error}
            lines.append(line | {"epsilon": epsilon, **sampled})
    return judged(pd.DataFrame(lines).assign(m=None, M=None, bound=None))


@pytest.mark.parametrize(("error", "standing"), [(0.7, "holds"), (0.2, "does not hold")])
def test_a_verdict_follows_from_the_numbers(error: float, standing: str) -> None:
    found = {each.claim: each.standing for each in verdicts(_mode_table(error))}
    collapse = next(claim for claim in found if "to over" in claim)
    assert found[collapse] == standing


def test_a_statistic_that_sampling_improves_is_counted_against_the_paper() -> None:
    never = verdicts(_mode_table(0.05))[0]
    assert never.standing == "holds in part"
    assert "8 better" in never.finding


def test_results_are_the_same_wherever_a_cell_is_computed(tmp_path: Path) -> None:
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
    there = run_study(tuple(reversed(wanted)), tmp_path / "there", "cores:2").to_frame()
    merged = here.merge(there, on="identity", suffixes=("", "_there"))
    assert len(merged) == 4
    assert (merged["error"] == merged["error_there"]).all()
