"""Running a study: only what is missing, and whatever happens."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from omit.cli.main import main
from omit.errors import InvalidInput, StudyFailed, StudyInterrupted
from omit.study.cell import Computation
from omit.study.progress import Progress
from omit.study.results import read_results
from omit.study.run import run_study
from omit.study.store import read_store
from tests.study.computations import (
    _toss,
    fragile,
    logged,
    matrix_mean,
    powers,
    threads,
    tosses,
    unprepared,
)
from tests.study.test_store import with_this_path

STUDY = matrix_mean.grid(data=["a", "b"], scale=range(20), pause=0.02)


def computed(folder: Path) -> list[str]:
    """Return the identities in a store in the order in which they were computed, with repeats."""
    return [each for record in read_store(folder).records for each in record.identities]


def test_a_finished_study_computes_nothing_again(tmp_path: Path) -> None:
    cells = tosses.grid(tosses=range(10))
    first = run_study(cells, tmp_path / "store", "process").to_frame()
    log = (tmp_path / "store" / "results.log").read_bytes()
    again = run_study(cells, tmp_path / "store", "process").to_frame()
    pd.testing.assert_frame_equal(first, again)
    assert (tmp_path / "store" / "results.log").read_bytes() == log


def test_a_changed_parameter_computes_only_what_it_touches(tmp_path: Path) -> None:
    run_study(tosses.grid(tosses=[1, 2, 3]), tmp_path / "store", "process")
    run_study(tosses.grid(tosses=[2, 3, 4]), tmp_path / "store", "process")
    assert computed(tmp_path / "store") == [
        tosses.cell(tosses=number).identity for number in (1, 2, 3, 4)
    ]


def test_a_raised_version_computes_again(tmp_path: Path) -> None:
    run_study([tosses.cell(tosses=1)], tmp_path / "store", "process")
    second = Computation("tosses", 2, _toss).cell(tosses=1)
    results = run_study([second], tmp_path / "store", "process")
    assert len(results) == 1
    assert len(read_results(tmp_path / "store")) == 2


def test_results_depend_neither_on_the_order_nor_on_the_company_of_cells(tmp_path: Path) -> None:
    together = run_study(STUDY[:6], tmp_path / "together", "process")
    for cell in reversed(STUDY[:6]):
        run_study([cell], tmp_path / "apart", "process")
    apart = read_results(tmp_path / "apart", STUDY[:6])
    pd.testing.assert_frame_equal(together.to_frame(), apart.to_frame(), check_exact=True)


def test_what_cells_share_is_prepared_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cells = logged.grid(i=range(50), data=["a", "b", "c"], log=str(log))
    results = run_study(cells, tmp_path / "store", "process")
    assert sorted(log.read_text().split()) == ["a", "b", "c"]
    assert all(results.row(cell)["data used"] == cell.parameters["data"] for cell in cells)


def test_a_preparation_that_fails_is_tried_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    cells = unprepared.grid(log=str(log), tosses=range(5))
    results = run_study(cells, tmp_path / "store", "process", failures="return")
    assert log.read_text().split() == ["tried"]
    assert [failure.reason for failure in results.failures] == ["ValueError: no such data"] * 5


def test_cells_that_fail_are_told_and_the_others_go_on(tmp_path: Path) -> None:
    cells = fragile.grid(number=range(12))
    with pytest.raises(StudyFailed) as caught:
        run_study(cells, tmp_path / "store", "process")
    assert str(caught.value) == (
        "4 of 12 cells could not be computed, all others are stored, and running again tries only "
        "these: fragile: number=1: ZeroDivisionError: cannot divide by 1; fragile: number=4: "
        "ZeroDivisionError: cannot divide by 4; fragile: number=7: ZeroDivisionError: cannot "
        "divide by 7; and 1 more."
    )
    assert len(caught.value.failures) == 4
    assert len(read_store(tmp_path / "store")) == 8
    results = run_study(cells, tmp_path / "store", "process", failures="return")
    assert len(results) == 8
    assert "_fragile" in results.failures[0].details


def _wrong_column(parameters: object, prepared: object, rng: object) -> object:
    return {"x": 1}


def _no_rows(parameters: object, prepared: object, rng: object) -> object:
    return 3


def _leaving(parameters: object, prepared: object, rng: object) -> object:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_wrong_column, "returned a column 'x'"),
        (_no_rows, "to return a row or a list of rows, got 3"),
        (_leaving, "SystemExit: 3"),
    ],
)
def test_an_answer_that_is_no_table_is_a_failure(
    tmp_path: Path, function: object, reason: str
) -> None:
    wrong = Computation("wrong", 1, function)  # type: ignore[arg-type]
    with pytest.raises(StudyFailed, match=reason):
        run_study([wrong.cell(x=1)], tmp_path / "store", "process")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[Progress] = []
    run_study(STUDY[:3], tmp_path / "store", "process")
    run_study(STUDY[:30], tmp_path / "store", "process", progress=told.append)
    assert (told[0].done, told[0].stored_before, told[0].total) == (3, 3, 30)
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].done, told[-1].remaining) == (30, 0)
    told.clear()
    run_study(STUDY[:30], tmp_path / "store", "process", progress=told.append)
    assert [(each.done, each.total, each.remaining) for each in told] == [(30, 30, 0)]


@pytest.mark.parametrize("where", ["process", "cores:2"])
def test_an_interrupted_study_says_how_to_go_on(tmp_path: Path, where: str) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(StudyInterrupted, match=r"of 40 cells are stored in .*store, and running"):
        run_study(STUDY, tmp_path / "store", where, progress=interrupt)
    stored = len(read_store(tmp_path / "store"))
    assert 5 <= stored < 40
    assert len(run_study(STUDY, tmp_path / "store", "process")) == 40
    assert len(set(computed(tmp_path / "store"))) == len(computed(tmp_path / "store"))


def test_the_command_line_ends_an_interrupted_study_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(args: object) -> None:
        raise StudyInterrupted("Interrupted: 3 of 4 cells are stored.")

    monkeypatch.setattr("omit.cli.main.app", interrupted)
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 130
    assert capsys.readouterr().err == "Interrupted: 3 of 4 cells are stored.\n"


RUN = """
import sys
from omit.errors import OmitError
from omit.study.run import run_study
from tests.study.test_run import STUDY
try:
    run_study(STUDY, sys.argv[1], sys.argv[2], progress=lambda now: print(now.done, flush=True))
except OmitError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def stopped(folder: Path, where: str, number: int) -> str:
    """Run the study in another process, send it a signal in the middle, and return its errors."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_this_path(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if int(line) > 0:
                process.send_signal(number)
                break
        process.stdout.read()
        errors = process.stderr.read()
    assert process.returncode != 0
    return errors


@pytest.mark.parametrize("where", ["process", "cores:2"])
def test_a_killed_study_goes_on_and_ends_with_the_same_table(tmp_path: Path, where: str) -> None:
    stopped(tmp_path / "store", where, signal.SIGKILL)
    stored = read_store(tmp_path / "store").identities()
    assert 0 < len(stored) < 40
    resumed = run_study(STUDY, tmp_path / "store", where)
    assert len(computed(tmp_path / "store")) == 40  # none was computed twice
    whole = run_study(STUDY, tmp_path / "other", "process")
    pd.testing.assert_frame_equal(resumed.to_frame(), whole.to_frame(), check_exact=True)


@pytest.mark.parametrize("where", ["process", "cores:2"])
def test_ctrl_c_is_one_sentence(tmp_path: Path, where: str) -> None:
    errors = stopped(tmp_path / "store", where, signal.SIGINT)
    assert errors.startswith("StudyInterrupted: Interrupted: ")
    assert errors.count("\n") == 1
    assert "Traceback" not in errors
    assert len(run_study(STUDY, tmp_path / "store", "process")) == 40


def test_a_cell_has_one_thread_and_the_process_gets_its_threads_back(tmp_path: Path) -> None:
    import numba
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    before = [each["num_threads"] for each in threadpool_info()], numba.get_num_threads()
    results = run_study([threads.cell()], tmp_path / "store", "process")
    assert results.row(threads.cell()) == {"most threads": 1}
    assert ([each["num_threads"] for each in threadpool_info()], numba.get_num_threads()) == before


def test_an_empty_study_is_an_empty_table(tmp_path: Path) -> None:
    assert run_study([], tmp_path / "store").to_frame().empty
    assert not (tmp_path / "store").exists()


def test_bad_arguments_are_refused_before_anything_is_computed(tmp_path: Path) -> None:
    cells = powers.grid(base=[1])
    for where in ("moon", "cores:0", "cores:", "local", "local:x", "local:-1", "http://a:1", ""):
        with pytest.raises(InvalidInput, match=f"Expected {where!r}"):
            run_study(cells, tmp_path / "store", where)
    with pytest.raises(InvalidInput, match="failures='ignore'"):
        run_study(cells, tmp_path / "store", failures="ignore")  # type: ignore[arg-type]
    assert len(read_store(tmp_path / "store")) == 0
