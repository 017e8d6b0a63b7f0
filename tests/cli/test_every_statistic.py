"""Quantiles and clusterings in every command on accuracy; means and modes are tested there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Run

Omit = Callable[[str], Run]

STATISTICS = {
    "mean --metric mse": ("--column x", "replace"),
    "median": ("--column x", "add-remove"),
    "median --mechanism exponential": ("--column x", "add-remove"),
    "median --mechanism smooth-student": ("--column x", "replace"),
    "quantile:0.9 --mechanism exponential": ("--column x", "add-remove"),
    "kmeans": ("--columns x,y --k 2", "add-remove"),
    "kmedian": ("--k 2 --candidates 4", "add-remove"),
}


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("command", ["compare", "best", "solve --error 1e5"])
def test_every_statistic_is_known_to_every_command(
    omit_command: Omit, command: str, statistic: str
) -> None:
    options, relation = STATISTICS[statistic]
    words = f"{command} kmedian-synthetic --statistic {statistic} {options} --runs 2 --json"
    run = omit_command(f"{words} --seconds 1" if command == "best" else words)
    assert run.code == 0, run
    answer = run.result
    assert answer.get("target", answer)["neighbours"] == relation


@pytest.mark.parametrize(
    ("statistic", "runs"),
    [("median --mechanism smooth-laplace", 1000), ("kmedian --k 2 --candidates 4", 20)],
)
def test_runs_can_be_as_many_as_in_the_paper(omit_command: Omit, statistic: str, runs: int) -> None:
    relation = "--neighbours replace --delta 1e-3 --omit fixed-size:51"
    run = omit_command(
        f"compare kmedian-synthetic --statistic {statistic} {relation} --runs paper --json"
    )
    assert run.code == 0, run
    assert run.result["rows"][1]["runs"] == runs


@pytest.mark.parametrize("command", ["compare", "best", "solve --error 1"])
def test_an_unknown_statistic_is_answered_with_all_that_are_known(
    omit_command: Omit, command: str
) -> None:
    run = omit_command(f"{command} adult --statistic middle")
    assert run.code == 2
    for each in ("mean", "mode", "all", "median", "quantile:SHARE", "kmeans", "kmedian"):
        assert each in run.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "best", "solve --error 1e5"])
def test_first_centres_are_chosen_in_every_command(omit_command: Omit, command: str) -> None:
    words = f"{command} kmedian-synthetic --statistic kmeans --k 2 --runs 2 --json"
    assert omit_command(f"{words} --start uniform").code == 0
    refused = omit_command(f"{words} --start somewhere")
    assert (refused.code, "--start" in refused.err and "'somewhere'" in refused.err) == (2, True)
