"""Processes on this machine."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

import pandas as pd
import pytest

from omit.errors import InvalidInput
from omit.study.cell import Cell, Computation
from omit.study.results import read_results
from omit.study.run import run_study
from omit.study.store import read_store
from omit.study.workers import OneProcess
from tests.study.computations import deadly, matrix_mean, threads

pytestmark = pytest.mark.slow


def test_results_in_processes_are_those_in_this_process_bit_for_bit(tmp_path: Path) -> None:
    cells = (*matrix_mean.grid(data=["a", "b", "c"], scale=[1, 0.1, 7]), threads.cell())
    here = run_study(cells, tmp_path / "here", "process").to_frame()
    there = run_study(cells, tmp_path / "there", "cores:2").to_frame()
    pd.testing.assert_frame_equal(here, there, check_exact=True)


def test_a_process_that_dies_costs_time_only(tmp_path: Path) -> None:
    remember = str(tmp_path / "died")
    cells = deadly.grid(number=range(20), dies=False, remember=remember)
    cells += (deadly.cell(number=20, dies=True, remember=remember),)
    results = run_study(cells, tmp_path / "store", "cores:2")
    assert (tmp_path / "died").exists()
    assert [results.row(cell)["answer"] for cell in cells] == list(range(21))


def test_a_cell_that_kills_every_process_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    cells = deadly.grid(number=range(8), dies=False, remember="")
    culprit = deadly.cell(number=8, dies=True, remember="")
    results = run_study((*cells, culprit), tmp_path / "store", "cores:2", failures="return")
    assert [failure.cell for failure in results.failures] == [culprit]
    assert results.failures[0].reason == "its worker died"
    assert len(results) == 8


def test_what_cannot_be_sent_to_a_worker_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwilling(cell: Cell) -> object:
        raise TypeError("no")

    monkeypatch.setattr(Computation, "__reduce__", unwilling, raising=False)
    with pytest.raises(InvalidInput, match="could not take cells of 'matrix mean'"):
        run_study([matrix_mean.cell(data="a", scale=1)], tmp_path / "store", "cores:1")
    assert len(read_store(tmp_path / "store")) == 0
    assert len(read_results(tmp_path / "store")) == 0


class SlowPool:
    """A pool that takes a task from its queue a little later than it is submitted."""

    def __init__(self) -> None:
        self.future: Future[None] = Future()
        self.taken_at_the_end = False

    def submit(self, *task: object) -> Future[None]:
        threading.Timer(0.1, self.future.set_running_or_notify_cancel).start()
        return self.future

    def shutdown(self, *, wait: bool, kill_workers: bool) -> None:
        self.taken_at_the_end = self.future.running()


def test_a_pool_is_not_killed_before_it_has_taken_its_task() -> None:
    process, pool = OneProcess(), SlowPool()
    process._pool = pool
    process.submit(print)
    process.shutdown(wait=False)
    assert pool.taken_at_the_end
